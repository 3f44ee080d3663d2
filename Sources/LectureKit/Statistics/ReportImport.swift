import Dispatch
import LectureArchive
import LectureCrypto
public import LectureModel
import LectureStatistics

/// The format of an import.
public enum ReportImportFormat: String, Sendable, CaseIterable {
    /// A JSON Lines export.
    case jsonLines = "jsonl"
    /// A CSV export; truncation between two rows cannot be detected.
    case csv

    /// The format for a file name, ignoring compression: CSV for `.csv`, else JSON Lines.
    ///
    /// - Parameter path: a path; `-` is standard input.
    public init(path: String) { self = ReportExportFormat(path: path) == .csv ? .csv : .jsonLines }
}

/// The result of an import.
public struct ReportImportResult: Sendable, Hashable {
    /// Reports that were stored.
    public var stored = 0
    /// Reports that were known with the same payload.
    public var known = 0
    /// Lines that could not be read, and reports that were refused; each was reported.
    public var refused = 0
    /// What is wrong with the file as a whole: it is truncated, or its lines do not match its summary.
    public var damage: LectureError?

    /// Creates an empty result.
    public init() {}
}

/// Reads an export piece by piece, on a thread that may block.
///
/// `@unchecked Sendable`: everything is used on the feed's own serial queue.
final class ImportFeed: @unchecked Sendable {
    /// The next item of the file, in order.
    enum Item {
        case report(line: Int, ReportRecord)
        case fault(LectureError)
        /// The file as a whole is damaged.
        case damage(LectureError)
    }

    private enum Parser {
        case lines(ImportReader)
        case rows(CSVImportReader)
    }

    /// Every transaction costs a sync, whatever its size.
    private static let batchReports = 1000
    private static let batchBytes = 4 << 20

    private let path: String
    private let reader: Decompressor
    private var parser: Parser
    private var isEnded = false
    private let queue = DispatchQueue(label: "lecturekit.import")

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: the file; `-` is standard input.
    ///   - format: its format.
    ///   - digests: computes the digest in a summary.
    /// - Throws: ``LectureError`` with the code `readFile`.
    init(_ path: String, _ format: ReportImportFormat, digests: OpenSSLDigests) throws(LectureError) {
        self.path = path == "-" ? "standard input" : path
        reader = try Decompressor(path)
        switch format {
        case .csv: parser = .rows(CSVImportReader())
        case .jsonLines:
            parser = .lines(
                ImportReader {
                    do throws(LectureError) {
                        return try ExportDigest(digests)
                    } catch {
                        let failure = error
                        return ExportDigest(update: { _ in }, finish: { () throws(LectureError) in throw failure })
                    }
                })
        }
    }

    /// The next items.
    ///
    /// - Returns: as many as one transaction should store; nil at the end.
    /// - Throws: ``LectureError`` with the code `readFile`; `CancellationError` when the task is cancelled, also while
    ///   a pipe has nothing to read.
    func next() async throws -> [Item]? {
        let waiter = Waiter<[Item]?>()
        queue.async {
            do { waiter.answer(try self.read()) } catch { waiter.fail(error) }
        }
        return try await waiter.value()
    }

    private func read() throws(LectureError) -> [Item]? {
        if isEnded { return nil }
        var (items, bytes): ([Item], Int) = ([], 0)
        while items.count < Self.batchReports, bytes < Self.batchBytes {
            do throws(LectureError) {
                guard let piece = try reader.next() else {
                    end(&items)
                    break
                }
                bytes += piece.count
                take(feed(piece), &items)
            } catch {
                guard error.code == .exportIncomplete else { throw error }
                // Lines before the damage are still valid.
                end(&items, because: error)
                break
            }
        }
        return items
    }

    private func feed(_ piece: [UInt8]) -> [ImportEvent] {
        switch parser {
        case .lines(var reader):
            // Moved out, so that the reader's buffers are not copied.
            parser = .rows(CSVImportReader())
            defer { parser = .lines(reader) }
            return reader.feed(piece[...])
        case .rows(var reader):
            parser = .rows(CSVImportReader())
            defer { parser = .rows(reader) }
            return reader.feed(piece[...])
        }
    }

    private func end(_ items: inout [Item], because damage: LectureError? = nil) {
        isEnded = true
        switch parser {
        case .lines(var reader):
            let last = reader.finish()
            if let damage {
                // The line in which the stream breaks off is not complete.
                return items.append(.damage(damage))
            }
            take(last, &items)
            if !reader.isWhole {
                let error = LectureError(.exportIncomplete, detail: path, cause: "it ends without its summary line")
                items.append(.damage(error))
            }
        case .rows(var reader):
            if let damage { return items.append(.damage(damage)) }
            take(reader.finish(), &items)
        }
    }

    private func take(_ events: [ImportEvent], _ items: inout [Item]) {
        for event in events {
            switch event {
            case .report(let line, let record): items.append(.report(line: line, record))
            case .fault(let line, let error): items.append(fault(line, error))
            case .summary: break
            }
        }
    }

    private func fault(_ line: Int, _ error: LectureError) -> Item {
        let detail = "\(path), line \(line)"
        if error.code == .exportIncomplete {
            return .damage(LectureError(.exportIncomplete, detail: detail, cause: error.cause))
        }
        return .fault(LectureError(.reportLine, detail: detail, cause: error.cause))
    }

    /// A report that was read and cannot be stored.
    func refusal(_ line: Int, _ error: LectureError) -> LectureError {
        // The line number identifies a report in conflict.
        let cause = error.code == .reportInvalid ? "member '\(error.detail)'" : ""
        return LectureError(error.code, detail: "\(path), line \(line)", cause: cause)
    }
}
