import LectureFormats
import LectureLicence
public import LectureModel

/// The application's key: a licence file that is issued for a bundle and expires (section *Application key* of the
/// command's contract).
public enum ApplicationKey {
    /// The audience of a key (`aud`); a lecture's licence has another one.
    static let audience = "lecturekit-app"

    /// Checks an application's three values against the key. No network is needed.
    ///
    /// `expires` is written as a date and time of RFC 3339 (`2026-12-31T15:00:00Z`), as Unix seconds, or as a date
    /// alone (`2026-12-31`, `2026/12/31`). A time matches the key when it names the second in which the key expires. A
    /// date alone matches when the key expires on that day, or at the midnight that ends it, in some time zone from
    /// UTC−12 to UTC+14: from 14 hours before the day's midnight in UTC to 36 hours after it, both included.
    ///
    /// The caller supplies the time: a clock that was set back must not revive a key
    /// (``LectureManager/Licences/trustedNow()``). A key that its issuer dates later than `now` is refused.
    ///
    /// - Parameters:
    ///   - application: the three values.
    ///   - trust: what the key is verified with: its header says whether a secret, a public key or certificates.
    ///   - now: the time of the check.
    /// - Throws: ``LectureError``: `applicationIncomplete` (−2107), `applicationKeyRefused` (−2106),
    ///   `applicationOtherBundle` (−2103), `applicationDateDiffers` (−2105), `applicationExpired` (−2104), in this
    ///   order; `cryptography`. Errors contain nothing of the key.
    public static func check(
        _ application: ApplicationConfiguration, trust: LicenceTrust, now: Timestamp
    ) throws(LectureError) {
        let values = [("key", application.key), ("bundle id", application.bundleID), ("end", application.expires)]
        let missing = values.filter(\.1.isEmpty).map(\.0)
        guard missing.isEmpty else {
            throw LectureError(.applicationIncomplete, detail: missing.joined(separator: ", "))
        }
        let file = try verified(application.key, trust, now)
        guard let end = file.expires else { throw refused("it has no end") }
        // Byte by byte: `String` treats two normalisations as equal.
        guard let bundle = file.bundleID, bundle.utf8.elementsEqual(application.bundleID.utf8) else {
            throw LectureError(.applicationOtherBundle, detail: application.bundleID)
        }
        guard let isSame = agrees(application.expires, with: end) else {
            throw LectureError(.applicationDateDiffers, detail: application.expires, cause: "it is not a date")
        }
        if !isSame { throw LectureError(.applicationDateDiffers, detail: application.expires) }
        if now >= Timestamp(milliseconds: end * 1000) { throw LectureError(.applicationExpired) }
    }

    /// What an application's key is verified with: the directory that `LECTURE_TRUST` names, else the configured one,
    /// else the public keys and roots of `drm.keys`. Their secrets are shared with callbacks, and do not count.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - environment: the variables.
    /// - Returns: the trust; an empty one refuses every key.
    /// - Throws: ``LectureError``: `configuration`, `secretReadable` also for a secret in the directory that others may
    ///   read, `readFile`, `json`.
    public static func trust(
        _ configuration: LectureConfiguration, environment: [String: String] = [:]
    ) throws(LectureError) -> LicenceTrust {
        let named = environment["LECTURE_TRUST"].flatMap { $0.isEmpty ? nil : $0 }
        guard let directory = named ?? configuration.application?.trustDirectory else {
            return try LicenceTrust(configuration.rights).withoutSecrets
        }
        let trust = LicenceTrust(directory: directory)
        if let exposed = trust.exposedFiles.first { throw LectureError(.secretReadable, detail: exposed) }
        if let fault = trust.faults.first { throw fault }
        return trust
    }

    // MARK: Rules

    /// The claims of an application's key with a valid signature; it may have expired.
    private static func verified(
        _ key: String, _ trust: LicenceTrust, _ now: Timestamp
    ) throws(LectureError) -> LicenceFile {
        var context = LicenceFileContext(now: now)
        context.audience = audience
        let verdict = try LicenceVerifier(trust: trust).verify(token: key, context: context)
        // Expiry is checked last, so that a wrong bundle id is not answered with advice to ask for a new key.
        let reasons = verdict.reasons.filter { $0.name != LicenceFileReason.expired.name }
        guard reasons.isEmpty, let file = verdict.file else {
            throw refused(reasons.map(\.sentence).joined(separator: "; "))
        }
        if file.content != nil || file.bundleID == nil { throw refused("it names no bundle") }
        return file
    }

    private static func refused(_ cause: String) -> LectureError { LectureError(.applicationKeyRefused, cause: cause) }

    /// Whether a text names the second in which a key expires; nil for a text that is neither a time nor a date.
    static func agrees(_ text: String, with end: Int64) -> Bool? {
        if let day = MomentText.day(text) {
            let distance = end - day.milliseconds / 1000
            return (-14 * 3600...36 * 3600).contains(distance)
        }
        guard let moment = MomentText.moment(text) else { return nil }
        return (0..<1000).contains(moment.milliseconds - end * 1000)
    }
}
