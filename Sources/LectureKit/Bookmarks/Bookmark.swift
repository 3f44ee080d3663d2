public import LectureModel

/// A marked position of a lecture.
public struct Bookmark: Sendable, Hashable {
    /// Who set it.
    public enum Kind: String, Sendable, CaseIterable {
        /// The learner.
        case user
        /// The teacher: it is part of the lecture's index and cannot be changed here.
        case index
    }

    /// Who set it.
    public let kind: Kind
    /// From the start of the lecture, in whole milliseconds.
    public let position: Duration
    /// The learner's text; empty for one of the teacher.
    public let value: String
    /// The teacher's title; empty for one of the learner.
    public let label: String
    /// When it was set; nil when that is unknown.
    public let time: Timestamp?
    /// Whether the bookmark server has still to learn of it.
    public let isWaiting: Bool

    init(_ record: BookmarkRecord) {
        kind = record.kind == .user ? .user : .index
        position = .milliseconds(record.position)
        (value, label, time) = (record.value, record.label, record.changed)
        isWaiting = record.state != .settled
    }
}

/// What a lecture's licence permits of bookmarks (`offline_bookmark` of the DRM callback).
public struct BookmarkPermission: Sendable, Hashable {
    /// Whether there are bookmarks at all.
    public let isUsed: Bool
    /// Whether the learner's own are kept beside the teacher's index.
    public let includesUsers: Bool
    /// Whether the learner may add and remove some.
    public let isEditable: Bool

    /// What a lecture without a licence permits.
    static let everything = Self(isUsed: true, includesUsers: true, isEditable: true)

    private init(isUsed: Bool, includesUsers: Bool, isEditable: Bool) {
        (self.isUsed, self.includesUsers, self.isEditable) = (isUsed, includesUsers, isEditable)
    }

    /// What a licence permits; nothing without a policy.
    init(_ policy: LicencePolicy?) {
        let scope = policy?.bookmarks ?? .none
        self.init(
            isUsed: scope != .none, includesUsers: scope == .all,
            isEditable: scope != .none && policy?.bookmarksAreReadOnly == false)
    }
}

/// What a synchronisation with the bookmark server did.
public struct BookmarkSync: Sendable, Hashable {
    /// How many changes the server took.
    public var sent = 0
    /// How many changes still wait; why is in the results of sending reports.
    public var waiting = 0
    /// The bookmarks afterwards.
    public var bookmarks: [Bookmark] = []
}
