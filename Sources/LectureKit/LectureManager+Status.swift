import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// The whole store, and what works on it.
extension LectureManager {
    /// A summary of the whole store.
    ///
    /// - Returns: counts by state, and bytes.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func status() throws(LectureError) -> StoreStatus {
        try LectureError.only { try queries.status() }
    }

    /// Why the store can only be read: `storeReadOnly`, or `storageFull` on a full disk where even its reserve is used
    /// up. Nil where it can be written.
    public var whyReadOnly: LectureError? { writer.whyReadOnly }

    /// The running processes that use the store, the longest-running first, and the one writing to its database.
    ///
    /// - Returns: processes of this machine.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func processes() throws(LectureError) -> [StoreProcess] {
        try LectureError.only {
            let writer = DatabaseLock.writer(of: try location.make())
            var known = try queries.owners().filter { locks.isAlive($0.id) }.map {
                $0.process(isWriting: $0.pid == writer?.pid)
            }
            if let writer, !known.contains(where: { $0.pid == writer.pid }), writer.pid != Int(ProcessIdentity.pid) {
                known.append(
                    StoreProcess(pid: writer.pid, command: writer.name, started: nil, lectures: 0, isWriting: true))
            }
            return known
        }
    }

    /// The requests of this manager, counted by state and stop reason.
    ///
    /// - Returns: the counts; empty before the first download. After ``close()`` only the bytes are reported: they are
    ///   final then, including everything up to the end of the last transfer.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func summary() throws(LectureError) -> FetchSummary {
        try LectureError.only {
            guard let service else { return finalSummary }
            let summary = try index.owners.summary(service.run)
            var result = FetchSummary()
            (result.counts, result.stops) = (summary.counts, summary.stops)
            result.committedBytes = summary.committedBytes
            result.totalBytes = summary.bytesTotal
            result.fetchedBytes = service.engine.statistics.bytesFetched
            result.reusedBytes = service.engine.statistics.bytesReused
            return result
        }
    }
}

extension OwnerRecord {
    var process: StoreProcess { process(isWriting: false) }

    func process(isWriting: Bool) -> StoreProcess {
        StoreProcess(pid: pid, command: command, started: started, lectures: leases, isWriting: isWriting)
    }
}

/// The requests of a manager and their results.
public struct FetchSummary: Sendable, Hashable {
    /// Lectures by state.
    public var counts: [ItemState: Int] = [:]
    /// Stopped lectures by reason.
    public var stops: [StopReason: Int] = [:]
    /// Bytes that are durable and verified.
    public var committedBytes: Int64 = 0
    /// Bytes of all lectures whose size is known.
    public var totalBytes: Int64 = 0
    /// Bytes received over the network since the manager was created.
    public var fetchedBytes: Int64 = 0
    /// Bytes of unfinished lectures that were verified before and not downloaded again.
    public var reusedBytes: Int64 = 0

    /// An empty summary.
    public init() {}
}
