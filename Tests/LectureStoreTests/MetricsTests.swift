import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The figures for monitoring, read from real stores.
@Suite struct MetricsTests {
    private static let day: Int64 = 86_400_000

    private static func lines(_ metrics: StoreMetrics) -> [String] {
        metrics.groups.map { "\($0.course ?? "*") \($0.state.name) \($0.contents) \($0.committedBytes)" }
    }

    @Test func `lectures are counted by course and state, the smaller courses together`() throws {
        try StoreFixture.with { store in
            for (course, name) in [("big", "a"), ("big", "b"), ("", "c"), ("small", "d"), ("other", "e")] {
                try store.complete(try store.add(name) { $0.course = course }, name)
            }
            for (course, name) in [("big", "f"), ("", "g"), ("small", "h"), ("other", "i"), ("other", "j")] {
                try store.add(name) { $0.course = course }
            }
            try store.index.connection.execute(
                "UPDATE content SET state = 6, error_code = -8404 WHERE key IN ('h', 'i')")
            try store.index.connection.execute("UPDATE content SET error_code = -20006 WHERE key = 'g'")
            try store.index.connection.execute("UPDATE content SET state = 5, stop_reason = 2 WHERE key = 'f'")
            let queries = try store.queries()
            let metrics = try queries.metrics(now: store.now, licencesAt: nil, courses: 2)
            // Of two courses of one size the first by name; one called `other` is always among the others.
            #expect(
                Self.lines(metrics) == [
                    " queued 1 0", " completed 1 9500", "big completed 2 19000", "big stopped 1 0", "* queued 1 0",
                    "* completed 2 19000", "* failed 2 0",
                ])
            #expect(metrics.courses == 3 && metrics.stops == [.network: 1])
            #expect(metrics.errors == [-8404: 2, -20006: 1])
            #expect(metrics.space.used == 5 * 9500 && metrics.space.database > 100_000)
            #expect(metrics.licences == nil && metrics.targets.isEmpty)
            #expect(metrics.lastSuccesses == [.precache: store.now])
            let status = try queries.status()
            for limit in [0, 1, 3, 4, 500] {
                let groups = try queries.metrics(now: store.now, licencesAt: nil, courses: limit).groups
                #expect(Set(groups.map(\.course)).count == min(limit, 3) + 1, "and the others")
                for (state, count) in status.counts {
                    #expect(groups.filter { $0.state == state }.reduce(0) { $0 + $1.contents } == count)
                }
                #expect(groups.reduce(0) { $0 + $1.committedBytes } == status.committedBytes)
            }
        }
    }

    @Test func `licences are counted by what will have ended`() throws {
        let store = try LedgerFixture()
        let now = store.now.milliseconds
        let deadlines: [(String, Int64?)] = [
            ("long ago", now - 90 * Self.day), ("just now", now), ("soon", now + 1), ("a day", now + Self.day),
            ("more", now + Self.day + 1), ("a week", now + 7 * Self.day), ("a month", now + 30 * Self.day),
            ("later", now + 30 * Self.day + 1), ("never", nil),
        ]
        try store.fill(deadlines.map { (name: $0.0, deadline: $0.1) })
        let changes: [(String, (inout LicenceEntry) -> Void)] = [
            ("check", { $0.record?.policy.checkAt = store.now }),
            ("check later", { $0.record?.policy.checkAt = store.now + .milliseconds(1) }),
            ("forced", { $0.record?.isForceExpired = true }), ("seen", { $0.record?.wasSeenExpired = true }),
            ("suspect", { $0.suspicion = LicenceSuspicion.allCases.first }), ("not granted", { $0.record = nil }),
        ]
        try store.commit {
            for (name, change) in changes {
                try store.addContent(name)
                try store.ledger.store(store.licence(name, change))
            }
        }
        // That of a lecture that is gone is kept, but never renewed.
        try store.fill([(name: "gone", deadline: now + 1)])
        try store.removeContent("gone")
        let queries = try SQLiteContentQueries(opening: store.location)
        let licences = try queries.metrics(now: store.now, licencesAt: store.now, courses: 1).licences
        #expect(licences?.granted == deadlines.count + 5)
        #expect(licences?.ended == 4)
        #expect(licences?.checkOverdue == 2)
        #expect(licences?.ending == [1: 2, 7: 4, 30: 5])
        let later = try queries.metrics(now: store.now, licencesAt: store.now + .seconds(31 * 86_400), courses: 1)
        #expect(later.licences?.ended == 10 && later.licences?.ending == [1: 0, 7: 0, 30: 0])
        #expect(later.lastSuccesses[.licenceRenewal] == nil)
        let key = try ContentKey("soon")
        for (outcome, time) in [("permitted", 5), ("reset", 6), ("failed", 7), ("refused", 8)] as [(String, Int64)] {
            try store.ledger.record(
                LicenceAttempt(
                    at: Timestamp(milliseconds: time), duration: .zero, kind: 3, status: nil, outcome: outcome,
                    error: nil), of: key)
        }
        let tried = try queries.metrics(now: store.now, licencesAt: store.now, courses: 1)
        #expect(tried.lastSuccesses == [.licenceRenewal: Timestamp(milliseconds: 6)])
    }

    @Test func `reports are counted by target, which has no more of its URL than the host`() throws {
        try OutboxFixture.with { box in
            let secret = ReportRecord.Target(
                url: "https://me:secret@LMS.example:8443/in/secret?token=secret", format: .xapi)
            let accepted = try box.add(session: "1")
            let refused = try box.add(session: "2")
            try box.add(session: "3")
            var old = NewReport(OutboxFixture.record("old", session: "4", target: secret))
            old.record.wall = Timestamp(milliseconds: 1_000)
            #expect(try box.add(old).first == "new")
            try box.add(session: "5", target: secret)
            try box.add(session: "6", target: nil)
            box.store.now = box.now + .seconds(60)
            try box.accept(try box.begin("one", [accepted]), [accepted])
            try box.refuse(try box.begin("two", [refused]), [refused])
            let metrics = try box.queries.metrics(now: box.now, licencesAt: nil, courses: 1)
            let rows = metrics.targets.map { target in
                "\(target.number ?? 0) \(target.format?.rawValue ?? "-") \(target.host) "
                    + "\(target.waiting) \(target.dead) \(target.oldestWaiting?.milliseconds ?? 0)"
            }
            #expect(
                rows == [
                    "1 json 127.0.0.1 1 1 1700000000000", "2 xapi lms.example:8443 2 0 1000", "0 -  1 0 1700000000000",
                ])
            #expect(metrics.lastSuccesses == [.reportDelivery: box.now])
            #expect(!String(decoding: metrics.openMetrics(), as: UTF8.self).contains("secret"))
        }
    }

    @Test func `copies and course lists count as soon as they are whole`() throws {
        try StoreFixture.with { store in
            let content = try store.add("a")
            try store.index.courseLists.add(to: "list", contents: [content])
            let copies = BackupCopies(index: store.index)
            for (path, time) in [("/a", 7), ("/b", 5)] as [(String, Int64)] {
                try copies.record(path, made: Timestamp(milliseconds: time))
            }
            let queries = try store.queries()
            let before = try queries.metrics(now: store.now, licencesAt: nil, courses: 1)
            #expect(before.lastSuccesses == [.backup: Timestamp(milliseconds: 7)])
            _ = try store.index.courseLists.finish("list", contents: [content], run: store.run, now: store.now)
            let after = try queries.metrics(now: store.now, licencesAt: nil, courses: 1)
            #expect(after.lastSuccesses[.courseList] == store.now)
        }
    }
}
