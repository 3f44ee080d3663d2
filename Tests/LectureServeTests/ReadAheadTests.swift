import LectureHTTP
import LectureTestSupport
import Testing

/// What two answers read ahead by, as a value.
@Suite struct ReadAheadTests {
    /// A body whose byte at each place is known, and what was requested of it.
    private struct Rig {
        var ahead: ReadAhead
        var asked: [Range<Int64>] = []

        init(_ range: Range<Int64>, most: Int = 2) { ahead = ReadAhead(range, most: most) }

        static func bytes(_ range: Range<Int64>) -> ArraySlice<UInt8> { range.map { UInt8($0 % 251) }[...] }

        /// Begins to read, in pieces of a length.
        mutating func advance(_ length: Int64 = 4) {
            var asked = asked
            func begin(_ range: Range<Int64>) -> Task<Void, Never> {
                asked.append(range)
                return Task {}
            }
            ahead.advance(to: { $0 + length }, begin)
            self.asked = asked
        }

        /// The piece that was requested last is there.
        mutating func deliver() { ahead.received(Self.bytes(asked[asked.count - 1])) }

        /// What the server gets for a buffer.
        mutating func fill(_ count: Int) -> (HTTPFill, [UInt8]) {
            var buffer = [UInt8](repeating: 255, count: count)
            let filled = unsafe buffer.withUnsafeMutableBytes { unsafe ahead.fill($0) }
            if case .bytes(let count) = filled { return (filled, Array(buffer.prefix(count))) }
            return (filled, [])
        }
    }

    @Test func `nothing is read before it is started, and one piece at a time`() {
        var rig = Rig(0..<100)
        #expect(rig.fill(8).0 == .wait && rig.asked.isEmpty)
        rig.advance()
        rig.advance()
        #expect(rig.asked == [0..<4])
        #expect(rig.fill(8).0 == .wait)
        rig.deliver()
        rig.advance()
        #expect(rig.asked == [0..<4, 4..<8])
    }

    @Test(arguments: [1, 2, 3])
    func `as many pieces as are permitted wait to be sent`(most: Int) {
        var rig = Rig(0..<100, most: most)
        for _ in 0..<10 {
            let count = rig.asked.count
            rig.advance()
            if rig.asked.count > count { rig.deliver() }
        }
        #expect(rig.asked.count == most)
        // A piece of which a part was sent still is one.
        #expect(rig.fill(3).0 == .bytes(3))
        rig.advance()
        #expect(rig.asked.count == most)
        #expect(rig.fill(3).0 == .bytes(1))
        rig.advance()
        #expect(rig.asked.count == most + 1)
    }

    @Test(arguments: [(0, 1), (0, 40), (7, 40), (3, 4), (100, 1000)] as [(Int64, Int64)], [1, 3, 4, 5, 64])
    func `the client gets each byte once and in order, whatever the sizes`(place: (Int64, Int64), buffer: Int) {
        let range = place.0..<place.1
        for length in [1, 2, 4, 7, 2000] as [Int64] {
            var (rig, sent) = (Rig(range), [UInt8]())
            loop: while sent.count <= range.count {
                let count = rig.asked.count
                rig.advance(length)
                if rig.asked.count > count { rig.deliver() }
                let (filled, bytes) = rig.fill(buffer)
                switch filled {
                case .bytes: sent += bytes
                case .end: break loop
                case .wait, .failed:
                    Issue.record("\(filled) at \(sent.count) of \(range)")
                    break loop
                }
            }
            #expect(sent == Array(Rig.bytes(range)), "pieces of \(length)")
            // The pieces are beside each other, and end with the body.
            #expect(rig.asked.first?.lowerBound == range.lowerBound && rig.asked.last?.upperBound == range.upperBound)
            for (one, next) in zip(rig.asked, rig.asked.dropFirst()) { #expect(one.upperBound == next.lowerBound) }
        }
    }

    @Test func `an empty body is at its end at once`() {
        var rig = Rig(5..<5)
        rig.advance()
        #expect(rig.asked.isEmpty && rig.fill(8).0 == .end)
    }

    @Test func `the end is not there while the last piece is being read`() {
        var rig = Rig(0..<4)
        rig.advance()
        #expect(rig.fill(8).0 == .wait)
        rig.deliver()
        #expect(rig.fill(8) == (.bytes(4), [0, 1, 2, 3]))
        #expect(rig.fill(8).0 == .end)
    }

    @Test(arguments: [0, -1, -1000] as [Int64])
    func `a border that is no progress is a byte of it`(length: Int64) {
        var rig = Rig(10..<12)
        for _ in 0..<2 {
            rig.advance(length)
            rig.deliver()
        }
        #expect(rig.asked == [10..<11, 11..<12])
    }

    @Test func `once stopped it sends nothing, reads nothing and takes nothing`() async {
        var rig = Rig(0..<100)
        rig.advance()
        rig.deliver()
        // Waits until it is cancelled.
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        defer { continuation.finish() }
        let task = Task { for await _ in stream {} }
        rig.ahead.advance(to: { $0 + 4 }, { _ in task })
        rig.ahead.stop()
        #expect(task.isCancelled)
        await task.value
        #expect(rig.fill(8).0 == .failed)
        rig.ahead.received(Rig.bytes(4..<8))
        #expect(rig.fill(8).0 == .failed)
        let count = rig.asked.count
        rig.advance()
        #expect(rig.asked.count == count)
    }
}
