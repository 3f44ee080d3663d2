import LectureDownload
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
extension LectureManager {
    /// The media files that are older than the store's database and belong to no lecture.
    ///
    /// - Returns: the files, in the order in which the lost database created them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func keptFiles() throws -> [KeptFile] { try StoreTools.keptFiles(configuration.storeDirectory) }

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
        if let error = writer.whyReadOnly { throw error }
        guard let row = file.resource, !file.path.hasSuffix(".part"), !file.path.hasSuffix(".new")
        else { return RebuiltFile(file: file, outcome: .partial, sha256: nil) }
        guard let mediaType = MediaPath.mediaType(ofMediaAt: file.path) else {
            return RebuiltFile(file: file, outcome: .companion, sha256: nil)
        }
        let survey = try await survey(file, row)
        let outcome: RebuildOutcome
        if let request = try listed?(survey.sha256).map(prepared), case let source = try source(of: request),
            !source.isGateway
        {
            outcome = try record(file, mediaType, survey, as: request, source)
        } else if !MediaSignature.isKnown(survey.beginning) {
            outcome = .sealed
        } else if listed != nil {
            outcome = .unlisted
        } else {
            let key = try ContentKey("kept-\(row.value)")
            var request = DownloadRequest(url: "")
            (request.key, request.title) = (key, "Kept lecture \(row.value)")
            let unknown = RequestSource(derivedKey: key, identity: [], isGateway: false)
            outcome = try record(file, mediaType, survey, as: request, unknown)
        }
        return RebuiltFile(file: file, outcome: outcome, sha256: survey.sha256)
    }

    /// Deletes kept files.
    ///
    /// - Parameter files: from ``keptFiles()``. Those that a lecture has by now, or that are gone, are left alone.
    /// - Returns: how many were deleted.
    /// - Throws: ``LectureError`` when one cannot be deleted; the following ones are kept then.
    @discardableResult
    public func deleteKept(_ files: [KeptFile]) throws -> Int {
        if let error = writer.whyReadOnly { throw error }
        let kept = Set(try keptFiles().map(\.path))
        let wanted = files.filter { kept.contains($0.path) }
        for file in wanted { try self.files.delete(path: file.path) }
        return wanted.count
    }

    private func survey(_ file: KeptFile, _ row: ResourceID) async throws -> FileSurvey {
        let (files, pace) = (files, Pace(bytesPerSecond: nil))
        let survey = try await withTaskCancellationHandler {
            try await onDiskThread {
                try files.survey(
                    path: file.path, resource: row, beginning: FirstBytes.length,
                    grid: { RangeBook.grid(total: $0, isSealed: false) }, pace: { pace.took($0) })
            }
        } onCancel: {
            pace.stop()
        }
        guard let survey else { throw CancellationError() }
        return survey
    }

    private func record(
        _ file: KeptFile, _ mediaType: String, _ survey: FileSurvey, as request: DownloadRequest,
        _ source: RequestSource
    ) throws -> RebuildOutcome {
        let outcome = try writer.record(file, mediaType, survey, as: request, source, now: clock.now())
        if case .recorded(let key) = outcome, let content = try index.item(key)?.content {
            hub.send(.completed(content))
        }
        return outcome
    }
}
