import Foundation
import LectureKit
import LectureModel
import LecturePlayer

/// The implementation of ``KollusPlayerView``: keeps what an application sets, and the session of the last preparation.
///
/// ```
///             prepareToPlay                       prepared                    finished, failed, stop
///  no session ─────────────▶ session, preparing ───────────▶ session, prepared ──────────────────────▶ no session
/// ```
final class PlayerCore: Sendable {
    private struct State {
        var settings = PlayerSettings()
        var status = PlayerStatus()
        var picture = PlayerPicture()
        /// Where the next preparation begins; nil for the start.
        var start: TimeInterval?
        var session: PlayerSession?
    }

    private let state = Guarded(State())
    let mailbox = PlayerMailbox()

    subscript<Value>(path: WritableKeyPath<PlayerSettings, Value>) -> Value {
        get { state.withLock { $0.settings[keyPath: path] } }
        set { state.withLock { $0.settings[keyPath: path] = newValue } }
    }

    var status: PlayerStatus { state.withLock { $0.status } }
    var picture: PlayerPicture { state.withLock { $0.picture } }
    private var session: PlayerSession? { state.withLock { $0.session } }

    // MARK: Sessions

    func prepare(_ type: KollusPlayerType) throws {
        let (settings, start, frame) = state.withLock { ($0.settings, $0.start, $0.picture.frame) }
        guard let storage = settings.storage?.core else { throw KollusError(.KOLLUS_STORAGE_IS_EMPTY) }
        let manager = try storage.manager()
        let source = try translating { try PlayerSource(settings, storage) }
        if let text = settings.extraParameter { storage.setExtraParameter(text) }
        let plan = PlayerPlan(settings, source, start: start, frame: frame)
        let session = PlayerSession(self, storage, manager, plan)
        let previous = state.withLock { state -> PlayerSession? in
            defer { (state.session, state.start) = (session, nil) }
            (state.status, state.picture.naturalSize) = (PlayerStatus(), .zero)
            (state.status.type, state.status.position) = (type, plan.start.seconds)
            return state.session
        }
        previous?.replace()
        session.begin(after: previous)
    }

    /// What the application has chosen to play.
    func source(in storage: StorageCore) throws -> PlayerSource {
        let settings = state.withLock(\.settings)
        return try translating { try PlayerSource(settings, storage) }
    }

    func request(_ request: PlayerRequests.Request) throws {
        guard let session, status.isPrepared, session.add(request) else { throw KollusError(.CONTENT_NOT_PREPARED) }
    }

    func stop() throws {
        guard let session, session.stop(isRequested: true) else { throw KollusError(.CONTENT_NOT_PREPARED) }
    }

    func finish() async { await session?.finish() }

    /// The view is gone: its play ends, and no call follows.
    func abandon() {
        let session = state.withLock { state in
            defer { state.session = nil }
            return state.session
        }
        session?.stop(isRequested: false)
    }

    /// Changes what the view shows, unless another preparation has replaced the session.
    func change(_ session: PlayerSession, _ body: (inout PlayerStatus) -> Void) {
        state.withLock { state in
            if state.session === session { body(&state.status) }
        }
    }

    /// The session is over.
    func leave(_ session: PlayerSession) {
        state.withLock { state in
            guard state.session === session else { return }
            state.session = nil
            state.status.end()
        }
    }

    // MARK: Position, speed, repetition

    var position: TimeInterval {
        let (session, start, place) = state.withLock { ($0.session, $0.start, $0.status.position) }
        return session?.target ?? start ?? place
    }

    func seek(to place: TimeInterval) {
        guard place.isFinite else { return LogUtil.utilLog("currentPlaybackTime: a number of seconds") }
        let place = max(0, place)
        if session?.seek(to: place) != true { state.withLock { $0.start = place } }
    }

    func setRate(_ rate: Float) {
        guard rate.isFinite else { return LogUtil.utilLog("currentPlaybackRate: a number") }
        let rate = min(max(rate, 0.5), 10)
        self[\.rate] = rate
        session?.setRate(rate)
    }

    func setRepeatMode(_ mode: KollusPlayerRepeatMode) {
        self[\.repeatMode] = mode
        session?.setRepeats(mode == .one)
        mailbox.post(.repeats(mode == .one))
    }

