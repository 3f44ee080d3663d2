import Dispatch
import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// A server that sends the start of a film and holds the rest back until it is released.
final class HoldingServer: Sendable {
    let server: RawServer
    let bytes: [UInt8]
    /// An element for each answer that is being held.
    let held: AsyncStream<Void>
    /// An element for each client that left before it got everything.
    let left: AsyncStream<Void>
    private let gate = DispatchSemaphore(value: 0)

    var url: String { "\(server.http)/film.mp4" }

    /// A server that stops after so many bytes of the body; nil stops before the head.
    init(bytes count: Int = 300_000, sending sent: Int?) throws {
        let bytes = MediaBeginning.replacing(SampleBytes.make(count, seed: 31))
        let (held, holding) = AsyncStream.makeStream(of: Void.self)
        let (left, leaving) = AsyncStream.makeStream(of: Void.self)
        (self.bytes, self.held, self.left) = (bytes, held, left)
        let gate = gate
        server = try RawServer { peer in
            _ = peer.readHead()
            if let sent {
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: \(bytes.count)\r\n"
                        + "ETag: \"1\"\r\nConnection: close\r\n\r\n")
                peer.send(Array(bytes[..<sent]))
            }
            // proof: the test releases it, or the client leaves, which this thread waits for.
            DispatchQueue.global().async {
                peer.waitForEnd()
                leaving.yield()
            }
            holding.yield()
            gate.wait()
            peer.send(Array(bytes[(sent ?? 0)...]))
        }
    }

    /// Sends the rest to as many clients.
    func letGo(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    func untilHeld() async { for await _ in held { return } }

    func untilLeft() async { for await _ in left { return } }
}

/// Runs a call in a task that was cancelled before it.
func cancelledBefore<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async -> Result<
    Value, any Error
> {
    let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await call()
    }
    task.cancel()
    return await task.result
}

extension Result where Failure == any Error {
    /// Whether it was ended by the cancellation of its task.
    var isCancelled: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
}
