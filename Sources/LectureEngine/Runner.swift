package import LectureModel

/// A machine in a ``Loop``: takes its events, and keeps what its last step led to. Confined to the loop's executor,
/// except for the ``inbox``.
package final class Runner<Subject: StateMachine> {
    /// What one attempt has changed, until its transaction is committed or rolled back.
    private struct Attempt {
        let before: Subject
        let events: [Subject.Event]
        var outcome: Step<Subject>.Outcome?
    }

    /// The rules, and all that they remember.
    package private(set) var machine: Subject
    /// Takes events from any thread.
    package let inbox: Inbox<Subject.Event>
    /// Its place among the machines of a step: lower ones first.
    let rank: Int
    private let environment: Subject.Environment
    private var failedSteps = FailedSteps()
    /// Why the last step failed.
    private var failure: LectureError?
    /// When a step is due without an event; nil when only an event can change something.
    private var due: BootInstant?
    /// What the other machines did in the last step, if it waits for a change of that.
    private var awaited: OriginBudgets?
    private var passed: [Subject.Event] = []
    private var attempt: Attempt?
    private var result = CommittedStep<Subject.Effect, Subject.Notice>()
    /// Whether it takes no part any more in the current step of the loop.
    private var isSetAside = false
    private var isStopping = false
    private(set) var isStopped = false

    /// Creates a runner. Nothing happens before it is added to a loop.
    ///
    /// - Parameters:
    ///   - machine: the rules.
    ///   - environment: what it decides with besides the rows.
    ///   - inbox: takes events from any thread.
    ///   - rank: its place among the machines of a step: lower ones first.
    package init(_ machine: Subject, environment: Subject.Environment, inbox: Inbox<Subject.Event>, rank: Int = 0) {
        (self.machine, self.environment, self.inbox, self.rank) = (machine, environment, inbox, rank)
        due = machine.isIdle ? nil : BootInstant(nanoseconds: 0)
    }

    /// Whether the last step failed, and is repeated.
    package var isFailing: Bool { failedSteps.isFailing }
    /// Whether several steps have failed in a row, so that nothing should wait for the next one.
    package var isFailingRepeatedly: Bool { failedSteps.isRepeated }

    /// Ends all work; ``StateMachineNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        failedSteps.reset()
        inbox.setNeedsStep()
    }

    /// Has the machine handle an event in the open transaction, since rows that belong to it were changed there by a
    /// machine of a lower rank. If the transaction is rolled back, the event never was.
    ///
    /// - Parameter event: handled after those of the inbox.
    package func pass(_ event: Subject.Event) { passed.append(event) }

    /// Returns what the last step of the loop led to, once.
    ///
    /// - Returns: the effects, to be performed in this order and before the next step; what became true; and when the
    ///   next step of this machine is due.
    package func take() -> CommittedStep<Subject.Effect, Subject.Notice> {
        defer { result = CommittedStep() }
        result.next = next
        return result
    }
}

/// A ``Runner`` as the loop sees it.
protocol LoopMember: AnyObject {
    /// Its place among the machines of a step: lower ones first.
    var rank: Int { get }
    /// Whether it has ended for good.
    var isStopped: Bool { get }
    /// Whether it has decided in the current attempt.
    var hasRun: Bool { get }
    /// When it needs a step at the latest; nil when only an event can change something.
    var next: BootInstant? { get }

    /// A step of the loop begins.
    func began(at boot: BootInstant)
    /// Whether it has something to decide in the current attempt.
    func wantsStep(at boot: BootInstant) -> Bool
    /// What its requests do at each origin; nothing once it has stopped.
    var traffic: OriginBudgets { get }
    /// Whether it waits for a change of what the others do at each origin.
    var waitsForOthers: Bool { get }

