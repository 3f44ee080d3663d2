import LectureModel
import LectureStore

/// The store of one program as its engine sees it: the real one, whose transactions are actions of the program, which
/// fails on request, and which records claims to be checked against the disk.
///
/// Confined to the thread of its world.
final class ProgramIndex: DownloadIndex {
    /// What the open transaction says about files; checked against the disk after the commit.
    struct Claims {
        var committed: [(resource: ResourceID, chunks: [WrittenChunk])] = []
        var completed: [VersionID] = []
        var deleted: [ContentID] = []
    }

    /// A dead program's store takes no calls and returns nothing.
    static let dead = LectureError(.closing)

    let base: SQLiteDownloadIndex
    /// Called with the claims of a commit.
    var onCommit: (Claims) throws -> Void = { _ in }
    private let world: VirtualWorld
    private let program: Int
    private let storeFault: StoreFaultInjector
    private let setsPages: (Bool) throws -> Void
    private var claims = Claims()

    init(
        _ base: SQLiteDownloadIndex, world: VirtualWorld, program: Int, storeFault: StoreFaultInjector,
        setsPages: @escaping (Bool) throws -> Void
    ) {
        self.base = base
        self.world = world
        self.program = program
        self.storeFault = storeFault
        self.setsPages = setsPages
    }

    func calling<Result>(_ call: () throws -> Result) throws -> Result {
        guard world.isAlive(program) else { throw Self.dead }
        if let error = storeFault.refusal(of: .call) {
            world.record("    the store refuses a statement")
            throw error
        }
        return try call()
    }

    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        guard world.beginAction(program, "begins a transaction"), world.endAction(program) else { throw Self.dead }
        if let error = storeFault.refusal(of: .begin) { throw error }
        claims = Claims()
        try setsPages(storeFault.isFull)
        var hasStarted = false
        do {
            let result = try base.transaction {
                let result = try body()
                if let error = storeFault.refusal(of: .commit) { throw error }
                // A program that dies here loses the transaction; one that dies after the action has committed it.
                guard world.beginAction(program, "commits") else { throw Self.dead }
                hasStarted = true
                return result
            }
            if !claims.committed.isEmpty || !claims.completed.isEmpty || !claims.deleted.isEmpty {
                try onCommit(claims)
            }
            guard world.endAction(program) else { throw Self.dead }
            return result
        } catch {
            world.record("    the store: \(error)")
            if hasStarted { world.endAction(program) }
            throw error
        }
    }

    func markCommitted(
        _ lease: ContentLease, _ resource: ResourceID, _ chunks: [WrittenChunk], bytes: UInt64, now: Timestamp
    ) throws {
        try calling { try base.markCommitted(lease, resource, chunks, bytes: bytes, now: now) }
        claims.committed.append((resource, chunks))
    }

    func completeVersion(_ lease: ContentLease, _ version: VersionID, sha256: [UInt8]?, now: Timestamp) throws {
        try calling { try base.completeVersion(lease, version, sha256: sha256, now: now) }
        claims.completed.append(version)
    }
}

/// The failure of the store.
final class StoreFaultInjector {
    /// The moment of a refusal.
    enum Moment {
        case begin
        case call
        case commit
    }

    /// The kind of failure; nil for none.
    var kind: StoreFault.Kind?
    /// How many refusals are left.
    var left = 0

    /// Whether the database may not grow: SQLite itself then reports a full disk.
    var isFull: Bool { kind == .full }

    /// The error of a call at a moment; nil when it succeeds.
    func refusal(of moment: Moment) -> LectureError? {
        let error: LectureError
        switch (kind, moment) {
        case (.busyBegin, .begin): error = LectureError(.storeBusy, cause: "scripted")
        case (.failingCommit, .commit): error = LectureError(.writeFile, cause: "scripted")
        case (.failingCall, .call): error = LectureError(.readFile, cause: "scripted")
        default: return nil
        }
        guard left > 0 else { return nil }
        left -= 1
        return error
    }
}
