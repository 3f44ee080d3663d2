import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

struct RangeBookTests {
    private static let chunk: UInt64 = 1 << 20

    @Test func `a chunk grows until a resource has at most 65536 of them`() {
        #expect(RangeBook.grid(total: nil, isSealed: false).length == 1 << 20)
        #expect(RangeBook.grid(total: 65_536 << 20, isSealed: false).length == 1 << 20)
        #expect(RangeBook.grid(total: 65_537 << 20, isSealed: false).length == 2 << 20)
        #expect(RangeBook.grid(total: 1 << 40, isSealed: false).length == 16 << 20)
        let segment = UInt64(SealedFormat.plaintextBytes)
        #expect(RangeBook.grid(total: nil, isSealed: true) == ChunkGrid(length: segment, lead: 40))
        #expect(RangeBook.grid(total: 65_536 * segment, isSealed: true).length == segment)
        #expect(RangeBook.grid(total: 65_537 * segment, isSealed: true) == ChunkGrid(length: 2 * segment, lead: 40))
        #expect(ChunkGrid(length: 5).count(total: 0) == 0)
        #expect(ChunkGrid(length: 5).count(total: 11) == 3)
    }

    @Test func `the first chunk of a sealed file is shorter, and the others follow without a gap`() {
        let grid = ChunkGrid(length: 100, lead: 40)
        #expect((0..<4).map { grid.range(of: $0, total: 250) } == [0..<60, 60..<160, 160..<250, 250..<250])
        #expect(grid.count(total: 60) == 1 && grid.count(total: 61) == 2 && grid.count(total: 160) == 2)
        #expect([0, 59, 60, 159, 160].map(grid.chunk) == [0, 0, 1, 1, 2])
        #expect((0...200).filter { grid.isStart(UInt64($0)) } == [0, 60, 160])
        #expect(grid.range(of: .max, total: 250).isEmpty && grid.range(of: -1, total: 250).isEmpty)
        #expect(grid.start(of: .max - 1) == .max, "a row may name any chunk")
        var book = RangeBook(total: 250, grid: grid, committed: [0, 2])
        #expect(book.committedBytes == 150)
        book.lost([2])
        #expect(book.committedBytes == 60 && book.chunkCount == 3)
        book = RangeBook(total: 30, grid: grid, committed: [0])
        #expect(book.committedBytes == 30)
    }

    @Test func `a resource of unknown length has one range, which learns its end`() {
        var book = RangeBook(total: nil, grid: ChunkGrid(length: Self.chunk), committed: [])
        let first = TransferID(1)
        #expect(book.begin(first) == RangeBook.Assignment(first: 0, end: nil))
        #expect(book.begin(TransferID(2)) == nil)
        book.learn(total: 3 * Self.chunk + 1)
        #expect(book.assignments[first]?.end == 4)
        #expect(!book.isWhole)
        book.ended(first, position: 3 * Self.chunk + 1)
        #expect(book.firstAbsent(started: [Int]()) == nil)
        book.commit(0..<4)
        #expect(book.isWhole)
        #expect(book.committedBytes == 3 * Self.chunk + 1)
    }

    @Test func `chunks verified during their transfer are not counted twice`() {
        var book = RangeBook(total: 10 * Self.chunk, grid: ChunkGrid(length: Self.chunk), committed: [])
        _ = book.begin(TransferID(1))
        book.commit(0..<4)
        #expect(book.missingBytes { _ in 5 * Self.chunk } == 5 * Self.chunk)
    }

    @Test func `bytes handed to the disk are not missing`() {
        var book = RangeBook(total: 10 * Self.chunk, grid: ChunkGrid(length: Self.chunk), committed: [])
        _ = book.begin(TransferID(1))
        book.ended(TransferID(1), position: 4 * Self.chunk)
        #expect(book.missingBytes { _ in 0 } == 6 * Self.chunk)
        #expect(book.begin(TransferID(2)) == RangeBook.Assignment(first: 4, end: 10))
    }

    @Test func `of equal remainders the older transfer is split`() {
        var book = RangeBook(total: 30 * Self.chunk, grid: ChunkGrid(length: Self.chunk), committed: [10, 20])
        for number in 1...3 { _ = book.begin(TransferID(UInt64(number))) }
        let cut = book.split(TransferID(9), minimum: Self.chunk) { id in UInt64((Int(id.value) - 1) * 10) * Self.chunk }
        #expect(cut?.victim == TransferID(2) || cut?.victim == TransferID(1))
        #expect(cut.map { $0.taken.first == $0.victimEnd } == true)
    }

