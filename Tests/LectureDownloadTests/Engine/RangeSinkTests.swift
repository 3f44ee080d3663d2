import LectureFormats
import LectureModel
import LectureSimulation
import Testing

@testable import LectureDownload

/// Records what a sink hands over.
///
/// `@unchecked Sendable`: used by the one thread of its test.
/// Keeps the bytes that it is of.
private final class CollectingDigest: RunningDigest {
    var bytes: [UInt8] = []

    func update(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes.append(contentsOf: bytes) }
    func finish() throws(LectureError) -> [UInt8] { bytes }
}

private final class RecordingPart: PartFile, @unchecked Sendable {
    var blocks: [(offset: UInt64, bytes: [UInt8], stream: TransferID, endsObject: Bool)] = []
    /// In how many strips of memory each of them was.
    var strips: [Int] = []
    /// Whether each of them had space for the tag of a segment.
    var hadSpare: [Bool] = []
    var flushes = 0
    var abandoned: [TransferID] = []
    /// What the proof of each of them is of; nil for one without.
    var proven: [[UInt8]?] = []
    /// How many blocks are accepted before the file refuses one.
    var capacity = Int.max

    func open(_ plan: PartFilePlan) {}
    func proof(ofChunkAt offset: UInt64) -> (any RunningDigest)? { CollectingDigest() }
    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool {
        guard blocks.count < capacity else { return false }
        unsafe block.withBytes { unsafe blocks.append((block.offset, Array($0), transfer, endsObject)) }
        proven.append((block.proof as? CollectingDigest)?.bytes)
        var count = 0
        unsafe block.withStrips { _, _ in count += 1 }
        strips.append(count)
        let place = unsafe block.withBytes { $0.baseAddress }
        unsafe block.withSpare(SealedFormat.tagBytes) { memory in
            unsafe hadSpare.append(UnsafeRawPointer(memory.baseAddress) == place)
        }
        return true
    }
    func flush() { flushes += 1 }
    func abandon(_ transfer: TransferID) { abandoned.append(transfer) }
    func digest(total: UInt64) {}
    func finalize(total: UInt64) {}
    func close(deleting: Bool) {}
}

struct RangeSinkTests {
    private static let mebi: UInt64 = 1 << 20

    /// A sink, its part file, and what it posted.
    private final class Bench {
        let part = RecordingPart()
        let sink: RangeSink
        private let posted = Guarded<[EngineEvent]>([])

        init(
            asked: LectureDownload.Expectation, start: UInt64 = 0, border: UInt64? = nil, committed: [Int] = [],
            acceptsWhole: Bool = true, remainder: ChunkRemainder? = nil, hasPart: Bool = true, id: UInt64 = 7,
            part shared: RecordingPart? = nil, grid: ChunkGrid = ChunkGrid(length: 1 << 20)
        ) {
            let part = shared ?? self.part
            sink = RangeSink(
                id: TransferID(id), asked: asked, start: start, border: border, grid: grid, learnsGrid: false,
                committed: ChunkSet(committed), acceptsWholeBody: acceptsWhole, remainder: remainder,
                part: hasPart ? part : nil
            ) { [posted] event in posted.withLock { $0.append(event) } }
        }

        func head(_ status: Int, _ fields: HeaderFields) -> Bool {
            sink.headReceived(ResponseHead(status: status, fields: fields, receivedAt: Timestamp(milliseconds: 0)))
        }

        /// Delivers bytes in pieces as libcurl does; returns how many were taken before the sink stopped.
        func deliver(_ bytes: some Collection<UInt8>) -> Int {
            let all = Array(bytes)
            var sent = 0
            while sent < all.count {
                let stop = min(all.count, sent + 16_384)
                let isTaken = unsafe all.withUnsafeBytes { pointer in
                    unsafe sink.bodyReceived(UnsafeRawBufferPointer(rebasing: pointer[sent..<stop]))
                }
                guard isTaken else { return sent }
                sent = stop
            }
            return sent
        }

