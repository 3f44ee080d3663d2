public import Foundation

/// Plays a content: the player of the iOS SDK.
///
/// The names, types and meanings are those of the Kollus iOS SDK's `KollusPlayerView`, version 2.3.36, and of its older
/// versions; <doc:Migration> lists all of them with every difference. On iOS it is a `UIView`; here it is an object
/// with a ``surface``, because Linux has no views. libmpv shows the picture and plays the sound.
///
/// ```swift
/// let playerView = KollusPlayerView(mediaContentKey: mediaContentKey)
/// playerView?.storage = storage
/// playerView?.delegate = self
/// try playerView?.prepareToPlay(withMode: .PlayerTypeKollus)
/// ```
///
/// Requests return at once. Their results come through ``delegate``, each exactly once, on the main queue; the
/// properties about the state say what the delegate was notified of last. Every method may be called on every thread,
/// also from within the delegate's methods.
///
/// ## Topics
/// ### What it plays
/// - ``init(mediaContentKey:)``
/// - ``init(contentURL:)``
/// - ``storage``
/// ### Play
/// - ``prepareToPlay(withMode:)``
/// - ``play()``
/// - ``pause()``
/// - ``stop()``
/// - ``currentPlaybackTime``
/// - ``currentPlaybackRate``
///
/// `@unchecked Sendable`: its property is constant and Sendable; the compiler does not check a class that is open.
open class KollusPlayerView: NSObject, @unchecked Sendable {
    /// The implementation.
    let core = PlayerCore()

    /// Makes a player without a content: set ``mediaContentKey`` or ``contentURL`` before preparing.
    public override init() {
        super.init()
        core.mailbox.serve(self)
    }

    /// The same, with a frame; as of a `UIView`.
    ///
    /// - Parameter frame: see ``frame``.
    public init(frame: CGRect) {
        super.init()
        core.mailbox.serve(self)
        self.frame = frame
    }

    /// The same; there are no interface files on Linux, so nothing is read.
    ///
    /// - Parameter coder: not used.
    public required init?(coder: NSCoder) {
        super.init()
        core.mailbox.serve(self)
    }

    /// Makes a player for a stream.
    ///
    /// - Parameter url: see ``contentURL``.
    public init!(contentURL url: String!) {
        super.init()
        core.mailbox.serve(self)
        contentURL = url
    }

    /// Makes a player for a downloaded content.
    ///
    /// - Parameter mck: see ``mediaContentKey``.
    public init!(mediaContentKey mck: String!) {
        super.init()
        core.mailbox.serve(self)
        mediaContentKey = mck
    }

    /// Makes a player for a downloaded content; of older versions of the iOS SDK.
    ///
    /// - Parameter contentIndex: see ``contentIndex``.
    public init!(contentIndex: UInt) {
        super.init()
        core.mailbox.serve(self)
        self.contentIndex = contentIndex
    }

    deinit { core.abandon() }

    // MARK: Delegates

    /// Receives results and changes; held weakly.
    open var delegate: (any KollusPlayerDelegate)! {
        get { core.mailbox[\.player] }
        set { core.mailbox[\.player] = newValue }
    }

    /// Receives the exchanges with the licence server about this content; held weakly.
    open var drmDelegate: (any KollusPlayerDRMDelegate)! {
        get { core.mailbox[\.licences] }
        set { core.mailbox[\.licences] = newValue }
    }

    /// Receives the learning reports about this content as they are sent; held weakly.
    open var lmsDelegate: (any KollusPlayerLMSDelegate)! {
        get { core.mailbox[\.reports] }
        set { core.mailbox[\.reports] = newValue }
    }

    /// Receives the bookmarks while the player prepares; held weakly. Set it before preparing.
    open var bookmarkDelegate: (any KollusPlayerBookmarkDelegate)! {
        get { core.mailbox[\.bookmarks] }
        set { core.mailbox[\.bookmarks] = newValue }
    }

    // MARK: What it plays

    /// The started storage that has the content; held weakly.
    open var storage: KollusStorage! {
        get { core[\.storage] }
        set { core[\.storage] = newValue }
    }

    /// The URL of a stream; used when there is no ``mediaContentKey``.
    open var contentURL: String! {
        get { core[\.contentURL] }
        set { core[\.contentURL] = newValue }
    }

