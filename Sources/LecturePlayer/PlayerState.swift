public import LectureKit

/// What a player does.
///
/// ```
/// idle ──▶ preparing ──▶ prepared ──▶ playing ⇄ paused ──▶ stopped
///              │             │           │         │          ▲
///              └─────────────┴───────────┴─────────┴──────────┘
/// ```
public enum PlayerState: Sendable, Hashable {
    /// Nothing was asked of it.
    case idle
    /// The licence is evaluated, and the video engine opens the media.
    case preparing
    /// The first picture is there. Nothing is counted yet.
    case prepared
    /// It plays.
    case playing(PlayerActivity)
    /// It is paused.
    case paused(PlayerActivity)
    /// The session is over; what it has counted and reported is in the store.
    case stopped(PlayerEnding)

    /// Whether the session is over.
    public var isOver: Bool { if case .stopped = self { true } else { false } }

    /// The frozen name in JSON: `idle`, `preparing`, `prepared`, `playing`, `paused`, `stopped`.
    public var name: String {
        switch self {
        case .idle: "idle"
        case .preparing: "preparing"
        case .prepared: "prepared"
        case .playing: "playing"
        case .paused: "paused"
        case .stopped: "stopped"
        }
    }
}

/// What a player that is playing or paused does beside that.
public enum PlayerActivity: String, Sendable, Hashable, CaseIterable {
    /// Nothing else.
    case steady
    /// It waits for media.
    case buffering
    /// It jumps to another position.
    case seeking
}

/// Why a session is over.
public enum PlayerEnding: Sendable, Hashable {
    /// The lecture, or the section, was played to its end.
    case finished
    /// It was stopped, or its window was closed.
    case stopped
    /// It could not go on: the licence has ended, or the media cannot be read or decoded.
    case failed(LectureError)

    /// The frozen name in JSON: `finished`, `stopped`, `failed`.
    public var name: String {
        switch self {
        case .finished: "finished"
        case .stopped: "stopped"
        case .failed: "failed"
        }
    }
}

/// Something that an application shows of a player.
public enum PlayerEvent: Sendable, Hashable {
    /// Which lecture it is, and its title if that is known; when the play is permitted.
    case opened(ContentKey, title: String?)
    /// The play callback of a stream permits the play, within these limits.
    case permitted(PlayPermission)
    /// The state has changed; each state is reported once.
    case state(PlayerState)
    /// Where in the lecture it is, about once a second while that changes, and after each jump.
    case position(Duration)
    /// The length of the lecture is known.
    case duration(Duration)
    /// How much is ready to be played from the position on; about once a second.
    case buffered(Duration)
    /// The size of the picture in pixels is known.
    case pictureSize(width: Int, height: Int)
    /// The subtitle that is shown; empty for none.
    case caption(String)
    /// The second subtitle that is shown; empty for none.
    case secondCaption(String)
    /// An intro is played, whose rest may be skipped or not; nil when the lecture follows.
    case intro(isSkippable: Bool?)
    /// What its gateway lists and permits; before the media is opened.
    case outline(ContentOutline)
    /// The only part that is played, by the application, the gateway and the play callback; before the media is opened.
    /// Not without one.
    case section(Range<Duration>)
    /// What the licence says; before the media is opened, and when it has changed.
    case licence(LicenceStatus)
    /// The next episode may be offered now.
    case nextEpisode(PlaybackRules.NextEpisode)
    /// The lecture has small pictures for a bar.
    case thumbnails(ThumbnailSheet)
    /// The speed has changed.
    case rate(Double)
    /// Something could not be stored, a report for instance, or a server that permits the play could not be asked. The
    /// play continues and tries again.
    case trouble(LectureError)
}
