public import Foundation

/// Empty defaults for all events. Each records that it was called, so that a result that no spelling receives is
/// noticed.
extension KollusPlayerDelegate {
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, prepareToPlayWithError error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, prepareToPlayWithError error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, play userInteraction: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, play userInteraction: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, pause userInteraction: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, pause userInteraction: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, buffering: Bool, prepared: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, buffering: Bool, prepared: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, stop userInteraction: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, stop userInteraction: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, position: TimeInterval, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, position: TimeInterval, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, scroll distance: CGPoint, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, scroll distance: CGPoint, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, zoom recognizer: UIPinchGestureRecognizer!, error: NSErrorPointer
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer, error: NSErrorPointer
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer?, error: NSErrorPointer
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, naturalSize: CGSize) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, naturalSize: CGSize) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentMode: KollusPlayerContentMode, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentMode: KollusPlayerContentMode, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentFrame contentFrame: CGRect, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentFrame contentFrame: CGRect, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playbackRate: Float, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playbackRate: Float, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, repeat: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, repeat: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, enabledOutput: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, enabledOutput: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, unknownError error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, unknownError error: any Error
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, unknownError error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, framerate: Int32) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, framerate: Int32) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lockedPlayer playerType: KollusPlayerType
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, lockedPlayer playerType: KollusPlayerType
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!,
        charset: UnsafeMutablePointer<CChar>!, caption: UnsafeMutablePointer<CChar>!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, charset: UnsafeMutablePointer<CChar>, caption: UnsafeMutablePointer<CChar>
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charset: UnsafeMutablePointer<CChar>?, caption: UnsafeMutablePointer<CChar>?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!,
        charsetSub: UnsafeMutablePointer<CChar>!, captionSub: UnsafeMutablePointer<CChar>!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charsetSub: UnsafeMutablePointer<CChar>, captionSub: UnsafeMutablePointer<CChar>
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView,
        charsetSub: UnsafeMutablePointer<CChar>?, captionSub: UnsafeMutablePointer<CChar>?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, thumbnail isThumbnail: Bool, error: (any Error)!
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, thumbnail isThumbnail: Bool, error: (any Error)?
    ) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, mck: String!) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, mck: String) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, mck: String?) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, height: Int32) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, height: Int32) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, bitrate: Int32) { Unheard.record() }
    /// Does nothing.
    public func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bitrate: Int32) { Unheard.record() }
}
