import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// When a request to a target may start.
struct TargetPaceTests {
    private static let start = Timestamp(milliseconds: 1_750_000_000_000)
    private let keep = SendVerdict.keep(.noAnswer, wait: nil)

    private func boot(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }

    private func limits(burst: Int = 4, concurrency: Int = 4) -> TargetPace.Limits {
        TargetPace.Limits(
            interval: .milliseconds(100), burst: burst, concurrency: concurrency,
            backoff: Backoff(base: .seconds(1), cap: .seconds(60)))
    }

    @Test(arguments: [1, 2, 4, 9], [UInt64(1), 2, 3])
    func `a backlog goes out at a bounded rate`(burst: Int, seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        var pace = TargetPace(limits: limits(burst: burst))
        var started: [Int64] = []
        var now: Int64 = 0
        while started.count < 500 {
            switch pace.permission(wall: Self.start, boot: boot(now)) {
            case .yes:
                let ticket = pace.started(boot: boot(now))
                started.append(now)
                pace.ended(ticket, .delivered, wall: Self.start, random: 0)
            case .after(let wait):
                #expect(wait > .zero && wait <= .milliseconds(100))
                now += wait.milliseconds
            case .busy, .suspended: Issue.record("nothing holds it")
            }
            if Int.random(in: 0..<20, using: &randomness) == 0 { now += Int64.random(in: 0...2000, using: &randomness) }
        }
        for (index, time) in started.enumerated() where index >= burst {
            #expect(time - started[index - burst] >= 100, "no more than a burst within an interval")
            #expect(index < 50 + burst || time - started[index - 50 - burst] >= 5000)
        }
    }

    @Test func `a restarted boot clock costs one interval`() {
        var pace = TargetPace(limits: limits(burst: 1))
        _ = pace.started(boot: boot(9_000_000))
        #expect(pace.permission(wall: Self.start, boot: boot(5)) == .after(.milliseconds(100)))
        #expect(pace.permission(wall: Self.start, boot: boot(105)) == .yes)
    }

    @Test func `no more requests are in flight than allowed, and one while the target fails`() {
        var pace = TargetPace(limits: limits(burst: 9, concurrency: 2))
        let first = pace.started(boot: boot(0))
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .yes)
        let second = pace.started(boot: boot(0))
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .busy)
        pace.ended(first, keep, wall: Self.start, random: .max)
        #expect(pace.failures == 1 && pace.running == 1)
        pace.ended(second, keep, wall: Self.start, random: 0)
        #expect(pace.failures == 1, "the failures of one burst count once")
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .after(.seconds(1)))
        let probe = pace.started(boot: boot(1000))
        #expect(pace.permission(wall: Self.start + .seconds(1), boot: boot(1000)) == .busy)
        pace.ended(probe, keep, wall: Self.start + .seconds(1), random: .max)
        #expect(pace.failures == 2)
        #expect(pace.permission(wall: Self.start + .seconds(1), boot: boot(1000)) == .after(.seconds(2)))
        let late = pace.started(boot: boot(3000))
        pace.ended(late, .delivered, wall: Self.start + .seconds(3), random: 0)
        #expect(pace.failures == 0 && pace.wait == nil)
    }

    @Test func `an answer to a request from before the failure ends no wait`() {
        var pace = TargetPace(limits: limits())
        let (old, failed) = (pace.started(boot: boot(0)), pace.started(boot: boot(0)))
        pace.ended(failed, .keep(.busy, wait: .seconds(50)), wall: Self.start, random: 0)
        pace.ended(old, .delivered, wall: Self.start, random: 0)
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .after(.seconds(50)))
    }

    @Test func `a wait requested by a server is never shortened`() {
        var pace = TargetPace(limits: limits())
        let tickets = [pace.started(boot: boot(0)), pace.started(boot: boot(0))]
        pace.ended(tickets[0], .keep(.busy, wait: .seconds(500)), wall: Self.start, random: 9)
        pace.ended(tickets[1], .keep(.busy, wait: .seconds(5)), wall: Self.start, random: 9)
        #expect(pace.wait == RetryWait(setAt: Self.start, delay: .seconds(500)))
        pace.resume()
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .after(.seconds(500)))
    }

    @Test func `an answer about one batch does not delay the others`() {
        for reason in KeepReason.allCases {
            var pace = TargetPace(limits: limits())
            let ticket = pace.started(boot: boot(0))
            pace.ended(ticket, .keep(reason, wait: .seconds(9)), wall: Self.start, random: 0)
            let holds = pace.permission(wall: Self.start, boot: boot(0)) != .yes
            #expect(holds == reason.isOfTarget, "\(reason)")
        }
        #expect(!KeepReason.serverFailed.isOfTarget && KeepReason.busy.isOfTarget && KeepReason.portal.isOfTarget)
    }

    @Test func `a suspended target gets nothing until it is resumed`() {
        var pace = TargetPace(limits: limits())
        let ticket = pace.started(boot: boot(0))
        pace.ended(ticket, .suspend(.unauthorized), wall: Self.start, random: 0)
        #expect(pace.permission(wall: Self.start + .seconds(1 << 30), boot: boot(1 << 40)) == .suspended(.unauthorized))
        pace = TargetPace(limits: limits(), suspension: pace.suspension)
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .suspended(.unauthorized), "after a restart too")
        pace.resume()
        #expect(pace.permission(wall: Self.start, boot: boot(0)) == .yes)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `a clock set back never lengthens a wait`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let delay = Duration.seconds(Int64.random(in: 60...100_000, using: &randomness))
            var pace = TargetPace(limits: limits())
            let ticket = pace.started(boot: boot(0))
            pace.ended(ticket, .keep(.busy, wait: delay), wall: Self.start, random: randomness.next())
            // The clock is set back once by any amount, at any time of the wait, with a restart in between or not.
            let passed = Duration.seconds(Int64.random(in: 0...delay.components.seconds, using: &randomness))
            let back = Duration.seconds(Int64.random(in: 1...2 * delay.components.seconds, using: &randomness))
            let wrong = Self.start + (.zero - back)
            _ = pace.permission(wall: Self.start + passed, boot: boot(1000))
            guard case .after(let left) = pace.permission(wall: wrong, boot: boot(1000)) else {
                #expect(back > delay, "the wait is over only if the clock was set back further than its length")
                continue
            }
            #expect(left == delay && back <= delay)
            if Bool.random(using: &randomness) {
                pace = TargetPace(limits: limits(), failures: pace.failures, wait: pace.wait)
            }
            let half = Duration.seconds(left.components.seconds / 2)
            #expect(pace.permission(wall: wrong + half, boot: boot(2000)) == .after(left - half), "it continues")
            #expect(pace.permission(wall: wrong + left, boot: boot(9000)) == .yes)
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
