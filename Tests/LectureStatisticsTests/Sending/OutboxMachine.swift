import LectureModel

/// The life of one report: what the statements of the store have to agree with.
///
/// | event | pending | leased | delivered | dead | superseded | expired |
/// |---|---|---|---|---|---|---|
/// | ``Event/lease`` | leased | | | | | |
/// | ``Event/release`` | | pending | | | | |
/// | ``Event/accept`` | delivered | delivered | | delivered | delivered | delivered |
/// | ``Event/refuse`` | | dead | | | | |
/// | ``Event/revive`` | | | | pending | | |
/// | ``Event/supersede`` | superseded, unless frozen | | | | | |
/// | ``Event/restore`` | | | | | pending | |
/// | ``Event/expire`` | expired, unless frozen | | | expired | | |
///
/// An empty cell changes nothing. An acceptance always counts, even when it arrives late: a lease may have been lost
/// before the answer came, and a report that the LMS has must not be sent under another id. A late failure changes
/// nothing. A report is *frozen* (`isSealed`) while a batch that may have been accepted contains it; then it can be
/// neither dropped for a newer one nor expired, because it is not known yet whether it was delivered.
struct OutboxMachine: Hashable, Sendable {
    /// What can happen to a report.
    enum Event: Sendable, CaseIterable {
        /// A process leases it to send it.
        case lease
        /// The attempt had no final result, or the process with the lease is gone.
        case release
        /// The LMS has it.
        case accept
        /// It was refused permanently.
        case refuse
        /// An operator wants it sent once more.
        case revive
        /// A newer report of its session includes it.
        case supersede
        /// The newer report was refused permanently, and of those after it none is delivered or waits, so that this one
        /// counts again.
        case restore
        /// It is older than the policy allows.
        case expire
    }

    /// Its state.
    private(set) var state: ReportState
    /// Whether a batch that may have been accepted contains it.
    private(set) var isSealed: Bool
    /// How often it was leased to be sent.
    private(set) var attempts: Int

    /// A report from its stored columns; a new one without arguments.
    ///
    /// - Parameters:
    ///   - state: its state.
    ///   - isSealed: whether a batch that may have been accepted contains it.
    ///   - attempts: how often it was leased to be sent.
    init(state: ReportState = .pending, isSealed: Bool = false, attempts: Int = 0) {
        (self.state, self.isSealed, self.attempts) = (state, isSealed, attempts)
    }

    /// The cell of the table.
    ///
    /// - Parameters:
    ///   - state: where the report is.
    ///   - event: what happens.
    ///   - isSealed: whether a batch that may have been accepted contains it.
    /// - Returns: the next state; nil when the event changes nothing.
    static func next(_ state: ReportState, _ event: Event, isSealed: Bool = false) -> ReportState? {
        switch (event, state) {
        case (.lease, .pending): .leased
        case (.release, .leased): .pending
        case (.accept, .pending), (.accept, .leased), (.accept, .dead), (.accept, .superseded), (.accept, .expired):
            .delivered
        case (.refuse, .leased): .dead
        case (.revive, .dead): .pending
        case (.supersede, .pending): isSealed ? nil : .superseded
        case (.restore, .superseded): .pending
        case (.expire, .pending): isSealed ? nil : .expired
        case (.expire, .dead): .expired
        case (.lease, _), (.release, _), (.accept, _), (.refuse, _), (.revive, _), (.supersede, _), (.restore, _),
            (.expire, _):
            nil
        }
    }

    /// Takes an event.
    ///
    /// - Parameter event: what happens.
    /// - Returns: the change to count and to store; nil when nothing changes.
    mutating func handle(_ event: Event) -> OutboxCounts.Change? {
        guard let next = Self.next(state, event, isSealed: isSealed) else { return nil }
        let change = OutboxCounts.Change(from: state, to: next)
        state = next
        switch event {
        case .lease: attempts += 1
        case .accept, .refuse, .revive, .restore: isSealed = false
        case .release, .supersede, .expire: break
        }
        return change
    }

    /// The first byte of a batch with this report is sent: from now on its outcome depends on that batch.
    mutating func seal() { if state == .leased { isSealed = true } }

    /// The batch that contained it was certainly refused, so that it may go into another.
    mutating func unseal() { isSealed = false }
}

/// How many reports there are in each state, and the invariant that none disappears.
///
/// created = pending + leased + delivered + dead + superseded + expired, where pruned and erased rows are kept as
/// numbers.
struct OutboxCounts: Hashable, Sendable {
    /// A report's change from one state to another.
    struct Change: Hashable, Sendable {
        /// The old state.
        let from: ReportState
        /// The new state.
        let to: ReportState

        /// A change.
        init(from: ReportState, to: ReportState) { (self.from, self.to) = (from, to) }
    }

    /// How many were ever created.
    private(set) var created = 0
    /// How many rows were deleted because their retention time was over.
    private(set) var pruned = 0
    /// How many rows were deleted because their learner asked for it.
    private(set) var erased = 0
    private var counts = [Int](repeating: 0, count: ReportState.allCases.count)

    /// No reports.
    init() {}

    /// How many rows are in a state.
    subscript(state: ReportState) -> Int { counts[state.rawValue] }

    /// Counts a new report, which is pending.
    mutating func add() {
        created += 1
        counts[ReportState.pending.rawValue] += 1
    }

    /// Counts a change.
    ///
    /// - Parameter change: of a report that was counted.
    mutating func apply(_ change: Change) {
        counts[change.from.rawValue] -= 1
        counts[change.to.rawValue] += 1
    }

    /// Counts a row that is deleted after its retention time.
    ///
    /// - Parameter state: its state.
    /// - Returns: false, and nothing counted, when reports in that state are not to be pruned.
    mutating func prune(_ state: ReportState) -> Bool {
        switch state {
        case .pending, .leased, .dead: return false
        case .delivered, .superseded, .expired: break
        }
        counts[state.rawValue] -= 1
        pruned += 1
        return true
    }

    /// Counts a row that is deleted with its learner.
    ///
    /// - Parameter state: its state.
    mutating func erase(_ state: ReportState) {
        counts[state.rawValue] -= 1
        erased += 1
    }

    /// Whether the invariant holds and no number is negative.
    var isConserved: Bool {
        counts.allSatisfy { $0 >= 0 } && created == counts.reduce(0, +) + pruned + erased
    }
}
