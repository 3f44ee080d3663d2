/// The text of `--help`, at 80 columns.
package enum HelpPage {
    private static let indent = 2
    private static let helpColumn = 26

    /// The help of a command.
    ///
    /// - Parameters:
    ///   - path: its words; empty for the program itself.
    ///   - table: the program's table.
    /// - Returns: the text, ending in a newline.
    package static func text(path: [String], of table: ProgramTable = .lecturectl) -> String {
        let spec = table.spec(at: path) ?? table.root
        // An alias is shown as the command's own name.
        let path = path.enumerated().map { $0.offset == 0 ? table.aliases[$0.element] ?? $0.element : $0.element }
        var lines = usage(spec, path: [table.programName] + path)
        lines += [""] + paragraph(sentence(spec.summary))
        for text in spec.discussion { lines += [""] + paragraph(text) }
        lines += section("Commands", spec.subcommands.map { ($0.name, $0.summary) })
        lines += section("Arguments", spec.arguments.map { ($0.name, $0.help) })
        lines += section("Options", spec.ungroupedOptions.map { (label($0), $0.fullHelp) })
        for group in spec.groups { lines += section(group.title, group.options.map { (label($0), $0.fullHelp) }) }
        lines += globalOptions(spec, path: path, table)
        if !spec.examples.isEmpty { lines += ["", "Examples:"] + spec.examples.flatMap(example) }
        if path.isEmpty { lines += section("Exit status", ExitStatus.meanings.map { ($0.code, $0.meaning) }) }
        if !spec.subcommands.isEmpty {
            let words = [table.programName, "help"] + path + ["COMMAND"]
            lines += ["", "'\(words.joined(separator: " "))' explains a command."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The global options: explained only in the program's own help, and listed in that of every command.
    private static func globalOptions(_ spec: CommandSpec, path: [String], _ table: ProgramTable) -> [String] {
        let options = table.globalOptions(behind: spec)
        if path.isEmpty { return section("Global options", options.map { (label($0), $0.fullHelp) }) }
        let names = options.map { "--\($0.long)" }.joined(separator: ", ")
        return [""] + paragraph("Global options: \(names). '\(table.programName) --help' explains them.")
    }

    /// An option's names and value: `-j, --jobs N`.
    ///
    /// - Parameter option: the option.
    /// - Returns: the text; options without a letter are indented like those with one.
    static func label(_ option: OptionSpec) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        return "\(short)--\(option.long)\(option.valueName.isEmpty ? "" : " \(option.valueName)")"
    }

    /// A summary as a sentence, with a capital and a full stop.
    static func sentence(_ summary: String) -> String { "\(summary.prefix(1).uppercased())\(summary.dropFirst())." }

    private static func usage(_ spec: CommandSpec, path: [String]) -> [String] {
        let words = path.joined(separator: " ")
        if !spec.subcommands.isEmpty { return ["Usage: \(words) [OPTIONS] COMMAND"] }
        let arguments = spec.arguments.map { " \($0.usage)" }.joined()
        var lines = ["Usage: \(words) [OPTIONS]\(arguments)"]
        if let flag = spec.flagInsteadOfArguments { lines.append("       \(words) [OPTIONS] --\(flag)") }
        if !spec.filtersInsteadOfArguments.isEmpty { lines.append("       \(words) [OPTIONS] FILTER…") }
        return lines
    }

    private static func paragraph(_ text: String) -> [String] {
        TextWrapping.lines(text, width: TextWrapping.helpWidth)
    }

    private static func section(_ title: String, _ entries: [(label: String, help: String)]) -> [String] {
        guard !entries.isEmpty else { return [] }
        return ["", "\(title):"] + entries.flatMap { entry($0.label, $0.help) }
    }

    private static func entry(_ label: String, _ help: String) -> [String] {
        let texts = TextWrapping.lines(help, width: TextWrapping.helpWidth - helpColumn)
        let margin = String(repeating: " ", count: helpColumn)
        let head = String(repeating: " ", count: indent) + label
        let body = texts.map { margin + $0 }
        // The label shares a line with its text only if two blanks fit between them.
        guard TerminalText.width(head) + 2 <= helpColumn, let first = texts.first else { return [head] + body }
        return [TerminalText.padded(head, to: helpColumn) + first] + body.dropFirst()
    }

    private static func example(_ example: ExampleSpec) -> [String] {
        ["  \(example.line)"] + TextWrapping.lines(sentence(example.meaning), width: 74).map { "      \($0)" }
    }
}
