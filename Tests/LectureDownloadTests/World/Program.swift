import Foundation
import LectureCrypto
import LectureDownload
import LectureModel
import LectureStore
import LectureTestSupport

/// A world with its network, its disk and a store in a real SQLite database, in which programs run.
final class Scene {
    let world: VirtualWorld
    let network = ScriptedNetwork()
    let disk: MemoryDisk
    let location: StoreLocation
    /// The store as an onlooker writes wishes into it.
    let index: SQLiteDownloadIndex
    var settings = DownloadSettings()
    private(set) var program: Program
    private var programs = 1
    private let directory: TemporaryDirectory

    init(seed: UInt64 = 1, settings: DownloadSettings = DownloadSettings()) throws {
        world = VirtualWorld(seed: seed)
        // In memory where there is a place for it: the database syncs at every commit, which is the disk's own test.
        let memory = "/dev/shm"
        directory = try TemporaryDirectory(in: FileManager.default.isWritableFile(atPath: memory) ? memory : nil)
        location = StoreLocation(directory: directory.file("store"))
        index = try SQLiteDownloadIndex(opening: location, now: world.now)
        let digests = try OpenSSLDigests(proofKey: try index.identity().proofKey)
        disk = MemoryDisk(world: world, digests: digests)
        self.settings = settings
        program = try Program(number: 1, world, network, disk, location, settings)
    }

    /// Registers a wish and puts it into the running program's run.
    @discardableResult
    func want(
        _ url: String, isGateway: Bool = false, _ change: (inout DownloadRequest) -> Void = { _ in }
    ) throws -> ContentKey {
        var request = DownloadRequest(url: url)
        change(&request)
        let identity = Array(url.utf8)
        let wish = try index.enqueue(
            request, derivedKey: try ContentKey(url), identity: identity, isGateway: isGateway, now: world.now)
        try index.join(program.run, content: wish.id)
        program.poke()
        return wish.key
    }

    /// The running program is killed, and another takes its place.
    func crash(powerCut: Bool = false) throws {
        world.forget(program: programs)
        let dead = program.owner
        programs += 1
        disk.beginProgram(programs, losing: powerCut)
        try index.dismissOwner(dead, now: world.now)
        program = try Program(number: programs, world, network, disk, location, settings)
        _ = try index.joinUnfinished(program.run)
    }

    /// A second program on the same store, in the same world.
    func another() throws -> Program {
        programs += 1
        let other = try Program(number: programs, world, network, disk, location, settings)
        _ = try index.joinUnfinished(other.run)
        return other
    }

    func content(_ key: ContentKey) throws -> Content? { try index.item(key)?.content }

    /// The finished bytes of a content; nil when it is not complete.
    func bytes(_ key: ContentKey) throws -> [UInt8]? {
        guard let item = try index.item(key), item.content.state == .completed, let version = item.currentVersion,
            let media = try index.resources(version).first
        else { return nil }
        return disk.files[media.path]
    }

    /// What the store and the disk say against each other; none when all is well.
    func contradictions() throws -> [String] {
        var found = world.findings + (try StoreMaintenance.check(location))
        let queries = try SQLiteContentQueries(opening: location)
        for content in try queries.contents(ContentFilter(), sort: .title, page: ContentPage()) {
            guard let item = try index.item(content.key), let version = item.currentVersion else { continue }
            for resource in try index.resources(version) where resource.state == .placed {
                let damaged = try? disk.verify(
                    path: resource.path, resource: resource.id, total: resource.total ?? 0,
                    chunkBytes: resource.chunkBytes, proofs: try index.chunks(resource.id), pace: { _ in true })
                if damaged != [] { found.append("\(content.key): \(resource.path) is missing or damaged") }
                if resource.provenBytes != resource.total { found.append("\(content.key): counted bytes differ") }
            }
        }
        return found
    }

    // MARK: Time

    /// Lets the running program work until it is at rest.
    func rest(within longest: Duration = .seconds(7200)) throws {
        try run(within: longest) { try self.program.isAtRest(in: self.index, at: self.world.now) }
    }

    /// Lets the running program work until something is true.
    func run(within longest: Duration = .seconds(7200), until isReached: () throws -> Bool) throws {
        let end = world.boot + longest.nanosecondCount
        while world.boot < end {
            program.stepIfDue()
            if try isReached() { return }
            advance([program])
        }
        world.found("did not come to its end within \(longest)")
    }

    /// Lets the running program work for some time.
    func work(for time: Duration) {
        let end = world.boot + time.nanosecondCount
        while world.boot < end {
            program.stepIfDue()
            advance([program])
        }
    }

    /// Time passes to the next moment at which anything is due.
    func advance(_ running: [Program]) {
        let due = running.compactMap(\.next).min() ?? Int64.max
        let next = min(due, world.nextHappening ?? .max)
        guard next < .max else { return world.pass(to: world.boot + 1_000_000_000) }
        // What happens within some milliseconds is handled together, as a busy machine does.
        world.pass(to: max(next, world.boot + 4_000_000))
    }
}

