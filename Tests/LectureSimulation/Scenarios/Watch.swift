import LectureDownload
import LectureFormats
import LectureModel
import LectureSQLite
import LectureStore

/// Observes a run, and checks its invariants: no row ahead of the disk, no notice ahead of the row, no request to a
/// server that asked the client to wait.
final class Watch {
    /// A server that asked the client to wait.
    private struct Hold {
        var origin: String
        /// When the wait was received, and when it is over.
        var since: Int64
        var until: Int64
        /// The program that received it; its successors keep it as well.
        var program: Int
        var isArmed = false
    }

    private let world: VirtualWorld
    private let servers: Servers
    private let disk: MemoryDisk
    private var holds: [Hold] = []
    /// The last reported state of each lecture, by program.
    private var reported: [Int: [ContentID: ItemState]] = [:]
    /// Lectures that were reported complete, and must stay so.
    private var complete: Set<ContentID> = []
    private(set) var failing: Set<Int> = []
    /// The target state of each lecture.
    var requests: [Int: TargetState] = [:]
    /// How often work on an item ended before it was complete, since the last death.
    var pauses = 0
    /// Whether the disk refused anything.
    var hasDiskFailed = false
    /// Whether the store has failures scheduled.
    var hasStoreFailed = false
    /// Whether programs reported a store failure.
    private(set) var hasReportedFailure = false

    init(world: VirtualWorld, servers: Servers, disk: MemoryDisk) {
        self.world = world
        self.servers = servers
        self.disk = disk
    }

    // MARK: Rows checked against the disk

    /// A commit marks chunks as committed: their bytes are durable now, and are the ones that were hashed.
    func committed(_ writes: ProgramStore.Writes, by program: Program) throws {
        for (resource, chunks) in Dictionary(grouping: writes.chunks, by: \.resource) {
            guard let place = try Self.place(of: resource, program.connection) else { continue }
            guard let node = disk.node(place.path + MemoryDisk.suffix) ?? disk.node(place.path) else {
                world.found("chunks of \(place.path) are committed and there is no file")
                continue
            }
            for chunk in chunks {
                let start = chunk.index * place.chunkBytes
                let range = start..<min(node.bytes.count, start + place.chunkBytes)
                if node.dirty.contains(where: { $0.overlaps(range) }) {
                    world.found("chunk \(chunk.index) of \(place.path) is committed before it is durable")
                }
            }
        }
        for version in writes.completed {
            for resource in try program.index.versions.resources(version) where resource.state == .finalized {
                if disk.node(resource.path) == nil { world.found("\(resource.path) is complete and is not there") }
                if !disk.isDurable(resource.path) { world.found("\(resource.path) is complete before its name lasts") }
            }
        }
    }

    private static func place(
        of resource: ResourceID, _ connection: Connection
    ) throws -> (path: String, chunkBytes: Int)? {
        try connection.first("SELECT file_path, chunk_bytes FROM resource WHERE id = ?", resource.value) { row in
            (row.text(0), row.int(1))
        }
    }

    /// A file is deleted: no row of a version in use refers to it, unless its lecture is being removed.
    func deletes(_ path: String, _ connection: Connection) {
        let rows = try? connection.first(
            """
            SELECT count(*) FROM resource
            JOIN version ON version.id = version_id JOIN content ON content.id = content_id
            WHERE file_path = ? AND proven_count > 0 AND version.state IN (0, 1) AND content.state <> 7
            """, path
        ) { $0.int(0) }
        if rows ?? 0 > 0 { world.found("\(path) is deleted and has committed chunks") }
    }

    /// Every committed row is true: its bytes are on the disk, under one name or the other. The files of a lecture that
    /// is being removed are deleted before their rows.
    func holdRowsAgainstDisk(_ index: SQLiteDownloadIndex, _ connection: Connection) throws {
        let rows = try connection.query(
            """
            SELECT resource.id, file_path, chunk_bytes, coalesce(total_bytes, 0) FROM resource
            JOIN version ON version.id = version_id JOIN content ON content.id = content_id
            WHERE content.state <> 7 AND proven_count > 0 AND version.state IN (0, 1)
            """
        ) { row -> (ResourceID, String, UInt64, UInt64) in
            (ResourceID(row.int64(0)), row.text(1), row.uint64(2), row.uint64(3))
        }
        for (resource, path, chunkBytes, total) in rows {
            let name = disk.node(path + MemoryDisk.suffix) == nil ? path : path + MemoryDisk.suffix
            guard disk.node(name) != nil else {
                world.found("\(path) has committed chunks and is gone")
                continue
            }
            let damaged = try disk.verify(
                path: name, resource: resource, total: total, grid: ChunkGrid(length: chunkBytes), cipher: nil,
                proofs: try index.resources.chunks(resource), pace: { _ in true })
            if !damaged.isEmpty { world.found("committed chunks \(damaged) of \(path) are not on the disk") }
        }
        for content in complete {
            let state = try index.contents.item(content)?.content.state
            if state != .completed { world.found("a lecture that was reported complete is \(state?.name ?? "gone")") }
        }
    }

