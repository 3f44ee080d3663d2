import LectureModel

extension CommandTable {
    /// Options that stand for settings of the configuration file: the settings' command-line twins.
    static let settingOptions: [OptionSpec] = networkOptions + storageOptions

    static let networkOptions: [OptionSpec] =
        [
            .value(
                "ca-file", nil, "FILE", .file,
                help: "Further root certificates (PEM). Verification is never switched off.",
                environment: "LECTURE_CA_FILE"),
            .value(
                "proxy", nil, "URL", .text, help: "The proxy for all requests.", environment: "LECTURE_PROXY",
                defaultText: "http_proxy and its kin"),
            .value(
                "timeout", nil, "DURATION", .duration, help: "Give an attempt up after this time without a byte.",
                environment: "LECTURE_TIMEOUT", defaultText: "30s"),
            .value(
                "retries", nil, "N", .integer(0...1000), help: "Attempts after the first that may gain nothing.",
                environment: "LECTURE_RETRIES", defaultText: "3", conflicts: ["max-attempts"]),
            .value(
                "per-host", nil, "N", .integer(1...256), help: "Connections to one server, over all items.",
                environment: "LECTURE_PER_HOST", defaultText: "16"),
            .value(
                "jobs", "j", "N", .integer(1...256), help: "Items fetched at once.", environment: "LECTURE_JOBS",
                defaultText: "4"),
        ] + credentialOptions

    static let storageOptions: [OptionSpec] = [
        .value(
            "quota", nil, "BYTES", .byteCount, help: "The most the store's files may take.",
            environment: "LECTURE_QUOTA", defaultText: "no limit"),
        .value(
            "reserve", nil, "BYTES", .byteCount, help: "Room that is left free on the disk.",
            environment: "LECTURE_RESERVE", defaultText: "150M"),
    ]

    static let precache = CommandSpec(
        "precache", "fetches lectures into the store",
        discussion: [
            "Runs until every item is complete or has a final reason. It is safe to repeat: what is complete is not "
                + "fetched again, what was begun goes on. Without a SOURCE it goes on with what waits in the store.",
            "A course list holds one lecture a line: .jsonl (objects with \"url\" and optionally key, title, course, "
                + "teacher, sha256, size, folder, priority, headers, mirrors), .csv (the same names in a header row) "
                + "or .txt (a URL a line, # for comments). A bad line is reported with its number and does not stop "
                + "the others.",
        ],
        arguments: [
            ArgumentSpec(
                "SOURCE", "A URL (media file, gateway link, kollus: link) or a course list; - is standard input.",
                .source, minimum: 0, maximum: nil)
        ],
        options: itemOptions + runOptions + networkOptions + storageOptions,
        examples: [
            ExampleSpec("lecturectl precache course.jsonl --jobs 8", "fetch a course, eight lectures at once"),
            ExampleSpec(
                "lecturectl precache https://example.org/a.mp4 --output a.mp4", "fetch one file and put it here as well"
            ),
            ExampleSpec(
                "lecturectl precache course.csv --timetable '02:00-06:00=full, else=2M'", "spare the line by day"),
        ])

    private static let itemOptions: [OptionSpec] = [
        .value("key", nil, "KEY", .text, help: "The key the content gets; for one URL."),
        .value("title", nil, "TEXT", .text, help: "The content's title; for one URL."),
        .value(
            "sha256", nil, "HEX", .sha256, help: "The digest the file must have; for one URL."),
        .repeated("mirror", nil, "URL", .url, help: "A further place of the same file; for one URL. Repeatable."),
        .repeated(
            "header", "H", "'NAME: VALUE'", .header,
            help: "A request header for all sources. Other users can see it in the list of processes; @FILE reads "
                + "headers from a file, one a line. Repeatable."),
        .value("folder", nil, "NAME", .text, help: "The folder the contents are listed under."),
        .value(
            "priority", "p", "N", .integer(-100...100), help: "Higher goes first; -100 to 100.", defaultText: "0"),
        .value(
            "output", "o", "FILE", .file, help: "Put the finished file there as well; for one URL.",
            conflicts: ["output-dir"]),
        .value(
            "output-dir", "d", "DIR", .directory, help: "Put every finished file into this directory as well.",
            conflicts: ["output"]),
        .value(
            "check", nil, "HOW", .words(SourceCheck.allCases.map(\.rawValue)),
            help:
                "How lectures that are complete are compared with what is requested: 'list' compares digest, size and "
                + "URL; 'head' also asks the server whether the file has changed; 'never' skips them.",
            defaultText: "list"),
        .flag(
            "accept-any",
            help: "Accept files that do not begin like any known media format. Text, pages and empty files as well."),
        .flag(
            "trust-length",
            help: "Resume a download although the server names no version of the file. If the file has changed, the "
                + "result may be half old, half new."),
        .flag("seal", help: "Seal every file, whether it needs a licence or not.", conflicts: ["no-seal"]),
        .flag(
            "no-seal", help: "Keep the files unsealed, so that they can be read in place. Licensed media is refused.",
            conflicts: ["seal"]),
    ]

    private static let runOptions: [OptionSpec] = [
        .value(
            "connections", "c", "N", .integerOrAuto(1...64), help: "Parallel ranges of one file.", defaultText: "auto"),
        .value("limit-rate", nil, "RATE", .rate, help: "Bytes a second at most, over all items; for example 2M."),
        .value(
            "timetable", nil, "TEXT", .text, help: "Rates by time of day, such as '02:00-06:00=full, else=2M'."),
        .value(
            "max-attempts", nil, "N", .integer(1...1001), help: "Attempts in a row that may gain nothing.",
            conflicts: ["retries"]),
        .value(
            "deadline", nil, "DURATION", .duration,
            help: "End after this time with status 75, keeping what is there."),
        .flag(
            "after-input",
            help: "Wait until standard input ends, then go on with what waits in the store. A byte that comes before "
                + "ends the command: it is not needed.", conflicts: ["dry-run"]),
        .flag(
            "dry-run", "n", help: "Say what would be fetched; fetch and store nothing.", conflicts: ["after-input"]),
        .flag("acks", help: "Print 'ACK KEY' on standard output once a content is durably complete."),
    ]

    static let verify = CommandSpec(
        "verify", "reads contents again and locates damage",
        discussion: [
            "Every proven range is read and hashed. Damage is located to the range; with --repair only damaged ranges "
                + "are fetched again. Ends with status 65 when damage is left."
        ],
        arguments: [keys],
        options: [
            everything("Verify all complete contents."),
            .flag("repair", help: "Fetch damaged ranges again."),
            .value("sample", nil, "PERCENT", .percent, help: "Read only this share, chosen by chance."),
            .value("rate", nil, "RATE", .rate, help: "Bytes a second read at most; for example 50M."),
        ] + networkOptions,
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl verify --all", "read everything"),
            ExampleSpec("lecturectl verify --all --sample 5 --rate 20M", "read a twentieth, gently"),
            ExampleSpec("lecturectl verify algebra-01 --repair", "mend one content"),
        ])
}
