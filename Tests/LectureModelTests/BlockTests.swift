import Foundation
import Glibc
import LectureModel
import LectureTestSupport
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

    /// Large blocks are filled a line of the cache at a time: lengths around whole lines, which then begin anywhere in
    /// a line, from sources that do so, too.
    @Test(arguments: [1 << 18, 1 << 20])
    func `pieces of any length and at any place become what they were, and change nothing beside them`(capacity: Int) {
        let source = (0..<1024).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let block = Block(offset: 0, capacity: capacity)
        var due: [UInt8] = []
        for turn in 0..<640 {
            let begin = turn % 64
            let count = [0, 1, 15, 63, 64, 65, 127, 128, 129, 200, 321][turn % 11]
            let piece = source[begin..<(begin + count)]
            #expect(unsafe piece.withUnsafeBytes { unsafe block.append($0) } == count)
            due += piece
        }
        #expect(block.count == due.count && holds(block, due[...]))
    }

    /// Spare memory, too little, and none; whole blocks, half ones, and empty ones.
    @Test(arguments: [1, 40, 16_384, 70_000, (1 << 20) - 16, 1 << 20], [0, 15, 16])
    func `a block lends its bytes and memory after them, where they are if there is enough`(capacity: Int, spare: Int) {
        for length in Set([0, capacity / 2, capacity]) {
            let bytes = [UInt8](repeating: 0x5a, count: length)
            let block = Block(offset: 7, capacity: capacity, spare: spare)
            #expect(unsafe bytes.withUnsafeBytes { unsafe block.append($0) } == length)
            let place = unsafe block.withBytes { UInt(bitPattern: $0.baseAddress) }
            unsafe block.withSpare(16) { memory in
                #expect(memory.count == length + 16)
                #expect(unsafe memory.dropLast(16).elementsEqual(bytes))
                let lent = UInt(bitPattern: memory.baseAddress)
                #expect(lent.isMultiple(of: 4096))
                #expect((lent == place) == (length > 0 && capacity - length + spare >= 16))
                // All of it may be written: the allocator of the next block would notice.
                for index in memory.indices { unsafe memory[index] = 0xa5 }
            }
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

    /// A write past the page cache gets such a block in one piece where the system gives huge pages.
    @Test func `a block of a MiB is within one huge page`() throws {
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        let blocks = (0..<30).map { Block(offset: UInt64($0), capacity: 1 << 20) }
        var starts: Set<UInt> = []
        for block in blocks {
            #expect(unsafe bytes.withUnsafeBytes { unsafe block.append($0) } == bytes.count)
            starts.insert(unsafe block.withBytes { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(starts.count == 30 && starts.allSatisfy { $0.isMultiple(of: 1 << 20) })
        #expect(blocks.allSatisfy { holds($0, bytes[...]) })
    }

    /// `hg` among the flags of a mapping: the kernel is to give huge pages for it (proc(5)).
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel/mm/transparent_hugepage")))
    func `the memory of a block is to be huge pages`() throws {
        for capacity in [100_000, 1 << 20] {
            let block = Block(offset: 0, capacity: capacity)
            #expect(
                unsafe [UInt8](repeating: 7, count: capacity).withUnsafeBytes { unsafe block.append($0) } == capacity)
            let flags = try MemoryFlags.find(at: unsafe block.withBytes { UInt(bitPattern: $0.baseAddress) })
            #expect(flags.contains("hg"), "\(capacity): \(flags)")
            withExtendedLifetime(block) {}
        }
    }

    @Test func `all strips are lent in order`() {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let block = Block(offset: 5, capacity: 1 << 20, strips: 1 << 17)
        #expect(unsafe bytes.withUnsafeBytes { unsafe block.append($0) } == bytes.count)
        let lent = unsafe block.withAllStrips { strips in unsafe strips.map { unsafe Array($0) } }
        #expect(lent.map(\.count) == [1 << 17, 1 << 17, 300_000 - (1 << 18)])
        #expect(Array(lent.joined()) == bytes)
        #expect(unsafe Block(offset: 0, capacity: 10).withAllStrips { unsafe $0.map(\.count) } == [0])
    }
}