    // MARK: Notices

    /// A request has changed: the lecture may leave any state.
    func requested(_ content: ContentID) {
        complete.remove(content)
        for program in reported.keys { reported[program]?[content] = nil }
    }

    /// What a program reported is true in the store, and an outcome is reported once.
    func reported(_ notices: [EngineNotice], by program: Program) throws {
        for notice in notices {
            switch notice {
            case .changed(let item, .outdated): requested(item.id)
            case .changed(let item, let event):
                let (id, state) = (item.id, item.content.state)
                if event != LectureEvent(item.content) {
                    world.found("\(item.content.key) has another event: \(event)")
                }
                // Unless another program has leased it since.
                if let now = try program.index.contents.item(id), now.fence == item.fence, now.content.state != state {
                    world.found("\(item.content.key) was reported \(state.name) and is \(now.content.state.name)")
                }
                world.record("\(program.number) reports: \(item.content.key) is \(state.name)")
                if state == .completed || state == .failed, reported[program.number]?[id] == state {
                    world.found("a lecture was reported \(state.name) twice")
                }
                reported[program.number, default: [:]][id] = state
                if state == .stopped || state == .queued { pauses += 1 }
                if state == .completed { complete.insert(id) }
            // The lecture was reported when it became complete.
            case .alreadyComplete: continue
            case .event(.progress(let reported)): try check(reported, by: program)
            case .failure(let error), .event(.trouble(let error)):
                hasReportedFailure = true
                failing.insert(program.number)
                world.record("\(program.number) reports: store failure, \(error)")
                if error.code == .bug { world.found("the engine found a bug: \(error.detail) \(error.cause)") }
            case .event(.removed(let key)):
                world.record("\(program.number) reports: \(key) is removed")
                if try program.index.contents.item(key) != nil {
                    world.found("a lecture that is there was reported removed")
                }
            case .event, .stopped: break
            }
        }
    }

    private func check(_ reported: DownloadProgress, by program: Program) throws {
        guard let item = try program.index.contents.item(reported.key) else { return }
        if let total = reported.total, reported.bytes > total { world.found("progress beyond the end") }
        // Where a complete version is there already, the count of the next one has started.
        if item.content.committedChunks < reported.committedChunks, item.content.state != .completed,
            item.currentVersion == nil
        {
            world.found("progress counts \(reported.committedChunks) chunks, the store \(item.content.committedChunks)")
        }
    }

    // MARK: Servers that ask to wait

    /// The clock was set: a stored wait cannot be exact to the second over a restart.
    func clockWasSet() { holds = [] }

    /// A request starts.
    func asked(_ request: TransferRequest, by program: Int) {
        // Each step checks the target states before it opens anything, so that no tolerance is allowed.
        if let lecture = servers.lecture(of: request.url), let targetState = requests[lecture], targetState != .fetch {
            world.found("lecture \(lecture) was requested although its target state is \(targetState)")
        }
        guard let origin = try? Origin(url: request.url).text else { return }
        for hold in holds where hold.isArmed && hold.origin == origin && program >= hold.program {
            // A second, since stored times are in milliseconds and dates are in seconds.
            if world.boot < hold.until - 1_100_000_000 {
                world.found("\(origin) was asked again \((hold.until - world.boot) / 1_000_000) ms too early")
            }
        }
    }

    /// A header was received; when it asks to wait the program will know in its next step.
    func heard(_ request: TransferRequest, _ answer: Answer, of program: Int) {
        guard let seconds = answer.waitSeconds, let origin = try? Origin(url: request.url).text else { return }
        let until = world.boot + Int64(seconds) * 1_000_000_000
        holds.append(Hold(origin: origin, since: world.boot, until: until, program: program))
    }

    /// A program has made a step: what it received before is stored now, unless the store refused.
    func stepped(_ program: Program) {
        for position in holds.indices where holds[position].program == program.number && !holds[position].isArmed {
            if program.lastStep >= holds[position].since { holds[position].isArmed = true }
        }
        if failing.contains(program.number) {
            holds.removeAll { $0.program == program.number }
            failing.remove(program.number)
        }
    }

    /// A program has died: what it had not stored is lost.
    func died(_ program: Int) {
        holds.removeAll { $0.program == program && !$0.isArmed }
    }
}
