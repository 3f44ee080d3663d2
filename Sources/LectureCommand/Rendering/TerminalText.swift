/// Text for a terminal: its width in cells, without control sequences.
package enum TerminalText {
    /// Replaces every character that a terminal would interpret or that would reverse the line: control characters,
    /// line separators, and the directional overrides of Unicode (TR 36, section 2.1).
    ///
    /// - Parameter text: any text, for example a title from a server.
    /// - Returns: the text with U+FFFD instead.
    package static func neutralised(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isDangerous) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isDangerous(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// The cells a text takes. East Asian wide characters take two, combining ones none.
    ///
    /// - Parameter text: a text without control characters.
    /// - Returns: the number of cells.
    package static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    /// Clips a text to a number of cells; a clipped text ends in `…`.
    ///
    /// - Parameters:
    ///   - text: a text without control characters.
    ///   - cells: the available cells.
    /// - Returns: a text of at most that width.
    package static func clipped(_ text: String, to cells: Int) -> String {
        if width(text) <= cells { return text }
        guard cells > 0 else { return "" }
        var result = ""
        var used = 1
        for character in text {
            used += width(character)
            if used > cells { break }
            result.append(character)
        }
        return result + "…"
    }

    /// Clips or pads a text to exactly this number of cells.
    ///
    /// - Parameters:
    ///   - text: a text without control characters.
    ///   - cells: the width in cells.
    ///   - alignRight: whether the blanks come first.
    /// - Returns: a text of that width.
    package static func padded(_ text: String, to cells: Int, alignRight: Bool = false) -> String {
        let clipped = clipped(text, to: cells)
        let blanks = String(repeating: " ", count: max(0, cells - width(clipped)))
        return alignRight ? blanks + clipped : clipped + blanks
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    /// Letters that Unicode joins to one character, such as those of an Indic conjunct, are still drawn side by side;
    /// only what a joiner or a skin tone adds to an emoji takes no cells, and a variation selector requests the wide
    /// emoji.
    private static func width(_ character: Character) -> Int {
        var cells = 0
        var isJoined = false
        for scalar in character.unicodeScalars {
            let isTone = (0x1F3FB...0x1F3FF).contains(scalar.value) && cells > 0
            if !isJoined, !isTone { cells += scalar.value < 0x300 ? 1 : width(scalar) }
            if scalar.value == 0xFE0F { cells = max(cells, 2) }
            isJoined = scalar.value == 0x200D
        }
        return cells
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if wide.contains(where: { $0.contains(scalar.value) }) { return 2 }
        // Vowels and final consonants of a Hangul syllable written in parts join its first consonant.
        if (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FB).contains(scalar.value) { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The blocks of East Asian width W and F (Unicode TR 11), most frequent in titles first.
    private static let wide: [ClosedRange<UInt32>] = [
        0xAC00...0xD7A3, 0x4E00...0x9FFF, 0x3041...0x33FF, 0x1100...0x115F, 0xFF01...0xFF60, 0x2E80...0x303E,
        0x3400...0x4DBF, 0xA000...0xA4CF, 0xA960...0xA97C, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD, 0x231A...0x231B,
        0x23E9...0x23EC, 0x2614...0x2615, 0x26A1...0x26A1, 0x2705...0x2705, 0x274C...0x274C, 0x2753...0x2755,
        0x2757...0x2757, 0x2B50...0x2B50,
    ]
}
