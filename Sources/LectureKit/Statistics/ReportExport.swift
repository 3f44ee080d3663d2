import LectureArchive
import LectureCrypto
import LectureFiles
public import LectureModel
import LectureStatistics
import LectureStore

/// The format of an export.
public enum ReportExportFormat: String, Sendable, CaseIterable {
    /// One JSON object per line, and a summary line with a digest: it can be read back and checked for completeness.
    case jsonLines = "jsonl"
    /// RFC 4180 with a header, safe in spreadsheets.
    case csv
    /// An array of xAPI 1.0.3 statements of the video profile.
    case xapi

    /// The format for a file name, ignoring compression; nil when the name does not show it.
    ///
    /// - Parameter path: a path.
    public init?(path: String) {
        var name = path[...]
        for suffix in [".gz", ".zst"] where name.hasSuffix(suffix) { name = name.dropLast(suffix.count) }
        if name.hasSuffix(".csv") {
            self = .csv
        } else if name.hasSuffix(".jsonl") {
            self = .jsonLines
        } else {
            return nil
        }
    }
}

/// Which reports are exported. All given conditions must hold.
public struct ReportExportFilter: Sendable, Hashable {
    /// Only reports from this time on; by the corrected time where it is known.
    public var since: Timestamp?
    /// Only reports before this time.
    public var until: Timestamp?
    /// Only these states; all for an empty set.
    public var states: Set<ReportState> = []
    /// Only this course.
    public var course: String?
    /// Only this learner.
    public var user: String?

    /// Everything.
    public init() {}

    /// The store's selection.
    var selection: ReportSelection {
        var selection = ReportSelection()
        selection.since = since
        selection.until = until
        selection.states = states
        selection.course = course
        selection.user = user
        return selection
    }
}

/// Where an export goes.
public enum ReportExportDestination: Sendable {
    /// A file, readable only by its owner, that gets its name only when it is whole and durable. It is compressed when
    /// the name ends with `.gz` or `.zst`. An existing file is replaced only when that is allowed.
    case file(String, mayReplace: Bool)
    /// Gets the bytes piece by piece on one thread, which it may block.
    case stream(@Sendable ([UInt8]) throws -> Void)
}

/// A key under which learners are replaced by pseudonyms. Without the key rows cannot be attributed to learners; the
/// same learner has the same pseudonym in every export.
public struct PseudonymKey: Sendable {
    /// The shortest key, in bytes.
    public static let shortest = 16
    private static let longest = 65_536
    private let secret: SecretBytes

    /// Reads a key from a file that only its owner may read: all of its bytes.
    ///
    /// - Parameter path: the file.
    /// - Throws: ``LectureError``: `secretReadable`, `readFile`, or `parameter` when it is too short.
    public init(file path: String) throws(LectureError) {
        let file = try SecretFile.open(path, limit: Self.longest)
        guard file.count >= Self.shortest else {
            throw LectureError(.parameter, detail: path, cause: "a key has at least \(Self.shortest) bytes")
        }
        secret = try unsafe SecretBytes(count: file.count) { buffer throws(LectureError) in
            try unsafe file.read(into: buffer)
        }
    }

    /// HMAC with SHA-256.
    func hash(_ message: [UInt8]) throws(LectureError) -> [UInt8] { try KeyDerivation.hmac(secret, message) }
}

/// What an export holds.
public struct ReportExportResult: Sendable, Hashable {
    /// How many reports.
    public var reports = 0
    /// How many by state.
    public var states: [ReportState: Int] = [:]
    /// How many bytes before compression.
    public var bytes = 0

    /// Creates an empty result.
    public init() {}
}

/// Writes an export page by page, on a reader's connection of its own and on one thread, which may block.
///
/// Every page is read in its own transaction: one over the whole export would keep the store's log from being truncated
/// for as long as the reader of the output likes. So a report is exported in its state when its page is read; reports
/// stored while the export runs may or may not be included, and earlier ones are included exactly once.
struct ReportExporter {
    /// The maximum rows of a page: a report may have 1 MiB.
    private static let longestPage = 256
    /// A page with more bytes is followed by a shorter one.
    private static let pageBytes = 1 << 20
    private static let pieceBytes = 1 << 16

