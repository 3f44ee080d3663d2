import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureStore
import LectureTransport

/// Requests as the store knows them.
extension CorePart {
    /// The source that a request's URL identifies.
    ///
    /// - Parameter request: as ``prepared(_:)`` returns it.
    /// - Returns: its derived key, its identity, and whether it is a gateway link.
    /// - Throws: ``LectureError``.
    func source(of request: DownloadRequest) throws -> RequestSource {
        let identity = try ContentKeys.identity(ofURL: request.url) { try digests.sha256(of: $0) }
        return RequestSource(derivedKey: identity.key, identity: identity.bytes, isGateway: identity.isGateway)
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
    func prepared(_ request: DownloadRequest) throws -> DownloadRequest {
        var request = request
        request.url = try CurlURL.normalise(request.url)
        request.mirrors = try request.mirrors.map { mirror throws(LectureError) in try CurlURL.normalise(mirror) }
        for (name, value) in request.headers { _ = try HeaderField(outgoing: name, value: value) }
        if let path = request.outputPath { request.outputPath = try AbsolutePath.resolve(path) }
        return request
    }
}
