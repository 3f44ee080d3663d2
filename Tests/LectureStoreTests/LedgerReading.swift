import LectureModel

@testable import LectureStore

/// Reads what a ledger has stored, on its own connection.
extension SQLiteLicenceLedger {
    func entries(after key: ContentKey?, limit: Int) throws -> [LicenceEntry] {
        try rows.entries(after: key, limit: limit)
    }
    func entries(deadlineBefore before: Timestamp?, limit: Int) throws -> [LicenceEntry] {
        try rows.entries(deadlineBefore: before, limit: limit)
    }
    func count(deadlineBefore before: Timestamp?) throws -> Int { try rows.count(deadlineBefore: before) }
    func attempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt] { try rows.attempts(key, limit: limit) }
    func pendingCallbacks(limit: Int) throws -> [PendingCallback] { try rows.pendingCallbacks(limit: limit) }
    func candidates(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> [RenewalCandidate] {
        try rows.candidates(selection, kind, now: now)
    }
}
