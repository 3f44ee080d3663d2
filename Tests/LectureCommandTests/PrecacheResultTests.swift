import LectureKit
import LectureModel
import Testing

@testable import LectureCommand

/// The last line of a run. Counts and events come by different ways, so that either may be ahead.
struct PrecacheResultTests {
    private func result(_ counts: [ItemState: Int], told: Int, skipped: Int = 0) throws -> PrecacheResult {
        var result = PrecacheResult(began: BootInstant(nanoseconds: 0))
        result.summary.counts = counts
        if counts[.stopped] != nil { result.summary.stops = [.space: 1] }
        result.told = Set(try (0..<told).map { try ContentKey("told-\($0)") })
        result.skipped = Set(try (0..<skipped).map { try ContentKey("skipped-\($0)") })
        return result
    }

    @Test(arguments: [(3, 0), (3, 2), (3, 3)])
    func `what was counted is not counted again when it is told`(counted: Int, told: Int) throws {
        let result = try result([.completed: counted + 1], told: told, skipped: 1)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).completed == counted)
        #expect(result.status == .done)
    }

    @Test func `what was told after the count is complete, and no longer unfinished`() throws {
        let result = try result([.completed: 1, .verifying: 1], told: 2)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).completed == 2)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).stopped == 0)
        #expect(result.status == .done)
    }

    @Test func `an item that is told late does not hide one that is unfinished`() throws {
        let result = try result([.completed: 1, .stopped: 1], told: 1)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).stopped == 1)
        #expect(result.status == .tryAgain)
    }
}
