public import Foundation

/// The events of a player: the 23 methods of the iOS SDK.
///
/// Each event is declared in every spelling that is in use, each with an empty default, and the player calls them all,
/// as ``KollusStorageDelegate`` explains: the one that an application implements is called once. If no spelling of a
/// result binds, that is reported through ``LogUtil``.
///
/// | spelling | origin |
/// | --- | --- |
/// | all types implicitly unwrapped or optional | the headers as Xcode shows them |
/// | nothing optional but `error: Error?` | wrappers in production |
/// | the same with an optional text, pointer, gesture or unknown error | the vendor's guide |
///
/// Delivered on the main queue, or on ``KollusPlayerView/delegateQueue``. A class of the main actor conforms with
/// `@MainActor KollusPlayerDelegate` or `@preconcurrency KollusPlayerDelegate`.
public protocol KollusPlayerDelegate: NSObjectProtocol {
    /// A preparation has ended; with an error it has failed. Once for each call of
    /// ``KollusPlayerView/prepareToPlay(withMode:)``.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, prepareToPlayWithError error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, prepareToPlayWithError error: (any Error)?)
    /// It plays: `userInteraction` is true as the result of ``KollusPlayerView/play()``, false when a key in the window
    /// or a repetition has started it.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, play userInteraction: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, play userInteraction: Bool, error: (any Error)?)
    /// It is paused: `userInteraction` is true as the result of ``KollusPlayerView/pause()``, false after a key in the
    /// window.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, pause userInteraction: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, pause userInteraction: Bool, error: (any Error)?)
    /// It waits for media, or goes on; `prepared` is false while it prepares.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, buffering: Bool, prepared: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, buffering: Bool, prepared: Bool, error: (any Error)?)
    /// The play is over: `userInteraction` is true as the result of ``KollusPlayerView/stop()``. False means that it
    /// was played to its end or its window was closed, and, with an error, that it could not go on.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, stop userInteraction: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, stop userInteraction: Bool, error: (any Error)?)
    /// A jump: first with the position that it goes to, while ``KollusPlayerView/isSeeking`` is true, then with the
    /// reached one. Not called while it plays on.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, position: TimeInterval, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, position: TimeInterval, error: (any Error)?)
    /// The picture was moved: before, while ``KollusPlayerView/isScrolling`` is true, and after.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, scroll distance: CGPoint, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, scroll distance: CGPoint, error: (any Error)?)
    /// The picture's size was changed: before and after. `error` is always nil.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, zoom recognizer: UIPinchGestureRecognizer!, error: NSErrorPointer
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer, error: NSErrorPointer
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer?, error: NSErrorPointer
    )
    /// The size of the picture in pixels, before the result of the preparation. Not called without a picture.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, naturalSize: CGSize)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, naturalSize: CGSize)
    /// ``KollusPlayerView/scalingMode`` was set.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentMode: KollusPlayerContentMode, error: (any Error)!
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentMode: KollusPlayerContentMode, error: (any Error)?
    )
    /// ``KollusPlayerView/playerContentFrame`` was set.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentFrame contentFrame: CGRect, error: (any Error)!
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentFrame contentFrame: CGRect, error: (any Error)?
    )
    /// The speed has changed.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, playbackRate: Float, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, playbackRate: Float, error: (any Error)?)
    /// ``KollusPlayerView/repeatMode`` was set: whether it repeats.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, repeat: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, repeat: Bool, error: (any Error)?)
    /// Whether the picture may be shown on another screen. Not called: Linux has no protected outputs.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, enabledOutput: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, enabledOutput: Bool, error: (any Error)?)
    /// Something could not be stored, a report for instance. The play continues and tries again.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, unknownError error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, unknownError error: any Error)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, unknownError error: (any Error)?)
    /// Pictures per second, before the result of the preparation. Not called without a picture.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, framerate: Int32)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, framerate: Int32)
    /// Another player of this device holds the content. Not called: several players may play at once.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, lockedPlayer playerType: KollusPlayerType)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, lockedPlayer playerType: KollusPlayerType)
    /// The caption that is shown, in UTF-8; empty when it ends. The player shows it itself. The pointers are valid
    /// during the call.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!,
        charset: UnsafeMutablePointer<CChar>!, caption: UnsafeMutablePointer<CChar>!
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, charset: UnsafeMutablePointer<CChar>, caption: UnsafeMutablePointer<CChar>
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charset: UnsafeMutablePointer<CChar>?, caption: UnsafeMutablePointer<CChar>?
    )
    /// The same for a second subtitle.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!,
        charsetSub: UnsafeMutablePointer<CChar>!, captionSub: UnsafeMutablePointer<CChar>!
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charsetSub: UnsafeMutablePointer<CChar>, captionSub: UnsafeMutablePointer<CChar>
    )
    /// As above.
    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charsetSub: UnsafeMutablePointer<CChar>?, captionSub: UnsafeMutablePointer<CChar>?
    )
    /// The sheet of small pictures is there, before the result of the preparation. Not called without one.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, thumbnail isThumbnail: Bool, error: (any Error)!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, thumbnail isThumbnail: Bool, error: (any Error)?)
    /// The media content key, before the result of the preparation.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, mck: String!)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, mck: String)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, mck: String?)
    /// The height of an HLS stream. Not called: a downloaded content has one, see `naturalSize`.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, height: Int32)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, height: Int32)
    /// The bandwidth of an HLS stream. Not called, as above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, bitrate: Int32)
    /// As above.
    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bitrate: Int32)
}
