import LectureLicence
import LectureModel

/// Settings that an application may change while its manager runs.
extension LectureManager {
    /// Sets the timeout and retries for downloads, licence servers and reports from now on.
    ///
    /// It applies to every request that starts from now on; running requests are not ended. Batches with attempts of
    /// their own (``RenewalOptions/maxAttempts``, ``SendOptions/attempts``) keep them.
    ///
    /// - Parameters:
    ///   - timeout: how long without a byte is too long; also bounds connecting. At most a day.
    ///   - retries: attempts after the first that may make no progress; at most 999.
    /// - Throws: ``LectureError`` with `parameter`.
    public func setPatience(timeout: Duration, retries: Int) throws(LectureError) {
        guard timeout >= .milliseconds(1), timeout <= .seconds(86_400) else {
            throw LectureError(.parameter, detail: "timeout", cause: "up to a day")
        }
        guard (0...999).contains(retries) else {
            throw LectureError(.parameter, detail: "retries", cause: "from 0 to 999")
        }
        // Services created later, and probes, read it from here.
        (core.state.configuration.stallTimeout, core.state.configuration.maxAttempts) = (timeout, retries + 1)
        core.state.attemptsOfBatches = retries + 1
        core.state.service?.usePatience(configuration)
        core.licensing.service?.usePatience(configuration)
        reports.assumeIsolated { $0.usePatience() }
    }
}
