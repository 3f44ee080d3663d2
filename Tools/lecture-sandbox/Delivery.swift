import CMicroHTTPD
import Glibc

/// A body being sent: returns bytes at the pace of its answer and ends as the answer requires.
///
/// Belongs to the thread of one connection.
final class Delivery {
    private let reply: Reply
    private let pacing: Pacing
    private let socket: Int32
    private let log: RequestLog
    private let logNumber: Int
    private let startedAt = monotonicNanoseconds()
    private var sent = 0

    init(reply: Reply, pacing: Pacing, socket: Int32, log: RequestLog, logNumber: Int) {
        self.reply = reply
        self.pacing = pacing
        self.socket = socket
        self.log = log
        self.logNumber = logNumber
    }

    /// Returns the next bytes.
    ///
    /// - Parameters:
    ///   - offset: the offset in the body.
    ///   - buffer: where they go.
    /// - Returns: their number, or one of the library's two end codes.
    func next(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var limit = buffer.count
        switch reply.ending {
        case .whole: break
        case .unanswered: return cmhd_reader_failed()
        case .closed(let count):
            guard offset < count else { return cmhd_reader_failed() }
            limit = min(limit, count - offset)
        case .reset(let count):
            guard offset < count else { return reset() }
            limit = min(limit, count - offset)
        case .silent(let count):
            guard offset < count else {
                _ = pacing.wait(milliseconds: -1, socket: socket)
                return cmhd_reader_failed()
            }
            limit = min(limit, count - offset)
        }
        if let rate = reply.bytesPerSecond {
            guard let allowed = allowance(rate) else { return cmhd_reader_failed() }
            limit = min(limit, allowed)
        }
        let count = unsafe reply.body.read(at: offset, into: .init(rebasing: buffer[..<limit]))
        if count == 0 { return reply.announcedLength == nil ? cmhd_reader_ended() : cmhd_reader_failed() }
        sent += count
        let total = sent
        log.update(logNumber) { $0.byteCount = total }
        return count
    }

    /// Waits until as many bytes may be sent as this rate gives in five milliseconds. With fewer, a fast client would
    /// keep a processor busy with packets of a few bytes.
    ///
    /// - Parameter rate: bytes per second.
    /// - Returns: how many may be sent; `nil` when the client is gone.
    private func allowance(_ rate: Int) -> Int? {
        let least = max(1, rate / 200)
        while true {
            let elapsed = Double(monotonicNanoseconds() - startedAt) / 1e9
            let allowed = Int(elapsed * Double(rate)) - sent
            if allowed >= least { return allowed }
            let milliseconds = max(5, min(1000, 1000 / rate))
            guard case .elapsed = pacing.wait(milliseconds: Int32(milliseconds), socket: socket) else { return nil }
        }
    }

    /// Dissolves the connection, which makes the kernel send a reset instead of an orderly end.
    private func reset() -> Int {
        // Bytes returned before must leave the socket first; a reset discards what is still queued.
        _ = pacing.wait(milliseconds: 20, socket: socket)
        var noPeer = sockaddr()
        noPeer.sa_family = sa_family_t(AF_UNSPEC)
        _ = unsafe connect(socket, &noPeer, socklen_t(MemoryLayout<sockaddr>.size))
        return cmhd_reader_failed()
    }
}
