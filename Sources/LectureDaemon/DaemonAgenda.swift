package import LectureModel

/// What a daemon does next, as a value without input or output: which course lists are read, when licences are renewed,
/// when it is ready and when it ends. Downloads and learning reports go on by themselves in the library.
///
///                    folders looked at        all lists were read
///     ┌─▶ starting ──────────────────▶ reading ─────────────────▶ following
///     │                                   ▲                          │
///     │                                   └── a list is new, or changed, or everything is read again
///     │ every state ── ended ──▶ ended
///
///                    the first licence's time has come
///     resting(until) ─────────────────────────────▶ renewing ──▶ planning ──▶ resting(until)
///                                                     │ some had to wait, or failed
///                                                     └──▶ resting(until the next attempt, ever later)
///
/// | event | what follows |
/// | --- | --- |
/// | ``scanned(_:)`` | new and changed lists are read, one at a time; one that is gone is followed no more |
/// | ``read(_:)`` | the next one, or everything was read |
/// | ``planned(_:at:)`` | a renewal now, or a timer |
/// | ``renewed(isComplete:at:)`` | a new plan, or another attempt later |
/// | ``networkChanged(at:)`` | an attempt that waits is made now |
/// | ``timeCame(at:)`` | what is due |
/// | ``reload()`` | all lists are read again |
/// | ``end()`` | nothing more |
package struct DaemonAgenda: Sendable, Hashable {
    /// A course list as its folder shows it: another identity means other bytes.
    package struct ListFile: Sendable, Hashable {
        /// Its path.
        package let path: String
        /// Changes whenever the file does.
        package let identity: String

        /// Creates a value.
        ///
        /// - Parameters:
        ///   - path: its path.
        ///   - identity: changes whenever the file does.
        package init(path: String, identity: String) { (self.path, self.identity) = (path, identity) }
    }

    /// What has to be done; the result of a task is the next event about it.
    package enum Action: Sendable, Hashable {
        /// A list is to be read.
        case read(String)
        /// A list is gone.
        case forget(String)
        /// Every list that there is was read, for the first time or again.
        case ready
        /// When licences are to be renewed is to be found out.
        case plan
        /// Licences are to be renewed.
        case renew
        /// One timer for this moment, instead of a former one; nil for none.
        case wake(Timestamp?)
    }

    /// The renewal of licences.
    private enum Renewal: Hashable {
        case planning
        case renewing
        case resting(until: Timestamp?)
    }

    /// How long before its end a licence is renewed.
    private var window: Duration
    private var known: [String: ListFile] = [:]
    private var queue: [String] = []
    private var reading: String?
    /// Whether ``Action/ready`` is due once nothing is left to read.
    private var owesReady = true
    private var renewal = Renewal.resting(until: nil)
    /// Renewals in a row that left something.
    private var failures = 0
    private var lastRenewal: Timestamp?
    /// Whether licences have changed since the plan that is being made.
    private var isPlanOld = false
    private var hasEnded = false
    /// The waits between renewals that leave something.
    private static let pauses = Backoff(base: .seconds(900), cap: .seconds(6 * 3600))
    /// A server whose licences are always shorter than the window is not asked more often than this; sooner only when
    /// they are about to end.
    private static let leastInterval = Duration.seconds(6 * 3600)

    /// Creates an agenda that has looked at nothing yet.
    ///
    /// - Parameter window: how long before its end a licence is renewed.
    package init(renewingWithin window: Duration) { self.window = window }

    /// The lists that are followed.
    package var lists: Set<String> { Set(known.keys) }

    // MARK: Lists

    /// The folders were looked at.
    ///
    /// - Parameter files: the lists in them now.
    /// - Returns: what to do.
    package mutating func scanned(_ files: [ListFile]) -> [Action] {
        guard !hasEnded else { return [] }
        var actions: [Action] = []
        let paths = Set(files.map(\.path))
        for path in known.keys.sorted() where !paths.contains(path) {
            known[path] = nil
            queue.removeAll { $0 == path }
            actions.append(.forget(path))
        }
        for file in files.sorted(by: { $0.path < $1.path }) where known[file.path] != file {
            known[file.path] = file
            // One that changes while it is read is read once more.
            if !queue.contains(file.path) { queue.append(file.path) }
        }
        return actions + next()
    }

    /// A list was read, as far as it could be.
    ///
    /// - Parameter path: its path.
    /// - Returns: what to do.
    package mutating func read(_ path: String) -> [Action] {
        guard !hasEnded, reading == path else { return [] }
        reading = nil
        return next()
    }

    private mutating func next() -> [Action] {
        guard reading == nil else { return [] }
        if !queue.isEmpty {
            let path = queue.removeFirst()
            reading = path
            return [.read(path)]
        }
        guard owesReady else { return [] }
        owesReady = false
        return [.ready] + replan()
    }

    /// Settings may be others: every list is read again. ``scanned(_:)`` follows.
    package mutating func reload() {
        (known, owesReady) = ([:], true)
    }

    /// Another window for renewals.
    ///
    /// - Parameter window: how long before its end a licence is renewed.
    package mutating func renew(within window: Duration) { self.window = window }

    // MARK: Licences

    /// Licences were granted or changed.
    ///
    /// - Returns: what to do.
    package mutating func licencesChanged() -> [Action] {
        // Before everything was read, the plan is made then.
        guard !hasEnded, !owesReady else { return [] }
        return replan()
    }

    private mutating func replan() -> [Action] {
        switch renewal {
        case .planning, .renewing:
            isPlanOld = true
            return []
        case .resting:
            // Its time is kept while something has to be tried again.
            if failures > 0 { return [] }
            renewal = .planning
            return [.plan]
        }
    }

    /// A plan was made.
    ///
    /// - Parameters:
    ///   - end: when the first of the licences that can be renewed ends; nil without one.
    ///   - now: the wall clock.
    /// - Returns: what to do.
    package mutating func planned(_ end: Timestamp?, at now: Timestamp) -> [Action] {
        guard !hasEnded, renewal == .planning else { return [] }
        if isPlanOld {
            isPlanOld = false
            return [.plan]
        }
        guard let end else { return rest(until: nil) }
        var due = end + (.zero - window)
        if let lastRenewal {
            let half = lastRenewal + .milliseconds((end - lastRenewal).milliseconds / 2)
            let least = max(min(lastRenewal + Self.leastInterval, half), lastRenewal + Self.pauses.base)
            due = max(due, least)
        }
        return due <= now ? begin(at: now) : rest(until: due)
    }

    /// A renewal is over.
    ///
    /// - Parameters:
    ///   - isComplete: whether no licence failed or has to wait.
    ///   - now: the wall clock.
    /// - Returns: what to do.
    package mutating func renewed(isComplete: Bool, at now: Timestamp) -> [Action] {
        guard !hasEnded, renewal == .renewing else { return [] }
        guard isComplete else {
            failures += 1
            return rest(until: now + Self.pauses.ceiling(failures: failures))
        }
        (failures, isPlanOld, renewal) = (0, false, .planning)
        return [.plan]
    }

    private mutating func begin(at now: Timestamp) -> [Action] {
        (renewal, lastRenewal) = (.renewing, now)
        return [.wake(nil), .renew]
    }

    private mutating func rest(until moment: Timestamp?) -> [Action] {
        renewal = .resting(until: moment)
        return [.wake(moment)]
    }

    // MARK: Time, the network, the end

    /// The network is another one.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: what to do.
    package mutating func networkChanged(at now: Timestamp) -> [Action] {
        guard !hasEnded, failures > 0, case .resting = renewal else { return [] }
        return begin(at: now)
    }

    /// The moment of ``Action/wake(_:)`` has come.
    ///
    /// - Parameter now: the wall clock.
    /// - Returns: what to do.
    package mutating func timeCame(at now: Timestamp) -> [Action] {
        guard !hasEnded, case .resting(let until?) = renewal else { return [] }
        return now >= until ? begin(at: now) : [.wake(until)]
    }

    /// The daemon ends.
    package mutating func end() {
        hasEnded = true
        queue = []
    }
}
