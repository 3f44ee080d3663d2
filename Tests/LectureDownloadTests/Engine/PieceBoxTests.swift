import LectureCrypto
import LectureModel
import Testing

@testable import LectureDownload

/// Pieces of a file that is kept in clear, as their rows have them.
struct PieceBoxTests {
    private static let bytes: [UInt8] = Array(0..<100)

    private static func box(of resource: Int64 = 1) throws -> PieceBox {
        let digests = try OpenSSLDigests(proofKey: [UInt8](repeating: 7, count: 32))
        return PieceBox(resource: ResourceID(resource), cipher: nil, digests: digests)
    }

    private static func stored(start: UInt64 = 0) throws -> StoredPiece {
        try box().stored(ChunkPiece(chunk: 0, start: start, bytes: bytes))
    }

    @Test func `a piece has its bytes behind a proof`() throws {
        let piece = try Self.stored(start: 7)
        #expect(piece.chunk == 0 && piece.start == 7 && piece.count == 100)
        #expect(piece.box.count == 100 + StoredPiece.overhead && Array(piece.box.suffix(100)) == Self.bytes)
        #expect(try Self.box().bytes(of: piece) == Self.bytes)
    }

    @Test func `a piece of another resource, place or content is none`() throws {
        let piece = try Self.stored()
        #expect(try Self.box(of: 2).bytes(of: piece) == nil)
        var moved = piece
        moved.start = 1
        #expect(try Self.box().bytes(of: moved) == nil)
        for position in [0, StoredPiece.overhead, piece.box.count - 1] {
            var changed = piece
            changed.box[position] ^= 1
            #expect(try Self.box().bytes(of: changed) == nil, "byte \(position)")
        }
        var short = piece
        short.count -= 1
        #expect(try Self.box().bytes(of: short) == nil)
    }

    @Test func `pieces are put together without a gap, as long as the block is not full`() throws {
        let (first, second) = (try Self.stored(), try Self.stored(start: 100))
        let block = Block(offset: 0, capacity: 201)
        #expect(try !Self.box().restore(second, into: block), "a gap")
        #expect(try Self.box().restore(first, into: block))
        #expect(try !Self.box().restore(first, into: block), "it is there")
        #expect(try Self.box().restore(second, into: block))
        #expect(unsafe block.withBytes { unsafe Array($0) } == Self.bytes + Self.bytes)
        let full = Block(offset: 0, capacity: 100)
        #expect(try !Self.box().restore(first, into: full), "a whole chunk needs no piece")
    }
}
