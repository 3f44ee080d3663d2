import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureFiles

/// A gate that one side keeps shut.
private final class Gate: Sendable {
    private let group = DispatchGroup()

    init() { group.enter() }

    func pass() { group.wait() }

    func open() { group.leave() }
}

/// Counts the results of other threads.
private final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private var accepted = 0
    private var refused = 0

    func record(_ wasAccepted: Bool) {
        lock.withLock {
            accepted += wasAccepted ? 1 : 0
            refused += wasAccepted ? 0 : 1
        }
    }

    var counts: [Int] { lock.withLock { [accepted, refused] } }
}

@Suite(.timeLimit(.minutes(1))) struct BackPressureTests {
    /// A part file whose disk stalls until the gate opens: its own thread waits in the receiver.
    private func stopped(_ store: TestStore, _ gate: Gate, name: String = "lecture") -> TestPart {
        let part = TestPart(store.files) { event in
            if case .opened = event { gate.pass() }
        }
        part.file.open(plan(64 << 12, chunk: 1 << 12, name: name))
        return part
    }

    /// Hands over blocks on its own thread, as the transport does.
    private func submit(_ count: Int, to file: any PartFile, _ tally: Tally, _ group: DispatchGroup) {
        group.enter()
        Thread.detachNewThread {
            for index in 0..<count {
                let block = filled(sample(1 << 12), at: index << 12)
                tally.record(file.submit(block, from: TransferID(1), endsObject: false))
            }
            group.leave()
        }
    }

    @Test func `A slow disk blocks the caller after eight blocks`() async throws {
        let store = try TestStore()
        let gate = Gate()
        let part = stopped(store, gate)
        let tally = Tally()
        let group = DispatchGroup()
        submit(12, to: part.file, tally, group)
        try await waitUntil { store.files.budget.blockedCallers == 1 }
        #expect(tally.counts == [8, 0])
        #expect(store.files.budget.waitingBlocks == 8)

        gate.open()
        try await waitUntil { tally.counts == [12, 0] }
        part.file.flush()
        try await part.expectOpened()
        var reported: [Int] = []
        while reported.count < 12 { reported += try await part.flushed().map(\.index) }
        #expect(reported == Array(0..<12))
        try await waitUntil { store.files.budget.waitingBlocks == 0 }
        #expect(store.files.budget.blockedCallers == 0)
    }

    @Test func `All files together block their callers after forty-eight blocks`() async throws {
        let store = try TestStore()
        let gate = Gate()
        let parts = (0..<8).map { stopped(store, gate, name: "file-\($0)") }
        let tally = Tally()
        let group = DispatchGroup()
        for part in parts { submit(7, to: part.file, tally, group) }
        // A block counts as waiting a moment before its caller knows.
        try await waitUntil { tally.counts == [48, 0] && store.files.budget.blockedCallers > 0 }
        #expect(store.files.budget.waitingBlocks == 48, "no file had eight")
        gate.open()
        try await waitUntil { tally.counts == [56, 0] }
        try await waitUntil { store.files.budget.waitingBlocks == 0 }
    }

    @Test(arguments: [true, false])
    func `Closing frees a caller that waits`(deleting: Bool) async throws {
        let store = try TestStore()
        let gate = Gate()
        let part = stopped(store, gate)
        let tally = Tally()
        let group = DispatchGroup()
        submit(10, to: part.file, tally, group)
        try await waitUntil { store.files.budget.blockedCallers == 1 }
        part.file.close(deleting: deleting)
        try await waitUntil { tally.counts == [8, 2] }
        gate.open()
        try await part.expectOpened()
        if !deleting { #expect(try await part.flushed().count == 8) }
        try await part.expectClosed()
        #expect(store.files.budget.waitingBlocks == 0)
    }

    @Test func `A failure frees a caller that waits`() async throws {
        let store = try TestStore()
        let gate = Gate()
        let part = stopped(store, gate)
        // The first block breaks the contract; the disk thread notices only when the gate opens.
        #expect(part.send(sample(10), at: 5, TransferID(9)))
        let tally = Tally()
        let group = DispatchGroup()
        submit(10, to: part.file, tally, group)
        try await waitUntil { store.files.budget.blockedCallers == 1 }
        gate.open()
        try await part.expectOpened()
        #expect(try await part.failure().code == .bug)
        try await waitUntil { tally.counts[0] + tally.counts[1] == 10 }
        #expect(tally.counts[1] > 0)
        try await waitUntil { store.files.budget.waitingBlocks == 0 }
    }

    @Test func `A stalled file does not hold up another`() async throws {
        let store = try TestStore()
        let gate = Gate()
        let slow = stopped(store, gate)
        let tally = Tally()
        submit(10, to: slow.file, tally, DispatchGroup())
        try await waitUntil { store.files.budget.blockedCallers == 1 }
        try await store.writeWhole(sample(300_000), plan(300_000, name: "quick"))
        gate.open()
        try await waitUntil { tally.counts == [10, 0] }
    }

    @Test func `A dropped part file releases everything`() async throws {
        let store = try TestStore()
        var part: TestPart? = store.make()
        part?.file.open(plan(1 << 20))
        part?.send(sample(1 << 18), plan(1 << 20), from: 0..<1 << 18)
        weak let file = part?.file
        part = nil
        try await waitUntil { file == nil }
        #expect(store.files.budget.waitingBlocks == 0)
    }
}

/// The loss from a kill is bounded by the bytes that may be written and not yet durable.
@Suite(.timeLimit(.minutes(1))) struct UnsyncedBoundTests {
    @Test func `A file accepts no more once sixteen MiB are written and not durable`() {
        let budget = DiskBudget()
        let account = budget.open()
        budget.wrote(DiskBudget.unsyncedBytes - 1, account)
        #expect(budget.enter(account))
        budget.leave(account)
        budget.wrote(1, account)
        let entered = Guarded<Bool?>(nil)
        let done = DispatchGroup()
        done.enter()
        Thread.detachNewThread {
            let isTaken = budget.enter(account)
            entered.withLock { $0 = isTaken }
            done.leave()
        }
        while budget.blockedCallers == 0 { sched_yield() }
        #expect(entered.withLock { $0 } == nil)
        budget.settled(4 << 20, account)
        done.wait()
        #expect(entered.withLock { $0 } == true)
        budget.leave(account)
        budget.close(account)
    }

    /// What the trial of connections asks: two that wait at once count once.
    @Test func `The time for which a caller waits is counted until it goes on`() {
        let clock = ContinuousClock()
        let budget = DiskBudget(blocksPerFile: 1)
        #expect(budget.blockedTime == .zero)
        let accounts = [budget.open(), budget.open()]
        for account in accounts { #expect(budget.enter(account)) }
        let start = clock.now
        let done = DispatchGroup()
        for account in accounts {
            done.enter()
            Thread.detachNewThread {
                #expect(budget.enter(account))
                done.leave()
            }
        }
        while budget.blockedCallers < 2 { sched_yield() }
        let since = clock.now
        while budget.blockedTime < .milliseconds(20) { sched_yield() }
        #expect(clock.now - start >= .milliseconds(20))
        budget.leave(accounts[0])
        while budget.blockedCallers == 2 { sched_yield() }
        let one = clock.now
        let between = budget.blockedTime
        #expect(between >= one - since, "the other one still waits")
        budget.leave(accounts[1])
        done.wait()
        let whole = budget.blockedTime
        #expect(whole >= between && whole <= clock.now - start)
        #expect(budget.blockedTime == whole, "no caller waits")
        for account in accounts {
            budget.leave(account)
            budget.close(account)
        }
    }

    /// Blocks of many files are bounded together: a process with sixteen connections keeps its memory.
    @Test func `Eight MiB of all files wait, and the next block when there is space for it`() {
        let budget = DiskBudget()
        let accounts = (0..<9).map { _ in budget.open() }
        for account in accounts[..<8] { #expect(budget.enter(account, bytes: 1 << 20)) }
        let done = DispatchGroup()
        done.enter()
        Thread.detachNewThread {
            #expect(budget.enter(accounts[8], bytes: 1 << 20))
            done.leave()
        }
        while budget.blockedCallers == 0 { sched_yield() }
        #expect(budget.waitingBlocks == 8)
        budget.leave(accounts[0], bytes: 1 << 20)
        done.wait()
        #expect(budget.waitingBlocks == 8)
        for account in accounts[1...] { budget.leave(account, bytes: 1 << 20) }
        // More than all may have, with nothing before it.
        #expect(budget.enter(accounts[0], bytes: 64 << 20))
        budget.leave(accounts[0], bytes: 64 << 20)
        for account in accounts { budget.close(account) }
    }

    /// Four MiB are worth a sync; those that arrive fast are synced eight at a time.
    @Test(arguments: [(Duration.zero, 4), (.seconds(3600), 8)])
    func `What is written is synced without a request`(time: Duration, count: Int) async throws {
        let store = try TestStore(budget: DiskBudget(blocksPerFile: 16, groupTime: time))
        let part = store.make()
        part.file.open(plan(16 << 20, chunk: 1 << 20))
        try await part.expectOpened()
        for index in 0..<count {
            let block = filled(sample(1 << 20), at: index << 20)
            #expect(part.file.submit(block, from: TransferID(1), endsObject: false))
        }
        #expect(try await part.flushed().map(\.index) == Array(0..<count))
        part.file.close(deleting: true)
        try await part.expectClosed()
    }
}
