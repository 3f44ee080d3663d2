import Glibc
import LectureFiles
import LectureModel

/// Bounds how fast a file is read, by letting the reading thread wait.
final class Pace: Sendable {
    private let bytesPerSecond: Int?
    private let began = SystemClock().boot()
    private let bytes = Guarded(0)

    init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

    /// Bytes were read: waits until that many were due. Always answers true: nobody stops a verification half-way.
    func took(_ count: Int) -> Bool {
        guard let bytesPerSecond, bytesPerSecond > 0 else { return true }
        let sum = bytes.withLock { bytes in
            bytes += count
            return bytes
        }
        let due = began + .seconds(Double(sum) / Double(bytesPerSecond))
        let wait = (due - SystemClock().boot()).nanosecondCount
        guard wait > 0 else { return true }
        var time = timespec(tv_sec: Int(wait / 1_000_000_000), tv_nsec: Int(wait % 1_000_000_000))
        var left = timespec()
        while unsafe nanosleep(&time, &left) != 0, errno == EINTR { time = left }
        return true
    }
}
