import LectureFiles
import LectureModel
import LectureStore

/// Requests as the store knows them.
extension CorePart {
    /// The source that a request's URL identifies.
    ///
    /// - Parameter request: as ``prepared(_:)`` returns it.
    /// - Returns: its derived key, its identity, and whether it is a gateway link.
    /// - Throws: ``LectureError``.
    func source(of request: DownloadRequest) throws -> RequestSource {
        try PreparedRequest.source(of: request, digests)
    }

    /// Refuses an output path that cannot be used, before anything is downloaded for it.
    ///
    /// - Parameters:
    ///   - request: as ``prepared(_:)`` returns it.
    ///   - source: the source of its URL.
    /// - Throws: ``LectureError`` with `outputRefused` or `outputExists`.
    func checkOutput(of request: DownloadRequest, _ source: RequestSource) throws {
        guard let path = request.outputPath, let there = try files.status(output: path), !request.replacesOutput else {
            return
        }
        let known = try writer.requests.find(request, source)
        // The bytes are in the store: nothing is lost when they are compared with the file's first.
        if known?.currentVersion != nil { return }
        let owners = try writer.outputs.owners(there)
        // Only the gateway knows which lecture a new link leads to; the file is looked at again at the end.
        if source.isGateway, known == nil, !owners.isEmpty { return }
        guard owners.contains(known?.content.key ?? request.key ?? source.derivedKey) else {
            throw LectureError(.outputExists, detail: path)
        }
    }

    /// A request as stored.
    ///
    /// - Parameter request: as the caller made it.
    /// - Returns: the same with normalised URLs and an absolute path.
    /// - Throws: ``LectureError`` for an invalid request.
    func prepared(_ request: DownloadRequest) throws -> DownloadRequest { try PreparedRequest.prepared(request) }
}
