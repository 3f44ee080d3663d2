import Glibc
import LectureFiles
package import LectureLiveClient

/// Where the picture of a broadcast comes from.
package enum LiveSource: Sendable, Hashable {
    /// A test picture with a tone.
    case test
    /// What an X11 display shows; the one of the environment when it is empty.
    case screen(String)
    /// A V4L2 device.
    case camera(String)
    /// A media file; it is sent again and again when it loops.
    case file(String, loops: Bool)

    /// Reads the value of `--source`.
    ///
    /// - Parameter text: `test`, `screen[:DISPLAY]`, `camera:DEVICE` or `file:PATH[,loop]`.
    package init?(_ text: String) {
        let colon = text.firstIndex(of: ":")
        let rest = colon.map { String(text[text.index(after: $0)...]) }
        switch (text[..<(colon ?? text.endIndex)], rest) {
        case ("test", nil): self = .test
        case ("screen", let display): self = .screen(display ?? "")
        case ("camera", let device?) where !device.isEmpty: self = .camera(device)
        case ("file", let path?) where !path.isEmpty && path != ",loop":
            self = path.hasSuffix(",loop") ? .file(String(path.dropLast(5)), loops: true) : .file(path, loops: false)
        default: return nil
        }
    }
}

/// What a broadcast needs to make its media.
package struct FeedChoice: Sendable {
    /// Where the picture comes from.
    package let source: LiveSource
    /// The ALSA device of the sound; nil for silence.
    package let microphone: String?
    /// Is called when a file is over, before the link ends.
    package let sourceEnded: @Sendable () -> Void
    /// Is called when the microphone can no longer be read.
    package let microphoneFailed: @Sendable () -> Void
}

/// What a viewer needs to show media.
package struct PictureChoice: Sendable {
    /// Whether there is a window.
    package let hasVideo: Bool
    /// Whether nothing is to be heard.
    package var isMuted = false
    /// The title of the window.
    package let title: String
}

/// The effects of these commands beside those of `CommandContext`.
package struct LiveEffects: Sendable {
    /// Makes the media.
    package var media: MediaFactories
    /// An open descriptor whose lines are sent; it is not closed.
    package var input = STDIN_FILENO
    /// The clock and its waits.
    package var time = LiveTime(clock: SystemClock(), random: SystemRandom())

    /// Makes the effects of a process.
    ///
    /// - Parameter media: makes the media.
    package init(media: MediaFactories) { self.media = media }
}
