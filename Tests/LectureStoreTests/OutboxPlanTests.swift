import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// No query made while reports are sent or listed scans a whole table.
@Suite struct OutboxPlanTests {
    /// Each statement, and the indices it must use.
    private static let statements: [(sql: String, uses: [String])] = [
        (SQLiteOutbox.readyQueues, ["lms_lane_ready"]), (ReportRedirection.readyQueuesOf, ["lms_lane_ready"]),
        (SQLiteOutbox.openRows, ["report_lane"]), (SQLiteOutbox.dueInFlightBatches, ["lms_flight_target"]),
        (SQLiteOutbox.nextInFlightBatch, ["lms_flight_target"]), (ReportUpkeep.endedRows, ["report_ended"]),
    ]

    @Test(arguments: statements.indices)
    func aQuestionIsAnsweredByItsIndex(place: Int) throws {
        try OutboxFixture.with { box in
            let (sql, uses) = Self.statements[place]
            // Numbered parameters occur several times.
            let numbered = (1...9).count { sql.contains("?\($0)") }
            let count = numbered > 0 ? numbered : sql.count { $0 == "?" }
            let values = [SQLiteValue](repeating: .integer(1), count: count)
            let plan = try box.store.index.connection.plan(sql, values: values)
            #expect(plan.allSatisfy { !$0.contains("SCAN") || uses.contains(where: $0.contains) }, "\(plan)")
            for index in uses { #expect(plan.contains { $0.contains(index) }, "\(plan)") }
            if !sql.contains("lms_flight") {
                #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
            }
        }
    }

    @Test func aPageOfAStateOrOfAllIsNeitherSortedNorSearchedFromTheBeginning() throws {
        try OutboxFixture.with { box in
            var dead = ReportSelection()
            dead.states = [.dead, .expired]
            for selection in [ReportSelection(), dead] {
                for search in ReportSearch.searches(selection, after: OutboxID(7)) {
                    let plan = try box.store.index.connection.plan(
                        search.sql(ReportRows.columns, limit: true), values: search.values + [.integer(9)])
                    #expect(plan.first?.hasPrefix("SEARCH report") == true, "\(plan)")
                    #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
                }
            }
        }
    }

    @Test func aLearnerAndAnIdAreLookedUp() throws {
        try OutboxFixture.with { box in
            var user = ReportSelection()
            user.user = "learner"
            var id = ReportSelection()
            id.ids = ["a"]
            for selection in [user, id] {
                for search in ReportSearch.searches(selection, after: nil) {
                    let plan = try box.store.index.connection.plan(
                        search.sql(ReportRows.columns, limit: true), values: search.values + [.integer(9)])
                    #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
                }
            }
        }
    }

    @Test func theAccountReadsAnIndexAndNoReports() throws {
        try OutboxFixture.with { box in
            let plan = try box.store.index.connection.plan(
                "SELECT state, count(*) FROM report INDEXED BY report_state GROUP BY state")
            #expect(plan == ["SCAN report USING COVERING INDEX report_state"])
        }
    }

    /// Triggers appear in no plan: a settlement of one report among many must touch a fixed number of rows.
    @Test func aSettlementCostsTheSameAmongManyReports() throws {
        try OutboxFixture.with { box in
            let connection = box.store.index.connection
            func cost() throws -> Int64 {
                let report = try box.add(session: "alone")
                let before = try #require(try connection.first("SELECT total_changes()") { $0.int64(0) })
                let inFlightBatch = try box.begin("x", [report])
                try box.accept(inFlightBatch, [report])
                try box.outbox.end(inFlightBatch, owner: box.owner)
                return try #require(try connection.first("SELECT total_changes()") { $0.int64(0) }) - before
            }
            let alone = try cost()
            try box.store.index.transaction { _ in
                for _ in 0..<2_000 { try box.add(session: "alone") }
            }
            try connection.execute("UPDATE report SET sequence = -1 WHERE state = 2")
            let open = try connection.query("SELECT id FROM report WHERE state = 0") { $0.id(0, OutboxTable.self) }
            let inFlightBatch = try box.begin("all", open)
            try box.accept(inFlightBatch, open)
            try box.outbox.end(inFlightBatch, owner: box.owner)
            #expect(try cost() == alone)
        }
    }
}
