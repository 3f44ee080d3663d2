// A screen written as the vendor's guide shows it, with its spellings. Changed for Linux: the import.
import Foundation
import KollusSDK
import KollusTestSupport

/// Third spelling: the guide's, with the first parameter named `playerView` and optional values. A class of the main
/// actor with isolated conformances.
@MainActor
class LectureScreen: NSObject, @MainActor KollusPlayerDelegate, @MainActor KollusPlayerDRMDelegate,
    @MainActor KollusPlayerLMSDelegate, @MainActor KollusPlayerBookmarkDelegate
{
    var playerView: KollusPlayerView?
    var isWaiting = false
    let journal: PlayerJournal

    init(journal: PlayerJournal) { self.journal = journal }

    func play(_ storage: KollusStorage, _ mck: String) throws {
        playerView = KollusPlayerView(mediaContentKey: mck)
        playerView?.storage = storage
        playerView?.delegate = self
        playerView?.DRMDelegate = self
        playerView?.LMSDelegate = self
        playerView?.bookmarkDelegate = self
        playerView?.surface = .none
        playerView?.engineOptions = ["ao": "null"]
        try playerView?.prepareToPlay(withMode: .PlayerTypeKollus)
    }

    private func code(_ error: Error?) -> Int { (error as NSError?)?.code ?? 0 }

    // MARK: KollusPlayerDelegate

    func kollusPlayerView(_ playerView: KollusPlayerView, prepareToPlayWithError error: Error?) {
        journal.record("prepared \(code(error))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, play userInteraction: Bool, error: Error?) {
        journal.record("play \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, pause userInteraction: Bool, error: Error?) {
        journal.record("pause \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, buffering: Bool, prepared: Bool, error: Error?) {
        isWaiting = buffering
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, stop userInteraction: Bool, error: Error?) {
        journal.record("stop \(userInteraction) \(code(error))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, position: TimeInterval, error: Error?) {
        journal.record("position \(Int(position.rounded())) \(playerView.isSeeking)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, scroll distance: CGPoint, error: Error?) {
        journal.record("scroll \(Int(distance.x)) \(playerView.isScrolling)")
    }

    func kollusPlayerView(
        _ playerView: KollusPlayerView, zoom recognizer: UIPinchGestureRecognizer?, error: NSErrorPointer
    ) {
        journal.record("zoom \(recognizer?.scale ?? 0)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, naturalSize: CGSize) {
        journal.record("size \(naturalSize.width > 0)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, playerContentMode: KollusPlayerContentMode, error: Error?) {
        journal.record("mode \(playerContentMode.rawValue)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, playerContentFrame contentFrame: CGRect, error: Error?) {
        journal.record("frame \(Int(contentFrame.width))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, playbackRate: Float, error: Error?) {
        journal.record("rate \(playbackRate)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, repeat: Bool, error: Error?) {
        journal.record("repeat \(`repeat`)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, enabledOutput: Bool, error: Error?) {
        journal.record("output \(enabledOutput)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, unknownError error: Error?) {
        journal.record("error \(code(error))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, framerate: Int32) {
        journal.record("framerate \(framerate > 0)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, lockedPlayer playerType: KollusPlayerType) {
        journal.record("locked \(playerType)")
    }

    func kollusPlayerView(
        _ playerView: KollusPlayerView, charset: UnsafeMutablePointer<CChar>?, caption: UnsafeMutablePointer<CChar>?
    ) {
        journal.record("caption")
    }

    func kollusPlayerView(
        _ playerView: KollusPlayerView, charsetSub: UnsafeMutablePointer<CChar>?,
        captionSub: UnsafeMutablePointer<CChar>?
    ) {
        journal.record("second caption")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, thumbnail isThumbnail: Bool, error: Error?) {
        journal.record("thumbnail \(isThumbnail)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, mck: String?) {
        journal.record("mck \(mck ?? "")")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, height: Int32) {
        journal.record("height \(height)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, bitrate: Int32) {
        journal.record("bitrate \(bitrate)")
    }

    // MARK: The other three delegates

    func kollusPlayerView(
        _ playerView: KollusPlayerView, request: [AnyHashable: Any], json: [AnyHashable: Any]?, error: Error?
    ) {
        journal.record("licence \(request["kind"] ?? 0)")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, lmsData: String, resultJson: [AnyHashable: Any]?) {
        journal.record("report \(lmsData.contains("media_content_key"))")
    }

    func kollusPlayerView(_ playerView: KollusPlayerView, bookmark: [Any]?, enabled: Bool, error: Error?) {
        journal.record("bookmarks \(bookmark?.count ?? 0)")
    }
}
