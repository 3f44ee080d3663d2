import LectureLicence
import LectureModel

/// What an application changes while its manager works.
extension LectureManager {
    /// How long and how often servers are waited for, from now on: downloads, licence servers and reports.
    ///
    /// It holds for every request that begins from now on; nothing that is under way is ended. Batches that say how
    /// often they ask (``RenewalOptions/maxAttempts``, ``SendOptions/attempts``) go their own way.
    ///
    /// - Parameters:
    ///   - timeout: how long without a byte is too long; also bounds connecting. At most a day.
    ///   - retries: attempts after the first that may gain nothing; at most 999.
    /// - Throws: ``LectureError`` with `parameter`.
    public func setPatience(timeout: Duration, retries: Int) throws {
        guard timeout >= .milliseconds(1), timeout <= .seconds(86_400) else {
            throw LectureError(.parameter, detail: "timeout", cause: "up to a day")
        }
        guard (0...999).contains(retries) else {
            throw LectureError(.parameter, detail: "retries", cause: "from 0 to 999")
        }
        // Rooms that are made later, and probes, read it from here.
        (configuration.stallTimeout, configuration.maxAttempts) = (timeout, retries + 1)
        attemptsOfBatches = retries + 1
        room?.usePatience(configuration)
        licences?.usePatience(configuration)
        statistics?.usePatience(configuration)
    }

    /// A text of the application's that goes to licence servers with every request from now on, as the form field
    /// `extra_drm_param`. It is kept in memory only, and is in no error, no event and no log.
    ///
    /// - Parameter text: nil sends none.
    public func setLicenceParameter(_ text: String?) {
        licenceParameter = text
        licences?.engine.configure(extra: text)
    }
}
