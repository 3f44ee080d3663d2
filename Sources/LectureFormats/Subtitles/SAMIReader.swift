/// Reads the tags and texts of a SAMI file, each byte once.
struct SAMIReader {
    private let bytes: [UInt8]
    private var position = 0
    /// No comment ends behind this place: a search for its end is not repeated.
    private var hasNoMoreCommentEnds = false
    /// The time of the current SYNC; nil where nothing is shown.
    private var start: Int64?
    private var end: Int64?
    /// The class of the current paragraph; nil between paragraphs.
    private var current: String?
    /// Whether the current SYNC has a paragraph.
    private var hasParagraph = false
    private var text = CueText()
    /// What was found.
    private(set) var classes = SAMIClasses()

    /// Creates a reader at the start of a file.
    ///
    /// - Parameter bytes: the file, in UTF-8.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the whole file.
    ///
    /// - Throws: `tooLong` for too many paragraphs.
    mutating func read() throws(SAMI.Refusal) {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "<"): try markup()
            case UInt8(ascii: "&"): reference()
            default: plain()
            }
        }
        try leaveSync()
    }

    // MARK: Texts

    private func byte(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

    /// Takes bytes up to the next tag or reference.
    private mutating func plain() {
        let begin = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "<"), bytes[position] != UInt8(ascii: "&") {
            position += 1
        }
        if start != nil { text.add(bytes[begin..<position]) }
    }

    /// Takes a reference to a character; an ampersand that begins none stands for itself.
    private mutating func reference() {
        let found = CharacterReference.read(bytes[position...].prefix(CharacterReference.longest))
        if start != nil { text.add(found?.scalar ?? "&") }
        position += found?.count ?? 1
    }

    // MARK: Tags

    private mutating func markup() throws(SAMI.Refusal) {
        let next = byte(position + 1)
        if next == UInt8(ascii: "!"), byte(position + 2) == UInt8(ascii: "-"), byte(position + 3) == UInt8(ascii: "-"),
            skipComment()
        {
            return
        }
        let isEnd = next == UInt8(ascii: "/")
        let letter = isEnd ? byte(position + 2) : next
        let isTag = ASCIILetters.isLetter(letter) || next == UInt8(ascii: "!") || next == UInt8(ascii: "?")
        guard isTag else {
            // "3 < 4", and Korean in pointed brackets.
            if start != nil { text.add("<") }
            position += 1
            return
        }
        // Where its end was forgotten, a tag ends before the next one.
        let begin = position + (isEnd ? 2 : 1)
        position = begin
        while position < bytes.count, bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "<") {
            position += 1
        }
        let tag = SAMITag(bytes[begin..<position])
        if byte(position) == UInt8(ascii: ">") { position += 1 }
        if isEnd { try close(tag.name) } else { try open(tag) }
    }

    /// Skips a comment that has an end.
    private mutating func skipComment() -> Bool {
        guard !hasNoMoreCommentEnds else { return false }
        var place = position + 4
        while place + 2 < bytes.count {
            if bytes[place] == UInt8(ascii: "-"), bytes[place + 1] == UInt8(ascii: "-"),
                bytes[place + 2] == UInt8(ascii: ">")
            {
                position = place + 3
                return true
            }
            place += 1
        }
        hasNoMoreCommentEnds = true
        return false
    }

    private mutating func open(_ tag: SAMITag) throws(SAMI.Refusal) {
        switch tag.name {
        case "br": text.breakLine()
        case "p":
            try leaveParagraph()
            (current, hasParagraph) = (tag["class"] ?? "", true)
        case "sync":
            try leaveSync()
            (start, end) = (tag.time("start"), tag.time("end"))
        case "style": style()
        default: break
        }
    }

    private mutating func close(_ name: String) throws(SAMI.Refusal) {
        switch name {
        case "p": try leaveParagraph()
        case "sync", "body", "sami": try leaveSync()
        default: break
        }
    }

    /// Ends a paragraph. What stands in a SYNC outside of any is one without a class, unless it is white space.
    private mutating func leaveParagraph() throws(SAMI.Refusal) {
        let found = text.take()
        guard let start, current != nil || !found.isEmpty else { return }
        try add(SAMIParagraph(start: start, end: end, text: found))
        if !found.isEmpty { hasParagraph = true }
        current = nil
    }

    /// Ends a SYNC. One without a paragraph ends the text before it.
    private mutating func leaveSync() throws(SAMI.Refusal) {
        try leaveParagraph()
        if let start, !hasParagraph { try add(SAMIParagraph(start: start, end: nil, text: [])) }
        (start, end, current, hasParagraph) = (nil, nil, nil, false)
    }

    private mutating func add(_ paragraph: SAMIParagraph) throws(SAMI.Refusal) {
        guard !classes.isFull else { throw .tooLong }
        classes.add(paragraph, to: current ?? "")
    }

    // MARK: Style

    /// Reads the content of STYLE, up to its end or to what can be no style.
    private mutating func style() {
        let begin = position
        while position < bytes.count, !isAfterStyle(position) { position += 1 }
        SAMIStyle.read(bytes[begin..<position], into: &classes)
    }

    private func isAfterStyle(_ place: Int) -> Bool {
        guard bytes[place] == UInt8(ascii: "<") else { return false }
        let name = ASCIILetters.lowercased(bytes[(place + 1)...].prefix(6))
        return name == "/style" || name.hasPrefix("body") || name.hasPrefix("sync")
    }
}

