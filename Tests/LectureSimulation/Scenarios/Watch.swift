import LectureDownload
import LectureModel
import LectureSQLite
import LectureStore

/// Looks on while a story is told, and keeps what must never happen: a row ahead of the disk, a notice ahead of the
/// row, a request to a server that had asked to be left alone.
final class Watch {
    /// A server that asked to be left alone.
    private struct Hold {
        var origin: String
        /// When the wait was heard of, and when it is over.
        var since: Int64
        var until: Int64
        /// The program that was told, and those that came after it keep it.
        var program: Int
        var isArmed = false
    }

    private let world: VirtualWorld
    private let servers: Servers
    private let disk: MemoryDisk
    private var holds: [Hold] = []
    /// The last state that was told of each content, by program.
    private var told: [Int: [ContentID: ItemState]] = [:]
    /// Contents that were told complete, and are to stay so.
    private var complete: Set<ContentID> = []
    private(set) var troubled: Set<Int> = []
    /// What is wanted of each lecture.
    var wishes: [Int: Desire] = [:]
    /// How often work on an item ended before it was complete, since the last death.
    var pauses = 0
    /// Whether the disk refused anything.
    var hasDiskFailed = false
    /// Whether the store was to refuse anything.
    var hasStoreFailed = false
    /// Whether programs told of trouble with the store.
    private(set) var hasToldTrouble = false

    init(world: VirtualWorld, servers: Servers, disk: MemoryDisk) {
        self.world = world
        self.servers = servers
        self.disk = disk
    }

    // MARK: Rows against the disk

    /// A commit says that chunks are proven: their bytes are durable now, and are the ones that were proven.
    func committed(_ claims: ProgramIndex.Claims, by program: Program) throws {
        for claim in claims.proven {
            guard let place = try Self.place(of: claim.resource, program.connection) else { continue }
            guard let node = disk.node(place.path + MemoryDisk.suffix) ?? disk.node(place.path) else {
                world.found("chunks of \(place.path) are proven and there is no file")
                continue
            }
            for chunk in claim.chunks {
                let start = chunk.index * place.chunkBytes
                let range = start..<min(node.bytes.count, start + place.chunkBytes)
                if node.dirty.contains(where: { $0.overlaps(range) }) {
                    world.found("chunk \(chunk.index) of \(place.path) is proven before it is durable")
                }
            }
        }
        for version in claims.completed {
            for resource in try program.index.resources(version) where resource.state == .placed {
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

    /// A file is deleted: no row of a version in use counts on it, unless its content is being removed.
    func deletes(_ path: String, _ connection: Connection) {
        let rows = try? connection.first(
            """
            SELECT count(*) FROM resource
            JOIN version ON version.id = version_id JOIN content ON content.id = content_id
            WHERE file_path = ? AND proven_count > 0 AND version.state IN (0, 1) AND content.state <> 7
            """, path
        ) { $0.int(0) }
        if rows ?? 0 > 0 { world.found("\(path) is deleted and has proven chunks") }
    }

    /// Every proven row is true: its bytes are on the disk, under one name or the other. The files of a lecture that
    /// is being removed go before their rows.
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
                world.found("\(path) has proven chunks and is gone")
                continue
            }
            let damaged = try disk.verify(
                path: name, resource: resource, total: total, grid: ChunkGrid(length: chunkBytes), cipher: nil,
                proofs: try index.chunks(resource), pace: { _ in true })
            if !damaged.isEmpty { world.found("proven chunks \(damaged) of \(path) are not on the disk") }
        }
        for content in complete {
            let state = try index.item(content)?.content.state
            if state != .completed { world.found("a content that was told complete is \(state?.name ?? "gone")") }
        }
    }

    // MARK: Notices

    /// A wish has changed: the content may leave any state.
    func wished(_ content: ContentID) {
        complete.remove(content)
        for program in told.keys { told[program]?[content] = nil }
    }

    /// What a program told is true in the store, and an outcome is told once.
    func told(_ notices: [EngineNotice], by program: Program) throws {
        for notice in notices {
            switch notice {
            case .changed(let id):
                guard let item = try program.index.item(id) else { continue }
                let state = item.content.state
                world.note("\(program.number) tells: \(item.content.key) is \(state.name)")
                if state == .completed || state == .failed, told[program.number]?[id] == state {
                    world.found("that a content is \(state.name) was told twice")
                }
                told[program.number, default: [:]][id] = state
                if state == .stopped || state == .queued { pauses += 1 }
                if state == .completed { complete.insert(id) }
            // The content was told when it became complete.
            case .alreadyComplete: continue
            case .progress(let told): try check(told, by: program)
            case .storeTrouble(let error):
                hasToldTrouble = true
                troubled.insert(program.number)
                world.note("\(program.number) tells: trouble, \(error)")
                if error.code == .bug { world.found("the engine found a bug: \(error.detail) \(error.cause)") }
            case .removed(let key):
                world.note("\(program.number) tells: \(key) is removed")
                if try program.index.item(key) != nil { world.found("a content that is there was told removed") }
            case .published, .stopped: break
            }
        }
    }

    private func check(_ told: DownloadProgress, by program: Program) throws {
        guard let item = try program.index.item(told.key) else { return }
        if let total = told.total, told.bytes > total { world.found("progress beyond the end") }
        // Where a complete version is there already, the count of the next one has begun.
        if item.content.provenChunks < told.provenChunks, item.content.state != .completed, item.currentVersion == nil {
            world.found("progress counts \(told.provenChunks) chunks, the store \(item.content.provenChunks)")
        }
    }

    // MARK: Servers that ask to wait

    /// The clock was set: a wait that is stored cannot be kept to the second over a restart.
    func clockWasSet() { holds = [] }

    /// A request begins.
    func asked(_ request: TransferRequest, by program: Int) {
        // Each step looks at the wishes before it opens anything, so that no time is allowed for.
        if let lecture = servers.lecture(of: request.url), let wish = wishes[lecture], wish != .fetch {
            world.found("lecture \(lecture) was asked for although its wish is \(wish)")
        }
        guard let origin = try? Origin(url: request.url).text else { return }
        for hold in holds where hold.isArmed && hold.origin == origin && program >= hold.program {
            // A second, since what is stored is in milliseconds and dates are in seconds.
            if world.boot < hold.until - 1_100_000_000 {
                world.found("\(origin) was asked again \((hold.until - world.boot) / 1_000_000) ms too early")
            }
        }
    }

    /// A header has come; when it asks to wait the program will know in its next step.
    func heard(_ request: TransferRequest, _ answer: Answer, of program: Int) {
        guard let seconds = answer.waitSeconds, let origin = try? Origin(url: request.url).text else { return }
        let until = world.boot + Int64(seconds) * 1_000_000_000
        holds.append(Hold(origin: origin, since: world.boot, until: until, program: program))
    }

    /// A program has made a step: what it was told before is stored now, unless the store refused.
    func stepped(_ program: Program) {
        for position in holds.indices where holds[position].program == program.number && !holds[position].isArmed {
            if program.lastStep >= holds[position].since { holds[position].isArmed = true }
        }
        if troubled.contains(program.number) {
            holds.removeAll { $0.program == program.number }
            troubled.remove(program.number)
        }
    }

    /// A program has died: what it had not stored nobody knows.
    func died(_ program: Int) {
        holds.removeAll { $0.program == program && !$0.isArmed }
    }
}
