import Foundation

/// Requests over a socket of the test, without another program.
package enum LocalHTTP {
    /// An answer.
    package struct Answer: Sendable {
        /// 0 when the first line has none.
        package let status: Int
        /// All lines before the body.
        package let head: String
        /// What follows them, as it was sent.
        package let body: [UInt8]
    }

    /// Sends a request on a connection of its own, and reads until the server closes it. The thread that waits is none
    /// of Swift's.
    ///
    /// - Parameters:
    ///   - request: the whole request; it has to ask for the end of the connection, or be of HTTP/1.0.
    ///   - port: of 127.0.0.1.
    /// - Returns: the answer.
    /// - Throws: ``ChildProcess/Failure`` when no server listens, or its answer has no whole head.
    package static func exchange(_ request: String, port: Int) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchangeBlocking(request, port: port) })
            }
        }
    }

    private static func exchangeBlocking(_ request: String, port: Int) throws -> Answer {
        guard let peer = Peer.connected(to: port) else {
            throw ChildProcess.Failure(description: "no server at \(port)")
        }
        peer.send(request)
        var bytes: [UInt8] = []
        while case let more = peer.read(1 << 16), !more.isEmpty { bytes += more }
        peer.close()
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else {
            throw ChildProcess.Failure(description: "no answer but \(bytes.count) bytes to \(request.prefix(100))")
        }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, head: head, body: Array(bytes[end.upperBound...]))
    }
}
