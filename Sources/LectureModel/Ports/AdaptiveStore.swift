/// Adaptive lectures: the files that follow from a version's playlists. A part of ``DownloadIndex``.
///
/// The media of such a version is its playlist as it was requested. The other playlists, the keys, the initialisation
/// sections and the segments are files of the same version, added once their playlists were read. Their positions are
/// the order of play, and count on from those of the version's first files.
package protocol AdaptiveStore {
    /// The URL that answered a playlist; nil where none is stored.
    func base(_ resource: ResourceID) throws -> String?
    /// Stores it.
    func setBase(_ lease: ContentLease, _ resource: ResourceID, url: String) throws
    /// Adds files, at the positions from the next free one on. Each counts as one chunk until its length is known.
    func add(_ lease: ContentLease, _ version: VersionID, _ requests: [ResourceRequest], now: Timestamp) throws
    /// Stores the playlists that play the version from the store, the multivariant one first.
    func setPlaylists(_ lease: ContentLease, _ version: VersionID, _ texts: [String]) throws
    /// The playlists; empty until they are stored.
    func playlists(_ version: VersionID) throws -> [String]
    /// Whether the playlists are stored.
    func hasPlaylists(_ version: VersionID) throws -> Bool
    /// Files that have not got their final names, in the order of play.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - position: those after this one; −1 for all.
    ///   - limit: how many at most.
    /// - Returns: their rows.
    /// - Throws: ``LectureError``.
    func unfinished(_ version: VersionID, after position: Int, limit: Int) throws -> [ResourceRecord]
    /// What all files of the streams have, what the finished ones have, and the position of the first.
    func totals(_ version: VersionID) throws -> (all: StreamTotals, finished: StreamTotals, first: Int)
    /// The finished files of the streams: their rows.
    func kept(_ version: VersionID) throws -> [ResourceRecord]
    /// The first of the files that could not be downloaded, in the order of play, and how many there are.
    func missing(_ version: VersionID, limit: Int) throws -> (count: Int, first: [ResourceRecord])
    /// The files of the streams that have one of these names, in the order of play.
    func files(_ version: VersionID, named names: Set<String>) throws -> [ResourceRecord]
    /// The playlists that name keys; fewer or none where little or nothing is encrypted.
    func encryptedPlaylists(_ version: VersionID) throws -> [String]
    /// The file of the streams that has a name; nil when there is none.
    func file(_ version: VersionID, named name: String) throws -> ResourceRecord?
    /// The positions of segments and initialisation sections in a state, in their order.
    func positions(_ version: VersionID, in state: ResourceRecord.State) throws -> [Int]
    /// Has files of the streams downloaded again from their beginning, whatever is there of them.
    func refetch(_ lease: ContentLease, _ version: VersionID, named names: Set<String>) throws
    /// Has files that could not be downloaded tried again.
    func retryMissing(_ lease: ContentLease, _ version: VersionID) throws
    /// Has the source's playlist downloaded again, for new URLs, and forgets the others, whose paths are returned. The
    /// files of the streams stay.
    func reopenPlaylists(_ lease: ContentLease, _ version: VersionID) throws -> [String]
    /// Has one playlist downloaded again from the URL that it has; its file stays until the new one has its name.
    func reload(_ lease: ContentLease, _ playlist: ResourceID) throws
    /// The next free position of a version.
    func nextPosition(_ version: VersionID) throws -> Int
    /// Where the last files of a version's streams came from.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - limit: how many of each role at most.
    /// - Returns: the newest of each role first.
    /// - Throws: ``LectureError``.
    func sources(_ version: VersionID, limit: Int) throws -> [(name: String, role: ResourceRole, url: String)]
    /// Replaces the URLs of the files that are not finished by those of a playlist that was read again.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - version: the version.
    ///   - requests: the files in their order, as they were added.
    ///   - now: the wall clock.
    /// - Returns: whether they are the files that were added, and have other URLs now.
    /// - Throws: ``LectureError``.
    func renew(
        _ lease: ContentLease, _ version: VersionID, _ requests: [ResourceRequest], now: Timestamp
    ) throws -> RenewedURLs
}

/// What a playlist that was read again has brought.
package enum RenewedURLs: Sendable, Hashable {
    /// Other files than those that were added; nothing is changed.
    case others
    /// The same URLs.
    case same
    /// New URLs for the same files.
    case new
}

/// Sums over files of a version.
package struct StreamTotals: Sendable, Hashable {
    /// How many files.
    package var files = 0
    /// How many chunks they have.
    package var chunks = 0
    /// How many bytes they have.
    package var bytes: Int64 = 0

    /// Nothing.
    package init() {}
}

extension ResourceRole {
    /// What a playlist adds to a version, and what is in memory only while it is fetched: there may be thousands.
    package static let ofStreams: [ResourceRole] = [.segment, .initialisation, .key]
    /// All others.
    package static let ofHead: [ResourceRole] = allCases.filter { !$0.isOfStream }

    /// Whether it is one of a stream's files.
    package var isOfStream: Bool {
        switch self {
        case .segment, .initialisation, .key: true
        case .media, .playlist, .subtitle, .snapshot, .thumbnail: false
        }
    }

    /// Whether it may be a playlist, which names other files.
    package var namesFiles: Bool { self == .media || self == .playlist }

    /// Whether a lecture fails at once without it. Without a segment the others are still worth fetching.
    package var failsItem: Bool {
        switch self {
        case .media, .playlist, .key: true
        case .segment, .initialisation, .subtitle, .snapshot, .thumbnail: false
        }
    }
}
