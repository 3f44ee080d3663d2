import LectureCommand
import LectureKit
import LectureModel
import LectureRecords

/// Lines about licences, each with the name of its schema; full and minimal ones.
enum LicenceLines {
    static func all() throws -> [(schema: String, line: String)] {
        let key = try ContentKey("k")
        let (full, bare) = (LicenceStatus(try entry(), reasons: [.expired, .countUsedUp]), try unlicensed())
        let error = LectureError(.callbackStatus(503), detail: "drm.example")
        var report = RenewalReport()
        (report.total, report.renewed, report.failed, report.waiting) = (4, 1, 2, 1)
        (report.playable, report.unbelieved) = (0, [key])
        report.left = [RenewalReport.Left(key, .unknown)]
        let callback = PendingCallback(
            id: PendingCallbackID(1), key: key, kind: 2, created: Timestamp(milliseconds: 1), attempts: 3,
            nextAttempt: Timestamp(milliseconds: 2), error: error)
        let candidate = RenewalCandidate(
            key: key, callbackURL: "https://drm.example/callback?secret", deadline: Timestamp(milliseconds: 9),
            notBefore: nil)
        return [
            ("record-licence", JSONLine.licence(full, title: "Algebra")),
            ("record-licence", JSONLine.licence(bare, title: nil)),
            ("event-renewed", JSONLine.renewed(key, current: 1, count: 2, licence: full, error: nil)),
            ("event-renewed", JSONLine.renewed(key, current: 2, count: 2, licence: nil, error: nil)),
            ("event-error", JSONLine.renewed(key, current: 2, count: 2, licence: nil, error: error)),
            ("event-licence", JSONLine.licenceChanged(key, change: "granted")),
            ("event-summary-renewal", JSONLine.renewalSummary(report, elapsed: .milliseconds(1500))),
            ("record-renewal", JSONLine.planned(PlannedRenewal(candidate, request: 1))),
            ("record-renewal", JSONLine.planned(PlannedRenewal(candidate, request: nil))),
            ("record-debt", JSONLine.pendingCallback(PendingCallbackStatus(callback))),
            (
                "record-rekey",
                JSONLine.keyChange(
                    GrantingKeyChange(
                        changed: 0, oldKey: String(repeating: "o", count: 43),
                        newKeys: [String(repeating: "n", count: 43)]))
            ),
        ]
    }

    private static func unlicensed() throws -> LicenceStatus {
        LicenceStatus(LicenceEntry(key: try ContentKey("k"), source: LicenceSource()), reasons: [.missing])
    }

    /// A licence with every possible value.
    static func entry() throws -> LicenceEntry {
        var source = LicenceSource()
        source.callbackURL = "https://drm.example/callback?secret"
        var entry = LicenceEntry(key: try ContentKey("k"), source: source)
        var record = LicenceRecord(form: .callback, policy: LicencePolicy(), isVerified: true)
        record.policy.startsAt = Timestamp(milliseconds: 1000)
        record.policy.expiresAt = Timestamp(milliseconds: 2000)
        record.policy.checkAt = Timestamp(milliseconds: 1500)
        (record.policy.countLimit, record.countUsed) = (3, 3)
        (record.policy.playTimeLimit, record.playTimeUsed) = (.seconds(60), .seconds(10))
        record.policy.checksEveryPlay = true
        entry.record = record
        entry.token = "secret.token.here"
        (entry.issued, entry.granted) = (Timestamp(milliseconds: 5), Timestamp(milliseconds: 6))
        (entry.checked, entry.attempts) = (Timestamp(milliseconds: 7), 2)
        entry.nextAttempt = Timestamp(milliseconds: 8)
        entry.error = LectureError(.answerMissing)
        return entry
    }
}
