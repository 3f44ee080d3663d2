package import LectureModel

/// Runs the machines of a store: takes their events, lets them decide in one transaction, and hands out effects and
/// notices once that is committed.
///
///     events → transaction { each machine: handle every event, reconcile } → effects → notices
///
/// So no request is sent that is not stored, and nothing is reported that a crash could undo. All machines of a step
/// share its reading of the clocks and its transaction. Machines run in the order of their ranks; one that changes rows
/// which belong to a later one passes it an event, which is handled in the same transaction (``Runner/pass(_:)``).
///
/// A machine that cannot decide does not keep the others from their work: the transaction is rolled back, that machine
/// is the one of before the step, its events wait, and the others decide again without it. It is tried again later
/// (``FailedSteps``); after ``FailedSteps/patience`` failed steps in a row it recovers as after a crash. A transaction
/// that cannot be committed (a full disk, say) is a failed step of every machine that took part.
///
/// Confined to one executor, the one on which the store's writer lives; other threads use an ``Inbox``. There is no
/// `await`, no clock and no randomness of its own: the same events at the same times give the same steps.
package final class Loop {
    /// Everything outside the machines.
    package struct Ports {
        /// Both clocks.
        let clock: any LectureClock
        /// Randomness for jitter.
        let random: any RandomSource
        /// The numbers of exchanges.
        let numbers: TransferNumbers
        /// Runs a closure in one transaction of the store, with its rows.
        let transaction: ((any StoreTransaction) throws -> Void) throws -> Void

        /// Collects the ports.
        ///
        /// - Parameters:
        ///   - clock: both clocks.
        ///   - random: randomness for jitter.
        ///   - numbers: the numbers of exchanges on the transport.
        ///   - transaction: runs a closure in one transaction of the store, with its rows.
        package init(
            clock: any LectureClock, random: any RandomSource, numbers: TransferNumbers,
            transaction: @escaping ((any StoreTransaction) throws -> Void) throws -> Void
        ) {
            (self.clock, self.random, self.numbers, self.transaction) = (clock, random, numbers, transaction)
        }
    }

    private let ports: Ports
    /// The machines, by rank.
    private var members: [any LoopMember] = []
    /// Whether a transaction of this loop is open: events may be passed between machines.
    package private(set) var isInStep = false

    /// Creates a loop without machines.
    ///
    /// - Parameter ports: everything outside them.
    package init(_ ports: Ports) { self.ports = ports }

    /// Adds a machine; its first step is due at once. It leaves by itself when it has stopped. May be called within a
    /// step, of which the machine is then a part if its rank permits it.
    ///
    /// - Parameter runner: the machine.
    package func add<Subject>(_ runner: Runner<Subject>) {
        let place = members.firstIndex { $0.rank > runner.rank } ?? members.endIndex
        members.insert(runner, at: place)
    }

    /// Runs a step of every machine that has events or is due, up to the commit.
    ///
    /// What it led to is taken from each runner (``Runner/take()``): its effects are performed and then its notices
    /// reported, both before the next step.
    ///
    /// - Returns: when the next step is due at the latest; nil when only an event can change something.
    package func commit() -> BootInstant? {
        let boot = ports.clock.boot()
        for member in members { member.began(at: boot) }
        // Each attempt that fails leaves out at least one machine.
        while members.contains(where: { $0.wantsStep(at: boot) }), !attempt(at: boot) {}
        members.removeAll(where: \.isStopped)
        for member in members where member.waitsForOthers { member.ended(others: others(of: member), at: boot) }
        return members.compactMap(\.next).min()
    }

    /// What the requests of the other machines do at each origin, those of an open transaction included.
    private func others(of member: any LoopMember) -> OriginBudgets {
        var sum = OriginBudgets()
        for other in members where other !== member { sum.add(other.traffic) }
        return sum
    }

    /// Runs a transaction.
    ///
    /// - Returns: whether it was committed.
    private func attempt(at boot: BootInstant) -> Bool {
        var deciding: (any LoopMember)?
        isInStep = true
        defer { isInStep = false }
        do {
            try ports.transaction { transaction in
                // Inside the transaction: the clocks are not behind a row of another process.
                let moment = Moment(now: ports.clock.now(), boot: ports.clock.boot())
                // Events come from other threads at any time. One for a machine whose turn is over waits for the next
                // step: what the machine passes on could not be handled in this transaction.
                var rank = Int.min
                while let member = members.first(where: { $0.rank >= rank && $0.wantsStep(at: boot) }) {
                    (deciding, rank) = (member, member.rank)
                    try member.run(moment, transaction, others: others(of: member), ports)
                }
                deciding = nil
                // What one machine has passed to another that is set aside must not be lost.
                for member in members { try member.requireNothingPassed() }
            }
            for member in members { member.committed() }
            return true
        } catch {
            let error = error as? LectureError ?? LectureError(.bug)
            // One could not decide, the transaction could not be committed, or it could not begin.
            let ran = members.filter(\.hasRun)
            let failed = deciding.map { [$0] } ?? (ran.isEmpty ? members.filter { $0.wantsStep(at: boot) } : ran)
            for member in members {
                member.rolledBack(failed.contains { $0 === member } ? error : nil, at: boot)
            }
            return false
        }
    }
}

/// One reading of both clocks, for a whole transaction.
struct Moment {
    /// The wall clock, for what is stored.
    let now: Timestamp
    /// The boot clock, for waits.
    let boot: BootInstant
}