        func end(_ end: TransferOutcome.End = .complete) throws -> TransferReport {
            sink.transferEnded(TransferOutcome(end: end, bodyBytes: 0, elapsed: .seconds(1)))
            let last = posted.withLock { $0.last }
            guard case .ended(_, let report) = try #require(last) else { throw LectureError(.bug) }
            return report
        }
    }

    private static func asked(_ range: Range<UInt64>? = nil, total: UInt64? = nil) -> LectureDownload.Expectation {
        var asked = LectureDownload.Expectation()
        asked.range = range.flatMap { ByteRange(start: $0.lowerBound, end: $0.upperBound) }.map(RangeRequest.closed)
        asked.total = total
        return asked
    }

    private static func part(_ range: Range<UInt64>, of total: UInt64) -> HeaderFields {
        ["Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"]
    }

    @Test func `a body is handed over in blocks that end the object`() throws {
        let bytes = lectureBytes(2_500_000)
        let bench = Bench(asked: Self.asked())
        #expect(bench.head(200, ["Content-Length": "2500000"]))
        #expect(bench.deliver(bytes) == bytes.count)
        let report = try bench.end()
        #expect(bench.part.blocks.map(\.offset) == [0, Self.mebi, 2 * Self.mebi])
        #expect(bench.part.blocks.flatMap(\.bytes) == bytes)
        #expect(bench.part.blocks.map(\.endsObject) == [false, false, true])
        #expect(report.reachedEnd)
        #expect(report.handedOver == 2_500_000)
        #expect(report.remainder == nil)
        #expect(bench.part.flushes > 0)
        #expect(bench.sink.receivedBytes == 2_500_000)
    }

    @Test func `a small file in clear is gathered in strips, a large or sealed one in whole blocks`() throws {
        let sealed = SealedFormat.grid(segments: 1)
        for (total, grid, strips) in [
            (2_500_000, ChunkGrid(length: 1 << 20), [8, 8, 4]), (8 << 20, ChunkGrid(length: 1 << 20), [8]),
            ((8 << 20) + 1, ChunkGrid(length: 1 << 20), [1]), (2_500_000, sealed, [1, 1, 1]),
        ] {
            let bench = Bench(asked: Self.asked(), grid: grid)
            let bytes = lectureBytes(min(total, strips.count << 20))
            #expect(bench.head(200, ["Content-Length": "\(total)"]))
            #expect(bench.deliver(bytes) == bytes.count)
            if bytes.count == total { #expect(try bench.end().reachedEnd) }
            #expect(bench.part.strips == strips && bench.part.blocks.flatMap(\.bytes) == bytes)
        }
    }

    /// The rest of a chunk that was begun elsewhere, two chunks, and the beginning of the last one.
    @Test(arguments: [false, true])
    func `the proof of a chunk is taken while it arrives`(isSealed: Bool) throws {
        let grid = isSealed ? SealedFormat.grid(segments: 1) : ChunkGrid(length: 1 << 20)
        let total: UInt64 = 3_500_000
        let start = grid.start(of: 1) - 1000
        let bench = Bench(asked: Self.asked(start..<total, total: total), start: start, grid: grid)
        let bytes = lectureBytes(Int(total - start))
        #expect(bench.head(206, Self.part(start..<total, of: total)))
        #expect(bench.deliver(bytes) == bytes.count)
        #expect(try bench.end().reachedEnd)
        let blocks = bench.part.blocks
        #expect(blocks.map(\.bytes.count).first == 1000 && blocks.flatMap(\.bytes) == bytes)
        #expect(bench.part.proven == [nil] + blocks.dropFirst().map(\.bytes))
    }

    @Test(arguments: ["<!doctype HTML><p>sign in", "\u{FEFF}\r\n \t<HTML lang=en>", "<html>"])
    func `a web page is not media, whatever its type says`(text: String) throws {
        for count in [text.utf8.count, 1_200_000] {
            let page = Array(text.utf8) + [UInt8](repeating: 0x20, count: count - text.utf8.count)
            let bench = Bench(asked: Self.asked())
            #expect(bench.head(200, ["Content-Type": "video/mp4", "Content-Length": "\(count)"]))
            _ = bench.deliver(page)
            #expect(
                try bench.end().cause == .firstBytes(FirstBytes.Refusal(code: .notMedia, cause: "it is a web page")))
            #expect(bench.part.blocks.isEmpty)
        }
    }

