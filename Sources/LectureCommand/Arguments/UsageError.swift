/// An invalid command line. Ends with exit status 64.
package struct UsageError: Error, Equatable {
    /// What is wrong, a full sentence. User input in it is shortened and has no control characters.
    package let sentence: String
    /// The words up to the command that was meant, for "See 'lecturectl store --help'".
    package let path: [String]

    init(_ sentence: String, path: [String] = []) {
        self.sentence = sentence
        self.path = path
    }

    /// The sentence and where to read more.
    package var message: String {
        let words = [CommandTable.programName] + path + ["--help"]
        return "\(sentence) See '\(words.joined(separator: " "))'."
    }

    /// User input for a message: without control characters, and shortened, so that an argument of 100 KiB does not
    /// flood the terminal.
    ///
    /// - Parameter text: as typed.
    /// - Returns: at most 60 characters of it.
    static func quoted(_ text: String) -> String {
        let clean = TerminalText.neutralised(String(text.prefix(61)))
        return clean.count > 60 ? "'\(clean.prefix(59))…'" : "'\(clean)'"
    }
}
