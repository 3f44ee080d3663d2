import LectureModel
import LectureSQLite
import Testing

@testable import LectureStore

@Suite struct ChunkPieceTests {
    private static func piece(_ chunk: Int, _ start: UInt64, _ count: Int) -> StoredPiece {
        StoredPiece(
            chunk: chunk, start: start, count: count,
            box: [UInt8](repeating: UInt8(truncatingIfNeeded: start), count: count + StoredPiece.overhead))
    }

    @Test func `pieces are listed in order, and a piece replaces those from its start on`() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            let pieces = [Self.piece(1, 1000, 10), Self.piece(1, 1010, 20), Self.piece(3, 3000, 5)]
            for piece in pieces.reversed() { try store.index.resources.keepPiece(lease, resource.id, piece) }
            #expect(
                try store.index.resources.pieces(resource.id) == [pieces[0], pieces[2]], "the later one came first")
            try store.index.resources.keepPiece(lease, resource.id, pieces[1])
            #expect(try store.index.resources.pieces(resource.id) == pieces)
            try store.index.resources.dropPieces(lease, resource.id, chunk: 1, from: 1010)
            #expect(try store.index.resources.pieces(resource.id) == [pieces[0], pieces[2]])
        }
    }

    @Test func `a committed chunk has no pieces, and gets none`() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.resources.keepPiece(lease, resource.id, Self.piece(1, 1000, 10))
            try store.index.resources.keepPiece(lease, resource.id, Self.piece(2, 2000, 10))
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([1]), bytes: 1000, now: store.now)
            #expect(try store.index.resources.pieces(resource.id).map(\.chunk) == [2])
            try store.index.resources.keepPiece(lease, resource.id, Self.piece(1, 1000, 10))
            #expect(try store.index.resources.pieces(resource.id).map(\.chunk) == [2])
        }
    }

    @Test func `pieces go with their version, and with the grid they were cut by`() throws {
        try StoreFixture.with { store in
            let (lease, version, planned) = try store.planned("a")
            var resource = planned
            try store.index.resources.keepPiece(lease, resource.id, Self.piece(1, 1000, 10))
            resource.chunkBytes = 2000
            try store.index.resources.updateResource(lease, resource)
            #expect(try store.index.resources.pieces(resource.id) == [])
            try store.index.resources.keepPiece(lease, resource.id, Self.piece(1, 2000, 10))
            try store.index.resources.updateResource(lease, resource)
            #expect(try store.index.resources.pieces(resource.id).count == 1)
            _ = try store.index.versions.discardVersion(lease, version)
            try store.index.versions.forgetVersion(version)
            #expect(try store.index.connection.query("SELECT 1 FROM chunk_piece") { $0.int(0) } == [])
        }
    }

    @Test func `without the lease nothing is stored`() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.owners.release(lease)
            let piece = Self.piece(1, 1000, 10)
            #expect(lectureError { try store.index.resources.keepPiece(lease, resource.id, piece) }?.code == .leaseLost)
            #expect(
                lectureError { try store.index.resources.dropPieces(lease, resource.id, chunk: 1, from: 0) }?.code
                    == .leaseLost)
        }
    }
}
