package import Foundation
import Glibc

/// Requests to servers of this machine that tests control: one connection each, and no other program.
package enum LocalHTTP {
    /// An answer.
    package struct Answer: Sendable {
        /// Of HTTP.
        package let status: Int
        /// What follows the head.
        package let body: Data
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - url: `http://HOST:PORT` and the path; the host is this machine.
    ///   - body: what is sent with it, as JSON; nil for none.
    /// - Returns: the answer.
    /// - Throws: ``ChildProcess/Failure`` without a whole answer.
    package static func send(_ method: String, _ url: String, _ body: Data? = nil) async throws -> Answer {
        guard let parts = URLComponents(string: url), let port = parts.port else {
            throw ChildProcess.Failure(description: "no port in \(url)")
        }
        let target = "\(parts.percentEncodedPath)\(parts.percentEncodedQuery.map { "?\($0)" } ?? "")"
        var head = "\(method) \(target) HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\n"
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        let request = Array("\(head)\r\n".utf8) + (body ?? Data())
        // The thread that waits is none of Swift's.
        let answer = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: exchange(request, port)) }
        }
        guard let answer else { throw ChildProcess.Failure(description: "no answer to \(method) \(url)") }
        return answer
    }

    private static func exchange(_ request: [UInt8], _ port: Int) -> Answer? {
        guard let peer = Peer.connected(to: port) else { return nil }
        defer { peer.close() }
        guard peer.send(request) else { return nil }
        // An answer of HTTP/1.0 ends with its connection.
        var bytes = Data()
        while case let more = peer.read(1 << 16), !more.isEmpty { bytes += more }
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let first = String(decoding: bytes[..<end.lowerBound].prefix { $0 != 0x0D }, as: UTF8.self)
        guard let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        return Answer(status: status, body: Data(bytes[end.upperBound...]))
    }
}
