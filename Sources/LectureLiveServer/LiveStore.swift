import Glibc
import LectureCrypto
import LectureFormats
import LectureModel
import LectureSQLite

/// The store of a live server: one SQLite database for its owner only. What a method has returned is on the disk.
///
/// Only the actor that has it uses it.
final class LiveStore {
    /// "LLiv" in ASCII.
    private static let applicationID: Int32 = 0x4C4C_6976
    /// The digest is that of the file, so that a change of a shipped migration is refused at every store that has it.
    static let migrator = Migrator(
        applicationID: applicationID,
        migrations: [
            Migration(
                identifier: "0001_create_live_store",
                sha256: "851d8394f782396b47609f807b7dbf70da951cb7b750d3e02c007d607569ac7e",
                sql: String(decoding: PackageResources._001_create_live_store_sql, as: UTF8.self)),
            Migration(
                identifier: "0002_add_archives",
                sha256: "8c4bfbe835d0bfe50d9392f361e37a606ea63af3b1a92b666265e085918260b7",
                sql: String(decoding: PackageResources._002_add_archives_sql, as: UTF8.self)),
        ])

    let connection: Connection
    private let digests: OpenSSLDigests
    /// Signs playback links.
    let linkKey: SecretBytes

    /// Opens the store, and creates it when there is none. A store of a newer program is refused unchanged.
    ///
    /// - Parameters:
    ///   - path: the database.
    ///   - now: the time.
    /// - Throws: `LectureError`, as ``Migrator`` does; `createFile`.
    init(path: String, now: Timestamp) throws {
        // SQLite gives the files beside it the same mode.
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0, fchmod(file, 0o600) == 0 else {
            throw LectureError(.createFile, detail: path, cause: unsafe String(cString: strerror(errno)))
        }
        close(file)
        _ = try Self.migrator.inspect(path: path)
        connection = try Connection(path: path, access: .readWrite)
        try connection.requireDurability()
        _ = try Self.migrator.migrate(connection, now: now)
        digests = try OpenSSLDigests(proofKey: SecureRandom.bytes(32))
        let stored = try connection.first("SELECT value FROM secret WHERE id = 1") { $0.blob(0) }
        let key = try stored ?? SecureRandom.bytes(32)
        if stored == nil { try connection.execute("INSERT INTO secret(id, value) VALUES (1, ?)", key) }
        linkKey = try SecretBytes(copying: key)
    }

    /// Runs statements as one: stored when the body returns, undone when it throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.transaction(.immediate, body)
    }

    /// The digest under which a secret is stored.
    func digest(_ secret: String) throws -> [UInt8] { try digests.sha256(of: Array(secret.utf8)) }

    /// A new secret: 256 random bits.
    static func secret() throws -> String { Base64URL.text(try SecureRandom.bytes(32)) }
}

/// A member.
struct LiveMember: Hashable, Sendable {
    let id: Int64
    let userID: String
    let userName: String
}

extension LiveStore {
    /// What an application's server says about a member.
    struct Profile: Hashable, Sendable {
        var userID = ""
        var userName = ""
        var profileURL = ""
        var email = ""
        var customType = ""
        /// A JSON object as text.
        var customData = "{}"
    }

    /// Kinds of tokens.
    enum TokenKind: Int {
        case access = 1
        case streaming = 2
    }

    /// Stores a member, and tokens for it.
    ///
    /// - Parameters:
    ///   - profile: what is known about it now.
    ///   - now: the time.
    ///   - lifetime: how long the tokens work.
    /// - Returns: both tokens, which are stored nowhere.
    /// - Throws: errors of the store.
    func logIn(
        _ profile: Profile, now: Timestamp, lifetime: Duration
    ) throws -> (member: LiveMember, access: String, streaming: String) {
        let (access, streaming) = (try Self.secret(), try Self.secret())
        let member = try transaction {
            try connection.execute("DELETE FROM token WHERE expires_ms <= ?", now.milliseconds)
            try connection.execute(
                """
                INSERT INTO member(user_id, user_name, profile_url, email, custom_type, custom_data, created_ms,
                    modified_ms)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                ON CONFLICT (user_id) DO UPDATE SET user_name = ?2, profile_url = ?3, email = ?4, custom_type = ?5,
                    custom_data = ?6, modified_ms = ?7
                """, profile.userID, profile.userName, profile.profileURL, profile.email, profile.customType,
                profile.customData, now.milliseconds)
            guard let member = try self.member(userID: profile.userID) else { throw LiveRefusal.fault }
            for (token, kind) in [(access, TokenKind.access), (streaming, .streaming)] {
                try connection.execute(
                    "INSERT INTO token(digest, member_id, kind, expires_ms) VALUES (?, ?, ?, ?)", digest(token),
                    member.id, kind.rawValue, (now + lifetime).milliseconds)
            }
            return member
        }
        return (member, access, streaming)
    }

    /// The member of a token.
    ///
    /// - Parameters:
    ///   - token: the token.
    ///   - kind: what it must be for.
    ///   - now: the time.
    /// - Returns: nil for one that is not known or has expired.
    /// - Throws: errors of the store.
    func member(token: String, _ kind: TokenKind, now: Timestamp) throws -> LiveMember? {
        let digest = try digest(token)
        // The index compares digests, whose bytes a client cannot choose; the rest is constant in time.
        return try connection.first(
            """
            SELECT member.id, user_id, user_name, digest FROM token JOIN member ON member.id = member_id
            WHERE digest = ? AND kind = ? AND expires_ms > ?
            """, digest, kind.rawValue, now.milliseconds
        ) { row in
            OpenSSLDigests.equal(row.blob(3), digest)
                ? LiveMember(id: row.int64(0), userID: row.text(1), userName: row.text(2)) : nil
        } ?? nil
    }

    /// Deletes a member with its rooms and their messages.
    func delete(_ member: Int64) throws {
        try transaction { _ = try connection.execute("DELETE FROM member WHERE id = ?", member) }
    }

    /// The member of an application's name.
    func member(userID: String) throws -> LiveMember? {
        try connection.first("SELECT id, user_id, user_name FROM member WHERE user_id = ?", userID) { row in
            LiveMember(id: row.int64(0), userID: row.text(1), userName: row.text(2))
        }
    }

    /// The member of a number.
    func member(id: Int64) throws -> LiveMember? {
        try connection.first("SELECT id, user_id, user_name FROM member WHERE id = ?", id) { row in
            LiveMember(id: row.int64(0), userID: row.text(1), userName: row.text(2))
        }
    }
}
