/// One step of the schema: plain SQL that is never edited once shipped.
package struct Migration: Sendable, Hashable {
    /// The file's name without its suffix, for example `0001_create_store`.
    package let identifier: String
    /// The SHA-256 of the SQL, 64 lower-case hexadecimal digits.
    package let sha256: String
    /// The SQL. It must not start or end a transaction.
    package let sql: String

    /// Makes a migration.
    ///
    /// - Parameters:
    ///   - identifier: the file's name without its suffix.
    ///   - sha256: the SHA-256 of the SQL, in lower-case hexadecimal digits.
    ///   - sql: what it does.
    package init(identifier: String, sha256: String, sql: String) {
        self.identifier = identifier
        self.sha256 = sha256
        self.sql = sql
    }
}

/// A migration as recorded in a database.
package struct AppliedMigration: Sendable, Hashable {
    /// The identifier it was applied under.
    package let identifier: String
    /// The SHA-256 of the SQL that was applied.
    package let sha256: String
}

/// How a database compares with the migrations of this program.
package struct SchemaState: Sendable, Hashable {
    /// What has been applied, oldest first. Empty for an empty database.
    package let applied: [AppliedMigration]
    /// The identifiers of this program's migrations that are still to be applied.
    package let pending: [String]
    /// Whether a newer program has migrated the database: then nothing may be changed.
    package let isSuperseded: Bool

    /// Whether everything this program knows is applied, and nothing else.
    package var isCompleted: Bool { pending.isEmpty && !isSuperseded }
}
