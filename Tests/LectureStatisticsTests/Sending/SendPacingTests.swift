import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureStatistics

/// When a request to a target may start: the pacer with the rules of reports.
struct SendPacingTests {
    private static let start = Timestamp(milliseconds: 1_750_000_000_000)
    private let keep = SendVerdict.keep(.noAnswer, wait: nil)

    private func boot(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }

    private func rules(burst: Int = 4, concurrency: Int = 4) -> OriginPacer.Rules {
        var rules = OriginPacer.Rules.reports
        (rules.window, rules.rate) = (.fixed(concurrency), .fixed(10, burst: burst))
        rules.breaker?.backoff = Backoff(base: .seconds(1), cap: .seconds(60))
        return rules
    }

    /// A pacer, and the numbers of its requests.
    private struct Requests {
        var pacer: OriginPacer
        private var last: UInt64 = 0

        init(_ rules: OriginPacer.Rules) { pacer = OriginPacer(rules) }

        mutating func start(at boot: BootInstant) -> TransferID {
            last += 1
            pacer.started(TransferID(last), at: boot)
            return TransferID(last)
        }

        /// Ends a request. Both clocks run together.
        mutating func end(_ id: TransferID, _ verdict: SendVerdict?, at boot: BootInstant, random: UInt64 = 0) {
            let now = SendPacingTests.start + (boot - BootInstant(nanoseconds: 0))
            pacer.ended(id, verdict, now: now, boot: boot, random: random)
        }
    }

    @Test
    func `a target gets two requests at first and sixteen at once, any number a second, and waits after one failure`()
        throws
    {
        let rules = OriginPacer.Rules.reports
        let pacer = OriginPacer(rules)
        #expect(pacer.limit == 2 && pacer.rate == .infinity)
        #expect(rules.window.maximum == 16 && rules.window.doublesAtFirst)
        #expect(rules.window.halvedBy == [.overloaded, .failed] && rules.rate?.halvedBy == [.overloaded, .failed])
        #expect(rules.perHost == .max && rules.total == .max)
        let breaker = try #require(rules.breaker)
        #expect(breaker.failures == 1 && breaker.probesAlone && !breaker.isHalfFixed)
        #expect(breaker.backoff == Backoff(base: .milliseconds(500), cap: .seconds(900)))
    }

    @Test(arguments: [1, 2, 4, 9], [UInt64(1), 2, 3])
    func `a backlog goes out at a bounded rate`(burst: Int, seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        var requests = Requests(rules(burst: burst))
        var started: [Int64] = []
        var now: Int64 = 0
        while started.count < 500 {
            switch requests.pacer.admission(at: boot(now)) {
            case .yes:
                let id = requests.start(at: boot(now))
                started.append(now)
                requests.end(id, .delivered, at: boot(now))
            case .later(let wait):
                #expect(wait > .zero && wait <= .milliseconds(100))
                now += wait.milliseconds
            case .busy, .waiting, .broken: Issue.record("nothing holds it")
            }
            if Int.random(in: 0..<20, using: &randomness) == 0 { now += Int64.random(in: 0...2000, using: &randomness) }
        }
        for (index, time) in started.enumerated() where index >= burst {
            #expect(time - started[index - burst] >= 100, "no more than a burst within an interval")
            #expect(index < 50 + burst || time - started[index - 50 - burst] >= 5000)
        }
    }

    @Test func `a restarted boot clock costs one interval`() {
        var requests = Requests(rules(burst: 1))
        _ = requests.start(at: boot(9_000_000))
        requests.pacer.recordWaits(now: Self.start, boot: boot(5))
        #expect(requests.pacer.admission(at: boot(5)) == .later(.milliseconds(100)))
        requests.pacer.recordWaits(now: Self.start, boot: boot(105))
        #expect(requests.pacer.admission(at: boot(105)) == .yes)
    }

