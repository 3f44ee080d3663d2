import LectureFormats
package import LectureKit
import LectureModel
package import LectureRecords

/// The lines about exports of reports and erased learners. See ``JSONLine``.
extension JSONLine {
    /// An export was written to a file.
    ///
    /// - Parameters:
    ///   - result: the number of reports and bytes.
    ///   - format: the format of the export.
    ///   - path: the file.
    /// - Returns: the line.
    package static func exported(_ result: ReportExportResult, format: ReportExportFormat, path: String) -> String {
        line { writer in
            writer.member("event", "exported")
            writer.member("path", path)
            writer.member("format", format.rawValue)
            writer.member("reports", result.reports)
            states(result.states, &writer)
            writer.member("bytes", result.bytes)
        }
    }

    /// An export was imported.
    ///
    /// - Parameters:
    ///   - result: the result.
    ///   - path: the file.
    /// - Returns: the line.
    package static func imported(_ result: ReportImportResult, path: String) -> String {
        line { writer in
            writer.member("event", "imported")
            writer.member("path", path)
            writer.member("stored", result.stored)
            writer.member("known", result.known)
            writer.member("refused", result.refused)
            writer.member("is_whole", result.damage == nil)
        }
    }

    /// A learner was erased. The id is not in it, because receipts are kept.
    ///
    /// - Parameter receipt: what was erased and what is left.
    /// - Returns: the line.
    package static func erased(_ receipt: ErasureReceipt) -> String {
        line { writer in
            writer.member("event", "erased")
            writer.member("is_dry_run", receipt.isDryRun)
            writer.member("reports", receipt.reports.values.reduce(0, +))
            states(receipt.reports, &writer)
            writer.member("sessions", receipt.sessions)
            writer.member("requests", receipt.requests)
            writer.array("copies") { writer in
                for copy in receipt.copies {
                    writer.object { writer in
                        writer.member("path", copy.path)
                        writer.member("reports", copy.reports)
                        writer.member("problem", copy.problem?.code.name)
                    }
                }
            }
            writer.array("left") { writer in
                for trace in receipt.traces {
                    writer.object { writer in
                        writer.member("place", trace.place)
                        writer.member("count", trace.count)
                    }
                }
            }
            writer.member("is_searched", receipt.isSearched)
        }
    }

    private static func states(_ states: [ReportState: Int], _ writer: inout JSONWriter) {
        writer.object("states") { writer in
            for state in ReportState.allCases { writer.member(state.name, states[state] ?? 0) }
        }
    }
}
