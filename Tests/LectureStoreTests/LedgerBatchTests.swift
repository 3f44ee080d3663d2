import Foundation
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Batches of renewals, and pending callbacks: their state after kills, refusals and clock jumps.
@Suite struct LedgerBatchTests {
    private let now = Timestamp(milliseconds: 1_700_000_000_000)

    /// Licences around now: two ended, one of them by the server, one soon, one late, one without an end.
    private func filled() throws -> LedgerFixture {
        let store = try LedgerFixture()
        let start = now.milliseconds
        try store.fill([
            ("soon", start + 1_000), ("ended", start), ("never", nil), ("late", start + 9_000),
            ("forced", start + 5_000),
            ("deleted", 1), ("file", 2), ("missing", nil),
        ])
        try store.commit {
            try store.ledger.store(
                store.licence("forced", deadline: start + 5_000) { $0.record?.isForceExpired = true })
            try store.ledger.store(store.licence("deleted", deadline: 1) { $0.record?.isDeleted = true })
            try store.ledger.store(store.licence("file", deadline: 2) { $0.source.callbackURL = "" })
            try store.ledger.store(store.licence("missing") { $0.record = nil })
        }
        return store
    }

    private func keys(_ names: String...) throws -> [ContentKey] { try names.map { try ContentKey($0) } }

    private func wait(_ store: LedgerFixture, _ name: String, until: Int64, set: Int64) throws {
        var entry = try #require(try store.entry(name))
        entry.nextAttempt = now + .milliseconds(until)
        entry.waitSet = now + .milliseconds(set)
        try store.ledger.storeAttempt(entry)
    }

    @Test("Every selection returns its licences, the earliest deadline first and those without one last")
    func selections() throws {
        let store = try filled()
        let all = try keys("soon", "never", "deleted", "file", "missing", "unknown", "soon")
        let cases: [(RenewalSelection, [String])] = [
            (.expired, ["forced", "ended"]),
            (.within(.milliseconds(999)), ["forced", "ended"]),
            (.within(.milliseconds(1_000)), ["forced", "ended", "soon"]),
            (.within(.seconds(-1)), ["forced"]),
            (.all, ["forced", "ended", "soon", "late", "never"]),
            (.keys(all), ["soon", "never"]),
            (.keys([]), []),
        ]
        let queries = try SQLiteContentQueries(opening: store.location)
        for (selection, due) in cases {
            let found = try store.ledger.candidates(selection, .renewal, now: now)
            #expect(found.map(\.key.text) == due, "\(selection)")
            #expect(try queries.candidates(selection, .renewal, now: now) == found)
            let (run, total, done, _) = try store.ledger.renewals.begin(selection, .renewal, now: now)
            #expect(total == due.count && done == 0)
            let claimed = try store.ledger.renewals.claim(run, owner: store.owner, limit: 99, now: now)
            #expect(claimed.map(\.key.text) == due, "\(selection)")
        }
        let candidate = try #require(try store.ledger.candidates(.expired, .renewal, now: now).last)
        #expect(candidate.callbackURL == "https://drm.example/callback" && candidate.deadline == now)
    }

    @Test("A run is continued, includes what has ended since, and renews nothing twice")
    func continued() throws {
        let store = try filled()
        let first = try store.ledger.renewals.begin(.expired, .renewal, now: now)
        #expect(first.total == 2 && !first.isContinued)
        let claimed = try store.ledger.renewals.claim(first.run, owner: store.owner, limit: 1, now: now)
        #expect(claimed.map(\.key.text) == ["forced"])
        try store.ledger.renewals.settle(first.run, claimed[0].key, error: nil)
        // The process is gone; the next one starts later.
        let later = now + .seconds(2)
        let other = try store.another()
        let second = try other.ledger.renewals.begin(.expired, .renewal, now: later)
        #expect(second.run == first.run && second.isContinued)
        #expect(second.total == 3 && second.done == 1)
        let rest = try other.ledger.renewals.claim(second.run, owner: other.owner, limit: 9, now: later)
        #expect(rest.map(\.key.text) == ["ended", "soon"])
        // Another selection is another run.
        #expect(try store.ledger.renewals.begin(.all, .renewal, now: now).run != first.run)
    }

