// A bridge of an application that imports the SDK through its own wrapper module. Changed for Linux: no UIKit.
import Foundation
import KollusSDKBinary
import KollusTestSupport

/// Second spelling: nothing optional but the error. A class of the main actor with conformances from before isolated
/// conformances.
@MainActor
final class PlayerBridge: NSObject, @preconcurrency KollusPlayerDelegate, @preconcurrency KollusPlayerDRMDelegate,
    @preconcurrency KollusPlayerLMSDelegate, @preconcurrency KollusPlayerBookmarkDelegate
{
    let playerView = KollusPlayerView()
    private(set) var isWaiting = false
    private let journal: PlayerJournal

    init(journal: PlayerJournal) {
        self.journal = journal
        super.init()
        playerView.delegate = self
        playerView.drmDelegate = self
        playerView.lmsDelegate = self
        playerView.bookmarkDelegate = self
    }

    func open(_ storage: KollusStorage, key: String) throws {
        playerView.storage = storage
        playerView.mediaContentKey = key
        playerView.surface = .none
        playerView.engineOptions = ["ao": "null"]
        try playerView.prepareToPlay(withMode: .PlayerTypeNative)
    }

    private func code(_ error: Error?) -> Int { (error as NSError?)?.code ?? 0 }

    // MARK: KollusPlayerDelegate

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, prepareToPlayWithError error: Error?) {
        journal.record("prepared \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, play userInteraction: Bool, error: Error?) {
        journal.record("play \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, pause userInteraction: Bool, error: Error?) {
        journal.record("pause \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, buffering: Bool, prepared: Bool, error: Error?) {
        isWaiting = buffering
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, stop userInteraction: Bool, error: Error?) {
        journal.record("stop \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, position: TimeInterval, error: Error?) {
        journal.record("position \(Int(position.rounded())) \(kollusPlayerView.isSeeking)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, scroll distance: CGPoint, error: Error?) {
        journal.record("scroll \(Int(distance.x)) \(kollusPlayerView.isScrolling)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer, error: NSErrorPointer
    ) {
        journal.record("zoom \(recognizer.scale)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, naturalSize: CGSize) {
        journal.record("size \(naturalSize.width > 0)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentMode: KollusPlayerContentMode, error: Error?
    ) {
        journal.record("mode \(playerContentMode.rawValue)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, playerContentFrame contentFrame: CGRect, error: Error?
    ) {
        journal.record("frame \(Int(contentFrame.width))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, playbackRate: Float, error: Error?) {
        journal.record("rate \(playbackRate)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, repeat: Bool, error: Error?) {
        journal.record("repeat \(`repeat`)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, enabledOutput: Bool, error: Error?) {
        journal.record("output \(enabledOutput)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, unknownError error: Error) {
        journal.record("error \(code(error))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, framerate: Int32) {
        journal.record("framerate \(framerate > 0)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, lockedPlayer playerType: KollusPlayerType) {
        journal.record("locked \(playerType)")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, charset: UnsafeMutablePointer<CChar>, caption: UnsafeMutablePointer<CChar>
    ) {
        journal.record("caption")
    }

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, charsetSub: UnsafeMutablePointer<CChar>,
        captionSub: UnsafeMutablePointer<CChar>
    ) {
        journal.record("second caption")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, thumbnail isThumbnail: Bool, error: Error?) {
        journal.record("thumbnail \(isThumbnail)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, mck: String) {
        journal.record("mck \(mck)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, height: Int32) {
        journal.record("height \(height)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bitrate: Int32) {
        journal.record("bitrate \(bitrate)")
    }

    // MARK: The other three delegates

    func kollusPlayerView(
        _ kollusPlayerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any], error: Error?
    ) {
        journal.record("licence \(request["kind"] ?? 0)")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]) {
        journal.record("report \(lmsData.contains("media_content_key"))")
    }

    func kollusPlayerView(_ kollusPlayerView: KollusPlayerView, bookmark: [Any], enabled: Bool, error: Error?) {
        journal.record("bookmarks \(bookmark.count)")
    }
}
