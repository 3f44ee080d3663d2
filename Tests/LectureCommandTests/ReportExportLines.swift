import LectureCommand
import LectureKit
import LectureModel
import LectureRecords

/// Lines about exports and erased learners, each with the name of its schema; full and minimal ones.
enum ReportExportLines {
    static func all() -> [(schema: String, line: String)] {
        var exported = ReportExportResult()
        (exported.reports, exported.states, exported.bytes) = (3, [.dead: 1, .pending: 2], 900)
        var imported = ReportImportResult()
        (imported.stored, imported.known, imported.refused) = (1, 2, 3)
        imported.damage = LectureError(.exportIncomplete)
        var erased = ErasureReceipt(isDryRun: false)
        (erased.reports, erased.sessions, erased.requests) = ([.delivered: 4], 2, 1)
        erased.copies = [
            ErasureReceipt.Copy(path: "/copy", reports: 4, problem: nil),
            ErasureReceipt.Copy(path: "/gone", reports: 0, problem: LectureError(.openStore)),
        ]
        erased.traces = [ErasureReceipt.Trace(place: "licence of k", count: 1)]
        erased.isSearched = true
        return [
            ("event-exported", JSONLine.exported(exported, format: .jsonLines, path: "a.jsonl")),
            ("event-exported", JSONLine.exported(ReportExportResult(), format: .xapi, path: "a")),
            ("event-imported", JSONLine.imported(imported, path: "a.jsonl")),
            ("event-imported", JSONLine.imported(ReportImportResult(), path: "-")),
            ("event-erased", JSONLine.erased(erased)),
            ("event-erased", JSONLine.erased(ErasureReceipt(isDryRun: true))),
        ]
    }
}