    private let queries: SQLiteContentQueries
    private let write: ([UInt8]) throws -> Void
    private var writer: any ReportWriter
    private let pseudonymiser: Pseudonymiser?
    private let hashing: HashFailure
    private var buffer: [UInt8] = []
    private var result = ReportExportResult()

    /// Creates an exporter.
    ///
    /// - Parameters:
    ///   - queries: the reader.
    ///   - form: how it is written, and whether learners are replaced.
    ///   - write: gets the bytes.
    /// - Throws: ``LectureError`` with the code `cryptography`.
    init(
        _ queries: SQLiteContentQueries, _ form: ReportExportForm, write: @escaping ([UInt8]) throws -> Void
    ) throws(LectureError) {
        self.queries = queries
        self.write = write
        let hashing = HashFailure()
        self.hashing = hashing
        pseudonymiser = form.key.map { key in
            Pseudonymiser { message in hashing.kept { () throws(LectureError) in try key.hash(message) } }
        }
        switch form.format {
        case .csv: writer = CSVWriter()
        case .jsonLines: writer = JSONLinesWriter(digest: try ExportDigest(form.digests))
        case .xapi:
            let digests = form.digests
            writer = XAPIWriter(
                XAPIStatement(homePage: form.homePage, activityPrefix: form.activityPrefix) { message in
                    hashing.kept { () throws(LectureError) in try digests.sha256(of: message) }
                })
        }
    }

    /// Writes the whole export.
    ///
    /// - Parameters:
    ///   - selection: which reports.
    ///   - isCancelled: called between pages.
    /// - Returns: what it holds.
    /// - Throws: ``LectureError`` of the store; `interrupted`; what the output throws.
    mutating func run(_ selection: ReportSelection, isCancelled: () -> Bool) throws -> ReportExportResult {
        // Rows are exported in the order of their numbers, so exporting as many as exist now covers all existing ones.
        var left = try queries.account().rows.values.reduce(0, +)
        var (place, limit) = (OutboxID?.none, 16)
        while left > 0 {
            if isCancelled() { throw CancellationError() }
            let page = try queries.reports(selection, after: place, limit: min(limit, left))
            if page.isEmpty { break }
            left -= page.count
            place = page.last?.id
            let before = result.bytes + buffer.count
            for report in page { try append(report.record) }
            let bytes = result.bytes + buffer.count - before
            limit = bytes > Self.pageBytes ? max(1, limit / 2) : min(Self.longestPage, limit * 2)
        }
        try writer.finish(into: &buffer)
        try flush()
        return result
    }

    private mutating func append(_ record: ReportRecord) throws {
        writer.append(pseudonymiser?.apply(to: record) ?? record, to: &buffer)
        // Before anything is written: a failed hash gives no pseudonym.
        if let failure = hashing.failure.withLock({ $0 }) { throw failure }
        result.reports += 1
        result.states[record.state, default: 0] += 1
        if buffer.count >= Self.pieceBytes { try flush() }
    }

    private mutating func flush() throws {
        if let failure = hashing.failure.withLock({ $0 }) { throw failure }
        if buffer.isEmpty { return }
        result.bytes += buffer.count
        try write(buffer)
        buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.pieceBytes)
    }
}

/// How an export is written.
struct ReportExportForm: Sendable {
    var format: ReportExportFormat
    var key: PseudonymKey?
    var homePage: String
    var activityPrefix: String
    var digests: OpenSSLDigests
}

/// Stores the error of a hash function that cannot throw.
private final class HashFailure: Sendable {
    let failure = Guarded<LectureError?>(nil)

    func kept(_ hash: () throws(LectureError) -> [UInt8]) -> [UInt8] {
        do throws(LectureError) {
            return try hash()
        } catch {
            failure.withLock { $0 = error }
            return []
        }
    }
}

extension ExportDigest {
    /// A SHA-256 over the bytes of an export.
    ///
    /// - Parameter digests: makes it.
    /// - Throws: ``LectureError`` with the code `cryptography`.
    init(_ digests: OpenSSLDigests) throws(LectureError) {
        let digest = try digests.sha256()
        self.init(
            update: { bytes in unsafe bytes.withUnsafeBytes { unsafe digest.update($0) } },
            finish: { () throws(LectureError) in try digest.finish() })
    }
}
