import Glibc
import LectureCrypto
package import LectureDownload
import LectureEngine
import LectureLicence
package import LectureModel
import LectureSQLite
package import LectureStore
import LectureTestSupport
import LectureXML

/// One run of a program: its own writer on the store, an owner, an engine.
package final class Program {
    /// Its row in the store.
    package let owner: OwnerID
    /// Its requested lectures.
    package let run: RunID
    /// Its writer on the store.
    package let index: SQLiteDownloadIndex
    /// Its exchanges.
    package let transport: ScriptedTransport
    /// The application's resolver.
    package let resolver: ScriptedResolver
    /// Its licence server.
    package let licensing: ScriptedLicensing
    /// Its engine.
    package let engine: DownloadEngine
    private let loop: Loop
    /// Its licences and reports; nil where the world has only downloads.
    private(set) var companions: Companions?
    /// When the engine needs its next step.
    package private(set) var next: Int64?
    /// All notices of its engine.
    package private(set) var notices: [EngineNotice] = []
    /// What applications are informed of, except for changed items.
    package var events: [LectureEvent] { notices.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    /// Receives the notices of a step, after its commit.
    package var onNotices: ([EngineNotice]) throws -> Void = { _ in }
    /// Its number in the world.
    package let number: Int
    /// What happens to its store.
    let store: ProgramStore
    /// The connection of its writer.
    let connection: Connection
    private let world: VirtualWorld
    private let census: Census
    private let isWoken = Guarded(true)
    private var lastCheck: Int64?
    /// When the last step that handled events was made.
    private(set) var lastStep: Int64 = 0

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - life: its number, and perhaps when it dies.
    ///   - place: where it runs.
    ///   - settings: how its engine works.
    /// - Throws: an error of the store, also when the program dies while it starts.
    init(_ life: Life, in place: Surroundings, _ settings: DownloadSettings) throws {
        number = life.program
        world = place.world
        census = place.census
        world.begin(life)
        guard world.act(number, "starts", {}) else { throw ProgramStore.dead }
        connection = try place.connections.take(place.location)
        index = SQLiteDownloadIndex(connection: connection)
        store = try ProgramStore(connection, world: world, program: number, fault: place.storeFault)
        let (index, now) = (index, world.now)
        let owner = try store.use { [census, number] in try Self.register(index, number, census, now) }
        self.owner = owner
        census.living[owner] = number
        run = try store.use { try index.owners.beginRun(owner: owner, command: "test", now: now) }
        transport = ScriptedTransport(world: world, network: place.network, program: number)
        let inbox = Inbox<EngineEvent> { [isWoken] in isWoken.withLock { $0 = true } }
        resolver = ScriptedResolver(world: world, program: number, inbox: inbox)
        licensing = ScriptedLicensing(world: world, program: number, inbox: inbox)
        loop = Loop(
            Loop.Ports(
                clock: world.clock, random: WorldRandom(world: world), numbers: TransferNumbers(),
                transaction: { try index.transaction($0) }))
        if let partners = place.partners {
            let host = Companions.Host(world: world, number: number, index: index, owner: owner, transport: transport)
            companions = try store.use { [loop, isWoken] in
                try Companions(
                    partners, host, in: loop, wake: { isWoken.withLock { $0 = true } },
                    followRemovals: { inbox.post(.targetsChanged) })
            }
        }
        let ports = DownloadEngine.Ports(
            transport: transport, files: ProgramFiles(place.disk, program: number),
            digests: place.disk.digests, xml: LibXMLReader(), blocks: OpenSSLBlocks(),
            clock: world.clock,
            offload: WorldOffload(world: world, program: number, inbox: inbox), resolver: resolver,
            licensing: companions?.licences ?? licensing, seals: place.seals)
        engine = DownloadEngine(ports: ports, settings: settings, owner: owner, run: run, inbox: inbox, in: loop)
        engine.start()
    }

    /// As in the product: the row and its lock become visible together, and dead owners are dismissed.
    private static func register(
        _ index: SQLiteDownloadIndex, _ number: Int, _ census: Census, _ now: Timestamp
    ) throws -> OwnerID {
        try index.transaction { transaction in
            let index = transaction.index
            for owner in try index.owners.all() where census.isDead(owner) {
                try index.owners.dismissOwner(owner, now: now)
            }
            return try index.owners.registerOwner(pid: number, bootID: "world", command: "test", now: now)
        }
    }

    /// Leases of killed programs go back to the queue, at the latest two seconds after their death.
    private func dismissDeadOwners() {
        if let lastCheck, world.boot - lastCheck < 2_000_000_000 { return }
        lastCheck = world.boot
        try? store.use {
            try index.transaction { transaction in
                let index = transaction.index
                for other in try index.owners.all() where census.isDead(other) {
                    try index.owners.dismissOwner(other, now: world.now)
                }
            }
        }
    }

    /// A request has changed; the application notifies its engine.
    package func setNeedsStep() {
        engine.setNeedsStep()
        isWoken.withLock { $0 = true }
    }

    /// Ends the engine's work; that of its licences and reports follows.
    package func stop() {
        engine.stop()
        isWoken.withLock { $0 = true }
    }

    /// A step when one is due or an event has arrived, and none otherwise: an engine that forgets to ask for a step
    /// must be detected.
    package func stepIfDue() {
        if isWoken.withLock({ $0 }) || next.map({ $0 <= world.boot }) ?? false { step() }
    }

    /// Handles the received events and performs nothing: the effects are the caller's to perform.
    package func commit() -> CommittedStep<DownloadEffect, EngineNotice> {
        let next = loop.commit()
        var step = engine.take()
        step.next = next
        return step
    }

    /// Whether the downloads have stopped, and then the licences and reports.
    var isStopped: Bool { hasStopped && companions?.isStopped != false }

    /// Whether the downloads have stopped.
    private var hasStopped: Bool { notices.contains { if case .stopped = $0 { true } else { false } } }

    /// Handles the received events.
    package func step() {
        isWoken.withLock { $0 = false }
        guard world.isAlive(number) else { return }
        if census.isKept { dismissDeadOwners() }
        do {
            let step = try store.use { commit() }
            for effect in step.effects { engine.perform(effect) }
            companions?.finishStep(engine.inbox)
            // The notices of a dead program are lost.
            guard world.isAlive(number) else { return }
            notices += step.notices
            for case .event(.removed(let key)) in step.notices { companions?.licences.contentRemoved(key) }
            for case .stopped in step.notices { companions?.stop() }
            lastStep = world.boot
            next = step.next?.nanoseconds
            try onNotices(step.notices)
        } catch {
            if world.isAlive(number) { world.found("a step could not be checked: \(error)") }
        }
    }

    /// Whether the program is idle, and stays so without an event.
    package func isIdle(in index: SQLiteDownloadIndex, at now: Timestamp) throws -> Bool {
        guard engine.activeCount == 0, transport.runningCount == 0 else { return false }
        return try index.owners.nextDue(run: run) == nil && index.contents.contentsToRemove(limit: 1).isEmpty
    }
}

/// Where programs run.
struct Surroundings {
    var world: VirtualWorld
    var network: ScriptedNetwork
    var disk: MemoryDisk
    var location: StoreLocation
    var census = Census()
    var storeFault = StoreFaultInjector()
    var connections = ConnectionPool()
    var seals = WorldSealing()
    /// What licences and reports share; nil for programs that only download.
    var partners: Partners?
}

/// The connections of ended programs, for new ones: a connection only caches the schema and its statements, and
/// reading those again would take most of a run's time.
final class ConnectionPool {
    private var idle: [Connection] = []

    func take(_ location: StoreLocation) throws -> Connection {
        if let connection = idle.popLast() { return connection }
        return try Self.open(location)
    }

    func giveBack(_ connection: Connection) {
        if !connection.isInTransaction { idle.append(connection) }
    }

    /// The files were replaced.
    func forget() { idle = [] }

    /// A connection as the store's writer opens it, to a store that is known to be intact.
    static func open(_ location: StoreLocation) throws -> Connection {
        let connection = try Connection(
            path: try StoreDatabase.existingPath(location), access: .readWrite, busyTimeout: .zero)
        try connection.requireDurability()
        return connection
    }
}

/// Which owners live, according to the kernel's locks.
final class Census {
    /// Whether programs look for dead owners by themselves; otherwise a test dismisses them.
    var isKept = false
    /// Living owners with the numbers of their programs.
    var living: [OwnerID: Int] = [:]

    func isDead(_ owner: OwnerID) -> Bool { isKept && living[owner] == nil }

    /// A program has died: the kernel releases its lock.
    func dismiss(program: Int) { living = living.filter { $0.value != program } }
}

/// The application's resolver, if there is one.
///
/// `@unchecked Sendable`: used by the one thread of its test.
package final class ScriptedResolver: URLResolver, @unchecked Sendable {
    /// Its next answer; nil when there is no resolver.
    package var answer: (() -> ([String], LectureError?))?
    /// Its answers by the source's URL, for a world with many lectures.
    var answering: ((String) -> [String])?
    private let world: VirtualWorld
    private let program: Int
    private let inbox: Inbox<EngineEvent>

    init(world: VirtualWorld, program: Int, inbox: Inbox<EngineEvent>) {
        self.world = world
        self.program = program
        self.inbox = inbox
    }

    /// Whether there is one.
    package var isPresent: Bool { answer != nil || answering != nil }

    /// Answers a little later.
    package func resolve(_ content: ContentID, key: ContentKey, sourceURL: String) {
        world.after(.milliseconds(30), program: program, "the resolver answers") { [self] in
            if let answering { return inbox.post(.resolved(content, urls: answering(sourceURL), nil)) }
            guard let (urls, error) = answer?() else { return }
            inbox.post(.resolved(content, urls: urls, error))
        }
    }
}

/// Work that blocks, executed a little later.
struct WorldOffload: WorkOffload {
    let world: VirtualWorld
    let program: Int
    let inbox: Inbox<EngineEvent>

    func run(_ work: @escaping @Sendable () -> EngineEvent) {
        world.after(.milliseconds(3), program: program, "work elsewhere") { [inbox] in inbox.post(work()) }
    }
}

/// Bytes that are always the same for the same number, and different in every chunk.
package func lectureBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    // One random piece, copied and numbered: debug builds are slow at making megabytes word by word.
    var piece = (0..<512).map { _ in generator.next() }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
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
    return MediaBeginning.replacing(bytes)
}

/// Whether two files are equal; `==` compares byte by byte in a debug build.
package func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    guard !left.isEmpty else { return true }
    return unsafe left.withUnsafeBytes { one in
        unsafe right.withUnsafeBytes { other in
            guard let one = one.baseAddress, let other = other.baseAddress else { return false }
            return unsafe memcmp(one, other, left.count) == 0
        }
    }
}
