/// What becomes of the recordings of a room: they are joined into a lecture, or deleted.
///
/// ```
/// NOT_ARCHIVED ──ended, with recordings──▶ ARCHIVING: waiting ──recordings closed──▶ ARCHIVING: joining
///      │                                     ▲   ▲                                     │   │   │
///      └──ended without, terminated──▶ (discarded)   └──────died, or the server did────┘   │   │
///                                            └──retry── FAILED_ARCHIVING ◀──failed─────────┘   │
///                                                       ARCHIVED (recordings discarded) ◀joined┘
/// any ──deleted──▶ gone: joining stops, recordings and lecture are discarded
/// ```
///
/// The work is done by another process; one that dies is started again, three times at most.
public struct ArchiveMachine: Hashable, Sendable {
    /// What happens to a room and to the work.
    public enum Event: Hashable, Sendable {
        /// The host has ended the room. `hasMedia`: there is a recording that could be watched, and archives are made.
        case ended(hasMedia: Bool)
        /// The application's server has ended the room: the service keeps no recording then.
        case terminated
        /// All recordings of the room are closed.
        case closed
        /// The lecture is on the disk.
        case joined
        /// The lecture cannot be made from these recordings, or not now.
        case failed
        /// The process that does it was killed, or has crashed.
        case died
        /// The server was, so that nothing is under way any more, and no recording is open.
        case restarted
        /// The application's server wants it to be tried again.
        case retry
        /// The room is deleted.
        case deleted
    }

    /// What is to be done then, in this order.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// End the process that joins.
        case stopJoining
        /// Start it.
        case join
        /// Keep the lecture, with its key.
        case keepLecture
        /// Delete the recordings.
        case discardRecordings
        /// Delete the lecture, and its key first.
        case discardLecture
    }

    /// How far the work is.
    public enum Work: Hashable, Sendable, CaseIterable {
        /// Nothing is to be done.
        case none
        /// A recording is still open.
        case waiting
        /// The process is at it.
        case joining
    }

    /// Why an event is refused; the raw value is an `errorCode`.
    public enum Refusal: String, Error, Hashable, Sendable {
        /// Only what has failed can be tried again. Ours.
        case notFailed = "VIDEO_ROOM_VOD_STATE_NOT_FAILED_ARCHIVING"
    }

    /// How often the process may die.
    public static let mostDeaths = 3

    /// What the service calls it.
    public private(set) var state: ArchiveState
    /// How far the work is.
    public private(set) var work: Work
    /// How often the process has died.
    public private(set) var deaths = 0
    /// Whether the room is deleted.
    public private(set) var isGone = false

    /// Creates a machine as a store has it: what was under way waits.
    ///
    /// - Parameter state: the state.
    public init(_ state: ArchiveState = .none) {
        self.state = state
        work = state == .archiving ? .waiting : .none
    }

    /// Takes an event. One that makes no sense in its state, such as the end of a process that was stopped, does
    /// nothing.
    ///
    /// - Parameter event: what happens.
    /// - Returns: what is to be done.
    /// - Throws: ``Refusal`` for a retry; nothing has changed then.
    public mutating func take(_ event: Event) throws(Refusal) -> [Action] {
        if event == .deleted { return delete() }
        if event == .retry { return try retry() }
        switch (state, work, event) {
        case (.none, _, .ended(hasMedia: true)) where !isGone:
            (state, work) = (.archiving, .waiting)
            return []
        case (.none, _, .ended(hasMedia: false)), (.none, _, .terminated): return [.discardRecordings]
        case (.archiving, .waiting, .closed), (.archiving, _, .restarted):
            work = .joining
            return [.join]
        case (.archiving, .joining, .joined):
            (state, work) = (.archived, .none)
            return [.keepLecture, .discardRecordings]
        // It was killed between keeping the lecture and this.
        case (.archived, _, .restarted): return [.discardRecordings]
        case (.archiving, .joining, .failed):
            (state, work) = (.failed, .none)
            return []
        case (.archiving, .joining, .died):
            deaths += 1
            if deaths < Self.mostDeaths { return [.join] }
            (state, work) = (.failed, .none)
            return []
        default: return []
        }
    }

    private mutating func delete() -> [Action] {
        defer { (state, work, isGone) = (.none, .none, true) }
        return (work == .joining ? [.stopJoining] : []) + [.discardRecordings]
            + (state == .none ? [] : [.discardLecture])
    }

    private mutating func retry() throws(Refusal) -> [Action] {
        guard state == .failed else { throw .notFailed }
        (state, work, deaths) = (.archiving, .joining, 0)
        return [.join]
    }
}
