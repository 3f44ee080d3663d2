import Foundation
import Glibc

/// A connection on which a test sends what it wants.
final class RawPeer: Sendable {
    private let number: Int32

    /// Connects; nil when the server does not take the connection.
    ///
    /// - Parameters:
    ///   - port: of the server.
    ///   - source: another address of this machine than 127.0.0.1.
    init?(port: Int, from source: String? = nil) {
        number = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        let number = number
        if let source {
            unsafe inet_pton(AF_INET, source, &address.sin_addr)
            let isBound = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isBound else { return nil }
        }
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
    }

    deinit { close(number) }

    /// Sends a text; false when the server has closed.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads until the server closes, or a text has come.
    ///
    /// - Parameter text: nil to read to the end.
    /// - Returns: everything that has come.
    func read(until text: String? = nil) -> String {
        var got: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(number, &bytes, bytes.count, 0)
            guard count > 0 else { return String(decoding: got, as: UTF8.self) }
            got += bytes.prefix(count)
            if let text, String(decoding: got, as: UTF8.self).contains(text) {
                return String(decoding: got, as: UTF8.self)
            }
        }
    }

    /// Sends nothing more.
    func endSending() { shutdown(number, Int32(SHUT_WR)) }

    /// Ends the connection.
    func end() { shutdown(number, Int32(SHUT_RDWR)) }
}
