public import Foundation
public import LectureKit
public import LectureModel

/// Settings that a storage on Linux needs and the iOS SDK does not have: where licences are verified, which folder has
/// the device's key, what a download of a complete content does. Every member has a default; most applications set
/// none, because the environment (`LECTURE_CONFIG`, `LECTURE_TRUST`, `LECTURE_DEVICE`) covers what differs from machine
/// to machine.
public struct KollusSettings: Sendable {
    /// What ``KollusStorage/downloadContent(_:)`` does with a complete content.
    public enum CompletedDownload: Sendable {
        /// It throws −9000, as the vendor's guide says.
        case fails
        /// It reports the finished download again, as the Android SDK has done since 2018.
        case completesAgain
    }

    /// What the delegate receives for a download that the application has cancelled.
    public enum CancelledDownload: Sendable {
        /// −8615, so that every download has exactly one final event.
        case isError
        /// Nothing, as on iOS: applications that show every error as a failure show none. ``KollusStorage/events``
        /// still reports the cancel.
        case isSilent
    }

    /// A `config.json`; nil uses the one that `LECTURE_CONFIG` names, or the default one if it exists.
    public var configurationFile: String?
    /// The directory with the keys that verify application keys (`roots.pem`, `jwks.json`, `hs.key`, `crl.pem`); nil
    /// uses the configuration's, else `LECTURE_TRUST`.
    public var trustDirectory: String?
    /// The directory with the device's key, from which the player id is derived; nil uses the configuration's, else the
    /// environment's.
    public var deviceDirectory: String?
    /// The `lecturectl` that continues downloads after the application has ended; nil searches for it.
    public var workerProgram: String?
    /// `updateDownloadDRMInfo(false)` renews licences that have ended or will within this time, in seconds.
    public var renewalWindow: TimeInterval = 0
    /// Which streams of an adaptive content (HLS, DASH) are kept. Read when the storage opens.
    public var streamSelection = StreamSelection()
    /// What a download of a complete content does.
    public var completedDownload = CompletedDownload.fails
    /// What the delegate receives for a cancel.
    public var cancelledDownload = CancelledDownload.isError
    /// The bundle id if ``KollusStorage/applicationBundleID`` is nil, as `Bundle.main.bundleIdentifier` is on Linux;
    /// nil uses the environment's `LECTURE_BUNDLE_ID`, else that of an `Info.plist` beside the program.
    public var bundleIdentifier: String?
    /// What ``KollusStorage/deviceType`` returns: `kp-mobile` or `kp-tablet`.
    public var deviceType = "kp-mobile"
    /// Origins whose pages may read what ``KollusStorage/webPlay(_:)`` serves, as `https://lms.example`. Read when a
    /// port's server starts.
    public var webOrigins: Set<String> = []
    /// All other settings: changes the library's own configuration before the storage opens.
    public var adjust: (@Sendable (inout LectureConfiguration) -> Void)?

    /// The defaults.
    public init() {}
}
