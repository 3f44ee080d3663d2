import LectureFormats
package import LectureModel

/// What a reader of an export found.
package enum ImportEvent: Hashable, Sendable {
    /// A row, and its first line.
    case report(line: Int, ReportRecord)
    /// A line that could not be read. No other line is affected. With the code `exportIncomplete` it is a summary line
    /// that does not match the lines before it.
    case fault(line: Int, LectureError)
    /// The summary line, which matches the lines before it.
    case summary(line: Int, reports: Int)
}

/// Reads a JSON Lines export incrementally, with the memory of one line.
///
/// Several exports may follow each other. A summary that does not match the lines since the previous one, in number or
/// digest, is a fault; rows after the last summary are an export that was cut off, which ``isWhole`` shows.
package struct ImportReader {
    /// How many bytes a line may have: a text of 1 MiB needs at most six times that in escapes.
    package static let lineLimit = 64 << 20

    /// The limits for a line of an export: `values` was read with the scanner's own limits, one level higher.
    static let limits = JSONScanner.Limits(depth: 40, items: 20_000)

    private let limit: Int
    private let makeDigest: (() -> ExportDigest)?
    private var digest: ExportDigest?
    private var pending: [UInt8] = []
    private var isTooLong = false
    private var line = 1
    private var lines = 0

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - limit: how many bytes a line may have.
    ///   - makeDigest: makes the digest that exports use; nil leaves digests unchecked.
    package init(limit: Int = ImportReader.lineLimit, makeDigest: (() -> ExportDigest)? = nil) {
        self.limit = limit
        self.makeDigest = makeDigest
        self.digest = makeDigest?()
    }

    /// Whether the last line was a summary, or there was none.
    package var isWhole: Bool { lines == 0 && pending.isEmpty && !isTooLong }

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: the next piece of the file.
    /// - Returns: the contents of the lines that are complete now, in order.
    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [ImportEvent] {
        var events: [ImportEvent] = []
        var rest = bytes
        while let end = rest.firstIndex(of: 0x0A) {
            take(rest[...end])
            endLine(&events)
            rest = rest[(end + 1)...]
        }
        take(rest)
        return events
    }

    /// Takes the end of the file; the last line may lack its line end.
    ///
    /// - Returns: the last line.
    package mutating func finish() -> [ImportEvent] {
        var events: [ImportEvent] = []
        if !pending.isEmpty || isTooLong { endLine(&events) }
        return events
    }

    private mutating func take(_ piece: ArraySlice<UInt8>) {
        if pending.count + piece.count > limit { isTooLong = true }
        if isTooLong {
            // The digest includes discarded bytes.
            digest?.update(pending[...])
            digest?.update(piece)
            pending = []
        } else {
            pending.append(contentsOf: piece)
        }
    }

    private mutating func endLine(_ events: inout [ImportEvent]) {
        let bytes = pending
        let number = line
        pending = []
        line += 1
        if isTooLong {
            isTooLong = false
            lines += 1
            let error = LectureError(.json, detail: "line \(number)", cause: "more than \(limit) bytes")
            return events.append(.fault(line: number, error))
        }
        // An editor's byte order mark is not an error.
        let text = number == 1 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        if text.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            digest?.update(bytes[...])
            return
        }
        do throws(LectureError) {
            events.append(try read(text, number, bytes))
        } catch {
            let cause = error.cause.isEmpty ? error.detail : "\(error.detail): \(error.cause)"
            events.append(.fault(line: number, LectureError(error.code, detail: "line \(number)", cause: cause)))
        }
    }

    private mutating func read(
        _ text: [UInt8], _ number: Int, _ bytes: [UInt8]
    ) throws(LectureError) -> ImportEvent {
        let value: JSONValue
        do throws(LectureError) {
            value = try JSONScanner.value(of: text, limits: Self.limits)
        } catch {
            count(bytes)
            throw error
        }
        if value["record"]?.string == "summary" { return try summary(value, number) }
        count(bytes)
        if let kind = value["record"], kind != .string("report") {
            throw LectureError(.json, detail: "member 'record' is neither 'report' nor 'summary'")
        }
        return .report(line: number, try ReportRecord(json: value))
    }

    private mutating func count(_ bytes: [UInt8]) {
        lines += 1
        digest?.update(bytes[...])
    }

    /// Compares the summary with the lines before it, and starts a new export.
    private mutating func summary(_ value: JSONValue, _ number: Int) throws(LectureError) -> ImportEvent {
        let found = lines
        let digest = digest
        lines = 0
        self.digest = makeDigest?()
        let reports = value["reports"]?.integer
        guard let reports, reports == Int64(found) else {
            throw LectureError(
                .exportIncomplete, detail: "the summary does not count the \(found) lines before it")
        }
        if let digest, let due = value["digest"]?.string {
            let sum = try digest.finish()
            if Hexadecimal.text(sum) != due {
                throw LectureError(
                    .exportIncomplete, detail: "the summary's digest does not match the lines before it")
            }
        }
        return .summary(line: number, reports: found)
    }
}
