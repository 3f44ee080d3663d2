import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// Lists and queries. They read on a connection of their own and never wait for a write.
extension LectureManager {
    /// A page of lectures. A complete one whose file is gone or cut short is shown as failed with `mediaMissing`,
    /// whatever its row says: every file of the page is checked (its directory entry; nothing is read).
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    /// - Returns: the lectures of the page.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func contents(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws -> [Content] {
        try queries.contents(filter, sort: sort, page: page) { content, file in truthful(content, file) }
    }

    /// How many lectures match a filter.
    ///
    /// - Parameter filter: which lectures.
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func count(_ filter: ContentFilter = ContentFilter()) throws -> Int { try queries.count(filter) }

    /// How many lectures are waiting to be removed, including by other processes.
    ///
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func removalsLeft() throws -> Int { try queries.removalsLeft() }

    /// One lecture.
    ///
    /// - Parameter key: its identity.
    /// - Returns: the lecture as it is in the store and on disk, as in ``contents(_:sort:page:)``; nil when nothing has
    ///   this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func content(_ key: ContentKey) throws -> Content? {
        try lecture(key)
    }

    /// A summary of the whole store.
    ///
    /// - Returns: counts by state, and bytes.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func status() throws -> StoreStatus { try queries.status() }

    /// The lectures this manager is working on, in the order they were started.
    public var active: [DownloadProgress] { service?.engine.progressOfActive ?? [] }

    /// The requests of this manager, counted by state and stop reason.
    ///
    /// - Returns: the counts; empty before the first download. After ``close()`` only the bytes are reported: they are
    ///   final then, including everything up to the end of the last transfer.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func summary() throws -> FetchSummary {
        guard let service else { return finalSummary }
        let summary = try index.summary(service.run)
        var result = FetchSummary()
        result.counts = summary.counts
        result.stops = summary.stops
        result.committedBytes = summary.committedBytes
        result.totalBytes = summary.bytesTotal
        result.fetchedBytes = service.engine.statistics.bytesFetched
        result.reusedBytes = service.engine.statistics.bytesReused
        return result
    }

    /// Lectures requested from this manager that are in one state, in the order of the queue.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - limit: how many at the most.
    /// - Returns: the lectures.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func fetched(in state: ItemState, limit: Int = .max) throws -> [Content] {
        guard let service else { return [] }
        return try index.contents(service.run, state: state, limit: limit)
    }

    /// Where the finished media is on disk.
    ///
    /// - Parameter key: a complete lecture.
    /// - Returns: an absolute path; read-only. While a newer version is being downloaded, that of the old one.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `isSealed`, `mediaMissing`, `damaged` when
    ///   ``verify(_:_:)`` has found damage that is not repaired yet.
    public func path(_ key: ContentKey) throws -> String {
        let media = try finalizedMedia(key)
        guard media.seal == .plain else { throw LectureError(.isSealed, detail: key.text) }
        guard try queries.item(key)?.needsRepair != true else { throw LectureError(.damaged, detail: key.text) }
        return "\(try location.make())/\(media.path)"
    }

    /// Why a lecture is in its state, what happens next and when, and what was tried. The answer includes running
    /// processes.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: the diagnosis.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func why(_ key: ContentKey) throws -> Diagnosis {
        guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        let owners = try queries.owners()
        let living = owners.filter { locks.isAlive($0.id) }
        var situation = Situation(
            content: truthful(item.content, try finalizedFile(item)), targetState: item.targetState, workers: [],
            now: clock.now()
        )
        if let owner = try queries.leaseOwner(key) {
            let holder = owners.first { $0.id == owner }
            situation.holder = holder.map { Situation.Holder(process: $0.process, isAlive: living.contains($0)) }
        }
        let wanting = try queries.ownersWanting(key)
        let workers = living.filter { wanting.contains($0.id) }
        situation.workers = workers.map(\.process)
        if let first = workers.first { situation.ahead = try queries.ahead(of: key, in: first.id) }
        situation.resources = try queries.unfinishedResources(key) ?? queries.resources(key)
        situation.isSealed = situation.resources.contains { $0.role == .media && $0.seal != .plain }
        return Diagnosis(situation, attempts: try queries.attempts(key, limit: 100))
    }

    /// The running processes that use the store, the longest-running first, and the one writing to its database.
    ///
    /// - Returns: processes of this machine.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func processes() throws -> [StoreProcess] {
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

extension OwnerRecord {
    fileprivate var process: StoreProcess { process(isWriting: false) }

    fileprivate func process(isWriting: Bool) -> StoreProcess {
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
