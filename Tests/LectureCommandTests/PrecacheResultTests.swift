import LectureKit
import LectureModel
import Testing

@testable import LectureCommand

/// The last line of a run. Counts and events arrive separately, so that either may be ahead.
struct PrecacheResultTests {
    private func result(_ counts: [ItemState: Int], reported: Int, skipped: Int = 0) throws -> PrecacheResult {
        var result = PrecacheResult(began: BootInstant(nanoseconds: 0))
        result.summary.counts = counts
        if counts[.stopped] != nil { result.summary.stops = [.space: 1] }
        result.reported = Set(try (0..<reported).map { try ContentKey("reported-\($0)") })
        result.skipped = Set(try (0..<skipped).map { try ContentKey("skipped-\($0)") })
        return result
    }

    @Test(arguments: [(3, 0), (3, 2), (3, 3)])
    func `a completed lecture is not counted again when its event arrives`(counted: Int, reported: Int) throws {
        let result = try result([.completed: counted + 1], reported: reported, skipped: 1)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).completed == counted)
        #expect(result.status == .done)
    }

    @Test func `a completion reported after the count is complete, and no longer unfinished`() throws {
        let result = try result([.completed: 1, .verifying: 1], reported: 2)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).completed == 2)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).stopped == 0)
        #expect(result.status == .done)
    }

    @Test func `what ended a run is the reason why nothing is removed, before what its lists are`() throws {
        var result = try result([:], reported: 0)
        result.lists = NamedLists(["a", "b", "a", "c"])
        result.lists.record("a", used: 2, refused: 0)
        result.lists.record("b", used: 0, refused: 2)
        result.lists.record(nil, used: 0, refused: 9)
        #expect(result.lists.names == ["a", "b", "c"])
        #expect(result.obstaclesToPruning == ["b has 2 refused lines", "c is empty"])
        result.isDeadlineOver = true
        #expect(result.obstaclesToPruning == ["--deadline ended the run"])
        result.signal = 15
        #expect(result.obstaclesToPruning == ["a signal ended the run"])
    }

    @Test func `a late event does not hide an unfinished lecture`() throws {
        let result = try result([.completed: 1, .stopped: 1], reported: 1)
        #expect(result.totals(at: BootInstant(nanoseconds: 0)).stopped == 1)
        #expect(result.status == .fullDisk())
    }

    @Test(
        arguments: [
            ([.space: 1, .network: 2], true, .fullDisk()), ([.space: 0, .schedule: 1], false, .tryAgain),
            ([.schedule: 1], true, .tryAgain), ([.quota: 1], false, .tryAgain), ([.network: 1], false, .unavailable),
            ([.licenceRefused: 1], false, .noPermission), ([.licenceRefused: 1, .space: 1], false, .fullDisk()),
        ] as [([StopReason: Int], Bool, LectureCommand.ExitStatus)])
    func `a full disk is the status of a run, whatever else has stopped lectures`(
        stops: [StopReason: Int], isDeadlineOver: Bool, expected: LectureCommand.ExitStatus
    ) throws {
        var result = try result([.stopped: stops.values.reduce(0, +)], reported: 0)
        (result.summary.stops, result.isDeadlineOver) = (stops, isDeadlineOver)
        #expect(result.status == expected)
    }
}
