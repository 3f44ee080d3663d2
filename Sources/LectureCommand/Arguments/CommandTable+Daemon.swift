// The command that does not end.

extension CommandTable {
    static let daemonOptions: [OptionSpec] = [
        .repeated(
            "courses", nil, "PATH", .file,
            help:
                "A course list, or a directory with course lists (.jsonl, .csv, .txt), to follow. Repeatable. Default: "
                + "daemon.courses, else $CONFIGURATION_DIRECTORY/courses."),
        .value(
            "renew-within", nil, "DURATION", .duration, help: "Renew licences this long before they end.",
            defaultText: "3d"),
    ]

    static let daemon = CommandSpec(
        "daemon", "keeps lectures, licences and reports up to date until it is stopped",
        discussion: [
            "Follows course lists: what a new or changed list names is downloaded, within the timetable. A list that "
                + "is deleted is followed no more; its lectures stay, and so do downloads that have begun. Unfinished "
                + "lectures of the store continue. Licences are renewed before they end, and learning reports are sent "
                + "at the next opportunity. Another network ends the waits that a broken one has caused.",
            "SIGHUP reads the configuration and all lists again; downloads go on. SIGTERM and SIGINT stop it in order, "
                + "with status 0. systemd learns when it is ready, what it does, and that it is alive "
                + "(Type=notify, WatchdogSec=). Other programs, another daemon included, may use the store at the same "
                + "time.",
        ],
        options: daemonOptions,
        groups: [
            OptionGroup("Network", limitOptions + networkOptions), OptionGroup("Disk", storageOptions),
        ],
        examples: [
            ExampleSpec("lecturectl daemon --courses ~/courses", "follow the course lists of a directory"),
            ExampleSpec(
                "lecturectl daemon --timetable '01:00-06:00=full, else=off'", "download by night"),
        ])
}
