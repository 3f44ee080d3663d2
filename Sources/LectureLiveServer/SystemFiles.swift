import Glibc

/// Small text files.
enum FileText {
    /// Reads a file of the system or of this server.
    ///
    /// - Parameter path: at most 64 KiB are read.
    /// - Returns: nil when it cannot be read.
    static func read(_ path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while all.count < 1 << 16 {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Writes a file that only its owner may read.
    ///
    /// - Parameters:
    ///   - text: the whole text.
    ///   - path: replaced when it is there.
    /// - Returns: false when it cannot be written; `errno` says why.
    static func write(_ text: String, to path: String) -> Bool {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count
    }
}

/// A connection to a socket of this machine's file system.
final class UnixSocket {
    private let descriptor: Int32

    /// Connects; nil when nothing listens there.
    init?(_ path: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isConnected =
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
                guard path.utf8.count < place.count else { return false }
                unsafe place.copyBytes(from: path.utf8)
                return true
            }
            && withUnsafePointer(to: &address) { address in
                // Sound: an address of this family is one kind of socket address, and its length is passed along.
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends a request of HTTP/1.0, and reads the answer to its end, at most two seconds at a time.
    ///
    /// - Parameter target: path and query.
    /// - Returns: the body of a short answer; nil without a whole head.
    func ask(_ target: String) -> [UInt8]? {
        let request = Array("GET \(target) HTTP/1.0\r\n\r\n".utf8)
        let sent = unsafe request.withUnsafeBytes {
            unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent == request.count else { return nil }
        var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while case let count = unsafe buffer.withUnsafeMutableBytes({
            unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
        }), count > 0 {
            if answer.count < 1 << 16 { answer += buffer.prefix(count) }
        }
        return answer.firstRange(of: Array("\r\n\r\n".utf8)).map { Array(answer[$0.upperBound...]) }
    }
}