    /// A model of the transfers beside the book.
    private struct Model {
        var positions: [TransferID: UInt64] = [:]
        var submitted: Set<Int> = []
        var committed: Set<Int> = []
        var nextID: UInt64 = 1
    }

    @Test(arguments: 1...60)
    func `ranges never overlap, nothing is lost, and in the end all chunks are verified`(seed: Int) {
        var randomness = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 1...60, using: &randomness)
        // Including a sealed file, whose first chunk is shorter.
        let grid = seed % 2 == 0 ? SealedFormat.grid(segments: 1) : ChunkGrid(length: Self.chunk)
        let last = grid.range(of: count - 1, total: nil)
        let total = last.lowerBound + UInt64.random(in: 1...UInt64(last.count), using: &randomness)
        var model = Model()
        model.committed = Set((0..<count).filter { _ in Int.random(in: 0..<4, using: &randomness) == 0 })
        var book = RangeBook(total: total, grid: grid, committed: model.committed)
        for step in 0..<4000 where !book.isWhole {
            act(&book, &model, total: total, isCalm: step > 300, &randomness)
            check(book, model, count: count, total: total)
        }
        #expect(book.isWhole)
        #expect(book.committedBytes == total)
    }

    private func act(
        _ book: inout RangeBook, _ model: inout Model, total: UInt64, isCalm: Bool, _ randomness: inout SeededGenerator
    ) {
        let running = model.positions.keys.sorted { $0.value < $1.value }
        let id = TransferID(model.nextID)
        switch Int.random(in: 0..<6, using: &randomness) {
        case 0:
            guard let range = book.begin(id) else { return }
            model.nextID += 1
            model.positions[id] = book.grid.start(of: range.first)
        case 1:
            let positions = model.positions
            guard let cut = book.split(id, minimum: Self.chunk, position: { positions[$0] ?? 0 }) else { return }
            model.nextID += 1
            if Int.random(in: 0..<3, using: &randomness) == 0 {
                book.giveBack(taker: id, to: cut.victim)
            } else {
                model.positions[id] = book.grid.start(of: cut.taken.first)
            }
        case 2 where !running.isEmpty:
            let id = running[Int.random(in: 0..<running.count, using: &randomness)]
            let end = min(total, book.grid.start(of: book.assignments[id]?.end ?? 0))
            let position = model.positions[id] ?? 0
            guard position < end else { return }
            model.positions[id] = min(end, position + UInt64.random(in: 1...3 * Self.chunk, using: &randomness))
        case 3 where !running.isEmpty:
            let id = running[Int.random(in: 0..<running.count, using: &randomness)]
            guard let range = book.assignments[id] else { return }
            let position = model.positions.removeValue(forKey: id) ?? 0
            book.ended(id, position: position)
            for chunk in range.first..<(range.end ?? 0) {
                let end = min(total, book.grid.start(of: chunk + 1))
                if end <= position, !model.committed.contains(chunk) { model.submitted.insert(chunk) }
            }
        case 4:
            let durable = model.submitted.filter { _ in Bool.random(using: &randomness) }
            book.commit(durable)
            model.committed.formUnion(durable)
            model.submitted.subtract(durable)
        case 5 where !isCalm && running.count == 1 && Int.random(in: 0..<8, using: &randomness) == 0:
            book.restart(running[0])
            model.positions[running[0]] = 0
        default: return
        }
    }

    private func check(_ book: RangeBook, _ model: Model, count: Int, total: UInt64) {
        var owners = [Int](repeating: 0, count: count)
        for range in book.assignments.values { for chunk in range.first..<(range.end ?? count) { owners[chunk] += 1 } }
        #expect(owners.allSatisfy { $0 <= 1 })
        #expect(Set(book.assignments.keys) == Set(model.positions.keys))
        #expect((0..<count).filter(book.committed.contains) == model.committed.sorted())
        let isFree = (0..<count).contains {
            owners[$0] == 0 && !model.committed.contains($0) && !model.submitted.contains($0)
        }
        #expect((book.firstAbsent(started: [Int]()) != nil) == isFree)
        var there: UInt64 = 0
        for chunk in 0..<count {
            let start = book.grid.start(of: chunk)
            let length = book.byteCount(of: chunk)
            if model.committed.contains(chunk) || model.submitted.contains(chunk) {
                there += length
            } else {
                for (id, range) in book.assignments where range.first <= chunk && chunk < range.end ?? count {
                    there += min(length, max(start, model.positions[id] ?? 0) - start)
                }
            }
        }
        #expect(book.missingBytes { model.positions[$0] ?? 0 } == total - there)
    }
}
