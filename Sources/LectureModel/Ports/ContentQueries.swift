/// The path of a complete lecture's media, and the length of its file.
package struct FinalizedFile: Hashable, Sendable {
    /// Relative to the store.
    package var path: String
    /// The length of the file in bytes; nil when no row has it.
    package var fileBytes: UInt64?

    /// Creates a value.
    package init(path: String, fileBytes: UInt64?) { (self.path, self.fileBytes) = (path, fileBytes) }
}

/// A process that uses the store, according to its row.
package struct OwnerRecord: Hashable, Sendable {
    /// Its row.
    package var id: OwnerID
    /// Its process number.
    package var pid: Int
    /// Its name.
    package var command: String
    /// When it started.
    package var started: Timestamp
    /// How many lectures it has leased.
    package var leases: Int

    /// Reads a row.
    package init(id: OwnerID, pid: Int, command: String, started: Timestamp, leases: Int) {
        (self.id, self.pid, self.command) = (id, pid, command)
        (self.started, self.leases) = (started, leases)
    }
}

/// The store for lists and queries: read-only, on its own connection, so that a page never waits for a write.
package protocol ContentQueries: ContentDetailQueries {
    /// Reads a page of lectures, each complete one with the file of its media; what `read` returns is collected.
    func contents<Result>(
        _ filter: ContentFilter, sort: ContentSort, page: ContentPage, read: (Content, FinalizedFile?) throws -> Result
    ) throws -> [Result]
    /// The complete lectures after a row, with the files of their media, in the order of registration.
    func completeMedia(
        after content: ContentID?, limit: Int
    ) throws -> [(id: ContentID, key: ContentKey, media: FinalizedFile)]
    /// The files of complete versions, media and all others, in the order of their rows.
    ///
    /// - Parameters:
    ///   - resource: after this row; nil for the first ones.
    ///   - limit: the maximum number.
    /// - Returns: each row with its file.
    /// - Throws: the error of the store when it cannot be read.
    func finalizedFiles(after resource: ResourceID?, limit: Int) throws -> [(id: ResourceID, file: FinalizedFile)]
    /// How many lectures match the filter.
    func count(_ filter: ContentFilter) throws -> Int
    /// How many lectures are still to be removed, by any process.
    func removalsLeft() throws -> Int
    /// The lecture with this key.
    func item(_ key: ContentKey) throws -> ItemRecord?
    /// The lecture whose source has this identity.
    func key(identity: [UInt8]) throws -> ContentKey?
    /// Counts by state and bytes.
    func status() throws -> StoreStatus
    /// The latest attempts, latest first.
    func attempts(_ key: ContentKey, limit: Int) throws -> [Attempt]
    /// The resources of the current version (or, without one, of the one being built), media first.
    func resources(_ key: ContentKey) throws -> [ResourceRecord]
    /// Committed chunk numbers and proofs, in order.
    func chunks(_ resource: ResourceID) throws -> [WrittenChunk]
    /// The resources of the version that is being downloaded, media first; nil without one.
    func unfinishedResources(_ key: ContentKey) throws -> [ResourceRecord]?
    /// The owner that has leased the lecture.
    func leaseOwner(_ key: ContentKey) throws -> OwnerID?
    /// All processes with a row, in the order they started. Only its lock shows whether one still runs.
    func owners() throws -> [OwnerRecord]
    /// The processes whose runs include a lecture.
    func ownersWanting(_ key: ContentKey) throws -> [OwnerID]
    /// How many lectures come before one in a process's queue, including those it works on.
    func ahead(of key: ContentKey, in owner: OwnerID) throws -> Int
    /// The stored state of a server.
    func origin(_ origin: String) throws -> OriginRecord?
    /// Changes when another connection has committed (`PRAGMA data_version`).
    func dataVersion() throws -> Int64
}

extension ContentQueries {
    /// One page of lectures.
    package func contents(_ filter: ContentFilter, sort: ContentSort, page: ContentPage) throws -> [Content] {
        try contents(filter, sort: sort, page: page) { content, _ in content }
    }
}