    @Test func `data that only looks like a page, or is known by digest and length, is accepted`() throws {
        let page = Array("<html>".utf8)
        var known = Self.asked(total: 6)
        known.digestIsKnown = true
        var subtitle = Self.asked()
        subtitle.role = .subtitle
        for (asked, bytes) in [
            (known, page), (subtitle, page), (Self.asked(), [0] + page),
        ] {
            let bench = Bench(asked: asked)
            #expect(bench.head(200, ["Content-Length": "\(bytes.count)"]))
            _ = bench.deliver(bytes)
            #expect(try bench.end().cause == .none)
            #expect(bench.part.blocks.map(\.bytes) == [bytes])
        }
    }

    @Test func `a body of unknown length ends with its transfer`() throws {
        let bench = Bench(asked: Self.asked())
        #expect(bench.head(200, [:]))
        _ = bench.deliver(lectureBytes(1_200_000))
        let report = try bench.end()
        #expect(report.reachedEnd)
        #expect(report.position == 1_200_000)
        #expect(bench.part.blocks.last?.endsObject == true)
    }

    @Test func `a body of unknown length that breaks has not reached its end`() throws {
        let bench = Bench(asked: Self.asked())
        #expect(bench.head(200, [:]))
        _ = bench.deliver(lectureBytes(1_200_000))
        let report = try bench.end(.failed(curl: 18, detail: ""))
        #expect(!report.reachedEnd)
        #expect(report.handedOver == Self.mebi)
        #expect(report.remainder?.offset == 1_200_000)
        #expect(report.remainder?.block?.count == 1_200_000 - 1 << 20)
    }

    @Test func `a border ends the bytes of a transfer`() throws {
        let total = 8 * Self.mebi
        let bench = Bench(asked: Self.asked(0..<total, total: total), border: 2 * Self.mebi)
        #expect(bench.head(206, Self.part(0..<total, of: total)))
        #expect(bench.deliver(lectureBytes(4 << 20)) == 2 << 20)
        let report = try bench.end(.stopped)
        #expect(report.cause == .border)
        #expect(report.position == 2 * Self.mebi)
        #expect(report.remainder == nil)
        #expect(bench.part.blocks.count == 2)
    }

    @Test(arguments: [[], [1], [0, 2]])
    func `blocks of a sealed file are its segments`(committed: [Int]) throws {
        let grid = SealedFormat.grid(segments: 1)
        let total = grid.start(of: 3) + 500
        let bytes = lectureBytes(Int(total))
        let bench = Bench(asked: Self.asked(total: total), committed: committed, grid: grid)
        #expect(bench.head(200, ["Content-Length": "\(total)"]))
        #expect(bench.deliver(bytes) == bytes.count)
        let report = try bench.end()
        #expect(report.handedOver == total && report.reachedEnd)
        let due = (0..<4).filter { !committed.contains($0) }.map { grid.range(of: $0, total: total) }
        #expect(bench.part.blocks.map(\.offset) == due.map(\.lowerBound))
        #expect(bench.part.blocks.map(\.bytes.count) == due.map(\.count))
        #expect(bench.part.blocks.map(\.endsObject) == due.map { $0.upperBound == total })
        #expect(bench.part.hadSpare == due.map { _ in true }, "they are sealed where they are")
    }

