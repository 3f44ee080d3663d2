public import Dispatch
import LecturePlayer

/// Where a ``KollusPlayerView`` shows its picture.
public enum KollusPlayerSurface: Sendable, Hashable {
    /// A window of its own, whose title is the content's.
    case window
    /// A window of the application, by its X11 id.
    case x11(UInt32)
    /// Nowhere: only sound.
    case none
}

// MARK: Beside the iOS SDK

/// Additions to the iOS SDK.
extension KollusPlayerView {
    /// Where the picture is shown: a window if `DISPLAY` or `WAYLAND_DISPLAY` is set, else nowhere. Read when the
    /// player prepares.
    public var surface: KollusPlayerSurface {
        get { core[\.surface] }
        set { core[\.surface] = newValue }
    }

    /// The queue on which the delegates are called: the main queue, unless an application without a run loop sets
    /// another. Serial, so that calls come one after the other.
    public var delegateQueue: DispatchQueue {
        get { core.mailbox[\.queue] }
        set { core.mailbox[\.queue] = newValue }
    }

    /// Further options of mpv by name, for instance `ao` for the sound's output. Read when the player prepares.
    public var engineOptions: [String: String] {
        get { core[\.engineOptions] }
        set { core[\.engineOptions] = newValue }
    }

    /// The learner in the reports; nil takes the one named by the gateway. Read when the player prepares.
    public var user: String? {
        get { core[\.user] }
        set { core[\.user] = newValue }
    }

    /// Ends the play, if there is one, and waits until everything is stored. The delegate receives `stop: false`.
    public func finish() async { await core.finish() }
}