    /// Decides, within the transaction of the attempt.
    ///
    /// - Parameters:
    ///   - moment: both clocks.
    ///   - transaction: the rows.
    ///   - others: what the requests of the other machines do.
    ///   - ports: everything outside the machines.
    /// - Throws: `LectureError`; the attempt is rolled back.
    func run(
        _ moment: Moment, _ transaction: any StoreTransaction, others: OriginBudgets, _ ports: Loop.Ports
    ) throws
    /// Throws when it was passed an event that it has not handled.
    func requireNothingPassed() throws
    /// The attempt is committed.
    func committed()
    /// The attempt never happened.
    ///
    /// - Parameters:
    ///   - failure: why this machine has failed; nil when another one has.
    ///   - boot: the boot clock.
    func rolledBack(_ failure: LectureError?, at boot: BootInstant)
    /// The step of the loop is over: another one is due if what this machine waits for has changed.
    ///
    /// - Parameters:
    ///   - others: what the requests of the other machines do.
    ///   - boot: the boot clock.
    func ended(others: OriginBudgets, at boot: BootInstant)
}

extension Runner: LoopMember {
    var hasRun: Bool { attempt != nil }

    var next: BootInstant? { isStopped ? nil : failedSteps.retry ?? due }

    var traffic: OriginBudgets { isStopped ? OriginBudgets() : machine.traffic }

    var waitsForOthers: Bool { awaited != nil }

    func began(at boot: BootInstant) {
        isSetAside = failedSteps.retry.map { boot < $0 } ?? false
        if !isSetAside { failedSteps.began() }
    }

    func wantsStep(at boot: BootInstant) -> Bool {
        guard !isStopped, !isSetAside, attempt == nil else { return false }
        if isStopping || !inbox.isEmpty || !passed.isEmpty { return true }
        return due.map { $0 <= boot } ?? false
    }

    func run(
        _ moment: Moment, _ transaction: any StoreTransaction, others: OriginBudgets, _ ports: Loop.Ports
    ) throws {
        let events = inbox.take()
        attempt = Attempt(before: machine, events: events)
        let own = passed
        passed = []
        let store = try Subject.store(environment, in: transaction)
        var step = try Step<Subject>(store, moment, isStopping: isStopping, others: others, ports)
        for event in events { try machine.handle(event, &step) }
        for event in own { try machine.handle(event, &step) }
        try machine.reconcile(&step)
        attempt?.outcome = step.outcome
    }

    func requireNothingPassed() throws {
        if !passed.isEmpty { throw failure ?? LectureError(.bug, cause: "an event was passed to an earlier machine") }
    }

    func committed() {
        guard let outcome = attempt?.outcome else { return }
        (attempt, failure) = (nil, nil)
        failedSteps.reset()
        due = outcome.wake
        awaited = outcome.awaited
        isStopped = outcome.isFinished
        result.effects += outcome.effects
        result.notices += outcome.notices + (isStopped ? [.stopped] : [])
    }

    func rolledBack(_ failure: LectureError?, at boot: BootInstant) {
        passed = []
        var events: [Subject.Event] = []
        if let attempt {
            (machine, events) = (attempt.before, attempt.events)
            self.attempt = nil
        }
        guard let failure else { return inbox.putBack(events) }
        (isSetAside, self.failure) = (true, failure)
        failedSteps.failed(at: boot)
        result.notices.append(.failure(failure))
        guard failedSteps.isRepeated else { return inbox.putBack(events) }
        // A transaction that could not begin has taken none.
        events += inbox.take()
        let (effects, notices) = machine.recover(losing: events, after: failure, at: boot)
        result.effects += effects
        result.notices += notices
        // What it continues from the store needs a step, whatever was due before.
        due = boot
        guard isStopping else { return }
        isStopped = true
        failedSteps.reset()
        result.notices += machine.abandon() + [.stopped]
    }

    func ended(others: OriginBudgets, at boot: BootInstant) {
        guard let awaited, awaited != others else { return }
        self.awaited = nil
        due = min(due ?? boot, boot)
    }
}
