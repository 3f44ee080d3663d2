package import LectureModel

/// Runs a machine: takes its events, lets it decide in one transaction of the store, and hands out the effects and
/// notices once that is committed.
///
///     events → transaction { handle each, reconcile } → effects → notices
///
/// So no request is sent that is not stored, and nothing is reported that a crash could undo. A step whose transaction
/// fails (a full disk, say) never happened: the machine is the one of before it, its events wait, and it is repeated
/// (``FailedSteps``). After ``FailedSteps/patience`` failed steps in a row the machine recovers as after a crash. While
/// the loop is stopping it then ends without the store.
///
/// Confined to one executor, the one on which the store's writer lives; other threads use the ``inbox``. There is no
/// `await`, no clock and no randomness of its own: the same events at the same times give the same steps.
package final class Loop<Subject: StateMachine> {
    /// Everything outside the machine.
    package struct Ports {
        /// The rows, for each step.
        let store: Subject.Store
        /// Runs a closure in one transaction of that store.
        let transaction: (() throws -> Void) throws -> Void
        /// Both clocks.
        let clock: any LectureClock
        /// Randomness for jitter.
        let random: any RandomSource
        /// The numbers of exchanges.
        let numbers: TransferNumbers

        /// Collects the ports.
        ///
        /// - Parameters:
        ///   - store: the rows, for each step.
        ///   - clock: both clocks.
        ///   - random: randomness for jitter.
        ///   - numbers: the numbers of exchanges on the transport.
        ///   - transaction: runs a closure in one transaction of that store.
        package init(
            store: Subject.Store, clock: any LectureClock, random: any RandomSource, numbers: TransferNumbers,
            transaction: @escaping (() throws -> Void) throws -> Void
        ) {
            (self.store, self.clock, self.random, self.numbers) = (store, clock, random, numbers)
            self.transaction = transaction
        }
    }

    /// The rules, and all that they remember.
    package private(set) var machine: Subject
    /// Takes events from any thread.
    package let inbox: Inbox<Subject.Event>
    private let ports: Ports
    private var failedSteps = FailedSteps()
    private var isStopping = false
    private var isStopped = false

    /// Whether the last step failed, and is repeated.
    package var isFailing: Bool { failedSteps.isFailing }
    /// Whether several steps have failed in a row, so that nothing should wait for the next one.
    package var isFailingRepeatedly: Bool { failedSteps.isRepeated }

    /// Creates a loop. Nothing happens before the first ``commit()``.
    ///
    /// - Parameters:
    ///   - machine: the rules.
    ///   - ports: everything outside them.
    ///   - inbox: takes events from any thread.
    package init(_ machine: Subject, ports: Ports, inbox: Inbox<Subject.Event>) {
        (self.machine, self.ports, self.inbox) = (machine, ports, inbox)
    }

    /// Ends all work; ``StateMachineNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        failedSteps.reset()
        inbox.setNeedsStep()
    }

    /// Runs a step up to its commit.
    ///
    /// - Returns: the effects, to be performed in this order and before the next step; what became true; and when the
    ///   next step is due at the latest, nil when only an event can change something.
    package func commit() -> CommittedStep<Subject.Effect, Subject.Notice> {
        let boot = ports.clock.boot()
        if let until = failedSteps.retry, boot < until { return CommittedStep(next: until) }
        failedSteps.began()
        let events = inbox.take()
        guard !isStopped, isStopping || !events.isEmpty || !machine.isIdle else { return CommittedStep() }
        let before = machine
        do {
            let step = try run(events)
            failedSteps.reset()
            isStopped = step.isFinished
            return CommittedStep(
                effects: step.effects, notices: step.notices + (isStopped ? [.stopped] : []), next: step.wake)
        } catch {
            machine = before
            return failed(error as? LectureError ?? LectureError(.bug), events, boot)
        }
    }

    private func run(_ events: [Subject.Event]) throws -> Step<Subject> {
        var result: Step<Subject>?
        try ports.transaction {
            // Inside the transaction: the clocks are not behind a row of another process.
            var step = try Step<Subject>(
                ports.store, clock: ports.clock, isStopping: isStopping, random: ports.random, numbers: ports.numbers)
            for event in events { try machine.handle(event, &step) }
            try machine.reconcile(&step)
            result = step
        }
        guard let result else { throw LectureError(.bug, detail: "a transaction did not run its body") }
        return result
    }

    private func failed(
        _ error: LectureError, _ events: [Subject.Event], _ boot: BootInstant
    ) -> CommittedStep<Subject.Effect, Subject.Notice> {
        let until = failedSteps.failed(at: boot)
        guard failedSteps.isRepeated else {
            inbox.putBack(events)
            return CommittedStep(notices: [.failure(error)], next: until)
        }
        let (effects, notices) = machine.recover(losing: events, after: error, at: boot)
        guard isStopping else {
            return CommittedStep(effects: effects, notices: [.failure(error)] + notices, next: until)
        }
        isStopped = true
        failedSteps.reset()
        return CommittedStep(effects: effects, notices: [.failure(error)] + notices + machine.abandon() + [.stopped])
    }
}
