import Glibc
import LectureModel
import LectureTestSupport

/// Stands between a client and a server, and keeps what both send.
final class Tap: Sendable {
    private let server: RawServer
    private let seen: Guarded<[UInt8]>

    /// Its address.
    var url: String { server.http }
    /// Everything that was sent, in both directions.
    var bytes: [UInt8] { seen.withLock(\.self) }

    /// Stands before a server.
    ///
    /// - Parameter port: of the server. The field `Host` is made the server's own.
    /// - Throws: when the system has no port.
    init(to port: Int) throws {
        let seen = Guarded<[UInt8]>([])
        self.seen = seen
        server = try RawServer { client in
            guard let other = Peer.connected(to: port) else { return }
            let back = Guarded(false)
            // Requests one after the other: a head, a body of the length that it names, and the answer.
            while true {
                let head = client.readHead()
                guard head.hasSuffix("\r\n\r\n") else { break }
                let own = head.replacing(/Host: 127\.0\.0\.1:\d+/, with: "Host: 127.0.0.1:\(port)")
                let count = head.firstMatch(of: /[Cc]ontent-[Ll]ength: (\d+)/).flatMap { Int($0.1) } ?? 0
                var body: [UInt8] = []
                while body.count < count { body += client.read(count - body.count) }
                seen.withLock { $0 += Array(own.utf8) + body }
                _ = other.send(Array(own.utf8) + body)
                let answer = other.readHead()
                let due = answer.firstMatch(of: /[Cc]ontent-[Ll]ength: (\d+)/).flatMap { Int($0.1) } ?? 0
                seen.withLock { $0 += Array(answer.utf8) }
                guard client.send(answer) else { break }
                var sent = 0
                while sent < due {
                    let part = other.read(min(65_536, due - sent))
                    guard !part.isEmpty, client.send(part) else { break }
                    seen.withLock { $0 += part }
                    sent += part.count
                }
                if sent < due { break }
            }
            back.withLock { $0 = true }
            other.close()
        }
    }
}
