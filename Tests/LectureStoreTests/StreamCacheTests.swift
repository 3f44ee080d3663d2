import Foundation
import LectureFormats
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Rows of the streaming cache.
@Suite struct StreamCacheTests {
    private let validator = Validator(etag: "\"a\"", lastModified: nil, total: 9_000_000)

    private func add(_ cache: SQLiteStreamCache, _ number: UInt8, _ now: Timestamp) throws -> StreamItem {
        try cache.add(
            [UInt8](repeating: number, count: 32), key: try ContentKey("content-\(number)"), validator: validator,
            wrapped: [number], now: now)
    }

    @Test func aNewVersionTakesThePlaceAndTheOldOneGoesWithItsLastReader() throws {
        try StoreFixture.with { store in
            let cache = SQLiteStreamCache(index: store.index)
            let first = try add(cache, 1, store.now)
            #expect(try cache.current([UInt8](repeating: 1, count: 32)) == first)
            try cache.use(first.id, by: store.owner, now: store.now)
            _ = try cache.reserve([StreamBlock(item: first.id, index: 0, bytes: 10)], bound: 100, now: store.now)
            let second = try add(cache, 1, store.now)
            #expect(try cache.current([UInt8](repeating: 1, count: 32)) == second)
            _ = try cache.reserve([StreamBlock(item: second.id, index: 0, bytes: 10)], bound: 100, now: store.now)
            #expect(try cache.removeUnused(onlyOver: true).isEmpty)
            #expect(try cache.sums() == (2, 20))
            try cache.release(first.id, by: store.owner)
            #expect(try cache.removeUnused(onlyOver: true).items == [first.id])
            #expect(try cache.sums() == (1, 10))
            #expect(try cache.removeUnused(onlyOver: false).items == [second.id])
            #expect(try cache.sums() == (0, 0))
        }
    }

    @Test func aDeadOwnerHoldsNothing() throws {
        try StoreFixture.with { store in
            let cache = SQLiteStreamCache(index: store.index)
            let item = try add(cache, 1, store.now)
            let other = try store.another()
            try cache.use(item.id, by: other.owner, now: store.now)
            _ = try cache.reserve([StreamBlock(item: item.id, index: 0, bytes: 60)], bound: 100, now: store.now)
            let wanted = [StreamBlock(item: try add(cache, 2, store.now).id, index: 3, bytes: 50)]
            #expect(try cache.reserve(wanted, bound: 100, now: store.now).granted.isEmpty)
            try store.index.owners.dismissOwner(other.owner, now: store.now)
            let (granted, garbage) = try cache.reserve(wanted, bound: 100, now: store.now)
            #expect(granted == [3])
            #expect(garbage.blocks == [StreamBlock(item: item.id, index: 0, bytes: 60)])
        }
    }

    @Test func spaceForAnItemThatIsGoneIsNotReserved() throws {
        try StoreFixture.with { store in
            let cache = SQLiteStreamCache(index: store.index)
            let wanted = [StreamBlock(item: StreamItemID(77), index: 0, bytes: 50)]
            let (granted, garbage) = try cache.reserve(wanted, bound: 100, now: store.now)
            #expect(granted.isEmpty && garbage.isEmpty)
        }
    }

