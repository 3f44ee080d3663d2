import LectureTestSupport
import Testing

@testable import LectureModel

@Suite struct HugePageMapTests {
    private static let page = 1 << 21
    private var map = HugePageMap(pageBytes: page, keptPages: 2)

    /// The address of a page, as if the system had given it.
    private func address(_ number: Int) -> UInt { UInt(number * Self.page) }

    private mutating func taken(_ bytes: Int) throws -> UInt {
        let piece = map.take(bytes)
        return try #require(piece)
    }

    @Test(arguments: [1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20])
    mutating func `A page is cut into all of its pieces`(bytes: Int) {
        let none = map.take(bytes)
        #expect(none == nil)
        map.add(address(3))
        var pieces: [UInt] = []
        while let piece = map.take(bytes) { pieces.append(piece) }
        #expect(pieces == (0..<(Self.page / bytes)).map { address(3) + UInt($0 * bytes) })
    }

    @Test mutating func `A page that is cut is used before a whole one`() {
        map.add(address(1))
        map.add(address(2))
        let first = map.take(1 << 20)
        let second = map.take(1 << 20)
        #expect(second == first.map { $0 + (1 << 20) })
        // Pieces of another size come from another page.
        let small = map.take(1 << 16)
        #expect(small == address(1) && map.pageCount == 2)
        let none = map.take(1 << 20)
        #expect(none == nil)
    }

    @Test mutating func `A piece that came back is used again, in place of a whole page`() throws {
        map.add(address(1))
        map.add(address(2))
        let piece = try taken(1 << 17)
        let other = try taken(1 << 17)
        let returned = map.giveBack(piece)
        #expect(returned == nil)
        let again = map.take(1 << 17)
        #expect(again == piece && other != piece)
    }

    @Test mutating func `A whole page can be cut anew`() throws {
        map.add(address(1))
        let large = try taken(1 << 20)
        let returned = map.giveBack(large)
        #expect(returned == nil && map.pageCount == 1)
        var pieces = 0
        while map.take(1 << 16) != nil { pieces += 1 }
        #expect(pieces == 32)
    }

    @Test mutating func `No more whole pages are kept than allowed`() throws {
        var pieces: [UInt] = []
        for number in 1...5 {
            map.add(address(number))
            pieces.append(try taken(1 << 20))
            pieces.append(try taken(1 << 20))
        }
        var returned: [UInt] = []
        for piece in pieces { if let page = map.giveBack(piece) { returned.append(page) } }
        #expect(returned == [address(3), address(4), address(5)] && map.pageCount == 2)
    }

    /// No two pieces overlap, and none of a page that was returned is lent.
    @Test mutating func `Every piece belongs to one side at a time`() throws {
        var random = SeededGenerator(seed: 7)
        var lent: [UInt: Int] = [:]
        var next = 1
        var pages: Set<UInt> = []
        for _ in 0..<20_000 {
            if lent.count < 100, random.next() % 2 == 0 {
                let bytes = 1 << (16 + Int(random.next() % 5))
                var piece = map.take(bytes)
                if piece == nil {
                    map.add(address(next))
                    pages.insert(address(next))
                    next += 1
                    piece = map.take(bytes)
                }
                let start = try #require(piece)
                let overlaps = lent.contains { $0.key < start + UInt(bytes) && start < $0.key + UInt($0.value) }
                #expect(!overlaps && pages.contains(start & ~UInt(Self.page - 1)) && start.isMultiple(of: UInt(bytes)))
                lent[start] = bytes
            } else if let piece = lent.keys.sorted().dropFirst(Int(random.next() % 50)).first {
                lent[piece] = nil
                if let page = map.giveBack(piece) {
                    pages.remove(page)
                    let isFree = !lent.keys.contains { $0 & ~UInt(Self.page - 1) == page }
                    #expect(isFree)
                }
            }
            #expect(map.pageCount == pages.count)
        }
        for piece in lent.keys { if let page = map.giveBack(piece) { pages.remove(page) } }
        #expect(map.pageCount == 2 && pages.count == 2)
    }
}
