import LectureEngine
import LectureFormats
import LectureModel

extension CallbackQuestion {
    /// Asks a server about a licence.
    ///
    /// - Parameters:
    ///   - asked: what for.
    ///   - entry: the licence.
    ///   - settings: those of the engine.
    ///   - step: the time, and randomness for the session key.
    init(_ asked: Asked, _ entry: LicenceEntry, _ settings: LicenceSettings, _ step: Step<LicenceMachine>) {
        self.init(
            asked.purpose.kind, mediaContentKey: asked.key.text, clientUserID: entry.source.clientUserID,
            playerID: settings.playerID, deviceName: settings.deviceName, localTime: step.now)
        userValues = entry.source.userValues
        guard asked.purpose.kind == .check, let record = entry.record else { return }
        let known = step.context.time.time.noEarlierThan
        sessionKey = Self.newSessionKey(step)
        expiresAt = record.policy.expiresAt
        isExpired = record.isForceExpired || record.wasSeenExpired || Self.hasPassed(record.policy.expiresAt, known)
        isCheckDue = Self.hasPassed(record.policy.checkAt, known)
        if case .renewal = asked.purpose { isRenewal = true }
    }

    private static func hasPassed(_ end: Timestamp?, _ now: Timestamp?) -> Bool {
        guard let end, let now else { return false }
        return now >= end
    }

    /// 128 random bits in hexadecimal digits. Kept in memory only, and never shown.
    private static func newSessionKey(_ step: Step<LicenceMachine>) -> String {
        let numbers = [step.random(), step.random()]
        return Hexadecimal.text(
            numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } })
    }
}