    @Test func rowsAndFilesAreBroughtTogether() throws {
        try StoreFixture.with { store in
            let cache = SQLiteStreamCache(index: store.index)
            let (idle, busy) = (try add(cache, 1, store.now).id, try add(cache, 2, store.now).id)
            try cache.use(busy, by: store.owner, now: store.now)
            for item in [idle, busy] {
                let wanted = (0..<4).map { StreamBlock(item: item, index: $0, bytes: 10) }
                #expect(try cache.reserve(wanted, bound: 1000, now: store.now).granted == [0, 1, 2, 3])
            }
            let gone = StreamItemID(99)
            let garbage = try cache.reconcile([idle: [0, 2, 7], busy: [1, 8], gone: [0]])
            #expect(
                Set(garbage.blocks.map { [$0.item.value, Int64($0.index)] }) == [[idle.value, 7], [busy.value, 8]])
            #expect(garbage.items == [gone])
            #expect(try cache.blocks(of: idle) == [0, 2])
            // Another process may be about to write the others.
            #expect(try cache.blocks(of: busy) == [0, 1, 2, 3])
        }
    }

    /// A model of the cache without a database.
    private struct Model {
        struct Block {
            var bytes: Int64
            var used: Int64
        }
        var blocks: [[Int64]: Block] = [:]
        var used: Set<Int64> = []
        var sum: Int64 { blocks.values.reduce(0) { $0 + $1.bytes } }

        mutating func reserve(_ wanted: [StreamBlock], bound: Int64, now: Int64) -> Set<Int> {
            var granted: Set<Int> = []
            for block in wanted {
                let name = [block.item.value, Int64(block.index)]
                if blocks[name] == nil {
                    while sum + block.bytes > bound {
                        let oldest = blocks.filter { !used.contains($0.key[0]) }.min {
                            ($0.value.used, $0.key[0], $0.key[1]) < ($1.value.used, $1.key[0], $1.key[1])
                        }
                        guard let oldest else { return granted }
                        blocks[oldest.key] = nil
                    }
                    blocks[name] = Block(bytes: block.bytes, used: now)
                }
                granted.insert(block.index)
            }
            return granted
        }
    }

    @Test(arguments: 1...12)
    func evictionIsThatOfTheModel(seed: Int) throws {
        try StoreFixture.with { store in
            var random = SeededGenerator(seed: UInt64(seed))
            let cache = SQLiteStreamCache(index: store.index)
            let items = try (1...5).map { try add(cache, UInt8($0), store.now).id }
            var model = Model()
            for step in 1...300 {
                let now = store.now + .milliseconds(Int64(step / 3))
                let item = try #require(items.randomElement(using: &random))
                let first = Int.random(in: 0..<60, using: &random)
                let indices = first..<(first + Int.random(in: 1...8, using: &random))
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<6:
                    let wanted = indices.map { StreamBlock(item: item, index: $0, bytes: Int64($0 % 7 + 1)) }
                    let bound = Int64.random(in: 100...400, using: &random)
                    let (granted, garbage) = try cache.reserve(wanted, bound: bound, now: now)
                    let before = model.sum
                    #expect(granted == model.reserve(wanted, bound: bound, now: now.milliseconds))
                    #expect(try cache.sums().bytes <= max(bound, before))
                    #expect(!garbage.blocks.contains { model.used.contains($0.item.value) })
                case 6:
                    try cache.touch(Set(indices), of: item, now: now)
                    for index in indices { model.blocks[[item.value, Int64(index)]]?.used = now.milliseconds }
                case 7:
                    try cache.use(item, by: store.owner, now: now)
                    model.used.insert(item.value)
                case 8:
                    try cache.release(item, by: store.owner)
                    model.used.remove(item.value)
                default:
                    let bound = Int64.random(in: 0...300, using: &random)
                    _ = try cache.trim(to: bound)
                    _ = model.reserve([StreamBlock(item: StreamItemID(0), index: 0, bytes: 0)], bound: bound, now: 0)
                    model.blocks[[0, 0]] = nil
                }
                #expect(try cache.sums() == (model.blocks.count, model.sum), "step \(step)")
                for item in items {
                    let due = model.blocks.keys.filter { $0[0] == item.value }.map { Int($0[1]) }
                    #expect(try cache.blocks(of: item) == Set(due))
                }
            }
        }
    }

    @Test func everyQuestionHasItsIndex() throws {
        try StoreFixture.with { store in
            let connection = store.index.connection
            func plan(_ sql: String, _ count: Int) throws -> String {
                try connection.plan(sql, values: .init(repeating: 1.sqliteValue, count: count)).joined(separator: "; ")
            }
            let eviction = try plan(SQLiteStreamCache.evictionSQL, 1)
            #expect(eviction.contains("stream_block USING COVERING INDEX stream_block_used"), "\(eviction)")
            #expect(!eviction.contains("TEMP B-TREE"), "\(eviction)")
            #expect(eviction.contains("SEARCH stream_use USING PRIMARY KEY (item_id=?)"), "\(eviction)")
            let current = try plan("SELECT id FROM stream_item WHERE identity = ? AND is_current = 1", 1)
            #expect(current.contains("stream_item_current (identity=?)"), "\(current)")
            // A dismissed owner's uses are found without a scan.
            let uses = try plan("SELECT 1 FROM stream_use WHERE owner_id = ?", 1)
            #expect(uses.contains("stream_use_owner (owner_id=?)"), "\(uses)")
        }
    }
}
