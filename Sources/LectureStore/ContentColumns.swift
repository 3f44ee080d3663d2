import LectureFormats
import LectureModel
import LectureSQLite

/// The columns of `content` for lists and the engine, and their conversion to values.
enum ContentColumns {
    /// What a list shows, in the order that ``content(_:)`` reads.
    static let list = """
        \(row), \
        CASE WHEN content.state = \(sql: ItemState.completed) THEN 0 ELSE (SELECT version.is_outdated FROM version \
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current)) END
        """

    /// The same for a statement with ``versionJoin``.
    static let joinedList = "\(row), \(joinedOutdated)"

    /// What ``line(_:_:)`` reads, for a statement with ``versionJoin``.
    static let joinedLine = """
        content.id, content.key, content.title, content.content_type, content.state, content.stop_reason, \
        content.error_code, content.error_detail, content.error_cause, content.priority, content.bytes_total, \
        content.bytes_proven, content.chunks_total, content.chunks_proven, \(joinedOutdated)
        """
    /// How many columns ``joinedLine`` has.
    static let lineCount: Int32 = 15

    private static let joinedOutdated =
        "CASE WHEN content.state = \(sql: ItemState.completed) THEN 0 ELSE kept.is_outdated END"

    /// Joins the complete version: a long list then looks it up once for each row, and opens no subquery for it.
    static let versionJoin = """
         LEFT JOIN version AS kept INDEXED BY version_current \
        ON kept.content_id = content.id AND kept.state = \(sql: VersionState.current)
        """

    private static let row = """
        content.id, content.key, content.source_url, content.title, content.course, content.teacher, content.folder, \
        content.content_type, content.state, content.stop_reason, content.error_code, content.error_detail, \
        content.error_cause, content.priority, content.position, content.bytes_total, content.bytes_proven, \
        content.chunks_total, content.chunks_proven, content.attempts, content.next_attempt_ms, content.sha256, \
        content.duration_ms, content.added_ms, content.completed_ms
        """

    /// How many columns ``list`` has.
    static let count: Int32 = 26

    /// The path of the media of a lecture's complete version, as ``media(_:_:)`` reads it. One text and not three
    /// columns: each column would look up its row again.
    static let media = """
        (SELECT \(mediaText) FROM version INDEXED BY version_current \
        CROSS JOIN resource INDEXED BY resource_version ON resource.version_id = version.id \
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current) \
        AND resource.role = \(sql: ResourceRole.media) ORDER BY resource.position LIMIT 1)
        """

    /// The same as ``media`` for a statement with ``versionJoin``.
    static let joinedMedia = """
        CASE WHEN kept.id IS NOT NULL THEN (SELECT \(mediaText) FROM resource INDEXED BY resource_version \
        WHERE resource.version_id = kept.id AND resource.role = \(sql: ResourceRole.media) \
        ORDER BY resource.position LIMIT 1) END
        """

    private static let mediaText = """
        resource.seal || ':' || coalesce(resource.total_bytes, '') || ':' || resource.file_path
        """

    /// The columns for the engine, in the order that ``item(_:)`` reads: the list's columns first.
    static let item = """
        \(list), content.desire, content.is_gateway, content.is_loaded, content.headers, content.mirrors, \
        content.expected_sha256, content.expected_bytes, content.wait_set_ms, content.lease_fence, \
        (SELECT version.id FROM version \
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current)), \
        EXISTS (SELECT 1 FROM version JOIN resource ON resource.version_id = version.id \
        WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current) \
        AND version.is_outdated = 0 AND resource.proven_count < resource.chunk_count), content.selection
        """

    /// Reads the columns of ``list``.
    ///
    /// - Parameters:
    ///   - row: of a query.
    ///   - first: the index of the first of them.
    /// - Returns: the lecture.
    /// - Throws: ``LectureError`` with the code `storeDamaged`.
    static func content(_ row: borrowing Row, from first: Int32 = 0) throws -> Content {
        var content = Content(
            key: ContentKey(stored: row.text(first + 1)), sourceURL: row.text(first + 2), title: row.text(first + 3),
            state: try row.enumeration(first + 8, ItemState.self), added: row.timestamp(first + 23))
        content.course = row.text(first + 4)
        content.teacher = row.text(first + 5)
        content.folder = row.text(first + 6)
        content.type = try row.enumeration(first + 7, ContentType.self)
        content.stopReason = try stopReason(row, first + 9)
        content.error = error(row, from: first + 10)
        content.priority = row.int(first + 13)
        content.position = row.int64(first + 14)
        content.totalBytes = isGrowing(content.type, content.state) ? nil : row.optionalInt64(first + 15)
        content.committedBytes = row.int64(first + 16)
        content.totalChunks = row.int(first + 17)
        content.committedChunks = row.int(first + 18)
        content.attempts = row.int(first + 19)
        content.nextAttempt = row.optionalTimestamp(first + 20)
        content.sha256 = row.optionalBlob(first + 21)
        content.duration = row.optionalInt64(first + 22).map { .milliseconds($0) }
        content.completed = row.optionalTimestamp(first + 24)
        content.isPlayable = !row.isNull(first + 25)
        content.isOutdated = row.optionalInt(first + 25) == 1
        return content
    }

