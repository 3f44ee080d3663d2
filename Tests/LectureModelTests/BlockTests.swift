import Glibc
import LectureModel
import Testing

/// Compares with the C library: a debug build is slow with single bytes.
private func holds(_ block: Block, _ bytes: ArraySlice<UInt8>) -> Bool {
    guard block.count == bytes.count else { return false }
    return unsafe block.withBytes { held in
        unsafe bytes.withUnsafeBytes { due in
            guard let left = held.baseAddress, let right = due.baseAddress else { return true }
            return unsafe memcmp(left, right, due.count) == 0
        }
    }
}

/// Blocks, whose memory is reused by the next one.
struct BlockTests {
    /// Lengths around the threshold at which another allocator is used.
    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000, 1 << 20, (1 << 20) + 1, 3 << 20])
    func `a block holds its own bytes and no more than fit`(capacity: Int) {
        for turn in 0..<20 {
            let block = Block(offset: 7, capacity: capacity)
            #expect(block.count == 0)
            #expect(block.end == 7 + UInt64(capacity))
            let bytes = [UInt8](repeating: UInt8(turn), count: capacity + 1)
            #expect(unsafe bytes.withUnsafeBytes { unsafe block.append($0) } == capacity)
            #expect(block.space == 0)
            #expect(holds(block, bytes.prefix(capacity)))
        }
    }

    /// Strips that end with the block, before its end, and behind it; appended in pieces that cross their borders.
    @Test(arguments: [1, 70_000, 131_072, 300_000, 1 << 20], [50_000, 131_072, 1 << 21])
    func `a block in strips holds its own bytes and lends them in order`(capacity: Int, strip: Int) {
        let bytes = (0..<capacity).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        for length in Set([0, 1, capacity / 2, capacity]) {
            let block = Block(offset: 7, capacity: capacity, strips: strip)
            for start in stride(from: 0, to: length, by: 33_333) {
                let piece = bytes[start..<min(length, start + 33_333)]
                #expect(unsafe piece.withUnsafeBytes { unsafe block.append($0) } == piece.count)
            }
            #expect(holds(block, bytes[..<length]))
            #expect(block.first(100) == Array(bytes[..<min(length, 100)]))
            var lent: [UInt8] = []
            var lengths: [Int] = []
            unsafe block.withStrips { strip, offset in
                #expect(offset == 7 + UInt64(lent.count))
                unsafe lent.append(contentsOf: strip)
                lengths.append(strip.count)
            }
            #expect(lent == Array(bytes[..<length]))
            // No memory is taken before there are bytes for it.
            #expect(lengths.count == max(1, (length + strip - 1) / strip))
            #expect(lengths.dropLast().allSatisfy { $0 == strip })
        }
    }

    @Test
    func `blocks of many threads never share memory`() async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for turn in 0..<20 {
                        let mark = UInt8(task * 20 + turn)
                        let bytes = [UInt8](repeating: mark, count: 1 << 20)
                        let blocks = (0..<3).map { _ in Block(offset: 0, capacity: 1 << 20) }
                        for block in blocks { _ = unsafe bytes.withUnsafeBytes { unsafe block.append($0) } }
                        await Task.yield()
                        for block in blocks { #expect(holds(block, bytes[...])) }
                    }
                }
            }
        }
    }
}
