public import Foundation
public import LectureKit

/// What the iOS SDK has no name for and a storage on Linux needs: where licences are verified, which folder holds the
/// device's key, what a finished download answers. Every member has a default; most applications set none, because the
/// environment (`LECTURE_CONFIG`, `LECTURE_TRUST`, `LECTURE_DEVICE`) says what differs from machine to machine.
public struct KollusSettings: Sendable {
    /// What ``KollusStorage/downloadContent(_:)`` does with a content that is complete.
    public enum CompletedDownload: Sendable {
        /// It throws −9000, as the vendor's guide says.
        case fails
        /// It tells the finished download once more, as the Android SDK does since 2018.
        case completesAgain
    }

    /// What the delegate hears of a download that the application has cancelled.
    public enum CancelledDownload: Sendable {
        /// −8615, so that every download has exactly one final event.
        case isError
        /// Nothing, as on iOS: applications that show every error as a failure show none. ``KollusStorage/events`` has
        /// the cancel all the same.
        case isSilent
    }

    /// A `config.json`; nil takes the one that `LECTURE_CONFIG` names, or the default one if it exists.
    public var configurationFile: String?
    /// The directory with what application keys are verified by (`roots.pem`, `jwks.json`, `hs.key`, `crl.pem`); nil
    /// takes the configuration's, else `LECTURE_TRUST`.
    public var trustDirectory: String?
    /// The directory with the device's key, from which the player id follows; nil takes the configuration's, else what
    /// the environment names.
    public var deviceDirectory: String?
    /// The `lecturectl` that goes on with downloads once the application has ended; nil looks for it.
    public var workerProgram: String?
    /// `updateDownloadDRMInfo(false)` renews licences that have ended or will within this time, in seconds.
    public var renewalWindow: TimeInterval = 0
    /// What a download of a complete content does.
    public var completedDownload = CompletedDownload.fails
    /// What the delegate hears of a cancel.
    public var cancelledDownload = CancelledDownload.isError
    /// The bundle id where ``KollusStorage/applicationBundleID`` is nil, as `Bundle.main.bundleIdentifier` is on Linux;
    /// nil takes the environment's `LECTURE_BUNDLE_ID`, else that of an `Info.plist` beside the program.
    public var bundleIdentifier: String?
    /// What ``KollusStorage/deviceType`` answers: `kp-mobile` or `kp-tablet`.
    public var deviceType = "kp-mobile"
    /// Everything else: changes the library's own configuration before the storage opens.
    public var adjust: (@Sendable (inout LectureConfiguration) -> Void)?

    /// The defaults.
    public init() {}
}
