public import Foundation
import LectureKit
import LectureModel

/// A picture of one content as it stood in the store at one moment. It does not change: events bring new ones, and
/// ``KollusStorage/contents()`` makes new ones. Two pictures of one content are equal.
open class KollusContent: NSObject, @unchecked Sendable {
    /// What the store says.
    let details: ContentDetails?
    /// Bytes that came and are not proven yet; nil where the store's own number counts.
    let receivedBytes: Int64?
    /// Why the last download ended, where the store does not say it any more.
    let lastError: KollusError?
    /// Whether its download was ended while the store still winds it up.
    let isEnding: Bool

    /// A content without anything, for tests of applications and for views that have none yet.
    public override convenience init() { self.init(nil) }

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
    open var company: String! { details?.company ?? "" }
    /// Its title.
    open var title: String! { content?.title ?? "" }
    /// The course it belongs to.
    open var course: String! { content?.course ?? "" }
    /// The teacher.
    open var teacher: String! { content?.teacher ?? "" }
    /// The path of a still picture; nil until it is on the disk.
    open var snapshot: String! { details?.snapshotPath }
    /// The path of a sheet of small pictures; nil until it is on the disk. The file's name carries the width and height
    /// of a tile and their number (`…-160x90x10.jpg`) where the gateway's address does.
    open var thumbnail: String! { details?.thumbnailPath }
    /// Its identity.
    open var mediaContentKey: String! { content?.key.text ?? "" }
    /// What it is about.
    open var synopsis: String! { details?.synopsis ?? "" }
    /// A page about it.
    open var descriptionURL: String! { details?.descriptionURL ?? "" }
    /// The size of its picture in pixels; zero when unknown.
    open var naturalSize: CGSize { CGSize(width: details?.width ?? 0, height: details?.height ?? 0) }
    /// Which player is meant for it: `native`.
    open var iosPlayerType: String! { "native" }
    /// What kind of content it is.
    open var contentType: KollusContentType {
        content.flatMap { KollusContentType(rawValue: $0.type.rawValue) } ?? .downloading
    }
    /// How long it plays, in seconds; 0 when unknown.
    open var duration: TimeInterval { content?.duration.map(\.seconds) ?? 0 }
    /// Where a player goes on, in seconds.
    open var position: TimeInterval { details?.resumePoint.seconds ?? 0 }
    /// The number of its row in the store.
    open var contentIndex: UInt { UInt(clamping: details?.number ?? 0) }

    // MARK: Its licence

    /// When its licence was last checked; nil without one.
    open var drmCheckDate: Date! { details?.licence.flatMap { $0.checked ?? $0.granted }.map(\.date) }
    /// When its licence ends; nil for no end.
    open var drmExpireDate: Date! { policy?.expiresAt.map(\.date) }
    /// How often it may be played; 0 for no bound.
    open var drmExpireCountMax: Int { policy?.countLimit ?? 0 }
    /// How often it may still be played; 0 without a bound too, see ``drmExpireCountMax``.
    open var drmExpireCount: Int { details?.licence?.countLeft ?? 0 }
    /// How long it may be played, in seconds; 0 for no bound.
    open var drmTotalExpirePlayTime: TimeInterval { policy?.playTimeLimit?.seconds ?? 0 }
    /// How long it may still be played, in seconds; 0 without a bound too, see ``drmTotalExpirePlayTime``.
    open var drmExpirePlayTime: TimeInterval { details?.licence?.playTimeLeft?.seconds ?? 0 }
    /// Whether its licence has ended: by date, by count, by play time, or because the server says so.
    open var drmExpired: Bool {
        details?.licence?.reasons.contains {
            switch $0 {
            case .expired, .forceExpired, .countUsedUp, .playTimeUsedUp, .deleted: true
            default: false
            }
        } ?? false
    }
    /// Whether the application should ask before the licence is renewed.
    open var drmExpireRefreshPopup: Bool { policy?.asksBeforeRenewal ?? false }

    // MARK: Its transfer

