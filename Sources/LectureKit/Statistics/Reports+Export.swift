import Dispatch
import LectureArchive
import LectureFiles
public import LectureModel
import LectureStatistics
import LectureStore

/// Exporting reports to a file and importing them.
extension LectureManager.Reports {
    /// Writes reports to a file or a stream, in constant memory.
    ///
    /// A report is exported in its current state. Reports stored meanwhile may or may not be included; earlier ones are
    /// included exactly once. Other work is not blocked. A cancelled task ends the export; the destination file is
    /// unchanged then.
    ///
    /// - Parameters:
    ///   - destination: the destination.
    ///   - format: the output format.
    ///   - filter: which reports.
    ///   - pseudonymKey: replaces learners by pseudonyms; nil keeps their ids.
    /// - Returns: what it holds.
    /// - Throws: ``LectureError``: `outputRefused`, `storageFull`, a store's code; what a stream throws.
    ///   `CancellationError` when the task is cancelled, after the page that is being written.
    public nonisolated func export(
        to destination: ReportExportDestination, format: ReportExportFormat = .jsonLines,
        filter: ReportExportFilter = ReportExportFilter(), pseudonymKey: PseudonymKey? = nil
    ) async throws -> ReportExportResult {
        try Task.checkCancellation()
        let settings = await settings()
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

    private func settings() -> StatisticsSettings { configuration.statistics.settings(bootID: "") }

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

    /// Stores the reports of an export, in their exported states; those that were being sent are pending again. Reports
    /// that are known with the same payload are skipped, so an import may be repeated.
    ///
    /// - Parameters:
    ///   - path: a file, compressed with gzip or Zstandard or not; `-` is standard input.
    ///   - format: its format; nil derives it from the name.
    ///   - onError: gets each line that cannot be read (`reportLine`) and each report that cannot be stored
    ///     (`reportConflict`, `reportInvalid`), in the file's order; the others are still imported. An error it throws
    ///     ends the import.
    /// - Returns: the result. A damaged file is reported in ``ReportImportResult/damage``; its readable reports are
    ///   still stored.
    /// - Throws: ``LectureError``: `readFile`, a store's code; what `onError` throws; `CancellationError` when the task
    ///   is cancelled. What was stored before stays.
    public func `import`(
        from path: String, format: ReportImportFormat? = nil,
        onError: (LectureError) async throws -> Void
    ) async throws -> ReportImportResult {
        try Task.checkCancellation()
        if isClosed { throw LectureError(.closing) }
        let feed = try ImportFeed(path, format ?? ReportImportFormat(path: path), digests: digests)
        var result = ReportImportResult()
        while let items = try await feed.next() {
            try Task.checkCancellation()
            for error in try store(items, feed, &result) { try await onError(error) }
        }
        return result
    }

    /// Stores a batch in one transaction.
    ///
    /// - Returns: what could not be stored, in the file's order.
    private func store(
        _ items: [ImportFeed.Item], _ feed: ImportFeed, _ result: inout ReportImportResult
    ) throws -> [LectureError] {
        let now = clock.now()
        var refused: [LectureError] = []
        // Counted separately: a failed transaction has stored nothing.
        var counts = result
        try writing { outbox in
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
        core.reportsChanged()
        counts.refused += refused.count
        result = counts
        return refused
    }
}
