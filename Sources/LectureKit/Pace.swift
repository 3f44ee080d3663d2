import Glibc
import LectureFiles
import LectureFormats
import LectureModel

/// Limits how fast a file is read by pausing the reading thread, and ends the reading on request.
final class Pace: Sendable {
    private let bytesPerSecond: Int?
    private let began = SystemClock().boot()
    private let state = Guarded((bytes: 0, isStopped: false))

    init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

    /// Stops the reading. From any thread.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Records bytes that were read and waits as long as the limit requires.
    ///
    /// - Returns: whether reading continues.
    func took(_ count: Int) -> Bool {
        let sum = state.withLock { state in
            state.bytes += count
            return state.bytes
        }
        guard let bytesPerSecond, bytesPerSecond > 0 else { return continues }
        let due = began + .seconds(Double(sum) / Double(bytesPerSecond))
        while continues {
            let wait = (due - SystemClock().boot()).nanosecondCount
            guard wait > 0 else { return true }
            // In slices, so that a thread without a waiting caller is soon free.
            var time = timespec(tv_sec: 0, tv_nsec: Int(min(wait, Self.slice)))
            // proof: files are read on Dispatch's threads, never on Swift's pool, and the time to wait is known.
            _ = unsafe nanosleep(&time, nil)
        }
        return false
    }

    private static let slice: Int64 = 100_000_000
    private var continues: Bool { state.withLock { !$0.isStopped } }
}
