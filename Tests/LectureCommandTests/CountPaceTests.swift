import LectureModel
import Testing

@testable import LectureCommand

@Suite struct CountPaceTests {
    private static func boot(_ milliseconds: Int64) -> BootInstant {
        BootInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// Counts every second of a minute, and returns how often that was due.
    private static func counts(ofWhichEachTakes milliseconds: Int64) -> Int {
        var pace = CountPace()
        var count = 0
        for second in Int64(0)..<60 where pace.isDue(every: .seconds(1), at: boot(1000 * second)) {
            pace.counted(from: boot(1000 * second), to: boot(1000 * second + milliseconds))
            count += 1
        }
        return count
    }

    @Test(
        "Counting takes a twentieth of the time at most",
        arguments: [(1, 60), (50, 60), (60, 30), (100, 30), (1000, 3), (10_000, 1)] as [(Int64, Int)])
    func isASmallShare(milliseconds: Int64, expected: Int) {
        #expect(Self.counts(ofWhichEachTakes: milliseconds) == expected)
    }

    @Test func `The last count of a run is always due`() {
        var pace = CountPace()
        #expect(pace.isDue(every: .seconds(1), at: Self.boot(5)))
        pace.counted(from: Self.boot(5), to: Self.boot(5000))
        #expect(!pace.isDue(every: .seconds(1), at: Self.boot(5001)))
        #expect(pace.isDue(every: .zero, at: Self.boot(5001)))
    }
}
