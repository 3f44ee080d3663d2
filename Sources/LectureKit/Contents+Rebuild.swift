import LectureFiles
public import LectureModel
import LectureStore

/// What a kept file turned out to be.
public struct RebuiltFile: Sendable, Hashable {
    /// The file.
    public let file: KeptFile
    /// What was made from it.
    public let outcome: RebuildOutcome
    /// The SHA-256 of its bytes as they are now, 32 bytes; nil where it was not read.
    public let sha256: [UInt8]?
}

/// Makes lectures from the media files of a database that was lost.
extension LectureManager.Contents {
    /// The media files that are older than the store's database and belong to no lecture.
    ///
    /// - Returns: the files, in the order in which the lost database created them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func keptFiles() throws(LectureError) -> [KeptFile] {
        try LectureError.only { try StoreTools.keptFiles(in: configuration.storeDirectory) }
    }

    /// Reads a kept file once, and makes it a complete lecture if its bytes can be used.
    ///
    /// With `listed`, a file becomes the lecture that has its digest; without, every file that begins like media
    /// becomes a lecture `kept-N`, with the number of the file and an unknown source. Its digest and its chunks' proofs
    /// are those of its bytes as they are now: what was damaged before cannot be found, except by a listed digest.
    /// Licences, play counts and learning reports are not in the files, and stay lost.
    ///
    /// - Parameters:
    ///   - file: from ``keptFiles()``.
    ///   - listed: returns the lecture that has a SHA-256; nil for none. A gateway's link is no such lecture: its
    ///     server decides whether a licence is needed.
    /// - Returns: what it was.
    /// - Throws: ``LectureError``: `readFile`; `storeBusy` while another process works on the lecture; what a store
    ///   throws that cannot be written. `CancellationError` when the task is cancelled.
    public func rebuild(
        _ file: KeptFile, listed: (@Sendable ([UInt8]) -> DownloadRequest?)? = nil
    ) async throws -> RebuiltFile {
        try await MediaReader(core).rebuild(file, listed: listed)
    }

    /// Deletes kept files.
    ///
    /// - Parameter files: from ``keptFiles()``. Those that a lecture has by now, or that are gone, are left alone.
    /// - Returns: how many were deleted.
    /// - Throws: ``LectureError`` when one cannot be deleted; the following ones are kept then.
    @discardableResult
    public func deleteKept(_ files: [KeptFile]) throws(LectureError) -> Int {
        try LectureError.only {
            if let error = writer.whyReadOnly { throw error }
            let kept = Set(try keptFiles().map(\.path))
            let wanted = files.filter { kept.contains($0.path) }
            for file in wanted { try self.files.delete(path: file.path) }
            return wanted.count
        }
    }
}
