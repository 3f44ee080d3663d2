// The types of the tables, one for each program, that define the parser, `--help`, the manual page and the completions.

/// One command or subcommand.
package struct CommandSpec: Sendable {
    /// Its name on the command line.
    package let name: String
    /// What it does, one line without a full stop.
    package let summary: String
    /// Paragraphs with details; each is wrapped where it is printed.
    package let discussion: [String]
    /// The positional arguments.
    package let arguments: [ArgumentSpec]
    /// The command's own options, including those of ``groups``.
    package let options: [OptionSpec]
    /// Options that help shows under their own headings.
    package let groups: [OptionGroup]
    /// The long name of the flag that replaces arguments (`--all`). Either it or arguments are required, never both.
    package let flagInsteadOfArguments: String?
    /// Long names of further options that replace arguments: filters such as `--state`.
    package let filtersInsteadOfArguments: [String]
    /// Examples; at least one for a command that can run.
    package let examples: [ExampleSpec]
    /// Its subcommands. A command with subcommands does nothing by itself.
    package let subcommands: [CommandSpec]
    /// The name of the subcommand that is meant when none is given; nil where one has to be given.
    package let standard: String?

    /// Describes a command.
    ///
    /// - Parameters:
    ///   - name: its name on the command line.
    ///   - summary: what it does, one line without a full stop.
    ///   - discussion: paragraphs with details.
    ///   - arguments: the positional arguments.
    ///   - options: its own options that are in no group.
    ///   - groups: options under their own headings.
    ///   - flagInsteadOfArguments: the long name of the flag that replaces arguments.
    ///   - filtersInsteadOfArguments: long names of further options that replace arguments.
    ///   - examples: at least one for a command that can run.
    ///   - standard: the name of the subcommand that is meant when none is given.
    ///   - subcommands: its subcommands.
    package init(
        _ name: String, _ summary: String, discussion: [String] = [], arguments: [ArgumentSpec] = [],
        options: [OptionSpec] = [], groups: [OptionGroup] = [], flagInsteadOfArguments: String? = nil,
        filtersInsteadOfArguments: [String] = [], examples: [ExampleSpec] = [], standard: String? = nil,
        subcommands: [CommandSpec] = []
    ) {
        self.standard = standard
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.arguments = arguments
        self.options = options + groups.flatMap(\.options)
        self.groups = groups
        self.flagInsteadOfArguments = flagInsteadOfArguments
        self.filtersInsteadOfArguments = filtersInsteadOfArguments
        self.examples = examples
        self.subcommands = subcommands
    }

    /// The option with this long name among the command's own.
    ///
    /// - Parameter long: the name without dashes.
    /// - Returns: the option, or nil.
    package func option(long: String) -> OptionSpec? { options.first { $0.long == long } }

    /// The options that help and completions show.
    package var visibleOptions: [OptionSpec] { options.filter { !$0.isHidden } }

    /// The visible options that are in no group.
    package var ungroupedOptions: [OptionSpec] {
        let grouped = Set(groups.flatMap(\.options).map(\.long))
        return visibleOptions.filter { !grouped.contains($0.long) }
    }
}

/// Options that help shows under one heading.
package struct OptionGroup: Sendable {
    /// The heading, without a colon.
    package let title: String
    /// The options.
    package let options: [OptionSpec]

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - title: the heading, without a colon.
    ///   - options: the options.
    package init(_ title: String, _ options: [OptionSpec]) {
        self.title = title
        self.options = options
    }
}

/// One positional argument, or a repeated one.
package struct ArgumentSpec: Sendable {
    /// The name in usage lines, in capitals.
    package let name: String
    /// What it is.
    package let help: String
    /// The values it accepts.
    package let grammar: ValueGrammar
    /// The minimum number.
    package let minimum: Int
    /// The maximum number; nil when there is no limit.
    package let maximum: Int?

    /// Describes an argument.
    ///
    /// - Parameters:
    ///   - name: the name in usage lines, in capitals.
    ///   - help: what it is.
    ///   - grammar: the values it accepts.
    ///   - minimum: the minimum number.
    ///   - maximum: the maximum number; nil when there is no limit.
    package init(_ name: String, _ help: String, _ grammar: ValueGrammar, minimum: Int = 1, maximum: Int? = 1) {
        self.name = name
        self.help = help
        self.grammar = grammar
        self.minimum = minimum
        self.maximum = maximum
    }

    /// The argument in a usage line: `KEY`, `[KEY]`, `KEY…`.
    package var usage: String {
        let row = maximum == 1 ? name : "\(name)…"
        return minimum == 0 ? "[\(row)]" : row
    }
}

