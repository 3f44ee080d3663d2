import LectureFormats
package import LectureModel

/// What a file of a bundle is.
package enum BundledRole: String, Sendable, CaseIterable {
    /// ``BundledDetails``: addresses and what servers have said. Sealed like all others, since addresses may name the
    /// learner.
    case details
    /// The gateway's answer as received.
    case description
    /// The media.
    case media
    /// A subtitle file.
    case subtitle
    /// A still picture.
    case snapshot
    /// A sheet of small pictures.
    case thumbnail

    /// Whether a lecture has at most one.
    var isSingle: Bool { self != .subtitle }
}

/// A file of a lecture in a bundle.
package struct BundledFile: Sendable, Hashable {
    /// What it is.
    package let role: BundledRole
    /// Its length in bytes, unsealed.
    package let count: UInt64

    /// Describes a file.
    package init(role: BundledRole, count: UInt64) { (self.role, self.count) = (role, count) }

    /// How it is sealed; nil for a length that no sealed file has.
    package var layout: SealedLayout? { Int(exactly: count).flatMap { SealedLayout(plaintextLength: $0) } }
    /// How many chunks it has.
    package var chunkCount: Int { layout?.segmentCount ?? 0 }
    /// Its length in the archive in bytes.
    package var sealedCount: UInt64 { UInt64(layout?.ciphertextLength ?? 0) }
}

/// A lecture of a bundle: a line of the catalogue. Everybody who has the bundle can read it.
package struct BundledLecture: Sendable, Hashable {
    /// The identity.
    package let key: ContentKey
    /// The title; empty when unknown.
    package var title = ""
    /// The course; empty when unknown.
    package var course = ""
    /// The teacher; empty when unknown.
    package var teacher = ""
    /// The virtual folder; empty at top level.
    package var folder = ""
    /// Whether the target has to ask a licence server.
    package var isLicensed = false
    /// The SHA-256 of the media, 32 bytes.
    package var sha256: [UInt8] = []
    /// Its files, the details first.
    package var files: [BundledFile] = []
    /// The SHA-256 of the digests of all its chunks, in the order of the files.
    package var digestOfDigests: [UInt8] = []

    /// Begins a lecture.
    ///
    /// - Parameter key: its identity.
    package init(key: ContentKey) { self.key = key }

    /// How many chunks all files have.
    package var chunkCount: Int { files.reduce(0) { $0 + $1.chunkCount } }
    /// The length of the media in bytes.
    package var mediaBytes: UInt64 { files.first { $0.role == .media }?.count ?? 0 }

    /// The line, with its line end.
    package var line: [UInt8] {
        var members = [
            JSONMember("digests", .string(Hexadecimal.text(digestOfDigests))), JSONMember("key", .string(key.text)),
            JSONMember("sha256", .string(Hexadecimal.text(sha256))),
            JSONMember(
                "files",
                .array(
                    files.map { file in
                        .object([
                            JSONMember("bytes", .integer(Int64(clamping: file.count))),
                            JSONMember("role", .string(file.role.rawValue)),
                        ])
                    })),
        ]
        for (name, text) in [("title", title), ("course", course), ("teacher", teacher), ("folder", folder)]
        where !text.isEmpty {
            members.append(JSONMember(name, .string(text)))
        }
        if isLicensed { members.append(JSONMember("licensed", .bool(true))) }
        return CanonicalJSON.bytes(.object(members)) + [0x0A]
    }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: without its line end.
    ///   - limits: how large a bundle may be.
    /// - Throws: ``LectureError`` with `bundleRefused`.
    package init(line: [UInt8], limits: BundleLimits = BundleLimits()) throws(LectureError) {
        let what = "a line of the catalogue"
        var reader = try MemberReading(try CanonicalJSON.object(line, what), what)
        let name = try reader.require(try reader.text("key", atMost: 512), "key")
        do throws(LectureError) { key = try ContentKey(name) } catch { throw reader.fault("key") }
        title = try reader.text("title", atMost: 4096) ?? ""
        course = try reader.text("course", atMost: 4096) ?? ""
        teacher = try reader.text("teacher", atMost: 4096) ?? ""
        folder = try reader.text("folder", atMost: 4096) ?? ""
        isLicensed = try reader.bool("licensed")
        sha256 = try reader.require(try reader.digest("sha256"), "sha256")
        digestOfDigests = try reader.require(try reader.digest("digests"), "digests")
        for element in try reader.elements("files", atMost: limits.files) {
            var file = try MemberReading(element, "a file of the catalogue")
            let role = try file.text("role", atMost: 16).flatMap { BundledRole(rawValue: $0) }
            let count = UInt64(try file.integer("bytes", in: 0...(1 << 50)))
            files.append(BundledFile(role: try file.require(role, "role"), count: count))
            try file.finish()
        }
        try reader.finish()
        try check(limits, reader)
    }

    private func check(_ limits: BundleLimits, _ reader: MemberReading) throws(LectureError) {
        let roles = files.map(\.role)
        let isOnce = BundledRole.allCases.allSatisfy { role in
            let count = roles.count { $0 == role }
            return role.isSingle ? count <= 1 : true
        }
        guard isOnce, roles.first == .details, roles.contains(.media), files.allSatisfy({ $0.layout != nil }),
            UInt64(chunkCount) <= limits.digestBytes / UInt64(BundleFormat.digestBytes),
            files.allSatisfy({ ![.details, .description].contains($0.role) || $0.count <= limits.documentBytes })
        else { throw reader.fault("files") }
    }
}

