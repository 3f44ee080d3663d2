import LectureModel

/// The commands that store, list and send learning reports.
extension CommandTable {
    static let lms = CommandSpec(
        "lms", "manages the learning reports for the LMS",
        discussion: [
            "A report is kept until an LMS has it or somebody decides otherwise: it waits, was refused and is a dead "
                + "letter, or was made unnecessary by a newer one. None is lost and none is counted twice."
        ],
        examples: [ExampleSpec("lecturectl lms list --summary", "what waits, for whom, and why")],
        subcommands: statistics + statisticsExport)

    static let statistics = [lmsAdd, lmsList, lmsSend, lmsRetry]

    private static let format = OptionSpec.value(
        "format", nil, "FORMAT", .words(["kollus", "json", "xapi"]),
        help: "What is sent there: the channel's own form, a batch of JSON events, or xAPI statements.",
        defaultText: "lms.format of the configuration, else json")

    private static let lmsAdd = CommandSpec(
        "add", "stores reports",
        discussion: [
            "Prints 'ACK ID' on standard output once the report is durably stored, also when it was stored before. "
                + "Nothing is sent: 'lecturectl lms send' does that. Without --target a report goes to the channels of "
                + "its lecture, else to 'lms.url' of the configuration; where there is neither it waits for a target. "
                + "For several channels one row each is stored, and each has its line: ID, ID.2, ….",
            "Behind 'lms add' --json takes the report's file. The global flag of that name stands before the command: "
                + "'lecturectl --json lms add'.",
            "With --batch it reads one JSON object a line on standard input, {\"id\": …, \"user\": …, \"session\": …, "
                + "\"seq\": n, \"content\": …, \"course\": …, \"note\": …, \"target\": …, \"format\": …, "
                + "\"report\": {…}, \"time_ms\": n}, all optional, and stores up to 1,000 of them at once. A bad line "
                + "is named with its number and does not stop the others; the status is then 1.",
        ],
        options: [
            .value(
                "id", nil, "ID", .text, help: "The report's identity; the same id is never counted twice.",
                defaultText: "a new UUID"),
            .value("user", nil, "ID", .text, help: "The learner."),
            .value("session", nil, "TEXT", .text, help: "The session; reports of one keep their order."),
            .value(
                "seq", nil, "N", .integer(0...Int.max), help: "The number in the session.", defaultText: "the next"),
            .value(
                "json", nil, "FILE", .file, help: "The report, a JSON object; - is standard input.",
                defaultText: "an empty report"),
            .value(
                "play", nil, "FILE", .file,
                help: "Make the report from what was played: {\"duration_ms\": n, \"block_count\": n, "
                    + "\"intervals\": [{\"activity\", \"from_ms\", \"to_ms\", \"speed_permille\", \"wall_ms\", "
                    + "\"boot_ns\", \"ended_boot_ns\"}]}; "
                    + "- is standard input."),
            .value("content", nil, "KEY", .key, help: "The lecture that the report is about."),
            .value("course", nil, "NAME", .text, help: "The course.", defaultText: "the lecture's course"),
            .value("note", nil, "TEXT", .text, help: "A text that goes along with the report."),
            .value("target", nil, "URL", .url, help: "Where the report goes."),
            format,
            .flag("batch", help: "Store the lines of standard input."),
            .flag("acks", help: "Print 'ACK ID' beside the lines of the global --json as well."),
        ],
        examples: [
            ExampleSpec(
                "lecturectl lms add --user kim --session 1 --json report.json", "store one report"),
            ExampleSpec("lecturectl lms add --batch < reports.jsonl", "store many"),
        ])

    private static let selection: [OptionSpec] = [
        .value(
            "since", nil, "TIME", .time,
            help: "Nothing that happened before: seconds since 1970, or 2026-03-01T08:00:00Z."),
        .value("until", nil, "TIME", .time, help: "Nothing that happened then or later."),
    ]

    private static let lmsList = CommandSpec(
        "list", "lists reports, or says what waits for whom and why",
        discussion: [
            "On a terminal a table; elsewhere the same columns separated by tabs. --summary counts instead: how many "
                + "were ever stored and where each of them is now, then each target with what waits for it, until "
                + "when, and what it answered last."
        ],
        options: [
            .repeated("state", nil, "STATE", .words(ReportState.names), help: "Only this state. Repeatable."),
            .value("user", nil, "ID", .text, help: "Only this learner."),
            .value("course", nil, "NAME", .text, help: "Only this course."),
            .value("target", nil, "URL", .text, help: "Only what goes there."),
        ] + selection + [
            .value("limit", nil, "N", .integer(1...Int.max), help: "At most so many.", defaultText: "no limit"),
            .value("offset", nil, "N", .integer(0...Int.max), help: "Leave out the first ones.", defaultText: "0"),
            .flag("ids", help: "Print the ids alone, one a line.", conflicts: ["summary"]),
            .flag("summary", help: "Print the account and the targets.", conflicts: ["ids"]),
        ],
        examples: [
            ExampleSpec("lecturectl lms list --state dead", "what was refused, and why"),
            ExampleSpec("lecturectl lms list --summary --json", "the account, for a monitor"),
        ])

    private static let lmsSend = CommandSpec(
        "send", "sends every report that is due",
        discussion: [
            "Reports of one session go out in their order, those of different sessions side by side, in batches where "
                + "the target takes batches. It is safe to kill and to repeat: what may have arrived goes out again "
                + "under the same id with the same bytes.",
            "Ends with status 0 when nothing is left, 1 when reports became dead letters, 69 when a target could not "
                + "be reached, 75 when reports wait, 77 when a target refuses.",
        ],
        options: [
            .value("target", nil, "URL", .url, help: "Send everything that is open there, whatever the reports carry."),
            format,
            .value("rate", nil, "N", .integer(1...10_000), help: "Requests a second to one target at the most."),
            .value(
                "max-attempts", nil, "N", .integer(1...1000),
                help: "Give a target up after it failed so many times in a row.", defaultText: "5"),
            .value(
                "longest-wait", nil, "DURATION", .duration, help: "Do not wait for a target longer than this.",
                defaultText: "30s"),
            .flag("acks", help: "Print 'ACK ID' on standard output once a report is durably known to be delivered."),
        ],
        examples: [
            ExampleSpec("lecturectl lms send", "send what waits"),
            ExampleSpec(
                "lecturectl lms send --target https://lms.example/r --format json", "send it all elsewhere"),
        ])

    private static let lmsRetry = CommandSpec(
        "retry", "has dead letters sent again",
        discussion: ["What was refused waits again; 'lecturectl lms send' sends it. One rule at least is needed."],
        arguments: [ArgumentSpec("ID", "Only these reports.", .text, minimum: 0, maximum: nil)],
        options: [
            .flag("all", "a", help: "Every dead letter that the other options leave."),
            .value(
                "reason", nil, "REASON", .words(DeadReason.allCases.map(\.name)),
                help: "Only what is dead for this reason."),
        ] + selection,
        examples: [
            ExampleSpec("lecturectl lms retry --reason refused --since 2026-03-01T08:00:00Z", "after a correction")
        ])
}
