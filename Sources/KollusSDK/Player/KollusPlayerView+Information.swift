public import Foundation
import LectureKit

// MARK: Spellings

/// The same delegates under their names in the headers, as the vendor's guide prints them.
extension KollusPlayerView {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmDelegate``.
    public var DRMDelegate: (any KollusPlayerDRMDelegate)! {
        get { drmDelegate }
        set { drmDelegate = newValue }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``lmsDelegate``.
    public var LMSDelegate: (any KollusPlayerLMSDelegate)! {
        get { lmsDelegate }
        set { lmsDelegate = newValue }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``aiRateEnable``.
    public var AIRateEnable: Bool {
        get { aiRateEnable }
        set { aiRateEnable = newValue }
    }
}

// MARK: What the content has

extension KollusPlayerView {
    /// Subtitle files (``SubTitleInfo``) that the content's description lists; empty if there are none.
    public var listSubTitle: NSMutableArray! { NSMutableArray(array: core.outline?.subtitles ?? []) }
    /// The same list, from which a second subtitle is chosen.
    public var listSubTitleSub: NSMutableArray! { listSubTitle }
    /// Chapters (``ChapterDict``), one element per language; empty if there are none.
    public var chapterInfo: NSMutableArray! { NSMutableArray(array: core.outline?.chapters ?? []) }

    /// Shows a subtitle file.
    ///
    /// - Parameter path: on this machine; nil is refused.
    /// - Returns: false without a readable file.
    @discardableResult
    public func setSubTitlePath(_ path: UnsafeMutablePointer<CChar>!) -> Bool {
        guard let path = unsafe path else { return false }
        return core.setSubtitle(unsafe String(cString: path), isSecond: false)
    }

    /// Shows a second subtitle file beside the first one, at the top of the picture.
    ///
    /// - Parameter path: on this machine; nil is refused.
    /// - Returns: false without a readable file.
    @discardableResult
    public func setSubTitleSubPath(_ path: UnsafeMutablePointer<CChar>!) -> Bool {
        guard let path = unsafe path else { return false }
        return core.setSubtitle(unsafe String(cString: path), isSecond: true)
    }

    /// Whether there is a sheet of small pictures: ``KollusContent/thumbnail``.
    public var isThumbnailEnable: Bool { core.status.content?.thumbnail != nil }
    /// Whether it is fetched before the play: always, with the content.
    public var isThumbnailSync: Bool { true }
    /// The style of captions: the player's own, so empty.
    public var strCaptionStyle: String! { "" }
    /// Whether it has no picture; false before the preparation.
    public var isAudioOnly: Bool { core.status.isPrepared && core.picture.naturalSize == .zero }
    /// The provider's name, as ``KollusContent/company``; empty before the preparation.
    public var contentProviderName: String! { core.status.content?.company ?? "" }
    /// The provider's key: empty, since descriptions do not have it.
    public var contentProviderKey: String! { "" }

    /// Whether bookmarks are kept for offline use: 0 no, 1 yes. From the licence.
    public var nOfflineBookmarkUse: Int { core.bookmarkScope == 0 ? 0 : 1 }
    /// Which bookmarks are kept: 0 none, 1 the index, 2 those of the learner too. From the licence.
    public var nOfflineBookmarkDownload: Int { core.bookmarkScope }
    /// Whether bookmarks may be changed: 0 yes, 1 no. From the licence.
    public var nOfflineBookmarkReadOnly: Int { core.bookmarksAreReadOnly ? 1 : 0 }
}

// MARK: What the play permits

extension KollusPlayerView {
    /// What the gateway permits; everything before the preparation.
    private var rules: PlaybackRules { core.status.outline?.playback ?? PlaybackRules() }

    /// Whether the application may jump anywhere.
    public var seekable: Bool { rules.seeking == .free }
    /// Up to which second it may jump where ``seekable`` is false; −1 for not at all. A jump that is not permitted is
    /// not made.
    public var nSeekableEnd: Int { if case .upTo(let end) = rules.seeking { Int(end.seconds) } else { -1 } }
    /// Whether the speed cannot be changed.
    public var disablePlayRate: Bool { rules.hasFixedRate }
    /// The fastest speed.
    public var maxPlaybackRate: Float { rules.hasFixedRate ? 1 : 10 }
    /// Whether an intro is played, which only streams have.
    public var intro: Bool { core.status.intro != nil }
    /// After how many seconds the intro can be skipped; 0 without an intro, and for one that cannot.
    public var nSecSkip: Int { rules.intro?.skippableAfter.map { Int($0.seconds) } ?? 0 }
    /// Skips the intro.
    ///
    /// - Returns: false without an intro that may be skipped now.
    @discardableResult
    public func setSkipPlay() -> Bool { core.skipIntro() }
    /// Whether it starts without a sound: never.
    public var muteOnStart: Bool { false }
    /// Whether the picture may be shown on another screen: always, since Linux has no protected outputs.
    public var screenConnectEnabled: Bool { true }
    /// Whether an application has to begin where the content was left, without asking the user.
    public var forceNScreen: Bool { rules.resumesWithoutAsking }
    /// Whether a play that was left at the start leaves the resume point where it was.
    public var ignoreZero: Bool { rules.ignoresZero }
    /// Where the part starts that the gateway wants repeated, in seconds; else that of ``playSection``.
    public var nRepeatStartTime: Int {
        rules.repeated.map { Int($0.lowerBound.seconds) } ?? core[\.section]?.startTime ?? 0
    }
    /// Where it ends, in seconds; as ``nRepeatStartTime``.
    public var nRepeatEndTime: Int {
        rules.repeated.map { Int($0.upperBound.seconds) } ?? core[\.section]?.endTime ?? 0
    }
    /// How many seconds may be played at once; 0 without a limit. Then the play ends with an error that has
    /// ``strPlaybackLimitMessage``. A limit of the licence is ``KollusContent/drmExpirePlayTime``.
    public var nPlaybackLimitDuration: Int { rules.limit.map { Int($0.duration.seconds) } ?? 0 }
    /// The provider's message about that limit; empty without one.
    public var strPlaybackLimitMessage: String! { rules.limit?.message ?? "" }

    /// At which second the next episode is offered; 0 without one.
    public var nextEpisodeShowTime: Int { rules.nextEpisode.map { Int($0.showTime.seconds) } ?? 0 }
    /// Where the next episode is asked for; empty without one.
    public var nextEpisodeCallbackURL: String! { rules.nextEpisode?.callbackURL ?? "" }
    /// With which parameters.
    public var nextEpisodeCallbackParams: NSMutableDictionary! {
        NSMutableDictionary(dictionary: rules.nextEpisode?.parameters ?? [:])
    }
    /// Whether a button is shown for it.
    public var nextEpisodeShowButton: Bool { rules.nextEpisode?.showsButton ?? false }
}

// MARK: What is not here

/// Names that code for the iOS SDK mentions, without a meaning on Linux or without support here. Properties keep what
/// an application sets.
extension KollusPlayerView {
    /// Whether it is live: never, live lectures are not supported.
    public var isLive: Bool { false }
    /// How far back a live lecture can be played: 0, see ``isLive``.
    public var liveDuration: TimeInterval { 0 }
    /// The name of ``liveDuration`` in older versions.
    public var liveSeekableDuration: TimeInterval { 0 }
    /// The chat of a live lecture. Kept, not used.
    public var kollusChat: KollusChat! {
        get { core[\.kept.chat] }
        set { core[\.kept.chat] = newValue }
    }

    /// Faster speeds made by a model. Kept, not used: libmpv's own scaling of time is.
    public var aiRateEnable: Bool {
        get { core[\.kept.isModelRate] }
        set { core[\.kept.isModelRate] = newValue }
    }

    /// Sets ``aiRateEnable``.
    ///
    /// - Parameter bAIRate: whether a model is used.
    public func setAIRate(_ bAIRate: Bool) { aiRateEnable = bAIRate }

    /// Whether sound goes on in the background. Kept, not used: programs on Linux are not suspended.
    public var audioBackgroundPlay: Bool {
        get { core[\.kept.playsInBackground] }
        set { core[\.kept.playsInBackground] = newValue }
    }

    /// Whether sound must end in the background: it need not, see ``audioBackgroundPlay``.
    public var disableBackgroundAudio: Bool { false }

    /// Whether it stays paused when an application comes to the foreground. Kept, not used: it never pauses by itself.
    ///
    /// - Parameter bPause: false by default.
    public func setPauseOnForeground(_ bPause: Bool) { core[\.kept.pausesOnForeground] = bPause }

    /// Whether diagnostics are written. Kept, not used: ``LogUtil`` has them.
    public var debug: Bool {
        get { core[\.kept.debug] }
        set { core[\.kept.debug] = newValue }
    }

    /// The skin of the player's controls, as JSON. Kept, not used: the application draws its own.
    public var customSkin: String! {
        get { core[\.kept.skin] }
        set { core[\.kept.skin] = newValue }
    }

    /// The URL of a FairPlay certificate. Kept, not used: FairPlay is Apple's.
    public var fpsCertURL: String! {
        get { core[\.kept.certificateURL] }
        set { core[\.kept.certificateURL] = newValue }
    }

    /// The URL of a FairPlay server. Kept, not used, as ``fpsCertURL``.
    public var fpsDrmURL: String! {
        get { core[\.kept.licenceURL] }
        set { core[\.kept.licenceURL] = newValue }
    }

    /// The port of the view's local server, for ``webPlay()``; 0 for that of the storage. libmpv needs none: it gets
    /// its bytes through memory.
    public var proxyPort: UInt {
        get { core[\.kept.port] }
        set { core[\.kept.port] = newValue }
    }

    /// A factor for the buffer. Kept, not used: media on the disk needs none.
    ///
    /// - Parameter bufferingRatio: the factor.
    public func setBufferingRatio(_ bufferingRatio: Int) { core[\.kept.bufferingRatio] = bufferingRatio }

    /// Changes the bandwidth of an HLS stream. Does nothing: a downloaded content has one.
    ///
    /// - Parameter bandWidth: bits per second.
    public func changeBandWidth(_ bandWidth: Int32) {}

    /// The bandwidths of an HLS stream: none.
    public var streamInfoList: NSMutableArray! { NSMutableArray() }

    /// Whether the machine's video hardware decodes. Unlike on iOS the default is libmpv's, which is software; read
    /// when the player prepares.
    ///
    /// - Parameter bHW: true for hardware where libmpv considers it safe.
    public func setDecoder(_ bHW: Bool) { core[\.usesHardware] = bHW }

    private var watermark: ContentOutline.Watermark? { core.status.outline?.watermark }

    /// The text of the watermark, which the player draws over the picture; empty without one, and before the
    /// preparation.
    public var strVideoWaterMark: String! { watermark?.text ?? "" }
    /// How opaque it is, 0 to 100.
    public var nVideoWaterMarkAlpha: Int { watermark.map { Int(($0.opacity * 100).rounded()) } ?? 0 }
    /// Its size in pixels of a picture that is 720 high.
    public var nVideoWaterMarkFontSize: Int { watermark?.fontSize ?? 0 }
    /// Its colour, `RRGGBB`.
    public var strVideoWaterMarkFontColor: String! {
        watermark.map { String(String($0.color | 0x100_0000, radix: 16, uppercase: true).dropFirst()) } ?? ""
    }
    /// For how many seconds it is shown.
    public var nVideoWaterMarkShowTime: Int { watermark.map { Int($0.showTime / .seconds(1)) } ?? 0 }
    /// For how many seconds it is hidden then.
    public var nVideoWaterMarkHideTime: Int { watermark.map { Int($0.hideTime / .seconds(1)) } ?? 0 }
    /// Whether the sound has a watermark: no. Of older versions.
    public var isWaterMark: Bool { false }

    /// A URL of the vendor's own application: none.
    public var actionStatsUrl: String! { "" }
    /// A key of the vendor's own application: none.
    public var actionStatsSecretKey: String! { "" }
}
