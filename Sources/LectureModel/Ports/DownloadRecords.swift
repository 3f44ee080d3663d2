package import LectureFormats

/// A lecture as the engine works on it.
package struct ItemRecord: Sendable, Hashable {
    /// The row.
    package var id: ContentID
    /// Its public part.
    package var content: Content
    /// The target state last requested for it.
    package var targetState: TargetState
    /// Whether the source is a gateway link that returns a descriptor, or has returned one.
    package var isGateway: Bool
    /// Whether the source has described it.
    package var isLoaded: Bool
    /// Request headers for the source's own origin.
    package var headers: [String: String]
    /// Other URLs of the same bytes, as requested.
    package var mirrors: [String]
    /// What is kept of its streams, if it is adaptive.
    package var selection = StreamSelection()
    /// The SHA-256 the media must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size the media must have; nil when unknown.
    package var expectedBytes: Int64?
    /// When the waiting time was set; with `content.nextAttempt` it survives a clock that is set back.
    package var waitSet: Timestamp?
    /// The fencing number it was leased under, or the last one.
    package var fence: Int64
    /// The playable version, when there is one.
    package var currentVersion: VersionID?
    /// Whether chunks of that version are damaged and it is still the requested one, so that only those are to be
    /// downloaded again.
    package var needsRepair: Bool

    /// Creates a record.
    package init(id: ContentID, content: Content, targetState: TargetState, fence: Int64) {
        self.id = id
        self.content = content
        self.targetState = targetState
        self.fence = fence
        isGateway = false
        isLoaded = false
        needsRepair = false
        headers = [:]
        mirrors = []
    }

    /// The right to change this lecture.
    package var lease: ContentLease { ContentLease(content: id, fence: fence) }

    /// The only resource of a lecture whose URL is the media itself.
    package var directResource: ResourceRequest {
        var request = ResourceRequest(role: .media, name: "", urls: [content.sourceURL] + mirrors)
        request.expectedSHA256 = expectedSHA256
        request.expectedBytes = expectedBytes.flatMap { UInt64(exactly: $0) }
        return request
    }
}

/// The state of an item to be stored. Cross-field rules: a stop reason exactly with `stopped`; an error with `failed`.
package struct ItemStatus: Sendable, Hashable {
    /// The item's state.
    package var state: ItemState
    /// Why it is stopped.
    package var stopReason: StopReason?
    /// The last failure; nil without one.
    package var error: LectureError?
    /// Attempts since the last progress.
    package var attempts: Int
    /// When it is tried again; nil when no attempt is planned.
    package var nextAttempt: Timestamp?
    /// When the waiting time was set.
    package var waitSet: Timestamp?

    /// Creates a status.
    package init(
        _ state: ItemState, stopReason: StopReason? = nil, error: LectureError? = nil, attempts: Int = 0,
        nextAttempt: Timestamp? = nil, waitSet: Timestamp? = nil
    ) {
        self.state = state
        self.stopReason = stopReason
        self.error = error
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.waitSet = waitSet
    }
}

/// A resource of a version.
package struct ResourceRecord: Sendable {
    /// The state of a resource. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// Known, nothing planned.
        case absent = 0
        /// Its length and its path are fixed.
        case planned = 1
        /// All chunks are committed.
        case committed = 2
        /// It has its final name.
        case finalized = 3
        /// It cannot be downloaded; only for resources that are not required.
        case failed = 4
    }

    /// The row.
    package var id: ResourceID
    /// The version it belongs to.
    package var version: VersionID
    /// The lecture it belongs to.
    package var content: ContentID
    /// Its role.
    package var role: ResourceRole
    /// Its place among the files of the version: for those of a stream the order of play.
    package var position: Int
    /// A name for people, for example a subtitle's; for a file of a stream its name in the local playlist.
    package var name: String
    /// Its state.
    package var state: State
    /// Relative to the store; empty until planned.
    package var path: String
    /// The length in bytes; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk in bytes; never changes under committed chunks. With ``seal`` the first one is shorter.
    package var chunkBytes: UInt64
    /// Whether its files are sealed, and whether they were closed cleanly.
    package var seal: SealState
    /// Committed chunks.
    package var committedChunks: Int
    /// The bytes of these chunks.
    package var committedBytes: UInt64
    /// The stored validator: the strong entity tag, the `Last-Modified` text.
    package var entityTag: String?
    /// The `Last-Modified` text, exactly as received.
    package var lastModified: String?
    /// The SHA-256 it must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size it must have; nil when unknown.
    package var expectedBytes: UInt64?
    /// The SHA-256 of the whole, 32 bytes; nil when never computed.
    package var sha256: [UInt8]?
    /// The media type as answered.
    package var mediaType: String?
    /// Whether the server has answered a range with one.
    package var acceptsRanges: Bool

    /// Creates a record of an unknown resource.
    package init(id: ResourceID, version: VersionID, content: ContentID, role: ResourceRole) {
        self.id = id
        self.version = version
        self.content = content
        self.role = role
        position = 0
        name = ""
        state = .absent
        path = ""
        chunkBytes = 1 << 20
        seal = .plain
        committedChunks = 0
        committedBytes = 0
        acceptsRanges = false
    }

    /// How it is cut into chunks.
    package var grid: ChunkGrid {
        ChunkGrid(length: chunkBytes, lead: seal == .plain ? 0 : UInt64(SealedFormat.headerBytes))
    }

    /// The length of its finished file in bytes: that of the ciphertext for a sealed one. Nil while unknown.
    package var fileBytes: UInt64? {
        guard let total, seal != .plain else { return total }
        return SealedLayout(plaintextLength: Int(clamping: total)).map { UInt64($0.ciphertextLength) }
    }
}

