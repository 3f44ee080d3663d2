/// The commands and options of one program: what its parser accepts, and what its help shows.
///
/// A value, so that several programs share the parser, the help and the runner, each with its own table:
/// `lecturectl` has ``lecturectl``.
package struct ProgramTable: Sendable, Equatable {
    /// The program's name as typed.
    package let programName: String
    /// The program itself, with its commands.
    package let root: CommandSpec
    /// Options of every command; accepted before and after the command word.
    package let globalOptions: [OptionSpec]
    /// Names that other programs use for the same commands. Help and completions do not show them.
    package let aliases: [String: String]
    /// Former names of subcommands, by the words of the command. Help and completions do not show them.
    package let oldNames: [String: String]
    /// Every command that can run, with its words, in the table's order.
    package let leaves: [(path: [String], spec: CommandSpec)]

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - root: the program itself; its name is the program's.
    ///   - globalOptions: the options of every command; `help` and `version` are among them.
    ///   - aliases: other names of commands.
    ///   - oldNames: former names of subcommands, such as `licence debts`.
    package init(
        root: CommandSpec, globalOptions: [OptionSpec], aliases: [String: String] = [:],
        oldNames: [String: String] = [:]
    ) {
        (programName, self.root, self.globalOptions) = (root.name, root, globalOptions)
        (self.aliases, self.oldNames) = (aliases, oldNames)
        leaves = root.subcommands.flatMap { command in
            command.subcommands.isEmpty
                ? [(path: [command.name], spec: command)]
                : command.subcommands.map { (path: [command.name, $0.name], spec: $0) }
        }
    }

    /// The table of `lecturectl`.
    package static let lecturectl = ProgramTable(
        root: CommandTable.root, globalOptions: CommandTable.globalOptions, aliases: CommandTable.aliases,
        oldNames: CommandTable.oldNames)

    /// Whether both are of the same program: there is one table for each.
    package static func == (one: Self, other: Self) -> Bool { one.programName == other.programName }

    /// Finds a subcommand; also by one of ``aliases`` and ``oldNames``.
    ///
    /// - Parameters:
    ///   - word: the word as typed.
    ///   - spec: the program itself, or a command with subcommands.
    /// - Returns: the command, or nil.
    package func subcommand(_ word: String, of spec: CommandSpec) -> CommandSpec? {
        if let found = spec.subcommands.first(where: { $0.name == word }) { return found }
        let known = spec.name == programName ? aliases[word] : oldNames["\(spec.name) \(word)"]
        return known.flatMap { known in spec.subcommands.first { $0.name == known } }
    }

    /// Finds a command.
    ///
    /// - Parameter path: its words; empty for the program itself.
    /// - Returns: the command, or nil.
    package func spec(at path: [String]) -> CommandSpec? {
        var spec = root
        for word in path {
            guard let next = subcommand(word, of: spec) else { return nil }
            spec = next
        }
        return spec
    }

    /// The global options that mean the same after a command: `lms add` has its own --json.
    ///
    /// - Parameter spec: the command.
    /// - Returns: all others.
    func globalOptions(behind spec: CommandSpec) -> [OptionSpec] {
        globalOptions.filter { spec.option(long: $0.long) == nil }
    }

    /// A global option by its long name.
    ///
    /// - Parameter long: the name without dashes.
    /// - Returns: the option, or nil.
    func globalOption(long: String) -> OptionSpec? { globalOptions.first { $0.long == long } }
}
