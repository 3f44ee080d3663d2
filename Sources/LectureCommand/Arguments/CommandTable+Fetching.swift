import LectureModel

extension CommandTable {
    /// The command-line twins of settings in the configuration file.
    static let settingOptions: [OptionSpec] = networkOptions + storageOptions

    static let networkOptions: [OptionSpec] =
        [
            .value(
                "ca-file", nil, "FILE", .file,
                help: "Additional root certificates (PEM). Verification is never switched off.",
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
                "per-host", nil, "N", .integer(1...256), help: "Connections to one server, across all lectures.",
                environment: "LECTURE_PER_HOST", defaultText: "16, or 48 for small files of a far server"),
            .value(
                "jobs", "j", "N", .integer(1...256), help: "Lectures downloaded at once.", environment: "LECTURE_JOBS",
                defaultText: "4, and up to 48 small files of a far server"),
        ]
        + credentialOptions

    static let storageOptions: [OptionSpec] = [
        .value(
            "quota", nil, "BYTES", .byteCount, help: "Maximum space for the store's files.",
            environment: "LECTURE_QUOTA", defaultText: "no limit"),
        .value(
            "reserve", nil, "BYTES", .byteCount, help: "Space to leave free on the disk.",
            environment: "LECTURE_RESERVE", defaultText: "150M"),
    ]

    static let precache = CommandSpec(
        "precache", "downloads lectures into the store",
        discussion: [
            "Runs until every lecture is complete or has failed. It is safe to repeat: complete lectures are compared "
                + "with the list and not downloaded again, unfinished ones resume. Without a SOURCE it continues with "
                + "the unfinished lectures in the store.",
            "A course list has one lecture per line: .jsonl (objects with \"url\" and optionally key, title, course, "
                + "teacher, sha256, size, folder, priority, headers, mirrors), .csv (the same names in a header row) "
                + "or .txt (one URL per line, # for comments). A bad line is reported with its number and does not "
                + "stop the others.",
        ],
        arguments: [
            ArgumentSpec(
                "SOURCE",
                "A URL (media file, HLS playlist, DASH manifest, gateway link, kollus: link) or a course list; - is "
                    + "standard input.",
                .source, minimum: 0, maximum: nil)
        ],
        options: runOptions,
        groups: [
            OptionGroup("One lecture", singleOptions), OptionGroup("All lectures of the run", itemOptions),
            OptionGroup("Adaptive lectures (HLS, DASH)", streamOptions),
            OptionGroup("Output", outputOptions), OptionGroup("Lectures that left the list", pruneOptions),
            OptionGroup("Branch servers", peerOptions),
            OptionGroup("Network", limitOptions + networkOptions), OptionGroup("Disk", storageOptions),
            EndHook.group,
        ],
        examples: [
            ExampleSpec("lecturectl precache course.jsonl --jobs 8", "download a course, eight lectures at once"),
            ExampleSpec("lecturectl precache course.jsonl -n", "show what is new, changed, complete and gone"),
            ExampleSpec(
                "lecturectl precache course.jsonl --report failed.jsonl",
                "write failed lectures to a list that 'precache failed.jsonl' retries"),
            ExampleSpec(
                "lecturectl precache course.jsonl --prune --keep 30d",
                "remove lectures that left the list 30 days ago"),
            ExampleSpec(
                "lecturectl precache c.jsonl -d out --name '{course}/{number:02} {title}.{ext}'",
                "put the finished files into one directory per course"),
            ExampleSpec(
                "lecturectl precache https://example.org/a.mp4 --output a.mp4",
                "download one file and also put it here"
            ),
            ExampleSpec(
                "lecturectl precache https://example.org/live.m3u8 --capture 90m", "keep 90 minutes of a live stream"),
            ExampleSpec(
                "lecturectl precache c.jsonl --from https://hq:8443 --from-token-file hq.token",
                "fetch from a branch server what it has"),
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
            "output", "o", "FILE", .file, help: "Also put the finished file there.", conflicts: ["output-dir"]),
    ]

    private static let streamOptions: [OptionSpec] = [
        .value(
            "variant", nil, "WHICH", .wordsOrInteger(["best", "worst"], 1...100_000),
            help: "The variant to keep of those within the limits, or its number in the playlist.",
            defaultText: "best"),
        .value("max-height", nil, "LINES", .integer(1...100_000), help: "No variant with more lines, for example 720."),
        .value(
            "max-bandwidth", nil, "RATE", .bitRate,
            help: "No variant with a higher bit rate, in bits per second; for example 2M."),
        .value(
            "audio", nil, "LANG,…", .text,
            help: "The languages of sound to keep, for example 'ko,en', or 'all'.", defaultText: "the playlist's own"),
        .value(
            "subtitles", nil, "LANG,…", .text, help: "The languages of subtitles to keep, or 'all'.",
            defaultText: "none"),
        .optional(
            "capture", "DURATION", .duration,
            help: "Keep a live HLS stream while it goes on, until it ends or until what is kept plays this long."),
        .flag(
            "allow-gaps",
            help:
                "Complete a lecture without the segments that its server does not have. 'lecturectl why' names them."),
    ]

