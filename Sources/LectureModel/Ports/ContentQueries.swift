/// Where the media of a complete content lies, and how long its file is.
package struct PlacedFile: Hashable, Sendable {
    /// Relative to the store.
    package var path: String
    /// The length of the file in bytes; nil when no row says it.
    package var fileBytes: UInt64?

    /// Names a file.
    package init(path: String, fileBytes: UInt64?) { (self.path, self.fileBytes) = (path, fileBytes) }
}

/// A process that uses the store, as its row says.
package struct OwnerRecord: Hashable, Sendable {
    /// Its row.
    package var id: OwnerID
    /// Its process number.
    package var pid: Int
    /// What it calls itself.
    package var command: String
    /// When it began.
    package var started: Timestamp
    /// How many contents it has leased.
    package var leases: Int

    /// Reads a row.
    package init(id: OwnerID, pid: Int, command: String, started: Timestamp, leases: Int) {
        (self.id, self.pid, self.command) = (id, pid, command)
        (self.started, self.leases) = (started, leases)
    }
}

/// The store as lists and questions need it: read-only, on its own connection, so that a page never waits for a write.
package protocol ContentQueries: ContentDetailQueries {
    /// Reads a page of contents, each complete one with the file of its media; what `read` returns is collected.
    func contents<Result>(
        _ filter: ContentFilter, sort: ContentSort, page: ContentPage, read: (Content, PlacedFile?) throws -> Result
    ) throws -> [Result]
    /// The contents behind a row that are complete, with the files of their media, in the order of registration.
    func completeMedia(
        after content: ContentID?, limit: Int
    ) throws -> [(id: ContentID, key: ContentKey, media: PlacedFile)]
    /// The files of complete versions, media and all others, in the order of their rows.
    ///
    /// - Parameters:
    ///   - resource: behind this row; nil for the first ones.
    ///   - limit: how many at the most.
    /// - Returns: each row with its file.
    /// - Throws: the error of the store when it cannot be read.
    func placedFiles(after resource: ResourceID?, limit: Int) throws -> [(id: ResourceID, file: PlacedFile)]
    /// How many contents pass the filter.
    func count(_ filter: ContentFilter) throws -> Int
    /// How many contents are to be removed and are not gone yet, whoever removes them.
    func removalsLeft() throws -> Int
    /// The content with this key.
    func item(_ key: ContentKey) throws -> ItemRecord?
    /// The content whose source has this identity.
    func key(identity: [UInt8]) throws -> ContentKey?
    /// Counts by state and bytes.
    func status() throws -> StoreStatus
    /// The latest attempts, latest first.
    func attempts(_ key: ContentKey, limit: Int) throws -> [Attempt]
    /// The resources of the current version (or, without one, of the one being built), media first.
    func resources(_ key: ContentKey) throws -> [ResourceRecord]
    /// Proven chunk numbers and proofs, in order.
    func chunks(_ resource: ResourceID) throws -> [WrittenChunk]
    /// The resources of the version that is being downloaded, media first; nil without one.
    func unfinishedResources(_ key: ContentKey) throws -> [ResourceRecord]?
    /// The owner that has leased the content.
    func leaseOwner(_ key: ContentKey) throws -> OwnerID?
    /// All processes with a row, in the order they began. Whether one still runs only its lock says.
    func owners() throws -> [OwnerRecord]
    /// The processes whose runs want a content.
    func ownersWanting(_ key: ContentKey) throws -> [OwnerID]
    /// How many contents come before one in a process's queue, those it works on included.
    func ahead(of key: ContentKey, in owner: OwnerID) throws -> Int
    /// What is remembered of a server.
    func origin(_ origin: String) throws -> OriginRecord?
    /// Changes when another connection has committed (`PRAGMA data_version`).
    func dataVersion() throws -> Int64
}

extension ContentQueries {
    /// One page of contents.
    package func contents(_ filter: ContentFilter, sort: ContentSort, page: ContentPage) throws -> [Content] {
        try contents(filter, sort: sort, page: page) { content, _ in content }
    }
}
