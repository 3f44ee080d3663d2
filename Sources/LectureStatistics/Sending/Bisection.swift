package import LectureModel

/// Sends a batch as a whole, or in ever smaller pieces when it is refused.
///
/// The pieces are sent one after the other in their original order, so that no report overtakes another. Each has its
/// own number, and with it its own id and bytes. A piece is divided, and new numbers are given, only when its answer
/// was certainly a refusal; as long as that is unknown the same piece is sent again.
///
/// ```
///          refused ──────► halved: the first half is sent
///              ▲                │ refused: halved; nothing is known of the second half
///   whole ─────┤                │ accepted: the second half is to blame and is halved unsent
///              ▼                ▼
///          accepted         a piece of one that is refused itself: a dead letter
/// ```
///
/// A second half that is to blame is never sent whole, and the smaller half goes first; so one poison report among n
/// costs at most 2·log2(n) + 1 requests. No report becomes a dead letter by inference alone: the last one is sent alone
/// and has its own answer. However many are refused, n reports cost at most 2n − 1 requests.
///
/// After a crash only ``current`` must be restored, since its bytes may have been sent; what follows it was never sent
/// in this form and returns to the outbox.
package struct Bisection<Report: Hashable & Sendable>: Hashable, Sendable {
    /// A part of a batch.
    package struct Piece: Hashable, Sendable {
        /// Identifies a piece within its batch; never reused.
        package let number: Int
        /// The reports in order.
        package let reports: [Report]
        /// Whether the next piece is to blame when this one is accepted.
        fileprivate var acquitsItself = false
    }

    /// The consequence of an answer.
    package enum Step: Hashable, Sendable {
        /// These are delivered.
        case delivered([Report])
        /// These are dead letters.
        case dead([Report], DeadReason)
        /// The piece was certainly refused and is divided; its reports are frozen again, half by half.
        case divided([Report])
        /// The same piece is sent again under the same id.
        case kept
    }

    private var pieces: [Piece]
    private var numbers = 1

    /// Starts with a whole batch.
    ///
    /// - Parameter reports: in order; without any, the batch is finished.
    package init(_ reports: [Report]) {
        pieces = reports.isEmpty ? [] : [Piece(number: 0, reports: reports)]
    }

    /// The piece to send, nil at the end.
    package var current: Piece? { pieces.last }

    /// The reports that are not settled yet, in order.
    package var remaining: [Report] { pieces.reversed().flatMap(\.reports) }

    /// Takes the verdict on ``current``.
    ///
    /// - Parameter verdict: for a request with exactly the reports of ``current``.
    /// - Returns: what to store.
    package mutating func take(_ verdict: SendVerdict) -> Step {
        guard let piece = pieces.last else { return .kept }
        switch verdict {
        case .delivered:
            pieces.removeLast()
            if piece.acquitsItself { divideSuspect() }
            return .delivered(piece.reports)
        case .dead(let reason):
            pieces.removeLast()
            return .dead(piece.reports, reason)
        case .split: return refused(piece, isByReport: false, .tooLarge)
        case .bisect: return refused(piece, isByReport: true, .refused)
        case .keep, .follow, .suspend: return .kept
        }
    }

    private mutating func refused(_ piece: Piece, isByReport: Bool, _ reason: DeadReason) -> Step {
        pieces.removeLast()
        guard piece.reports.count > 1 else { return .dead(piece.reports, reason) }
        divide(piece, isByReport: isByReport)
        return .divided(piece.reports)
    }

    /// The piece on top is to blame: it is divided without being sent, unless it is one report.
    private mutating func divideSuspect() {
        guard let suspect = pieces.last, suspect.reports.count > 1 else { return }
        pieces.removeLast()
        divide(suspect, isByReport: true)
    }

    private mutating func divide(_ piece: Piece, isByReport: Bool) {
        let half = piece.reports.count / 2
        pieces.append(Piece(number: numbers + 1, reports: Array(piece.reports[half...])))
        pieces.append(
            Piece(number: numbers, reports: Array(piece.reports[..<half]), acquitsItself: isByReport))
        numbers += 2
    }
}