    @Test(arguments: [0, 1])
    func `the end of a sealed file of unknown length is marked by its last block`(more: Int) throws {
        let grid = SealedFormat.grid(segments: 1)
        let total = Int(grid.start(of: 2)) + more
        let bench = Bench(asked: Self.asked(), grid: grid)
        #expect(bench.head(200, [:]))
        #expect(bench.deliver(lectureBytes(total)) == total)
        #expect(try bench.end().reachedEnd)
        #expect(bench.part.blocks.map(\.bytes.count) == [1_048_520, 1_048_560, more])
        #expect(bench.part.blocks.map(\.endsObject) == [false, false, true])
        // A cut does not mark the end.
        let cut = Bench(asked: Self.asked(), grid: grid)
        #expect(cut.head(200, [:]))
        _ = cut.deliver(lectureBytes(Int(grid.start(of: 2))))
        _ = try cut.end(.failed(curl: 56, detail: ""))
        #expect(cut.part.blocks.map(\.endsObject) == [false, false])
    }

    @Test func `the border of a sealed file is at a chunk boundary`() throws {
        let grid = SealedFormat.grid(segments: 1)
        let bench = Bench(asked: Self.asked(total: grid.start(of: 8)), grid: grid)
        #expect(bench.head(200, ["Content-Length": "\(grid.start(of: 8))"]))
        _ = bench.deliver(lectureBytes(Int(grid.start(of: 3)) - 5))
        #expect(bench.sink.lower(border: grid.start(of: 2), grid: grid) == grid.start(of: 3))
        _ = bench.deliver(lectureBytes(3 << 20))
        #expect(try bench.end(.stopped).position == grid.start(of: 3))
    }

    @Test func `a border is lowered, but not into the block that is being filled`() throws {
        let total = 8 * Self.mebi
        let bench = Bench(asked: Self.asked(0..<total, total: total))
        #expect(bench.head(206, Self.part(0..<total, of: total)))
        _ = bench.deliver(lectureBytes(3 << 20 + 5))
        #expect(bench.sink.lower(border: 2 * Self.mebi, grid: ChunkGrid(length: Self.mebi)) == 4 * Self.mebi)
        #expect(bench.sink.lower(border: 7 * Self.mebi, grid: ChunkGrid(length: Self.mebi)) == 4 * Self.mebi)
        #expect(bench.sink.lower(border: 2 * Self.mebi, grid: ChunkGrid(length: 8 * Self.mebi)) == 4 * Self.mebi)
        _ = bench.deliver(lectureBytes(3 << 20))
        #expect(try bench.end(.stopped).position == 4 * Self.mebi)
    }

    @Test func `more bytes than announced, and more than known, are refused`() throws {
        for fields: HeaderFields in [["Content-Length": "1000"], [:]] {
            let bench = Bench(asked: Self.asked(total: 1000))
            #expect(bench.head(200, fields))
            #expect(bench.deliver(lectureBytes(1000)) == 1000)
            #expect(bench.deliver([1]) == 0)
            let report = try bench.end(.stopped)
            #expect(report.cause == .tooLong)
            #expect(bench.part.blocks.flatMap(\.bytes).count == 1000)
        }
    }

    @Test func `more bytes than allowed are refused`() throws {
        var asked = Self.asked()
        asked.maximumBytes = 1 << 20
        let bench = Bench(asked: asked)
        #expect(bench.head(200, [:]))
        #expect(bench.deliver(lectureBytes(1 << 20 + 16_384)) == 1 << 20)
        #expect(try bench.end(.stopped).cause == .tooLarge)
    }

    @Test func `verified chunks are skipped when the server sends the whole file`() throws {
        let total = 4 * Self.mebi
        let bytes = lectureBytes(Int(total))
        var asked = Self.asked(2 * Self.mebi..<total, total: total)
        asked.validator = Validator(etag: "\"v\"", lastModified: nil, total: total)
        let bench = Bench(asked: asked, start: 2 * Self.mebi, committed: [0, 1, 3])
        #expect(bench.head(200, ["Content-Length": "\(total)", "ETag": "\"v\""]))
        #expect(bench.deliver(bytes) == bytes.count)
        let report = try bench.end()
        #expect(bench.part.blocks.map(\.offset) == [2 * Self.mebi])
        #expect(bench.part.blocks.first?.bytes == Array(bytes[2 << 20..<3 << 20]))
        #expect(report.reachedEnd)
    }

