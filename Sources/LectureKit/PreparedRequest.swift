import Dispatch
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureTransport
import Synchronization

/// A request as stored, with the source that its URL identifies.
struct PreparedRequest: Sendable {
    /// The request with normalised URLs and an absolute path.
    let request: DownloadRequest
    /// Its derived key, its identity, and whether it is a gateway link.
    let source: RequestSource

    /// Prepares a request.
    ///
    /// - Parameters:
    ///   - request: as the caller made it.
    ///   - digests: make the identity.
    /// - Throws: ``LectureError`` for an invalid request.
    init(_ request: DownloadRequest, _ digests: OpenSSLDigests) throws {
        self.request = try Self.prepared(request)
        source = try Self.source(of: self.request, digests)
    }

    /// Prepares many requests, with all processors.
    ///
    /// - Parameters:
    ///   - requests: as the caller made them.
    ///   - digests: make the identities.
    /// - Returns: for each, in order, the prepared request, or why it is invalid.
    static func all(
        _ requests: [DownloadRequest], _ digests: OpenSSLDigests
    ) -> [Result<PreparedRequest, LectureError>] {
        let slice = 128
        guard requests.count > slice else { return requests.map { one($0, digests) } }
        let count = (requests.count - 1) / slice + 1
        let parts = Mutex([[Result<PreparedRequest, LectureError>]](repeating: [], count: count))
        DispatchQueue.concurrentPerform(iterations: count) { number in
            let part = requests[(number * slice)...].prefix(slice).map { one($0, digests) }
            parts.withLock { $0[number] = part }
        }
        return parts.withLock { $0 }.flatMap(\.self)
    }

    private static func one(
        _ request: DownloadRequest, _ digests: OpenSSLDigests
    ) -> Result<PreparedRequest, LectureError> {
        Result { () throws(LectureError) in try LectureError.only { try PreparedRequest(request, digests) } }
    }

    /// A request as stored.
    ///
    /// - Parameter request: as the caller made it.
    /// - Returns: the same with normalised URLs and an absolute path.
    /// - Throws: ``LectureError`` for an invalid request.
    static func prepared(_ request: DownloadRequest) throws -> DownloadRequest {
        var request = request
        request.url = try CurlURL.normalise(request.url)
        request.mirrors = try request.mirrors.map { mirror throws(LectureError) in try CurlURL.normalise(mirror) }
        for (name, value) in request.headers { _ = try HeaderField(outgoing: name, value: value) }
        if let path = request.outputPath { request.outputPath = try AbsolutePath.resolve(path) }
        return request
    }

    /// The source that a request's URL identifies.
    ///
    /// - Parameters:
    ///   - request: as ``prepared(_:)`` returns it.
    ///   - digests: make the identity.
    /// - Returns: its derived key, its identity, and whether it is a gateway link.
    /// - Throws: ``LectureError``.
    static func source(of request: DownloadRequest, _ digests: OpenSSLDigests) throws -> RequestSource {
        let identity = try ContentKeys.identity(ofURL: request.url) { try digests.sha256(of: $0) }
        return RequestSource(derivedKey: identity.key, identity: identity.bytes, isGateway: identity.isGateway)
    }
}
