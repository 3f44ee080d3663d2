import LectureModel

/// What may be tried now in a queue, in three queries that each have an index: an OR of them, as in
/// ``RetryWait/isOver(_:of:)``, would scan everything.
enum Waiting {
    /// Never tried.
    case fresh
    /// Tried, and the wait is over.
    case over
    /// The clock was set back by more than the length of the wait.
    case setBack

    static let conditions: [Self] = [.fresh, .over, .setBack]

    /// The condition, with the wall clock as its only parameter where needed.
    var sql: String {
        switch self {
        case .fresh: "next_attempt_ms IS NULL"
        case .over: "next_attempt_ms IS NOT NULL AND next_attempt_ms <= ?1"
        case .setBack: "next_attempt_ms > ?1 AND wait_set_ms - ?1 > next_attempt_ms - wait_set_ms"
        }
    }

    /// Whether ``sql`` has the wall clock as its parameter.
    var takesNow: Bool { self != .fresh }

    /// The tie-breaker of the order, as in the index.
    var tie: String { self == .fresh ? "wait_set_ms, id" : "wait_set_ms" }
}
