import Foundation
import LectureKit
import LectureModel
import LecturePlayer

/// What an application has set on a player.
struct PlayerSettings {
    /// What is kept for the application and has no effect here.
    struct Kept {
        var chat: KollusChat?
        var isModelRate = false
        var playsInBackground = false
        var pausesOnForeground = false
        var debug = false
        var skin: String?
        var certificateURL: String?
        var licenceURL: String?
        var port: UInt = 0
        var bufferingRatio = 0
    }

    weak var storage: KollusStorage?
    var contentURL: String?
    var mediaContentKey: String?
    var contentIndex: UInt?
    var section: KPSection?
    var rate: Float = 1
    var repeatMode = KollusPlayerRepeatMode.none
    var isWithoutReports = false
    var extraParameter: String?
    var user: String?
    /// Seconds for a licence server.
    var patience: Int?
    /// Whether hardware decodes; nil leaves that to libmpv.
    var usesHardware: Bool?
    var surface: KollusPlayerSurface = MpvEngine.environment.isEmpty ? .none : .window
    var engineOptions: [String: String] = [:]
    var kept = Kept()
}

/// What is read of the settings when a player prepares.
struct PlayerPlan: Sendable {
    /// What is played.
    let source: PlayerSource
    /// Where it begins.
    let start: Duration
    let section: Range<Duration>?
    let rate: Float
    let hasReports: Bool
    let user: String?
    let patience: Int?
    let usesHardware: Bool?
    let surface: KollusPlayerSurface
    let engineOptions: [String: String]
    let frame: CGRect

    init(_ settings: PlayerSettings, _ source: PlayerSource, start: TimeInterval?, frame: CGRect) {
        self.source = source
        section = settings.section.flatMap { section in
            // A section as numbers of an application: neither negative nor reversed.
            let (start, end) = (max(0, section.startTime), section.endTime)
            return start < end ? .seconds(start) ..< .seconds(end) : nil
        }
        self.start = start.map(Duration.init(position:)) ?? section?.lowerBound ?? .zero
        (rate, user, patience) = (settings.rate, settings.user, settings.patience)
        hasReports = !(settings.isWithoutReports && source.key != nil)
        (usesHardware, surface) = (settings.usesHardware, settings.surface)
        (engineOptions, self.frame) = (settings.engineOptions, frame)
    }

    /// How the library's player plays.
    var options: PlayerOptions {
        var options = PlayerOptions()
        (options.start, options.section, options.user, options.reports) = (start, section, user, hasReports)
        if let patience { options.patience = .seconds(patience) }
        return options
    }

    /// How libmpv shows it.
    func engine(title: String, picture: PlayerPicture, repeats: Bool) -> MpvOptions {
        var options = MpvOptions()
        switch surface {
        case .window: options.surface = .window(title: title, isFullscreen: false)
        case .x11(let id): options.surface = .x11(id)
        case .none: options.surface = .none
        }
        options.more = picture.options
        if let usesHardware { options.more["hwdec"] = usesHardware ? "auto-safe" : "no" }
        if surface == .window, !frame.isEmpty {
            options.more["geometry"] =
                "\(Int(frame.width))x\(Int(frame.height))+\(Int(frame.minX))+\(Int(frame.minY))"
        }
        if repeats { options.more.merge(PlayerEngine.repeating(true, section)) { _, new in new } }
        options.more.merge(engineOptions) { _, own in own }
        return options
    }
}

/// What a player has reported to its application.
struct PlayerStatus {
    var type = KollusPlayerType.PlayerTypeKollus
    var isPrepared = false
    var isPlaying = false
    var isBuffering = false
    var isSeeking = false
    /// Seconds; follows the engine, ahead of the delegate.
    var position: TimeInterval = 0
    var content: KollusContent?
    var outline: ContentOutline?
    /// Whether what is played is an intro, and whether that may be skipped.
    var intro: Bool?
    var bookmarks: [Any]?
    var canEditBookmarks = false
    /// The only part that a play callback permits.
    var section: Range<Duration>?

    /// The play is over; what it was about stays.
    mutating func end() {
        (isPrepared, isPlaying, isBuffering, isSeeking, intro) = (false, false, false, false, nil)
    }
}

extension Duration {
    /// Seconds as an application sets them; not before the start, and not beyond any lecture.
    init(position: TimeInterval) { self = .milliseconds(Int64(min(max(position, 0), 1e9) * 1000)) }
}
