import LectureEngine
import LectureModel

/// One resource and its part file, from the first block to the final name.
extension ResourceWork {
    /// Asks the part file to open. The chunks and the cipher are known.
    ///
    /// - Returns: a bug when it was asked before.
    mutating func openPart(
        _ settings: DownloadSettings, _ step: inout Step<DownloadMachine>
    ) throws -> ResourceMachine.Ruling {
        let ruling = machine.opens()
        guard ruling != .bug else { return ruling }
        let plan = PartFilePlan(
            resource: record.id, path: record.path, total: record.total, chunkBytes: book.grid.length,
            needsDigest: dueSHA256 != nil, resumes: book.committed.count > 0, reserveBytes: settings.reserveBytes,
            seal: try sealPlan(step))
        command(.open(plan), &step)
        return ruling
    }
}
