import Glibc

/// Delays answers: a wait ends early when the server stops or the client disconnects.
final class Pacing: Sendable {
    /// The reason that a wait ended.
    enum Outcome {
        case elapsed
        case over
    }

    /// The reading end becomes readable for every waiting thread at once when the writing end is closed.
    private let readingEnd: Int32
    private let writingEnd: Locked<Int32?>
    /// `POLLRDHUP`, which the Glibc module hides behind _GNU_SOURCE; the same number on every Linux architecture we
    /// build for.
    private static let peerClosed: Int16 = 0x2000

    /// Makes the pipe that ends waits.
    ///
    /// - Throws: ``Problem`` when the system has no pipe left.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Problem(status: 71, text: "no pipe: \(systemMessage())") }
        readingEnd = ends[0]
        writingEnd = Locked(ends[1])
    }

    deinit {
        stop()
        close(readingEnd)
    }

    /// Ends every wait, now and from now on.
    func stop() {
        writingEnd.withLock { end in
            if let descriptor = end { close(descriptor) }
            end = nil
        }
    }

    /// Waits.
    ///
    /// - Parameters:
    ///   - milliseconds: how long; -1 until something ends it.
    ///   - socket: the client's socket.
    /// - Returns: why it ended.
    func wait(milliseconds: Int32, socket: Int32) -> Outcome {
        var watched = [
            pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Self.peerClosed, revents: 0),
        ]
        return unsafe poll(&watched, 2, milliseconds) == 0 ? .elapsed : .over
    }
}
