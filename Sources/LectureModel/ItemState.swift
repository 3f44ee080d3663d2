/// The download state of a lecture. Raw values are stored: frozen, never reused.
///
/// *Paused* is not a state: it is ``stopped`` with the reason ``StopReason/user``.
public enum ItemState: Int, Sendable, CaseIterable {
    /// Waits for its turn.
    case queued = 0
    /// Its source is being asked what it is.
    case loading = 1
    /// Bytes are being received.
    case downloading = 2
    /// All bytes are received; digests are checked and the file gets its final name.
    case verifying = 3
    /// Every resource is verified.
    case completed = 4
    /// Not progressing, for a transient reason.
    case stopped = 5
    /// Not progressing, for a permanent reason.
    case failed = 6
    /// Files are being deleted.
    case removing = 7

    /// The name in JSON, in `list --state` and in documentation.
    public var name: String {
        switch self {
        case .queued: "queued"
        case .loading: "loading"
        case .downloading: "downloading"
        case .verifying: "verifying"
        case .completed: "completed"
        case .stopped: "stopped"
        case .failed: "failed"
        case .removing: "removing"
        }
    }

    /// The state with this name.
    ///
    /// - Parameter name: as in ``name``.
    public init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}

/// Why a lecture is stopped. Raw values are stored: frozen, never reused.
public enum StopReason: Int, Sendable, CaseIterable {
    /// A person or a program paused or cancelled it.
    case user = 1
    /// The server or the network cannot be reached.
    case network = 2
    /// The disk is full.
    case space = 3
    /// The timetable or a deadline does not allow it now.
    case schedule = 4
    /// The licence was refused.
    case licenceRefused = 5
    /// The server asks to wait until a time.
    case serverWait = 6
    /// It waits for another process or another lecture.
    case dependency = 7
    /// The store's quota is used up.
    case quota = 8

    /// The name in JSON and in documentation.
    public var name: String {
        switch self {
        case .user: "user"
        case .network: "network"
        case .space: "space"
        case .schedule: "schedule"
        case .licenceRefused: "licence_refused"
        case .serverWait: "server_wait"
        case .dependency: "dependency"
        case .quota: "quota"
        }
    }
}

/// The target state last requested for a lecture. The reconciler makes the state follow. Raw values are stored: frozen.
public enum TargetState: Int, Sendable, CaseIterable {
    /// Fetch it.
    case fetch = 0
    /// Keep what was received, download nothing more until resumed.
    case pause = 1
    /// As ``pause``, but `resume --all` skips it; only naming it starts it again.
    case cancel = 2
    /// Delete it.
    case remove = 3
}

/// What a learner sees a lecture as. Raw values are those of the Kollus SDK's `KollusContentType`.
public enum ContentType: Int, Sendable, CaseIterable {
    /// Streamed, not kept.
    case streaming = 0
    /// One media file, kept.
    case downloading = 1
    /// A sample that `remove --all` spares.
    case sample = 2
    /// Streamed adaptively.
    case adaptiveStreaming = 3
    /// A playlist with its segments, kept.
    case adaptiveDownload = 4

    /// The name in JSON and in descriptors.
    public var name: String {
        switch self {
        case .streaming: "streaming"
        case .downloading: "downloading"
        case .sample: "sample"
        case .adaptiveStreaming: "adaptiveStreaming"
        case .adaptiveDownload: "adaptiveDownload"
        }
    }
}

/// The role of a resource. Raw values are stored: frozen, never reused.
public enum ResourceRole: Int, Sendable, CaseIterable {
    /// The media file.
    case media = 0
    /// An HLS playlist.
    case playlist = 1
    /// A media segment.
    case segment = 2
    /// An initialisation section.
    case initialisation = 3
    /// A key.
    case key = 4
    /// A subtitle.
    case subtitle = 5
    /// A still picture.
    case snapshot = 6
    /// A sheet of small pictures.
    case thumbnail = 7

    /// The name in JSON and in documentation.
    public var name: String {
        switch self {
        case .media: "media"
        case .playlist: "playlist"
        case .segment: "segment"
        case .initialisation: "initialisation"
        case .key: "key"
        case .subtitle: "subtitle"
        case .snapshot: "snapshot"
        case .thumbnail: "thumbnail"
        }
    }

    /// Whether the lecture cannot be complete without it.
    public var isRequired: Bool {
        switch self {
        case .media, .playlist, .segment, .initialisation, .key: true
        case .subtitle, .snapshot, .thumbnail: false
        }
    }
}
