import LectureEngine
import LectureModel
import LectureTestSupport
import Testing

/// Adds numbers to a store, and announces each sum.
private struct Adder: StateMachine {
    enum Notice: StateMachineNotice, Hashable {
        case sum(Int)
        case lost(Int)
        case failure(LectureError)
        case stopped
    }

    /// Numbers that were handled and whose sum was not announced.
    var open: [Int] = []
    var transfers: [TransferID] = []
    var sum = 0
    var isIdle: Bool { open.isEmpty }

    mutating func handle(_ event: Int, _ step: inout Step<Self>) throws {
        open.append(event)
        try step.store.add(event)
    }

    mutating func reconcile(_ step: inout Step<Self>) throws {
        sum += open.reduce(0, +)
        if !open.isEmpty {
            transfers.append(step.newTransfer())
            step.effects += open.map { "announce \($0)" }
            step.notices.append(.sum(sum))
        }
        open = []
        step.wake(at: step.boot + .seconds(20))
        step.wake(at: step.boot + .seconds(10))
        if step.isStopping { step.finish() }
    }

    mutating func recover(
        losing events: [Int], after error: LectureError, at boot: BootInstant
    ) -> (effects: [String], notices: [Notice]) {
        open += events.filter { $0 > 100 }
        return (events.map { "lose \($0)" }, [.failure(error)])
    }

    mutating func abandon() -> [Notice] {
        defer { open = [] }
        return open.map { .lost($0) }
    }
}

extension Adder { typealias Store = AdderStore }

/// Numbers in transactions that may fail.
private final class AdderStore {
    var isFailing = false
    private(set) var numbers: [Int] = []
    private(set) var transactions = 0

    func add(_ number: Int) throws { numbers.append(number) }

    func transaction(_ body: () throws -> Void) throws {
        transactions += 1
        let before = numbers
        do {
            try body()
            if isFailing { throw LectureError(.storageFull) }
        } catch {
            numbers = before
            throw error
        }
    }
}

/// The loop that runs state machines.
struct LoopTests {
    private let store = AdderStore()
    private let clock = VirtualClock()
    private let wakes = Guarded(0)
    private let loop: Loop<Adder>

    init() {
        let (store, wakes) = (store, wakes)
        let ports = Loop<Adder>.Ports(
            store: store, clock: clock, random: SeededRandom(seed: 1), numbers: TransferNumbers(),
            transaction: { try store.transaction($0) })
        loop = Loop(Adder(), ports: ports, inbox: Inbox(wake: { wakes.withLock { $0 += 1 } }))
    }

    private func failure(_ step: CommittedStep<String, Adder.Notice>) -> LectureError.Code? {
        if case .failure(let error) = step.notices.first { error.code } else { nil }
    }

    /// Runs the step that is due after a failed one.
    private func retry(_ failed: CommittedStep<String, Adder.Notice>) throws -> CommittedStep<String, Adder.Notice> {
        clock.advance(to: try #require(failed.next))
        return loop.commit()
    }

    @Test func `the events of a batch are one transaction, and wake the loop once`() {
        for number in [1, 2, 3] { loop.inbox.post(number) }
        #expect(wakes.withLock(\.self) == 1)
        let step = loop.commit()
        #expect(step.effects == ["announce 1", "announce 2", "announce 3"] && step.notices == [.sum(6)])
        #expect(step.next == clock.boot() + .seconds(10), "the earliest wake counts")
        #expect(store.numbers == [1, 2, 3] && store.transactions == 1)
    }

    @Test func `an idle machine without events makes no transaction`() {
        let step = loop.commit()
        #expect(step.effects.isEmpty && step.notices.isEmpty && step.next == nil && store.transactions == 0)
    }

    @Test func `a failed step never happened, and its events come again before newer ones`() throws {
        loop.inbox.post(1)
        loop.inbox.post(2)
        store.isFailing = true
        let failed = loop.commit()
        #expect(failed.effects == [] && failure(failed) == .storageFull && failed.next == clock.boot() + .seconds(2))
        #expect(loop.machine.sum == 0 && loop.machine.isIdle && store.numbers == [])
        loop.inbox.post(3)
        #expect(loop.commit().next == failed.next && store.transactions == 1, "it waits")
        store.isFailing = false
        let step = try retry(failed)
        #expect(step.effects == ["announce 1", "announce 2", "announce 3"] && step.notices == [.sum(6)])
    }

    @Test func `a number of a failed step is not used again`() throws {
        loop.inbox.post(1)
        store.isFailing = true
        let failed = loop.commit()
        store.isFailing = false
        _ = try retry(failed)
        #expect(loop.machine.transfers == [TransferID(2)])
    }

    @Test func `after three failed steps the machine recovers, and waits become longer up to a minute`() throws {
        loop.inbox.post(7)
        loop.inbox.post(700)
        store.isFailing = true
        var step = loop.commit()
        #expect(step.effects == [])
        step = try retry(step)
        #expect(step.effects == [])
        step = try retry(step)
        #expect(step.effects == ["lose 7", "lose 700"] && loop.machine.open == [700])
        #expect(step.notices == [.failure(LectureError(.storageFull)), .failure(LectureError(.storageFull))])
        var waits: [Duration] = []
        for _ in 0..<4 {
            step = try retry(step)
            waits.append(try #require(step.next) - clock.boot())
        }
        #expect(waits == [.seconds(16), .seconds(32), .seconds(60), .seconds(60)])
        store.isFailing = false
        step = try retry(step)
        #expect(step.notices == [.sum(700)])
    }

    @Test func `a stop ends with a last notice, and nothing happens after it`() {
        loop.inbox.post(1)
        loop.stop()
        #expect(loop.commit().notices == [.sum(1), .stopped])
        loop.inbox.post(2)
        loop.stop()
        let after = loop.commit()
        #expect(after.notices == [] && after.effects == [] && store.numbers == [1])
    }

    @Test func `a stop does not wait for a store that cannot be written`() throws {
        loop.inbox.post(700)
        store.isFailing = true
        let first = loop.commit()
        loop.stop()
        var step = loop.commit()
        #expect(try #require(first.next) > clock.boot() && failure(step) == .storageFull, "it tries at once")
        step = try retry(step)
        step = try retry(step)
        let failure = Adder.Notice.failure(LectureError(.storageFull))
        #expect(step.notices == [failure, failure, .lost(700), .stopped] && step.next == nil)
        #expect(loop.commit().notices == [])
    }
}

/// When a step that failed is repeated.
struct FailedStepsTests {
    @Test func `failed steps wait longer each time, up to a minute`() {
        let start = VirtualClock().boot()
        var steps = FailedSteps()
        #expect(steps.retry == nil && !steps.isRepeated && !steps.isFailing)
        let waits = (1...8).map { _ in
            let until = steps.failed(at: start)
            #expect(steps.retry == until && steps.isFailing)
            return until - start
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
        #expect(steps.isRepeated)
        steps.began()
        #expect(steps.retry == nil && steps.isRepeated)
        steps.reset()
        #expect(!steps.isRepeated)
        for count in 1...3 {
            steps.failed(at: start)
            #expect(steps.isRepeated == (count == 3))
        }
    }
}
