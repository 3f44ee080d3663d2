import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

@Suite struct SchemaTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    /// Opens a copy of the store that the program left when a migration was the newest.
    static func store(shipped number: String) throws -> (directory: TemporaryDirectory, location: StoreLocation) {
        let directory = try TemporaryDirectory()
        let source = fixtures.appending(path: "schema-\(number).sqlite")
        try FileManager.default.copyItem(at: source, to: URL(filePath: directory.file("lecturekit.db")))
        return (directory, StoreLocation(directory: directory.path))
    }

    @Test func everyShippedSchemaHasAFixture() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path).filter {
            $0.hasSuffix("sqlite")
        }
        let due = MigrationCatalogue.entries.map { "schema-\($0.identifier.prefix(4)).sqlite" }
        #expect(names.sorted() == due)
    }

    /// A new store is made by one script, an older one step by step. `Tools/make-schema` makes the script.
    @Test func `the schema of a new store is what all migrations make`() throws {
        func contents(_ connection: Connection) throws -> (objects: [String], rows: [String]) {
            let objects = try connection.query(
                """
                SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema
                ORDER BY 1
                """
            ) { $0.text(0) }
            let tables = try connection.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
                $0.text(0)
            }
            let rows = try tables.flatMap { table in
                let columns = try connection.query("SELECT name FROM pragma_table_info(?)", table) { $0.text(0) }
                let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
                return try connection.query("SELECT \(values) FROM \(table) ORDER BY 1") { "\(table): \($0.text(0))" }
            }
            return (objects, rows)
        }
        let (migrator, now) = (StoreDatabase.migrator, Timestamp(milliseconds: 1))
        let (new, old) = (
            try Connection(path: ":memory:", access: .create), try Connection(path: ":memory:", access: .create)
        )
        #expect(try migrator.create(new, now: now) == MigrationCatalogue.entries.map(\.identifier))
        #expect(try migrator.migrate(new, now: now) == [])
        _ = try migrator.migrate(old, now: now)
        let (made, migrated) = (try contents(new), try contents(old))
        #expect(made.objects == migrated.objects)
        #expect(made.rows == migrated.rows)
        #expect(made.objects.count > 100 && made.rows.count > MigrationCatalogue.entries.count)
        // Nothing is made where something is.
        #expect(lectureError { _ = try migrator.create(new, now: now) }?.code == .bug)
        #expect(try contents(new).objects == made.objects)
    }

    @Test(arguments: MigrationCatalogue.entries.map { String($0.identifier.prefix(4)) })
    func aStoreOfThatTimeComesUpSoundAndFull(number: String) throws {
        let (directory, location) = try Self.store(shipped: number)
        let tables = try Connection(path: directory.file("lecturekit.db"), access: .immutable).query(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
        ) { $0.text(0) }
        #expect(tables.count >= 15)
        let later = MigrationCatalogue.entries.map(\.identifier).filter { $0.prefix(4) > number }
        #expect(try StoreMaintenance.migrate(location, now: Timestamp(milliseconds: 1)) == later)
        #expect(try StoreMaintenance.check(location) == [])
        let connection = try StoreDatabase.openReader(location)
        for table in tables {
            #expect(try connection.first("SELECT 1 FROM \(table) LIMIT 1") { _ in true } == true, "\(table)")
        }
        _ = directory
    }

    @Test func aStoreOfSchemaOneKeepsItsContents() throws {
        let (directory, location) = try Self.store(shipped: "0001")
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        let queries = try SQLiteContentQueries(opening: location)
        let contents = try queries.contents(ContentFilter(), sort: .added, page: ContentPage())
        #expect(contents.map(\.state) == [.queued, .downloading, .completed, .stopped, .failed])
        let item = try #require(try index.contents.item(try ContentKey("downloading")))
        #expect(item.headers == ["X-Course": "7"])
        #expect(item.mirrors == ["http://127.0.0.2/2.mp4"])
        #expect(item.lease == ContentLease(content: item.id, fence: 3))
        let building = try #require(try index.versions.building(item.id))
        #expect(building.resources.map(\.entityTag) == ["\"abc\""])
        #expect(try index.resources.chunks(building.resources[0].id).map(\.index) == [0, 1])
        #expect(try index.servers.urlLeases(building.resources[0].id).map(\.state) == [.usable, .disagrees])
        let stopped = try #require(try index.contents.item(try ContentKey("stopped")))
        #expect(stopped.content.stopReason == .serverWait)
        #expect(stopped.content.error?.code == .status(503))
        #expect(stopped.waitSet == Timestamp(milliseconds: 1_700_000_000_016))
        #expect(try index.versions.discardedVersions().map(\.1) == [["media/3-old"]])
        #expect(try queries.status().counts[.completed] == 1)
        _ = directory
    }

    @Test func aStoreOfSchemaTwoKeepsItsLicences() throws {
        let (directory, location) = try Self.store(shipped: "0002")
        _ = try StoreMaintenance.migrate(location, now: Timestamp(milliseconds: 1))
        let queries = try SQLiteContentQueries(opening: location)
        let licence = try #require(try queries.licence(try ContentKey("completed")))
        #expect(licence.source.callbackURL == "https://drm.example/callback")
        #expect(licence.source.userValues == ["uservalue0": "7"])
        #expect(licence.record?.countLeft == 3)
        #expect(licence.record?.policy.playTimeLimit == .seconds(600))
        #expect(licence.deadline == Timestamp(milliseconds: 1_750_000_000_000))
        #expect(licence.error?.detail == "drm.example")
        #expect(licence.token == "a.b.c")
        #expect(try queries.licence(try ContentKey("queued"))?.record == nil)
        #expect(try queries.licence(try ContentKey("a lecture that is gone"))?.record?.isForceExpired == true)
        #expect(try queries.licences(after: nil, limit: 9).map(\.entry.key.text) == ["completed", "queued"])
        #expect(try queries.pendingCallbacks(limit: 9).map(\.attempts) == [1])
        #expect(try queries.licenceAttempts(try ContentKey("completed"), limit: 9).map(\.outcome) == ["permitted"])
        var soon = ContentFilter()
        soon.expiresBefore = Timestamp(milliseconds: 1_750_000_000_001)
        #expect(
            try queries.contents(soon, sort: .expiry, page: ContentPage()).map(\.key.text) == ["completed"])
        _ = directory
    }

    @Test func everyEnumerationOfLicencesFitsItsCheckAndNothingElseDoes() throws {
        try StoreFixture.with { store in
            let connection = store.index.connection
            try connection.execute(
                "INSERT INTO licence(content_key, mac) VALUES ('a', ?)", [UInt8](repeating: 0, count: 32))
            func fits(_ column: String, _ value: Int) -> Bool {
                lectureError { try connection.execute("UPDATE licence SET \(column) = ?", value) } == nil
            }
            for form in LicenceRecord.Form.allCases { #expect(fits("form", form.rawValue)) }
            for unit in LicencePolicy.PlayTimeUnit.allCases { #expect(fits("play_time_unit", unit.rawValue)) }
            for scope in LicencePolicy.BookmarkScope.allCases { #expect(fits("bookmark_scope", scope.rawValue)) }
            for suspicion in LicenceSuspicion.allCases { #expect(fits("suspicion", suspicion.rawValue)) }
            #expect(fits("suspicion", 0))
            #expect(!fits("form", 2) && !fits("play_time_unit", 2) && !fits("bookmark_scope", 3))
            #expect(!fits("suspicion", 4) && !fits("count_limit", 0) && !fits("count_used", -1))
            for purpose in SealPurpose.allCases {
                let content = try store.add("content \(purpose)")
                let wrapped = [UInt8](repeating: 0, count: 40)
                try connection.execute(
                    "INSERT INTO content_key VALUES (?, ?, ?, 0, NULL)", content, purpose.rawValue, wrapped)
            }
            try connection.execute("DELETE FROM licence")
        }
    }

    @Test func aStoreOfSchemaThreeKeepsItsReports() throws {
        let (directory, location) = try Self.store(shipped: "0003")
        let queries = try SQLiteContentQueries(opening: location)
        let account = try queries.account()
        #expect(account.isConserved && account.created == 9 && account.pruned == 2 && account.erased == 1)
        #expect(account.rows == [.pending: 1, .leased: 1, .delivered: 1, .dead: 1, .superseded: 1, .expired: 1])
        let reports = try queries.reports(ReportSelection(), after: nil, limit: 9)
        #expect(reports.map(\.record.sequence) == [1, 2, 3, 4, 5, 6])
        #expect(reports[3].record.reason == "too_large")
        #expect(reports[3].answer?.status == 413)
        #expect(reports[0].record.target?.parameters.map(\.name) == ["data"])
        #expect(reports[0].record.corrected == Timestamp(milliseconds: 1_700_000_001_110))
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
        let outbox = SQLiteOutbox(index: index)
        #expect(
            try outbox.backups.all() == [
                BackupCopy(path: "/backup/a.db", made: Timestamp(milliseconds: 1_700_000_000_130))
            ]
        )
        let target = try #require(try outbox.targets().first)
        #expect(target.open == 2 && target.condition.suspension == .unauthorized)
        let owner = try #require(try index.owners.all().first)
        try index.owners.dismissOwner(owner, now: Timestamp(milliseconds: 1))
        let next = try index.owners.registerOwner(pid: 2, bootID: "", command: "", now: Timestamp(milliseconds: 1))
        let inFlightBatches = try outbox.claim(target.id, owner: next, limit: 9, now: Timestamp(milliseconds: 1))
        #expect(inFlightBatches.map(\.frozen.body) == [[0x64, 0x61, 0x74, 0x61]])
        _ = directory
    }

    @Test func everyEnumerationOfReportsFitsItsCheckAndNothingElseDoes() throws {
        try OutboxFixture.with { box in
            let connection = box.store.index.connection
            let id = try box.add()
            func fits(_ table: String, _ column: String, _ value: Int, _ rest: String = "") -> Bool {
                let error = lectureError {
                    try box.store.index.transaction { _ in
                        try connection.execute("UPDATE \(table) SET \(column) = ?\(rest) WHERE id = ?", value, id)
                        throw LectureError(.cancelled)
                    }
                }
                return error?.code == .cancelled
            }
            for state in ReportState.allCases {
                #expect(fits("report", "state", state.rawValue, state == .dead ? ", dead_reason = 1" : ""))
            }
            for reason in DeadReason.allCases { #expect(fits("report", "dead_reason", reason.rawValue, ", state = 3")) }
            for reason in SuspendReason.allCases { #expect(fits("lms_target", "suspension", reason.rawValue)) }
            for reason in KeepReason.allCases { #expect(fits("lms_target", "trouble_reason", reason.rawValue)) }
            for format in ReportFormat.allCases.indices { #expect(fits("lms_target", "format", format)) }
            #expect(!fits("report", "state", 6) && !fits("report", "state", 3) && !fits("report", "dead_reason", 1))
            #expect(!fits("report", "dead_reason", 5, ", state = 3") && !fits("report", "is_sealed", 1))
            #expect(!fits("lms_target", "suspension", 4) && !fits("lms_target", "trouble_reason", 10))
            #expect(!fits("lms_target", "format", 3) && !fits("lms_target", "next_attempt_ms", 1))
        }
    }

    @Test func everyEnumerationFitsItsCheckAndNothingElseDoes() throws {
        try StoreFixture.with { store in
            let id = try store.add("a")
            func fits(_ column: String, _ value: Int, _ rest: String = "") -> Bool {
                let error = lectureError {
                    try store.index.transaction { _ in
                        try store.index.connection.execute(
                            "UPDATE content SET \(column) = ?\(rest) WHERE id = ?", value, id)
                        throw LectureError(.cancelled)
                    }
                }
                return error?.code == .cancelled
            }
            for state in ItemState.allCases {
                let rest =
                    switch state {
                    case .stopped: ", stop_reason = 1"
                    case .failed: ", error_code = -1"
                    case .completed: ", completed_ms = 1"
                    default: ""
                    }
                #expect(fits("state", state.rawValue, rest))
            }
            for reason in StopReason.allCases { #expect(fits("stop_reason", reason.rawValue, ", state = 5")) }
            for targetState in TargetState.allCases { #expect(fits("desire", targetState.rawValue)) }
            for type in ContentType.allCases { #expect(fits("content_type", type.rawValue)) }
            #expect(!fits("state", 8) && !fits("state", -1))
            #expect(!fits("stop_reason", 0, ", state = 5") && !fits("stop_reason", 9, ", state = 5"))
            #expect(!fits("desire", 4) && !fits("content_type", 5) && !fits("priority", 101))
        }
    }

    @Test(arguments: [
        "state = 5", "stop_reason = 1", "state = 6", "state = 4", "completed_ms = 1",
        "lease_owner = 1, lease_fence = 0",
        "headers = 'x'", "sha256 = x'00'", "bytes_proven = -1", "key = ''", "error_code = 5",
    ])
    func fieldsThatContradictEachOtherAreRefused(change: String) throws {
        try StoreFixture.with { store in
            try store.add("a")
            #expect(
                lectureError { try store.index.connection.execute("UPDATE content SET \(change)") }?.code
                    == .storeFailed)
        }
    }

    @Test func everyColumnThatRefersToATableIsIndexed() throws {
        try StoreFixture.with { store in
            let connection = store.index.connection
            let references = try connection.query(
                """
                SELECT child.name, reference."from" FROM sqlite_schema AS child
                JOIN pragma_foreign_key_list(child.name) AS reference WHERE child.type = 'table'
                """
            ) { ($0.text(0), $0.text(1)) }
            #expect(references.count >= 10)
            for (table, column) in references {
                let plan = try connection.plan("SELECT 1 FROM \(table) WHERE \(column) = ?", values: [.integer(1)])
                #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(table).\(column): \(plan)")
            }
        }
    }

    @Test func everyTableIsStrict() throws {
        try StoreFixture.with { store in
            let loose = try store.index.connection.query(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict"
            ) { $0.text(0) }
            #expect(loose.filter { !$0.hasPrefix("sqlite_") }.isEmpty)
        }
    }
}
