/// The text of a cue as it grows: white space as HTML has it, characters as WebVTT writes them.
///
/// What comes out has no `<` and no `>`, so it is no markup and no line of times, and no blank line, which would end
/// the cue (WebVTT, W3C, section 4.1).
struct CueText {
    private var done: [UInt8] = []
    private var line: [UInt8] = []
    private var hasSpace = false

    /// Adds text.
    ///
    /// - Parameter bytes: UTF-8; the end of it is the end of a character.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var place = bytes.startIndex
        while place < bytes.endIndex {
            let byte = bytes[place]
            if byte == 0xC2, place + 1 < bytes.endIndex, bytes[place + 1] <= 0xA0 {
                // U+0080 to U+00A0: controls, and the space that does not break.
                add(bytes[place + 1] == 0xA0 ? " " : "\u{0}")
                place += 2
            } else if byte < 0x80 {
                add(Unicode.Scalar(byte))
                place += 1
            } else {
                leaveSpace()
                line.append(byte)
                place += 1
            }
        }
    }

    /// Adds a character.
    ///
    /// - Parameter scalar: any; control characters are left out.
    mutating func add(_ scalar: Unicode.Scalar) {
        switch scalar {
        case " ", "\t", "\n", "\r", "\u{B}", "\u{C}", "\u{A0}": hasSpace = !line.isEmpty
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": break
        case "&": write("&amp;")
        case "<": write("&lt;")
        case ">": write("&gt;")
        default: write(String(scalar))
        }
    }

    private mutating func leaveSpace() {
        if hasSpace { line.append(0x20) }
        hasSpace = false
    }

    private mutating func write(_ text: String) {
        leaveSpace()
        line += text.utf8
    }

    /// Ends a line; a blank one is left out.
    mutating func breakLine() {
        if !line.isEmpty {
            if !done.isEmpty { done.append(0x0A) }
            done += line
        }
        (line, hasSpace) = ([], false)
    }

    /// Ends the text.
    ///
    /// - Returns: all lines; nothing where all of them are blank.
    mutating func take() -> [UInt8] {
        breakLine()
        defer { done = [] }
        return done
    }
}

/// A reference to a character: `&amp;`, `&#44032;`, `&#xAC00;`, and `&nbsp` without its end.
enum CharacterReference {
    /// The longest one, in bytes.
    static let longest = 12

    private static let named: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}", "copy": "©", "reg": "®",
        "deg": "°", "middot": "·", "laquo": "«", "raquo": "»", "times": "×", "divide": "÷", "ndash": "–", "mdash": "—",
        "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "bull": "•", "hellip": "…", "trade": "™",
    ]

    /// Reads a reference.
    ///
    /// - Parameter bytes: from the ampersand on.
    /// - Returns: the character, and how many bytes stand for it; nil for what is no reference, or not a known one.
    static func read(_ bytes: ArraySlice<UInt8>) -> (scalar: Unicode.Scalar, count: Int)? {
        let inside = bytes.dropFirst()
        let isNumber = inside.first == UInt8(ascii: "#")
        let body = inside.dropFirst(isNumber ? 1 : 0).prefix { byte in
            ASCIILetters.isLetter(byte) || (0x30...0x39).contains(byte)
        }
        let name = ASCIILetters.lowercased(body)
        let hasEnd = body.endIndex < bytes.endIndex && bytes[body.endIndex] == UInt8(ascii: ";")
        let count = body.endIndex - bytes.startIndex + (hasEnd ? 1 : 0)
        if isNumber {
            let isHexadecimal = name.hasPrefix("x")
            let number = isHexadecimal ? UInt32(name.dropFirst(), radix: 16) : UInt32(name)
            // What is no character is shown as one that was lost, as HTML has it.
            return number.map { (Unicode.Scalar($0).flatMap { $0.value == 0 ? nil : $0 } ?? "\u{FFFD}", count) }
        }
        if let scalar = named[name] { return (scalar, count) }
        return name.hasPrefix("nbsp") ? ("\u{A0}", 5) : nil
    }
}

extension Collection<UInt8> where SubSequence == ArraySlice<UInt8> {
    /// The bytes without those at both ends that are of a kind.
    ///
    /// - Parameter isEdge: whether a byte is left out at an end.
    /// - Returns: the bytes between.
    func trimmed(_ isEdge: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var rest = self[...]
        while let first = rest.first, isEdge(first) { rest.removeFirst() }
        while let last = rest.last, isEdge(last) { rest.removeLast() }
        return rest
    }
}

/// Names in a file that people see.
enum ShownText {
    /// A name on one line.
    ///
    /// - Parameter bytes: UTF-8; a character that was cut off is left out.
    /// - Returns: without control characters, and without white space at its ends.
    static func name(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { scalar in
            scalar != "\u{FFFD}" && scalar.properties.generalCategory != .control
        }
        return String(decoding: Array(String(text).utf8)[...].trimmed(ASCIILetters.isSpace), as: UTF8.self)
    }
}
