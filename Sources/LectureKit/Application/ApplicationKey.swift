public import LectureModel

/// The application's key: a licence file that is issued for a bundle with an end (section *Application key* of the
/// command's contract).
public enum ApplicationKey {
    /// Holds an application's three values against what the key says. No network is needed.
    ///
    /// - Parameters:
    ///   - application: the three values.
    ///   - trust: what the key is verified by.
    ///   - now: the time it is judged at.
    /// - Throws: ``LectureError``: `applicationIncomplete` (−2107), `applicationKeyRefused` (−2106),
    ///   `applicationOtherBundle` (−2103), `applicationDateDiffers` (−2105), `applicationExpired` (−2104), in this order.
    public static func check(
        _ application: ApplicationConfiguration, trust: LicenceTrust, now: Timestamp
    ) throws(LectureError) { throw LectureError(.bug) }
}

extension LectureManager {
    /// How long and how often servers are waited for, from now on: downloads, licence servers and reports.
    ///
    /// - Parameters:
    ///   - timeout: how long without a byte is too long; also bounds connecting.
    ///   - retries: attempts after the first that may gain nothing.
    /// - Throws: ``LectureError`` with `parameter`.
    public func setPatience(timeout: Duration, retries: Int) throws { throw LectureError(.bug) }

    /// A text of the application's that goes to licence servers with every question, as the form field
    /// `extra_drm_param`.
    ///
    /// - Parameter text: nil sends none.
    public func setLicenceParameter(_ text: String?) {}
}
