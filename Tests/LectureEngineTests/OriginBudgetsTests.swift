import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// What one kind of traffic sees of the others.
struct OriginBudgetsTests {
    private let rules = OriginPacer.Rules(
        window: OriginPacer.Window(initial: 8, maximum: 16, halvedBy: [.overloaded]),
        breaker: OriginPacer.Breaker(
            failures: 1, backoff: Backoff(base: .seconds(200), cap: .seconds(400)), isHalfFixed: true,
            probesAlone: false))
    private let origin: Origin
    private let other: Origin

    init() throws {
        origin = try Origin(url: "https://a.example/x")
        other = try Origin(url: "https://a.example:444/x")
    }

    private func at(_ seconds: Double) -> BootInstant { BootInstant(nanoseconds: Int64(seconds * 1e9)) }

    /// A pacer whose only request ended.
    private func pacer(after outcome: OriginPacer.Outcome, at boot: BootInstant) -> OriginPacer {
        var pacer = OriginPacer(rules)
        pacer.started(TransferID(1), at: boot)
        pacer.ended(TransferID(1), outcome, at: boot, random: 0)
        return pacer
    }

    private func share(_ running: Int) -> OriginShare {
        var share = OriginShare()
        share.running = running
        return share
    }

    @Test func `what all do is counted by origin`() {
        var (one, two, sum) = (TrafficPacer(rules), TrafficPacer(rules), OriginBudgets())
        for number in 1...3 as ClosedRange<UInt64> { one.started(TransferID(number), at: origin, boot: at(0)) }
        for number in 4...5 as ClosedRange<UInt64> { two.started(TransferID(number), at: origin, boot: at(0)) }
        two.started(TransferID(6), at: other, boot: at(0))
        two.wait(other, for: .seconds(9), now: Timestamp(milliseconds: 0), boot: at(1))
        sum.add(one.budgets)
        sum.add(two.budgets)
        #expect(sum[origin] == share(5) && sum[other].running == 1 && sum[other].waitUntil == at(10))
        for number in 1...6 as ClosedRange<UInt64> {
            one.ended(TransferID(number), .neutral, at: at(2), random: 0)
        }
        #expect(one.budgets == OriginBudgets(), "an origin where nothing runs takes no space")
    }

    @Test func `the total of an origin is shared, and each kind may have one request`() {
        var pacer = OriginPacer(rules)
        #expect(pacer.admission(at: at(0), besides: share(1000)) == .yes)
        pacer.started(TransferID(1), at: at(0))
        #expect(pacer.admission(at: at(0), besides: share(OriginBudgets.total - 2)) == .yes)
        #expect(pacer.admission(at: at(0), besides: share(OriginBudgets.total - 1)) == .busy(.budget))
        pacer.ended(TransferID(1), .neutral, at: at(1), random: 0)
        #expect(pacer.admission(at: at(1), besides: share(OriginBudgets.total)) == .yes)
    }

    @Test func `settings that allow one kind more than the total keep their meaning`() {
        var pacer = OriginPacer(OriginPacer.Rules(window: .fixed(100)))
        for number in 1...99 as ClosedRange<UInt64> { pacer.started(TransferID(number), at: at(0)) }
        #expect(pacer.admission(at: at(0)) == .yes)
        #expect(pacer.admission(at: at(0), besides: share(1)) == .busy(.budget))
    }

    @Test func `a wait that one was asked for applies to all`() {
        var asked = OriginPacer(rules)
        asked.wait(for: .seconds(30), at: at(0))
        let pacer = pacer(after: .served, at: at(5))
        #expect(pacer.admission(at: at(6), besides: asked.share) == .waiting(.seconds(24)))
        #expect(pacer.waitLeft(at: at(6), besides: asked.share) == .seconds(24))
        #expect(pacer.admission(at: at(30), besides: asked.share) == .yes)
        #expect(pacer.waitLeft(at: at(6)) == .zero && pacer.storedWait == nil, "it is not its own")
    }

