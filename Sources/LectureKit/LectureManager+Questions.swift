import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

/// Lists and questions. They read on a connection of their own and never wait for a write.
extension LectureManager {
    /// A page of contents.
    ///
    /// - Parameters:
    ///   - filter: which contents.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    /// - Returns: the contents of the page.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func contents(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws -> [Content] {
        try queries.contents(filter, sort: sort, page: page)
    }

    /// How many contents pass a filter.
    ///
    /// - Parameter filter: which contents.
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func count(_ filter: ContentFilter = ContentFilter()) throws -> Int { try queries.count(filter) }

    /// How many contents were asked to be removed and are not gone yet, also by other processes.
    ///
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func removalsLeft() throws -> Int { try queries.removalsLeft() }

    /// One content.
    ///
    /// - Parameter key: its identity.
    /// - Returns: the content as it stands in the store; nil when nothing has this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func content(_ key: ContentKey) throws -> Content? { try queries.item(key)?.content }

    /// The whole store at a glance.
    ///
    /// - Returns: counts by state, and bytes.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func status() throws -> StoreStatus { try queries.status() }

    /// The contents this manager works on at the moment, in the order they were taken up.
    public var active: [DownloadProgress] { room?.engine.progressOfActive ?? [] }

    /// What this manager was asked for, counted by state and stop reason.
    ///
    /// - Returns: the counts; empty before the first download. After ``close()`` only the bytes are told: they are
    ///   final then, with what came until the last transfer had ended.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func summary() throws -> FetchSummary {
        guard let room else { return finalSummary }
        let summary = try index.summary(room.run)
        var result = FetchSummary()
        result.counts = summary.counts
        result.stops = summary.stops
        result.provenBytes = summary.bytesProven
        result.totalBytes = summary.bytesTotal
        result.fetchedBytes = room.engine.statistics.bytesFetched
        result.reusedBytes = room.engine.statistics.bytesReused
        return result
    }

    /// Contents this manager was asked for that are in one state, in the order of the queue.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - limit: how many at the most.
    /// - Returns: the contents.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func fetched(in state: ItemState, limit: Int = .max) throws -> [Content] {
        guard let room else { return [] }
        return try index.contents(room.run, state: state, limit: limit)
    }

    /// Where the finished media lies on the disk.
    ///
    /// - Parameter key: a complete content.
    /// - Returns: an absolute path; only to be read.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `isSealed`.
    public func path(_ key: ContentKey) throws -> String {
        let media = try placedMedia(key)
        guard media.seal == .plain else { throw LectureError(.isSealed, detail: key.text) }
        return "\(try location.make())/\(media.path)"
    }

    /// Why a content is as it is, what happens next and when, and what was tried.
    ///
    /// - Parameter key: the content.
    /// - Returns: the diagnosis.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func why(_ key: ContentKey) throws -> Diagnosis {
        guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        let holder = try queries.leaseOwner(key).map {
            Holder(pid: $0.pid, command: $0.command, isAlive: locks.isAlive($0.owner))
        }
        return Diagnosis(
            item, attempts: try queries.attempts(key, limit: 100), holder: holder,
            resources: try queries.resources(key), now: clock.now())
    }

    /// The media of a complete content.
    func placedMedia(_ key: ContentKey) throws -> ResourceRecord {
        guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
        guard item.currentVersion != nil,
            let media = try queries.resources(key).first(where: { $0.role == .media && $0.state == .placed })
        else { throw LectureError(.notComplete, detail: key.text) }
        return media
    }
}

/// What a manager was asked for and what became of it.
public struct FetchSummary: Sendable, Hashable {
    /// Contents by state.
    public var counts: [ItemState: Int] = [:]
    /// Stopped contents by reason.
    public var stops: [StopReason: Int] = [:]
    /// Bytes that are durable with their proof.
    public var provenBytes: Int64 = 0
    /// Bytes of all contents whose size is known.
    public var totalBytes: Int64 = 0
    /// Bytes that came over the network since the manager was made.
    public var fetchedBytes: Int64 = 0
    /// Bytes of unfinished contents that were proven before and not fetched again.
    public var reusedBytes: Int64 = 0

    /// An empty summary.
    public init() {}
}
