import LectureFormats
import LectureModel
import LectureSQLite

/// The columns of `licence` and their conversion to values and codes.
enum LicenceColumns {
    /// The columns covered by a code, in its frozen order. The last one came later than the others: a code covers it
    /// only where it is not NULL, so that the codes of earlier rows stay valid.
    static let coded: [(name: String, isNumber: Bool)] = [
        ("content_key", false), ("callback_url", false), ("drm_key_id", false), ("client_user_id", false),
        ("user_values", false), ("form", true), ("is_verified", true), ("device_thumbprint", false),
        ("starts_ms", true), ("expires_ms", true), ("count_limit", true), ("play_time_limit_ms", true),
        ("play_time_unit", true), ("check_ms", true), ("checks_every_play", true), ("asks_before_renewal", true),
        ("bookmark_scope", true), ("bookmarks_are_read_only", true), ("count_used", true),
        ("play_time_used_ms", true), ("is_force_expired", true), ("is_deleted", true), ("was_seen_expired", true),
        ("owes_completion", true), ("suspicion", true), ("issued_ms", true), ("token_id", false),
        ("granted_ms", true), ("checked_ms", true), ("token", false),
        ("granting_keys", false),
    ]

    /// The index of the granting keys in ``coded``.
    private static let grantingKeys = Int32(coded.count - 1)

    /// The index of the suspicion in ``coded``.
    static let suspicion: Int32 = 24

    /// The columns that no code covers: the result of the last attempt.
    static let attempt = ["attempts", "next_attempt_ms", "wait_set_ms", "error_code", "error_detail"]

    /// What ``entry(_:_:)`` reads: the coded columns, the code, the attempt. No other column may come before these.
    static let list = (coded.map(\.name) + ["mac"] + attempt).map { "licence.\($0)" }.joined(separator: ", ")

    /// How many columns ``list`` has.
    static let count = Int32(coded.count + 1 + attempt.count)

    /// The index of the code in ``list``.
    static let mac = Int32(coded.count)

    static let insert = """
        INSERT INTO licence(\((coded.map(\.name) + ["mac"] + attempt).joined(separator: ", ")), content_id)
        VALUES (\([String](repeating: "?", count: Int(count)).joined(separator: ", ")),
            (SELECT id FROM content WHERE key = ?1))
        """

    /// The values of the coded columns.
    static func values(_ entry: LicenceEntry) throws -> [SQLiteValue] {
        let record = entry.record
        let policy = record?.policy ?? LicencePolicy()
        let userValues = entry.source.userValues
        return [
            entry.key.sqliteValue, entry.source.callbackURL.sqliteValue, entry.source.keyID.sqliteValue,
            entry.source.clientUserID.sqliteValue,
            (userValues.isEmpty ? "{}" : try JSONText.encode(userValues)).sqliteValue,
            (record?.form.rawValue).sqliteValue, (record?.isVerified ?? false).sqliteValue,
            (record?.deviceThumbprint).sqliteValue, policy.startsAt.sqliteValue, policy.expiresAt.sqliteValue,
            policy.countLimit.sqliteValue, (policy.playTimeLimit?.milliseconds).sqliteValue,
            policy.playTimeUnit.rawValue.sqliteValue, policy.checkAt.sqliteValue, policy.checksEveryPlay.sqliteValue,
            policy.asksBeforeRenewal.sqliteValue, policy.bookmarks.rawValue.sqliteValue,
            policy.bookmarksAreReadOnly.sqliteValue, (record?.countUsed ?? 0).sqliteValue,
            (record?.playTimeUsed ?? .zero).milliseconds.sqliteValue, (record?.isForceExpired ?? false).sqliteValue,
            (record?.isDeleted ?? false).sqliteValue, (record?.wasSeenExpired ?? false).sqliteValue,
            entry.owesCompletion.sqliteValue,
            (entry.suspicion?.rawValue ?? LicenceSuspicion.noneStored).sqliteValue, entry.issued.sqliteValue,
            entry.tokenID.sqliteValue, entry.granted.sqliteValue, entry.checked.sqliteValue, entry.token.sqliteValue,
            (entry.grantingKeys?.text).sqliteValue,
        ]
    }

    /// The part of ``values(_:)`` that a code covers.
    static func covered(_ values: [SQLiteValue]) -> [SQLiteValue] { values.last == .null ? values.dropLast() : values }

    /// The values of the columns of the last attempt.
    static func attemptValues(_ entry: LicenceEntry) -> [SQLiteValue] {
        [
            entry.attempts.sqliteValue, entry.nextAttempt.sqliteValue, entry.waitSet.sqliteValue,
            (entry.error?.code.number).sqliteValue, (entry.error?.detail ?? "").sqliteValue,
        ]
    }