/// Letters of ASCII, which names of tags are made of.
enum ASCIILetters {
    /// Whether a byte is one.
    static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// White space of HTML.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Bytes as text in lower case.
    static func lowercased(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

/// A tag: its name in lower case, and its attributes.
struct SAMITag {
    /// The longest name of a tag or an attribute that means something.
    private static let longestName = 8
    /// The longest value that is used, in bytes.
    static let longestValue = 128
    /// In lower case; empty for one that is longer than all known ones.
    let name: String
    private let rest: ArraySlice<UInt8>

    /// Reads what is between the brackets.
    ///
    /// - Parameter inside: without `<`, `/` and `>`.
    init(_ inside: ArraySlice<UInt8>) {
        let end = inside.firstIndex { !ASCIILetters.isLetter($0) } ?? inside.endIndex
        name = inside.startIndex + Self.longestName < end ? "" : ASCIILetters.lowercased(inside[..<end])
        rest = inside[end...]
    }

    /// The value of an attribute, quoted or bare; the first one of that name.
    ///
    /// - Parameter wanted: its name in lower case.
    /// - Returns: nil when there is none.
    subscript(wanted: String) -> String? {
        var place = rest.startIndex
        func skip(_ isPart: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let begin = place
            while place < rest.endIndex, isPart(rest[place]) { place += 1 }
            return rest[begin..<place]
        }
        while place < rest.endIndex {
            _ = skip { ASCIILetters.isSpace($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
            let name = skip { !ASCIILetters.isSpace($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
            _ = skip(ASCIILetters.isSpace)
            guard place < rest.endIndex, rest[place] == UInt8(ascii: "=") else { continue }
            place += 1
            _ = skip(ASCIILetters.isSpace)
            var value: ArraySlice<UInt8>
            if place < rest.endIndex, rest[place] == UInt8(ascii: "\"") || rest[place] == UInt8(ascii: "'") {
                let quote = rest[place]
                place += 1
                value = skip { $0 != quote }
                if place < rest.endIndex { place += 1 }
            } else {
                value = skip { !ASCIILetters.isSpace($0) }
                // The end of `<P Class=KRCC/>`.
                if place == rest.endIndex, value.last == UInt8(ascii: "/") { value.removeLast() }
            }
            guard name.count <= Self.longestName, ASCIILetters.lowercased(name) == wanted else { continue }
            value = value.prefix(Self.longestValue)
            return ShownText.name(value)
        }
        return nil
    }

    /// A time.
    ///
    /// - Parameter name: of the attribute, in lower case.
    /// - Returns: milliseconds; nil for none, and for a time that no lecture has.
    func time(_ name: String) -> Int64? {
        guard let digits = self[name]?.utf8.prefix(while: { (0x30...0x39).contains($0) }), !digits.isEmpty else {
            return nil
        }
        let number = Int64(String(decoding: digits, as: UTF8.self))
        return number.flatMap { $0 <= SAMI.latest ? $0 : nil }
    }
}

/// The style of a file: `.KRCC { Name: Korean; lang: ko-KR; SAMIType: CC; }`.
enum SAMIStyle {
    /// Reads the rules of classes; others say how texts look.
    ///
    /// - Parameters:
    ///   - text: the content of STYLE.
    ///   - classes: where they are declared.
    static func read(_ text: ArraySlice<UInt8>, into classes: inout SAMIClasses) {
        var rest = text[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            let selector = rest[..<open]
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}")) ?? rest.endIndex
            let rules = declarations(rest[(open + 1)..<close])
            for name in names(selector) {
                classes.declare(name, title: rules["name"], language: rules["lang"].flatMap(language))
            }
            rest = rest[min(close + 1, rest.endIndex)...]
        }
    }

    /// The classes of a selector: what follows a point, up to what ends a name.
    private static func names(_ selector: ArraySlice<UInt8>) -> [String] {
        // A remark before a rule has points of its own: what counts is in the last line.
        let line = selector.trimmed(ASCIILetters.isSpace).split { $0 == 0x0A || $0 == 0x0D }.last ?? []
        return line.split(separator: UInt8(ascii: ",")).compactMap { part in
            guard let point = part.lastIndex(of: UInt8(ascii: ".")) else { return nil }
            let name = ShownText.name(part[(point + 1)...].prefix(SAMITag.longestValue))
            return name.isEmpty ? nil : name
        }
    }

    private static func declarations(_ text: ArraySlice<UInt8>) -> [String: String] {
        var found: [String: String] = [:]
        for line in text.split(separator: UInt8(ascii: ";")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = ASCIILetters.lowercased(line[..<colon].trimmed(ASCIILetters.isSpace).suffix(16))
            guard name == "name" || name == "lang" else { continue }
            let value = line[(colon + 1)...].trimmed { byte in
                ASCIILetters.isSpace(byte) || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
            }
            found[name] = ShownText.name(value.prefix(SAMITag.longestValue))
        }
        return found
    }

    /// A language as BCP 47 writes one; nil for another text.
    private static func language(_ text: String) -> String? {
        let isName = text.utf8.allSatisfy { byte in
            ASCIILetters.isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
        }
        return isName && (2...35).contains(text.utf8.count) ? text : nil
    }
}
