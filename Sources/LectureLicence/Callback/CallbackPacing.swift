package import LectureEngine
import LectureModel

extension OriginPacer.Rules {
    /// The pace of requests to licence servers.
    ///
    /// | what | starts | grows | shrinks |
    /// | --- | --- | --- | --- |
    /// | requests a second | 20 | by 10 a second while answers are good, to 100 | half at 429 and 503, to 0.5 |
    /// | requests at once | 8 | by one a whole window of good answers, to 32 | half at a time-out, to 1 |
    ///
    /// Five failures in a row open the breaker, for a second at first and a minute at the most. Late requests may catch
    /// up by a twentieth of a second less one request, so that in no second more than 1.05 times the maximum start.
    package static let callbacks = Self(
        window: OriginPacer.Window(initial: 8, maximum: 32, halvedBy: [.timedOut]),
        rate: OriginPacer.Rate(
            initial: 20, minimum: 0.5, maximum: 100, growth: 10, burst: .seconds(0.05), halvedBy: [.overloaded]),
        breaker: OriginPacer.Breaker(
            failures: 5, backoff: Backoff(base: .seconds(1)), isHalfFixed: true, probesAlone: false),
        total: 64)

    /// The same with other bounds.
    ///
    /// - Parameters:
    ///   - requestsPerSecond: requests a second at the most, to one server.
    ///   - requests: requests at once at the most, to one server.
    /// - Returns: the rules.
    package static func callbacks(requestsPerSecond: Int, requests: Int) -> Self {
        var rules = callbacks
        if var rate = rules.rate {
            rate.maximum = Double(max(1, requestsPerSecond))
            rate.initial = min(rate.initial, rate.maximum)
            rules.rate = rate
        }
        rules.window.maximum = max(1, requests)
        rules.window.initial = min(rules.window.initial, rules.window.maximum)
        return rules
    }
}
