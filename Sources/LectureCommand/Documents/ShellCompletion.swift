/// Shell completions, generated from the table.
package enum ShellCompletion {
    /// The script for a shell.
    ///
    /// - Parameter shell: `bash`, `zsh` or `fish`.
    /// - Returns: the script, ending in a newline, or nil for another shell.
    package static func script(for shell: String) -> String? {
        switch shell {
        case "bash": BashCompletion.script()
        case "zsh": ZshCompletion.script()
        case "fish": FishCompletion.script()
        default: nil
        }
    }

    /// Commands and subcommands with their words; the program itself first, with none.
    static let nodes: [(path: [String], spec: CommandSpec)] =
        [(path: [], spec: CommandTable.root)]
        + CommandTable.root.subcommands.flatMap { command in
            [(path: [command.name], spec: command)]
                + command.subcommands.map { (path: [command.name, $0.name], spec: $0) }
        }

    /// How the shells extract a store's keys, one lecture per line, from the JSON that `list` prints.
    static let keyFilter = #"sed -n 's/.*"key":"\([^"\\]*\)".*/\1/p'"#

    /// A text in single quotes for bash and zsh.
    static func quoted(_ text: String) -> String { "'\(replacing("'", with: #"'\''"#, in: text))'" }

    /// Replaces every occurrence of a character.
    static func replacing(_ character: Character, with text: String, in source: String) -> String {
        source.split(separator: character, omittingEmptySubsequences: false).joined(separator: text)
    }
}
