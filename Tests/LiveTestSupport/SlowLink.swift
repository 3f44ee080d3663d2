import Foundation
import Glibc
import LectureModel
import LectureTestSupport

/// A link to a server, with a rate that changes while it is used: a proxy with a token bucket and small buffers.
package final class SlowLink: Sendable {
    private struct State {
        var target: Int?
        /// Bytes a second from the client to the server; nil for no limit, 0 for a link that is frozen.
        var rate: Int?
        var descriptors: Set<Int32> = []
    }

    private let server: RawServer
    private let state: Guarded<State>

    /// Forwards to a port of 127.0.0.1.
    ///
    /// - Parameter port: the port; nil closes each connection, until there is one.
    /// - Throws: when the system has no port.
    package init(to port: Int? = nil) throws {
        let state = Guarded(State(target: port))
        self.state = state
        server = try RawServer { peer in
            // The kernel must not take what the link does not carry.
            Self.setBuffer(peer.socket, SO_RCVBUF)
            guard let target = state.withLock(\.target), let upstream = Self.connect(to: target) else { return }
            state.withLock { $0.descriptors.formUnion([upstream, peer.socket]) }
            let answers = Thread { Self.copy(from: upstream, to: peer.socket) { nil } }
            answers.start()
            Self.copy(from: peer.socket, to: upstream) { state.withLock(\.rate) }
            shutdown(upstream, Int32(SHUT_RDWR))
            shutdown(peer.socket, Int32(SHUT_RDWR))
            while !answers.isFinished { Self.pause(milliseconds: 5) }
            state.withLock { $0.descriptors.subtract([upstream, peer.socket]) }
            close(upstream)
        }
    }

    deinit { setRate(nil) }

    /// The port to connect to.
    package var port: Int { server.port }

    /// Forwards new connections from now on.
    ///
    /// - Parameter port: the port; nil closes them.
    package func forward(to port: Int?) { state.withLock { $0.target = port } }

    /// Ends the connections that there are.
    package func cut() {
        state.withLock { state in
            for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Changes the rate now.
    ///
    /// - Parameter bytesPerSecond: from the client to the server; nil for no limit, 0 for a link that is frozen.
    package func setRate(_ bytesPerSecond: Int?) { state.withLock { $0.rate = bytesPerSecond } }

    /// The address of a stream over this link.
    ///
    /// - Parameter name: the stream.
    /// - Returns: a URL.
    package func url(_ name: String) -> String { "rtmp://127.0.0.1:\(server.port)/live/\(name)" }

    /// At least one segment of the loopback interface, or TCP sends crumbs.
    private static func setBuffer(_ descriptor: Int32, _ option: Int32) {
        var size: Int32 = 65_536
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func connect(to port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    /// Copies until either side ends.
    private static func copy(from: Int32, to: Int32, rate: () -> Int?) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let limit = rate()
            if limit == 0 {
                pause(milliseconds: 10)
                // A frozen link is over when its client has gone.
                var byte: UInt8 = 0
                let gone = unsafe recv(from, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
                if gone { return }
                continue
            }
            // Twenty portions a second.
            let portion = min(bytes.count, limit.map { max(1, $0 / 20) } ?? bytes.count)
            let count = unsafe recv(from, &bytes, portion, 0)
            if count <= 0 { return }
            var sent = 0
            while sent < count {
                let written = unsafe bytes[sent..<count].withUnsafeBytes { part in
                    unsafe Glibc.send(to, part.baseAddress, part.count, Int32(MSG_NOSIGNAL))
                }
                if written <= 0 { return }
                sent += written
            }
            if let limit { pause(milliseconds: Int32(max(1, count * 1000 / max(1, limit)))) }
        }
    }

    /// The time that bytes need on this link: what the link is, and nothing that a test waits for.
    private static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
