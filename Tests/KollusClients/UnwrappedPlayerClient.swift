// A screen written as the vendor's Swift sample. Changed for Linux: the imports, no `@objc`, no UIKit.
// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import KollusSDK
import KollusTestSupport

/// A subclass with the initialisers that Xcode writes.
class LectureView: KollusPlayerView, @unchecked Sendable {
    private let lock = NSLock()
    private var isObserved = false

    override init!(mediaContentKey mck: String!) { super.init(mediaContentKey: mck) }

    override init(frame: CGRect) { super.init(frame: frame) }

    required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Whether the application has prepared it.
    var wasPrepared: Bool { lock.withLock { isObserved } }

    override func prepareToPlay(withMode type: KollusPlayerType) throws {
        lock.withLock { isObserved = true }
        try super.prepareToPlay(withMode: type)
    }
}

/// First spelling: everything implicitly unwrapped, as the headers are imported, and the LMS delegate of 2021.
class PlayerViewController: NSObject, KollusPlayerDelegate, KollusPlayerDRMDelegate, KollusPlayerLMSDelegate,
    KollusPlayerBookmarkDelegate
{
    var playerView: KollusPlayerView!
    var isWaiting = false
    let journal: PlayerJournal

    required init(journal: PlayerJournal) {
        self.journal = journal
        super.init()
    }

    func openPlayer(_ storage: KollusStorage!, _ mck: String!) throws {
        playerView = LectureView(mediaContentKey: mck)
        playerView.storage = storage
        playerView.delegate = self
        playerView.drmDelegate = self
        playerView.lmsDelegate = self
        playerView.bookmarkDelegate = self
        playerView.scalingMode = .scaleAspectFit
        playerView.audioBackgroundPlay = true
        playerView.proxyPort = 8388
        playerView.debug = false
        playerView.setNetworkTimeOut(30)
        playerView.setBufferingRatio(2)
        // What Linux has and iOS does not.
        playerView.surface = .none
        playerView.engineOptions = ["ao": "null"]
        do {
            try playerView.prepareToPlay(withMode: .PlayerTypeKollus)
        } catch let error as NSError {
            print("\(error.code) \(error.localizedDescription)")
            throw error
        }
    }

    func code(_ error: Error!) -> Int { error == nil ? 0 : (error as NSError).code }

    // MARK: KollusPlayerDelegate

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, prepareToPlayWithError error: Error!) {
        journal.record("prepared \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, play userInteraction: Bool, error: Error!) {
        journal.record("play \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, pause userInteraction: Bool, error: Error!) {
        journal.record("pause \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, buffering: Bool, prepared: Bool, error: Error!) {
        isWaiting = buffering
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, stop userInteraction: Bool, error: Error!) {
        journal.record("stop \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, position: TimeInterval, error: Error!) {
        journal.record("position \(Int(position.rounded())) \(kollusPlayerView.isSeeking)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, scroll distance: CGPoint, error: Error!) {
        journal.record("scroll \(Int(distance.x)) \(kollusPlayerView.isScrolling)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, zoom recognizer: UIPinchGestureRecognizer!, error: NSErrorPointer
    ) {
        journal.record("zoom \(recognizer.scale)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, naturalSize: CGSize) {
        journal.record("size \(naturalSize.width > 0)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentMode: KollusPlayerContentMode, error: Error!
    ) {
        journal.record("mode \(playerContentMode.rawValue)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, playerContentFrame contentFrame: CGRect, error: Error!
    ) {
        journal.record("frame \(Int(contentFrame.width))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, playbackRate: Float, error: Error!) {
        journal.record("rate \(playbackRate)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, repeat: Bool, error: Error!) {
        journal.record("repeat \(`repeat`)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, enabledOutput: Bool, error: Error!) {
        journal.record("output \(enabledOutput)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, unknownError error: Error!) {
        journal.record("error \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, framerate: Int32) {
        journal.record("framerate \(framerate > 0)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, lockedPlayer playerType: KollusPlayerType) {
        journal.record("locked \(playerType)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, charset: UnsafeMutablePointer<CChar>!,
        caption: UnsafeMutablePointer<CChar>!
    ) {
        journal.record("caption")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, charsetSub: UnsafeMutablePointer<CChar>!,
        captionSub: UnsafeMutablePointer<CChar>!
    ) {
        journal.record("second caption")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, thumbnail isThumbnail: Bool, error: Error!) {
        journal.record("thumbnail \(isThumbnail)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, mck: String!) {
        journal.record("mck \(mck!)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, height: Int32) {
        journal.record("height \(height)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, bitrate: Int32) {
        journal.record("bitrate \(bitrate)")
    }

    // MARK: The other three delegates

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, request: [AnyHashable: Any]!, json: [AnyHashable: Any]!, error: Error!
    ) {
        journal.record("licence \(request["kind"]!)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView!, lmsData: String!, json: [AnyHashable: Any]!, error: Error!
    ) {
        journal.record("report \(lmsData.contains("media_content_key"))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView!, bookmark: [Any]!, enabled: Bool, error: Error!) {
        journal.record("bookmarks \(bookmark.count)")
    }
}
