import Glibc
package import LectureTestSupport

/// One connection of a client, in clear or under TLS. Used by one thread, except for ``hangUp()``.
package protocol Wire: Sendable {
    /// Reads once.
    ///
    /// - Parameter limit: how many bytes at most.
    /// - Returns: nothing at the end of the connection.
    func read(_ limit: Int) -> [UInt8]
    /// Sends everything.
    ///
    /// - Parameter bytes: what to send.
    /// - Returns: false when the client is gone.
    @discardableResult func send(_ bytes: ArraySlice<UInt8>) -> Bool
    /// Waits until something can be read, the client has left, or the time has passed.
    ///
    /// - Parameter milliseconds: the longest wait.
    /// - Returns: false when the time passed first.
    func waitForInput(_ milliseconds: Int) -> Bool
    /// Ends cleanly: under TLS with `close_notify`, then FIN.
    func finish()
    /// Ends with FIN alone; under TLS without `close_notify`.
    func cut()
    /// Ends with RST.
    func reset()
    /// Wakes pending reads and writes; may be called by any thread.
    func hangUp()
}

extension Wire {
    /// Sends a text.
    ///
    /// - Parameter text: what to send, as UTF-8.
    /// - Returns: false when the client is gone.
    @discardableResult package func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

    /// Reads and discards until the client has left.
    package func waitForEnd() { while !read(4096).isEmpty {} }
}

/// A connection in clear.
package struct PlainWire: Wire {
    private let peer: Peer

    /// Takes a connection over.
    ///
    /// - Parameter peer: the connection.
    package init(_ peer: Peer) {
        self.peer = peer
        var yes: Int32 = 1
        // Data sent in pieces is to arrive in pieces, and at once.
        unsafe setsockopt(peer.socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// See ``Wire/read(_:)``.
    package func read(_ limit: Int) -> [UInt8] { peer.read(limit) }
    /// See ``Wire/send(_:)``.
    @discardableResult package func send(_ bytes: ArraySlice<UInt8>) -> Bool { peer.send(Array(bytes)) }
    /// See ``Wire/waitForInput(_:)``.
    package func waitForInput(_ milliseconds: Int) -> Bool { peer.waitForInput(milliseconds) }
    /// See ``Wire/finish()``.
    package func finish() { peer.close() }
    /// See ``Wire/cut()``.
    package func cut() { peer.close() }
    /// See ``Wire/reset()``.
    package func reset() { peer.reset() }
    /// See ``Wire/hangUp()``.
    package func hangUp() { peer.hangUp() }
}
