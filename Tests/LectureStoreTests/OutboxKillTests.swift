import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The state after a kill in the middle of storing and settling: every acknowledged report, each once, and each
/// settlement whole.
@Suite struct OutboxKillTests {
    /// A position in a write at which the child dies: the limit on the size of a file ends it with SIGXFSZ, so the log
    /// of the database is cut in the middle of a transaction that depends on the number.
    @Test(arguments: [700_000, 812_345, 1_000_001, 1_234_567, 1_500_000, 2_222_222])
    func whatWasAcknowledgedIsThereAndTheInvariantHolds(bytes: Int) async throws {
        let directory = try TemporaryDirectory()
        let (path, acks) = (directory.file("store"), directory.file("acks"))
        _ = await #expect(processExitsWith: .failure) {
            [path = path as String, acks = acks as String, bytes = bytes as Int] in
            let now = Timestamp(milliseconds: 0)
            let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
            // The log grows until the child dies.
            try index.connection.execute("PRAGMA wal_autocheckpoint = 0")
            let outbox = SQLiteOutbox(index: index)
            let owner = try index.owners.registerOwner(pid: 1, bootID: "", command: "", now: now)
            let target = try outbox.target(OutboxFixture.address)
            let log = unsafe open(acks, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            func report(_ word: String) {
                let line = Array((word + "\n").utf8)
                let written = unsafe write(log, line, line.count)
                guard written == line.count else { exit(3) }
            }
            var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            for round in 0..<10_000 {
                let ids = (0..<3).map { "\(round)-\($0)" }
                try index.transaction { _ in
                    for id in ids {
                        _ = try outbox.add(
                            NewReport(OutboxFixture.record(id, session: "\(round)", sequence: 1)), now: now)
                    }
                }
                for id in ids { report("ACK \(id)") }
                let rows = try outbox.planRows(target, queues: 9, rows: 9).map(\.id)
                let frozen = OutboxFixture.frozen("\(round)", rows)
                let inFlightBatch = try outbox.begin(frozen, rest: [], target: target, owner: owner, now: now)
                guard round % 3 > 0 else { continue }
                try index.transaction { _ in
                    let answer = SendAnswer(at: now, status: 200, text: "")
                    try outbox.settle(inFlightBatch, rows, dead: nil, answer: answer, now: now)
                    try outbox.end(inFlightBatch, owner: owner)
                }
                report("DONE \(round)")
            }
        }
        let location = StoreLocation(directory: path)
        #expect(try StoreMaintenance.check(location) == [])
        let lines = try String(contentsOfFile: acks, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count > 20)
        let queries = try SQLiteContentQueries(opening: location)
        let stored = try queries.reports(ReportSelection(), after: nil, limit: .max)
        #expect(try queries.account().isConserved)
        let states = Dictionary(uniqueKeysWithValues: stored.map { ($0.record.id, $0.record.state) })
        for line in lines where line.hasPrefix("ACK ") { #expect(states[String(line.dropFirst(4))] != nil, "\(line)") }
        for line in lines where line.hasPrefix("DONE ") {
            for number in 0..<3 { #expect(states["\(line.dropFirst(5))-\(number)"] == .delivered, "\(line)") }
        }
        try Self.takeOver(location)
    }

    /// The next process takes over requests with an unknown outcome, with the same bytes.
    private static func takeOver(_ location: StoreLocation) throws {
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        for owner in try index.owners.all() { try index.owners.dismissOwner(owner, now: Timestamp(milliseconds: 1)) }
        let owner = try index.owners.registerOwner(pid: 2, bootID: "", command: "", now: Timestamp(milliseconds: 1))
        let outbox = SQLiteOutbox(index: index)
        let target = try outbox.target(OutboxFixture.address)
        let inFlightBatches = try outbox.claim(target, owner: owner, limit: .max, now: Timestamp(milliseconds: 1))
        #expect(!inFlightBatches.isEmpty)
        for inFlightBatch in inFlightBatches {
            #expect(inFlightBatch.frozen.body == Array("body of \(inFlightBatch.frozen.id)".utf8))
        }
        #expect(try StoreMaintenance.check(location) == [])
    }
}
