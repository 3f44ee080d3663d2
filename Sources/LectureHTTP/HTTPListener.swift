import Glibc
import LectureModel

/// The socket that a server listens on.
struct HTTPListener {
    let socket: Int32
    let port: UInt16

    /// How much the system buffers for a reader that is slow.
    private static let sendBuffer: Int32 = 1 << 17

    /// How many connections wait for the library's thread: enough for a burst. The system has a limit of its own.
    private static let backlog: Int32 = 1024

    init(_ options: HTTPServerOptions) throws(LectureError) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = options.port.bigEndian
        guard unsafe inet_pton(AF_INET, options.address, &address.sin_addr) == 1 else {
            throw LectureError(.loopbackFailed, detail: options.address, cause: "it is no IPv4 address")
        }
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Self.failure(options) }
        var yes: Int32 = 1
        unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var buffer = Self.sendBuffer
        unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { address in
            // Sound: an internet address is one kind of socket address, and its length is passed along.
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, length) == 0 && listen(socket, Self.backlog) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isListening else {
            let failure = Self.failure(options)
            close(socket)
            throw failure
        }
        (self.socket, self.port) = (socket, UInt16(bigEndian: address.sin_port))
    }

    private static func failure(_ options: HTTPServerOptions) -> LectureError {
        let reason = unsafe String(cString: strerror(errno))
        return LectureError(.loopbackFailed, detail: "\(options.address):\(options.port)", cause: reason)
    }
}
