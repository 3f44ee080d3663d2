/// The one table of all commands and options of `lecturectl`; as a value it is ``ProgramTable/lecturectl``.
package enum CommandTable {
    /// The program's name as typed.
    package static let programName = "lecturectl"

    /// Options of every command; accepted before and after the command word.
    package static let globalOptions: [OptionSpec] = [
        .value(
            "store", nil, "DIR", .directory, help: "The store's directory.", environment: "LECTURE_STORE",
            defaultText: "$STATE_DIRECTORY/store, else $XDG_DATA_HOME/lecturekit, else ~/.local/share/lecturekit"),
        .value(
            "config", nil, "FILE", .file, help: "The configuration file.", environment: "LECTURE_CONFIG",
            defaultText: "$CONFIGURATION_DIRECTORY/config.json, else $XDG_CONFIG_HOME/lecturekit/config.json"),
        .flag("json", help: "Print one JSON object per line on standard output."),
        .flag("quiet", "q", help: "Print errors only.", conflicts: ["verbose"]),
        .flag(
            "verbose", "v", help: "Print more messages on standard error; -vv: also every request, without secrets.",
            conflicts: ["quiet"]),
        .value(
            "log-format", nil, "FORMAT", .words(LogFormat.words),
            help: "How messages on standard error are written; text and json: with their time and level.",
            environment: LogFormat.variable, defaultText: "auto: with priorities for the journal, else sentences"),
        .value(
            "progress", nil, "HOW", .words(["auto", "bar", "plain", "none"]),
            help: "How progress is shown on standard error; auto: bars on a terminal, else a line every few seconds.",
            defaultText: "auto"),
        .value(
            "color", nil, "WHEN", .words(["auto", "always", "never"]),
            help: "When colours are used. NO_COLOR is respected.", defaultText: "auto"),
        .flag("help", "h", help: "Show this help."),
        .flag("version", "V", help: "Show the version."),
    ]

    /// The program itself.
    package static let root = CommandSpec(
        programName, "pre-caches lectures and keeps them usable without a network",
        discussion: [
            "Lectures are downloaded once, verified, and kept in a store that several processes may use at the same "
                + "time. An interrupted download continues where it stopped, whatever interrupted it.",
            "Data goes to standard output, messages and progress to standard error.",
        ],
        examples: [
            ExampleSpec("lecturectl precache course.jsonl", "download a whole course; repeat the command to continue"),
            ExampleSpec("lecturectl list", "show what is in the store"),
        ],
        subcommands: [
            precache, daemon, serve, access, plan, list, show, status, metrics, doctor, why, path, cat, play, export,
        ]
            + [
                bookmark, pause, resume, cancel, reorder, remove, pin, unpin, prune, verify, licence, lms, webhooks,
                bundle, device,
            ]
            + [store, config, completion, help, version])

    static let store = CommandSpec(
        "store", "maintains the database",
        examples: [ExampleSpec("lecturectl store info", "show the schema version and the effective settings")],
        subcommands: [
            CommandSpec(
                "info", "shows the schema version and the effective settings",
                discussion: ["Each setting is printed with its origin: default, file, environment or option."],
                options: settingOptions,
                examples: [ExampleSpec("lecturectl store info --json", "the same as one JSON object")]),
            CommandSpec(
                "check", "checks the database and the files it refers to",
                discussion: ["Nothing is changed. Exit status 65 means that something is damaged."],
                examples: [ExampleSpec("lecturectl store check", "check the store of this user")]),
            CommandSpec(
                "backup", "writes a consistent copy of the database, even while it is in use",
                discussion: ["The copy contains the records of the lectures, not their media files."],
                arguments: [ArgumentSpec("FILE", "Where the copy is written; it must not exist yet.", .file)],
                options: [
                    .repeated(
                        "delete-copy", nil, "FILE", .file,
                        help: "Then delete this older copy, so that 'lms erase' does not look for it. Repeatable.")
                ],
                groups: [EndHook.group],
                examples: [ExampleSpec("lecturectl store backup lectures.sqlite", "copy it to the current directory")]),
            CommandSpec(
                "migrate", "updates the database to this version's schema",
                discussion: ["Every command does this when it opens an older store; this command does nothing else."],
                examples: [ExampleSpec("lecturectl store migrate", "migrate the store of this user")]),
            CommandSpec(
                "rebuild", "makes lectures of the media files of a lost database",
                discussion: [
                    "A database that was lost, or moved away because it was damaged, leaves its media files. Every "
                        + "such file is read. With course lists, one whose SHA-256 is in a list becomes that lecture; "
                        + "without, each file that begins like media becomes a lecture 'kept-N' of unknown source.",
                    "Sealed files need the lost database, which has their keys; so do unfinished downloads, subtitles "
                        + "and pictures. Licences, play counts and learning reports are only in the database, too. So "
                        + "put it, or a copy made with 'store backup', back first if there is one.",
                    "Exit status 1 means that files were left which cannot be used.",
                ],
                arguments: [
                    ArgumentSpec(
                        "LIST", "A course list (.jsonl, .csv) with SHA-256 digests.", .file, minimum: 0, maximum: nil)
                ],
                options: [
                    .flag(
                        "delete-unusable",
                        help: "Delete the files that can never be used without the lost database.")
                ],
                examples: [
                    ExampleSpec("lecturectl store rebuild course.jsonl", "record the files that the list knows"),
                    ExampleSpec("lecturectl store rebuild", "record every file that can be played"),
                ]),
        ])

    static let completion = CommandSpec(
        "completion", "prints completions for a shell",
        arguments: [ArgumentSpec("SHELL", "The shell: bash, zsh or fish.", .words(["bash", "zsh", "fish"]))],
        examples: [
            ExampleSpec("source <(lecturectl completion bash)", "enable in this shell"),
            ExampleSpec("lecturectl completion zsh > ~/.zfunc/_lecturectl", "install for zsh"),
            ExampleSpec(
                "lecturectl completion fish > ~/.config/fish/completions/lecturectl.fish", "install for fish"),
        ])

    static let help = CommandSpec(
        "help", "explains a command",
        arguments: [ArgumentSpec("COMMAND", "The command's words.", .command, minimum: 0, maximum: 2)],
        options: [.flag("man", help: "Print the manual page of the program or the command in mdoc.", isHidden: true)],
        examples: [ExampleSpec("lecturectl help store backup", "explain 'store backup'")])

    static let version = CommandSpec(
        "version", "shows the version",
        examples: [ExampleSpec("lecturectl version --json", "the same as one JSON object")])

    /// Names that other programs use for the same commands. Help and completions do not show them.
    package static let aliases = [
        "get": "precache", "download": "precache", "ls": "list", "rm": "remove", "license": "licence",
        "sync": "precache",
    ]

    /// Former names of subcommands. Help and completions do not show them.
    package static let oldNames = ["licence debts": "pending"]

    /// Every command that can run, with its words, in the table's order.
    package static var leaves: [(path: [String], spec: CommandSpec)] { ProgramTable.lecturectl.leaves }

    /// Finds a command.
    ///
    /// - Parameter path: its words; empty for the program itself.
    /// - Returns: the command, or nil.
    package static func spec(at path: [String]) -> CommandSpec? { ProgramTable.lecturectl.spec(at: path) }

    /// The global options that mean the same after a command: `lms add` has its own --json.
    ///
    /// - Parameter spec: the command.
    /// - Returns: all others.
    static func globalOptions(behind spec: CommandSpec) -> [OptionSpec] {
        ProgramTable.lecturectl.globalOptions(behind: spec)
    }
}
