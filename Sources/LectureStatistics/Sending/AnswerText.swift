import LectureFormats
import LectureModel

/// The body of an answer, read in any encoding.
///
/// Only its structure matters, and that is ASCII. Receivers write UTF-8 with and without a byte order mark, UTF-16, and
/// EUC-KR or other old encodings without saying so.
struct AnswerText {
    /// The body as UTF-8 without byte order mark and without white space at its ends.
    let bytes: [UInt8]

    init(_ body: [UInt8]) {
        let text = Self.utf8(body)
        let start = text.firstIndex { !Self.isSpace($0) } ?? text.endIndex
        let end = text.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? start
        bytes = Array(text[start..<max(start, end)])
    }

    /// Whether there is nothing but white space.
    var isEmpty: Bool { bytes.isEmpty }

    /// The JSON value, nil when it is none.
    var json: JSONValue? {
        do throws(LectureError) { return try JSONScanner.value(of: bytes) } catch { return nil }
    }

    /// Whether it starts like a JSON object or array.
    var beginsAsJSON: Bool { bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[") }

    /// Whether it starts like HTML or XML.
    var beginsAsPage: Bool { bytes.first == UInt8(ascii: "<") }

    /// The body for a person or an application: decoded as here, and no more than ``AnswerJudge/bodyLimit`` bytes.
    ///
    /// - Parameter body: the body, or its start.
    /// - Returns: nil when there is none.
    static func text(of body: [UInt8]) -> String? {
        guard !body.isEmpty else { return nil }
        // The limit may have cut a character in two; its part would make the whole text invalid UTF-8.
        var whole = body[...]
        if body.count >= AnswerJudge.bodyLimit, let start = body.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }),
            body[start] >= 0xC0
        {
            whole = body[..<start]
        }
        var text = String(decoding: utf8(Array(whole)), as: UTF8.self)
        while text.utf8.count > AnswerJudge.bodyLimit { text.unicodeScalars.removeLast() }
        return text
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0 }

    private static func utf8(_ body: [UInt8]) -> [UInt8] {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return masked(Array(body.dropFirst(3))) }
        if body.starts(with: [0xFF, 0xFE]) { return utf16(body.dropFirst(2), lowFirst: true) }
        if body.starts(with: [0xFE, 0xFF]) { return utf16(body.dropFirst(2), lowFirst: false) }
        // Without a mark zero bytes show the encoding: no text starts with U+0000, and these start with ASCII.
        if body.count >= 2, body[0] != 0, body[1] == 0 { return utf16(body[...], lowFirst: true) }
        if body.count >= 2, body[0] == 0, body[1] != 0 { return utf16(body[...], lowFirst: false) }
        return masked(body)
    }

    /// Bytes of an unknown encoding become question marks, so that the text around them can be read.
    private static func masked(_ body: [UInt8]) -> [UInt8] {
        if String(validating: body, as: UTF8.self) != nil { return body }
        return body.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }
    }

    private static func utf16(_ body: ArraySlice<UInt8>, lowFirst: Bool) -> [UInt8] {
        Array(String(decoding: UTF16Units.read(body, lowFirst: lowFirst), as: UTF16.self).utf8)
    }
}
