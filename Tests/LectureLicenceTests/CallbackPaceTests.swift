import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

/// How often licence servers are asked: the pacer with the rules of callbacks.
struct CallbackPaceTests {
    private let origin: Origin
    private let other: Origin

    init() throws {
        origin = try Origin(url: "https://a.example/x")
        other = try Origin(url: "https://b.example/x")
    }

    private func at(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }

    private func rules(_ change: (inout OriginPacer.Rules) -> Void) -> OriginPacer.Rules {
        var rules = OriginPacer.Rules.callbacks
        change(&rules)
        return rules
    }

    /// A pacer, and the numbers of its requests.
    private struct Requests {
        var pacer: TrafficPacer
        private var last: UInt64 = 0

        init(_ rules: OriginPacer.Rules = .callbacks) { pacer = TrafficPacer(rules) }

        @discardableResult
        mutating func start(_ origin: Origin, at boot: BootInstant) -> TransferID {
            last += 1
            pacer.started(TransferID(last), at: origin, boot: boot)
            return TransferID(last)
        }

        mutating func end(_ id: TransferID, _ outcome: OriginPacer.Outcome, at boot: BootInstant, random: UInt64 = 0) {
            pacer.ended(id, outcome, at: boot, random: random)
        }

        /// A request that ends at once.
        mutating func send(
            _ origin: Origin, _ outcome: OriginPacer.Outcome, at boot: BootInstant, random: UInt64 = 0
        ) {
            end(start(origin, at: boot), outcome, at: boot, random: random)
        }
    }

    @Test func `the settings give the bounds`() {
        let rules = OriginPacer.Rules.callbacks(requestsPerSecond: 5, requests: 3)
        #expect(OriginPacer(rules).rate == 5 && rules.rate?.maximum == 5 && rules.rate?.minimum == 0.5)
        #expect(rules.window.initial == 3 && rules.window.maximum == 3 && rules.total == 64)
        #expect(OriginPacer.Rules.callbacks(requestsPerSecond: .max, requests: 64) == .callbacks)
        let least = OriginPacer.Rules.callbacks(requestsPerSecond: 0, requests: -1)
        #expect(least.rate?.maximum == 1 && least.window.maximum == 1)
    }

