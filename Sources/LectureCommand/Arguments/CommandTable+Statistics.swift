import LectureModel

/// The commands that store, list and send learning reports.
extension CommandTable {
    static let lms = CommandSpec(
        "lms", "manages the learning reports for the LMS",
        discussion: [
            "A report is kept until an LMS has accepted it, unless an operator decides otherwise: it is waiting, was "
                + "refused and is a dead letter, or was superseded by a newer one. No report is lost or counted twice."
        ],
        examples: [ExampleSpec("lecturectl lms list --summary", "show what is waiting, for which target and why")],
        subcommands: statistics + statisticsExport)

    static let statistics = [lmsAdd, lmsList, lmsSend, lmsRetry]

    private static let format = OptionSpec.value(
        "format", nil, "FORMAT", .words(["kollus", "json", "xapi"]),
        help: "The format to send: the channel's own form, a batch of JSON events, or xAPI statements.",
        defaultText: "lms.format of the configuration, else json")

    private static let lmsAdd = CommandSpec(
        "add", "stores reports",
        discussion: [
            "Prints 'ACK ID' on standard output once the report is durably stored, also if it was stored before. "
                + "Nothing is sent: 'lecturectl lms send' does that. Without --target a report goes to the channels of "
                + "its lecture, else to 'lms.url' of the configuration, else it waits for a target. For several "
                + "channels one row each is stored, and each has its own line: ID, ID.2, ….",
            "After 'lms add', --json takes the report's file. Put the global flag of that name before the command: "
                + "'lecturectl --json lms add'.",
            "With --batch it reads one JSON object per line on standard input, {\"id\": …, \"user\": …, "
                + "\"session\": …, \"seq\": n, \"content\": …, \"course\": …, \"note\": …, \"target\": …, "
                + "\"format\": …, \"report\": {…}, \"time_ms\": n}, all optional, and stores up to 1,000 of them at "
                + "once. A bad line is reported with its number and does not stop the others; the exit status is "
                + "then 1.",
        ],
        options: [
            .value(
                "id", nil, "ID", .text, help: "The report's identity; the same id is never counted twice.",
                defaultText: "a new UUID"),
            .value("user", nil, "ID", .text, help: "The learner."),
            .value("session", nil, "TEXT", .text, help: "The session; reports of one session keep their order."),
            .value(
                "seq", nil, "N", .integer(0...Int.max), help: "The number in the session.", defaultText: "the next"),
            .value(
                "json", nil, "FILE", .file, help: "The report, a JSON object; - is standard input.",
                defaultText: "an empty report"),
            .value(
                "play", nil, "FILE", .file,
                help: "Make the report from the intervals played: {\"duration_ms\": n, \"block_count\": n, "
                    + "\"intervals\": [{\"activity\", \"from_ms\", \"to_ms\", \"speed_permille\", \"wall_ms\", "
                    + "\"boot_ns\", \"ended_boot_ns\"}]}; "
                    + "- is standard input."),
            .value("content", nil, "KEY", .key, help: "The lecture that the report is about."),
            .value("course", nil, "NAME", .text, help: "The course.", defaultText: "the lecture's course"),
            .value("note", nil, "TEXT", .text, help: "A text to send with the report."),
            .value("target", nil, "URL", .url, help: "Where the report goes."),
            format,
            .flag("batch", help: "Store the lines of standard input."),
            .flag("acks", help: "Also print 'ACK ID' beside the lines of the global --json."),
        ],
        examples: [
            ExampleSpec(
                "lecturectl lms add --user kim --session 1 --json report.json", "store one report"),
            ExampleSpec("lecturectl lms add --batch < reports.jsonl", "store many"),
        ])

    private static let selection: [OptionSpec] = [
        .value(
            "since", nil, "TIME", .time,
            help: "Only reports from this time on: seconds since 1970, or 2026-03-01T08:00:00Z."),
        .value("until", nil, "TIME", .time, help: "Only reports from before this time."),
    ]

    private static let lmsList = CommandSpec(
        "list", "lists reports, or sums up what is waiting for which target and why",
        discussion: [
            "Prints a table on a terminal; elsewhere the same columns separated by tabs. --summary counts instead: "
                + "how many reports were ever stored and where they are now, then for each target what is waiting, "
                + "until when, and its last answer."
        ],
        options: [
            .repeated("state", nil, "STATE", .words(ReportState.names), help: "Only this state. Repeatable."),
            .value("user", nil, "ID", .text, help: "Only this learner."),
            .value("course", nil, "NAME", .text, help: "Only this course."),
            .value("target", nil, "URL", .text, help: "Only reports for this target."),
        ] + selection + [
            .value("limit", nil, "N", .integer(1...Int.max), help: "At most N reports.", defaultText: "no limit"),
            .value("offset", nil, "N", .integer(0...Int.max), help: "Skip the first N reports.", defaultText: "0"),
            .flag("ids", help: "Print only the ids, one per line.", conflicts: ["summary"]),
            .flag("summary", help: "Print the counts and the targets.", conflicts: ["ids"]),
        ],
        examples: [
            ExampleSpec("lecturectl lms list --state dead", "list what was refused, and why"),
            ExampleSpec("lecturectl lms list --summary --json", "print the counts for monitoring"),
        ])

    private static let lmsSend = CommandSpec(
        "send", "sends every report that is due",
        discussion: [
            "Reports of one session are sent in order, those of different sessions in parallel, in batches if the "
                + "target accepts them. It is safe to kill and to repeat: what may have arrived is sent again under "
                + "the same id with the same bytes.",
            "It finds out by itself how many requests a target takes: it begins with two at once, adds one with every "
                + "answer, and slows down when the target refuses some, asks to wait or does not answer. --rate and "
                + "the configuration are limits that it does not exceed.",
            "The exit status is 0 when nothing is left, 1 when reports became dead letters, 69 when a target could not "
                + "be reached, 75 when reports are waiting, 77 when a target refuses access.",
        ],
        options: [
            .value("target", nil, "URL", .url, help: "Send all open reports there, whatever target they carry."),
            format,
            .value(
                "rate", nil, "N", .integer(1...10_000), help: "Maximum requests per second to one target.",
                defaultText: "the configured rate, else no limit"),
            .value(
                "max-attempts", nil, "N", .integer(1...1000),
                help: "Give up on a target after N failures in a row.", defaultText: "5"),
            .value(
                "longest-wait", nil, "DURATION", .duration, help: "Do not wait for a target longer than this.",
                defaultText: "30s"),
            .flag("acks", help: "Print 'ACK ID' on standard output once a report's delivery is durably recorded."),
        ],
        groups: [EndHook.group],
        examples: [
            ExampleSpec("lecturectl lms send", "send what is due"),
            ExampleSpec(
                "lecturectl lms send --target https://lms.example/r --format json", "send everything elsewhere"),
        ])

    private static let lmsRetry = CommandSpec(
        "retry", "queues dead letters to be sent again",
        discussion: ["Refused reports wait again; 'lecturectl lms send' sends them. An ID or an option is required."],
        arguments: [ArgumentSpec("ID", "Only these reports.", .text, minimum: 0, maximum: nil)],
        options: [
            .flag("all", "a", help: "Every dead letter that the other options match."),
            .value(
                "reason", nil, "REASON", .words(DeadReason.allCases.map(\.name)),
                help: "Only dead letters with this reason."),
        ] + selection,
        examples: [
            ExampleSpec("lecturectl lms retry --reason refused --since 2026-03-01T08:00:00Z", "retry after a fix")
        ])
}
