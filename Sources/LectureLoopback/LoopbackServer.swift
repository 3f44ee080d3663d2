public import LectureKit
import LectureModel
import LectureServedMedia

/// What a loopback server serves.
public enum LoopbackMedia: Sendable, Hashable {
    /// A complete lecture of the store.
    case lecture(ContentKey)
    /// The media at a URL, or the one that a gateway link leads to. It is read through the streaming cache, and no
    /// lecture is registered.
    case stream(String)
}

/// Options of a loopback server.
public struct LoopbackOptions: Sendable, Hashable {
    /// The port of 127.0.0.1; 0 for any free one.
    public var port: UInt16 = 0
    /// Origins whose pages may read lectures, as `https://lms.example`; such a page asks with `crossorigin`.
    public var origins: Set<String> = []
    /// How long to wait for a licence server.
    public var patience: Duration = .seconds(10)
    /// After how long a play ends of which nothing is read; nil for never. A player that is paused while it receives
    /// an answer is reading.
    public var idleLimit: Duration? = .seconds(600)

    /// Creates the default options.
    public init() {}
}

/// Something that happened in a play of a loopback server.
public enum LoopbackEvent: Sendable, Hashable {
    /// The first byte is sent, and the play is counted.
    case started
    /// A request was refused.
    case refused(LoopbackRefusal)
    /// Something could not be stored or looked up. The play continues and tries again.
    case failure(LectureError)
}

/// Why a play is over.
public enum LoopbackEnding: Sendable, Hashable {
    /// It was closed, its server was stopped, or nothing was read for too long.
    case closed
    /// It could not go on: the licence has ended, or the media cannot be read.
    case failed(LectureError)
}

/// A server on 127.0.0.1 for players that are not this library's: other programs, and web views.
///
/// ```swift
/// let server = try LoopbackServer(manager)
/// let play = try await server.open(.lecture(key))
/// run("vlc", play.url)
/// await play.close()
/// await server.stop()
/// ```
///
/// Each play has a URL of its own, with a random part of 256 bits, which works until the play ends. That of an adaptive
/// lecture (HLS) is of its playlist, `http://127.0.0.1:PORT/TOKEN/main.m3u8`, and its other playlists, its segments and
/// its keys are beside it. The licence is evaluated when the play is opened, and the play is counted before its first
/// byte is sent. It is for one program: another one is refused as long as the first one runs. Bytes are verified and
/// unsealed in memory.
///
/// What was watched is not known from bytes: nothing is reported, and no resume point is stored. Where a licence limits
/// play time, the bytes that are read count. A server that is released stops.
public final class LoopbackServer: Sendable {
    /// The port that it listens on.
    public var port: UInt16 { core.port }
    private let core: LoopbackCore

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - manager: the store's manager; it must not be closed before the server has stopped.
    ///   - options: how to serve.
    /// - Throws: `LectureError`: `loopbackMissing` without libmicrohttpd, `loopbackFailed` when the port is in use.
    public init(
        _ manager: LectureManager, options: LoopbackOptions = LoopbackOptions()
    ) throws(LectureError) {
        core = try LoopbackCore(manager, options)
    }

    deinit {
        Task { [core] in await core.stop() }
    }

    /// Opens a play: evaluates the licence, online where a check is due, and reads the first bytes. Nothing is counted
    /// before a player reads.
    ///
    /// - Parameter media: a complete lecture, or a stream.
    /// - Returns: the play.
    /// - Throws: `LectureError`: `playerNotPermitted` for a lecture whose gateway shows a watermark or limits what is
    ///   played; the codes of `preparePlay(_:patience:counting:)` and `LectureStream`, `damaged`,
    ///   `closing` after ``stop()``. `CancellationError` when the task is cancelled.
    public func open(_ media: LoopbackMedia) async throws -> LoopbackPlay {
        LoopbackPlay(try await core.open(media), port: port)
    }

    /// What a library in this process calls itself, where the system does not show processes.
    package static let ownAgent = "LectureKit"

    /// Serves the bytes of a play to a library in this process. Counting, reports and the end stay with the caller:
    /// this is only the way that the bytes take.
    ///
    /// - Parameter play: a play of the manager.
    /// - Returns: the URL; closing it does not end the play.
    /// - Throws: `LectureError`: `closing` after ``stop()``, what reading throws.
    package func carry(_ play: Play) async throws -> LoopbackPlay {
        LoopbackPlay(try await core.carry(play), port: port)
    }

    /// Ends every play, and closes the port.
    public func stop() async { await core.stop() }
}

/// A play of a loopback server. One that is released ends.
public final class LoopbackPlay: Sendable {
    /// The URL for one player; of an adaptive lecture that of its playlist. It permits reading the lecture: it belongs
    /// in no log and no file.
    public let url: String
    /// The lecture.
    public var key: ContentKey { play.served.media.key }
    /// What happens; for one reader. It ends with the play.
    public var events: AsyncStream<LoopbackEvent> { play.events }
    private let play: ProgramPlay

    init(_ play: ProgramPlay, port: UInt16) {
        self.play = play
        url = "http://127.0.0.1:\(port)/\(play.served.path)"
    }

    deinit {
        Task { [play] in await play.served.end(.closed) }
    }

    /// Why no more bytes are sent; nil while they are, and after ``close()``.
    package var failure: LectureError? { play.served.failure }

    /// Ends the play: its URL works no longer, and no further byte is sent. Everything is stored when this returns.
    public func close() async { await play.served.end(.closed) }

    /// Waits for the end of the play.
    ///
    /// - Returns: why it ended.
    public func ending() async -> LoopbackEnding { await play.ending() }
}
