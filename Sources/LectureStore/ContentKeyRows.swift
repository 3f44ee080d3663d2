package import LectureModel
import LectureSQLite

/// The wrapped keys of sealed files. Table content_key.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ContentKeyRows: ContentKeyStore {
    let connection: Connection

    private static let columns = "wrapped, purpose, granting_keys"

    /// Reads wrapped, purpose and granting_keys.
    ///
    /// - Parameters:
    ///   - row: of a query.
    ///   - first: the index of the first of them.
    /// - Returns: the key.
    /// - Throws: ``LectureError`` with the code `storeDamaged`.
    static func wrappedKey(_ row: borrowing Row, from first: Int32 = 0) throws -> WrappedKey {
        WrappedKey(
            wrapped: row.blob(first), purpose: try row.enumeration(first + 1, SealPurpose.self),
            grantingKeys: row.isNull(first + 2) ? nil : GrantingKeys(stored: row.text(first + 2)))
    }

    /// The wrapped key of a lecture.
    package func key(_ content: ContentID) throws -> WrappedKey? {
        try connection.first(
            "SELECT \(Self.columns) FROM content_key WHERE content_id = ?", content
        ) { try Self.wrappedKey($0) }
    }

    /// The wrapped key of the lecture with this key.
    package func key(of key: ContentKey) throws -> WrappedKey? {
        try connection.first(
            """
            SELECT \(Self.columns) FROM content_key
            WHERE content_id = (SELECT id FROM content WHERE content.key = ?)
            """, key
        ) { try Self.wrappedKey($0) }
    }

    /// The lectures whose licence, or the key of whose media, names a granting key.
    package func keys(coveredBy signer: String, after key: ContentKey?, limit: Int) throws -> [ContentKey] {
        // Thumbprints all have the same length, so that none is part of another.
        try connection.query(
            """
            SELECT name FROM (
                SELECT content_key AS name FROM licence WHERE instr(granting_keys, ?1) > 0
                UNION
                SELECT content.key FROM content JOIN content_key ON content_id = content.id
                WHERE instr(content_key.granting_keys, ?1) > 0
            ) WHERE name > ?2 ORDER BY name LIMIT ?3
            """, signer, key?.text ?? "", limit
        ) { ContentKey(stored: $0.text(0)) }
    }

    /// Stores the wrapped key of a lecture; never replaces one: files sealed under it could not be opened any more.
    package func add(_ content: ContentID, _ key: WrappedKey, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO content_key(content_id, wrapped, purpose, granting_keys, made_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (content_id) DO NOTHING
            """, content, key.wrapped, key.purpose.rawValue, key.grantingKeys?.text, now)
    }

    /// Replaces the wrapping of a lecture's key; the key itself stays.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - old: what is stored.
    ///   - new: the same key, bound to other granting keys.
    /// - Throws: ``LectureError``.
    package func rewrap(of key: ContentKey, _ old: WrappedKey, as new: WrappedKey) throws {
        try connection.execute(
            """
            UPDATE content_key SET wrapped = ?, granting_keys = ?
            WHERE content_id = (SELECT id FROM content WHERE content.key = ?) AND wrapped = ?
            """, new.wrapped, new.grantingKeys?.text, key, old.wrapped)
    }
}