    @Test func `no more requests are in flight than allowed, and one while the target fails`() {
        var requests = Requests(rules(burst: 9, concurrency: 2))
        let first = requests.start(at: boot(0))
        #expect(requests.pacer.admission(at: boot(0)) == .yes)
        let second = requests.start(at: boot(0))
        #expect(requests.pacer.admission(at: boot(0)) == .busy(.origin))
        requests.end(first, keep, at: boot(0), random: .max)
        #expect(requests.pacer.openings == 1 && requests.pacer.runningCount == 1)
        #expect(requests.pacer.admission(at: boot(1000)) == .busy(.origin), "the other one still runs")
        requests.end(second, keep, at: boot(0))
        #expect(requests.pacer.openings == 1, "the failures of one burst count once")
        #expect(requests.pacer.admission(at: boot(0)) == .broken(.seconds(1)))
        let probe = requests.start(at: boot(1000))
        #expect(requests.pacer.admission(at: boot(1000)) == .busy(.origin))
        requests.end(probe, keep, at: boot(1000), random: .max)
        #expect(requests.pacer.openings == 2)
        #expect(requests.pacer.admission(at: boot(1000)) == .broken(.seconds(2)))
        let late = requests.start(at: boot(3000))
        requests.end(late, .delivered, at: boot(3000))
        #expect(requests.pacer.openings == 0 && requests.pacer.storedWait == nil)
    }

    @Test func `an answer to a request from before the failure ends no wait`() {
        var requests = Requests(rules())
        let (old, failed) = (requests.start(at: boot(0)), requests.start(at: boot(0)))
        requests.end(failed, .keep(.busy, wait: .seconds(50)), at: boot(0))
        requests.end(old, .delivered, at: boot(0))
        #expect(requests.pacer.admission(at: boot(0)) == .waiting(.seconds(50)))
    }

    @Test func `a wait requested by a server is never shortened`() {
        var requests = Requests(rules())
        let ids = [requests.start(at: boot(0)), requests.start(at: boot(0))]
        requests.end(ids[0], .keep(.busy, wait: .seconds(500)), at: boot(0), random: 9)
        requests.end(ids[1], .keep(.busy, wait: .seconds(5)), at: boot(0), random: 9)
        #expect(requests.pacer.storedWait == RetryWait(setAt: Self.start, delay: .seconds(500)))
        requests.pacer.resetBreaker()
        #expect(requests.pacer.waitLeft(at: boot(0)) == .seconds(500))
    }

    @Test func `an answer about one batch does not delay the others`() {
        for reason in KeepReason.allCases {
            var requests = Requests(rules())
            let id = requests.start(at: boot(0))
            requests.end(id, .keep(reason, wait: .seconds(9)), at: boot(0))
            let holds = requests.pacer.admission(at: boot(0)) != .yes
            #expect(holds == reason.isOfTarget, "\(reason)")
        }
        #expect(!KeepReason.serverFailed.isOfTarget && KeepReason.busy.isOfTarget && KeepReason.portal.isOfTarget)
    }

    @Test func `a cancelled request says nothing`() {
        var requests = Requests(rules())
        let (failed, cancelled) = (requests.start(at: boot(0)), requests.start(at: boot(0)))
        requests.end(failed, keep, at: boot(0), random: .max)
        requests.end(cancelled, nil, at: boot(0))
        #expect(requests.pacer.openings == 1 && requests.pacer.runningCount == 0)
        #expect(requests.pacer.waitLeft(at: boot(0)) == .seconds(1))
    }

    @Test func `a suspended target gets nothing until it is resumed`() {
        let address = ReportRecord.Target(url: "https://lms.example/", format: .json)
        func work(_ condition: TargetCondition) -> TargetWork {
            TargetWork(
                TargetEntry(id: TargetID(1), address: address, condition: condition, open: 0), TargetSettings(.json),
                now: Self.start, boot: boot(0))
        }
        var target = work(TargetCondition())
        #expect(target.admission(at: boot(0)) == .yes)
        target.suspension = .unauthorized
        #expect(target.admission(at: boot(1 << 40)) == nil)
        target = work(target.condition)
        #expect(target.suspension == .unauthorized && target.admission(at: boot(0)) == nil, "after a restart too")
        target.resume(.everything, at: boot(0))
        #expect(target.suspension == nil && target.admission(at: boot(0)) == .yes)
    }