    /// The key of a downloaded content. A change takes effect with the next preparation.
    open var mediaContentKey: String! {
        get { core[\.mediaContentKey] }
        set { core[\.mediaContentKey] = newValue }
    }

    /// The number of a downloaded content (``KollusContent/contentIndex``); used when there is neither a key nor a URL.
    /// Of older versions of the iOS SDK, where the key has replaced it.
    open var contentIndex: UInt {
        get { core[\.contentIndex] ?? 0 }
        set { core[\.contentIndex] = newValue }
    }

    /// The prepared content, as it was then; nil before, and for a stream.
    open var content: KollusContent! { core.status.content }

    // MARK: Play

    /// Prepares to play: evaluates the licence, online where a check is due, and opens the media. The result comes
    /// through `prepareToPlayWithError`. It may be called again, also during or after a play, which then ends: each
    /// call has its result, and that of a preparation that another one replaces is −2101.
    ///
    /// - Parameter type: stored as ``playerType``; libmpv plays all of them.
    /// - Throws: ``KollusError`` when preparing cannot begin: −2108 without a storage, −2109 without a content, −8614
    ///   when the storage is not started, −8661 when it is closed, −8613, −8621, −8637.
    open func prepareToPlay(withMode type: KollusPlayerType) throws { try core.prepare(type) }

    /// The same without a type; of older versions of the iOS SDK (`prepareToPlayWithError:`).
    ///
    /// - Throws: as ``prepareToPlay(withMode:)``.
    open func prepareToPlay() throws { try core.prepare(.PlayerTypeKollus) }

    /// Plays, or plays on. The result comes through `play:error:`. The first play of a preparation is counted.
    ///
    /// - Throws: ``KollusError``: −2101 before a successful preparation and after the end.
    open func play() throws { try core.request(.play) }

    /// Pauses. The result comes through `pause:error:`.
    ///
    /// - Throws: ``KollusError``: −2101 before a successful preparation and after the end.
    open func pause() throws { try core.request(.pause) }

    /// Ends the play; everything is stored when the result comes through `stop:error:`. It may be called while the
    /// player prepares.
    ///
    /// - Throws: ``KollusError``: −2101 without a preparation and after the end.
    open func stop() throws { try core.stop() }

    /// The position in seconds. A value that is set is where the player jumps to, or begins; it also is the position
    /// until the player is there. The delegate receives the position when the jump begins and when it ends. A jump that
    /// another one replaces before it has begun is not made.
    open var currentPlaybackTime: TimeInterval {
        get { core.position }
        set { core.seek(to: newValue) }
    }

    /// The speed: 0.5 to 10; 1 is normal.
    open var currentPlaybackRate: Float {
        get { core[\.rate] }
        set { core.setRate(newValue) }
    }

    /// Whether it starts over at the end. Each start is reported as `play: false`; it is not counted as another play.
    open var repeatMode: KollusPlayerRepeatMode {
        get { core[\.repeatMode] }
        set { core.setRepeatMode(newValue) }
    }

    /// The only part that is played; nil for the whole content. Read when the player prepares. One that does not end
    /// after its start is ignored. While a content is prepared, this is what its gateway and its play callback
    /// permit of it, in whole seconds.
    open var playSection: KPSection! {
        get {
            let status = core.status
            guard status.isPrepared, let section = status.section else { return core[\.section] }
            return KPSection(section)
        }
        set { core[\.section] = newValue }
    }

    // MARK: State

    /// Whether it is prepared and has not ended.
    open var isPreparedToPlay: Bool { core.status.isPrepared }
    /// Whether it plays.
    open var isPlaying: Bool { core.status.isPlaying }
    /// Whether it waits for media.
    open var isBuffering: Bool { core.status.isBuffering }
    /// Whether it jumps.
    open var isSeeking: Bool { core.status.isSeeking }
    /// Whether it has opened its media.
    open func isOpened() -> Bool { core.status.isPrepared }
    /// The type that it was prepared with.
    open var playerType: KollusPlayerType { core.status.type }

    // MARK: Bookmarks

    /// The bookmarks (``KollusBookmark``) by position. The player sets it when it prepares and with each change.
    open var bookmarks: [Any]! {
        get { core.status.bookmarks }
        set { core.setBookmarks(newValue) }
    }

    /// Whether the learner's bookmarks can be changed.
    open var bookmarkModifyEnabled: Bool { core.status.canEditBookmarks }

