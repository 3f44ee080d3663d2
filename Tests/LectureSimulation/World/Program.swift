import Glibc
package import LectureDownload
package import LectureModel
package import LectureStore
import LectureTestSupport

/// One run of a program: a writer of its own on the store, an owner, an engine.
package final class Program {
    /// Its row in the store.
    package let owner: OwnerID
    /// What it wants.
    package let run: RunID
    /// Its writer on the store.
    package let index: SQLiteDownloadIndex
    /// Its exchanges.
    package let transport: ScriptedTransport
    /// The application's resolver.
    package let resolver: ScriptedResolver
    /// Its engine.
    package let engine: DownloadEngine
    /// When the engine wants its next step.
    package private(set) var next: Int64?
    /// All that it told.
    package private(set) var notices: [EngineNotice] = []
    /// Sees what a step told, after its commit.
    package var onNotices: ([EngineNotice]) throws -> Void = { _ in }
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
    package func poke() {
        engine.poke()
        isWoken.withLock { $0 = true }
    }

    /// Ends the engine's work.
    package func stop() {
        engine.stop()
        isWoken.withLock { $0 = true }
    }

    /// A step when one is due or something has come, and none otherwise: an engine that forgets to ask for a step must
    /// be found out.
    package func stepIfDue() {
        if isWoken.withLock({ $0 }) || next.map({ $0 <= world.boot }) ?? false { step() }
    }

    /// Handles what has come.
    package func step() {
        isWoken.withLock { $0 = false }
        let (told, next) = engine.step()
        notices += told
        self.next = next?.nanoseconds
        do { try onNotices(told) } catch { world.found("a notice could not be checked: \(error)") }
    }

    /// Whether nothing moves any more, and nothing will by itself.
    package func isAtRest(in index: SQLiteDownloadIndex, at now: Timestamp) throws -> Bool {
        guard engine.activeCount == 0, transport.runningCount == 0 else { return false }
        return try index.nextDue(run: run) == nil && index.contentsToRemove(limit: 1).isEmpty
    }
}

/// The application's resolver, as far as there is one.
///
/// `@unchecked Sendable`: used by the one thread of its test.
package final class ScriptedResolver: URLResolver, @unchecked Sendable {
    /// Its next answer; nil when there is no resolver.
    package var answer: (() -> ([String], LectureError?))?
    private let world: VirtualWorld
    private let program: Int
    private let inbox: EngineInbox

    init(world: VirtualWorld, program: Int, inbox: EngineInbox) {
        self.world = world
        self.program = program
        self.inbox = inbox
    }

    /// Whether there is one.
    package var isPresent: Bool { answer != nil }

    /// Answers a little later.
    package func resolve(_ content: ContentID, key: ContentKey, sourceURL: String) {
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
package func lectureBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
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
