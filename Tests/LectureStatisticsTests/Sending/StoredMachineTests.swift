import LectureModel
import LectureSQLite
import LectureStatistics
import LectureTestSupport
import Testing

@testable import LectureStore

/// The store repeats the table of ``OutboxMachine`` in its statements: both are checked for every cell.
struct StoredMachineTests {
    private let directory: TemporaryDirectory
    private let index: SQLiteDownloadIndex
    private let outbox: SQLiteOutbox
    private let owner: OwnerID
    private let target: TargetID
    private let now = Timestamp(milliseconds: 1_700_000_000_000)
    private let address = ReportRecord.Target(url: "http://127.0.0.1/lms", format: .json)

    init() throws {
        directory = try TemporaryDirectory()
        index = try SQLiteDownloadIndex(opening: StoreLocation(directory: directory.file("store")), now: now)
        outbox = SQLiteOutbox(index: index)
        owner = try index.owners.registerOwner(pid: 1, bootID: "", command: "", now: now)
        target = try outbox.target(address)
    }

    /// A report in a state, and its request, or one without reports.
    private func report(_ state: ReportState, isSealed: Bool) throws -> (OutboxID, InFlightBatchID) {
        var record = ReportRecord(
            id: "a", content: "", user: "u", session: "s", sequence: 1, wall: Timestamp(milliseconds: 0))
        record.target = address
        record.state = state
        _ = try outbox.add(imported: record, now: now)
        let id = try #require(try index.connection.first("SELECT id FROM report") { $0.id(0, OutboxTable.self) })
        guard state == .leased || isSealed else { return (id, InFlightBatchID(77)) }
        let (first, rest) = isSealed ? ([id], []) : ([], [id])
        let frozen = FrozenRequest(id: "x", reports: first, mediaType: "", body: [1])
        let inFlightBatch = try outbox.begin(frozen, rest: rest, target: target, owner: owner, now: now)
        if state == .pending { try outbox.release(inFlightBatch, owner: owner) }
        return (id, inFlightBatch)
    }

    private func apply(_ event: OutboxMachine.Event, _ id: OutboxID, _ inFlightBatch: InFlightBatchID) throws {
        let answer = SendAnswer(at: now, status: nil, text: "")
        switch event {
        case .lease:
            if try outbox.claim(target, owner: owner, limit: 1, now: now).isEmpty {
                let frozen = FrozenRequest(id: "y", reports: [], mediaType: "", body: [1])
                // A request with a report that is not free is refused as a whole.
                _ = try? outbox.begin(frozen, rest: [id], target: target, owner: owner, now: now)
            }
        case .release: try outbox.release(inFlightBatch, owner: owner)
        case .accept: try outbox.settle(inFlightBatch, [id], dead: nil, answer: answer, now: now)
        case .refuse: try outbox.settle(inFlightBatch, [id], dead: .refused, answer: answer, now: now)
        case .revive: _ = try outbox.upkeep.revive(ReportSelection(), now: now)
        case .supersede: try outbox.supersede([id], now: now)
        case .restore: try outbox.restore([id])
        case .expire:
            _ = try outbox.upkeep.expire(before: now + .seconds(1), now: now)
        }
    }

    @Test(arguments: OutboxMachine.Event.allCases, ReportState.allCases)
    func `the store and the machine agree on every cell`(event: OutboxMachine.Event, state: ReportState) throws {
        // The port expires pending reports; a dead letter is for an operator to decide.
        if event == .expire, state == .dead { return }
        let (id, inFlightBatch) = try report(state, isSealed: false)
        try apply(event, id, inFlightBatch)
        let found = try #require(try outbox.reports([id]).first).state
        #expect(found == OutboxMachine.next(state, event) ?? state)
    }

    @Test(arguments: OutboxMachine.Event.allCases, [ReportState.pending, .leased])
    func `the store and the machine agree on every frozen cell`(event: OutboxMachine.Event, state: ReportState) throws {
        let (id, inFlightBatch) = try report(state, isSealed: true)
        try apply(event, id, inFlightBatch)
        let found = try #require(try outbox.reports([id]).first).state
        #expect(found == OutboxMachine.next(state, event, isSealed: true) ?? state)
    }
}
