/// How far a lecture that is complete is compared with what is requested now.
public enum SourceCheck: String, Sendable, CaseIterable {
    /// With what the request says: digest, size and URL. The server is asked only where another URL is given under the
    /// same key, and no digest decides.
    case list
    /// As ``list``; where no digest decides, the server is asked as well whether validators or length have changed. At
    /// most once for each lecture in the life of a manager.
    case head
    /// Not at all: a lecture that is complete stays as it is, whatever the request says.
    case never
}

/// The complete version of a lecture, as a later request is compared with it.
package struct CompleteVersion: Sendable {
    /// The row.
    package var id: VersionID
    /// Where its bytes came from.
    package var sourceURL: String
    /// What all URLs of that source have in common.
    package var sourceIdentity: [UInt8]
    /// When it became complete; nil for one that an earlier schema completed and that was replaced since.
    package var completed: Timestamp?
    /// Whether another version is wanted: the request, or its source, said so.
    package var isOutdated: Bool
    /// Its media.
    package var media: ResourceRecord

    /// Puts a version together.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - media: its media.
    package init(id: VersionID, media: ResourceRecord) {
        (self.id, self.media) = (id, media)
        (sourceURL, sourceIdentity, isOutdated) = ("", [], false)
    }

    /// What a comparison says.
    package enum Match: Hashable, Sendable {
        /// It is what is requested.
        case same
        /// It is not.
        case other
        /// A digest is requested, and that of the file was never computed.
        case digestUnknown
        /// Only the source can tell.
        case sourceUnknown
    }

    /// Compares with a request.
    ///
    /// A digest decides before everything else: the same bytes are the same lecture, wherever they lie. A version that
    /// is outdated stays so until a digest says otherwise, or the source that it came from is requested again.
    ///
    /// - Parameters:
    ///   - request: what is requested now.
    ///   - source: what the URLs of the requested source have in common, and those of the source that is being fetched
    ///     or was fetched last.
    ///   - isGateway: whether the request names a gateway link, which differs with each token.
    ///   - check: how far to compare.
    /// - Returns: what the two say together.
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
        if isOutdated { return isOwnSource && source.pending != sourceIdentity ? .same : .other }
        return isOwnSource && check != .head ? .same : .sourceUnknown
    }
}

/// What a request's URL says about its content.
package struct RequestSource: Sendable, Hashable {
    /// The key of a content that has none of its own.
    package var derivedKey: ContentKey
    /// What repeated requests for the same source have in common.
    package var identity: [UInt8]
    /// Whether the URL is a gateway link.
    package var isGateway: Bool

    /// Puts a source together.
    package init(derivedKey: ContentKey, identity: [UInt8], isGateway: Bool) {
        (self.derivedKey, self.identity, self.isGateway) = (derivedKey, identity, isGateway)
    }
}

/// What takes the place of a complete version.
package enum Successor: Sendable {
    /// What a request names.
    case request(DownloadRequest, RequestSource)
    /// A newer version at the same source; what was expected of the old one is forgotten.
    case newerAtSource
    /// The bytes that the content's row expects.
    case expected
}
