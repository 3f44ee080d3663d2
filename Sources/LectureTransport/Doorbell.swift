import CCurl
import Glibc
import LectureModel

/// Wakes the transport's thread, whether it waits for sockets or, when a rate limit forbids reading, for this alone.
final class Doorbell: Sendable {
    private let reading: Int32
    private let writing: Int32

    /// Makes a bell.
    ///
    /// - Throws: `LectureError(.transfer(2))` when the process has too many open files.
    init() throws(LectureError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw LectureError(.transfer(Int(CURLE_FAILED_INIT.rawValue)), cause: "too many open files")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Ends the current wait, or the next one. From any thread. A full pipe is a ringing bell.
    func ring() {
        var byte: UInt8 = 1
        _ = unsafe write(writing, &byte, 1)
    }

    /// Waits for the bell alone. Take the mail after a wait, never before it: the wait clears the bell.
    ///
    /// - Parameter limit: the longest wait.
    func wait(atMost limit: Duration) {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        _ = unsafe Glibc.poll(&entry, 1, Self.milliseconds(limit))
        if entry.revents != 0 { silence() }
    }

    /// Waits for the bell and for a socket that is ready. As ``wait(atMost:)``.
    ///
    /// - Parameters:
    ///   - limit: the longest wait.
    ///   - sockets: the sockets.
    func wait(atMost limit: Duration, orFor sockets: SocketWatch) {
        var entries = (
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: sockets.descriptor, events: Int16(POLLIN), revents: 0)
        )
        _ = unsafe withUnsafeMutablePointer(to: &entries) { pointer in
            unsafe pointer.withMemoryRebound(to: pollfd.self, capacity: 2) {
                unsafe Glibc.poll($0, 2, Self.milliseconds(limit))
            }
        }
        if entries.0.revents != 0 { silence() }
    }

    private func silence() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while unsafe read(reading, &bytes, MemoryLayout.size(ofValue: bytes)) > 0 {}
    }

    /// Rounded up: waking early would find nothing due and wait again, repeatedly.
    private static func milliseconds(_ limit: Duration) -> Int32 {
        let limit = min(max(limit, .zero), .seconds(3600))
        let whole = limit.milliseconds
        return Int32(clamping: .milliseconds(whole) < limit ? whole + 1 : whole)
    }
}
