import LectureFormats
package import LectureModel

/// Writes rows one after the other. It appends to a buffer that the caller drains, so that a million rows need the
/// memory of one.
package protocol ReportWriter {
    /// Writes one row.
    ///
    /// - Parameters:
    ///   - record: the row.
    ///   - buffer: where the UTF-8 bytes are appended.
    mutating func append(_ record: ReportRecord, to buffer: inout [UInt8])
    /// Writes what follows the last row; no more rows may follow.
    ///
    /// - Parameter buffer: where the UTF-8 bytes are appended.
    /// - Throws: the errors of the digest.
    mutating func finish(into buffer: inout [UInt8]) throws(LectureError)
}

/// A running digest that is passed in, since an engine has no cryptography.
package struct ExportDigest {
    /// Takes the next bytes.
    package let update: (ArraySlice<UInt8>) -> Void
    /// Returns the digest of all bytes.
    package let finish: () throws(LectureError) -> [UInt8]

    /// Makes a digest.
    ///
    /// - Parameters:
    ///   - update: takes the next bytes.
    ///   - finish: returns the digest.
    package init(
        update: @escaping (ArraySlice<UInt8>) -> Void, finish: @escaping () throws(LectureError) -> [UInt8]
    ) {
        self.update = update
        self.finish = finish
    }
}

/// Writes JSON Lines: one object per line, and a last one with their number.
///
/// ```json
/// {"record":"report","id":"…","content":"…", …}
/// {"record":"summary","reports":1,"states":{"pending":1,"leased":0, …},"digest":"…"}
/// ```
///
/// `digest` is over all bytes before the summary line, in hexadecimal digits; without a digest it is left out.
package struct JSONLinesWriter: ReportWriter {
    private let digest: ExportDigest?
    private var writer = JSONWriter(reserving: 1024)
    private var reports = 0
    private var states: [String: Int] = [:]

    /// Makes a writer.
    ///
    /// - Parameter digest: a fresh one, or nil for none.
    package init(digest: ExportDigest? = nil) { self.digest = digest }

    /// Writes one row as a line.
    package mutating func append(_ record: ReportRecord, to buffer: inout [UInt8]) {
        writer.removeAll()
        record.write(to: &writer)
        writer.endLine()
        reports += 1
        states[record.state.name, default: 0] += 1
        digest?.update(writer.bytes[...])
        buffer.append(contentsOf: writer.bytes)
    }

    /// Writes the summary line.
    package mutating func finish(into buffer: inout [UInt8]) throws(LectureError) {
        let sum = try digest?.finish()
        writer.removeAll()
        writer.object { [reports, states] writer in
            writer.member("record", "summary")
            writer.member("reports", reports)
            writer.object("states") { writer in
                for state in ReportState.names { writer.member(state, states[state] ?? 0) }
            }
            writer.member("digest", sum.map { Hexadecimal.text($0) })
        }
        writer.endLine()
        buffer.append(contentsOf: writer.bytes)
    }
}
