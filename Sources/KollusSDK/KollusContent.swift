public import Foundation
import LectureKit
import LectureModel

/// A snapshot of one content in the store. It does not change: events deliver new ones, and
/// ``KollusStorage/contents()`` makes new ones. Two snapshots of one content are equal.
///
/// The tests of an application make their own: with ``init()`` and ``setValue(_:forKey:)``, as on iOS, or as a subclass
/// that overrides properties.
///
/// `@unchecked Sendable`: all properties are constant and Sendable; the compiler does not check a class that is open.
open class KollusContent: NSObject, @unchecked Sendable {
    /// The store's values.
    let details: ContentDetails?
    /// Bytes received including unverified ones; nil to use the store's own number.
    let receivedBytes: Int64?
    /// Why the last download ended, if the store no longer has the reason.
    let lastError: KollusError?
    /// Whether its download was cancelled and is still being ended.
    let isEnding: Bool

    /// Values that an application's tests have set by name.
    private let given = KeyedValues()

    /// Makes an empty content, for tests of applications and for views that have none yet.
    public override init() {
        (details, receivedBytes, lastError, isEnding) = (nil, nil, nil, false)
        super.init()
    }

    init(
        _ details: ContentDetails?, receivedBytes: Int64? = nil, lastError: KollusError? = nil, isEnding: Bool = false
    ) {
        (self.details, self.receivedBytes, self.lastError) = (details, receivedBytes, lastError)
        self.isEnding = isEnding
    }

    private var content: Content? { details?.content }
    private var policy: LicencePolicy? { details?.licence?.policy }

    // MARK: What it is

    /// Who publishes it.
    open var company: String! { given.text("company", details?.company ?? "") }
    /// Its title.
    open var title: String! { given.text("title", content?.title ?? "") }
    /// The course it belongs to.
    open var course: String! { given.text("course", content?.course ?? "") }
    /// The teacher.
    open var teacher: String! { given.text("teacher", content?.teacher ?? "") }
    /// The path of a still picture; nil until it is on the disk.
    open var snapshot: String! { given.text("snapshot", details?.snapshotPath) }
    /// The path of a sheet of small pictures; nil until it is on the disk. The file's name contains the width and
    /// height of a tile and their number (`NAME.160x90x10.jpg`) if the gateway's URL does.
    open var thumbnail: String! { given.text("thumbnail", details?.thumbnailPath) }
    /// Its identity.
    open var mediaContentKey: String! { given.text("mediaContentKey", content?.key.text ?? "") }
    /// What it is about.
    open var synopsis: String! { given.text("synopsis", details?.synopsis ?? "") }
    /// A page about it.
    open var descriptionURL: String! { given.text("descriptionURL", details?.descriptionURL ?? "") }
    /// The size of its picture in pixels; zero when unknown.
    open var naturalSize: CGSize {
        given.size("naturalSize", CGSize(width: details?.width ?? 0, height: details?.height ?? 0))
    }
    /// The intended player: `native`.
    open var iosPlayerType: String! { given.text("iosPlayerType", "native") }
    /// Its type.
    open var contentType: KollusContentType {
        KollusContentType(rawValue: given.integer("contentType", content?.type.rawValue ?? 1)) ?? .downloading
    }
    /// How long it plays, in seconds; 0 when unknown.
    open var duration: TimeInterval { given.seconds("duration", content?.duration.map(\.seconds) ?? 0) }
    /// Where a player resumes, in seconds.
    open var position: TimeInterval { given.seconds("position", details?.resumePoint.seconds ?? 0) }
    /// The number of its row in the store.
    open var contentIndex: UInt { given.integer("contentIndex", UInt(clamping: details?.number ?? 0)) }

    // MARK: Its licence

    /// When its licence was last checked; nil without one.
    open var drmCheckDate: Date! {
        given.date("drmCheckDate", details?.licence.flatMap { $0.checked ?? $0.granted }.map(\.date))
    }
    /// When its licence ends; nil for no end.
    open var drmExpireDate: Date! { given.date("drmExpireDate", policy?.expiresAt.map(\.date)) }
    /// How often it may be played; 0 for no limit.
    open var drmExpireCountMax: Int { given.integer("drmExpireCountMax", policy?.countLimit ?? 0) }
    /// How often it may still be played; also 0 without a limit, see ``drmExpireCountMax``.
    open var drmExpireCount: Int { given.integer("drmExpireCount", details?.licence?.countLeft ?? 0) }
    /// How long it may be played, in seconds; 0 for no limit.
    open var drmTotalExpirePlayTime: TimeInterval {
        given.seconds("drmTotalExpirePlayTime", policy?.playTimeLimit?.seconds ?? 0)
    }
    /// How long it may still be played, in seconds; also 0 without a limit, see ``drmTotalExpirePlayTime``.
    open var drmExpirePlayTime: TimeInterval {
        given.seconds("drmExpirePlayTime", details?.licence?.playTimeLeft?.seconds ?? 0)
    }
    /// Whether its licence has ended: by date, by count, by play time, or because the server says so.
    open var drmExpired: Bool { given.flag("drmExpired", hasEnded) }