    // MARK: The picture

    /// Changes the picture, and shows it so.
    func changePicture(_ change: (inout PlayerPicture) -> Void) {
        let (session, picture) = state.withLock { state in
            change(&state.picture)
            return (state.session, state.picture)
        }
        session?.show(picture)
    }

    func setScalingMode(_ mode: KollusPlayerContentMode) {
        changePicture { $0.mode = mode }
        mailbox.post(.contentMode(mode))
    }

    func setContentFrame(_ frame: CGRect) {
        changePicture { $0.contentFrame = frame }
        mailbox.post(.contentFrame(frame))
    }

    func scroll(_ distance: CGPoint) throws {
        guard status.isPrepared else { throw KollusError(.CONTENT_NOT_PREPARED) }
        let picture = picture
        guard picture.zoom > 1, picture.place != .zero, distance.x.isFinite, distance.y.isFinite else {
            throw KollusError(.COULD_NOT_SCROLL_MODE)
        }
        mailbox.post(.scroll(distance)) { [self] in state.withLock { $0.picture.isScrolling = true } }
        changePicture { $0.move(by: distance) }
        mailbox.post(.scroll(distance)) { [self] in state.withLock { $0.picture.isScrolling = false } }
    }

    func endScrolling() throws {
        guard status.isPrepared else { throw KollusError(.CONTENT_NOT_PREPARED) }
        changePicture { $0.isScrolling = false }
    }

    func zoom(_ gesture: UIPinchGestureRecognizer?) throws {
        guard status.isPrepared else { throw KollusError(.CONTENT_NOT_PREPARED) }
        guard let gesture, gesture.scale.isFinite, gesture.scale > 0 else {
            throw KollusError(.ERROR_PARAM_VALUE, detail: "scale")
        }
        let scale = gesture.scale
        mailbox.post(.zoom(gesture))
        changePicture { $0.multiply(by: scale) }
        mailbox.post(.zoom(gesture))
    }

    func setSubtitle(_ path: String, isSecond: Bool) -> Bool {
        guard FileManager.default.isReadableFile(atPath: path) else { return false }
        return session?.showSubtitle(path, isSecond: isSecond) ?? false
    }

    /// Skips the intro.
    ///
    /// - Returns: whether there is one that may be skipped now.
    func skipIntro() -> Bool {
        guard status.intro == true, let session else { return false }
        session.skipIntro()
        return true
    }

    // MARK: What the content has

    var outline: KollusOutline? { status.outline.map { KollusOutline($0) } }

    private var policy: LicencePolicy? { status.content?.details?.licence?.policy }

    /// Which bookmarks are kept, as in `offline_bookmark.download`.
    var bookmarkScope: Int { policy?.bookmarks.rawValue ?? 0 }

    var bookmarksAreReadOnly: Bool { policy?.bookmarksAreReadOnly ?? false }

    func setBookmarks(_ list: [Any]?) { state.withLock { $0.status.bookmarks = list } }

    func addBookmark(at position: TimeInterval, _ value: String?) throws {
        guard let value, position.isFinite, position >= 0 else {
            throw KollusError(.ERROR_PARAM_VALUE, detail: "value")
        }
        try editBookmarks { try $0.add(value, at: Duration(position: position)) }
    }

    func removeBookmark(at position: TimeInterval) throws {
        guard position.isFinite, position >= 0 else { throw KollusError(.ERROR_PARAM_VALUE, detail: "position") }
        try editBookmarks { try $0.remove(at: Duration(position: position)) }
    }

    private func editBookmarks(_ edit: (PlayerBookmarks) throws -> Void) throws {
        let status = status
        guard status.isPrepared, let bookmarks = session?.bookmarks else { throw KollusError(.CONTENT_NOT_PREPARED) }
        guard status.canEditBookmarks else { throw KollusError(.DISABLED_BOOKMARK_CONTENT) }
        let list = try translating {
            try edit(bookmarks)
            return try bookmarks.list()
        }
        setBookmarks(list)
    }

    /// What the engine has found out about the picture.
    func setNaturalSize(_ size: CGSize, _ session: PlayerSession) {
        state.withLock { state in
            if state.session === session { state.picture.naturalSize = size }
        }
    }
}