    @Test(arguments: [KeepReason.busy, .noAnswer])
    func `an operator ends a wait unless the server has asked for it`(reason: KeepReason) {
        let address = ReportRecord.Target(url: "https://lms.example/", format: .json)
        var condition = TargetCondition()
        (condition.failures, condition.wait) = (3, RetryWait(setAt: Self.start, delay: .seconds(50)))
        condition.lastFailure = SendAnswer(at: Self.start, status: 503, text: "")
        condition.lastFailure?.reason = reason
        let entry = TargetEntry(id: TargetID(1), address: address, condition: condition, open: 0)
        var target = TargetWork(entry, TargetSettings(.json), now: Self.start + .seconds(20), boot: boot(0))
        #expect(target.condition == condition && target.admission(at: boot(0)) == .broken(.seconds(30)))
        target.resume(.everything, at: boot(0))
        #expect(target.admission(at: boot(0)) == (reason == .busy ? .broken(.seconds(30)) : .yes))
        #expect(target.pacer.openings == 3, "it is still known to fail")
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `a clock set back never lengthens a wait`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let delay = Duration.seconds(Int64.random(in: 60...100_000, using: &randomness))
            var requests = Requests(rules())
            let id = requests.start(at: boot(0))
            requests.end(id, .keep(.busy, wait: delay), at: boot(0), random: randomness.next())
            // The clock is set back once by any amount, at any time of the wait, with a restart in between or not.
            let passed = Duration.seconds(Int64.random(in: 0...delay.components.seconds, using: &randomness))
            let back = Duration.seconds(Int64.random(in: 1...2 * delay.components.seconds, using: &randomness))
            let wrong = Self.start + (.zero - back)
            let later = boot(0) + passed
            // The process dies before it has seen the wrong clock: the wait starts again, or is over.
            var next = OriginPacer(rules())
            next.restore(openings: 1, wait: requests.pacer.storedWait, now: wrong, boot: boot(77))
            let left = back > delay ? .zero : delay
            #expect(next.waitLeft(at: boot(77)) == left)
            // It lives on: the wall clock is not asked.
            requests.pacer.recordWaits(now: wrong, boot: later)
            #expect(requests.pacer.waitLeft(at: later) == delay - passed)
            // And it dies after that: the wait continues.
            next = OriginPacer(rules())
            next.restore(openings: 1, wait: requests.pacer.storedWait, now: wrong, boot: boot(77))
            #expect(next.waitLeft(at: boot(77)) == delay - passed)
            let half = Duration.seconds((delay - passed).components.seconds / 2)
            #expect(next.waitLeft(at: boot(77) + half) == delay - passed - half, "it continues")
            let stored = next.storedWait
            next = OriginPacer(rules())
            next.restore(openings: 1, wait: stored, now: wrong + half, boot: boot(5))
            #expect(next.waitLeft(at: boot(5)) == delay - passed - half)
            #expect(next.admission(at: boot(5) + delay) == .yes)
        }
    }

    @Test func `a batch waits alone after an answer that is only about it`() {
        let backoff = Backoff(base: .seconds(1), cap: .seconds(8))
        func wait(_ asked: Duration?, _ tries: Int) -> Duration {
            RetryWait(asked: asked, tries: tries, backoff: backoff, now: Self.start, random: .max)
                .remaining(at: Self.start)
        }
        #expect((1...5).map { wait(nil, $0) } == [1, 2, 4, 8, 8].map { .seconds($0) })
        #expect(wait(.seconds(70), 3) == .seconds(70) && wait(.seconds(1), 3) == .seconds(4))
    }
}
