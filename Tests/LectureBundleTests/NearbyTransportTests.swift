import Dispatch
import LectureFormats
import LectureModel
import Testing

@testable import LectureKit

/// What is at hand is answered as HTTP would answer it.
@Suite struct NearbyTransportTests {
    /// Records what a transfer gets.
    private final class Recorder: TransferSink {
        let heads = Guarded<[ResponseHead]>([])
        let bytes = Guarded<[UInt8]>([])
        let largest = Guarded(0)
        let waiter = Waiter<TransferOutcome>()
        let limit: Int
        let takesHead: Bool

        init(limit: Int = .max, takesHead: Bool = true) { (self.limit, self.takesHead) = (limit, takesHead) }

        func headReceived(_ head: ResponseHead) -> Bool {
            heads.withLock { $0.append(head) }
            return takesHead
        }

        func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
            largest.withLock { $0 = max($0, bytes.count) }
            return self.bytes.withLock { all in
                unsafe all.append(contentsOf: bytes)
                return all.count < limit
            }
        }

        func transferEnded(_ outcome: TransferOutcome) { waiter.answer(outcome) }
    }

    /// Gets the requests that are not answered here.
    private struct Base: Transport {
        let seen = Guarded<[String]>([])
        func start(_ request: TransferRequest) { seen.withLock { $0.append(request.url) } }
        func cancel(_ id: TransferID) { seen.withLock { $0.append("cancel") } }
        func limitRate(_ bytesPerSecond: Int?) { seen.withLock { $0.append("rate") } }
    }

    private struct Shelf: NearbyBytes {
        let file: NearbyFile
        func answer(to url: String) -> NearbyAnswer? {
            switch url {
            case "http://h/file": .file(file)
            case "http://h/text": .description(file)
            case "http://h/gone": .missing
            default: nil
            }
        }
    }

    private static let media = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private static func file(failingAt end: Int = .max) -> NearbyFile {
        unsafe NearbyFile(count: 100_000, mediaType: "video/mp4", entityTag: "\"e\"", lastModified: "W/date") {
            offset, body throws(LectureError) in
            var place = Int(offset)
            while place < media.count {
                if place >= end { throw LectureError(.bundleDamaged, cause: "chunk 1") }
                let piece = Array(media[place...].prefix(40_000))
                guard unsafe piece.withUnsafeBytes({ unsafe body($0) }) else { return }
                place += piece.count
            }
        }
    }

    private func exchange(
        _ url: String = "http://h/file", _ range: RangeRequest? = nil, _ file: NearbyFile = file(),
        _ sink: Recorder = Recorder()
    ) async throws -> (sink: Recorder, outcome: TransferOutcome) {
        let transport = NearbyTransport(Shelf(file: file), over: Base(), clock: SystemTime.clock)
        var request = TransferRequest(id: TransferID(1), url: url, sink: sink)
        request.range = range
        transport.start(request)
        return (sink, try await sink.waiter.value())
    }

    @Test(
        arguments: [
            (nil, 200, 0..<100_000, nil), (RangeRequest.from(0), 206, 0..<100_000, "bytes 0-99999/100000"),
            (.from(99_999), 206, 99_999..<100_000, "bytes 99999-99999/100000"),
            (ByteRange(start: 10, end: 50_020).map { .closed($0) }, 206, 10..<50_020, "bytes 10-50019/100000"),
            (
                ByteRange(start: 90_000, end: 200_000).map { .closed($0) }, 206, 90_000..<100_000,
                "bytes 90000-99999/100000"
            ),
            (.from(100_000), 416, 0..<0, "bytes */100000"),
        ] as [(RangeRequest?, Int, Range<Int>, String?)])
    func `a range is the part that was asked for`(
        range: RangeRequest?, status: Int, expected: Range<Int>, field: String?
    ) async throws {
        let (sink, outcome) = try await exchange("http://h/file", range)
        let head = try #require(sink.heads.withLock(\.self).first)
        #expect(head.status == status && head.fields["Content-Range"] == field)
        #expect(head.fields["Content-Length"] == "\(expected.count)")
        #expect(head.fields["ETag"] == (status == 416 ? nil : "\"e\""))
        #expect(head.fields["Last-Modified"] == (status == 416 ? nil : "date"))
        #expect(sink.bytes.withLock(\.self) == Array(Self.media[expected]))
        #expect(outcome.end == .complete && outcome.bodyBytes == Int64(expected.count))
        #expect(sink.largest.withLock(\.self) <= 16_384)
    }

    @Test func `a description has its type, and what is missing is not found`() async throws {
        let text = try await exchange("http://h/text")
        let type = text.sink.heads.withLock { $0.first?.fields["Content-Type"] }
        #expect(type == "application/vnd.lecturekit.descriptor+json")
        let gone = try await exchange("http://h/gone")
        #expect(gone.sink.heads.withLock { $0.map(\.status) } == [404] && gone.outcome.end == .complete)
    }

    @Test func `a sink ends the answer, a failure names the cause, and only what is at hand is answered`() async throws
    {
        let refused = try await exchange("http://h/file", nil, Self.file(), Recorder(takesHead: false))
        #expect(refused.outcome.end == .stopped && refused.outcome.bodyBytes == 0)
        let stopped = try await exchange("http://h/file", nil, Self.file(), Recorder(limit: 20_000))
        #expect(stopped.outcome.end == .stopped)
        let failed = try await exchange("http://h/file", nil, Self.file(failingAt: 40_000))
        #expect(failed.outcome.end == .failed(curl: 37, detail: "chunk 1") && failed.outcome.bodyBytes == 40_000)
        let base = Base()
        let transport = NearbyTransport(Shelf(file: Self.file()), over: base, clock: SystemTime.clock)
        transport.start(TransferRequest(id: TransferID(1), url: "http://h/other", sink: Recorder()))
        var callback = TransferRequest(id: TransferID(2), url: "http://h/file", sink: Recorder())
        callback.body = RequestBody([1], mediaType: "a/b")
        transport.start(callback)
        transport.cancel(TransferID(1))
        transport.limitRate(5)
        #expect(base.seen.withLock(\.self) == ["http://h/other", "http://h/file", "cancel", "rate"])
    }

    @Test func `an answer that is cancelled ends as cancelled`() async throws {
        let (entered, goes) = (Waiter<Void>(), DispatchGate())
        let file = unsafe NearbyFile(count: 100_000, mediaType: nil, entityTag: nil, lastModified: nil) {
            _, body throws(LectureError) in
            entered.answer(())
            goes.wait()
            _ = unsafe Self.media.withUnsafeBytes { unsafe body($0) }
        }
        let sink = Recorder()
        let transport = NearbyTransport(Shelf(file: file), over: Base(), clock: SystemTime.clock)
        transport.start(TransferRequest(id: TransferID(9), url: "http://h/file", sink: sink))
        try await entered.value()
        transport.cancel(TransferID(9))
        goes.open()
        #expect(try await sink.waiter.value().end == .cancelled)
        #expect(sink.bytes.withLock(\.self).isEmpty)
    }
}

/// Holds a thread until it is opened.
private final class DispatchGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    func wait() { semaphore.wait() }
    func open() { semaphore.signal() }
}
