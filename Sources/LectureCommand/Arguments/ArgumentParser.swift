import LectureFormats
import LectureModel

/// Parses a command line according to the ``ProgramTable`` of its program.
///
/// Forms: `--name value`, `--name=value`, `-n value`, `-nvalue`, combined flags as `-qn`, `--no-name` to unset a flag,
/// `--` before arguments that begin with a dash. Global options may come before or after the command word.
package struct ArgumentParser {
    private let table: ProgramTable
    private var command: ParsedCommand
    private var spec: CommandSpec
    private var pending: ArraySlice<String>
    private var onlyArguments = false

    private init(_ words: [String], _ table: ProgramTable) {
        (self.table, spec, command) = (table, table.root, ParsedCommand(of: table))
        pending = words[...]
    }

    /// Parses a command line.
    ///
    /// - Parameters:
    ///   - words: the command line without the program's name.
    ///   - environment: the variables used for options that are not given.
    ///   - program: the program's table.
    /// - Returns: the command; its arguments and values satisfy the table.
    /// - Throws: ``UsageError`` when a word is not in the table or a value cannot be used.
    package static func parse(
        _ words: [String], environment: [String: String] = [:], of program: ProgramTable = .lecturectl
    ) throws(UsageError) -> ParsedCommand {
        var parser = Self(words, program)
        while let word = parser.pending.popFirst() { try parser.take(word) }
        if !parser.command.flag("help"), !parser.command.flag("version") { _ = parser.takeStandard() }
        try parser.takeEnvironment(environment)
        try parser.checkWhole()
        return parser.command
    }

    private mutating func take(_ word: String) throws(UsageError) {
        if onlyArguments || word == "-" || !word.hasPrefix("-") {
            try takeWord(word)
        } else if word == "--" {
            onlyArguments = true
        } else if word.hasPrefix("--") {
            try takeLong(word.dropFirst(2))
        } else {
            try takeShort(word.dropFirst())
        }
    }

    /// Goes on with the subcommand that is meant when none is given.
    private mutating func takeStandard() -> Bool {
        guard let name = spec.standard, let next = table.subcommand(name, of: spec) else { return false }
        spec = next
        command.path.append(next.name)
        return true
    }

    private mutating func takeWord(_ word: String) throws(UsageError) {
        guard !spec.subcommands.isEmpty else {
            command.arguments.append(word)
            return
        }
        if let next = table.subcommand(word, of: spec) {
            spec = next
            command.path.append(next.name)
            return
        }
        let names = spec.subcommands.map(\.name)
        let hint = Suggestion.nearest(to: word, among: names).map { " Did you mean '\($0)'?" } ?? ""
        throw failure("Unknown command \(UsageError.quoted(word)).\(hint)")
    }

    // MARK: Options

    private mutating func takeLong(_ word: Substring) throws(UsageError) {
        let name = String(word.prefix { $0 != "=" })
        let value = name.count == word.count ? nil : String(word.dropFirst(name.count + 1))
        if let option = option(long: name) {
            try take(option, shown: "--\(name)", value: value)
        } else if name.hasPrefix("no-"), let option = option(long: String(name.dropFirst(3))), case .flag = option.kind
        {
            guard value == nil else { throw failure("Option '--\(name)' takes no value.") }
            command.unset(option.long)
        } else {
            if takeStandard() { return try takeLong(word) }
            throw unknownOption("--\(name)", long: name)
        }
    }

    private mutating func takeShort(_ letters: Substring) throws(UsageError) {
        var rest = letters
        while let letter = rest.popFirst() {
            let options = table.globalOptions + spec.options
            guard let option = options.first(where: { $0.short == letter }) else {
                if takeStandard() { return try takeShort(Substring([letter] + rest)) }
                throw unknownOption("-\(letter)", long: nil)
            }
            if case .flag = option.kind {
                command.set(option.long)
                continue
            }
            // The rest of the word is the value: -j4.
            let value = rest.isEmpty ? nil : String(rest)
            return try take(option, shown: "-\(letter)", value: value)
        }
    }

    private mutating func take(_ option: OptionSpec, shown: String, value: String?) throws(UsageError) {
        switch option.kind {
        case .flag:
            guard value == nil else { throw failure("Option '\(shown)' takes no value.") }
            command.set(option.long)
        case .value(let grammar):
            command.values[option.long] = [try checked(value, for: option, shown: shown, grammar: grammar)]
        case .optional(let grammar):
            command.set(option.long)
            let next = pending.first.flatMap { grammar.problem(in: $0) == nil ? $0 : nil }
            guard value != nil || next != nil else { return }
            command.values[option.long] = [try checked(value, for: option, shown: shown, grammar: grammar)]
        case .repeated(let grammar):
            let text = try checked(value, for: option, shown: shown, grammar: grammar)
            command.values[option.long, default: []].append(text)
        }
    }

    private mutating func checked(
        _ attached: String?, for option: OptionSpec, shown: String, grammar: ValueGrammar
    ) throws(UsageError) -> String {
        let text: String
        if let attached {
            text = attached
        } else if let next = pending.first, Self.mayBeValue(next) {
            pending = pending.dropFirst()
            text = next
        } else {
            let hint = pending.isEmpty ? "" : " Write a value that begins with a dash as \(shown)=VALUE."
            throw failure("Option '\(shown)' needs a value: \(option.valueName).\(option.short == nil ? hint : "")")
        }
        if let problem = grammar.problem(in: text) {
            throw failure("Option '\(shown)': \(UsageError.quoted(text)) \(problem).")
        }
        return text
    }

    /// The word after an option that needs a value is its value unless it looks like an option itself; a negative
    /// number and a lone dash do not.
    private static func mayBeValue(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word != "-" else { return true }
        return word.dropFirst().first.map { $0.isASCII && $0.isNumber } ?? false
    }

    private func option(long: String) -> OptionSpec? {
        spec.option(long: long) ?? table.globalOption(long: long)
    }

    private func unknownOption(_ shown: String, long: String?) -> UsageError {
        let visible = (spec.visibleOptions + table.globalOptions).map(\.long)
        if let long, let nearest = Suggestion.nearest(to: long, among: visible) {
            return failure("Unknown option \(UsageError.quoted(shown)). Did you mean '--\(nearest)'?")
        }
        let owner = table.leaves.first { leaf in
            leaf.spec.visibleOptions.contains { $0.long == long || $0.short.map { "-\($0)" } == shown }
        }
        guard let owner else { return failure("Unknown option \(UsageError.quoted(shown)).") }
        let words = owner.path.joined(separator: " ")
        return command.path.isEmpty
            ? failure("Option '\(shown)' belongs to '\(words)'; write it after the command word.")
            : failure("Option '\(shown)' belongs to '\(words)', not to '\(command.path.joined(separator: " "))'.")
    }

    // MARK: The whole

    private mutating func takeEnvironment(_ environment: [String: String]) throws(UsageError) {
        for option in table.globalOptions + spec.options {
            guard command.values[option.long] == nil, let name = option.environment, let grammar = option.grammar,
                let text = environment[name], !text.isEmpty
            else { continue }
            if let problem = grammar.problem(in: text) {
                throw failure("Environment variable \(name): \(UsageError.quoted(text)) \(problem).")
            }
            command.fromEnvironment[option.long] = text
        }
    }

    private func checkWhole() throws(UsageError) {
        if command.flag("help") || command.flag("version") { return }
        try checkConflicts()
        guard spec.subcommands.isEmpty else {
            throw failure(command.path.isEmpty ? "A command is required." : "'\(spec.name)' needs a subcommand.")
        }
        try checkArguments()
    }

    private func checkConflicts() throws(UsageError) {
        for option in table.globalOptions + spec.options where isGiven(option.long) {
            guard let other = option.conflicts.first(where: isGiven) else { continue }
            throw failure("Options '--\(option.long)' and '--\(other)' cannot be used together.")
        }
    }

    private func isGiven(_ long: String) -> Bool { command.flag(long) || command.values[long] != nil }

    private func checkArguments() throws(UsageError) {
        let count = command.arguments.count
        if let flag = spec.flagInsteadOfArguments, command.flag(flag) {
            guard count == 0 else { throw failure("Give arguments or '--\(flag)', not both.") }
            return
        }
        if let filter = spec.filtersInsteadOfArguments.first(where: isGiven) {
            guard count == 0 else { throw failure("Give arguments or '--\(filter)', not both.") }
            return
        }
        let minimum = spec.arguments.reduce(0) { $0 + $1.minimum }
        let isOpen = spec.arguments.contains { $0.maximum == nil }
        let maximum = isOpen ? nil : spec.arguments.reduce(0) { $0 + ($1.maximum ?? 0) }
        if count < minimum {
            let names = spec.arguments.map(\.usage).joined(separator: " ")
            let filters = spec.filtersInsteadOfArguments.isEmpty ? "" : " or a filter such as '--state'"
            let other = spec.flagInsteadOfArguments.map { " or '--\($0)'" } ?? ""
            throw failure("\(names)\(other)\(filters) is missing.")
        }
        if let maximum, count > maximum {
            throw failure("Unexpected argument \(UsageError.quoted(command.arguments[maximum])).")
        }
        for (position, text) in command.arguments.enumerated() {
            // Only the last argument of a command may be repeated.
            let argument = spec.arguments[min(position, spec.arguments.count - 1)]
            guard let problem = argument.grammar.problem(in: text) else { continue }
            throw failure("\(argument.name) \(UsageError.quoted(text)) \(problem).")
        }
    }

    private func failure(_ sentence: String) -> UsageError { UsageError(sentence, path: command.path) }
}