/// What of a lecture only the devices may read that the bundle is for.
package struct BundledDetails: Sendable, Hashable {
    /// What a server has said about a file.
    package struct Source: Sendable, Hashable {
        /// Where it came from.
        package let url: String
        /// The media type as answered.
        package let mediaType: String?
        /// The entity tag as answered.
        package let entityTag: String?
        /// The `Last-Modified` text as stored.
        package let lastModified: String?

        /// Describes a source.
        package init(url: String, mediaType: String?, entityTag: String?, lastModified: String?) {
            (self.url, self.mediaType) = (url, mediaType)
            (self.entityTag, self.lastModified) = (entityTag, lastModified)
        }
    }

    /// Where the lecture came from: its media, or its gateway.
    package let url: String
    /// The sources of the media, subtitles and pictures, in the order of the catalogue.
    package let sources: [Source]
    /// The URLs of files that the source names and the bundle does not have.
    package let absentURLs: [String]

    /// Describes a lecture.
    package init(url: String, sources: [Source], absentURLs: [String]) {
        (self.url, self.sources, self.absentURLs) = (url, sources, absentURLs)
    }

    /// The file.
    package var bytes: [UInt8] {
        var members = [JSONMember("url", .string(url))]
        members.append(
            JSONMember(
                "files",
                .array(
                    sources.map { source in
                        var members = [JSONMember("url", .string(source.url))]
                        let texts = [
                            ("media_type", source.mediaType), ("etag", source.entityTag),
                            ("last_modified", source.lastModified),
                        ]
                        for (name, text) in texts {
                            if let text, !text.isEmpty { members.append(JSONMember(name, .string(text))) }
                        }
                        return .object(members)
                    })))
        if !absentURLs.isEmpty { members.append(JSONMember("absent", .array(absentURLs.map { .string($0) }))) }
        return CanonicalJSON.bytes(.object(members))
    }

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - limits: how large a bundle may be.
    /// - Throws: ``LectureError`` with `bundleRefused`.
    package init(_ bytes: [UInt8], limits: BundleLimits = BundleLimits()) throws(LectureError) {
        let what = "the details of a lecture"
        var reader = try MemberReading(try CanonicalJSON.object(bytes, what), what)
        url = try reader.require(try reader.text("url", atMost: 1 << 16), "url")
        var sources: [Source] = []
        for element in try reader.elements("files", atMost: limits.files) {
            var file = try MemberReading(element, what)
            sources.append(
                Source(
                    url: try file.require(try file.text("url", atMost: 1 << 16), "url"),
                    mediaType: try file.text("media_type", atMost: 1024),
                    entityTag: try file.text("etag", atMost: 4096),
                    lastModified: try file.text("last_modified", atMost: 256)))
            try file.finish()
        }
        self.sources = sources
        var absent: [String] = []
        for element in try reader.elements("absent", atMost: limits.files) {
            guard let text = element.string, !text.isEmpty else { throw reader.fault("absent") }
            absent.append(text)
        }
        absentURLs = absent
        try reader.finish()
    }
}