    @Test("Claims of another owner are skipped, and free once the owner is dismissed")
    func owners() throws {
        let store = try filled()
        let run = try store.ledger.renewals.begin(.expired, .renewal, now: now).run
        let other = try store.another()
        #expect(
            try other.ledger.renewals.claim(run, owner: other.owner, limit: 1, now: now).map(\.key.text) == ["forced"])
        var progress = try store.ledger.renewals.progress(run)
        #expect(progress.wanted == 1 && progress.elsewhere == 1)
        #expect(
            try store.ledger.renewals.claim(run, owner: store.owner, limit: 9, now: now).map(\.key.text) == ["ended"])
        progress = try store.ledger.renewals.progress(run)
        #expect(progress.wanted == 0 && progress.elsewhere == 1 && progress.nextDue == nil)
        try store.index.owners.dismissOwner(other.owner, now: now)
        progress = try store.ledger.renewals.progress(run)
        #expect(progress.wanted == 1 && progress.elsewhere == 0)
        #expect(progress.nextDue == Timestamp(milliseconds: 0))
        #expect(
            try store.ledger.renewals.claim(run, owner: store.owner, limit: 9, now: now).map(\.key.text) == ["forced"])
    }

    @Test("A postponed item is claimed when due, and at once when the clock was set back behind the decision")
    func waits() throws {
        let store = try filled()
        let run = try store.ledger.renewals.begin(.all, .renewal, now: now).run
        let claimed = try store.ledger.renewals.claim(run, owner: store.owner, limit: 2, now: now)
        #expect(claimed.map(\.key.text) == ["forced", "ended"])
        for (name, until) in [("forced", Int64(5_000)), ("ended", 3_000)] {
            try wait(store, name, until: until, set: 0)
            try store.ledger.renewals.release(run, try ContentKey(name))
        }
        func claim(_ moment: Timestamp, limit: Int = 9) throws -> [String] {
            let found = try store.ledger.renewals.claim(run, owner: store.owner, limit: limit, now: moment)
            for entry in found { try store.ledger.renewals.release(run, entry.key) }
            return found.map(\.key.text)
        }
        #expect(try claim(now) == ["soon", "late", "never"])
        #expect(try store.ledger.renewals.progress(run).nextDue == Timestamp(milliseconds: 0))
        #expect(try claim(now + .milliseconds(3_000)) == ["ended", "soon", "late", "never"])
        #expect(try claim(now + .milliseconds(3_000), limit: 1) == ["ended"])
        #expect(try claim(now + .milliseconds(9_000), limit: 2) == ["forced", "ended"])
        #expect(try claim(now + .milliseconds(-2_999)) == ["soon", "late", "never"])
        #expect(try claim(now + .milliseconds(-3_001)) == ["ended", "soon", "late", "never"])
        for name in ["soon", "late", "never"] {
            try store.ledger.renewals.settle(run, try ContentKey(name), error: nil)
        }
        #expect(try store.ledger.renewals.progress(run).nextDue == now + .milliseconds(3_000))
    }

    @Test("Progress counts, a run ends when nothing is left, and the ended run before it is deleted")
    func ends() throws {
        let store = try filled()
        let run = try store.ledger.renewals.begin(.expired, .renewal, now: now).run
        for (index, entry) in try store.ledger.renewals.claim(run, owner: store.owner, limit: 9, now: now).enumerated()
        {
            try store.ledger.renewals.end(run, now: now)
            let error = index == 0 ? LectureError(.playRefused, detail: "drm.example") : nil
            try store.ledger.renewals.settle(run, entry.key, error: error)
        }
        let progress = try store.ledger.renewals.progress(run)
        #expect(progress.renewed == 1 && progress.failed == 1 && progress.wanted == 0)
        // The calls above came too early, so the run continues.
        #expect(try store.ledger.renewals.begin(.expired, .renewal, now: now).isContinued)
        try store.ledger.renewals.end(run, now: now)
        let next = try store.ledger.renewals.begin(.expired, .renewal, now: now)
        #expect(next.run != run && next.total == 2 && next.done == 0 && !next.isContinued)
        #expect(try store.ledger.renewals.progress(run).renewed == 1)
        for entry in try store.ledger.renewals.claim(next.run, owner: store.owner, limit: 9, now: now) {
            try store.ledger.renewals.settle(next.run, entry.key, error: nil)
        }
        try store.ledger.renewals.end(next.run, now: now)
        #expect(try store.ledger.renewals.progress(run) == RenewalProgress())
        #expect(try StoreMaintenance.check(store.location) == [])
    }

    @Test("A lecture removed during its renewal is no longer renewed")
    func removedMeanwhile() throws {
        let store = try filled()
        let run = try store.ledger.renewals.begin(.expired, .renewal, now: now).run
        try store.removeContent("forced")
        #expect(
            try store.ledger.renewals.claim(run, owner: store.owner, limit: 9, now: now).map(\.key.text) == ["ended"])
        try store.ledger.renewals.settle(run, try ContentKey("ended"), error: nil)
        #expect(try store.ledger.renewals.progress(run).wanted == 0)
        try store.ledger.renewals.end(run, now: now)
        #expect(try StoreMaintenance.check(store.location) == [])
    }

    // MARK: Pending callbacks

    @Test("A pending callback is recorded once, survives the lecture, is claimed, postponed and settled")
    func pendingCallbacks() throws {
        let store = try filled()
        let key = try ContentKey("soon")
        for _ in 0..<2 { try store.ledger.callbacks.add(key, kind: 2, now: now) }
        try store.ledger.callbacks.add(try ContentKey("late"), kind: 2, now: now + .seconds(1))
        #expect(try store.ledger.callbacks.nextDue() == Timestamp(milliseconds: 0))
        try store.removeContent("soon")
        let queries = try SQLiteContentQueries(opening: store.location)
        #expect(try queries.pendingCallbacks(limit: 9).count == 2)
        #expect(try queries.pendingCallbacks(limit: 1).map(\.key) == [key])
        let first = try #require(try store.ledger.callbacks.claim(owner: store.owner, limit: 1, now: now).first)
        #expect(first.key == key && first.created == now && first.attempts == 0 && first.error == nil)
        let other = try store.another()
        #expect(try other.ledger.callbacks.claim(owner: other.owner, limit: 9, now: now).map(\.key.text) == ["late"])
        #expect(try store.ledger.callbacks.nextDue() == nil)
        try store.index.owners.dismissOwner(other.owner, now: now)
        let second = try #require(try store.ledger.callbacks.claim(owner: store.owner, limit: 9, now: now).first)
        try store.ledger.callbacks.settle(second.id)
        try store.ledger.callbacks.postpone(
            first.id, attempts: 1, until: now + .seconds(60), now: now,
            error: LectureError(.completionRefused, detail: "drm.example"))
        #expect(try store.ledger.callbacks.nextDue() == now + .seconds(60))
        let stored = try #require(try store.ledger.pendingCallbacks(limit: 9).first)
        #expect(stored.attempts == 1 && stored.error?.code == .completionRefused)
        #expect(stored.error?.detail == "drm.example" && stored.nextAttempt == now + .seconds(60))
    }

    @Test("A postponed callback is claimed when due, and at once when the clock was set back")
    func pendingCallbacksWait() throws {
        let store = try filled()
        try store.ledger.callbacks.add(try ContentKey("soon"), kind: 2, now: now)
        func claim(_ seconds: Int64) throws -> Int {
            let moment = now + .seconds(seconds)
            let found = try store.ledger.callbacks.claim(owner: store.owner, limit: 9, now: moment)
            for callback in found {
                try store.ledger.callbacks.postpone(
                    callback.id, attempts: 1, until: now + .seconds(60), now: now, error: LectureError(.answerMissing))
            }
            return found.count
        }
        let claims: [(seconds: Int64, count: Int)] = [(0, 1), (59, 0), (60, 1), (-60, 0), (-61, 1)]
        for (seconds, count) in claims { #expect(try claim(seconds) == count, "\(seconds)") }
    }

    // MARK: Plans

    @Test("Every query finds its rows by an index and sorts nothing")
    func plans() throws {
        let store = try filled()
        let connection = store.index.connection
        let list = "SELECT \(LicenceColumns.list) FROM licence"
        var questions: [(sql: String, values: Int)] = [
            ("\(list) \(LicenceRows.byKey) LIMIT ?", 2), ("\(list) \(LicenceRows.byDeadline) LIMIT ?", 2),
            ("\(list) \(LicenceRows.withDeadline) LIMIT ?", 1),
            (SQLiteContentQueries.licensedSQL(LicenceRows.byKey), 2),
            (SQLiteContentQueries.licensedSQL(LicenceRows.afterDeadline), 4),
        ]
        for condition in Waiting.conditions {
            let count = condition.takesNow ? 2 : 1
            questions.append((PendingCallbackRows.dueCallbacks(condition).sql, count))
            questions.append((RenewalRows.dueRenewals(RenewalRunID(1), condition), count))
        }
        let key = try ContentKey("soon")
        for selection in [RenewalSelection.expired, .within(.seconds(1)), .all, .keys([key])] {
            for part in LicenceRows.parts(selection, now: now) {
                questions.append(("SELECT id FROM licence WHERE \(part.condition)", part.values.count))
            }
        }
        for (sql, count) in questions {
            let values = [SQLiteValue](repeating: .integer(1), count: count)
            let plan = try connection.plan(sql, values: values)
            #expect(
                plan.allSatisfy { $0.hasPrefix("SEARCH") || $0.hasPrefix("SCAN licence USING INDEX") },
                "\(sql): \(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
        }
    }

    @Test("Tens of thousands of licences are counted, listed and claimed")
    func manyLicences() throws {
        let store = try LedgerFixture()
        // More than SQLite's 32,766 parameters of a statement.
        let count = 40_000
        try store.commit {
            for number in 0..<count {
                // Deadlines in an order other than the rows'; every tenth has none.
                let spread = Int64(number * 7_919 % 99_991) * 10_000
                let deadline = number % 10 == 0 ? nil : now.milliseconds - 100_000_000 + spread
                let name = "k\(number)"
                try store.index.connection.execute(
                    """
                    INSERT INTO content(key, position, added_ms, updated_ms, is_gateway, source_identity, title,
                        source_url) VALUES (?1, ?2, 1, 1, 0, CAST(?1 AS BLOB), ?1, ?1)
                    """, name, number)
                try store.ledger.store(store.licence(name, deadline: deadline))
            }
        }
        #expect(try store.isIntact)
        #expect(try store.ledger.count(deadlineBefore: nil) == count)
        let expired = try store.ledger.candidates(.expired, .renewal, now: now)
        let due = try store.ledger.count(deadlineBefore: now + .milliseconds(1))
        #expect(expired.count == due && due > 3_200 && due < 4_000)
        #expect(expired.map { $0.deadline ?? now } == expired.map { $0.deadline ?? now }.sorted())
        let page = try store.ledger.entries(deadlineBefore: now, limit: 50)
        #expect(page.map(\.key) == expired.prefix(50).map(\.key))
        let run = try store.ledger.renewals.begin(.all, .renewal, now: now)
        #expect(run.total == count)
        let claimed = try store.ledger.renewals.claim(run.run, owner: store.owner, limit: 80, now: now)
        #expect(claimed.map(\.key) == expired.prefix(80).map(\.key))
        #expect(try store.ledger.renewals.progress(run.run).wanted == count - 80)
        try store.tamper("UPDATE licence SET count_used = 1 WHERE content_key = 'k37777'")
        #expect(try store.doubt() == .ledgerForged)
    }
}
