import LectureCommand
import LectureModel
import Testing

/// Everything that an error or a help page names exists.
@Suite struct CatalogueTests {
    /// All codes, with one of each family.
    static let codes =
        LectureError.Code.all + [
            .status(404), .status(503), .transfer(7), .callbackStatus(500), .playCallbackStatus(500),
            .playCallbackTransfer(7),
        ]

    @Test(arguments: codes) func `a remedy names commands and options that exist`(code: LectureError.Code) throws {
        for quoted in code.remedy.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        where quoted.offset % 2 == 1 && quoted.element.hasPrefix("lecturectl ") {
            let words = quoted.element.split(separator: " ").dropFirst().map(String.init)
            try check(words, "\(code.name): \(quoted.element)")
        }
        let all = CommandTable.globalOptions + CommandTable.leaves.flatMap(\.spec.options)
        for option in Self.options(code.remedy) {
            #expect(all.contains { $0.long == option }, "\(code.name): --\(option)")
        }
    }

    @Test func `every example of the help is a command that parses`() throws {
        for (path, spec) in CommandTable.leaves {
            for example in spec.examples where example.line.hasPrefix("lecturectl ") {
                let parsed = try ArgumentParser.parse(Self.words(example.line))
                #expect(parsed.path == path, "\(example.line)")
            }
        }
    }

    @Test(arguments: [[]] + CommandTable.leaves.map(\.path)) func `help uses the terms of the field`(path: [String]) {
        let words = HelpPage.text(path: path).lowercased().split { !$0.isLetter }.map(String.init)
        // 'content' is a claim of licence files and an HTTP term; a stored item is a lecture.
        let banned: Set<String> = ["contents", "nobody", "whoever", "wish", "wishes", "mend", "spare"]
        #expect(banned.isDisjoint(with: words), "\(banned.intersection(words))")
    }

    private func check(_ words: [String], _ what: String) throws {
        var spec = CommandTable.root
        var rest = words[...]
        while let word = rest.first, let next = spec.subcommands.first(where: { $0.name == word }) {
            spec = next
            rest = rest.dropFirst()
        }
        #expect(spec.subcommands.isEmpty, "\(what): no such command")
        for option in Self.options(rest.joined(separator: " ")) {
            let known = spec.option(long: option) ?? CommandTable.globalOptions.first { $0.long == option }
            #expect(known != nil, "\(what): --\(option)")
        }
    }

    /// The words of a shell's command line after the program's name, up to a pipe or a redirection.
    private static func words(_ line: String) -> [String] {
        var (words, word, quote, isOpen) = ([String](), "", Character?.none, false)
        for character in line + " " {
            if character == quote {
                quote = nil
            } else if quote != nil {
                word.append(character)
            } else if character == "'" || character == "\"" {
                (quote, isOpen) = (character, true)
            } else if character == " " {
                if isOpen || !word.isEmpty { words.append(word) }
                (word, isOpen) = ("", false)
            } else {
                word.append(character)
            }
        }
        return Array(words.dropFirst().prefix { !["|", ">", "<", "&&"].contains($0) })
    }

    private static func options(_ text: String) -> [String] {
        text.split { " ,;:.'()".contains($0) }.filter { $0.hasPrefix("--") && $0.count > 2 }
            .map { String($0.dropFirst(2).prefix { $0 != "=" }) }
    }
}
