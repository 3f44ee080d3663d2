import Dispatch
import LectureArchive
import LectureFiles
public import LectureModel
import LectureStatistics
import LectureStore

/// Reports leave the store as a file and come back from one.
extension LectureManager {
    /// Writes reports to a file or a stream, in constant memory.
    ///
    /// A report is exported in the state it has at that moment. Reports that are stored meanwhile may be in it or not;
    /// those that were there before are in it exactly once. Nobody is held up. A task that is cancelled ends the
    /// export; nothing stands under the file's name then that was not there before.
    ///
    /// - Parameters:
    ///   - destination: where to.
    ///   - format: what it is written as.
    ///   - filter: which reports.
    ///   - pseudonymKey: replaces learners by pseudonyms; nil names them.
    /// - Returns: what it holds.
    /// - Throws: ``LectureError``: `outputRefused`, `storageFull`, a store's code; what a stream throws.
    ///   `CancellationError` when the task is cancelled, after the page that is being written.
    public nonisolated func exportReports(
        to destination: ReportExportDestination, format: ReportExportFormat = .jsonLines,
        filter: ReportExportFilter = ReportExportFilter(), pseudonymKey: PseudonymKey? = nil
    ) async throws -> ReportExportResult {
        try Task.checkCancellation()
        let settings = await configuration.statistics.settings(bootID: "")
        let form = ReportExportForm(
            format: format, key: pseudonymKey, homePage: settings.homePage,
            activityPrefix: settings.activityPrefix, digests: digests)
        let location = location
        let isCancelled = Guarded(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "lecturekit.export", qos: .utility).async {
                    continuation.resume(
                        with: Result {
                            try Self.export(location, to: destination, form, filter.selection, isCancelled)
                        })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private static func export(
        _ location: StoreLocation, to destination: ReportExportDestination, _ form: ReportExportForm,
        _ selection: ReportSelection, _ isCancelled: Guarded<Bool>
    ) throws -> ReportExportResult {
        let queries = try SQLiteContentQueries(opening: location)
        switch destination {
        case .stream(let write):
            var exporter = try ReportExporter(queries, form, write: write)
            return try exporter.run(selection) { isCancelled.withLock { $0 } }
        case .file(let path, let mayReplace):
            let file = try OutputFile(path, mayReplace: mayReplace)
            let result: ReportExportResult
            if let compression = Compression(path: path) {
                let compressor = try Compressor(compression) { bytes throws(LectureError) in try file.write(bytes) }
                var exporter = try ReportExporter(queries, form) { try compressor.write($0) }
                result = try exporter.run(selection) { isCancelled.withLock { $0 } }
                try compressor.finish()
            } else {
                var exporter = try ReportExporter(queries, form) { try file.write($0) }
                result = try exporter.run(selection) { isCancelled.withLock { $0 } }
            }
            try file.finish()
            return result
        }
    }

    /// Stores the reports of an export, in the states they have there; what was being sent when it was made waits
    /// again. Reports that are known with the same content are passed by, so an import may be repeated.
    ///
    /// - Parameters:
    ///   - path: a file, compressed with gzip or Zstandard or not; `-` is standard input.
    ///   - format: what it holds; nil asks its name.
    ///   - tell: gets each line that cannot be read (`reportLine`) and each report that cannot be stored
    ///     (`reportConflict`, `reportInvalid`), in the file's order; the others go on. What it throws ends the import.
    /// - Returns: what became of it. A damaged file is told by ``ReportImportResult/damage``; its readable reports are
    ///   stored all the same.
    /// - Throws: ``LectureError``: `readFile`, a store's code; what `tell` throws; `CancellationError` when the task is
    ///   cancelled. What was stored before stays.
    public func importReports(
        from path: String, format: ReportImportFormat? = nil,
        tell: (LectureError) async throws -> Void
    ) async throws -> ReportImportResult {
        try Task.checkCancellation()
        if isClosed { throw LectureError(.closing) }
        let feed = try ImportFeed(path, format ?? ReportImportFormat(path: path), digests: digests)
        var result = ReportImportResult()
        while let items = try await feed.next() {
            try Task.checkCancellation()
            for error in try store(items, feed, &result) { try await tell(error) }
        }
        return result
    }

    /// Stores a batch in one transaction.
    ///
    /// - Returns: what could not be stored, in the file's order.
    private func store(
        _ items: [ImportFeed.Item], _ feed: ImportFeed, _ result: inout ReportImportResult
    ) throws -> [LectureError] {
        let outbox = try outbox()
        let now = clock.now()
        var refused: [LectureError] = []
        // Counted aside: a transaction that fails has stored nothing.
        var counts = result
        try outbox.transaction {
            for item in items {
                switch item {
                case .fault(let error): refused.append(error)
                case .damage(let error): counts.damage = counts.damage ?? error
                case .report(let line, let record):
                    do {
                        if try outbox.add(imported: record, now: now) { counts.stored += 1 } else { counts.known += 1 }
                    } catch let error as LectureError
                        where error.code == .reportConflict || error.code == .reportInvalid
                    {
                        refused.append(feed.refusal(line, error))
                    }
                }
            }
        }
        counts.refused += refused.count
        result = counts
        return refused
    }
}
