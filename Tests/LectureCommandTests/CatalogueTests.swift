import LectureCommand
import LectureModel
import Testing

/// Whatever an error or a help page names exists.
@Suite struct CatalogueTests {
    /// All codes, with one of each family.
    static let codes = LectureError.Code.all + [.status(404), .status(503), .transfer(7), .callbackStatus(500)]

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
                let words = example.line.split(separator: " ").dropFirst().map(String.init)
                #expect(Array(words.prefix(path.count)) == path, "\(example.line)")
                for option in Self.options(example.line) {
                    let known = spec.option(long: option) ?? CommandTable.globalOptions.first { $0.long == option }
                    #expect(known != nil, "\(example.line)")
                }
            }
        }
    }

    @Test(arguments: [[]] + CommandTable.leaves.map(\.path)) func `help is in the words of the field`(path: [String]) {
        let words = HelpPage.text(path: path).lowercased().split { !$0.isLetter }.map(String.init)
        // 'content' is a claim of licence files and a word of HTTP; as a thing that is kept it is a lecture.
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

    private static func options(_ text: String) -> [String] {
        text.split { " ,;:.'()".contains($0) }.filter { $0.hasPrefix("--") && $0.count > 2 }
            .map { String($0.dropFirst(2).prefix { $0 != "=" }) }
    }
}
