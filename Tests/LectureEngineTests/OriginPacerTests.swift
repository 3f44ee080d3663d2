import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// The states of an origin, with rules that have everything.
struct OriginPacerTests {
    private let rules = OriginPacer.Rules(
        window: OriginPacer.Window(initial: 4, maximum: 8, halvedBy: [.overloaded]),
        rate: OriginPacer.Rate(
            initial: 10, minimum: 1, maximum: 100, growth: 10, burst: .requests(50), halvedBy: [.timedOut]),
        breaker: OriginPacer.Breaker(
            failures: 2, backoff: Backoff(base: .seconds(4), cap: .seconds(16)), isHalfFixed: true, probesAlone: false))
    private let wall = Timestamp(milliseconds: 1_750_000_000_000)

    private func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }

    private func transfers(_ numbers: ClosedRange<UInt64>) -> [TransferID] { numbers.map { TransferID($0) } }

    private func pacer(running numbers: ClosedRange<UInt64>) -> OriginPacer {
        var pacer = OriginPacer(rules)
        for id in transfers(numbers) { pacer.started(id, at: at(0)) }
        return pacer
    }

    @Test func `each dimension is halved by its own failures, once a burst`() {
        var pacer = pacer(running: 1...4)
        pacer.ended(TransferID(1), .overloaded, at: at(1), random: 0)
        #expect(pacer.limit == 2 && pacer.rate == 10)
        pacer.ended(TransferID(2), .timedOut, at: at(1), random: 0)
        #expect(pacer.limit == 2 && pacer.rate == 5)
        // In the same instant, and still from before both halvings.
        pacer.ended(TransferID(3), .overloaded, at: at(1), random: 0)
        pacer.ended(TransferID(4), .timedOut, at: at(1), random: 0)
        #expect(pacer.limit == 2 && pacer.rate == 5)
        // In the same instant, but after them.
        pacer.started(TransferID(5), at: at(1))
        pacer.ended(TransferID(5), .overloaded, at: at(1), random: 0)
        #expect(pacer.limit == 1 && pacer.rate == 5)
    }

    @Test func `an answer from before a halving still widens the window`() {
        var pacer = pacer(running: 1...4)
        pacer.ended(TransferID(1), .overloaded, at: at(1), random: 0)
        for id in transfers(2...3) { pacer.ended(id, .served, at: at(1), random: 0) }
        #expect(pacer.limit == 3)
    }

    @Test func `from healthy to broken, probing and back`() {
        var pacer = pacer(running: 1...3)
        pacer.ended(TransferID(1), .failed, at: at(1), random: 0)
        #expect(pacer.openings == 0 && pacer.admission(at: at(1)) == .yes)
        pacer.ended(TransferID(2), .failed, at: at(1), random: 0)
        #expect(pacer.openings == 1 && pacer.admission(at: at(1)) == .broken(.seconds(2)))
        pacer.ended(TransferID(3), .failed, at: at(2), random: .max)
        #expect(pacer.openings == 1 && pacer.admission(at: at(2)) == .broken(.seconds(1)), "an echo")
        #expect(pacer.admission(at: at(3)) == .yes)
        pacer.started(TransferID(4), at: at(3))
        #expect(pacer.admission(at: at(3)) == .busy(.origin))
        pacer.ended(TransferID(4), .neutral, at: at(3), random: 0)
        #expect(pacer.admission(at: at(3)) == .yes, "it says nothing: another probe")
        pacer.started(TransferID(5), at: at(3))
        pacer.ended(TransferID(5), .failed, at: at(4), random: .max)
        #expect(pacer.openings == 2 && pacer.admission(at: at(4)) == .broken(.seconds(8)))
        pacer.started(TransferID(6), at: at(12))
        pacer.ended(TransferID(6), .served, at: at(12), random: 0)
        #expect(pacer.openings == 0 && pacer.admission(at: at(12)) == .yes)
    }

    @Test func `a probe runs beside old requests or waits for them`() {
        var pacer = pacer(running: 1...3)
        for id in transfers(1...2) { pacer.ended(id, .failed, at: at(0), random: 0) }
        #expect(pacer.admission(at: at(9)) == .yes)
        pacer.rules.breaker?.probesAlone = true
        #expect(pacer.admission(at: at(9)) == .busy(.origin))
        pacer.ended(TransferID(3), .served, at: at(9), random: 0)
        #expect(pacer.admission(at: at(9)) == .yes && pacer.openings == 1)
    }

    @Test func `waits of the server and of the breaker are independent`() {
        var pacer = pacer(running: 1...3)
        for id in transfers(1...2) { pacer.ended(id, .failed, at: at(0), random: 0) }
        pacer.wait(for: .seconds(1), at: at(0))
        #expect(pacer.admission(at: at(0)) == .waiting(.seconds(1)))
        #expect(pacer.waitLeft(at: at(0)) == .seconds(2))
        #expect(pacer.admission(at: at(1)) == .broken(.seconds(1)))
        pacer.wait(for: .seconds(30), at: at(1))
        #expect(pacer.admission(at: at(2)) == .waiting(.seconds(29)))
        pacer.endWaits()
        #expect(pacer.admission(at: at(2)) == .yes && pacer.openings == 1 && pacer.storedWait == nil)
    }

    @Test func `a wait is stored once, and again when the wall clock was set back`() {
        var pacer = OriginPacer(rules)
        pacer.wait(for: .seconds(60), at: at(0))
        #expect(pacer.storedWait == nil)
        pacer.recordWaits(now: wall, boot: at(0))
        let stored = RetryWait(setAt: wall, delay: .seconds(60))
        #expect(pacer.storedWait == stored)
        pacer.recordWaits(now: wall + .seconds(7), boot: at(8))
        #expect(pacer.storedWait == stored, "the same for clocks that differ a little")
        let wrong = wall + .seconds(-1000)
        pacer.recordWaits(now: wrong, boot: at(20))
        #expect(pacer.storedWait == RetryWait(setAt: wrong, delay: .seconds(40)))
        #expect(pacer.waitLeft(at: at(20)) == .seconds(40))
    }

    @Test func `what is stored is restored`() {
        var pacer = OriginPacer(rules)
        pacer.restore(
            limit: 3, wait: RetryWait(setAt: wall, delay: .seconds(60)), now: wall + .seconds(20), boot: at(5))
        #expect(pacer.limit == 3 && pacer.admission(at: at(5)) == .waiting(.seconds(40)))
        pacer = OriginPacer(rules)
        pacer.restore(openings: 2, wait: RetryWait(setAt: wall, delay: .seconds(60)), now: wall, boot: at(5))
        #expect(pacer.admission(at: at(5)) == .broken(.seconds(60)) && pacer.openings == 2)
        pacer.started(TransferID(1), at: at(65))
        pacer.ended(TransferID(1), .failed, at: at(65), random: 0)
        #expect(pacer.admission(at: at(65)) == .broken(.seconds(8)) && pacer.openings == 3)
        pacer = OriginPacer(rules)
        pacer.restore(wait: nil, now: wall, boot: at(5))
        #expect(pacer == OriginPacer(rules))
    }

    @Test func `forgotten and unknown requests change nothing`() {
        var pacer = pacer(running: 1...4)
        for id in transfers(1...2) { pacer.ended(id, .failed, at: at(0), random: 0) }
        pacer.started(TransferID(9), at: at(3))
        #expect(pacer.runningCount == 3 && pacer.admission(at: at(3)) == .busy(.origin))
        pacer.forgetRunning()
        #expect(pacer.runningCount == 0 && pacer.admission(at: at(3)) == .yes)
        let before = pacer
        for number in [1, 3, 9, 77] as [UInt64] {
            pacer.ended(TransferID(number), .failed, at: at(3), random: 0)
        }
        #expect(pacer == before)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `equal calls give equal values`(seed: UInt64) {
        func run() -> [OriginPacer] {
            var randomness = SeededGenerator(seed: seed)
            var (pacer, running, last) = (OriginPacer(rules), [TransferID](), UInt64(0))
            return (0..<500).map { step in
                let boot = at(Double(step) / 10)
                if pacer.admission(at: boot) == .yes {
                    last += 1
                    pacer.started(TransferID(last), at: boot)
                    running.append(TransferID(last))
                } else if let id = running.popLast() {
                    let outcomes: [OriginPacer.Outcome] = [.served, .served, .overloaded, .timedOut, .failed, .neutral]
                    let outcome = outcomes[Int.random(in: 0..<6, using: &randomness)]
                    pacer.ended(id, outcome, at: boot, random: randomness.next())
                }
                #expect(pacer.runningCount == running.count && pacer.runningCount <= 8)
                #expect((1...8).contains(pacer.limit) && (1...100).contains(pacer.rate))
                return pacer
            }
        }
        #expect(run() == run())
    }
}