    /// Asks as often as allowed, in steps of any length, and counts the requests started in each window of a second.
    @Test(arguments: [1.0, 3, 20, 37, 100, 200], [UInt64(1), 2, 3])
    func `in no second more requests start than the rate and a twentieth`(rate: Double, seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        var requests = Requests(
            rules {
                $0.rate?.maximum = rate
                $0.rate?.initial = rate
                ($0.window.maximum, $0.window.initial, $0.total) = (10_000, 10_000, 10_000)
            })
        var started: [Int64] = []
        var now: Int64 = 0
        // Twenty seconds at the rate, but a whole turn of the steps below.
        while started.count < max(600, min(2000, Int(rate) * 20)) {
            // Prompt for a while, then late, then random.
            let steps: [Int64] = started.count % 600 < 300 ? [1] : [3, 80, 1500]
            now += Int64.random(in: 1...(steps.randomElement(using: &randomness) ?? 1), using: &randomness)
            while requests.pacer.admission(origin, at: at(now)) == .yes {
                let id = requests.start(origin, at: at(now))
                started.append(now)
                if Bool.random(using: &randomness) {
                    requests.end(id, .served, at: at(now), random: randomness.next())
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
        var requests = Requests(
            rules {
                $0.rate?.initial = 50
                $0.rate?.maximum = 50
                $0.window.maximum = 99
            })
        var (now, count) = (BootInstant(nanoseconds: 0), 0)
        while now < at(10_000) {
            switch requests.pacer.admission(origin, at: now) {
            case .yes:
                requests.send(origin, .served, at: now)
                count += 1
            case .later(let left):
                #expect(left > .zero)
                now = now + left
            case .busy, .waiting, .broken: Issue.record("nothing holds it")
            }
        }
        #expect((495...510).contains(count))
    }

    @Test func `the rate grows with good answers, is halved once a burst, and never leaves its bounds`() {
        var requests = Requests(
            rules {
                $0.rate?.initial = 20
                $0.rate?.maximum = 100
            })
        #expect(requests.pacer[origin].rate == 20)
        for index in 0..<20 { requests.send(origin, .served, at: at(Int64(index))) }
        #expect((28...31).contains(requests.pacer[origin].rate), "about ten more a second")
        for index in 0..<3000 { requests.send(origin, .served, at: at(Int64(index))) }
        #expect(requests.pacer[origin].rate == 100)
        let burst = (0..<4).map { _ in requests.start(origin, at: at(5000)) }
        for id in burst { requests.end(id, .overloaded, at: at(5100)) }
        #expect(requests.pacer[origin].rate == 50, "echoes of one burst")
        let next = requests.start(origin, at: at(5200))
        requests.end(next, .overloaded, at: at(5300))
        #expect(requests.pacer[origin].rate == 25)
        for step in 0..<40 { requests.send(origin, .overloaded, at: at(6000 + Int64(step) * 100_000)) }
        #expect(requests.pacer[origin].rate == 0.5)
        #expect(requests.pacer[other].rate == 20, "another server has a pace of its own")
    }

    @Test func `time-outs halve the concurrency, and good answers widen it`() {
        var requests = Requests()
        let ids = (0..<8).map { _ in requests.start(origin, at: at(0)) }
        #expect(requests.pacer[origin].limit == 8)
        #expect(requests.pacer.admission(origin, at: at(60_000)) == .busy(.origin))
        for id in ids.prefix(3) { requests.end(id, .timedOut, at: at(100)) }
        #expect(requests.pacer[origin].limit == 4, "the others are echoes")
        for id in ids.dropFirst(3) { requests.end(id, .served, at: at(100)) }
        #expect(requests.pacer[origin].limit == 5)
    }

    @Test func `five failures in a row open the breaker, and one good answer closes it`() {
        var requests = Requests()
        for now in [0, 100, 200, 300] as [Int64] { requests.send(origin, .failed, at: at(now)) }
        #expect(requests.pacer[origin].openings == 0)
        requests.send(origin, .failed, at: at(400))
        let half = requests.pacer.admission(origin, at: at(500))
        #expect(half == .broken(.milliseconds(400)), "half of the longest wait at least")
        #expect(requests.pacer.admission(origin, at: at(900)) == .yes)
        let probe = requests.start(origin, at: at(900))
        #expect(requests.pacer.admission(origin, at: at(60_000)) == .busy(.origin), "one probe at a time")
        requests.end(probe, .failed, at: at(1000), random: .max)
        guard case .broken(let left) = requests.pacer.admission(origin, at: at(1000)) else {
            return #expect(Bool(false))
        }
        #expect(left > .milliseconds(1900) && left <= .seconds(2))
        #expect(requests.pacer[origin].openings == 2, "twice as long")
        let until = at(1000) + left
        requests.send(origin, .served, at: until)
        #expect(requests.pacer[origin].openings == 0)
        #expect(requests.pacer.admission(origin, at: until) == .yes)
    }

    @Test func `a good answer interrupts the failures in a row`() {
        var requests = Requests()
        for now in 0..<4 as Range<Int64> { requests.send(origin, .failed, at: at(now * 100)) }
        requests.send(origin, .served, at: at(500))
        for now in 6..<10 as Range<Int64> { requests.send(origin, .failed, at: at(now * 100)) }
        #expect(requests.pacer[origin].openings == 0)
    }

    @Test func `requests from before the breaker opened do not decide a probe`() {
        var requests = Requests()
        let ids = (0..<8).map { _ in requests.start(origin, at: at(0)) }
        for id in ids.prefix(5) { requests.end(id, .failed, at: at(10)) }
        #expect(requests.pacer[origin].openings == 1)
        requests.end(ids[7], .served, at: at(20))
        #expect(requests.pacer[origin].openings == 1, "an old answer says nothing about now")
        let probe = requests.start(origin, at: at(2000))
        requests.end(ids[5], .failed, at: at(2100))
        #expect(requests.pacer[origin].openings == 1)
        #expect(requests.pacer.admission(origin, at: at(9000)) == .busy(.origin))
        requests.end(probe, .neutral, at: at(2200))
        let next = requests.pacer.admission(origin, at: at(9000))
        #expect(next == .yes, "a probe that was cancelled leaves space for another")
    }

    @Test func `a new run resets the openings, and ends no wait`() {
        var requests = Requests()
        for now in 0..<5 as Range<Int64> { requests.send(origin, .failed, at: at(now)) }
        requests.pacer.resetBreakers()
        #expect(requests.pacer[origin].openings == 0)
        #expect(requests.pacer.admission(origin, at: at(4)) == .broken(.milliseconds(500)))
    }

    @Test func `what runs can be forgotten`() {
        var requests = Requests(rules { $0.total = 2 })
        for _ in 0..<2 { requests.start(origin, at: at(0)) }
        #expect(requests.pacer.admission(other, at: at(0)) == .busy(.total))
        requests.pacer.forgetRunning()
        #expect(requests.pacer.runningCount == 0 && requests.pacer[origin].runningCount == 0)
        #expect(requests.pacer.admission(other, at: at(0)) == .yes)
    }

    @Test func `a server's wait is obeyed, and the longer one counts`() {
        var pacer = TrafficPacer(.callbacks)
        let now = Timestamp(milliseconds: 0)
        pacer.wait(origin, for: .seconds(9), now: now, boot: at(0))
        pacer.wait(origin, for: .seconds(5), now: now, boot: at(0))
        #expect(pacer.admission(origin, at: at(8999)) == .waiting(.milliseconds(1)))
        #expect(pacer.admission(origin, at: at(9000)) == .yes)
        #expect(pacer.admission(other, at: at(0)) == .yes)
    }
}
