import LectureModel
import LectureSQLite

/// What happens to the store of one program while its engine uses it: its transactions are actions of the program,
/// which may die before or after one, it fails on request, and what a commit has written is checked against the disk.
///
/// The engine has the real store; all this is done at the fault points of its connection. Confined to the thread of its
/// world.
final class ProgramStore {
    /// What a transaction has written about files.
    struct Writes {
        var chunks: [(resource: ResourceID, index: Int)] = []
        var completed: [VersionID] = []

        var isEmpty: Bool { chunks.isEmpty && completed.isEmpty }
    }

    /// A dead program's store takes no calls and returns nothing.
    static let dead = LectureError(.closing)

    /// Called after a commit with what it has written.
    var onCommit: (Writes) throws -> Void = { _ in }
    private let connection: Connection
    private let world: VirtualWorld
    private let program: Int
    private let fault: StoreFaultInjector
    private var isBound = false
    /// Whether the action of a commit has started.
    private var commits = false

    init(_ connection: Connection, world: VirtualWorld, program: Int, fault: StoreFaultInjector) throws {
        (self.connection, self.world, self.program, self.fault) = (connection, world, program, fault)
        try connection.run(script: Self.triggers)
    }

    /// What a transaction writes about files, in tables of this connection that are rolled back with it.
    private static let triggers = """
        PRAGMA temp_store = MEMORY;
        CREATE TEMP TABLE IF NOT EXISTS written_chunk(resource_id INTEGER, idx INTEGER);
        CREATE TEMP TABLE IF NOT EXISTS completed_version(id INTEGER);
        CREATE TEMP TRIGGER IF NOT EXISTS writes_chunk AFTER INSERT ON main.chunk BEGIN
            INSERT INTO written_chunk VALUES (NEW.resource_id, NEW.idx);
        END;
        CREATE TEMP TRIGGER IF NOT EXISTS completes_version AFTER UPDATE OF state ON main.version
        WHEN NEW.state = 1 AND OLD.state <> 1 BEGIN
            INSERT INTO completed_version VALUES (NEW.id);
        END;
        """

    /// Lets the program use its store; one transaction of it is committed meanwhile at the most.
    ///
    /// - Parameter body: what the program does.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and ``dead`` when the program has died.
    func use<Result>(_ body: () throws -> Result) throws -> Result {
        guard world.isAlive(program) else { throw Self.dead }
        connection.faultPoint = { [unowned self] point in try reached(point) }
        let result = Swift.Result { try body() }
        connection.faultPoint = nil
        if commits {
            commits = false
            let written = try written()
            if !written.isEmpty { try onCommit(written) }
            guard world.endAction(program) else { throw Self.dead }
        }
        return try result.get()
    }

    private func reached(_ point: FaultPoint) throws {
        switch point {
        case .begin: try begins()
        case .statement:
            guard world.isAlive(program) else { throw Self.dead }
            try refuse(at: point)
        case .commit:
            try refuse(at: point)
            // A program that dies here loses the transaction; one that dies after the action has committed it.
            guard world.beginAction(program, "commits") else { throw Self.dead }
            commits = true
        }
    }

    private func begins() throws {
        // A commit that has failed is over; the loop may begin again in the same step.
        if commits {
            commits = false
            guard world.endAction(program) else { throw Self.dead }
        }
        guard world.beginAction(program, "begins a transaction"), world.endAction(program) else { throw Self.dead }
        try refuse(at: .begin(.immediate))
        try connection.run(script: "DELETE FROM written_chunk; DELETE FROM completed_version")
        guard fault.isFull != isBound else { return }
        isBound = fault.isFull
        try connection.run(script: "PRAGMA max_page_count = \(isBound ? 1 : 1 << 30)")
    }

    private func refuse(at point: FaultPoint) throws {
        guard let error = fault.refusal(at: point) else { return }
        world.record("    the store: \(error)")
        throw error
    }

    private func written() throws -> Writes {
        Writes(
            chunks: try connection.query("SELECT resource_id, idx FROM written_chunk") { row in
                (ResourceID(row.int64(0)), row.int(1))
            },
            completed: try connection.query("SELECT id FROM completed_version") { VersionID($0.int64(0)) })
    }
}

/// The failure of the store.
final class StoreFaultInjector {
    /// The kind of failure; nil for none.
    var kind: StoreFault.Kind?
    /// How many refusals are left.
    var left = 0

    /// Whether the database may not grow: SQLite itself then reports a full disk.
    var isFull: Bool { kind == .full }

    /// The error at a fault point of a connection; nil when it succeeds.
    func refusal(at point: FaultPoint) -> LectureError? {
        let error: LectureError
        switch (kind, point) {
        case (.busyBegin, .begin): error = LectureError(.storeBusy, cause: "scripted")
        case (.failingCommit, .commit): error = LectureError(.writeFile, cause: "scripted")
        case (.failingCall, .statement): error = LectureError(.readFile, cause: "scripted")
        default: return nil
        }
        guard left > 0 else { return nil }
        left -= 1
        return error
    }
}