/// One option.
package struct OptionSpec: Sendable {
    /// Whether an option takes a value, and how often.
    package enum Kind: Sendable {
        /// No value; `--no-NAME` unsets it.
        case flag
        /// One value; the last one given is used.
        case value(ValueGrammar)
        /// A value or none; what follows is its value if it can be one.
        case optional(ValueGrammar)
        /// A value each time it is given; all are used.
        case repeated(ValueGrammar)
    }

    /// The long name without dashes.
    package let long: String
    /// The one-letter name, or nil.
    package let short: Character?
    /// The value's name in help, in capitals; empty for a flag.
    package let valueName: String
    /// What it does, full sentences.
    package let help: String
    /// Whether it takes a value.
    package let kind: Kind
    /// The environment variable that is used when the option is not given.
    package let environment: String?
    /// The default, in words; empty when it is obvious.
    package let defaultText: String
    /// Long names of options that cannot be combined with this one.
    package let conflicts: [String]
    /// Whether help, the manual page and completions omit it.
    package let isHidden: Bool

    private init(
        long: String, short: Character?, valueName: String, help: String, kind: Kind, environment: String?,
        defaultText: String, conflicts: [String], isHidden: Bool
    ) {
        self.long = long
        self.short = short
        self.valueName = valueName
        self.help = help
        self.kind = kind
        self.environment = environment
        self.defaultText = defaultText
        self.conflicts = conflicts
        self.isHidden = isHidden
    }

    /// An option without a value.
    ///
    /// - Parameters:
    ///   - long: the long name without dashes.
    ///   - short: the one-letter name, or nil.
    ///   - help: what it does, full sentences.
    ///   - conflicts: long names of options that cannot be combined with it.
    ///   - isHidden: whether help and completions omit it.
    /// - Returns: the option.
    package static func flag(
        _ long: String, _ short: Character? = nil, help: String, conflicts: [String] = [], isHidden: Bool = false
    ) -> Self {
        Self(
            long: long, short: short, valueName: "", help: help, kind: .flag, environment: nil, defaultText: "",
            conflicts: conflicts, isHidden: isHidden)
    }

    /// An option with one value.
    ///
    /// - Parameters:
    ///   - long: the long name without dashes.
    ///   - short: the one-letter name, or nil.
    ///   - valueName: the value's name in help, in capitals.
    ///   - grammar: the values it accepts.
    ///   - help: what it does, full sentences.
    ///   - environment: the variable that is used when the option is not given.
    ///   - defaultText: the default, in words.
    ///   - conflicts: long names of options that cannot be combined with it.
    /// - Returns: the option.
    package static func value(
        _ long: String, _ short: Character? = nil, _ valueName: String, _ grammar: ValueGrammar, help: String,
        environment: String? = nil, defaultText: String = "", conflicts: [String] = []
    ) -> Self {
        Self(
            long: long, short: short, valueName: valueName, help: help, kind: .value(grammar),
            environment: environment, defaultText: defaultText, conflicts: conflicts, isHidden: false)
    }

    static func optional(_ long: String, _ valueName: String, _ grammar: ValueGrammar, help: String) -> Self {
        Self(
            long: long, short: nil, valueName: "[\(valueName)]", help: help, kind: .optional(grammar),
            environment: nil, defaultText: "", conflicts: [], isHidden: false)
    }

    static func repeated(
        _ long: String, _ short: Character? = nil, _ valueName: String, _ grammar: ValueGrammar, help: String
    ) -> Self {
        Self(
            long: long, short: short, valueName: valueName, help: help, kind: .repeated(grammar), environment: nil,
            defaultText: "", conflicts: [], isHidden: false)
    }

    /// The values it accepts; nil for a flag.
    package var grammar: ValueGrammar? {
        switch kind {
        case .flag: nil
        case .value(let grammar), .optional(let grammar), .repeated(let grammar): grammar
        }
    }

    /// The help text with the possible words, the default and the environment variable.
    package var fullHelp: String {
        var notes: [String] = []
        if case .words(let words)? = grammar { notes.append("one of: \(words.joined(separator: ", "))") }
        if !defaultText.isEmpty { notes.append("default: \(defaultText)") }
        if let environment { notes.append("environment: \(environment)") }
        return notes.isEmpty ? help : "\(help) (\(notes.joined(separator: "; ")))"
    }
}

/// An example of a command's use.
package struct ExampleSpec: Sendable {
    /// The command line.
    package let line: String
    /// What it does, one line without a full stop.
    package let meaning: String

    /// Makes an example.
    ///
    /// - Parameters:
    ///   - line: the command line.
    ///   - meaning: what it does, one line without a full stop.
    package init(_ line: String, _ meaning: String) {
        self.line = line
        self.meaning = meaning
    }
}