extension ResourceRecord {
    /// What identifies the stored version of the file.
    package var validator: Validator { Validator(etag: entityTag, lastModified: lastModified, total: total) }
}

extension ResourceRequest {
    /// Compares a description with a stored file.
    ///
    /// - Parameter media: the file's row.
    /// - Returns: whether it has the described bytes; nil where length and digests do not show it.
    package func describes(_ media: ResourceRecord) -> Bool? {
        if let size = expectedBytes, size != media.total { return false }
        guard let digest = expectedSHA256, let known = media.sha256 else { return nil }
        return digest == known
    }
}

/// A resource that a version needs, before it has a row.
package struct ResourceRequest: Sendable, Hashable {
    /// Its role.
    package var role: ResourceRole
    /// A name for people, for example a subtitle's.
    package var name: String
    /// URLs of the bytes, the best one first.
    package var urls: [String]
    /// The SHA-256 it must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size it must have; nil when unknown.
    package var expectedBytes: UInt64?
    /// Creates a request for unknown bytes.
    package init(role: ResourceRole, name: String, urls: [String]) {
        self.role = role
        self.name = name
        self.urls = urls
    }
}

/// A URL of a resource, with its lifetime. Rank 0 is tried first.
package struct URLLeaseRecord: Sendable, Hashable {
    /// Its state. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// May be used.
        case usable = 0
        /// Was refused (401, 403, 404, 410); needs the resolver.
        case refused = 1
        /// Served other bytes than the rest; never used again.
        case disagrees = 2
    }

    /// The row.
    package var id: URLLeaseID
    /// The resource it leads to.
    package var resource: ResourceID
    /// The URL, with its signature if it has one.
    package var url: String
    /// The order in which URLs are tried, 0 first.
    package var rank: Int
    /// Its state.
    package var state: State
    /// When it expires; nil when unknown.
    package var expires: Timestamp?

    /// Creates a record.
    package init(id: URLLeaseID, resource: ResourceID, url: String, rank: Int, state: State, expires: Timestamp?) {
        self.id = id
        self.resource = resource
        self.url = url
        self.rank = rank
        self.state = state
        self.expires = expires
    }
}

/// A version that has just begun, with its rows as they were inserted, so that they need not be read again.
package struct NewVersion: Sendable {
    /// A file, and the URLs that lead to it.
    package struct File: Sendable {
        /// Its row.
        package let record: ResourceRecord
        /// Its URLs, by rank.
        package let urls: [URLLeaseRecord]

        /// Creates a file.
        ///
        /// - Parameters:
        ///   - record: its row.
        ///   - urls: by rank.
        package init(record: ResourceRecord, urls: [URLLeaseRecord]) { (self.record, self.urls) = (record, urls) }
    }

    /// The row.
    package let id: VersionID
    /// Its files, media first.
    package let files: [File]

    /// Creates a version.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - files: in any order; those of a role in their order.
    package init(id: VersionID, files: [File]) {
        self.id = id
        self.files = files.sorted {
            ($0.record.role.rawValue, $0.record.position) < ($1.record.role.rawValue, $1.record.position)
        }
    }
}

/// The state of a server kept across runs.
package struct OriginRecord: Sendable, Hashable {
    /// Scheme, host and port.
    package var origin: String
    /// How many concurrent requests it accepts.
    package var limit: Int
    /// Until when it asked not to be contacted.
    package var waitUntil: Timestamp?
    /// When it asked; a clock that is set back does not lengthen the wait.
    package var waitSet: Timestamp?

    /// Creates a record.
    package init(origin: String, limit: Int, waitUntil: Timestamp? = nil, waitSet: Timestamp? = nil) {
        self.origin = origin
        self.limit = limit
        self.waitUntil = waitUntil
        self.waitSet = waitSet
    }
}

/// Facts about a lecture from a gateway's descriptor or a first answer, to be stored. Nil keeps the stored value.
package struct ContentFacts: Sendable, Hashable {
    /// The identity the gateway names.
    package var key: ContentKey?
    /// The title.
    package var title: String?
    /// The course it belongs to.
    package var course: String?
    /// The teacher.
    package var teacher: String?
    /// Who provides it.
    package var company: String?
    /// What it is about.
    package var synopsis: String?
    /// A page about it.
    package var descriptionURL: String?
    /// Playing time.
    package var duration: Duration?
    /// The width of the picture in pixels.
    package var width: Int?
    /// The height of the picture in pixels.
    package var height: Int?
    /// What a learner sees it as.
    package var type: ContentType?
    /// The descriptor as received, so that members unknown to this version are kept.
    package var descriptor: String?
    /// No facts.
    package init() {}
}

/// The counts of one command's run.
package struct RunSummary: Sendable, Hashable {
    /// Items by state.
    package var counts: [ItemState: Int] = [:]
    /// Stopped items by reason.
    package var stops: [StopReason: Int] = [:]
    /// Committed bytes.
    package var committedBytes: Int64 = 0
    /// Bytes of the items whose size is known.
    package var bytesTotal: Int64 = 0
    /// Creates an empty summary.
    package init() {}
}
