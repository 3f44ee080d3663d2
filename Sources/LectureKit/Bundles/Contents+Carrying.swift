import LectureCrypto
import LectureDownload
package import LectureModel
import LectureStore

/// A complete lecture as it is carried to another store.
package struct CarriedLecture: Sendable {
    /// Its row.
    package let content: Content
    /// Where its complete version came from.
    package let sourceURL: String
    /// The gateway's answer as received; nil for a lecture whose URL is the media itself.
    package let description: String?
    /// Its licence as evaluated now; nil when it needs none.
    package let licence: LicenceStatus?
    /// Its files that are there, the media first.
    package let files: [CarriedFile]
    /// The URLs of files that it has, but that could not be downloaded.
    package let absentURLs: [String]
}

/// A file of a lecture that is carried to another store.
package struct CarriedFile: Sendable {
    /// What it is to the lecture.
    package let role: ResourceRole
    /// Where it came from.
    package let url: String
    /// Its length in bytes, unsealed.
    package let count: UInt64
    /// Its SHA-256, 32 bytes; nil when never computed.
    package let sha256: [UInt8]?
    /// The media type as answered.
    package let mediaType: String?
    /// The entity tag as answered.
    package let entityTag: String?
    /// The `Last-Modified` text as stored.
    package let lastModified: String?
    let resource: ResourceRecord

    /// Names these bytes as long as the program runs: another version is another file.
    package var identity: String { "\(resource.id)" }

    /// Where the chunk ends that has a byte. A chunk is read as a whole, since it is compared with its proof.
    ///
    /// - Parameter offset: of the byte, unsealed.
    /// - Returns: the offset behind the last byte of the chunk, at most ``count``.
    package func chunkEnd(at offset: UInt64) -> UInt64 {
        guard offset < count else { return count }
        return resource.grid.range(of: resource.grid.chunk(at: offset), total: count).upperBound
    }
}

extension LectureManager.Contents {
    /// Describes a complete lecture for a bundle. Nothing of its media is read.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: what is carried.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `mediaMissing`, `bundleUnsuitable` for an adaptive
    ///   lecture and for one of unknown source; for a licensed one that may not be played now the verdict's code.
    package func carried(_ key: ContentKey) async throws -> CarriedLecture {
        let licence = try await licences.status(of: key)
        if let reason = licence?.reasons.first { throw LectureError(reason.code, detail: key.text) }
        return try describe(key, licence)
    }

    private func describe(_ key: ContentKey, _ licence: LicenceStatus?) throws -> CarriedLecture {
        _ = try finalizedMedia(key)
        guard let item = try queries.item(key), let version = try index.versions.completeVersion(item.id) else {
            throw LectureError(.notComplete, detail: key.text)
        }
        if item.content.type == .adaptiveDownload {
            throw LectureError(.bundleUnsuitable, detail: key.text, cause: "it is adaptive")
        }
        if version.sourceURL.isEmpty {
            throw LectureError(.bundleUnsuitable, detail: key.text, cause: "its source is unknown")
        }
        var (files, absent): ([CarriedFile], [String]) = ([], [])
        for resource in try queries.resources(key) where resource.version == version.id {
            let leased = try index.servers.urlLeases(resource.id).first?.url
            let url = resource.role == .media && !item.isGateway ? version.sourceURL : leased
            guard let url else { continue }
            guard resource.state == .finalized, let count = resource.total else {
                absent.append(url)
                continue
            }
            files.append(
                CarriedFile(
                    role: resource.role, url: url, count: count, sha256: resource.sha256,
                    mediaType: resource.mediaType, entityTag: resource.entityTag, lastModified: resource.lastModified,
                    resource: resource))
        }
        guard files.first?.role == .media else {
            throw LectureError(.bundleUnsuitable, detail: key.text, cause: "its media has no address")
        }
        return CarriedLecture(
            content: item.content, sourceURL: version.sourceURL,
            description: item.isGateway ? try queries.descriptor(item.id) : nil, licence: licence, files: files,
            absentURLs: absent)
    }

    /// Reads a file of a lecture; every chunk is compared with its proof before any of its bytes is returned. Nothing
    /// is counted: what reads the bytes seals them again.
    ///
    /// - Parameters:
    ///   - file: from ``carried(_:)``.
    ///   - key: the lecture.
    ///   - range: which of its bytes; nil for all.
    ///   - receive: gets its bytes in order; it may block.
    /// - Throws: ``LectureError``: `damaged`, `sealedElsewhere`, `readFile`; what `receive` throws;
    ///   `CancellationError`.
    package func read(
        _ file: CarriedFile, of key: ContentKey, range: Range<Int64>? = nil,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let media = FinalizedMedia(resource: file.resource, cipher: try cipher(for: file.resource, of: key))
        try await MediaReader(core).read(media, key, range: range, receive)
    }
}
