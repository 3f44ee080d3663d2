/// How far a complete lecture is compared with a new request.
public enum SourceCheck: String, Sendable, CaseIterable {
    /// With the request's digest, size and URL. The server is asked only where another URL is given under the same key,
    /// and no digest decides.
    case list
    /// As ``list``; where no digest decides, the server is asked as well whether validators or length have changed. At
    /// most once for each lecture in the life of a manager.
    case head
    /// Not at all: a complete lecture stays as it is, whatever the request says.
    case never
}

/// The complete version of a lecture, for comparison with a later request.
package struct CompleteVersion: Sendable {
    /// The row.
    package var id: VersionID
    /// Where its bytes came from.
    package var sourceURL: String
    /// The identity shared by all URLs of that source.
    package var sourceIdentity: [UInt8]
    /// When it became complete; nil for one that an earlier schema completed and that was replaced since.
    package var completed: Timestamp?
    /// Whether another version is wanted by a request, or offered by its source.
    package var isOutdated: Bool
    /// Its media.
    package var media: ResourceRecord

    /// Creates a version.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - media: its media.
    package init(id: VersionID, media: ResourceRecord) {
        (self.id, self.media) = (id, media)
        (sourceURL, sourceIdentity, isOutdated) = ("", [], false)
    }

    /// The result of a comparison.
    package enum Match: Hashable, Sendable {
        /// It is what is requested.
        case same
        /// It is not.
        case other
        /// A digest is requested, but that of the file was never computed.
        case digestUnknown
        /// Only the source can decide.
        case sourceUnknown
    }

    /// Compares with a request.
    ///
    /// A digest decides before everything else: the same bytes are the same lecture, wherever they are. An outdated
    /// version stays so until a digest shows otherwise, or its own source is requested again.
    ///
    /// - Parameters:
    ///   - request: what is requested now.
    ///   - source: the identities of the requested source, and of the source being downloaded or downloaded last.
    ///   - isGateway: whether the request names a gateway link, which differs with each token.
    ///   - check: how far to compare.
    /// - Returns: the result.
    package func match(
        _ request: DownloadRequest, source: (requested: [UInt8], pending: [UInt8]), isGateway: Bool, check: SourceCheck
    ) -> Match {
        if check == .never { return isOutdated ? .other : .same }
        if let digest = request.sha256 {
            guard let known = media.sha256 else { return .digestUnknown }
            return known == digest ? .same : .other
        }
        if let size = request.size, let total = media.total, UInt64(exactly: size) != total { return .other }
        let isOwnSource = isGateway || source.requested == sourceIdentity
        // The identity of a gateway link differs with each token: it does not show that another source was requested.
        if isOutdated {
            return !isGateway && isOwnSource && source.pending != sourceIdentity ? .same : .other
        }
        return isOwnSource && check != .head ? .same : .sourceUnknown
    }
}

/// The source that a request's URL identifies.
package struct RequestSource: Sendable, Hashable {
    /// The key of a lecture that has none of its own.
    package var derivedKey: ContentKey
    /// The identity shared by repeated requests for the same source.
    package var identity: [UInt8]
    /// Whether the URL is a gateway link.
    package var isGateway: Bool

    /// Creates a source.
    package init(derivedKey: ContentKey, identity: [UInt8], isGateway: Bool) {
        (self.derivedKey, self.identity, self.isGateway) = (derivedKey, identity, isGateway)
    }
}

/// What replaces a complete version.
package enum Successor: Sendable {
    /// The lecture named by a request.
    case request(DownloadRequest, RequestSource)
    /// A newer version at the same source; expectations of the old one are dropped.
    case newerAtSource
    /// The bytes that the lecture's row expects.
    case expected
}