    /// Reads the columns of ``joinedLine``.
    ///
    /// - Parameters:
    ///   - row: of a query.
    ///   - line: what they are read into, in place of another lecture.
    /// - Throws: ``LectureError`` with the code `storeDamaged`.
    static func line(_ row: borrowing Row, _ line: inout ContentLine) throws {
        line.setTexts(key: { row.appendText(1, to: &$0) }, title: { row.appendText(2, to: &$0) })
        line.type = try row.enumeration(3, ContentType.self)
        line.state = try row.enumeration(4, ItemState.self)
        line.stopReason = try stopReason(row, 5)
        line.error = error(row, from: 6)
        line.priority = row.int(9)
        line.totalBytes = isGrowing(line.type, line.state) ? nil : row.optionalInt64(10)
        line.committedBytes = row.int64(11)
        line.totalChunks = row.int(12)
        line.committedChunks = row.int(13)
        line.isOutdated = row.int(14) == 1
    }

    private static func stopReason(_ row: borrowing Row, _ column: Int32) throws -> StopReason? {
        row.isNull(column) ? nil : try row.enumeration(column, StopReason.self)
    }

    /// Reads a code, the detail and the cause.
    private static func error(_ row: borrowing Row, from first: Int32) -> LectureError? {
        guard let code = row.optionalInt(first) else { return nil }
        return LectureError(.stored(code), detail: row.text(first + 1), cause: row.text(first + 2))
    }

    /// Whether files may still be added: the length of a segment is known once it is fetched, and until all are, the
    /// sum says nothing.
    private static func isGrowing(_ type: ContentType, _ state: ItemState) -> Bool {
        type == .adaptiveDownload && state != .completed
    }

    /// Reads the column ``media``.
    ///
    /// - Parameters:
    ///   - row: of a query.
    ///   - column: its index.
    /// - Returns: nil for a lecture without a complete version.
    static func media(_ row: borrowing Row, _ column: Int32) -> FinalizedFile? {
        guard let text = row.optionalText(column) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var record = ResourceRecord(
            id: ResourceID(0), version: VersionID(0), content: ContentID(0), role: .media)
        record.seal = Int(parts[0]).flatMap { SealState(rawValue: $0) } ?? .plain
        record.total = UInt64(parts[1])
        return FinalizedFile(path: String(parts[2]), fileBytes: record.fileBytes)
    }

    /// Reads a row of ``item``.
    static func item(_ row: borrowing Row) throws -> ItemRecord {
        var record = ItemRecord(
            id: row.id(0), content: try content(row), targetState: try row.enumeration(26, TargetState.self),
            fence: row.int64(34)
        )
        record.isGateway = row.bool(27)
        record.isLoaded = row.bool(28)
        record.headers = try JSONText.headers(row.text(29))
        record.mirrors = try JSONText.list(row.text(30))
        record.expectedSHA256 = row.optionalBlob(31)
        record.expectedBytes = row.optionalInt64(32)
        record.waitSet = row.optionalTimestamp(33)
        record.currentVersion = row.isNull(35) ? nil : row.id(35)
        record.needsRepair = row.bool(36)
        record.selection = try StreamSelection(stored: row.text(37))
        return record
    }
}

extension Connection {
    /// The lecture with this key.
    func item(key: ContentKey) throws -> ItemRecord? {
        try first("SELECT \(ContentColumns.item) FROM content WHERE key = ?", key) { try ContentColumns.item($0) }
            ?? item(formerKey: key)
    }

    /// The lecture whose key was derived from its link until the gateway named it: such a key ends in the first eight
    /// bytes of the source's identity, and stays valid for callers that have it.
    private func item(formerKey key: ContentKey) throws -> ItemRecord? {
        guard let identities = Self.identities(ofDerivedKey: key) else { return nil }
        return try first(
            """
            SELECT \(ContentColumns.item) FROM content
            WHERE source_identity >= ? AND source_identity <= ? AND is_gateway = 1
            """,
            identities.lowerBound, identities.upperBound
        ) { try ContentColumns.item($0) }
    }

    /// The row of the lecture with this source, or else of the one that has or had the key derived from it: one
    /// statement, whether the lecture is known or new.
    ///
    /// - Parameter source: the source of a request.
    /// - Returns: nil when a request for it adds a lecture.
    /// - Throws: ``LectureError``.
    func contentID(of source: RequestSource) throws -> ContentID? {
        let former = Self.identities(ofDerivedKey: source.derivedKey)
        return try first(
            """
            SELECT coalesce(
                (SELECT id FROM content WHERE source_identity = ? ORDER BY id LIMIT 1),
                (SELECT id FROM content WHERE key = ?),
                (SELECT id FROM content WHERE source_identity >= ? AND source_identity <= ? AND is_gateway = 1))
            """, source.identity, source.derivedKey, former?.lowerBound, former?.upperBound
        ) { $0.optionalInt64(0).map { ContentID($0) } } ?? nil
    }

    /// Where the identities lie whose derived key this may be; nil when it is no derived key.
    private static func identities(ofDerivedKey key: ContentKey) -> (lowerBound: [UInt8], upperBound: [UInt8])? {
        let digits = String(decoding: key.text.utf8.suffix(16), as: UTF8.self)
        guard key.text.utf8.count > 17, let prefix = Hexadecimal.bytes(digits) else { return nil }
        return (prefix, prefix + [UInt8](repeating: 0xFF, count: 24))
    }

    /// The row of the lecture with this key, or that had it until its gateway named it.
    func contentID(_ key: ContentKey) throws -> ContentID? {
        try first("SELECT id FROM content WHERE key = ?", key) { $0.id(0) } ?? item(formerKey: key)?.id
    }

    /// The lecture of this row.
    func item(id: ContentID) throws -> ItemRecord? {
        try first("SELECT \(ContentColumns.item) FROM content WHERE id = ?", id) { try ContentColumns.item($0) }
    }
}