    @Test func `a breaker applies to all for a minute, unless they are served`() {
        let broken = pacer(after: .failed, at: at(10))
        #expect(broken.admission(at: at(10)) == .broken(.seconds(100)))
        var pacer = pacer(after: .served, at: at(9))
        #expect(pacer.admission(at: at(10), besides: broken.share) == .broken(.seconds(60)))
        #expect(pacer.admission(at: at(70), besides: broken.share) == .yes)
        pacer.started(TransferID(2), at: at(9))
        pacer.ended(TransferID(2), .served, at: at(11), random: 0)
        #expect(pacer.admission(at: at(12), besides: broken.share) == .yes)
    }

    @Test(arguments: [OriginPacer.Outcome.failed, .timedOut, .overloaded, .unusable])
    func `a breaker that opened for an answer concerns only its own kind`(outcome: OriginPacer.Outcome) {
        let broken = pacer(after: outcome, at: at(10))
        #expect(broken.openings == 1)
        #expect((broken.share.brokenUntil != nil) == [.failed, .timedOut].contains(outcome))
    }

    @Test func `an overload of before the first request here halves nothing`() {
        var (one, two) = (TrafficPacer(rules), TrafficPacer(rules))
        one.started(TransferID(1), at: origin, boot: at(0))
        one.ended(TransferID(1), .overloaded, at: at(0), random: 0)
        for number in 2...3 as ClosedRange<UInt64> {
            two.respect(one.budgets, at: origin, boot: at(9))
            two.started(TransferID(number), at: origin, boot: at(9))
        }
        #expect(two[origin].limit == 8)
        two.respect(one.budgets, at: other, boot: at(9))
        #expect(two.budgets[other] == OriginShare())
    }

    @Test func `an overload halves all of them, once`() {
        var overloaded = pacer(after: .overloaded, at: at(0))
        var pacer = OriginPacer(rules)
        pacer.respect(overloaded.share, at: at(2))
        #expect(pacer.limit == 8, "nothing was started that could have caused it")
        pacer.started(TransferID(1), at: at(1))
        pacer.respect(overloaded.share, at: at(2))
        #expect(pacer.limit == 8, "it is known already")
        overloaded.started(TransferID(2), at: at(2))
        overloaded.ended(TransferID(2), .overloaded, at: at(2), random: 0)
        for _ in 0..<3 { pacer.respect(overloaded.share, at: at(2)) }
        #expect(pacer.limit == 4)
        pacer.ended(TransferID(1), .overloaded, at: at(3), random: 0)
        #expect(pacer.limit == 4, "of the same burst")
        pacer.respect(OriginShare(), at: at(3))
        pacer.started(TransferID(3), at: at(4))
        pacer.respect(overloaded.share, at: at(2))
        #expect(pacer.limit == 2, "one that counts anew")
    }
}

/// Starts a request for each event, and ends them with negative events.
private struct Sender: StateMachine {
    enum Notice: StateMachineNotice, Hashable {
        case admission(OriginPacer.Admission)
        case failure(LectureError)
        case stopped
    }

    let origin: Origin
    var pacer = TrafficPacer(OriginPacer.Rules(window: .fixed(OriginBudgets.total)))
    var waiting: [UInt64] = []
    var isIdle: Bool { waiting.isEmpty }
    var traffic: OriginBudgets { pacer.budgets }

    mutating func handle(_ event: Int64, _ step: inout Step<Self>) throws {
        if event > 0 { return waiting.append(UInt64(event)) }
        pacer.ended(TransferID(event.magnitude), .served, at: step.boot, random: 0)
    }

    mutating func reconcile(_ step: inout Step<Self>) throws {
        while let number = waiting.first {
            let admission = pacer.admission(origin, at: step.boot, besides: step.others)
            step.notices.append(.admission(admission))
            if admission == .busy(.budget) { step.waitsForOthers = true }
            guard admission == .yes else { break }
            waiting.removeFirst()
            pacer.started(TransferID(number), at: origin, boot: step.boot)
        }
        if step.isStopping { step.finish() }
        try step.store.write()
    }

    mutating func recover(
        losing events: [Int64], after error: LectureError, at boot: BootInstant
    ) -> (effects: [Never], notices: [Notice]) {
        pacer.forgetRunning()
        return ([], [])
    }

    mutating func abandon() -> [Notice] { [] }
}

extension Sender {
    typealias Effect = Never

