import Foundation
import Glibc
import LectureModel

/// A TCP server on loopback that sends the bytes of a test, valid or not. One thread per connection.
package final class RawServer: Sendable {
    /// The port.
    package let port: Int
    private let listener: Int32
    private let accepted = Guarded(0)

    /// `http://127.0.0.1:PORT`.
    package var http: String { "http://127.0.0.1:\(port)" }
    /// How many connections were accepted.
    package var connections: Int { accepted.withLock { $0 } }

    /// Starts to listen.
    ///
    /// - Parameter answer: called for every connection, on a thread of its own; the connection is closed afterwards.
    /// - Throws: when the system has no port.
    package init(_ answer: @escaping @Sendable (Peer) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound, listen(listener, 128) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let accepted = accepted
        Thread.detachNewThread {
            // Closed here and not by the ending thread: its number could be another server's before the next call, and
            // that server's clients would then be answered by this one.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0, errno == EINTR || errno == ECONNABORTED { continue }
                if connection < 0 { return }
                accepted.withLock { $0 += 1 }
                Thread.detachNewThread {
                    let peer = Peer(connection)
                    answer(peer)
                    peer.close()
                }
            }
        }
    }

    deinit {
        // Wakes the accepting thread, or makes its next call fail.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A server that reads a request and sends the same bytes to every client.
    ///
    /// - Parameter bytes: the whole answer; the connection is closed afterwards.
    /// - Returns: the server.
    /// - Throws: when the system has no port.
    package static func answering(_ bytes: String) throws -> RawServer {
        try RawServer { peer in
            _ = peer.readHead()
            peer.send(bytes)
        }
    }
}

/// One connection of a ``RawServer``.
package final class Peer: Sendable {
    /// For TLS, which reads and writes it directly.
    package let socket: Int32
    private let isOpen = Guarded(true)

    /// Takes a connection over.
    ///
    /// - Parameter socket: its descriptor; ``close()`` closes it.
    package init(_ socket: Int32) { self.socket = socket }

    /// Reads to the empty line after a header.
    ///
    /// - Returns: the header, or the bytes before the end of the connection.
    package func readHead() -> String {
        var text = ""
        while !text.hasSuffix("\r\n\r\n") {
            guard let byte = read(1).first else { break }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }

    /// Reads once.
    ///
    /// - Parameter limit: how many bytes at most.
    /// - Returns: nothing at the end of the connection.
    package func read(_ limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(socket, &bytes, limit, 0)
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Waits until the other side has closed the connection.
    package func waitForEnd() { while !read(4096).isEmpty {} }

    /// Sends everything.
    ///
    /// - Parameter bytes: what to send.
    /// - Returns: false when the other side is gone.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Sends a text.
    ///
    /// - Parameter text: what to send, as UTF-8.
    /// - Returns: false when the other side is gone.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Opens a connection to a port of this machine.
    ///
    /// - Parameter port: of 127.0.0.1.
    /// - Returns: nil when no server listens.
    package static func connected(to port: Int) -> Peer? {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return Peer(descriptor) }
        Glibc.close(descriptor)
        return nil
    }

    /// Forwards everything in both directions until one of them ends.
    ///
    /// - Parameter other: the other connection.
    package func relay(to other: Peer) {
        Thread.detachNewThread {
            self.pump(into: other)
        }
        other.pump(into: self)
    }

    private func pump(into other: Peer) {
        while true {
            let bytes = read(65_536)
            if bytes.isEmpty || !other.send(bytes) { break }
        }
        shutdown(other.socket, Int32(SHUT_WR))
    }

    /// Closes the connection cleanly; a second call does nothing.
    package func close() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            shutdown(socket, Int32(SHUT_RDWR))
            Glibc.close(socket)
        }
    }

    /// Ends the connection without closing its descriptor: wakes pending reads and writes.
    package func hangUp() {
        isOpen.withLock { isOpen in
            if isOpen { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Sends FIN; data from the other side can still be read.
    package func endSending() {
        isOpen.withLock { isOpen in
            if isOpen { shutdown(socket, Int32(SHUT_WR)) }
        }
    }

    /// Closes the connection with a reset.
    package func reset() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            isOpen = false
            unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
            Glibc.close(socket)
        }
    }

    /// Waits until something can be read, the other side has left, or the time has passed.
    ///
    /// - Parameter milliseconds: the longest wait.
    /// - Returns: false when the time passed first.
    package func waitForInput(_ milliseconds: Int) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, Int32(milliseconds)) > 0
    }
}