    /// Converts a row of ``list`` to its coded form.
    ///
    /// - Parameters:
    ///   - row: of ``list``.
    ///   - form: starts with the domain; the rest is replaced.
    ///   - suspicion: replaces the stored one, 0 for none; nil keeps it.
    static func encode(_ row: borrowing Row, into form: inout CodedBytes, suspicion: Int? = nil) {
        for (place, column) in coded.enumerated() where place != grantingKeys || !row.isNull(grantingKeys) {
            if let suspicion, place == Int(Self.suspicion) {
                form.append(number: Int64(suspicion))
            } else {
                form.append(row, Int32(place), isNumber: column.isNumber)
            }
        }
    }

    /// Reads a row of ``list``.
    ///
    /// - Parameters:
    ///   - row: of ``list``.
    ///   - codes: nil trusts every row.
    /// - Returns: the licence; with the suspicion `forged` when its code does not match.
    /// - Throws: ``LectureError`` with the code `storeDamaged` for a row that matches its code but has impossible
    ///   values.
    static func entry(_ row: borrowing Row, _ codes: LedgerCodes?) throws -> LicenceEntry {
        try entry(row, isForged: codes.map { !fits(row, $0) } ?? false)
    }

    /// The same for a row whose code was checked.
    static func entry(_ row: borrowing Row, isForged: Bool) throws -> LicenceEntry {
        var entry = LicenceEntry(key: ContentKey(stored: row.text(0)), source: LicenceSource())
        entry.source.callbackURL = row.text(1)
        entry.source.keyID = row.text(2)
        entry.source.clientUserID = row.text(3)
        entry.source.userValues = try userValues(row, isForged: isForged)
        entry.record = row.isNull(5) ? nil : try record(row, isForged: isForged)
        entry.token = row.text(29)
        entry.issued = row.optionalTimestamp(25)
        entry.tokenID = row.text(26)
        entry.granted = row.optionalTimestamp(27)
        entry.checked = row.optionalTimestamp(28)
        entry.owesCompletion = row.bool(23)
        entry.grantingKeys = row.isNull(grantingKeys) ? nil : GrantingKeys(stored: row.text(grantingKeys))
        entry.suspicion = isForged ? .forged : LicenceSuspicion(rawValue: row.int(suspicion))
        entry.attempts = row.int(mac + 1)
        entry.nextAttempt = row.optionalTimestamp(mac + 2)
        entry.waitSet = row.optionalTimestamp(mac + 3)
        entry.error = row.optionalInt(mac + 4).map { LectureError(.stored($0), detail: row.text(mac + 5)) }
        return entry
    }

    private static func fits(_ row: borrowing Row, _ codes: LedgerCodes) -> Bool {
        var form = codes.licenceForm()
        encode(row, into: &form)
        return LedgerCodes.equal(codes.code(form), row.blob(mac))
    }

    private static func record(_ row: borrowing Row, isForged: Bool) throws -> LicenceRecord {
        // A forger may write meaningless numbers; such a row must still be readable as forged.
        func pick<Value: RawRepresentable<Int>>(_ column: Int32, _ least: Value) throws -> Value {
            isForged ? Value(rawValue: row.int(column)) ?? least : try row.enumeration(column, Value.self)
        }
        var policy = LicencePolicy()
        policy.startsAt = row.optionalTimestamp(8)
        policy.expiresAt = row.optionalTimestamp(9)
        policy.countLimit = row.optionalInt(10)
        policy.playTimeLimit = row.optionalInt64(11).map { .milliseconds($0) }
        policy.playTimeUnit = try pick(12, .media)
        policy.checkAt = row.optionalTimestamp(13)
        policy.checksEveryPlay = row.bool(14)
        policy.asksBeforeRenewal = row.bool(15)
        policy.bookmarks = try pick(16, .none)
        policy.bookmarksAreReadOnly = row.bool(17)
        var record = LicenceRecord(form: try pick(5, .callback), policy: policy, isVerified: row.bool(6))
        record.deviceThumbprint = row.optionalBlob(7)
        record.countUsed = row.int(18)
        record.playTimeUsed = .milliseconds(row.int64(19))
        record.isForceExpired = row.bool(20)
        record.isDeleted = row.bool(21)
        record.wasSeenExpired = row.bool(22)
        return record
    }

    private static func userValues(_ row: borrowing Row, isForged: Bool) throws -> [String: String] {
        let text = row.text(4)
        if text == "{}" { return [:] }
        do { return try JSONText.headers(text) } catch {
            guard isForged else { throw error }
            return [:]
        }
    }
}
