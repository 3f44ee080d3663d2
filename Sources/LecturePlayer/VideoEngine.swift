public import LectureKit

/// Decodes a lecture and shows it: the port between a player and a video library.
///
/// A player calls it from one task at a time and reads ``events`` once. It makes no assumption about when a call takes
/// effect: only what the events report counts as played.
public protocol VideoEngine: Sendable {
    /// What happens in the engine, in order. It ends after ``close()``, when the engine is gone.
    var events: AsyncStream<VideoEvent> { get }

    /// Opens media, paused. Called once.
    ///
    /// - Parameters:
    ///   - media: its bytes, which may be read from any thread.
    ///   - start: where to begin.
    func load(_ media: any MediaSource, from start: Duration)

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

    /// Ends the engine: windows close, no more bytes are read. Also before ``load(_:from:)``, and more than once.
    func close()
}

/// Something that happened in a video engine.
public enum VideoEvent: Sendable, Hashable {
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

/// The bytes of a lecture, as a video engine reads them.
public protocol MediaSource: Sendable {
    /// The length in bytes.
    var byteCount: Int64 { get }

    /// Reads bytes in order.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; those beyond the end are left out.
    ///   - receive: gets them, some at a time.
    /// - Throws: ``LectureError``, or `CancellationError`.
    func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws
}

extension Play: MediaSource {}
