import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// Heads and ranges of what is at hand, against a model of RFC 9110, and the ends of transfers.
@Suite struct NearbyPlanTests {
    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) } }

    /// A file that is read in pieces of a length.
    private static func file(
        _ bytes: [UInt8], pieces: Int = 1000, count: Int? = nil, type: String? = "a/b", tag: String? = "\"t\"",
        date: String? = "now", places: Guarded<[UInt64]>? = nil
    ) -> NearbyFile {
        unsafe NearbyFile(
            count: UInt64(count ?? bytes.count), mediaType: type, entityTag: tag, lastModified: date
        ) { offset, body throws(LectureError) in
            places?.withLock { $0.append(offset) }
            var place = min(Int(clamping: offset), bytes.count)
            while place < bytes.count {
                let piece = Array(bytes[place...].prefix(pieces))
                guard unsafe piece.withUnsafeBytes({ unsafe body($0) }) else { return }
                place += piece.count
            }
        }
    }

    private final class Recorder: TransferSink {
        let heads = Guarded<[ResponseHead]>([])
        let bytes = Guarded<[UInt8]>([])
        let waiter = Waiter<TransferOutcome>()
        let onBody: @Sendable (Int) -> Bool

        init(onBody: @escaping @Sendable (Int) -> Bool = { _ in true }) { self.onBody = onBody }

        func headReceived(_ head: ResponseHead) -> Bool {
            heads.withLock { $0.append(head) }
            return true
        }

        func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let count = self.bytes.withLock { all in
                unsafe all.append(contentsOf: bytes)
                return all.count
            }
            return onBody(count)
        }

        func transferEnded(_ outcome: TransferOutcome) { waiter.answer(outcome) }
    }

    private struct Network: Transport {
        let calls = Guarded<[String]>([])
        func start(_ request: TransferRequest) {
            calls.withLock {
                $0.append("\(request.url) \(request.range?.headerValue ?? "-") \(request.ifRange ?? "-")")
            }
            request.sink.transferEnded(TransferOutcome(end: .stopped, bodyBytes: 0, elapsed: .zero))
        }
        func cancel(_ id: TransferID) { calls.withLock { $0.append("cancel \(id.value)") } }
        func limitRate(_ bytesPerSecond: Int?) { calls.withLock { $0.append("rate") } }
    }

    private struct Shelf: NearbyBytes {
        let answers: [String: NearbyAnswer]
        func answer(to url: String) -> NearbyAnswer? { answers[url] }
    }

    private static func transport(_ file: NearbyFile, over network: Network = Network()) -> NearbyTransport {
        let answers: [String: NearbyAnswer] = [
            "http://h/f": .file(file), "http://h/d": .description(file), "http://h/gone": .missing,
        ]
        return NearbyTransport(Shelf(answers: answers), over: network, clock: SystemTime.clock)
    }

    private static func request(_ url: String, _ sink: Recorder, id: UInt64 = 1) -> TransferRequest {
        TransferRequest(id: TransferID(id), url: url, sink: sink)
    }

    @Test(arguments: [0, 1, 2, 16_383, 16_384, 16_385, 40_000])
    func `every range of a file is what RFC 9110 says`(count: Int) async throws {
        let bytes = Self.bytes(count)
        let borders = Set([0, 1, 2, 999, 1000, 16_384, count - 1, count, count + 1, count + 100_000]).filter { $0 >= 0 }
        var ranges: [RangeRequest?] = [nil] + borders.map { .from(UInt64($0)) } + [.from(.max)]
        for start in borders {
            for end in borders { ranges.append(ByteRange(start: UInt64(start), end: UInt64(end)).map { .closed($0) }) }
            ranges.append(ByteRange(start: UInt64(start), end: .max).map { .closed($0) })
        }
        for range in ranges {
            // The model: the bytes whose places were asked for.
            let wanted = (0..<count).filter { place in
                range.map { $0.first <= UInt64(place) && UInt64(place) < $0.end ?? .max } ?? true
            }
            let status = range == nil ? 200 : wanted.isEmpty ? 416 : 206
            let places = Guarded<[UInt64]>([])
            let sink = Recorder()
            var request = Self.request("http://h/f", sink)
            (request.range, request.ifRange) = (range, "\"other\"")
            Self.transport(Self.file(bytes, places: places)).start(request)
            let outcome = try await sink.waiter.value()
            let head = try #require(sink.heads.withLock { $0.count == 1 ? $0[0] : nil })
            let what = range?.headerValue ?? "whole"
            #expect(outcome.end == .complete && outcome.bodyBytes == Int64(wanted.count), "\(what)")
            #expect(sink.bytes.withLock(\.self) == wanted.map { bytes[$0] }, "\(what)")
            #expect(places.withLock(\.self) == wanted.prefix(1).map { UInt64($0) }, "read once, from \(what)")
            let field = status == 206 ? "bytes \(wanted[0])-\(wanted[wanted.count - 1])/\(count)" : "bytes */\(count)"
            #expect(head.status == status && head.fields["Content-Range"] == (status == 200 ? nil : field), "\(what)")
            #expect(head.fields["Content-Length"] == "\(wanted.count)" && head.fields["Accept-Ranges"] == "bytes")
            #expect(head.fields["Content-Type"] == (status == 416 ? nil : "a/b") && head.redirectURL == nil)
        }
    }

    @Test(
        arguments: [
            (nil, nil, nil, nil), ("\"e\"", "Sat", "\"e\"", "Sat"), ("W/\"e\"", "W/Sat", "W/\"e\"", "Sat"),
            ("", "W/", "", ""), ("\"W/\"", "W/W/x", "\"W/\"", "W/x"), (nil, "w/Sat", nil, "w/Sat"),
            ("x", " W/", "x", " W/"),
        ] as [(String?, String?, String?, String?)])
    func `validators are those of the server`(tag: String?, date: String?, sentTag: String?, sentDate: String?) {
        let file = Self.file([1, 2, 3], type: nil, tag: tag, date: date)
        for (range, isSent) in [(nil, true), (.from(1), true), (.from(3), false)] as [(RangeRequest?, Bool)] {
            let plan = NearbyPlan(file, range)
            let head = plan.head(of: file, mediaType: nil, at: Timestamp(milliseconds: 5))
            #expect(head.fields["ETag"] == (isSent ? sentTag : nil))
            #expect(head.fields["Last-Modified"] == (isSent ? sentDate : nil))
            #expect(head.fields["Content-Type"] == nil && head.receivedAt == Timestamp(milliseconds: 5))
        }
    }

    @Test func `a plan needs no bytes, and reaches the longest file`() throws {
        let file = Self.file([], count: Int.max)
        let length = UInt64(Int.max)
        #expect(NearbyPlan(file, nil).range == 0..<length)
        #expect(NearbyPlan(file, .from(length - 1)).range == (length - 1)..<length)
        #expect(NearbyPlan(file, .from(length)).status == 416 && NearbyPlan(file, .from(.max)).status == 416)
        let most = try #require(ByteRange(start: 0, end: .max))
        #expect(NearbyPlan(file, .closed(most)) == NearbyPlan(file, .from(0)))
        let empty = Self.file([])
        #expect(NearbyPlan(empty, nil).status == 200 && NearbyPlan(empty, .from(0)).status == 416)
    }

    @Test func `bytes that end early are a failure, and bytes beyond the end are not sent`() async throws {
        for (there, count, range) in [
            (10, 11, nil), (0, 1, nil), (16_384, 20_000, nil), (10, 20, .from(10)), (10, 20, .from(15)),
        ] as [(Int, Int, RangeRequest?)] {
            let sink = Recorder()
            var request = Self.request("http://h/f", sink)
            request.range = range
            Self.transport(Self.file(Self.bytes(there), count: count)).start(request)
            let outcome = try await sink.waiter.value()
            #expect(outcome.end == .failed(curl: NearbyTransport.unreadable, detail: "the bytes end early"))
            #expect(outcome.bodyBytes == Int64(max(0, there - Int(range?.first ?? 0))), "\(there) of \(count)")
        }
        for pieces in [1, 7, 16_384, 30_000] {
            let sink = Recorder()
            Self.transport(Self.file(Self.bytes(30_000), pieces: pieces, count: 9001)).start(
                Self.request("http://h/f", sink))
            let outcome = try await sink.waiter.value()
            #expect(outcome.end == .complete && sink.bytes.withLock(\.self) == Self.bytes(9001), "\(pieces)")
        }
    }

    @Test func `other addresses go to the network as they came, in every spelling`() async throws {
        let network = Network()
        let transport = Self.transport(Self.file([1]), over: network)
        let urls = [
            "http://h/F", "http://H/f", "https://h/f", "http://h/f?", "http://h/f#x", "http://h/f/", "http://h//f",
            "http://h:80/f", "http://h/%66", "http://h/", "", " http://h/f", "http://h/f?range=1",
        ]
        for (number, url) in urls.enumerated() {
            let sink = Recorder()
            var request = Self.request(url, sink, id: UInt64(number))
            (request.range, request.ifRange) = (.from(UInt64(number)), "\"v\"")
            transport.start(request)
            #expect(try await sink.waiter.value().end == .stopped && sink.heads.withLock(\.isEmpty))
        }
        #expect(network.calls.withLock(\.self) == urls.enumerated().map { "\($1) bytes=\($0)- \"v\"" })
    }

    @Test(arguments: [1, 16_384, 16_385, 50_000, 65_536])
    func `a cancellation ends its own answer, after the piece that is being given`(limit: Int) async throws {
        let network = Network()
        let transport = Self.transport(Self.file(Self.bytes(100_000), pieces: 40_000), over: network)
        let sink = Recorder { count in
            if count >= limit { transport.cancel(TransferID(1)) }
            return true
        }
        let other = Recorder()
        transport.start(Self.request("http://h/f", sink))
        transport.start(Self.request("http://h/d", other, id: 2))
        let outcome = try await sink.waiter.value()
        let given = sink.bytes.withLock(\.self)
        #expect(outcome.end == .cancelled && outcome.bodyBytes == Int64(given.count))
        #expect(
            given.count >= limit && given.count < limit + 16_384 && given == Array(Self.bytes(100_000)[..<given.count]))
        #expect(try await other.waiter.value().end == .complete && other.bytes.withLock(\.count) == 100_000)
        // What has ended is the network's again, and so is what was never here.
        transport.cancel(TransferID(1))
        transport.cancel(TransferID(2))
        transport.cancel(TransferID(77))
        #expect(network.calls.withLock(\.self) == ["cancel 1", "cancel 2", "cancel 77"])
        // The number may be used again, and nothing of the cancellation is left.
        let again = Recorder()
        transport.start(Self.request("http://h/f", again))
        #expect(try await again.waiter.value().end == .complete && again.bytes.withLock(\.count) == 100_000)
    }

    @Test func `a file that is missing is not found, whatever is asked for`() async throws {
        for range in [nil, .from(0), .from(5)] as [RangeRequest?] {
            let sink = Recorder()
            var request = Self.request("http://h/gone", sink)
            request.range = range
            Self.transport(Self.file([1])).start(request)
            let outcome = try await sink.waiter.value()
            let head = try #require(sink.heads.withLock(\.first))
            #expect(outcome.end == .complete && outcome.bodyBytes == 0 && head.status == 404)
            #expect(head.fields["Content-Length"] == "0" && head.fields["ETag"] == nil)
            #expect(head.fields["Content-Range"] == nil && sink.bytes.withLock(\.isEmpty))
        }
    }
}