/// One run of a program: a writer of its own on the store, an owner, an engine.
final class Program {
    let owner: OwnerID
    let run: RunID
    let index: SQLiteDownloadIndex
    let transport: ScriptedTransport
    let resolver: ScriptedResolver
    let engine: DownloadEngine
    /// When the engine wants its next step.
    private(set) var next: Int64?
    private(set) var notices: [EngineNotice] = []
    /// Sees what a step told, after its commit.
    var onNotices: ([EngineNotice]) throws -> Void = { _ in }
    private let world: VirtualWorld
    private let isWoken = Guarded(true)

    init(
        number: Int, _ world: VirtualWorld, _ network: ScriptedNetwork, _ disk: MemoryDisk, _ location: StoreLocation,
        _ settings: DownloadSettings
    ) throws {
        self.world = world
        index = try SQLiteDownloadIndex(opening: location, now: world.now)
        owner = try index.registerOwner(pid: number, bootID: "world", command: "test", now: world.now)
        run = try index.beginRun(owner: owner, command: "test", now: world.now)
        transport = ScriptedTransport(world: world, network: network, program: number)
        let inbox = EngineInbox { [isWoken] in isWoken.withLock { $0 = true } }
        resolver = ScriptedResolver(world: world, program: number, inbox: inbox)
        let ports = DownloadEngine.Ports(
            index: index, transport: transport, files: disk, digests: disk.digests, clock: WorldClock(world: world),
            random: WorldRandom(world: world), offload: WorldOffload(world: world, program: number, inbox: inbox),
            resolver: resolver)
        engine = DownloadEngine(ports: ports, settings: settings, owner: owner, run: run, inbox: inbox)
    }

    /// A wish has changed, as the application tells its engine.
    func poke() {
        engine.poke()
        isWoken.withLock { $0 = true }
    }

    /// Ends the engine's work.
    func stop() {
        engine.stop()
        isWoken.withLock { $0 = true }
    }

    /// A step when one is due or something has come, and none otherwise: an engine that forgets to ask for a step must
    /// be found out.
    func stepIfDue() {
        if isWoken.withLock({ $0 }) || next.map({ $0 <= world.boot }) ?? false { step() }
    }

    func step() {
        isWoken.withLock { $0 = false }
        let (told, next) = engine.step()
        notices += told
        self.next = next?.nanoseconds
        do { try onNotices(told) } catch { world.found("a notice could not be checked: \(error)") }
    }

    /// Whether nothing moves any more, and nothing will by itself.
    func isAtRest(in index: SQLiteDownloadIndex, at now: Timestamp) throws -> Bool {
        guard engine.activeCount == 0, transport.runningCount == 0 else { return false }
        return try index.nextDue(run: run) == nil && index.contentsToRemove(limit: 1).isEmpty
    }
}

/// The application's resolver, as far as there is one.
///
/// `@unchecked Sendable`: used by the one thread of its test.
final class ScriptedResolver: URLResolver, @unchecked Sendable {
    var answer: (() -> ([String], LectureError?))?
    private let world: VirtualWorld
    private let program: Int
    private let inbox: EngineInbox

    init(world: VirtualWorld, program: Int, inbox: EngineInbox) {
        self.world = world
        self.program = program
        self.inbox = inbox
    }

    var isPresent: Bool { answer != nil }

    func resolve(_ content: ContentID, key: ContentKey, sourceURL: String) {
        world.after(.milliseconds(30), program: program) { [self] in
            guard let (urls, error) = answer?() else { return }
            inbox.post(.resolved(content, urls: urls, error))
        }
    }
}

/// Work that blocks, done a little later.
struct WorldOffload: WorkOffload {
    let world: VirtualWorld
    let program: Int
    let inbox: EngineInbox

    func run(_ work: @escaping @Sendable () -> EngineEvent) {
        world.after(.milliseconds(3), program: program) { [inbox] in inbox.post(work()) }
    }
}

/// Bytes that are the same for the same number anywhere, and different in every chunk.
func lectureBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    // One piece of chance, copied and numbered: debug builds are slow at making megabytes word by word.
    var piece = (0..<512).map { _ in generator.next() }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        while filled < count {
            piece[0] &+= 1
            let length = min(count - filled, piece.count * 8)
            unsafe piece.withUnsafeBytes { bytes in
                guard let from = bytes.baseAddress, let to = buffer.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(to + filled).copyMemory(from: from, byteCount: length)
            }
            filled += length
        }
    }
}

/// Whether two files are the same; `==` looks at each byte by itself in a debug build.
func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    guard !left.isEmpty else { return true }
    return unsafe left.withUnsafeBytes { one in
        unsafe right.withUnsafeBytes { other in
            guard let one = one.baseAddress, let other = other.baseAddress else { return false }
            return unsafe memcmp(one, other, left.count) == 0
        }
    }
}
