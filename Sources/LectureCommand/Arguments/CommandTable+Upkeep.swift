import LectureModel

extension CommandTable {
    static let pin = CommandSpec(
        "pin", "keeps lectures whatever the rules say",
        discussion: [
            "'lecturectl prune' never removes a pinned lecture. 'lecturectl remove KEY' does, and its server can. "
                + "'list --json' and 'show' say which lectures are pinned."
        ],
        arguments: [keys], examples: [ExampleSpec("lecturectl pin algebra-01", "keep one lecture")])

    static let unpin = CommandSpec(
        "unpin", "takes the pins of lectures away", arguments: [keys],
        options: [everything("Take all pins away.")], flagInsteadOfArguments: "all",
        examples: [ExampleSpec("lecturectl unpin algebra-01", "leave one lecture to the rules again")])

    static let plan = CommandSpec(
        "plan", "says whether lectures will be there in time",
        discussion: [
            "Computes from the measured speed of each server, the timetable, quota and disk when the lectures will be "
                + "complete if 'lecturectl precache' runs from now on, and names what is in the way: a timetable that "
                + "leaves too little, space, paused and failed lectures, licences that do not permit a play then.",
            "Exit status 0 means that all will be there in time; 75 that they will not, or that no speed is known "
                + "yet. docs/readiness.md has the rules and how exact they are.",
        ],
        arguments: [
            ArgumentSpec(
                "KEY", "The keys of the lectures; without any, and without the options, all unfinished ones.", .key,
                minimum: 0, maximum: nil)
        ],
        options: [
            .value("course", nil, "NAME", .text, help: "The lectures of this course.", conflicts: ["items"]),
            .value(
                "items", nil, "FILE", .file, help: "The lectures of this course list, as 'precache' reads it.",
                conflicts: ["course"]),
            .value(
                "check", nil, "HOW", .words(SourceCheck.allCases.map(\.rawValue)),
                help: "With --items: 'head' asks the servers for sizes that the list does not have.",
                defaultText: "list"),
            readyBy("By when; without it, only the end is computed."),
            .value(
                "speed", nil, "RATE", .rate, help: "Bytes a second of every server, in place of what was measured."),
            .value(
                "limit-rate", nil, "RATE", .rate,
                help: "Maximum bytes per second, across all lectures; for example 2M."),
            .value(
                "timetable", nil, "TEXT", .text, help: "Rates by time of day, such as '02:00-06:00=full, else=2M'."),
            .value(
                "jobs", "j", "N", .integer(1...256), help: "Lectures downloaded at once.", environment: "LECTURE_JOBS",
                defaultText: "4"),
        ],
        groups: [OptionGroup("Disk", storageOptions)],
        examples: [
            ExampleSpec("lecturectl plan --course Algebra --ready-by 'Mon 08:00'", "will the course be there?"),
            ExampleSpec("lecturectl plan --items course.jsonl --speed 2M", "when would a list be done?"),
        ])

    /// The option of a time by which lectures have to be there.
    static func readyBy(_ help: String) -> OptionSpec {
        .value(
            "ready-by", nil, "TIME", .text,
            help: "\(help) Local time: 'Mon 08:00', 'tomorrow 08:00', '08:00', '2026-11-30 08:00', or with a zone.")
    }

    static let prune = CommandSpec(
        "prune", "removes what the rules do not keep",
        discussion: [
            "Rules are in the configuration ('retention.rules') or in --rule: 'keep 30d after play', 'keep 90d after "
                + "download', 'drop what has expired', each also 'for course NAME', and 'never below 20 GiB'. "
                + "docs/retention.md has the order in which lectures go.",
            "Pinned lectures, those that are played, and those that a process works on stay. Learning reports and "
                + "licences are kept; where a player resumes is removed with its lecture.",
            "The rules of the configuration are shown first: until --yes has accepted them, and again after each "
                + "change, nothing is removed and the exit status is 78.",
        ],
        options: [
            .flag("dry-run", "n", help: "Print what would be removed and why, and remove nothing."),
            .flag("yes", "y", help: "Accept the rules of the configuration, also for later runs."),
            .repeated("rule", nil, "RULE", .text, help: "A rule, in place of the configuration's. Repeatable."),
            .value(
                "max-delete", nil, "LIMIT", .countOrPercent,
                help: "Remove nothing if more than this number, or share (10%), of the complete lectures would go.",
                defaultText: Pruning.defaultLimit.text),
        ],
        examples: [
            ExampleSpec("lecturectl prune --dry-run", "show what the rules would remove"),
            ExampleSpec("lecturectl prune --yes", "remove it, and let later runs do so unattended"),
            ExampleSpec("lecturectl prune --rule 'never below 20 GiB'", "make space once"),
        ])
}
