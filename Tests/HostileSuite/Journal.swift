import Glibc
import LectureModel

/// What a hostile origin saw and sent: the evidence of a case.
package final class Journal: Sendable {
    /// One request.
    package struct Entry: Sendable {
        /// From 1, in the order of arrival.
        package let number: Int
        /// The listener, from 0.
        package let edge: Int
        /// The connection, from 1.
        package let connection: Int
        /// Milliseconds from the start of the origin.
        package let milliseconds: Int
        /// The head.
        package let asked: Asked
        /// The status; 0 for bytes that are not a response.
        package var status = 0
        /// Bytes of the body that were handed to the connection.
        package var bytes = 0
        /// Whether the response has ended.
        package var isOver = false
    }

    /// How a connection under TLS began.
    package struct Handshake: Sendable {
        /// The listener, from 0.
        package let edge: Int
        /// The connection, from 1.
        package let connection: Int
        /// Why it failed, as the server saw it; `nil` when it did not.
        package let failure: String?
        /// Whether the client presented a ticket that was accepted.
        package let isResumed: Bool
    }

    private let handshakes = Guarded<[Handshake]>([])
    private let entries = Guarded<[Entry]>([])
    private let connections = Guarded(0)
    private let began = Journal.now()

    /// An empty journal.
    package init() {}

    /// All requests so far.
    package var all: [Entry] { entries.withLock { $0 } }

    /// All handshakes so far, also those that failed.
    package var allHandshakes: [Handshake] { handshakes.withLock { $0 } }

    /// How many connections were accepted.
    package var connectionCount: Int { connections.withLock { $0 } }

    func newConnection() -> Int {
        connections.withLock { count in
            count += 1
            return count
        }
    }

    func record(_ asked: Asked, edge: Int, connection: Int) -> Int {
        let now = Journal.now() - began
        return entries.withLock { entries in
            entries.append(
                Entry(
                    number: entries.count + 1, edge: edge, connection: connection, milliseconds: now, asked: asked))
            return entries.count
        }
    }

    func shookHands(_ edge: Int, _ connection: Int, failure: String? = nil, isResumed: Bool = false) {
        handshakes.withLock {
            $0.append(Handshake(edge: edge, connection: connection, failure: failure, isResumed: isResumed))
        }
    }

    func change(_ number: Int, _ change: (inout Entry) -> Void) { entries.withLock { change(&$0[number - 1]) } }

    /// Seconds since 1970, for dates in answers.
    static func wallClock() -> Int { time(nil) }

    private static func now() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
