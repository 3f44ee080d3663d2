public import LectureKit

/// Decodes a lecture and shows it: the port between a player and a video library.
///
/// A player calls it from one task at a time and reads ``events`` once. It makes no assumption about when a call takes
/// effect: only what the events report counts as played.
public protocol VideoEngine: Sendable {
    /// What happens in the engine, in order. It ends after ``close()``, when the engine is gone.
    var events: AsyncStream<VideoEvent> { get }

    /// Opens media, paused, in place of what was open.
    ///
    /// Events of that may still follow, up to ``VideoEvent/opening(_:)`` with the number of this call: the first call
    /// is 1.
    ///
    /// - Parameters:
    ///   - media: its bytes, which may be read from any thread.
    ///   - tracks: its subtitles and chapters.
    ///   - start: where to begin.
    ///   - end: where it ends, as at the end of the media; nil for there.
    func load(_ media: any MediaSource, with tracks: PlayerTracks, from start: Duration, to end: Duration?)

    /// Draws a text over the picture.
    ///
    /// - Parameter overlay: what is shown from now on; nil for nothing.
    func show(_ overlay: TextOverlay?)

    /// Pauses, or plays on.
    ///
    /// - Parameter isPaused: whether it has to pause.
    func setPaused(_ isPaused: Bool)

    /// Jumps to a position, exactly.
    ///
    /// - Parameter position: from the start of the lecture.
    func seek(to position: Duration)

    /// Changes the speed.
    ///
    /// - Parameter rate: 1 is normal.
    func setRate(_ rate: Double)

    /// Plays a part again and again.
    ///
    /// - Parameter part: the part; nil plays on.
    func setRepeat(_ part: Range<Duration>?)

    /// Shows a message for some seconds, where there is a picture.
    ///
    /// - Parameter message: one line.
    func notify(_ message: String)

    /// Ends the engine: windows close, no more bytes are read. Also before ``load(_:with:from:to:)``, and more than
    /// once.
    func close()
}

/// Something that happened in a video engine.
public enum VideoEvent: Sendable, Hashable {
    /// It begins to open the media of this call of ``VideoEngine/load(_:with:from:to:)``, counted from 1. What was
    /// reported of media before belongs to another call. Where an engine never reports it, every event is taken as
    /// one of the newest media.
    case opening(Int)
    /// The length of the lecture is known.
    case duration(Duration)
    /// It is at this position.
    case position(Duration)
    /// The engine has paused, or plays on; also because of a key in its window.
    case paused(Bool)
    /// The speed has changed.
    case rate(Double)
    /// It waits for media, or goes on.
    case buffering(Bool)
    /// How much is ready to be played from the position on.
    case buffered(Duration)
    /// The size of the picture in pixels is known.
    case pictureSize(width: Int, height: Int)
    /// The subtitle that is shown; empty for none.
    case caption(String)
    /// The second subtitle that is shown; empty for none.
    case secondCaption(String)
    /// The learner wants to skip the intro.
    case skip
    /// A jump begins.
    case seeking
    /// The first picture or sound is there: after opening, and after each jump.
    case ready(Duration)
    /// The media was played to its end.
    case ended
    /// The window was closed.
    case closed
    /// It cannot go on.
    case failed(LectureError)
}

extension VideoEvent {
    /// Whether nothing was there to be played, from the position on.
    var hasNothingToPlay: Bool {
        switch self {
        case .ended: true
        case .failed(let error): error.code == .mediaUnsupported
        default: false
        }
    }
}

/// What belongs to a lecture beside its media.
public struct PlayerTracks: Sendable, Hashable {
    /// Its subtitles.
    public var subtitles: [PlayerSubtitle] = []
    /// Its chapters, by position.
    public var chapters: [PlayerChapter] = []

    /// Creates nothing.
    public init() {}
}

/// A chapter of a lecture.
public struct PlayerChapter: Sendable, Hashable {
    /// Where it begins.
    public var start: Duration
    /// Its title.
    public var title: String

    /// Creates a chapter.
    public init(start: Duration, title: String) { (self.start, self.title) = (start, title) }
}

/// Subtitles of a lecture, as a video engine shows them.
public struct PlayerSubtitle: Sendable, Hashable {
    /// The name in a menu.
    public var name: String
    /// The language, BCP 47; empty when unknown.
    public var language: String
    /// The file: WebVTT, SubRip, SAMI or another form, in any character set.
    public var bytes: [UInt8]
    /// Whether they are shown from the start.
    public var isShown: Bool
    /// Whether they are shown from the start as the second ones, at the top of the picture.
    public var isSecond: Bool

    /// Creates subtitles.
    public init(name: String, language: String, bytes: [UInt8], isShown: Bool = false, isSecond: Bool = false) {
        (self.name, self.language, self.bytes) = (name, language, bytes)
        (self.isShown, self.isSecond) = (isShown, isSecond)
    }
}

/// A text over the picture.
public struct TextOverlay: Sendable, Hashable {
    /// The text, one line.
    public var text: String
    /// How opaque it is, 0 to 1.
    public var opacity: Double
    /// Its height in pixels of a picture that is 720 high.
    public var fontSize: Int
    /// Red, green and blue, 8 bits each.
    public var color: UInt32
    /// Where it is, from the left and from the top, as parts of the picture: 0 to 1.
    public var position: Position

    /// A place in the picture.
    public struct Position: Sendable, Hashable {
        /// From the left, 0 to 1.
        public var x: Double
        /// From the top, 0 to 1.
        public var y: Double

        /// Creates a place.
        public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    }

    /// Creates a text.
    public init(text: String, opacity: Double, fontSize: Int, color: UInt32, position: Position) {
        (self.text, self.opacity, self.fontSize) = (text, opacity, fontSize)
        (self.color, self.position) = (color, position)
    }
}

/// The bytes of a lecture, as a video engine reads them.
public protocol MediaSource: Sendable {
    /// Where the playlist of an adaptive lecture is, which is read in place of bytes; nil for one file of media.
    var playlist: PlaylistAddress? { get }

    /// The files of an adaptive lecture that can be jumped in, which are read in place of a playlist; nil where there
    /// are none.
    var timeline: MediaTimeline? { get }

    /// The length in bytes.
    var byteCount: Int64 { get }

    /// Reads bytes in order.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; those beyond the end are left out.
    ///   - receive: gets them, some at a time.
    /// - Throws: `LectureError`, or `CancellationError`.
    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws
}

extension MediaSource {
    /// One file of media.
    public var playlist: PlaylistAddress? { nil }

    /// One file of media.
    public var timeline: MediaTimeline? { nil }
}

/// Where a video engine reads an adaptive lecture (HLS): a server in this process, for this process.
public struct PlaylistAddress: Sendable {
    /// The URLs of its parts, which are played one after the other as one; mostly it is one. Each part has a clock of
    /// its own. They permit reading the lecture: they belong in no log.
    public let urls: [String]
    /// What a program that reads it calls itself.
    public let userAgent: String
    /// Why no more can be read; nil while it can. To a video library that is the end of the media.
    public let failure: @Sendable () -> LectureError?

    /// Creates an address.
    ///
    /// - Parameters:
    ///   - urls: of the playlists of its parts.
    ///   - userAgent: what a program that reads it calls itself.
    ///   - failure: why no more can be read; nil while it can.
    public init(
        urls: [String], userAgent: String, failure: @escaping @Sendable () -> LectureError?
    ) {
        (self.urls, self.userAgent, self.failure) = (urls, userAgent, failure)
    }
}

extension Play: MediaSource {}

extension LectureStream: MediaSource {}
