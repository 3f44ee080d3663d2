import LectureEngine
import LectureModel

/// The space for a lecture.
extension ItemStep {
    /// Stops an item for lack of space; it is tried again when there may be some.
    mutating func stopForSpace(_ code: LectureError.Code) throws {
        switch code {
        case .quota: try stop(.quota, LectureError(code), for: .seconds(60))
        default: try stop(.space, LectureError(code), for: .seconds(30))
        }
    }

    /// Whether this many more bytes would exceed the quota of all lectures together.
    func quotaIsPassed(by bytes: UInt64) throws -> Bool {
        guard let quota = settings.quotaBytes else { return false }
        return try index.resources.plannedBytes() + bytes > quota
    }

    /// Checks files of unknown length against the quota while they are received. An item that exceeds it is stopped and
    /// its data deleted, since that would keep using space it is not entitled to.
    ///
    /// - Parameter position: where its body has just ended; 0 during the transfer.
    /// - Returns: whether the item is ending.
    /// - Throws: what the store throws.
    mutating func stopsForQuota(endingAt position: UInt64 = 0) throws -> Bool {
        guard settings.quotaBytes != nil, !item.isEnding else { return item.isEnding }
        let others = shared.items.works.reduce(0) { $0 + ($1.isEnding ? 0 : $1.unplannedBytes()) }
        let bytes = others + item.unplannedBytes(endingAt: position)
        guard try quotaIsPassed(by: bytes) else { return false }
        let error = LectureError(.quota)
        // Nothing shows in advance that it would fit, so only a person or a program retries it.
        try end(item.machine.stopped(.quota, error: error, until: nil, now: now), discarding: true)
        return true
    }
}
