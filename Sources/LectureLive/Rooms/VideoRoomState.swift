/// What a room is in, as the service names it (FlipFlop Cloud, member API, `videoRoomState`).
///
/// ```
/// SCHEDULED ──start──▶ LIVE ◀──feed back── LIVE_INACTIVE ──end──▶ ENDED
///     │                  └────feed lost────▶─┘
///     └──cancel──▶ CANCELLED
/// ```
public enum VideoRoomState: String, Hashable, Sendable, CaseIterable {
    /// Created; nothing can be watched.
    case scheduled = "SCHEDULED"
    /// It can be watched.
    case live = "LIVE"
    /// The feed is interrupted; it continues without a call when the feed is back.
    case inactive = "LIVE_INACTIVE"
    /// Ended by its host.
    case ended = "ENDED"
    /// Given up before it began.
    case cancelled = "CANCELLED"

    /// Whether nothing follows.
    public var isFinal: Bool { self == .ended || self == .cancelled }
}

/// What became of the recording of a room (`vodState`).
public enum ArchiveState: String, Hashable, Sendable, CaseIterable {
    /// There is none.
    case none = "NOT_ARCHIVED"
    /// It is being made.
    case archiving = "ARCHIVING"
    /// It can be downloaded.
    case archived = "ARCHIVED"
    /// It could not be made; the recordings are kept.
    case failed = "FAILED_ARCHIVING"
}

/// What the feed of a stream key is in (`streamKeyState`).
///
/// ```
/// INACTIVE ──feed──▶ ACTIVE_PREP ──watchable──▶ ACTIVE ──room starts──▶ ACTIVE_LIVE
///    ▲ ▲                 │ lost                   │ lost                   │ lost
///    │ └─────────────────┴────────────────────────┘                        ▼
///    └───────────────── room ends ───────────────────────────── INACTIVE_LIVE
///                                                       feed │  ▲        ▲
///                                                            ▼  │ lost   │ lost
///                                               ACTIVE_LIVE_PREP ──▶ ACTIVE_LIVE
/// ```
public enum StreamKeyState: String, Hashable, Sendable, CaseIterable {
    /// No feed, no room.
    case inactive = "INACTIVE"
    /// A feed arrives and cannot be watched yet.
    case preparing = "ACTIVE_PREP"
    /// A feed can be watched; its room has not started.
    case active = "ACTIVE"
    /// On the air.
    case live = "ACTIVE_LIVE"
    /// The room is live and its feed is lost.
    case liveWithoutFeed = "INACTIVE_LIVE"
    /// The feed is back and cannot be watched yet.
    case livePreparing = "ACTIVE_LIVE_PREP"

    /// Whether a feed arrives.
    public var hasFeed: Bool { self != .inactive && self != .liveWithoutFeed }
}
