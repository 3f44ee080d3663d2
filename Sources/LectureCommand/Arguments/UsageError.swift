/// An invalid command line. Ends with exit status 64.
package struct UsageError: Error, Equatable {
    /// What is wrong, a full sentence. User input in it is shortened and has no control characters.
    package let sentence: String
    /// The words up to the command that was meant, for "See 'lecturectl store --help'".
    package let path: [String]

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - sentence: what is wrong, a full sentence; user input in it is ``quoted(_:)``.
    ///   - path: the words up to the command that was meant.
    package init(_ sentence: String, path: [String] = []) {
        self.sentence = sentence
        self.path = path
    }

    /// The sentence and where to read more, in `lecturectl`.
    package var message: String { message(of: .lecturectl) }

    /// The sentence and where to read more.
    ///
    /// - Parameter program: the program whose help says more.
    /// - Returns: two sentences.
    package func message(of program: ProgramTable) -> String {
        let words = [program.programName] + path + ["--help"]
        return "\(sentence) See '\(words.joined(separator: " "))'."
    }

    /// User input for a message: without control characters, and shortened, so that an argument of 100 KiB does not
    /// flood the terminal.
    ///
    /// - Parameter text: as typed.
    /// - Returns: at most 60 characters of it.
    package static func quoted(_ text: String) -> String {
        let clean = TerminalText.neutralised(String(text.prefix(61)))
        return clean.count > 60 ? "'\(clean.prefix(59))…'" : "'\(clean)'"
    }
}
