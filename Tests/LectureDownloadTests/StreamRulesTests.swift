import LectureDownload
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@Suite struct StreamRulesTests {
    @Test(arguments: [1, 1_048_519, 1_048_520, 1_048_521, 2_097_080, 2_097_081, 5 << 20] as [UInt64])
    func `blocks cover the media without a gap, each one segment of a sealed file`(total: UInt64) throws {
        let blocks = StreamBlocks(total: total)
        var next: UInt64 = 0
        for index in 0..<blocks.count {
            let range = blocks.range(of: index)
            #expect(range.lowerBound == next && !range.isEmpty)
            #expect(blocks.grid.chunk(at: range.lowerBound) == index)
            #expect(blocks.grid.chunk(at: range.upperBound - 1) == index)
            #expect(blocks.fileBytes(of: index) == Int64(range.count) + 56)
            #expect(blocks.fileBytes(of: index) <= 40 + 1 << 20)
            #expect(blocks.isLast(index) == (range.upperBound == total))
            next = range.upperBound
        }
        #expect(next == total)
    }

    @Test func `a run ends at a present block, and continues past it only for sequential readers`() {
        func run(_ first: Int, _ last: Int, _ isSequential: Bool, _ cached: Set<Int> = []) -> Range<Int> {
            StreamAhead.run(first: first, last: last, isSequential: isSequential, count: 20, cached: cached.contains)
        }
        #expect(run(3, 3, false) == 3..<4)
        #expect(run(3, 3, true) == 3..<8)
        #expect(run(3, 9, true) == 3..<14)
        #expect(run(3, 9, true, [6]) == 3..<6)
        #expect(run(3, 9, true, [4]) == 3..<4)
        #expect(run(19, 19, true) == 19..<20)
        #expect(run(5, 2, false) == 5..<6)
        #expect(run(0, 19, true) == 0..<20)
    }

    @Test func `the bound is the smaller of the limit and the free disk space`() {
        func bound(_ limit: Int64, used: Int64 = 0, free: UInt64, reserve: Int64 = 0) -> Int64 {
            StreamLimit.bound(limit: limit, used: used, free: free, reserve: reserve)
        }
        #expect(bound(100, free: 1000) == 100)
        #expect(bound(100, used: 40, free: 30) == 70)
        #expect(bound(100, used: 40, free: 30, reserve: 20) == 50)
        // Below the reserve unused blocks must be evicted.
        #expect(bound(100, used: 40, free: 30, reserve: 60) == 10)
        #expect(bound(100, used: 40, free: 30, reserve: 500) == 0)
        #expect(bound(0, free: .max) == StreamLimit.standard)
        #expect(bound(.max, used: 5, free: .max) == .max)
        #expect(bound(100, free: .max, reserve: .max) == 0)
        #expect(bound(100, free: 50, reserve: -1) == 50)
    }

    @Test func `only a strong validator with a length proves a version`() {
        func validator(_ etag: String?, _ modified: String? = nil, _ total: UInt64? = 5) -> Validator {
            Validator(etag: etag, lastModified: modified, total: total)
        }
        let date = "Tue, 14 Nov 2023 22:13:20 GMT"
        #expect(StreamVersion.isSame(validator("\"a\""), validator("\"a\"")))
        #expect(StreamVersion.isSame(validator(nil, date), validator(nil, date)))
        for other in [
            validator("\"b\""), validator("W/\"a\""), validator("\"a\"", nil, 6), validator("\"a\"", nil, nil),
        ] {
            #expect(!StreamVersion.isSame(validator("\"a\""), other))
        }
        #expect(!StreamVersion.isSame(validator("W/\"a\""), validator("W/\"a\"")))
        #expect(!StreamVersion.isSame(validator("\"a\"", nil, nil), validator("\"a\"", nil, nil)))
        #expect(StreamVersion.isKept(validator("\"a\"")) && StreamVersion.isKept(validator(nil, date)))
        for other in [
            validator("W/\"a\"", date), validator(nil, "W/" + date), validator(nil), validator("\"a\"", nil, nil),
            validator("\"a\"", nil, 0),
        ] {
            #expect(!StreamVersion.isKept(other))
        }
    }
}