    /// Its own store: only that of the first one can fail.
    static func store(_ environment: SenderStore, in _: any StoreTransaction) -> SenderStore { environment }
}

private final class NoRows: OtherRows {}

private final class SenderStore {
    var isFailing = false

    func write() throws { if isFailing { throw LectureError(.storageFull) } }
}

/// Machines of one loop that send to the same origin.
struct SharedBudgetTests {
    private let clock = VirtualClock()
    private let store = SenderStore()
    private let loop: Loop
    private let senders: [Runner<Sender>]

    init() throws {
        let origin = try Origin(url: "https://a.example/")
        loop = Loop(
            Loop.Ports(
                clock: clock, random: SeededRandom(seed: 1), numbers: TransferNumbers(),
                transaction: { try $0(NoRows()) }))
        // Only the first one can fail.
        senders = [store, SenderStore(), SenderStore()].enumerated().map { rank, store in
            Runner(Sender(origin: origin), environment: store, inbox: Inbox(wake: {}), rank: rank)
        }
        for sender in senders { loop.add(sender) }
    }

    private func post(_ numbers: ClosedRange<Int64>, to sender: Int) {
        for number in numbers { senders[sender].inbox.post(number) }
    }

    private func send(_ numbers: ClosedRange<Int64>, by sender: Int) -> [Sender.Notice] {
        post(numbers, to: sender)
        _ = loop.commit()
        return senders[sender].take().notices
    }

    @Test func `a machine waits for the requests of another, and is due again at their end`() {
        #expect(send(1...63, by: 0).last == .admission(.yes))
        #expect(send(101...102, by: 1) == [.admission(.yes), .admission(.busy(.budget))])
        senders[0].inbox.post(-63)
        #expect(loop.commit() == clock.boot())
        #expect(loop.commit() == nil)
        #expect(senders[1].take().notices == [.admission(.yes)])
        senders[0].inbox.post(-62)
        #expect(loop.commit() == nil, "it waits no longer")
    }

    @Test func `what was decided in the same transaction counts, and a wait that changes nothing ends`() {
        post(1...63, to: 0)
        post(101...102, to: 1)
        post(201...202, to: 2)
        #expect(loop.commit() == clock.boot(), "the third has started one after the second began to wait")
        #expect(senders[0].take().notices.last == .admission(.yes))
        for sender in 1...2 {
            #expect(senders[sender].take().notices == [.admission(.yes), .admission(.busy(.budget))])
        }
        #expect(loop.commit() == nil)
        #expect(senders[1].take().notices == [.admission(.busy(.budget))])
        #expect(senders[2].take().notices == [])
    }

    @Test func `a failed step and a recovery leave nothing behind`() {
        _ = send(1...40, by: 0)
        store.isFailing = true
        post(41...63, to: 0)
        #expect(send(101...125, by: 1).suffix(2) == [.admission(.yes), .admission(.busy(.budget))])
        #expect(senders[1].machine.traffic != OriginBudgets() && senders[1].machine.waiting == [125])
        #expect(senders[0].machine.pacer.runningCount == 40, "what was not committed does not count")
        while senders[0].machine.pacer.runningCount > 0, senders[0].isFailing {
            clock.advance(to: clock.boot() + .seconds(61))
            _ = loop.commit()
        }
        #expect(senders[0].isFailingRepeatedly)
        #expect(loop.commit() != nil && senders[1].machine.waiting == [])
        #expect(send(126...164, by: 1).last == .admission(.yes))
        #expect(send(165...165, by: 1).last == .admission(.busy(.origin)))
    }

    @Test func `a machine that has stopped does not count`() {
        _ = send(1...32, by: 0)
        _ = send(101...132, by: 1)
        #expect(send(201...202, by: 2) == [.admission(.yes), .admission(.busy(.budget))])
        senders[0].stop()
        #expect(loop.commit() == clock.boot())
        _ = loop.commit()
        #expect(senders[2].take().notices == [.admission(.yes)])
        senders[1].stop()
        _ = loop.commit()
        #expect(send(301...362, by: 2).last == .admission(.yes))
        #expect(send(401...401, by: 2).last == .admission(.busy(.origin)))
    }
}
