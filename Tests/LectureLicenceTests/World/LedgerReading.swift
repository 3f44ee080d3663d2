import LectureModel

@testable import LectureStore

/// Reads what the engine has stored, on its own connection.
extension SQLiteLicenceLedger {
    func entries(after key: ContentKey?, limit: Int) throws -> [LicenceEntry] {
        try rows.entries(after: key, limit: limit)
    }
    func attempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt] { try rows.attempts(key, limit: limit) }
    func pendingCallbacks(limit: Int) throws -> [PendingCallback] { try rows.pendingCallbacks(limit: limit) }
}
