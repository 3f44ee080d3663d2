import Glibc

/// Reports to a service manager what state this process is in: the protocol of sd_notify(3), a datagram to the socket
/// that `NOTIFY_SOCKET` names. Without that variable nothing is sent.
package final class ServiceNotifier: Sendable {
    /// A state.
    package enum Message: Sendable, Hashable {
        /// It serves.
        case ready
        /// It reads its settings again, since this moment of the monotonic clock, in microseconds.
        case reloading(monotonicMicroseconds: Int64)
        /// It ends.
        case stopping
        /// It is alive.
        case watchdog
        /// What it does, one sentence for people.
        case status(String)

        /// The lines of the datagram.
        package var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading(let moment): "RELOADING=1\nMONOTONIC_USEC=\(moment)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            // A line end would begin another assignment.
            case .status(let sentence): "STATUS=" + sentence.map { $0.isNewline ? " " : $0 }
            }
        }
    }

    private let socket: Int32
    private let address: [UInt8]
    /// How often ``Message/watchdog`` is due: half of what the manager permits (`WATCHDOG_USEC`, if it is meant for
    /// this process); nil without one.
    package let watchdogInterval: Duration?

    /// Whether there is a service manager to which something is sent.
    package var isConnected: Bool { socket >= 0 }

    /// Takes the variables.
    ///
    /// - Parameters:
    ///   - environment: the variables: `NOTIFY_SOCKET` with an absolute path or, after `@`, an abstract name;
    ///     `WATCHDOG_USEC`, `WATCHDOG_PID`.
    ///   - process: the number of this process.
    package init(_ environment: [String: String], process: Int32 = getpid()) {
        address = Self.address(environment["NOTIFY_SOCKET"] ?? "")
        socket =
            address.isEmpty ? -1 : Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && limit > 1 && socket >= 0 ? .microseconds(limit / 2) : nil
    }

    deinit { if socket >= 0 { close(socket) } }

    /// The bytes of a `sockaddr_un` (unix(7)): a path with its NUL, or NUL and an abstract name. Empty for anything
    /// else.
    package static func address(_ name: String) -> [UInt8] {
        var path = Array(name.utf8)
        guard let first = path.first, path.count > 1, path.count < 108, !path.contains(0) else { return [] }
        switch first {
        case UInt8(ascii: "/"): path.append(0)
        case UInt8(ascii: "@"): path[0] = 0
        default: return []
        }
        let family = UInt16(AF_UNIX)
        // In the machine's order, as the kernel reads it.
        return unsafe withUnsafeBytes(of: family) { unsafe Array($0) } + path
    }

    /// Sends a state. A manager that does not take it is none of this program's business.
    ///
    /// - Parameter message: the state.
    package func send(_ message: Message) {
        guard isConnected else { return }
        let bytes = Array(message.text.utf8)
        _ = unsafe address.withUnsafeBytes { place in
            unsafe sendto(
                socket, bytes, bytes.count, Int32(MSG_NOSIGNAL),
                place.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(place.count))
        }
    }

    /// The monotonic clock, in microseconds.
    package static var monotonicMicroseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
