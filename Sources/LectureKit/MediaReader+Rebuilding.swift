import LectureDownload
import LectureFiles
import LectureModel
import LectureStore

/// Makes lectures from the media files of a database that was lost.
extension MediaReader {
    /// As ``LectureManager/Contents/rebuild(_:listed:)``.
    func rebuild(
        _ file: KeptFile, listed: (@Sendable ([UInt8]) -> DownloadRequest?)?
    ) async throws -> RebuiltFile {
        if let error = writer.whyReadOnly { throw error }
        guard let row = file.resource, !file.path.hasSuffix(".part"), !file.path.hasSuffix(".new")
        else { return RebuiltFile(file: file, outcome: .partial, sha256: nil) }
        if MediaPath.isOfStream(file.path) { return RebuiltFile(file: file, outcome: .stream, sha256: nil) }
        let survey = try await survey(file, row)
        // A playlist is nothing without its segments, whatever list has its digest.
        if FirstBytes.playlistType(survey.beginning) != nil {
            return RebuiltFile(file: file, outcome: .stream, sha256: survey.sha256)
        }
        guard let mediaType = MediaPath.mediaType(ofMediaAt: file.path) else {
            return RebuiltFile(file: file, outcome: .companion, sha256: survey.sha256)
        }
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
        let outcome = try writer.rebuilt.record(file, mediaType, survey, as: request, source, now: clock.now())
        if case .recorded(let key) = outcome, let content = try index.contents.item(key)?.content {
            hub.send(.completed(content))
        }
        return outcome
    }
}
