import LectureFormats
import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

/// How often servers are asked.
struct CallbackPaceTests {
    private static let origin: Origin? = try? Origin(url: "https://a.example/x")
    private let origin: Origin
    private let other: Origin

    init() throws {
        origin = try #require(Self.origin)
        other = try Origin(url: "https://b.example/x")
    }

    private func at(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }

    private func limits(_ change: (inout CallbackPace.Limits) -> Void) -> CallbackPace.Limits {
        var limits = CallbackPace.Limits()
        change(&limits)
        return limits
    }

    /// Asks as often as allowed, in steps of any length, and counts the requests started in each window of a second.
    @Test(arguments: [1.0, 3, 20, 37, 100, 200], [UInt64(1), 2, 3])
    func `in no second more requests start than the rate and a twentieth`(rate: Double, seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        var pace = CallbackPace(
            limits: limits {
                ($0.maximumRate, $0.initialRate) = (rate, rate)
                ($0.maximumConcurrency, $0.initialConcurrency, $0.total) = (10_000, 10_000, 10_000)
            })
        var started: [Int64] = []
        var now: Int64 = 0
        while started.count < 2000 {
            // Prompt for a while, then late, then random.
            let steps: [Int64] = started.count % 600 < 300 ? [1] : [3, 80, 1500]
            now += Int64.random(in: 1...(steps.randomElement(using: &randomness) ?? 1), using: &randomness)
            while pace.mayStart(origin, at: at(now)) == .yes {
                pace.started(origin, at: at(now))
                started.append(now)
                if Bool.random(using: &randomness) {
                    pace.ended(origin, started: at(now), .good, at: at(now), random: randomness.next())
                }
            }
        }
        var first = 0
        var most = 0
        for (index, time) in started.enumerated() {
            while time - started[first] >= 1000 { first += 1 }
            most = max(most, index - first + 1)
        }
        #expect(Double(most) <= max(rate, 1) * 1.05)
        #expect(Double(most) >= rate * 0.9, "and it is nearly used")
    }

    @Test func `a caller that waits as instructed reaches the rate`() {
        var pace = CallbackPace(
            limits: limits { ($0.initialRate, $0.maximumRate, $0.maximumConcurrency) = (50, 50, 99) })
        var (now, count) = (BootInstant(nanoseconds: 0), 0)
        while now < at(10_000) {
            switch pace.mayStart(origin, at: now) {
            case .yes:
                pace.started(origin, at: now)
                pace.ended(origin, started: now, .good, at: now, random: 0)
                count += 1
            case .notBefore(let moment):
                #expect(moment > now)
                now = moment
            case .busy, .held, .open: Issue.record("nothing holds it")
            }
        }
        #expect((495...510).contains(count))
    }

    @Test func `the rate grows with good answers, is halved once a burst, and never leaves its bounds`() {
        var pace = CallbackPace()
        #expect(pace.rate(origin) == 20)
        for index in 0..<20 {
            pace.started(origin, at: at(Int64(index)))
            pace.ended(origin, started: at(Int64(index)), .good, at: at(Int64(index)), random: 0)
        }
        #expect((28...31).contains(pace.rate(origin)), "about ten more a second")
        for index in 0..<3000 {
            pace.started(origin, at: at(Int64(index)))
            pace.ended(origin, started: at(Int64(index)), .good, at: at(Int64(index)), random: 0)
        }
        #expect(pace.rate(origin) == 100)
        for _ in 0..<4 { pace.started(origin, at: at(5000)) }
        for _ in 0..<4 { pace.ended(origin, started: at(5000), .overloaded, at: at(5100), random: 0) }
        #expect(pace.rate(origin) == 50, "echoes of one burst")
        pace.started(origin, at: at(5200))
        pace.ended(origin, started: at(5200), .overloaded, at: at(5300), random: 0)
        #expect(pace.rate(origin) == 25)
        for step in 0..<40 {
            let now = at(6000 + Int64(step) * 100_000)
            pace.started(origin, at: now)
            pace.ended(origin, started: now, .overloaded, at: now, random: 0)
        }
        #expect(pace.rate(origin) == 0.5)
        #expect(pace.rate(other) == 20, "another server has a pace of its own")
    }

    @Test func `time-outs halve the concurrency, and good answers widen it`() {
        var pace = CallbackPace()
        for _ in 0..<8 { pace.started(origin, at: at(0)) }
        #expect(pace.mayStart(origin, at: at(60_000)) == .busy)
        for _ in 0..<3 { pace.ended(origin, started: at(0), .timedOut, at: at(100), random: 0) }
        #expect(pace.concurrency(origin) == 4, "the others are echoes")
        for _ in 0..<5 { pace.ended(origin, started: at(0), .good, at: at(100), random: 0) }
        #expect(pace.concurrency(origin) == 5)
    }

    @Test func `five failures in a row open the breaker, and one good answer closes it`() {
        var pace = CallbackPace()
        func fail(_ now: Int64, random: UInt64 = 0) {
            pace.started(origin, at: at(now))
            pace.ended(origin, started: at(now), .failed, at: at(now), random: random)
        }
        for now in [0, 100, 200, 300] as [Int64] { fail(now) }
        #expect(pace.openings(origin) == 0)
        fail(400)
        #expect(pace.mayStart(origin, at: at(500)) == .open(until: at(900)), "half of the longest wait at least")
        #expect(pace.mayStart(origin, at: at(900)) == .yes)
        pace.started(origin, at: at(900))
        #expect(pace.mayStart(origin, at: at(60_000)) == .busy, "one probe at a time")
        pace.ended(origin, started: at(900), .failed, at: at(1000), random: .max)
        guard case .open(let until) = pace.mayStart(origin, at: at(1000)) else { return #expect(Bool(false)) }
        #expect(until > at(2900) && until <= at(3000) && pace.openings(origin) == 2, "twice as long")
        pace.started(origin, at: until)
        pace.ended(origin, started: until, .good, at: until, random: 0)
        #expect(pace.openings(origin) == 0)
        guard case .notBefore = pace.mayStart(origin, at: until) else { return #expect(Bool(false)) }
        #expect(pace.mayStart(origin, at: until + .seconds(1)) == .yes)
    }

    @Test func `requests from before the breaker opened do not decide a probe`() {
        var pace = CallbackPace()
        for _ in 0..<7 { pace.started(origin, at: at(0)) }
        for _ in 0..<5 { pace.ended(origin, started: at(0), .failed, at: at(10), random: 0) }
        #expect(pace.openings(origin) == 1)
        pace.started(origin, at: at(2000))
        pace.ended(origin, started: at(0), .failed, at: at(2100), random: 0)
        #expect(pace.openings(origin) == 1 && pace.mayStart(origin, at: at(9000)) == .busy)
        pace.ended(origin, started: at(2000), .cancelled, at: at(2200), random: 0)
        #expect(pace.mayStart(origin, at: at(9000)) == .yes, "a probe that was cancelled leaves space for another")
    }

    @Test func `a server's wait is obeyed, and the longer one counts`() {
        var pace = CallbackPace()
        pace.held(origin, until: at(9000))
        pace.held(origin, until: at(5000))
        #expect(pace.mayStart(origin, at: at(8999)) == .held(until: at(9000)))
        #expect(pace.mayStart(origin, at: at(9000)) == .yes)
        #expect(pace.mayStart(other, at: at(0)) == .yes)
    }
}
