import LectureCrypto
import LectureModel
import LectureStore

/// Measures the ledger of licences: one licence per lecture of the store, deadlines over 200 days, a tenth ended.
enum LedgerBenchmark {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let day: Int64 = 86_400_000

    static func run(on index: SQLiteDownloadIndex, at location: StoreLocation, count: Int) throws {
        let authenticator = try LedgerAuthenticator(try DeviceKey.generate())
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        var anchor: LedgerAnchor?
        let filling = try StoreBenchmark.milliseconds { anchor = try fill(index, count: count) }
        StoreBenchmark.report(
            "licence store", median: filling, worst: filling, note: "\(count) licences, one transaction a thousand")
        try StoreBenchmark.repeated("licence inspect", times: 10, note: "\(count) licences") {
            guard case .intact = try ledger.inspect(against: anchor) else {
                throw LectureError(.bug, detail: "the ledger is not intact")
            }
        }
        let queries = try SQLiteContentQueries(opening: location).checking(authenticator)
        let soon = now + .milliseconds(7 * day)
        try StoreBenchmark.repeated("licence entries of 7 days, first 50", note: "50 rows, codes checked") {
            _ = try queries.licences(deadlineBefore: soon, after: nil, limit: 50)
        }
        let all = try queries.licenceCount(deadlineBefore: soon)
        try StoreBenchmark.repeated("licence entries of 7 days, all", times: 10, note: "\(all) rows, codes checked") {
            _ = try queries.licences(deadlineBefore: soon, after: nil, limit: .max)
        }
        try StoreBenchmark.repeated("licence count of 7 days", note: "\(all) rows") {
            _ = try queries.licenceCount(deadlineBefore: soon)
        }
        let expired = try queries.candidates(.expired, .renewal, now: now).count
        try StoreBenchmark.repeated("licence candidates expired", times: 10, note: "\(expired) rows") {
            _ = try queries.candidates(.expired, .renewal, now: now)
        }
        try StoreBenchmark.repeated("licence list by deadline, first 50", note: "50 rows, codes checked") {
            _ = try queries.licences(deadlineBefore: nil, after: nil, limit: 50)
        }
        let owner = try index.owners.registerOwner(pid: 1, bootID: "", command: "benchmark", now: now)
        let run = try ledger.renewals.begin(.all, .renewal, now: now).run
        try StoreBenchmark.repeated("licence claim and settle ten", note: "10 of \(count) wanted, 2 transactions") {
            let claimed = try ledger.renewals.claim(run, owner: owner, limit: 10, now: now)
            try index.transaction { transaction in
                let ledger = try transaction.ledger
                for entry in claimed { try renew(entry, in: run, ledger) }
                _ = try ledger.append(time(1), source: .server)
            }
        }
        try StoreBenchmark.repeated("licence suspect all", times: 2, note: "\(count) licences") {
            try index.transaction { transaction in
                let ledger = try transaction.ledger
                try ledger.suspectAll(.forged)
                _ = try ledger.append(time(2), source: .finding)
            }
        }
    }

    private static func renew(_ entry: LicenceEntry, in run: RenewalRunID, _ ledger: SQLiteLicenceLedger) throws {
        var renewed = entry
        renewed.record?.policy.expiresAt = now + .milliseconds(100 * day)
        try ledger.store(renewed)
        try ledger.renewals.settle(run, entry.key, error: nil)
    }

    private static func fill(_ index: SQLiteDownloadIndex, count: Int) throws -> LedgerAnchor? {
        var anchor: LedgerAnchor?
        // As long as the token of an answer.
        let token = String(repeating: "eyJhbGciOiJIUzI1NiJ9", count: 30)
        for start in stride(from: 0, to: count, by: 1000) {
            anchor = try index.transaction { transaction in
                let ledger = try transaction.ledger
                for number in start..<min(count, start + 1000) {
                    try ledger.store(licence(number, token: token))
                }
                return try ledger.append(time(Int64(start)), source: .clocks)
            }
        }
        return anchor
    }

    private static func licence(_ number: Int, token: String) throws -> LicenceEntry {
        var source = LicenceSource()
        source.callbackURL = "https://drm.example/callback/\(number % 3)"
        source.clientUserID = "learner"
        var entry = LicenceEntry(key: try ContentKey("lecture-\(number)"), source: source)
        var policy = LicencePolicy()
        // 7,919 is a prime: deadlines that do not come in the order of the rows.
        policy.expiresAt = now + .milliseconds(Int64(number &* 7_919 % 200_003) * day / 1_000 - 20 * day)
        policy.countLimit = 10
        entry.record = LicenceRecord(form: .callback, policy: policy, isVerified: true)
        entry.granted = now
        entry.token = token
        return entry
    }

    private static func time(_ tick: Int64) -> TimeRow {
        TimeRow(reading: ClockReading(wall: now, boot: BootInstant(nanoseconds: tick), bootID: "boot"))
    }
}