    private static let outputOptions: [OptionSpec] = [
        .value(
            "output-dir", "d", "DIR", .directory, help: "Also put every finished file into this directory.",
            conflicts: ["output"]),
        .value(
            "name", nil, "TEMPLATE", .text,
            help:
                "The file names below --output-dir, for example '{course}/{number:02} {title}.{ext}'. Fields: course, "
                + "folder, teacher, title, number (the position in its list), key, name (of the URL), ext. Characters "
                + "that are not allowed in file names become '_'.",
            defaultText: "the list's 'file', else the last part of the URL"),
        .value(
            "report", nil, "FILE", .file,
            help: "Write the lectures that failed or stopped to this course list, each with the reason."),
        .flag(
            "force",
            help:
                "Replace existing files at --output or below --output-dir. Without it, only files that LectureKit has "
                + "written for the same lecture are replaced."),
        .flag("acks", help: "Print 'ACK KEY' on standard output once a lecture is durably complete."),
    ]

    private static let pruneOptions: [OptionSpec] = [
        .flag(
            "prune",
            help:
                "Remove lectures that have left the list and are in no other one. Only after a complete run in which "
                + "every list was read without a refused line and every gateway link led to a lecture. Samples are "
                + "kept."),
        .value(
            "keep", nil, "DURATION", .duration, help: "Remove only lectures that left the list at least this long ago.",
            defaultText: "0s"),
        .value(
            "max-delete", nil, "LIMIT", .countOrPercent,
            help: "Remove nothing if more than this number, or share (10%), of the list's lectures would be removed.",
            defaultText: Pruning.defaultLimit.text),
        .value(
            "list-name", nil, "NAME", .text,
            help: "The name under which the list is recorded; required for --prune with standard input.",
            defaultText: "its path or URL"),
    ]

    private static let itemOptions: [OptionSpec] = [
        .repeated(
            "header", "H", "'NAME: VALUE'", .header,
            help: "A request header for all sources. Other users can see it in the process list; @FILE reads headers "
                + "from a file, one per line. Repeatable."),
        .value("folder", nil, "NAME", .text, help: "The folder that the lectures are listed under."),
        .value(
            "priority", "p", "N", .integer(-100...100), help: "Higher goes first; -100 to 100.", defaultText: "0"),
        .value(
            "check", nil, "HOW", .words(SourceCheck.allCases.map(\.rawValue)),
            help:
                "How complete lectures are compared with what is requested: 'list' compares digest, size and URL; "
                + "'head' also asks the server whether the file has changed; 'never' compares nothing.",
            defaultText: "list"),
        .flag(
            "accept-any",
            help: "Accept files that do not begin like any known media format, even text, web pages and empty files."),
        .flag(
            "trust-length",
            help: "Resume a download even if the server does not identify the version of the file. If the file has "
                + "changed, the result may be half old, half new."),
        .flag("seal", help: "Seal every file, whether it needs a licence or not.", conflicts: ["no-seal"]),
        .flag(
            "no-seal", help: "Keep the files unsealed so that they can be read in place. Licensed media is refused.",
            conflicts: ["seal"]),
    ]

    static let limitOptions: [OptionSpec] = [
        .value(
            "connections", "c", "N", .integerOrAuto(1...64), help: "Parallel ranges of one file.", defaultText: "auto"),
        .value(
            "limit-rate", nil, "RATE", .rate, help: "Maximum bytes per second, across all lectures; for example 2M."),
        .value(
            "timetable", nil, "TEXT", .text, help: "Rates by time of day, such as '02:00-06:00=full, else=2M'."),
        .value(
            "max-attempts", nil, "N", .integer(1...1001),
            help: "Give up a lecture after N attempts in a row without progress.", conflicts: ["retries"]),
    ]

    static let peerOptions: [OptionSpec] = [
        .repeated(
            "from", nil, "URL", .url,
            help: "Fetch what the branch server there has ('lecturectl serve'), proven by digest, and only the rest "
                + "from the internet. Repeatable; asked in this order."),
        .value(
            "from-token-file", nil, "FILE", .file,
            help: "The token with the role peer of that server, or a line 'URL TOKEN' for each. Only you may be able "
                + "to read the file."),
        .repeated(
            "from-trust", nil, "FILE", .file,
            help: "The public key of a branch server ('lecturectl device show' there): what it says is believed where "
                + "the list names no digest. Repeatable."),
    ]

    private static let runOptions: [OptionSpec] = [
        readyBy("Warn when the lectures will not be complete by then, and say when they will again."),
        .value(
            "deadline", nil, "DURATION", .duration,
            help: "Stop after this time with exit status 75. Downloaded data is kept."),
        .flag(
            "after-input",
            help: "Wait until standard input ends, then continue with the unfinished lectures in the store. If any "
                + "input arrives before that, the command exits without downloading.", conflicts: ["dry-run"]),
        .flag(
            "dry-run", "n",
            help: "Print what is new, changed, complete and gone, how many bytes there are to download and whether "
                + "they fit. Nothing is downloaded or stored. --check head asks the servers.",
            conflicts: ["after-input"]),
    ]

    static let verify = CommandSpec(
        "verify", "re-reads lectures and locates damage",
        discussion: [
            "Every verified range is read and hashed. Damage is located by range and recorded: 'list' and 'why' "
                + "show it, and the next 'precache', or --repair, downloads only the damaged ranges again. Exit status "
                + "65 means that damage remains."
        ],
        arguments: [keys],
        options: [
            everything("Verify all complete lectures."),
            .flag("repair", help: "Download damaged ranges again."),
            .value("sample", nil, "PERCENT", .percent, help: "Read only this share, chosen at random."),
            .value("rate", nil, "RATE", .rate, help: "Maximum bytes per second to read; for example 50M."),
        ] + networkOptions,
        groups: [EndHook.group],
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl verify --all", "read everything"),
            ExampleSpec("lecturectl verify --all --sample 5 --rate 20M", "read a twentieth, slowly"),
            ExampleSpec("lecturectl verify algebra-01 --repair", "repair one lecture"),
        ])
}
