import Foundation
import LectureBundle
import LectureCrypto
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// What is read of a file while it is sealed for another store, counted.
@Suite struct ReadChunksTests {
    /// A file whose byte at each place is known, and what is read of it.
    private struct Rig {
        let grid: ChunkGrid
        let total: UInt64
        var chunks = ReadChunks()
        /// How often each chunk was read.
        var reads: [Int: Int] = [:]
        var mostHeld = 0

        init(_ grid: ChunkGrid, total: UInt64) { (self.grid, self.total) = (grid, total) }

        static func bytes(_ range: Range<Int64>) -> [UInt8] { range.map { UInt8($0 % 251) } }

        /// Takes bytes as an answer does.
        mutating func take(_ wanted: Range<Int64>) -> [UInt8]? {
            let (grid, total) = (grid, total)
            let missing = chunks.missing(of: wanted) { offset in
                Int64(grid.range(of: grid.chunk(at: offset), total: total).upperBound)
            }
            if let missing {
                for chunk in grid.chunk(at: UInt64(missing.lowerBound))...grid.chunk(at: UInt64(missing.upperBound - 1))
                {
                    reads[chunk, default: 0] += 1
                }
                mostHeld = max(mostHeld, missing.count)
                chunks.add(Self.bytes(missing), at: missing.lowerBound)
            }
            return chunks.take(wanted).map(Array.init)
        }
    }

    /// Lengths of a file, in bytes, and of its chunks; what a sealed store's chunks are shorter by at the start.
    private static let files: [(total: Int, chunk: Int, lead: Int)] = [
        (1, 1000, 0), (999, 1000, 0), (1000, 1000, 0), (1001, 1000, 0), (10_000, 1000, 0), (10_000, 1000, 40),
        (10_000, 333, 0), (10_000, 4096, 0), (10_000, 20_000, 0), (12_345, 1024, 0), (12_345, 512, 0), (7, 1, 0),
    ]

    @Test(arguments: files, [200, 1000, 1024, 1040])
    func `each chunk is read once while segments follow each other`(
        file: (total: Int, chunk: Int, lead: Int), segment: Int
    ) throws {
        let layout = try #require(SealedLayout(plaintextLength: file.total, segmentLength: segment))
        let grid = ChunkGrid(length: UInt64(file.chunk), lead: UInt64(file.lead))
        var rig = Rig(grid, total: UInt64(file.total))
        for segment in 0..<layout.segmentCount {
            let range = layout.plaintextRange(ofSegment: segment)
            let wanted = Int64(range.lowerBound)..<Int64(range.upperBound)
            #expect(rig.take(wanted) == Rig.bytes(wanted), "segment \(segment)")
        }
        #expect(rig.reads.count == grid.count(total: UInt64(file.total)) && rig.reads.values.allSatisfy { $0 == 1 })
        #expect(rig.mostHeld <= segment + file.chunk, "at most the rest of a chunk beside a segment")
    }

    @Test func `where chunks and segments end together nothing is kept`() throws {
        let (total, segment) = (10_000, 1000)
        let layout = try #require(SealedLayout(plaintextLength: total, segmentLength: segment))
        var rig = Rig(ChunkGrid(length: UInt64(segment), lead: 0), total: UInt64(total))
        for segment in 0..<layout.segmentCount {
            let range = layout.plaintextRange(ofSegment: segment)
            _ = rig.take(Int64(range.lowerBound)..<Int64(range.upperBound))
        }
        #expect(rig.reads.values.allSatisfy { $0 == 1 })
    }

    @Test func `an answer that begins inside reads from there, and a jump reads anew`() {
        var rig = Rig(ChunkGrid(length: 100), total: 1000)
        #expect(rig.take(250..<320) == Rig.bytes(250..<320))
        #expect(rig.reads == [2: 1, 3: 1])
        #expect(rig.take(320..<400) == Rig.bytes(320..<400) && rig.reads == [2: 1, 3: 1])
        #expect(rig.take(700..<750) == Rig.bytes(700..<750) && rig.reads == [2: 1, 3: 1, 7: 1])
        // A step over bytes that are here.
        #expect(rig.take(760..<810) == Rig.bytes(760..<810) && rig.reads == [2: 1, 3: 1, 7: 1, 8: 1])
        // Back: they are gone.
        #expect(rig.take(700..<701) == Rig.bytes(700..<701) && rig.reads[7] == 2)
        #expect(rig.take(900..<1000) == Rig.bytes(900..<1000) && rig.reads[9] == 1)
    }

    @Test func `bytes that did not come are not taken`() {
        var chunks = ReadChunks()
        #expect(chunks.take(0..<0) == [] && chunks.take(0..<1) == nil)
        #expect(chunks.missing(of: 0..<0) { Int64($0) + 1 } == nil)
        #expect(chunks.missing(of: 10..<20) { _ in 30 } == 10..<30)
        chunks.add(Array(repeating: 1, count: 5), at: 10)
        #expect(chunks.take(10..<20) == nil && chunks.take(10..<15)?.count == 5)
        #expect(chunks.missing(of: 15..<20) { _ in 12 } == 15..<20, "at least what is wanted")
        chunks.add([1], at: 99)
        #expect(chunks.take(15..<16) == nil && chunks.take(99..<100) == [1])
    }
}

/// The same in the built program, counted by the kernel.
@Suite(.timeLimit(.minutes(3))) struct PeerReadsNetTests {
    /// The bytes that a process has read by read(2) and its like, from files.
    private static func bytesRead(_ process: ChildProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.identifier)/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int(line.dropFirst(7)))
    }

    @Test(arguments: ["licensed", "always"])
    func `the whole sealed file is sent, and the store is read once`(seal: String) async throws {
        let size = 20_000_000
        let branch = try await Branch(["a": size], settings: #"{"storage":{"seal":"\#(seal)"}}"#)
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let device = try DeviceKey.generate()
        let question = PeerQuestion(key: try ContentKey("a"), device: try device.jwk())
        let body = String(decoding: question.bytes, as: UTF8.self)
        let head = ["-H", "Authorization: Bearer \(server.token)"]
        let asked = try await Curl.get(["\(server.url)/peer/offers", "--data-binary", body] + head)
        #expect(asked.status == 200, "\(asked.text)")
        let offer = try PeerOffer.verified(Array(asked.body)).offer
        let layout = try #require(offer.layout)
        let before = try Self.bytesRead(server.process)
        let sent = try await Curl.get(["\(server.url)\(offer.path)"] + head)
        let read = try Self.bytesRead(server.process) - before
        #expect(sent.status == 200 && sent.body.count == layout.ciphertextLength)
        #expect(sent.body.starts(with: offer.header))
        // A window of it is the same bytes, whatever was read before.
        for range in ["0-99", "1048575-1048576", "5000000-8388607", "19999999-"] {
            let part = try await Curl.get(["\(server.url)\(offer.path)", "-r", range] + head)
            let borders = range.split(separator: "-").compactMap { Int($0) }
            let end = borders.count > 1 ? borders[1] + 1 : sent.body.count
            #expect(part.status == 206 && part.body == sent.body.subdata(in: borders[0]..<end), "\(range)")
        }
        // What is beside the media: pages of the database. Each chunk read twice would be 20 MB more.
        #expect((size..<size + 3_000_000).contains(read), "\(read) bytes of \(size)")
        await server.stop()
    }
}
