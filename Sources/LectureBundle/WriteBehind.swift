import Dispatch
import LectureFiles
package import LectureModel

/// Writes on a thread of its own, in the order of the calls: while a piece is written, the caller makes the next one.
///
/// ```
///     open ──a write fails──▶ failed: nothing is written any more, and each call throws that error
/// ```
package final class WriteBehind: Sendable {
    private struct State {
        /// How many pieces wait, or are being written.
        var pending = 0
        var failure: LectureError?
    }

    /// So many pieces wait at most; a piece is a chunk.
    private static let limit = 2
    private let state = Monitor(State())
    private let queue = DispatchQueue(label: "LectureBundle.WriteBehind")
    private let sink: @Sendable ([UInt8]) throws(LectureError) -> Void

    /// - Parameter sink: writes a piece; called for one after the other.
    package init(_ sink: @escaping @Sendable ([UInt8]) throws(LectureError) -> Void) { self.sink = sink }

    /// Has a piece written. Blocks while too many wait, as writing it would; the queue that ends the wait has a thread
    /// of its own.
    ///
    /// - Parameter bytes: the piece.
    /// - Throws: ``LectureError`` of this or an earlier piece.
    package func write(_ bytes: [UInt8]) throws(LectureError) {
        let failure: LectureError?? = state.wait { state in
            if let failure = state.failure { return .some(failure) }
            guard state.pending < Self.limit else { return nil }
            state.pending += 1
            return .some(nil)
        }
        if let failure = failure ?? nil { throw failure }
        queue.async { [self] in
            let failure = state.read { $0.failure } ?? attempt(bytes)
            state.change { state in (state.pending, state.failure) = (state.pending - 1, failure) }
        }
    }

    private func attempt(_ bytes: [UInt8]) -> LectureError? {
        do throws(LectureError) {
            try sink(bytes)
            return nil
        } catch { return error }
    }

    /// Waits until everything is written.
    ///
    /// - Throws: ``LectureError`` of the piece that was not.
    package func finish() throws(LectureError) {
        let failure: LectureError?? = state.wait { state in state.pending == 0 ? .some(state.failure) : nil }
        if let failure = failure ?? nil { throw failure }
    }
}
