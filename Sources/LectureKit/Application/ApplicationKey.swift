import LectureLicence
public import LectureModel

/// The application's key: a licence file that is issued for a bundle with an end (section *Application key* of the
/// command's contract).
public enum ApplicationKey {
    /// Whom a key is for (`aud`); a lecture's licence is for somebody else.
    static let audience = "lecturekit-app"

    /// Holds an application's three values against what the key says. No network is needed.
    ///
    /// `expires` is written as a date and time of RFC 3339 (`2026-12-31T15:00:00Z`), as Unix seconds, or as a date
    /// alone (`2026-12-31`, `2026/12/31`). A moment agrees with the key when it names the second in which the key ends.
    /// A date alone agrees when the key ends on that day, or with the midnight that ends it, in some time zone from
    /// UTC−12 to UTC+14: from 14 hours before the day's midnight in UTC to 36 hours behind it, both included.
    ///
    /// Where the time comes from is the caller's: a clock that was turned back must not revive a key
    /// (``LectureManager/trustedNow()``). A key that its issuer dates later than `now` is refused.
    ///
    /// - Parameters:
    ///   - application: the three values.
    ///   - trust: what the key is verified by: its header says whether by a secret, a public key or certificates.
    ///   - now: the time it is judged at.
    /// - Throws: ``LectureError``: `applicationIncomplete` (−2107), `applicationKeyRefused` (−2106),
    ///   `applicationOtherBundle` (−2103), `applicationDateDiffers` (−2105), `applicationExpired` (−2104), in this
    ///   order; `cryptography`. Nothing of the key is in an error.
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
        // Byte by byte: `String` would hold two normalisations for equal.
        guard let bundle = file.bundleID, bundle.utf8.elementsEqual(application.bundleID.utf8) else {
            throw LectureError(.applicationOtherBundle, detail: application.bundleID)
        }
        guard let isSame = agrees(application.expires, with: end) else {
            throw LectureError(.applicationDateDiffers, detail: application.expires, cause: "it is no date")
        }
        if !isSame { throw LectureError(.applicationDateDiffers, detail: application.expires) }
        if now >= Timestamp(milliseconds: end * 1000) { throw LectureError(.applicationExpired) }
    }

    /// What an application's key is verified by: the directory that `LECTURE_TRUST` names, else the configured one,
    /// else the public keys and roots of `drm.keys`. Their secrets are shared with callbacks, and do not count.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - environment: the variables.
    /// - Returns: the trust; one with nothing in it refuses every key.
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

    /// The claims of a key whose signature is right and that is an application's; it may have ended.
    private static func verified(
        _ key: String, _ trust: LicenceTrust, _ now: Timestamp
    ) throws(LectureError) -> LicenceFile {
        var context = LicenceFileContext(now: now)
        context.audience = audience
        let verdict = try LicenceVerifier(trust: trust).verify(token: key, context: context)
        // The end is judged last, so that who gave another bundle is not told to ask for a new key.
        let reasons = verdict.reasons.filter { $0.name != LicenceFileReason.expired.name }
        guard reasons.isEmpty, let file = verdict.file else {
            throw refused(reasons.map(\.sentence).joined(separator: "; "))
        }
        if file.content != nil || file.bundleID == nil { throw refused("it names no bundle") }
        return file
    }

    private static func refused(_ cause: String) -> LectureError { LectureError(.applicationKeyRefused, cause: cause) }

    /// Whether a text names the second in which a key ends; nil for a text that is neither a moment nor a date.
    static func agrees(_ text: String, with end: Int64) -> Bool? {
        if let day = MomentText.day(text) {
            let distance = end - day.milliseconds / 1000
            return (-14 * 3600...36 * 3600).contains(distance)
        }
        guard let moment = MomentText.moment(text) else { return nil }
        return (0..<1000).contains(moment.milliseconds - end * 1000)
    }
}

extension LectureManager {
    /// The time by which an application's key is judged: the wall clock's, or a later one that licences have proven.
    ///
    /// - Returns: a clock that was turned back does not change it in a store with licences.
    /// - Throws: ``LectureError``: `deviceKeyRefused`, or a store's code.
    public func trustedNow() throws -> Timestamp { max(clock.now(), try licenceTime()) }
}
