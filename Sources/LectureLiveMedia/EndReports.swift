internal import CLectureMedia
import LectureFormats
import LectureModel

/// Receives the ends that C reports, on threads of C, until it is closed.
final class EndReports: Sendable {
    private struct State {
        var isClosed = false
        var isFinished = false
    }

    private let state = Guarded(State())
    private let onEnd: @Sendable (clm_code) -> Void
    private let onClose: @Sendable () -> Void

    init(onEnd: @escaping @Sendable (clm_code) -> Void, onClose: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
        self.onClose = onClose
    }

    /// Whether the owner has begun to end.
    var isClosed: Bool { state.withLock(\.isClosed) }

    func markClosed() { state.withLock { $0.isClosed = true } }

    func report(_ code: clm_code) { onEnd(code) }

    /// No report comes afterwards.
    func close() {
        let isFirst = state.withLock { state in
            defer { (state.isClosed, state.isFinished) = (true, true) }
            return !state.isFinished
        }
        if isFirst { onClose() }
    }
}

/// The callback of C. A function at file scope: C calls it on its own threads.
///
/// - Parameters:
///   - context: the ``EndReports``, which outlives every call.
///   - code: what has ended.
func reportEnd(_ context: UnsafeMutableRawPointer?, _ code: clm_code) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EndReports>.fromOpaque(context).takeUnretainedValue().report(code)
}

extension Duration {
    /// Whole milliseconds, between 0 and the largest number of C.
    var shortMilliseconds: Int32 { Int32(clamping: max(0, milliseconds)) }
}
