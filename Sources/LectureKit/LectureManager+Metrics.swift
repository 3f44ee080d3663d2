import LectureFiles
public import LectureModel
import LectureStore

/// Figures for monitoring.
extension LectureManager {
    /// The figures of the store at this moment, for monitoring: lectures by course and state, licences, learning
    /// reports, errors, space, and when each task last succeeded.
    ///
    /// They are read in one transaction, which takes half a second of processor time for 100,000 lectures with licences
    /// and reports; files are not looked at. Other programs may use the store meanwhile. ``StoreMetrics/openMetrics()``
    /// writes them for Prometheus.
    ///
    /// - Parameter courses: how many courses have figures of their own, those with the most lectures; all others have
    ///   theirs together.
    /// - Returns: the figures; without those of licences where the device's key cannot be used.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func metrics(courses: Int = 500) throws(LectureError) -> StoreMetrics {
        try LectureError.only {
            let judged = try? self.licences.assumeIsolated { try $0.time() }
            var metrics = try queries.metrics(now: clock.now(), licencesAt: judged, courses: courses)
            // In a store that is not what this device last wrote every licence needs its server.
            if let licences = metrics.licences, licences.granted > 0, (try? licensing.judge().suspicion) != nil {
                metrics.licences?.checkOverdue = licences.granted - licences.ended
            }
            if let disk = try? files.diskBytes() {
                (metrics.space.free, metrics.space.size) = (Int64(clamping: disk.free), Int64(clamping: disk.size))
            }
            (metrics.space.reserve, metrics.space.quota) = (configuration.reserveBytes, configuration.quotaBytes)
            return metrics
        }
    }
}

/// The file that a monitoring agent reads.
package enum MetricsFile {
    /// Writes a text for other users to read: the file appears whole, readable by all, or the one before stays.
    ///
    /// - Parameters:
    ///   - text: the bytes.
    ///   - path: of the file; its directory must exist. A regular file is replaced.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` or ``LectureError/Code/storageFull``.
    package static func write(_ text: [UInt8], to path: String) throws(LectureError) {
        let file = try OutputFile(path, mayReplace: true, readableByAll: true)
        try file.write(text)
        try file.finish()
    }
}
