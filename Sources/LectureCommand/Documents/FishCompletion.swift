/// Completion for fish.
enum FishCompletion {
    static func script() -> String {
        var lines = [
            "# fish completion for lecturectl; written by 'lecturectl completion fish'.",
            "function __lecturectl_keys",
            "    lecturectl list --json 2> /dev/null | \(ShellCompletion.keyFilter)",
            "end",
            "complete -c lecturectl -f",
        ]
        for option in CommandTable.globalOptions { lines.append(line(condition: elsewhere(option), option)) }
        for (path, spec) in ShellCompletion.nodes {
            let condition = condition(path, spec)
            for command in spec.subcommands {
                lines.append("complete -c lecturectl\(condition) -a \(command.name) -d \(quoted(command.summary))")
            }
            for option in spec.visibleOptions { lines.append(line(condition: condition, option)) }
            if let argument = spec.arguments.first, let offer = offer(argument.grammar) {
                lines.append("complete -c lecturectl\(condition) \(offer)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func condition(_ path: [String], _ spec: CommandSpec) -> String {
        if path.isEmpty { return " -n __fish_use_subcommand" }
        var tests = path.map { "__fish_seen_subcommand_from \($0)" }
        if !spec.subcommands.isEmpty {
            tests.append("not __fish_seen_subcommand_from \(spec.subcommands.map(\.name).joined(separator: " "))")
        }
        return " -n '\(tests.joined(separator: "; and "))'"
    }

    /// Where a global option applies: not after a command that has an option of the same name.
    private static func elsewhere(_ option: OptionSpec) -> String? {
        let others = CommandTable.leaves.filter { $0.spec.option(long: option.long) != nil }.map { path, _ in
            "not begin; \(path.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")); end"
        }
        return others.isEmpty ? nil : " -n '\(others.joined(separator: "; and "))'"
    }

    private static func line(condition: String?, _ option: OptionSpec) -> String {
        var text = "complete -c lecturectl\(condition ?? "") -l \(option.long)"
        if let short = option.short { text += " -s \(short)" }
        if let grammar = option.grammar { text += offer(grammar).map { " -r \($0)" } ?? " -x" }
        return "\(text) -d \(quoted(option.help))"
    }

    private static func offer(_ grammar: ValueGrammar) -> String? {
        switch grammar.completion {
        case .nothing: nil
        case .files: "-F"
        case .directories: "-f -a '(__fish_complete_directories (commandline -ct))'"
        case .words(let words): "-f -a \(quoted(words.joined(separator: " ")))"
        case .keys: "-f -a '(__lecturectl_keys)'"
        case .commands: "-f -a \(quoted(CommandTable.root.subcommands.map(\.name).joined(separator: " ")))"
        }
    }

    /// In fish, only the backslash and the quote itself are special within single quotes.
    private static func quoted(_ text: String) -> String {
        let plain = ShellCompletion.replacing("\\", with: "\\\\", in: text)
        return "'\(ShellCompletion.replacing("'", with: "\\'", in: plain))'"
    }
}
