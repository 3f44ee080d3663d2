import LectureFormats
package import LectureModel

/// Collects the lines of a head as libcurl delivers them and reports when a final head is complete.
///
/// Informational heads (1xx, RFC 9110 section 15.2) are dropped, and so are trailer fields (section 6.5), which libcurl
/// delivers after the body. Fields keep their order and their repetitions; a folded line (RFC 9112 section 5.2) is
/// joined with one space.
package struct HeaderCollector {
    /// What a line leads to.
    package enum Step: Equatable {
        /// More lines are expected.
        case more
        /// The final head is complete: its status and fields.
        case head(status: Int, fields: HeaderFields)
        /// The heads and trailers are larger than allowed.
        case tooLarge
    }

    /// Whether a final head was reported.
    package private(set) var isDone = false
    /// Whether a line was received.
    var hasStarted: Bool { byteCount > 0 }
    /// Whether a head has started and its empty line has not been received.
    private(set) var isInsideHead = false
    /// Whether nothing but the end of the connection ends the body (RFC 9112 section 6.3, rule 8).
    package private(set) var endsWithConnection = false
    private let maximumBytes: Int
    private var byteCount = 0
    private var status = 0
    private var fields: [HeaderField] = []

    /// Makes a collector for one exchange.
    ///
    /// - Parameter maximumBytes: of all lines together, 1xx heads and trailers included.
    package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// Takes a line.
    ///
    /// - Parameter line: a status line, a field line or the empty line, with or without its line end.
    /// - Returns: what it leads to.
    package mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        byteCount += line.count
        if byteCount > maximumBytes { return .tooLarge }
        if isDone { return .more }
        let text = unsafe Self.withoutEnd(line)
        isInsideHead = !text.isEmpty
        if text.isEmpty { return finishHead() }
        if text.utf8.starts(with: "HTTP/".utf8) {
            status = Self.status(text)
            fields = []
        } else {
            addField(text)
        }
        return .more
    }

    private mutating func finishHead() -> Step {
        guard status >= 200 else {
            fields = []
            return .more
        }
        isDone = true
        let isFramed = fields.contains { field in
            FieldText.equal(field.name, "Content-Length") || FieldText.equal(field.name, "Transfer-Encoding")
        }
        endsWithConnection = !isFramed && status != 204 && status != 304
        return .head(status: status, fields: HeaderFields(fields))
    }

    private mutating func addField(_ text: String) {
        if text.utf8.first == 0x20 || text.utf8.first == 0x09 {
            guard var last = fields.popLast() else { return }
            let rest = FieldText.trimmed(text)
            // A value that starts on the next line gets no space before it, nor does one that ends on the previous
            // line.
            last.value += last.value.isEmpty || rest.isEmpty ? String(rest) : " \(rest)"
            fields.append(last)
        } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let value = FieldText.trimmed(String(text[text.utf8.index(after: colon)...]))
            fields.append(HeaderField(name: String(text[..<colon]), value: String(value)))
        }
    }

    private static func withoutEnd(_ line: UnsafeRawBufferPointer) -> String {
        var count = line.count
        while count > 0, unsafe line[count - 1] == 0x0A || line[count - 1] == 0x0D { count -= 1 }
        return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: line[..<count]), as: UTF8.self)
    }

    /// The three digits after the protocol version (RFC 9112 section 4); 0 when they are missing, which never makes a
    /// final head.
    private static func status(_ line: String) -> Int {
        guard let space = line.utf8.firstIndex(of: 0x20) else { return 0 }
        let digits = line.utf8[line.utf8.index(after: space)...].prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
