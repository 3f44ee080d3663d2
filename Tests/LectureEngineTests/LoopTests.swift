import Dispatch
import LectureEngine
import LectureModel
import LectureTestSupport
import Testing

/// A transaction without lectures, licences and reports: it has other rows.
protocol OtherRows: StoreTransaction {}

extension OtherRows {
    var contents: any DownloadIndex { get throws { throw LectureError(.bug) } }
    var licences: any LicenceLedger { get throws { throw LectureError(.bug) } }
    var reports: any StatisticsOutbox { get throws { throw LectureError(.bug) } }
    var webhooks: any WebhookJournal { get throws { throw LectureError(.bug) } }
}

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

extension Adder {
    static func store(_: Void, in transaction: any StoreTransaction) throws -> AdderStore {
        guard let store = transaction as? AdderStore else { throw LectureError(.bug) }
        return store
    }
}

/// Numbers in transactions that may fail.
private final class AdderStore: OtherRows {
    var isFailing = false
    private(set) var numbers: [Int] = []
    private(set) var transactions = 0

    func add(_ number: Int) throws { numbers.append(number) }

    func transaction(_ body: (any StoreTransaction) throws -> Void) throws {
        transactions += 1
        let before = numbers
        do {
            try body(self)
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
    private let loop: Loop
    private let runner: Runner<Adder>

    init() {
        let (store, wakes) = (store, wakes)
        loop = Loop(
            Loop.Ports(
                clock: clock, random: SeededRandom(seed: 1), numbers: TransferNumbers(),
                transaction: { try store.transaction($0) }))
        runner = Runner(Adder(), environment: (), inbox: Inbox(wake: { wakes.withLock { $0 += 1 } }))
        loop.add(runner)
    }

    private func commit() -> CommittedStep<String, Adder.Notice> {
        let next = loop.commit()
        let step = runner.take()
        #expect(step.next == next, "there is no other machine")
        return step
    }

    private func failure(_ step: CommittedStep<String, Adder.Notice>) -> LectureError.Code? {
        if case .failure(let error) = step.notices.first { error.code } else { nil }
    }

    /// Runs the step that is due after a failed one.
    private func retry(_ failed: CommittedStep<String, Adder.Notice>) throws -> CommittedStep<String, Adder.Notice> {
        clock.advance(to: try #require(failed.next))
        return commit()
    }

    @Test func `the events of a batch are one transaction, and wake the loop once`() {
        for number in [1, 2, 3] { runner.inbox.post(number) }
        #expect(wakes.withLock(\.self) == 1)
        let step = commit()
        #expect(step.effects == ["announce 1", "announce 2", "announce 3"] && step.notices == [.sum(6)])
        #expect(step.next == clock.boot() + .seconds(10), "the earliest wake counts")
        #expect(store.numbers == [1, 2, 3] && store.transactions == 1)
    }

    @Test func `an idle machine without events makes no transaction`() {
        let step = commit()
        #expect(step.effects.isEmpty && step.notices.isEmpty && step.next == nil && store.transactions == 0)
    }

    @Test func `a failed step never happened, and its events come again before newer ones`() throws {
        runner.inbox.post(1)
        runner.inbox.post(2)
        store.isFailing = true
        let failed = commit()
        #expect(failed.effects == [] && failure(failed) == .storageFull && failed.next == clock.boot() + .seconds(2))
        #expect(runner.machine.sum == 0 && runner.machine.isIdle && store.numbers == [])
        runner.inbox.post(3)
        #expect(commit().next == failed.next && store.transactions == 1, "it waits")
        store.isFailing = false
        let step = try retry(failed)
        #expect(step.effects == ["announce 1", "announce 2", "announce 3"] && step.notices == [.sum(6)])
    }

    @Test func `a number of a failed step is not used again`() throws {
        runner.inbox.post(1)
        store.isFailing = true
        let failed = commit()
        store.isFailing = false
        _ = try retry(failed)
        #expect(runner.machine.transfers == [TransferID(2)])
    }

    @Test func `after three failed steps the machine recovers, and waits become longer up to a minute`() throws {
        runner.inbox.post(7)
        runner.inbox.post(700)
        store.isFailing = true
        var step = commit()
        #expect(step.effects == [])
        step = try retry(step)
        #expect(step.effects == [])
        step = try retry(step)
        #expect(step.effects == ["lose 7", "lose 700"] && runner.machine.open == [700])
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
        runner.inbox.post(1)
        runner.stop()
        #expect(commit().notices == [.sum(1), .stopped])
        runner.inbox.post(2)
        runner.stop()
        let after = commit()
        #expect(after.notices == [] && after.effects == [] && store.numbers == [1])
    }

    @Test func `a stop does not wait for a store that cannot be written`() throws {
        runner.inbox.post(700)
        store.isFailing = true
        let first = commit()
        runner.stop()
        var step = commit()
        #expect(try #require(first.next) > clock.boot() && failure(step) == .storageFull, "it tries at once")
        step = try retry(step)
        step = try retry(step)
        let failure = Adder.Notice.failure(LectureError(.storageFull))
        #expect(step.notices == [failure, failure, .lost(700), .stopped] && step.next == nil)
        #expect(commit().notices == [])
    }
}

/// Several machines in one loop.
struct SharedLoopTests {
    /// A machine that writes what it is sent, passes some of it on, and may be unable to decide.
    private struct Writer: StateMachine {
        enum Notice: StateMachineNotice, Hashable {
            case wrote(String, at: Timestamp)
            case failure(LectureError)
            case stopped
        }

        typealias Effect = String

        let name: String
        var lines: [String] = []
        var fresh: [String] = []
        var isIdle: Bool { true }

        static func store(_: Void, in transaction: any StoreTransaction) throws -> Page {
            guard let page = transaction as? Page else { throw LectureError(.bug) }
            return page
        }

        mutating func handle(_ event: String, _ step: inout Step<Self>) throws {
            let sheet = step.store.sheet
            if sheet.broken.contains(name) { throw LectureError(.storeFailed, detail: name) }
            try sheet.write("\(name): \(event)")
            if event.hasPrefix("pass ") { sheet.pass?(String(event.dropFirst(5))) }
            fresh.append(event)
        }

        mutating func reconcile(_ step: inout Step<Self>) throws {
            lines += fresh
            step.effects += fresh.map { "\(name) does \($0)" }
            step.notices += fresh.map { .wrote($0, at: step.now) }
            fresh = []
            if step.isStopping { step.finish() }
        }

        mutating func recover(
            losing events: [String], after error: LectureError, at boot: BootInstant
        ) -> (effects: [String], notices: [Notice]) { (events.map { "\(name) loses \($0)" }, []) }

        mutating func abandon() -> [Notice] { [] }
    }

    /// The rows of one transaction.
    private final class Page: OtherRows {
        let sheet: Sheet

        init(_ sheet: Sheet) { self.sheet = sheet }
    }

    /// Lines in transactions.
    private final class Sheet {
        var broken: Set<String> = []
        var isFull = false
        var isLocked = false
        var pass: ((String) -> Void)?
        private(set) var lines: [String] = []
        private(set) var transactions = 0
        /// The rows of the last transaction, while anything has them.
        private(set) weak var page: Page?

        func write(_ line: String) throws { lines.append(line) }

        func transaction(_ body: (any StoreTransaction) throws -> Void) throws {
            if isLocked { throw LectureError(.storeBusy) }
            transactions += 1
            let (before, page) = (lines, Page(self))
            self.page = page
            do {
                try body(page)
                if isFull { throw LectureError(.storageFull) }
            } catch {
                lines = before
                throw error
            }
        }
    }

    private let sheet = Sheet()
    private let clock = VirtualClock()
    private let loop: Loop
    private let first: Runner<Writer>
    private let second: Runner<Writer>

    init() {
        let sheet = sheet
        loop = Loop(
            Loop.Ports(
                clock: clock, random: SeededRandom(seed: 1), numbers: TransferNumbers(),
                transaction: { try sheet.transaction($0) }))
        first = Runner(Writer(name: "first"), environment: (), inbox: Inbox(wake: {}), rank: 0)
        second = Runner(Writer(name: "second"), environment: (), inbox: Inbox(wake: {}), rank: 1)
        // The rank decides, not the order in which they come.
        loop.add(second)
        loop.add(first)
        sheet.pass = { [second] in second.pass($0) }
    }

    private func send(_ event: String) {
        first.inbox.post(event)
        second.inbox.post(event)
    }

    private func failures(_ runner: Runner<Writer>) -> (failures: [LectureError.Code], effects: [String]) {
        let step = runner.take()
        return (step.notices.compactMap { if case .failure(let error) = $0 { error.code } else { nil } }, step.effects)
    }

    @Test func `machines share one transaction and one reading of the clock, in the order of their ranks`() {
        send("a")
        #expect(loop.commit() == nil)
        #expect(sheet.lines == ["first: a", "second: a"] && sheet.transactions == 1)
        let (one, other) = (first.take(), second.take())
        #expect(one.effects == ["first does a"] && other.effects == ["second does a"])
        #expect(one.notices == other.notices && one.notices == [.wrote("a", at: clock.now())])
        #expect(first.take().effects == [], "it is taken once")
    }

    @Test func `nothing has the rows of a transaction after its end, not even a step that is still to be taken`() {
        send("a")
        _ = loop.commit()
        #expect(sheet.transactions == 1 && sheet.page == nil)
        sheet.isFull = true
        send("b")
        _ = loop.commit()
        #expect(sheet.transactions == 2 && sheet.page == nil)
        #expect(first.take().effects == ["first does a"])
    }

    @Test func `a machine without events that is not due takes no part`() {
        second.inbox.post("b")
        _ = loop.commit()
        #expect(sheet.lines == ["second: b"] && first.take().notices == [])
    }

    @Test func `an event that comes after a machine's turn waits for the next step`() {
        // As from another thread, while the second machine decides.
        sheet.pass = { [first] in first.inbox.post($0) }
        second.inbox.post("pass pass c")
        _ = loop.commit()
        #expect(sheet.lines == ["second: pass pass c"])
        #expect(second.take().effects == ["second does pass pass c"] && first.take().notices == [])
        sheet.pass = { [second] in second.pass($0) }
        _ = loop.commit()
        #expect(sheet.lines.dropFirst() == ["first: pass c", "second: c"] && sheet.transactions == 2)
        #expect(failures(first).failures == [] && failures(second).failures == [])
    }

    @Test func `events of other threads are handled once each, whichever machine decides when they come`() {
        let (threads, count) = (2, 2000)
        let (one, other) = (first.inbox, second.inbox)
        let running = Guarded(threads)
        for thread in 0..<threads {
            DispatchQueue.global().async {
                for number in 0..<count {
                    one.post("pass \(thread).\(number)")
                    other.post("own \(thread).\(number)")
                }
                running.withLock { $0 -= 1 }
            }
        }
        var failed: [LectureError.Code] = []
        var isOver = false
        while !isOver {
            // Asked before the step, which then has the last events.
            isOver = running.withLock { $0 } == 0
            _ = loop.commit()
            failed += failures(first).failures + failures(second).failures
        }
        #expect(failed == [])
        let numbers = (0..<threads).flatMap { thread in (0..<count).map { "\(thread).\($0)" } }
        let due = numbers.flatMap { ["first: pass \($0)", "second: \($0)", "second: own \($0)"] }
        #expect(sheet.lines.sorted() == due.sorted())
    }

    @Test func `what is passed on is handled in the same transaction`() {
        first.inbox.post("pass x")
        _ = loop.commit()
        #expect(sheet.lines == ["first: pass x", "second: x"] && sheet.transactions == 1)
        #expect(second.take().effects == ["second does x"])
        #expect(!loop.isInStep)
    }

    @Test func `a machine that cannot decide does not keep the others from their work`() throws {
        send("a")
        sheet.broken = ["first"]
        let next = try #require(loop.commit())
        #expect(sheet.lines == ["second: a"] && next == clock.boot() + .seconds(2))
        #expect(failures(first) == ([.storeFailed], []))
        #expect(failures(second) == ([], ["second does a"]))
        second.inbox.post("b")
        #expect(loop.commit() == next && sheet.lines == ["second: a", "second: b"])
        sheet.broken = []
        clock.advance(to: next)
        #expect(loop.commit() == nil && sheet.lines.last == "first: a", "its event has waited")
        #expect(!first.isFailing)
    }

    @Test func `nothing is passed to a machine that cannot decide, and the machine that needs it waits with it`() throws
    {
        sheet.broken = ["second"]
        first.inbox.post("pass x")
        let next = try #require(loop.commit())
        #expect(sheet.lines == [], "its row without that of the other is not committed")
        #expect(failures(first) == ([.storeFailed], []) && failures(second) == ([.storeFailed], []))
        sheet.broken = []
        clock.advance(to: next)
        _ = loop.commit()
        #expect(sheet.lines == ["first: pass x", "second: x"])
    }

    @Test func `a transaction that cannot be committed is a failed step of all`() throws {
        send("a")
        sheet.isFull = true
        let next = try #require(loop.commit())
        #expect(sheet.transactions == 1 && sheet.lines == [])
        #expect(failures(first) == ([.storageFull], []) && failures(second) == ([.storageFull], []))
        sheet.isFull = false
        clock.advance(to: next)
        _ = loop.commit()
        #expect(sheet.lines == ["first: a", "second: a"])
    }

    @Test func `a transaction that cannot begin is one too, and the third time its events are lost`() throws {
        first.inbox.post("a")
        sheet.isLocked = true
        for count in 1...3 {
            let next = try #require(loop.commit())
            let (codes, effects) = failures(first)
            #expect(codes == [.storeBusy] && effects == (count == 3 ? ["first loses a"] : []))
            clock.advance(to: next)
        }
        #expect(failures(second) == ([], []), "it has nothing to decide")
        #expect(first.inbox.isEmpty && first.isFailingRepeatedly && !second.isFailing)
    }

    @Test func `a machine that has stopped leaves, and the others continue`() {
        first.stop()
        second.inbox.post("b")
        _ = loop.commit()
        #expect(first.take().notices == [.stopped])
        send("c")
        _ = loop.commit()
        #expect(sheet.lines == ["second: b", "second: c"] && first.take().notices == [])
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
