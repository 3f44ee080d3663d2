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
                defaultText: "http_proxy, https_proxy, no_proxy"),
            .value(
                "timeout", nil, "DURATION", .duration, help: "Abort a request after this long without receiving data.",
                environment: "LECTURE_TIMEOUT", defaultText: "30s"),
            .value(
                "retries", nil, "N", .integer(0...1000), help: "Retry a failed request N times.",
                environment: "LECTURE_RETRIES", defaultText: "3", conflicts: ["max-attempts"]),
            .value(
                "per-host", nil, "N", .integer(1...256), help: "Connections to one server, over all lectures.",
                environment: "LECTURE_PER_HOST", defaultText: "16"),
            .value(
                "jobs", "j", "N", .integer(1...256), help: "Lectures downloaded at once.", environment: "LECTURE_JOBS",
                defaultText: "4"),
        ]
        + credentialOptions

    static let storageOptions: [OptionSpec] = [
        .value(
            "quota", nil, "BYTES", .byteCount, help: "The most room that the store's files may take.",
            environment: "LECTURE_QUOTA", defaultText: "no limit"),
        .value(
            "reserve", nil, "BYTES", .byteCount, help: "Room that is left free on the disk.",
            environment: "LECTURE_RESERVE", defaultText: "150M"),
    ]

    static let precache = CommandSpec(
        "precache", "downloads lectures into the store",
        discussion: [
            "Runs until every lecture is complete or has failed. It is safe to repeat: complete lectures are compared "
                + "with the list and not downloaded again, unfinished ones resume. Without a SOURCE it continues with "
                + "what waits in the store.",
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
        options: runOptions,
        groups: [
            OptionGroup("One lecture", singleOptions), OptionGroup("All lectures of the run", itemOptions),
            OptionGroup("Output", outputOptions), OptionGroup("Lectures that left the list", pruneOptions),
            OptionGroup("Network", limitOptions + networkOptions), OptionGroup("Disk", storageOptions),
        ],
        examples: [
            ExampleSpec("lecturectl precache course.jsonl --jobs 8", "download a course, eight lectures at once"),
            ExampleSpec("lecturectl precache course.jsonl -n", "show what is new, changed, complete and gone"),
            ExampleSpec(
                "lecturectl precache course.jsonl --report failed.jsonl",
                "write what failed into a list that 'precache failed.jsonl' tries again"),
            ExampleSpec(
                "lecturectl precache course.jsonl --prune --keep 30d",
                "remove lectures that left the list 30 days ago"),
            ExampleSpec(
                "lecturectl precache c.jsonl -d out --name '{course}/{number:02} {title}.{ext}'",
                "put the finished files into one directory for each course"),
            ExampleSpec(
                "lecturectl precache https://example.org/a.mp4 --output a.mp4",
                "download one file and put it here as well"
            ),
            ExampleSpec(
                "lecturectl precache course.csv --timetable '02:00-06:00=full, else=2M'",
                "limit the rate during the day"),
        ])

    private static let singleOptions: [OptionSpec] = [
        .value("key", nil, "KEY", .text, help: "The key of the lecture."),
        .value("title", nil, "TEXT", .text, help: "The title of the lecture."),
        .value("sha256", nil, "HEX", .sha256, help: "The digest that the file must have."),
        .repeated("mirror", nil, "URL", .url, help: "Another URL of the same file. Repeatable."),
        .value(
            "output", "o", "FILE", .file, help: "Put the finished file there as well.", conflicts: ["output-dir"]),
    ]

    private static let outputOptions: [OptionSpec] = [
        .value(
            "output-dir", "d", "DIR", .directory, help: "Put every finished file into this directory as well.",
            conflicts: ["output"]),
        .value(
            "name", nil, "TEMPLATE", .text,
            help:
                "The file names below --output-dir, for example '{course}/{number:02} {title}.{ext}'. Fields: course, "
                + "folder, teacher, title, number (the place in its list), key, name (of the URL), ext. What cannot "
                + "stand in a file name becomes '_'.",
            defaultText: "the list's 'file', else the last part of the URL"),
        .value(
            "report", nil, "FILE", .file,
            help: "Write the lectures that failed or stopped into this course list, each with the reason."),
        .flag("acks", help: "Print 'ACK KEY' on standard output once a lecture is durably complete."),
    ]

    private static let pruneOptions: [OptionSpec] = [
        .flag(
            "prune",
            help:
                "Remove lectures that have left the list and stand in no other one. Only after a run that read the "
                + "whole list without a refused line. Samples stay."),
        .value(
            "keep", nil, "DURATION", .duration, help: "Remove only what left the list this long ago.",
            defaultText: "0s"),
        .value(
            "max-delete", nil, "LIMIT", .countOrPercent,
            help: "Remove nothing if more than this number, or share (10%), of the list's lectures would go.",
            defaultText: "50%"),
        .value(
            "list-name", nil, "NAME", .text,
            help: "The name under which the list is remembered; needed for --prune with standard input.",
            defaultText: "its path or URL"),
    ]

    private static let itemOptions: [OptionSpec] = [
        .repeated(
            "header", "H", "'NAME: VALUE'", .header,
            help: "A request header for all sources. Other users can see it in the list of processes; @FILE reads "
                + "headers from a file, one a line. Repeatable."),
        .value("folder", nil, "NAME", .text, help: "The folder that the lectures are listed under."),
        .value(
            "priority", "p", "N", .integer(-100...100), help: "Higher goes first; -100 to 100.", defaultText: "0"),
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

    private static let limitOptions: [OptionSpec] = [
        .value(
            "connections", "c", "N", .integerOrAuto(1...64), help: "Parallel ranges of one file.", defaultText: "auto"),
        .value(
            "limit-rate", nil, "RATE", .rate, help: "Bytes a second at most, over all lectures; for example 2M."),
        .value(
            "timetable", nil, "TEXT", .text, help: "Rates by time of day, such as '02:00-06:00=full, else=2M'."),
        .value(
            "max-attempts", nil, "N", .integer(1...1001),
            help: "Give up a lecture after N attempts in a row without progress.", conflicts: ["retries"]),
    ]

    private static let runOptions: [OptionSpec] = [
        .value(
            "deadline", nil, "DURATION", .duration,
            help: "End after this time with exit status 75. Downloaded data is kept."),
        .flag(
            "after-input",
            help: "Wait until standard input ends, then continue with what waits in the store. If any input arrives "
                + "before that, the command exits without downloading.", conflicts: ["dry-run"]),
        .flag(
            "dry-run", "n",
            help: "Print what is new, changed, complete and gone, how many bytes that is and whether they fit. Nothing "
                + "is downloaded or stored. With --check head the servers are asked.", conflicts: ["after-input"]),
    ]

    static let verify = CommandSpec(
        "verify", "reads lectures again and locates damage",
        discussion: [
            "Every verified range is read and hashed. Damage is located to the range and remembered: 'list' and 'why' "
                + "show it, and the next 'precache', or --repair, downloads only the damaged ranges again. Exit status "
                + "65 means that damage is left."
        ],
        arguments: [keys],
        options: [
            everything("Verify all complete lectures."),
            .flag("repair", help: "Download damaged ranges again."),
            .value("sample", nil, "PERCENT", .percent, help: "Read only this share, chosen by chance."),
            .value("rate", nil, "RATE", .rate, help: "Bytes a second read at most; for example 50M."),
        ] + networkOptions,
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl verify --all", "read everything"),
            ExampleSpec("lecturectl verify --all --sample 5 --rate 20M", "read a twentieth, slowly"),
            ExampleSpec("lecturectl verify algebra-01 --repair", "repair one lecture"),
        ])
}
