/// What a licence permits, from the answer of a DRM callback or a licence file.
///
/// The wire names are in `CallbackAnswer`; 0, which means "no limit" there, is `nil` here.
public struct LicencePolicy: Hashable, Sendable {
    /// How play time is counted (`expiration_playtime_type`).
    public enum PlayTimeUnit: Int, Sendable, CaseIterable {
        /// Seconds of the lecture, at any speed.
        case media = 0
        /// Seconds that pass while it plays.
        case running = 1
    }

    /// Which bookmarks are kept for offline use (`offline_bookmark.download`).
    public enum BookmarkScope: Int, Sendable, CaseIterable {
        /// Nothing.
        case none = 0
        /// The teacher's index.
        case index = 1
        /// The index and the learner's own.
        case all = 2
    }

    /// The first moment at which it may be played (`nbf` of a licence file); `nil` for no limit.
    public var startsAt: Timestamp?
    /// The end (`expiration_date`): from then on it may not be played; `nil` for no limit.
    public var expiresAt: Timestamp?
    /// How often it may be played (`expiration_count`), 1…1000; `nil` for no limit.
    public var countLimit: Int?
    /// How long it may be played (`expiration_playtime`), 60…604,800 seconds; `nil` for no limit.
    public var playTimeLimit: Duration?
    /// How ``playTimeLimit`` is counted.
    public var playTimeUnit = PlayTimeUnit.media
    /// By when the server has to be asked again (`check_expiration_date`); `nil` for never.
    public var checkAt: Timestamp?
    /// Whether the server has to be asked before every play (`check_abuse`).
    public var checksEveryPlay = false
    /// Whether a person is asked before it is renewed (`expiration_refresh_popup`).
    public var asksBeforeRenewal = false
    /// Which bookmarks are kept.
    public var bookmarks = BookmarkScope.none
    /// Whether the kept bookmarks may not be changed.
    public var bookmarksAreReadOnly = false

    /// A policy without limits.
    public init() {}
}