    /// Adds a learner's bookmark; it replaces one at the same position. It is kept on this device, and ``bookmarks``
    /// has it when this returns.
    ///
    /// - Parameters:
    ///   - position: seconds from the start.
    ///   - value: its text.
    /// - Throws: ``KollusError``: −2101 before a successful preparation, −2100 when bookmarks cannot be changed, −8613.
    open func addBookmark(_ position: TimeInterval, value: String!) throws {
        try core.addBookmark(at: position, value)
    }

    /// Removes a learner's bookmark. An index bookmark is not removed, and a missing one is not an error.
    ///
    /// - Parameter position: seconds from the start.
    /// - Throws: as ``addBookmark(_:value:)``.
    open func removeBookmark(_ position: TimeInterval) throws { try core.removeBookmark(at: position) }

    // MARK: Reports and licences

    /// Whether no learning reports are made about downloaded contents. Read when the player prepares.
    open var lmsOffDownloadContent: Bool {
        get { core[\.isWithoutReports] }
        set { core[\.isWithoutReports] = newValue }
    }

    /// A text of the application that is sent to licence servers with every request; as
    /// ``KollusStorage/extraDrmParam``, which it replaces when the player prepares.
    open var extraDrmParam: String! {
        get { core[\.extraParameter] }
        set { core[\.extraParameter] = newValue }
    }

    /// How long the player waits for a licence server. Read when the player prepares.
    ///
    /// - Parameter timeOut: seconds, from 1.
    open func setNetworkTimeOut(_ timeOut: Int) {
        guard timeOut > 0 else { return LogUtil.utilLog("setNetworkTimeOut: seconds from 1") }
        core[\.patience] = timeOut
    }

    // MARK: The picture

    /// Where the player is. The size is that of the window if ``surface`` is one and the frame is not empty, and what
    /// ``getVideoPosition()`` and ``scroll(_:)`` use. Read when the player prepares.
    open var frame: CGRect {
        get { core.picture.frame }
        set { core.changePicture { $0.frame = newValue } }
    }

    /// The size of the picture in pixels; zero before the preparation, and without a picture.
    open var naturalSize: CGSize { core.picture.naturalSize }

    /// How the picture fills its surface.
    open var scalingMode: KollusPlayerContentMode {
        get { core.picture.mode }
        set { core.setScalingMode(newValue) }
    }

    /// The picture's frame as the application has set it. Stored and reported: where the picture is follows from
    /// ``scalingMode``, zoom and scroll; ``getVideoPosition()`` returns it.
    open var playerContentFrame: CGRect {
        get { core.picture.contentFrame }
        set { core.setContentFrame(newValue) }
    }

    /// Moves a picture that is zoomed in. The delegate is notified before and after.
    ///
    /// - Parameter distance: in the units of ``frame``.
    /// - Throws: ``KollusError``: −2102 when it is not zoomed in or has no frame, −2101 before a preparation.
    open func scroll(_ distance: CGPoint) throws { try core.scroll(distance) }

    /// Ends a movement of the picture; it stays where it is.
    ///
    /// - Throws: ``KollusError``: −2101 before a successful preparation.
    open func scrollStop() throws { try core.endScrolling() }

    /// Multiplies the size of the picture. The delegate is notified before and after.
    ///
    /// - Parameter recognizer: only its scale is used: Linux has no gesture recognisers, so an application makes one.
    /// - Throws: ``KollusError``: −2101 before a successful preparation, −8613 for nil and a scale that is no number.
    open func zoom(_ recognizer: UIPinchGestureRecognizer!) throws { try core.zoom(recognizer) }

    /// Whether a part of the picture is magnified.
    open var isZoomedIn: Bool { core.picture.zoom > 1 }
    /// Whether the picture is being moved.
    open var isScrolling: Bool { core.picture.isScrolling }
    /// Where the picture is in ``frame``; zero while one of the sizes is unknown.
    open func getVideoPosition() -> CGRect { core.picture.place }
    /// The picture's magnification; 1 is none.
    open func getZoomValue() -> CGFloat { core.picture.zoom }
    /// Whether the picture cannot become smaller than its surface.
    ///
    /// - Parameter bDisable: false by default.
    open func setDisableZoomOut(_ bDisable: Bool) { core.changePicture { $0.setSmallest(bDisable ? 1 : nil) } }
}