    /// Bytes of the whole content, as its source announced them or as they are; 0 when nobody has said.
    open var fileSize: Int64 { content?.totalBytes ?? details?.announcedBytes ?? 0 }
    /// Bytes received.
    open var downloadSize: Int64 { max(content?.provenBytes ?? 0, receivedBytes ?? 0) }
    /// 0…100; 100 exactly when ``downloaded``.
    open var downloadProgress: UInt {
        if downloaded { return 100 }
        guard fileSize > 0 else { return 0 }
        return min(99, UInt(max(0, Double(downloadSize) / Double(fileSize) * 100)))
    }
    /// Whether it is complete.
    open var downloaded: Bool { content?.state == .completed }
    /// Bytes that were kept when the transfer was stopped or has failed; 0 while it runs and when it is complete. A new
    /// download goes on behind them.
    open var downloadStopSize: Int64 {
        guard let content, isEnding || content.state == .stopped || content.state == .failed else { return 0 }
        return content.provenBytes
    }
    /// When it became complete, in seconds since 1970; 0 until then. ``downloadedDate`` goes beyond 2038.
    open var downloadedTime: Int32 { Int32(clamping: (content?.completed?.milliseconds ?? 0) / 1000) }

    // MARK: Identity

    /// Whether it is a picture of the same content.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KollusContent else { return false }
        return details == nil && other.details == nil ? self === other : mediaContentKey == other.mediaContentKey
    }

    /// Fits ``isEqual(_:)``.
    open override var hash: Int { mediaContentKey?.hashValue ?? 0 }

    /// The key and the progress, for logs: nothing about a learner.
    open override var description: String { "\(mediaContentKey ?? "") \(downloadProgress) %" }
}

// MARK: Beside the iOS SDK

extension KollusContent {
    /// Where a content is on its way.
    public enum State: String, Sendable, CaseIterable {
        /// Known, and not asked to be fetched.
        case registered
        /// Waits for its turn, or for another attempt.
        case waiting
        /// Bytes are coming, or are being proven.
        case downloading
        /// Stands still by request; what came is kept.
        case paused
        /// Stands still for another reason; what came is kept.
        case stopped
        /// Cannot be had; ``KollusContent/error`` says why.
        case failed
        /// Complete.
        case completed
    }

    /// Where it is on its way.
    public var state: State {
        guard let content else { return .registered }
        if isEnding, content.state != .completed { return content.provenBytes == 0 ? .registered : .paused }
        return switch content.state {
        case .completed: .completed
        case .failed: .failed
        case .loading, .downloading, .verifying: .downloading
        case .queued: .waiting
        case .removing: .stopped
        case .stopped where content.stopReason == .user:
            content.error?.code == .cancelled && content.provenBytes == 0 && lastError == nil ? .registered : .paused
        case .stopped: content.stopReason == .serverWait || content.stopReason == .schedule ? .waiting : .stopped
        }
    }

    /// What went wrong last; nil when nothing did.
    public var error: KollusError? {
        content?.error.flatMap { $0.code == .cancelled ? nil : KollusError($0) } ?? lastError
    }

    /// The virtual folder, `a/b`; empty at top level.
    public var folder: String { content?.folder ?? "" }
    /// When it became complete; nil until then.
    public var downloadedDate: Date? { content?.completed?.date }
    /// When it was registered; nil for a content that is none.
    public var registeredDate: Date? { content?.added.date }
    /// How often it was played, where plays are counted.
    public var drmUsedCount: Int { details?.licence?.countUsed ?? 0 }
    /// How often it may still be played; nil for no bound.
    public var drmRemainingCount: Int? { details?.licence?.countLeft }
    /// Whether it needs a licence to be played.
    public var needsLicence: Bool { details?.licence != nil }
    /// Whether it can be played without a network now: complete, and nothing speaks against it.
    public var isPlayableOffline: Bool { downloaded && details?.licence?.isPlayable != false }
    /// Why it may not be played now, the reason that counts first; nil when it may, as far as its licence goes.
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
