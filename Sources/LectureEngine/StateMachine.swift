package import LectureModel

/// The rules of one subject as a value: what an event changes, and what has to happen next.
///
/// A ``Loop`` calls it within transactions. A machine has no ports: time, randomness and the store are those of the
/// ``Step``, and what it asks of the world are effects, which the loop performs after the commit. After a failed commit
/// the loop puts the machine of before the step back; since it is a value, nothing else has to be undone.
package protocol StateMachine: Sendable {
    /// What other threads report, and what the application requests.
    associatedtype Event: Sendable
    /// What it asks of the world outside the store.
    associatedtype Effect: Sendable
    /// What it reports when it has become true.
    associatedtype Notice: StateMachineNotice
    /// What it decides with besides the rows, the same for its whole life.
    associatedtype Environment
    /// The rows it works with, of one transaction.
    associatedtype Store
    /// What it reads once for a transaction, and changes within it.
    associatedtype Context = Void

    /// Whether there is nothing to do until an event comes: then the first step waits for one.
    var isIdle: Bool { get }
    /// What its requests do at each origin, for the other machines of the process.
    var traffic: OriginBudgets { get }

    /// The rows it works with in a transaction. They are its only ones, and no use after it (``StoreTransaction``).
    ///
    /// - Parameters:
    ///   - environment: what it decides with besides the rows.
    ///   - transaction: the rows of the whole store.
    /// - Returns: the rows.
    /// - Throws: `LectureError` of the store; the step is repeated later with the same events.
    static func store(_ environment: Environment, in transaction: any StoreTransaction) throws -> Store

    /// Begins a transaction.
    ///
    /// - Parameters:
    ///   - store: the rows.
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    /// - Returns: what the machine reads once for it.
    /// - Throws: `LectureError` of the store; the step is repeated later with the same events.
    static func begin(_ store: Store, now: Timestamp, boot: BootInstant) throws -> Context

    /// Applies an event.
    ///
    /// - Parameters:
    ///   - event: in the order of arrival.
    ///   - step: its transaction.
    /// - Throws: `LectureError` of the store; the step is rolled back, and repeated later with the same events.
    mutating func handle(_ event: Event, _ step: inout Step<Self>) throws

    /// Decides what happens next, once per step and after its events.
    ///
    /// While ``Step/isStopping``, everything is released; when nothing is left, ``Step/finish()`` is called.
    ///
    /// - Parameter step: its transaction.
    /// - Throws: `LectureError` of the store; the step is rolled back, and repeated later with the same events.
    mutating func reconcile(_ step: inout Step<Self>) throws

    /// Continues from what the store has, as after a crash: several steps in a row have failed, and their events are
    /// lost. Work that can be read from the store again is dropped; what the application has requested is kept.
    ///
    /// - Parameters:
    ///   - events: those of the failed steps.
    ///   - error: why the last step failed.
    ///   - boot: the boot clock.
    /// - Returns: the effects that end what runs, and notices for those who would wait for nothing.
    mutating func recover(
        losing events: [Event], after error: LectureError, at boot: BootInstant
    ) -> (effects: [Effect], notices: [Notice])

    /// Ends without the store, which cannot be written: the next process recovers it as after a crash.
    ///
    /// - Returns: the last notices, without ``StateMachineNotice/stopped``.
    mutating func abandon() -> [Notice]
}

extension StateMachine {
    /// None.
    package var traffic: OriginBudgets { OriginBudgets() }
}

extension StateMachine where Context == Void {
    /// Reads nothing.
    package static func begin(_ store: Store, now: Timestamp, boot: BootInstant) {}
}

/// The notices that every machine has.
package protocol StateMachineNotice: Sendable {
    /// The store could not be written; the step is repeated.
    static func failure(_ error: LectureError) -> Self
    /// The machine has stopped for good.
    static var stopped: Self { get }
}

/// What is constant within one transaction of a machine, and what it leads to.
package struct Step<Subject: StateMachine> {
    /// What remains of a step after its commit: nothing that has a row.
    struct Outcome: Sendable {
        let effects: [Subject.Effect]
        let notices: [Subject.Notice]
        let wake: BootInstant?
        /// What the other machines do, if the next step is due when that changes.
        let awaited: OriginBudgets?
        let isFinished: Bool
    }

    /// The wall clock, for what is stored.
    package let now: Timestamp
    /// The boot clock, for waits.
    package let boot: BootInstant
    /// The rows, until the transaction ends.
    package let store: Subject.Store
    /// What the machine reads once for the transaction, and changes within it.
    package var context: Subject.Context
    /// Whether everything is to end.
    package let isStopping: Bool
    /// What the requests of the other machines do at each origin.
    package let others: OriginBudgets
    /// Whether the next step is also due when that changes.
    package var waitsForOthers = false
    /// What is performed after the commit, in this order.
    package var effects: [Subject.Effect] = []
    /// What is reported after the commit, in this order.
    package var notices: [Subject.Notice] = []
    /// When the next step is due at the latest; nil when only an event can change something.
    package private(set) var wake: BootInstant?
    /// Whether the machine has stopped for good.
    private(set) var isFinished = false
    private let source: any RandomSource
    private let numbers: TransferNumbers

    init(
        _ store: Subject.Store, _ moment: Moment, isStopping: Bool, others: OriginBudgets, _ ports: Loop.Ports
    ) throws {
        (self.store, self.isStopping, self.others) = (store, isStopping, others)
        (now, boot) = (moment.now, moment.boot)
        context = try Subject.begin(store, now: now, boot: boot)
        (source, numbers) = (ports.random, ports.numbers)
    }

    /// What it has led to.
    var outcome: Outcome {
        Outcome(
            effects: effects, notices: notices, wake: wake, awaited: waitsForOthers ? others : nil,
            isFinished: isFinished)
    }

    /// 64 random bits, for jitter.
    package func random() -> UInt64 { source.next() }

    /// A number for an exchange. Never used again, even if the step fails.
    package func newTransfer() -> TransferID { numbers.next() }

    /// The next step is due at this moment at the latest.
    package mutating func wake(at moment: BootInstant) { wake = min(wake ?? moment, moment) }

    /// The machine has stopped for good; ``StateMachineNotice/stopped`` is its last notice.
    package mutating func finish() { isFinished = true }
}