    private var hasEnded: Bool {
        details?.licence?.reasons.contains {
            switch $0 {
            case .expired, .forceExpired, .countUsedUp, .playTimeUsedUp, .deleted: true
            default: false
            }
        } ?? false
    }
    /// Whether the application should ask before the licence is renewed.
    open var drmExpireRefreshPopup: Bool {
        given.flag("drmExpireRefreshPopup", policy?.asksBeforeRenewal ?? false)
    }

    // MARK: Its transfer

    /// Bytes of the whole content, as announced by its source or as received; 0 when unknown.
    open var fileSize: Int64 { given.integer("fileSize", content?.totalBytes ?? details?.announcedBytes ?? 0) }
    /// Bytes received.
    open var downloadSize: Int64 {
        given.integer("downloadSize", max(content?.committedBytes ?? 0, receivedBytes ?? 0))
    }
    /// 0…100; 100 exactly when ``downloaded``.
    open var downloadProgress: UInt { given.integer("downloadProgress", percent) }

    private var percent: UInt {
        if downloaded { return 100 }
        guard fileSize > 0 else {
            // The bytes of an adaptive content are known at its end.
            guard let content, content.type == .adaptiveDownload else { return 0 }
            return UInt(min(99, content.committedPercent ?? 0))
        }
        return min(99, UInt(max(0, Double(downloadSize) / Double(fileSize) * 100)))
    }

    /// Whether it is complete.
    open var downloaded: Bool { given.flag("downloaded", content?.state == .completed) }
    /// Bytes on the disk of a transfer that is not running: it was stopped, has failed, waits, or its program was
    /// killed. 0 while it runs and when it is complete. A new download continues after them.
    open var downloadStopSize: Int64 { given.integer("downloadStopSize", keptBytes) }

    private var keptBytes: Int64 {
        guard let content else { return 0 }
        if isEnding { return content.committedBytes }
        switch content.state {
        case .queued, .stopped, .failed: return content.committedBytes
        case .loading, .downloading, .verifying, .completed, .removing: return 0
        }
    }

    /// When it became complete, in seconds since 1970; 0 until then. ``downloadedDate`` also works after 2038.
    open var downloadedTime: Int32 {
        given.integer("downloadedTime", Int32(clamping: (content?.completed?.milliseconds ?? 0) / 1000))
    }

    // MARK: By name

    /// The properties of the iOS SDK, by their names there.
    private static let kinds: [String: KeyedValues.Kind] = [
        "company": .text, "title": .text, "course": .text, "teacher": .text, "snapshot": .text, "thumbnail": .text,
        "mediaContentKey": .text, "synopsis": .text, "descriptionURL": .text, "naturalSize": .size,
        "iosPlayerType": .text, "contentType": .integer, "drmCheckDate": .date, "drmExpireDate": .date,
        "drmExpireCountMax": .integer, "drmExpireCount": .integer, "drmTotalExpirePlayTime": .seconds,
        "drmExpirePlayTime": .seconds, "drmExpired": .flag, "drmExpireRefreshPopup": .flag, "duration": .seconds,
        "position": .seconds, "contentIndex": .integer, "fileSize": .integer, "downloadSize": .integer,
        "downloadProgress": .integer, "downloaded": .flag, "downloadStopSize": .integer, "downloadedTime": .integer,
    ]

    /// The headers write the licence's properties with capitals (`DRMExpireDate`), Swift does not.
    private static func name(_ key: String) -> String { key.hasPrefix("DRM") ? "drm" + key.dropFirst(3) : key }

    /// Sets a property by its name, for tests of applications. `NSObject` has this on iOS and not on Linux.
    ///
    /// - Parameters:
    ///   - value: a `String`, a `Date`, a number, a `Bool`, a `CGSize`, or an `NSNumber` for numbers and Booleans. Nil
    ///     is valid for texts and dates only.
    ///   - key: the property's name, in either spelling: `drmExpireDate`, `DRMExpireDate`.
    open func setValue(_ value: Any?, forKey key: String) {
        let name = Self.name(key)
        guard let kind = Self.kinds[name] else { return setValue(value, forUndefinedKey: key) }
        if !given.set(value, name, kind) { LogUtil.utilLog("KollusContent cannot take this value for \(key).") }
    }

    /// A property by its name.
    ///
    /// - Parameter key: as in ``setValue(_:forKey:)``.
    /// - Returns: its value, numbers in their declared types; nil if it is nil.
    open func value(forKey key: String) -> Any? {
        switch Self.name(key) {
        case "company": company
        case "title": title
        case "course": course
        case "teacher": teacher
        case "snapshot": snapshot
        case "thumbnail": thumbnail
        case "mediaContentKey": mediaContentKey
        case "synopsis": synopsis
        case "descriptionURL": descriptionURL
        case "naturalSize": naturalSize
        case "iosPlayerType": iosPlayerType
        case "contentType": contentType
        case "duration": duration
        case "position": position
        case "contentIndex": contentIndex
        default: transferValue(forKey: key)
        }
    }

