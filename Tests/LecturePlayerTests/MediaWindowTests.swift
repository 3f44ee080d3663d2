import Dispatch
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Bytes for a thread that asks and waits.
struct MediaWindowTests {
    /// A source of numbered bytes, which counts what is read and may fail from a position on.
    private final class Source: MediaSource {
        var byteCount: Int64 { Int64(bytes.count) }
        let bytes: [UInt8]
        let failure: (from: Int64, error: LectureError)?
        let ranges = Monitor<[Range<Int64>]>([])

        init(_ byteCount: Int64, failure: (from: Int64, error: LectureError)? = nil) {
            self.failure = failure
            var random = SeededGenerator(seed: 1)
            // Random words: any two places differ.
            bytes = Array(
                (0..<(byteCount + 7) / 8).flatMap { _ in unsafe withUnsafeBytes(of: random.next(), Array.init) }
                    .prefix(Int(byteCount)))
        }

        func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
            let range = (range ?? 0..<byteCount).clamped(to: 0..<byteCount)
            ranges.withLock { $0.append(range) }
            if let failure, range.upperBound > failure.from { throw failure.error }
            // In pieces, as a play does.
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 300_000) {
                let piece = start..<min(range.upperBound, start + 300_000)
                try receive(Array(bytes[Int(piece.lowerBound)..<Int(piece.upperBound)]))
            }
        }
    }

    /// Runs a body on a thread that may wait.
    private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "reader").async { continuation.resume(returning: body()) }
        }
    }

    /// Reads as libmpv does.
    private static func read(_ window: MediaWindow, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = unsafe bytes.withUnsafeMutableBytes { unsafe window.read(into: $0) }
        return read < 0 ? nil : Array(bytes.prefix(read))
    }

    @Test(arguments: [0, 1, 5000, 1 << 20, (1 << 20) + 1, (3 << 20) + 77])
    func `all bytes come in order, and then the end`(count: Int64) async {
        let source = Source(count)
        let bytes = await onThread {
            let window = MediaWindow(source)
            var all: [UInt8] = []
            while let piece = Self.read(window, 65_000), !piece.isEmpty { all += piece }
            return all
        }
        #expect(bytes == source.bytes)
        // Each part once: a part is verified as a whole.
        #expect(source.ranges.withLock(\.self).count == Int((count + (1 << 20) - 1) >> 20))
    }

    @Test func `jumps reach every byte, and not beyond the last`() async {
        let source = Source((5 << 20) + 3)
        let found = await onThread {
            let window = MediaWindow(source)
            var random = SeededGenerator(seed: 7)
            return (0..<100).allSatisfy { _ in
                let place = Int64.random(in: 0..<source.byteCount, using: &random)
                guard window.seek(to: place), let bytes = Self.read(window, 10) else { return false }
                let end = min(source.byteCount, (place >> 20 + 1) << 20, place + 10)
                return bytes == Array(source.bytes[Int(place)..<Int(end)])
            }
        }
        #expect(found)
        let window = MediaWindow(source)
        #expect(window.seek(to: source.byteCount) && !window.seek(to: source.byteCount + 1) && !window.seek(to: -1))
    }

    @Test func `what cannot be read is an error, and the bytes before it are right`() async {
        let source = Source(3 << 20, failure: (2 << 20, LectureError(.damaged)))
        let (count, error) = await onThread {
            let window = MediaWindow(source)
            var count = 0
            while let piece = Self.read(window, 100_000), !piece.isEmpty { count += piece.count }
            return (count, window.error)
        }
        #expect(count == 2 << 20 && error == LectureError(.damaged))
    }

    @Test func `a reader that waits is ended by a cancellation`() async {
        /// Bytes that never come.
        struct Silent: MediaSource {
            let byteCount: Int64 = 1 << 30

            func read(range: Range<Int64>?, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                for await _ in stream {}
                continuation.finish()
                throw CancellationError()
            }
        }
        let window = MediaWindow(Silent())
        async let result = onThread { Self.read(window, 10) }
        window.cancel()
        #expect(await result == nil)
        #expect(window.error == nil)
    }
}
