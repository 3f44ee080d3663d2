import FlipFlopLiteSDK
import LectureLiveMedia
import LectureModel
import LecturePlayer

/// What a broadcaster sees of its own broadcast: each picture as it goes to the encoder, by libmpv.
///
/// It lives from the opening of the source to its closing, through interruptions of the link and exchanges of the
/// source. When its window is closed the broadcast goes on.
final class FeedPreview: Sendable {
    private let preview: BroadcastPreview
    private let player: LiveStreamPlayer

    /// Opens a preview; nil where the application wants none, or cannot have one.
    ///
    /// - Parameters:
    ///   - object: what the application has given: a `PlayerFrames`, a ``LiveWindow``, or another object for a window
    ///     of its own where there is a display.
    ///   - settings: the size of the pictures.
    ///   - options: the title of a window, and where its display is looked for.
    /// - Throws: `FFError` with 80103 when a place that was asked for cannot be had.
    init?(_ object: AnyObject?, _ settings: FeedSettings, _ options: PlayerPicture.Options) throws(FFError) {
        let surface = options.surface(object)
        guard object != nil, surface != .none else { return nil }
        var stream = LiveStreamOptions()
        (stream.surface, stream.hasSound) = (surface, false)
        do throws(BroadcastError) {
            preview = try BroadcastPreview(width: settings.width, height: settings.height)
        } catch {
            throw FFError(.STREAMING_INVALID_VIEW, "\(error)")
        }
        do throws(LectureError) { player = try LiveStreamPlayer(stream, environment: options.environment) } catch {
            throw FFError(.STREAMING_INVALID_VIEW, "the preview cannot be shown: \(error.message)")
        }
        player.open(PreviewPictures(preview))
        player.play()
    }

    /// Shows a broadcast in place of the one before.
    func show(_ broadcast: LiveBroadcast) { broadcast.show(in: preview) }

    /// Ends it; its window closes.
    func close() {
        preview.close()
        player.close()
    }

    deinit { close() }
}

/// The pictures of a preview as the player takes them.
private final class PreviewPictures: RawPictures {
    private let preview: BroadcastPreview

    init(_ preview: BroadcastPreview) { self.preview = preview }

    var width: Int { preview.width }
    var height: Int { preview.height }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int { unsafe preview.read(into: buffer) }

    func cancel() { preview.close() }
}
