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
