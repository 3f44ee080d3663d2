import LectureModel
import LectureSQLite
import Testing

@testable import LectureStore

/// How enumerations get into SQL texts, and that the texts still use the partial indices.
@Suite struct EnumerationTests {
    @Test func aCaseIsWrittenAsItsStoredNumber() {
        #expect("state = \(sql: ItemState.completed)" == "state = 4")
        #expect("role = \(sql: ResourceRole.media)" == "role = 0")
        let state = ResourceRecord.State.finalized
        #expect("resource.state <> \(sql: state) AND TRUE" == "resource.state <> 3 AND TRUE")
    }

    @Test func casesAreWrittenAsAListInTheirOrder() {
        #expect("state IN \(sql: [ItemState.queued, .loading])" == "state IN (0, 1)")
        #expect("desire NOT IN \(sql: [TargetState.remove, .cancel])" == "desire NOT IN (3, 2)")
        #expect("stop_reason IN \(sql: [StopReason.quota])" == "stop_reason IN (8)")
        #expect("state IN \(sql: [ReportState]())" == "state IN ()")
    }

    @Test("The numbers of the enumerations that only the store knows are those of its schema")
    func ownEnumerations() {
        #expect(VersionState.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect(VersionState.allCases == [.building, .current, .superseded, .discarded])
        #expect(RenewalState.allCases.map(\.rawValue) == [0, 1, 2])
        #expect(RenewalState.allCases == [.wanted, .renewed, .failed])
        #expect(LicenceSuspicion(rawValue: LicenceSuspicion.noneStored) == nil)
    }

    @Test func openReportsAreThoseThatHoldTheirSession() throws {
        #expect("state \(ReportState.isOpen)" == "state < 2")
        try StoreFixture.with { store in
            for state in ReportState.allCases {
                let isOpen = try store.index.connection.first("SELECT \(sql: state) \(ReportState.isOpen)") {
                    $0.bool(0)
                }
                #expect(isOpen == state.holdsSession, "\(state)")
            }
        }
    }

    /// Each statement, and the partial index that it must use.
    private static let statements: [(sql: String, uses: String)] = [
        ("SELECT 1 FROM version WHERE content_id = ? AND state = \(sql: VersionState.building)", "version_building"),
        ("SELECT 1 FROM version WHERE content_id = ? AND state = \(sql: VersionState.current)", "version_current"),
        (VersionStatements.versionsLeft, "version_left"),
        (QueueStatements.headOfQueue, "content_state_priority"),
        (
            "SELECT count(*) FROM content INDEXED BY content_removal WHERE desire = \(sql: TargetState.remove)",
            "content_removal"
        ),
        ("SELECT \(ContentColumns.media) FROM content", "version_current"), (ContentRows.media, "version_current"),
        (RenewalRows.dueRenewals(RenewalRunID(1), .fresh), "renewal_fresh"),
        (RenewalRows.dueRenewals(RenewalRunID(1), .over), "renewal_waiting"),
        (SQLiteOutbox.openRows, "report_lane"), (ReportStatements.moveFreeRows, "report_lane"),
        (ReportUpkeep.endedRows, "report_ended"),
    ]

    @Test(arguments: statements.indices)
    func aStatementUsesItsPartialIndex(place: Int) throws {
        let (sql, uses) = Self.statements[place]
        try StoreFixture.with { store in
            // Numbered parameters occur several times.
            let numbered = (1...9).count { sql.contains("?\($0)") }
            let count = numbered + sql.matches(of: /\?(?!\d)/).count
            let plan = try store.index.connection.plan(sql, values: Array(repeating: .integer(1), count: count))
            #expect(plan.contains { $0.contains(uses) }, "\(plan)")
        }
    }

    @Test("A list of outdated lectures is found by the partial index of outdated versions")
    func outdated() throws {
        var filter = ContentFilter()
        filter.conditions = [.outdated]
        try StoreFixture.with { store in
            let plan = try SQLiteContentQueries(connection: store.index.connection).plan(filter, sort: .added)
            #expect(plan.contains { $0.contains("version_outdated") }, "\(plan)")
        }
    }

    @Test(arguments: [(ContentCondition.outdated, "version_outdated"), (.damaged, "content_error")])
    func `few among many are counted by an index, without a look at all lectures`(
        condition: ContentCondition, index: String
    ) throws {
        var filter = ContentFilter()
        filter.conditions = [condition]
        try StoreFixture.with { store in
            let connection = store.index.connection
            let list = try ContentList(filter, sort: .added, on: connection)
            let plan = try connection.plan(list.countSQL, values: list.values)
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
            #expect(!plan.contains { $0.hasPrefix("SCAN content") }, "\(plan)")
            // So is a list of the damaged, in any order.
            guard condition == .damaged else { return }
            let pages = SQLiteContentQueries(connection: connection)
            for sort in ContentSort.allCases {
                let plan = try pages.plan(filter, sort: sort)
                #expect(plan.contains { $0.contains(index) }, "\(sort): \(plan)")
                // With a state beside it, it is a list like others.
                filter.states = [.completed]
                #expect(try !pages.plan(filter, sort: sort).contains { $0.contains(index) })
                filter.states = []
            }
        }
    }
}
