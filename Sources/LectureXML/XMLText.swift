import LectureFormats

/// A document as UTF-8, whose limits have been checked before libxml2 sees a byte of it.
///
/// libxml2 compares each attribute of a tag with every other, and reads a whole tag before it reports anything, so a
/// long tag could keep a thread busy for hours. What is counted here is exact for a well-formed document; where a
/// document is not well-formed, libxml2 stops.
struct XMLText {
    /// The document as UTF-8, without a byte order mark.
    let bytes: [UInt8]

    /// Decodes and checks a document.
    ///
    /// - Parameters:
    ///   - document: the bytes as received.
    ///   - limits: how much it may be.
    /// - Throws: `XMLError`.
    init(_ document: [UInt8], _ limits: XMLLimits) throws(XMLError) {
        guard document.count <= limits.bytes else { throw XMLError(.limit, "it is above \(limits.bytes) bytes") }
        guard !document.isEmpty else { throw XMLError(.malformed, "it is empty") }
        bytes = try Self.decoded(document)
        var survey = Survey(bytes, limits)
        try survey.run()
    }

    // MARK: Encoding (XML 1.0 section 4.3.3, appendix F)

    private static func decoded(_ document: [UInt8]) throws(XMLError) -> [UInt8] {
        let start = document.prefix(4)
        if start.starts(with: [0, 0]) || start.starts(with: [0xFF, 0xFE, 0, 0]) {
            throw XMLError(.encoding, "it is UTF-32; only UTF-8 and UTF-16 are read")
        }
        if start.starts(with: [0xFE, 0xFF]) { return try utf16(document.dropFirst(2), isBigEndian: true) }
        if start.starts(with: [0xFF, 0xFE]) { return try utf16(document.dropFirst(2), isBigEndian: false) }
        if start.starts(with: [0, 0x3C]) { return try utf16(document[...], isBigEndian: true) }
        if start.starts(with: [0x3C, 0]) { return try utf16(document[...], isBigEndian: false) }
        guard String(validating: document, as: UTF8.self) != nil else {
            throw XMLError(.encoding, "it is not UTF-8, and has no mark of UTF-16")
        }
        return start.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(document.dropFirst(3)) : document
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(XMLError) -> [UInt8] {
        guard bytes.count.isMultiple(of: 2) else { throw XMLError(.encoding, "it is UTF-16 with half a character") }
        let units = UTF16Units.read(bytes, lowFirst: !isBigEndian)
        guard let text = String(validating: units, as: UTF16.self) else {
            throw XMLError(.encoding, "it is UTF-16 with half of a surrogate pair")
        }
        return Array(text.utf8)
    }
}

/// One pass over the markup of a document: how deep, how many, how long; no document type.
private struct Survey {
    private let bytes: [UInt8]
    private let limits: XMLLimits
    private var position = 0
    private var depth = 0
    private var elements = 0

    init(_ bytes: [UInt8], _ limits: XMLLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func run() throws(XMLError) {
        while let opening = find(UInt8(ascii: "<")) {
            position = opening + 1
            if skips("!--") {
                try skip(past: "-->")
            } else if skips("![CDATA[") {
                try skip(past: "]]>")
            } else if skips("!") {
                throw XMLError(.documentType, "it has a document type declaration")
            } else if skips("?") {
                let start = position
                try skip(past: "?>")
                if opening == 0 { try checkDeclaration(start..<position - 2) }
            } else {
                try tag(from: opening)
            }
        }
        if depth > 0 { throw XMLError(.malformed, "it is cut off inside \(depth) elements") }
    }

    private func find(_ byte: UInt8) -> Int? { bytes[position...].firstIndex(of: byte) }

    private mutating func skips(_ text: StaticString) -> Bool {
        guard bytes[position...].starts(with: text.description.utf8) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func skip(past end: StaticString) throws(XMLError) {
        // All ends finish with '>', and it is only there that a comparison is worth anything.
        let word = Array(end.description.utf8)
        let start = position
        while let close = find(UInt8(ascii: ">")) {
            position = close + 1
            if position - start >= word.count, bytes[..<position].suffix(word.count).elementsEqual(word) { return }
        }
        throw XMLError(.malformed, "it is cut off before '\(end)'")
    }

    /// A start or an end tag; `position` is behind its '<'.
    private mutating func tag(from opening: Int) throws(XMLError) {
        let isEnd = position < bytes.count && bytes[position] == UInt8(ascii: "/")
        var quote: UInt8?
        var attributes = 0
        let bound = min(bytes.count, opening + limits.tagBytes)
        while position < bound {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                attributes += 1
                if attributes > limits.attributes {
                    throw XMLError(.limit, "an element has more than \(limits.attributes) attributes")
                }
            } else if byte == UInt8(ascii: ">") {
                return try count(isEnd: isEnd, isEmpty: bytes[position - 2] == UInt8(ascii: "/"))
            }
        }
        if bound == bytes.count { throw XMLError(.malformed, "it is cut off inside a tag") }
        throw XMLError(.limit, "a tag is above \(limits.tagBytes) bytes")
    }

    private mutating func count(isEnd: Bool, isEmpty: Bool) throws(XMLError) {
        if isEnd {
            depth -= 1
            if depth < 0 { throw XMLError(.malformed, "it has an end tag without a start tag") }
            return
        }
        elements += 1
        if elements > limits.elements { throw XMLError(.limit, "it has more than \(limits.elements) elements") }
        if depth >= limits.depth { throw XMLError(.limit, "it is nested deeper than \(limits.depth) elements") }
        if !isEmpty { depth += 1 }
    }

    /// The XML declaration may name UTF-8, a part of it, or UTF-16; what is read has been decoded already.
    private func checkDeclaration(_ range: Range<Int>) throws(XMLError) {
        let text = FieldText.lowercased(String(decoding: bytes[range], as: UTF8.self))
        guard text.utf8.starts(with: "xml".utf8) else { return }
        let parts = text.split { " \t\r\n=\"'".contains($0) }
        guard let index = parts.firstIndex(of: "encoding"), index + 1 < parts.count else { return }
        let known: Set<Substring> = ["utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be"]
        if !known.contains(parts[index + 1]) {
            throw XMLError(.encoding, "it declares an encoding other than UTF-8 and UTF-16")
        }
    }
}
