package import LectureModel

/// The way of a batch to its end: whole, or in ever smaller pieces when it is refused.
///
/// The pieces go out one after the other in their first order, so that nothing overtakes anything. Each has a number
/// of its own, and with it an id and bytes of its own. Nothing is divided, and no new number given, unless the answer
/// to the piece surely refused it; as long as that is unknown the same piece goes out again.
///
/// ```
///          refused ──────► halved: the first half goes out
///              ▲                │ refused: halved; nothing is known of the second half
///   whole ─────┤                │ accepted: the second half is to blame and is halved unsent
///              ▼                ▼
///          accepted         a piece of one that is refused itself: a dead letter
/// ```
///
/// A second half that is to blame is never sent whole, and the smaller half goes first; so one poison report among n
/// costs at most 2·log2(n) + 1 requests. No report becomes a dead letter by reasoning alone: the last one is sent by
/// itself and has an answer of its own. However many are refused, n reports cost at most 2n − 1 requests.
///
/// When the process dies, only ``current`` has to be known again, since its bytes may have gone out; what comes behind
/// it was never sent in this form and goes back to the outbox.
package struct Bisection<Report: Hashable & Sendable>: Hashable, Sendable {
    /// A part of a batch.
    package struct Piece: Hashable, Sendable {
        /// Tells the pieces of a batch apart; never given twice.
        package let number: Int
        /// The reports in their order.
        package let reports: [Report]
        /// Whether the next piece is to blame when this one is accepted.
        fileprivate var acquitsItself = false
    }

    /// What an answer led to.
    package enum Step: Hashable, Sendable {
        /// These are delivered.
        case delivered([Report])
        /// These are dead letters.
        case dead([Report], DeadReason)
        /// The piece was surely refused and is divided; its reports are sealed anew, half by half.
        case divided([Report])
        /// The same piece goes out again under the same id.
        case kept
    }

    private var pieces: [Piece]
    private var numbers = 1

    /// Begins with a whole batch.
    ///
    /// - Parameter reports: in their order; none makes a batch that is at its end.
    package init(_ reports: [Report]) {
        pieces = reports.isEmpty ? [] : [Piece(number: 0, reports: reports)]
    }

    /// What is to be sent, nil at the end.
    package var current: Piece? { pieces.last }

    /// The reports that have no end yet, in their order.
    package var remaining: [Report] { pieces.reversed().flatMap(\.reports) }

    /// Takes the verdict on ``current``.
    ///
    /// - Parameter verdict: for a request with exactly the reports of ``current``.
    /// - Returns: what is to be written down.
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
