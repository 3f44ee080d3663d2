package import LectureModel

/// Brings a database to this program's schema, step by step, and refuses every database of another application.
///
/// The state of a database is recorded in three places that must agree: `application_id` (the application),
/// `user_version` (how many migrations), and the table `migration` (which ones, with the digest of each).
package struct Migrator: Sendable {
    /// The application ID; written into the header of the database.
    package let applicationID: Int32
    /// Every migration, oldest first.
    package let migrations: [Migration]
    /// What all migrations together make of an empty database, as one script; nil when there is none.
    package let schema: String?

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - applicationID: the application ID.
    ///   - migrations: every migration, oldest first. The first one creates the table `migration`.
    ///   - schema: what all of them together make of an empty database, as one script; nil to run them one by one.
    package init(applicationID: Int32, migrations: [Migration], schema: String? = nil) {
        self.applicationID = applicationID
        self.migrations = migrations
        self.schema = schema
    }

    /// Assesses a database without changing it.
    ///
    /// - Parameter connection: any connection to it.
    /// - Returns: what is applied and what is pending; `isSuperseded` when a newer program was here.
    /// - Throws: ``LectureError``: `storeForeign` for another program's database, `migrationChanged` when a digest or
    ///   the order differs, `storeDamaged` when its own records contradict each other or pages are damaged.
    package func state(of connection: Connection) throws -> SchemaState {
        // On one snapshot: another process may apply a migration between two looks.
        try connection.isInTransaction
            ? assess(connection) : connection.transaction(.read) { try assess(connection) }
    }

    private func assess(_ connection: Connection) throws -> SchemaState {
        let version = try connection.pragmaNumber("user_version")
        let owner = try connection.pragmaNumber("application_id")
        if owner != Int64(applicationID) {
            let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.int64(0) } ?? 0
            guard owner == 0, version == 0, tables == 0 else {
                throw LectureError(.storeForeign, detail: connection.path)
            }
            return SchemaState(applied: [], pending: migrations.map(\.identifier), isSuperseded: false)
        }
        let applied = try applied(in: connection)
        let known = migrations.prefix(applied.count)
        if applied.count > migrations.count || version > Int64(migrations.count) {
            return SchemaState(applied: applied, pending: [], isSuperseded: true)
        }
        for (mine, theirs) in zip(known, applied) {
            if mine.identifier != theirs.identifier, !migrations.contains(where: { $0.identifier == theirs.identifier })
            {
                return SchemaState(applied: applied, pending: [], isSuperseded: true)
            }
            guard mine.identifier == theirs.identifier, mine.sha256 == theirs.sha256 else {
                throw LectureError(.migrationChanged, detail: connection.path, cause: theirs.identifier)
            }
        }
        guard version == Int64(applied.count) else {
            throw LectureError(
                .storeDamaged, detail: connection.path,
                cause: "user_version is \(version), but \(applied.count) migrations are recorded")
        }
        let pending = migrations.dropFirst(applied.count).map(\.identifier)
        return SchemaState(applied: applied, pending: pending, isSuperseded: false)
    }

    /// Assesses a database as ``state(of:)`` does, and refuses a newer one.
    ///
    /// - Parameter connection: any connection to it.
    /// - Returns: what is applied and what is pending.
    /// - Throws: ``LectureError``: as ``state(of:)``, and `storeNewer`.
    @discardableResult
    package func requireUsable(_ connection: Connection) throws -> SchemaState {
        let state = try state(of: connection)
        guard !state.isSuperseded else { throw LectureError(.storeNewer, detail: connection.path) }
        return state
    }

    /// Compares the definitions of tables, indices and triggers with those that the applied migrations make. SQLite
    /// does not read a definition before a statement needs it, so a check of the pages can pass where every command
    /// fails.
    ///
    /// - Parameter connection: any connection to a usable database.
    /// - Returns: one sentence per definition that is missing or changed; objects of others are ignored.
    /// - Throws: ``LectureError``.
    package func schemaFindings(_ connection: Connection) throws -> [String] {
        let model = try Connection(path: ":memory:", access: .create)
        let applied = try requireUsable(connection).applied.count
        if let schema, applied == migrations.count {
            try model.run(script: schema)
        } else {
            for migration in migrations.prefix(applied) { try model.run(script: migration.sql) }
        }
        func definitions(_ connection: Connection) throws -> [(name: String, sql: String)] {
            try connection.query(
                """
                SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
                WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1
                """
            ) { (name: $0.text(0), sql: $0.text(1)) }
        }
        let present = Dictionary(try definitions(connection).map { ($0.name, $0.sql) }) { first, _ in first }
        return try definitions(model).compactMap { name, sql in
            guard let found = present[name] else { return "the \(name) is missing" }
            return found == sql ? nil : "the definition of the \(name) was changed"
        }
    }

    /// Makes the schema in an empty database: at once where there is a script for it, in half the time, else as
    /// ``migrate(_:now:)``.
    ///
    /// - Parameters:
    ///   - connection: writable, not in a transaction, to an empty database that only this program knows of.
    ///   - now: the wall clock, for the records.
    /// - Returns: the identifiers of all migrations.
    /// - Throws: ``LectureError``: `bug` when the database is not empty.
    package func create(_ connection: Connection, now: Timestamp) throws -> [String] {
        guard let schema else { return try migrate(connection, now: now) }
        try connection.transaction {
            guard try state(of: connection).applied.isEmpty else {
                throw LectureError(.bug, detail: connection.path, cause: "a new database is not empty")
            }
            try connection.run(script: schema)
            for migration in migrations { try record(migration, connection, now: now) }
            try mark(connection, count: migrations.count)
        }
        return migrations.map(\.identifier)
    }

    /// Applies what is pending, in one immediate transaction that also writes the records, so that a database is as it
    /// was or as it should be. Foreign keys are checked after each migration. Several connections may do this at the
    /// same time.
    ///
    /// Foreign keys are not enforced while it runs, because a migration may rebuild a table; they are re-enabled before
    /// it returns, also when it throws.
    ///
    /// - Parameters:
    ///   - connection: writable, not in a transaction.
    ///   - now: the wall clock, for the record.
    /// - Returns: the identifiers this call applied.
    /// - Throws: ``LectureError``: as ``requireUsable(_:)``, and what a migration throws; nothing is changed then.
    package func migrate(_ connection: Connection, now: Timestamp) throws -> [String] {
        guard try !requireUsable(connection).isCompleted else { return [] }
        try connection.require("foreign_keys", "OFF", reads: "0")
        let done: [String]
        do {
            done = try connection.transaction {
                var done: [String] = []
                while let identifier = try applyNext(connection, now: now) { done.append(identifier) }
                return done
            }
        } catch {
            try? connection.require("foreign_keys", "ON", reads: "1")
            throw error
        }
        try connection.require("foreign_keys", "ON", reads: "1")
        return done
    }

    /// Applies the first pending migration, as seen under the write lock: another process may have been faster.
    private func applyNext(_ connection: Connection, now: Timestamp) throws -> String? {
        let position = try requireUsable(connection).applied.count
        guard position < migrations.count else { return nil }
        let migration = migrations[position]
        try connection.run(script: migration.sql)
        guard connection.isInTransaction else {
            throw LectureError(.bug, detail: migration.identifier, cause: "it ended its transaction")
        }
        try record(migration, connection, now: now)
        try mark(connection, count: position + 1)
        let orphans = try connection.foreignKeyFindings()
        guard orphans.isEmpty else {
            throw LectureError(.storeDamaged, detail: migration.identifier, cause: orphans[0])
        }
        return migration.identifier
    }

    private func record(_ migration: Migration, _ connection: Connection, now: Timestamp) throws {
        try connection.execute(
            "INSERT INTO migration(identifier, sha256, applied_ms) VALUES (?, ?, ?)",
            migration.identifier, migration.sha256, now.milliseconds)
    }

    /// Writes into the header whose database it is, and how many migrations it has.
    private func mark(_ connection: Connection, count: Int) throws {
        try connection.execute("PRAGMA application_id = \(applicationID)")
        try connection.execute("PRAGMA user_version = \(count)")
    }

    private func applied(in connection: Connection) throws -> [AppliedMigration] {
        let hasTable = try connection.first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'") {
            _ in true
        }
        guard hasTable == true else {
            throw LectureError(.storeDamaged, detail: connection.path, cause: "the table of migrations is missing")
        }
        return try connection.query("SELECT identifier, sha256 FROM migration ORDER BY rowid") { row in
            AppliedMigration(identifier: row.text(0), sha256: row.text(1))
        }
    }
}