    @Test func `the whole file is refused while other transfers run`() throws {
        let total = 4 * Self.mebi
        let bench = Bench(
            asked: Self.asked(2 * Self.mebi..<total, total: total), start: 2 * Self.mebi, acceptsWhole: false)
        #expect(!bench.head(200, ["Content-Length": "\(total)"]))
        #expect(try bench.end(.stopped).cause == .refusedHead)
        #expect(bench.part.blocks.isEmpty)
    }

    @Test func `the whole file in answer to a condition is refused, since the range may still be available`() throws {
        let total = 4 * Self.mebi
        for isConditional in [true, false] {
            var asked = Self.asked(2 * Self.mebi..<total, total: total)
            asked.validator = Validator(etag: "\"v1\"", lastModified: nil, total: total)
            asked.digestIsKnown = true
            asked.sentIfRange = isConditional
            let bench = Bench(asked: asked, start: 2 * Self.mebi, committed: [0, 1])
            #expect(bench.head(200, ["Content-Length": "\(total)", "ETag": "\"v2\""]) == !isConditional)
        }
    }

    @Test func `a successor continues in the middle of a chunk`() throws {
        let total = Self.mebi
        let bytes = lectureBytes(Int(total))
        let part = RecordingPart()
        var remainder: ChunkRemainder?
        var start = 0
        var number: UInt64 = 1
        while start < bytes.count {
            let asked = Self.asked(UInt64(start)..<total, total: total)
            let bench = Bench(asked: asked, start: UInt64(start), remainder: remainder, id: number, part: part)
            #expect(bench.head(206, Self.part(UInt64(start)..<total, of: total)))
            _ = bench.deliver(bytes[start..<min(bytes.count, start + 65_536)])
            let report = try bench.end(.failed(curl: 56, detail: ""))
            remainder = report.remainder
            start = Int(report.position)
            number += 1
        }
        #expect(remainder == nil)
        #expect(part.blocks.count == 1)
        #expect(part.blocks.first?.bytes == bytes)
        // The stream is that of the first transfer, which started the chunk.
        #expect(part.blocks.first?.stream == TransferID(1))
    }

    @Test func `a refused answer leaves the started chunk to the next transfer`() throws {
        let block = Block(offset: 0, capacity: 1 << 20)
        let remainder = ChunkRemainder(stream: TransferID(1), offset: 500, block: block)
        let bench = Bench(asked: Self.asked(500..<Self.mebi, total: Self.mebi), start: 500, remainder: remainder)
        #expect(!bench.head(503, [:]))
        let report = try bench.end(.stopped)
        #expect(report.remainder?.stream == TransferID(1))
        #expect(report.remainder?.offset == 500)
        #expect(report.remainder?.block === block)
    }

    @Test func `a part file that accepts no more bytes ends the transfer at its last complete chunk`() throws {
        let bench = Bench(asked: Self.asked())
        bench.part.capacity = 2
        #expect(bench.head(200, ["Content-Length": "9000000"]))
        _ = bench.deliver(lectureBytes(4 << 20))
        let report = try bench.end(.stopped)
        #expect(report.cause == .disk)
        #expect(report.handedOver == 2 * Self.mebi)
        #expect(report.remainder == nil)
    }

    @Test func `a descriptor is read up to its limit and never handed to the disk`() throws {
        var asked = Self.asked()
        asked.isFirstContact = true
        let bench = Bench(asked: asked, hasPart: false)
        #expect(bench.head(200, ["Content-Type": ContentDescriptor.mediaType]))
        #expect(bench.deliver(lectureBytes(RangeSink.documentLimit)) == RangeSink.documentLimit)
        #expect(bench.deliver([1]) == 0)
        #expect(try bench.end(.stopped).cause == .tooLarge)
    }

    @Test func `a link that turns out to be media is only checked, not downloaded`() throws {
        let bench = Bench(asked: Self.asked(), hasPart: false)
        #expect(!bench.head(200, ["Content-Length": "5"]))
        #expect(try bench.end(.stopped).document == nil)
    }
}
