import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureEngine

/// How a pace finds the limit of an origin that it does not know.
struct OriginPaceTests {
    private static let rules: OriginPacer.Rules = {
        var window = OriginPacer.Window(initial: 2, maximum: 16, halvedBy: [.overloaded])
        window.doublesAtFirst = true
        return OriginPacer.Rules(
            window: window,
            rate: OriginPacer.Rate(
                initial: .infinity, minimum: 1, maximum: .infinity, growth: 10, burst: .seconds(0.05),
                halvedBy: [.overloaded]),
            breaker: OriginPacer.Breaker(
                failures: 1, backoff: Backoff(base: .milliseconds(500), cap: .seconds(16)), isHalfFixed: true,
                probesAlone: true))
    }()

    private func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }

    // MARK: One step after the other

    @Test func `the window doubles with each round until it is halved, and then grows by one`() {
        var pace = OriginPace(Self.rules)
        #expect(pace.limit(Self.rules) == 2)
        for _ in 0..<2 { pace.served(Self.rules, at: at(0)) }
        #expect(pace.limit(Self.rules) == 4)
        for _ in 0..<4 { pace.served(Self.rules, at: at(1)) }
        #expect(pace.limit(Self.rules) == 8)
        pace.halve(7, .overloaded, last: 9, Self.rules, at: at(2))
        #expect(pace.limit(Self.rules) == 4)
        for _ in 0..<4 { pace.served(Self.rules, at: at(2)) }
        #expect(pace.limit(Self.rules) == 5)
        for _ in 0..<200 { pace.served(Self.rules, at: at(3)) }
        #expect(pace.limit(Self.rules) == 16)
    }

    @Test func `a window that an earlier run has found does not search`() {
        var pace = OriginPace(Self.rules)
        pace.restore(limit: 5)
        for _ in 0..<5 { pace.served(Self.rules, at: at(0)) }
        #expect(pace.limit(Self.rules) == 6)
    }

    @Test func `a window that does not search grows by one from the beginning`() {
        var rules = Self.rules
        rules.window.doublesAtFirst = false
        var pace = OriginPace(rules)
        for _ in 0..<2 { pace.served(rules, at: at(0)) }
        #expect(pace.limit(rules) == 3)
    }

    @Test func `the first overload shows the rate, and it recovers in eight seconds`() {
        var pace = OriginPace(Self.rules)
        #expect(pace.rate(Self.rules) == .infinity)
        for number in 0..<2000 { pace.served(Self.rules, at: at(Double(number) / 400)) }
        #expect(pace.rate(Self.rules) == .infinity)
        pace.halve(2001, .overloaded, last: 2016, Self.rules, at: at(5))
        let half = pace.rate(Self.rules)
        #expect((195...205).contains(half), "half of the 400 of the last second")
        pace.halve(2010, .overloaded, last: 2016, Self.rules, at: at(5))
        #expect(pace.rate(Self.rules) == half, "of the same burst")
        // Eight seconds at the rate of each moment.
        var seconds = 0.0
        while seconds < 8 {
            seconds += 1 / pace.rate(Self.rules)
            pace.served(Self.rules, at: at(5 + seconds))
        }
        #expect((390...410).contains(pace.rate(Self.rules)))
        pace.halve(9000, .overloaded, last: 9000, Self.rules, at: at(13))
        #expect((195...205).contains(pace.rate(Self.rules)), "from now on what is halved is the rate itself")
    }

    @Test func `a rate that the user has set is a bound, and used from the beginning`() {
        var rules = Self.rules
        rules.rate?.maximum = 50
        var pace = OriginPace(rules)
        #expect(pace.rate(rules) == 50)
        for number in 0..<10 { pace.served(rules, at: at(Double(number) / 10)) }
        pace.halve(11, .overloaded, last: 11, rules, at: at(1))
        #expect((4...5).contains(pace.rate(rules)), "half of what was served, not of the bound")
        for number in 0..<2000 { pace.served(rules, at: at(1 + Double(number) / 10)) }
        #expect(pace.rate(rules) == 50)
        // A later bound applies at once.
        rules.rate?.maximum = 8
        #expect(pace.rate(rules) == 8)
    }

    @Test func `an overload of an origin that has served nothing leads to the least rate`() {
        var pace = OriginPace(Self.rules)
        pace.halve(1, .overloaded, last: 2, Self.rules, at: at(0))
        #expect(pace.rate(Self.rules) == 1 && pace.limit(Self.rules) == 1)
        pace.served(Self.rules, at: at(1))
        #expect(pace.rate(Self.rules) == 11, "one answer is enough to be faster")
        pace.halve(9, .failed, last: 9, Self.rules, at: at(2))
        #expect(pace.rate(Self.rules) == 11, "not halved by that")
    }

    @Test func `what was served in the last second`() {
        var meter = ServedMeter()
        #expect(meter.perSecond(at: at(5)) == 0)
        for number in 0..<100 { meter.served(at: at(5 + Double(number) / 100)) }
        #expect(meter.perSecond(at: at(5.99)) == 100)
        #expect(meter.perSecond(at: at(6.5)) == 50)
        for number in 0..<50 { meter.served(at: at(6 + Double(number) / 100)) }
        #expect(meter.perSecond(at: at(6.5)) == 100)
        meter.served(at: at(6.75))
        #expect(meter.perSecond(at: at(6.75)) == 76)
        #expect(meter.perSecond(at: at(8)) == 0)
        meter.served(at: at(60))
        #expect(meter.perSecond(at: at(60)) == 1, "nothing of before the pause")
    }

    // MARK: Against servers

    /// A server in virtual time: it answers after a while, and refuses more requests in a second than its limit.
    private struct Server {
        let roundTrip: Double
        /// Requests a second; beyond that it refuses.
        var limit = Double.infinity
        /// Seconds of work for each request, one after the other.
        var work = 0.0
        /// What it asks for with a refusal.
        var retryAfter: Double?
        private var (second, count, free) = (-1, 0.0, 0.0)
        private(set) var (served, refused, early) = (0, 0, 0)
        private var closedUntil = 0.0

        init(roundTrip: Double) { self.roundTrip = roundTrip }

        /// A request arrives; when its answer is back, and what that says.
        mutating func answer(at now: Double) -> (Double, OriginPacer.Outcome) {
            if now < closedUntil { early += 1 }
            if Int(now) != second { (second, count) = (Int(now), 0) }
            count += 1
            guard count <= limit else {
                refused += 1
                if let retryAfter { closedUntil = now + roundTrip + retryAfter }
                return (now + roundTrip, .overloaded)
            }
            served += 1
            free = max(free, now) + work
            return (free + roundTrip, .served)
        }
    }

    /// Asks as often as the pacer allows.
    private func ask(_ server: inout Server, for seconds: Double) {
        var (pacer, running, last, now) = (
            OriginPacer(Self.rules), [(Double, OriginPacer.Outcome, TransferID)](), 0, 0.0
        )
        while now < seconds {
            var next = seconds
            switch pacer.admission(at: at(now)) {
            case .yes:
                last += 1
                let id = TransferID(UInt64(last))
                pacer.started(id, at: at(now))
                let (end, outcome) = server.answer(at: now)
                running.append((end, outcome, id))
                continue
            case .later(let left), .waiting(let left), .broken(let left): next = now + left / .seconds(1)
            case .busy: break
            }
            running.sort { $0.0 < $1.0 }
            if let first = running.first, first.0 <= next {
                running.removeFirst()
                now = max(now, first.0)
                pacer.ended(first.2, first.1, at: at(now), random: .max)
                if first.1 == .overloaded, let delay = server.retryAfter {
                    pacer.wait(for: .milliseconds(Int64(delay * 1000)), at: at(now))
                }
            } else {
                now = max(next, now + 1e-6)
            }
        }
    }

    @Test(arguments: [5.0, 50, 400], [0.001, 0.05])
    func `a server with a limit is used to it, and refuses little`(limit: Double, roundTrip: Double) {
        var server = Server(roundTrip: roundTrip)
        server.limit = limit
        ask(&server, for: 60)
        let reachable = min(limit, 16 / roundTrip)
        #expect(Double(server.served) > 0.6 * reachable * 60, "\(server.served)")
        #expect(Double(server.refused) < 0.25 * Double(server.served) + 16, "\(server.refused) of \(server.served)")
    }

    @Test(arguments: [0.000_1, 0.001, 0.1]) func `a server that refuses nothing is used to its capacity`(work: Double) {
        var server = Server(roundTrip: 0.02)
        server.work = work
        ask(&server, for: 10)
        let capacity = min(1 / work, 16 / 0.02)
        #expect(Double(server.served) > 0.9 * capacity * 10)
    }

    @Test func `nothing starts before the time that the server asked for`() {
        var server = Server(roundTrip: 0.05)
        (server.limit, server.retryAfter) = (20, 2)
        ask(&server, for: 60)
        #expect(server.refused > 0 && server.served > 100)
        // Only what was on its way when the first refusal came.
        #expect(server.early < 16 * server.refused)
    }
}
