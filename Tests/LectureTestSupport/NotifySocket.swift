import Foundation
import Glibc

/// The socket of a service manager (`NOTIFY_SOCKET` of sd_notify(3)).
package final class NotifySocket: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    package let name: String
    private let number: Int32

    /// Binds it.
    ///
    /// - Parameter name: a path; or `@` and an abstract name (unix(7)).
    /// - Throws: when the system refuses it.
    package init(_ name: String) throws {
        self.name = name
        number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        // An abstract name begins with NUL and has exactly its length; a path ends with NUL.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let number = number
        let isBound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, length) == 0 }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    }

    deinit { close(number) }

    /// Waits for the next datagram.
    ///
    /// - Returns: its text.
    package func message() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(number, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// Waits for datagrams until one begins with a text.
    ///
    /// - Parameter text: the beginning.
    /// - Returns: all of them, in order.
    package func messages(until text: String) -> [String] {
        var messages: [String] = []
        while messages.last?.hasPrefix(text) != true {
            let message = message()
            if message.isEmpty { break }
            messages.append(message)
        }
        return messages
    }
}
