package import LectureEngine
import LectureModel

extension OriginPacer.Rules {
    /// The pace of requests to licence servers.
    ///
    /// | what | at first | until the first failure | failures | then |
    /// | --- | --- | --- | --- | --- |
    /// | requests at once | 8 | one more with every answer, to 64 | time-out: half | one more a window of answers |
    /// | requests a second | any number | any number | 429, 503: half of what was served | 10 more a second, or 1/8 |
    ///
    /// Five failures in a row open the breaker, for a second at first and a minute at the most. Late requests may catch
    /// up by a twentieth of a second less one request, so that in no second more than 1.05 times the maximum start.
    package static let callbacks = Self(
        window: searching(OriginPacer.Window(initial: 8, maximum: OriginBudgets.total, halvedBy: [.timedOut])),
        rate: OriginPacer.Rate(
            initial: .infinity, minimum: 0.5, maximum: .infinity, growth: 10, burst: .seconds(0.05),
            halvedBy: [.overloaded]),
        breaker: OriginPacer.Breaker(
            failures: 5, backoff: Backoff(base: .seconds(1)), isHalfFixed: true, probesAlone: false),
        total: OriginBudgets.total)

    private static func searching(_ window: OriginPacer.Window) -> OriginPacer.Window {
        var window = window
        window.doublesAtFirst = true
        return window
    }

    /// The same with other bounds.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: requests a second at the most, to one server; `Int.max` for any number.
    ///   - requests: requests at once at the most, to one server.
    /// - Returns: the rules.
    package static func callbacks(requestsPerSecond: Int, requests: Int) -> Self {
        var rules = callbacks
        if var rate = rules.rate {
            rate.maximum = requestsPerSecond == .max ? .infinity : Double(max(1, requestsPerSecond))
            rules.rate = rate
        }
        rules.window.maximum = max(1, requests)
        rules.window.initial = min(rules.window.initial, rules.window.maximum)
        return rules
    }
}