    private func transferValue(forKey key: String) -> Any? {
        switch Self.name(key) {
        case "drmCheckDate": drmCheckDate
        case "drmExpireDate": drmExpireDate
        case "drmExpireCountMax": drmExpireCountMax
        case "drmExpireCount": drmExpireCount
        case "drmTotalExpirePlayTime": drmTotalExpirePlayTime
        case "drmExpirePlayTime": drmExpirePlayTime
        case "drmExpired": drmExpired
        case "drmExpireRefreshPopup": drmExpireRefreshPopup
        case "fileSize": fileSize
        case "downloadSize": downloadSize
        case "downloadProgress": downloadProgress
        case "downloaded": downloaded
        case "downloadStopSize": downloadStopSize
        case "downloadedTime": downloadedTime
        default: value(forUndefinedKey: key)
        }
    }

    /// Called for an unknown name. On iOS it raises; here it writes a line to ``LogUtil``.
    ///
    /// - Parameters:
    ///   - value: the value to set.
    ///   - key: the name.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        LogUtil.utilLog("KollusContent has no property \(key).")
    }

    /// Called for an unknown name. On iOS it raises; here it writes a line to ``LogUtil``.
    ///
    /// - Parameter key: the name.
    /// - Returns: nil.
    open func value(forUndefinedKey key: String) -> Any? {
        LogUtil.utilLog("KollusContent has no property \(key).")
        return nil
    }

    // MARK: Identity

    /// Whether it is a snapshot of the same content.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KollusContent else { return false }
        let (key, others) = (mediaContentKey ?? "", other.mediaContentKey ?? "")
        return key.isEmpty && others.isEmpty ? self === other : key == others
    }

    /// Consistent with ``isEqual(_:)``.
    open override var hash: Int { mediaContentKey?.hashValue ?? 0 }

    /// The key and the progress, for logs: nothing about a learner.
    open override var description: String { "\(mediaContentKey ?? "") \(downloadProgress) %" }
}

// MARK: Beside the iOS SDK

extension KollusContent {
    /// The states of a content.
    public enum State: String, Sendable, CaseIterable {
        /// Known, but no download was requested.
        case registered
        /// Queued, or waiting for another attempt.
        case waiting
        /// Bytes are being received or verified.
        case downloading
        /// Stopped on request; downloaded data is kept.
        case paused
        /// Stopped for another reason; downloaded data is kept.
        case stopped
        /// Cannot be downloaded; ``KollusContent/error`` says why.
        case failed
        /// Complete.
        case completed
    }

    /// Its state.
    public var state: State {
        guard let content else { return downloaded ? .completed : .registered }
        if isEnding, content.state != .completed { return content.committedBytes == 0 ? .registered : .paused }
        return switch content.state {
        case .completed: .completed
        case .failed: .failed
        case .loading, .downloading, .verifying: .downloading
        case .queued: .waiting
        case .removing: .stopped
        case .stopped where content.stopReason == .user:
            content.error?.code == .cancelled && content.committedBytes == 0 && lastError == nil ? .registered : .paused
        case .stopped: content.stopReason == .serverWait || content.stopReason == .schedule ? .waiting : .stopped
        }
    }

    /// The last error; nil when there was none.
    public var error: KollusError? {
        content?.error.flatMap { $0.code == .cancelled ? nil : KollusError($0) } ?? lastError
    }

    /// The virtual folder, `a/b`; empty at top level.
    public var folder: String { content?.folder ?? "" }
    /// When it became complete; nil until then.
    public var downloadedDate: Date? { content?.completed?.date }
    /// When it was registered; nil for an empty content.
    public var registeredDate: Date? { content?.added.date }
    /// How often it was played, if plays are counted.
    public var drmUsedCount: Int { details?.licence?.countUsed ?? 0 }
    /// How often it may still be played; nil for no limit.
    public var drmRemainingCount: Int? { details?.licence?.countLeft }
    /// Whether it needs a licence to be played.
    public var needsLicence: Bool { details?.licence != nil }
    /// Whether it can be played offline now: complete, and permitted by its licence.
    public var isPlayableOffline: Bool { downloaded && details?.licence?.isPlayable != false }
    /// Why its licence does not permit playing now, the most important reason; nil when it does.
    public var refusal: KollusError? {
        details?.licence?.reasons.first.map { KollusError(LectureError($0.code, detail: mediaContentKey)) }
    }
}

// MARK: The headers' own spelling of what Swift imports in lower case; the vendor's guide uses both

extension KollusContent {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmCheckDate``.
    public var DRMCheckDate: Date! { drmCheckDate }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpireDate``.
    public var DRMExpireDate: Date! { drmExpireDate }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpireCountMax``.
    public var DRMExpireCountMax: Int { drmExpireCountMax }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpireCount``.
    public var DRMExpireCount: Int { drmExpireCount }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmTotalExpirePlayTime``.
    public var DRMTotalExpirePlayTime: TimeInterval { drmTotalExpirePlayTime }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpirePlayTime``.
    public var DRMExpirePlayTime: TimeInterval { drmExpirePlayTime }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpired``.
    public var DRMExpired: Bool { drmExpired }
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// ``drmExpireRefreshPopup``.
    public var DRMExpireRefreshPopup: Bool { drmExpireRefreshPopup }
}
