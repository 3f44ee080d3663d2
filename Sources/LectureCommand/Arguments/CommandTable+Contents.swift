import LectureModel

extension CommandTable {
    static let key = ArgumentSpec("KEY", "The lecture's key, as 'lecturectl list' shows it.", .key)
    static let keys = ArgumentSpec(
        "KEY", "The keys of the lectures, as 'lecturectl list' shows them.", .key, maximum: nil)

    /// Options that select lectures; see ``ContentSelection``.
    static let filterOptions: [OptionSpec] = [
        .repeated(
            "state", nil, "STATE", .words(ContentSelection.stateWords),
            help:
                "Only lectures in this state. 'outdated': an older version is complete; 'damaged': the file is missing "
                + "or damaged. Repeatable."),
        .value("type", nil, "TYPE", .words(ContentType.allCases.map(\.name)), help: "Only lectures of this type."),
        .value("course", nil, "NAME", .text, help: "Only lectures of this course."),
        .value("folder", nil, "NAME", .text, help: "Only lectures in this folder."),
        .value("recent", nil, "DURATION", .duration, help: "Only lectures completed within this time."),
        .value("older-than", nil, "DURATION", .duration, help: "Only lectures completed before this time."),
        .value(
            "expiring", nil, "DURATION", .duration,
            help: "Only lectures whose licence ends or must be checked within this time."),
    ]

    static func everything(_ help: String) -> OptionSpec { .flag("all", "a", help: help) }

    static let list = CommandSpec(
        "list", "lists lectures",
        discussion: ["Prints a table on a terminal; elsewhere the same columns separated by tabs, without a header."],
        options: [
            .value(
                "sort", nil, "ORDER", .words(["title", "downloaded", "size", "expiry", "priority", "folder"]),
                help: "The order.", defaultText: "priority"),
            .value("limit", nil, "N", .integer(1...Int.max), help: "At most N lectures.", defaultText: "no limit"),
            .value("offset", nil, "N", .integer(0...Int.max), help: "Skip the first N lectures.", defaultText: "0"),
        ],
        groups: [OptionGroup("Filters", filterOptions)],
        examples: [
            ExampleSpec("lecturectl list --state completed --recent 7d", "list the lectures completed this week"),
            ExampleSpec("lecturectl list --sort size --limit 10", "list the ten largest"),
        ])

    static let show = CommandSpec(
        "show", "shows everything about one lecture", arguments: [key],
        examples: [ExampleSpec("lecturectl show algebra-01", "show its state and files")])

    static let status = CommandSpec(
        "status", "shows the whole store at a glance",
        options: [.flag("watch", "w", help: "Keep running and show changes until interrupted.")],
        examples: [ExampleSpec("lecturectl status --watch", "follow a download of another process")])

    static let metrics = CommandSpec(
        "metrics", "prints figures for Prometheus",
        discussion: [
            "Prints lectures by course and state, errors, licences that end, learning reports that wait, space, and "
                + "when each task last succeeded, in the format OpenMetrics. There are no titles, URLs, keys or "
                + "learners in it.",
            "--output writes a file for node_exporter's textfile collector: whole, readable by all, and only if the "
                + "store could be read. Otherwise the file before stays, and its lecturekit_metrics_timestamp_seconds "
                + "shows how old it is. docs/monitoring.md has every figure, alert rules and a dashboard.",
        ],
        options: [
            .value(
                "output", "o", "FILE", .file, help: "Write this file; its name ends in .prom for node_exporter.",
                defaultText: "standard output"),
            .repeated(
                "label", nil, "NAME=VALUE", .metricLabel,
                help: "Add a label to every figure, for machines with several stores. Repeatable."),
        ],
        groups: [OptionGroup("Settings that are figures, as for downloads", storageOptions)],
        examples: [
            ExampleSpec(
                "lecturectl metrics --output /var/lib/prometheus/node-exporter/lecturekit.prom",
                "for node_exporter, every few minutes"),
            ExampleSpec("lecturectl metrics --label store=maths", "on a machine with another store"),
        ])

    static let why = CommandSpec(
        "why", "explains the state of a lecture",
        discussion: [
            "Explains why it is not complete, what happens next and when, and lists the attempts: time, server, "
                + "status, bytes, decision."
        ],
        arguments: [key], examples: [ExampleSpec("lecturectl why algebra-01", "show the reason and the attempts")])

    static let path = CommandSpec(
        "path", "prints the path of an unsealed file",
        discussion: [
            "For an adaptive lecture (HLS) that is its playlist, which is written into the store with the paths of its "
                + "segments. Segments that are sealed or encrypted are played with 'lecturectl play --with' or --url."
        ],
        arguments: [key],
        examples: [ExampleSpec("mpv \"$(lecturectl path algebra-01)\"", "play it with another program")])

    static let cat = CommandSpec(
        "cat", "writes media bytes to standard output",
        discussion: [
            "Bytes are verified before they are written; exit status 65 means that they are damaged. For a licensed "
                + "lecture this counts as one play. The licence is checked first, online if a check is due; exit "
                + "status 77 means that it does not allow playing.",
            "If the licence limits play time, the bytes written count: the whole lecture costs its duration, and a "
                + "range its share. When the time is used up, the command ends with exit status 77 after what was "
                + "written until then.",
            "Of an adaptive lecture (HLS) the first track is written: initialisation sections and segments one after "
                + "the other, decrypted, without ranges. 'lecturectl export' joins all tracks.",
        ],
        arguments: [key],
        options: [
            .value("range", "r", "A-B", .byteRange, help: "Only these bytes, counted from 0; A- and -N work as well.")
        ],
        examples: [ExampleSpec("lecturectl cat algebra-01 --range 0-1023 | xxd", "look at the first KiB")])

    static let play = CommandSpec(
        "play", "plays a lecture in a window",
        discussion: [
            "The licence is checked first, online if a check is due, and the play is counted when the first picture is "
                + "there. What is watched is stored while it plays and reported to the LMS. The next play continues "
                + "where this one ends.",
            "A URL plays the lecture that it leads to: the downloaded one, or else a stream through the cache, of "
                + "which nothing is registered.",
            "The keys are those of mpv: space pauses, the arrows jump, [ and ] change the speed, q ends. With "
                + "--no-video they are read from the terminal. Enter skips an intro, once its provider permits that.",
            "--with runs another player, whose last argument is a URL of 127.0.0.1. It is counted with the first byte "
                + "that the player reads, works for this one program, and ends with it. What is watched is not known "
                + "then: nothing is reported, and where the licence limits play time, the bytes that are read count. "
                + "--url prints the URL instead, and serves one program until a signal or ten minutes without a "
                + "reader. Other users of this machine can see the URL in the list of processes, and are refused.",
            "The media is unsealed in memory only. Exit status 77 means that the licence does not allow playing, or "
                + "ended while it played; 78 that libmpv, or with --with and --url libmicrohttpd, is not installed; "
                + "74 that another player has failed.",
        ],
        arguments: [
            ArgumentSpec("KEY|URL", "The lecture's key, a media file, a gateway link or a kollus: link.", .keyOrURL)
        ],
        options: playOptions, groups: [OptionGroup("Other players", otherPlayers)],
        examples: [
            ExampleSpec("lecturectl play algebra-01", "play it from where it was left"),
            ExampleSpec("lecturectl play algebra-01 --section 12:30-15:00 --speed 1.5", "play two and a half minutes"),
            ExampleSpec("lecturectl play algebra-01 --no-video", "listen to it"),
            ExampleSpec("lecturectl play https://cdn.example/algebra-02.mp4", "stream a lecture"),
            ExampleSpec("lecturectl play algebra-01 --with 'vlc --play-and-exit'", "play it with VLC"),
        ])

    static let export = CommandSpec(
        "export", "writes an adaptive lecture into one file",
        discussion: [
            "Joins playlists and segments (HLS) with the program ffmpeg, without encoding anything anew. Subtitles are "
                + "kept in mp4 and mkv. The file gets its name when it is whole.",
            "A sealed lecture is refused with exit status 77: its media never lies on the disk in clear. Exit status "
                + "78 means that ffmpeg is not installed, 74 that it failed.",
        ],
        arguments: [key],
        options: [
            .value("output", "o", "FILE", .file, help: "Where the file is written."),
            .value(
                "format", nil, "NAME", .words(["mp4", "mkv", "ts"]), help: "The container.",
                defaultText: "the suffix of the file"),
            .flag("force", help: "Replace a file of this name."),
        ],
        examples: [ExampleSpec("lecturectl export algebra-01 --output algebra-01.mp4", "make one file of it")])

    private static let playOptions: [OptionSpec] = [
        .flag("stream", help: "Stream a URL even when its lecture was downloaded."),
        .value(
            "start", nil, "TIME", .position, help: "Begin here: 90, 12:30, 1:02:03.",
            defaultText: "where it was left", conflicts: otherPlayer),
        .value(
            "section", nil, "A-B", .section, help: "Play only this part: 12:30-15:00.", conflicts: otherPlayer),
        .value("repeat", nil, "A-B", .section, help: "Play this part again and again.", conflicts: otherPlayer),
        .value(
            "speed", nil, "N", .speed, help: "The speed, 0.5 to 10.", defaultText: "1", conflicts: otherPlayer),
        .flag(
            "no-video", help: "Play only the sound, without a window.", conflicts: ["fullscreen"] + otherPlayer),
        .value("subtitles", nil, "FILE", .file, help: "Show these subtitles.", conflicts: otherPlayer),
        .value(
            "subtitle-language", nil, "LANG", .text,
            help: "Show the lecture's own subtitles in this language, for instance ko.",
            defaultText: "none; the key j changes it", conflicts: otherPlayer),
        .value(
            "second-subtitle-language", nil, "LANG", .text,
            help: "Show those of another language as well, at the top.", conflicts: otherPlayer),
        .flag("fullscreen", help: "Fill the screen.", conflicts: ["no-video"] + otherPlayer),
        .value(
            "audio-output", nil, "NAME", .text,
            help: "The audio output, as mpv names it: pulse, alsa; null plays in silence.", defaultText: "mpv's",
            conflicts: otherPlayer),
        .value(
            "video-output", nil, "NAME", .text,
            help: "The video output, as mpv names it: gpu, x11, wlshm.", defaultText: "the first one that works",
            conflicts: otherPlayer),
        .value(
            "user", nil, "ID", .text, help: "The learner in the reports.", defaultText: "the gateway's",
            conflicts: otherPlayer),
    ]

    /// With another player, the options of the own one have no effect.
    private static let otherPlayer = ["with", "url"]
    private static let ownPlayer = [
        "start", "section", "repeat", "speed", "no-video", "subtitles", "subtitle-language", "second-subtitle-language",
        "fullscreen", "audio-output", "video-output", "user",
    ]

    private static let otherPlayers: [OptionSpec] = [
        .value(
            "with", nil, "COMMAND", .text,
            help: "Play with this program; spaces separate its name and its options. No shell is used.",
            conflicts: ["url"] + ownPlayer),
        .flag("url", help: "Print a URL for one program, for instance a browser.", conflicts: ["with"] + ownPlayer),
        .value(
            "port", nil, "N", .integer(0...65_535),
            help: "With --with or --url: the port of 127.0.0.1 that is served; 0 is any free one.", defaultText: "0"),
    ]

    static let pause = CommandSpec(
        "pause", "stops lectures until they are resumed",
        discussion: ["A running 'lecturectl precache' stops them at once. Downloaded data is kept."],
        arguments: [keys], options: [everything("Pause everything that is not complete.")],
        flagInsteadOfArguments: "all", examples: [ExampleSpec("lecturectl pause --all", "stop everything")])

    static let resume = CommandSpec(
        "resume", "resumes paused and cancelled lectures",
        discussion: [
            "A running 'lecturectl precache' continues with them; when none runs, the next one does. --all skips "
                + "cancelled lectures; resume those by key."
        ],
        arguments: [keys], options: [everything("Resume everything that is paused.")], flagInsteadOfArguments: "all",
        examples: [ExampleSpec("lecturectl resume algebra-01", "resume one lecture")])

    static let cancel = CommandSpec(
        "cancel", "stops lectures until they are requested again",
        discussion: ["Downloaded data is kept, and a new start continues from there. Only 'remove' deletes it."],
        arguments: [keys], options: [everything("Cancel everything that is not complete.")],
        flagInsteadOfArguments: "all", examples: [ExampleSpec("lecturectl cancel algebra-01", "stop one")])

    static let reorder = CommandSpec(
        "reorder", "changes which lecture is downloaded first",
        discussion: ["Several keys keep the order in which they are given."],
        arguments: [keys],
        options: [
            everything("All lectures; with --priority."),
            .flag("first", help: "Put them before all others of their priority.", conflicts: ["last"]),
            .flag("last", help: "Put them after all others of their priority.", conflicts: ["first"]),
            .value("priority", "p", "N", .integer(-100...100), help: "Higher goes first; -100 to 100."),
        ],
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl reorder algebra-07 --first", "download this one next"),
            ExampleSpec("lecturectl reorder algebra-08 --priority -5", "download it later"),
        ])

    static let remove = CommandSpec(
        "remove", "deletes lectures and their files",
        discussion: ["Select lectures by key, by filters or with --all. A lecture must match all filters."],
        arguments: [keys],
        options: [
            everything("Remove everything except samples."),
            .flag("samples", help: "Also remove samples."),
            .flag("dry-run", "n", help: "Print what would be removed, and remove nothing."),
        ],
        groups: [OptionGroup("Filters", filterOptions)],
        flagInsteadOfArguments: "all", filtersInsteadOfArguments: ContentSelection.optionNames,
        examples: [
            ExampleSpec("lecturectl remove algebra-01", "delete one lecture"),
            ExampleSpec("lecturectl remove --course algebra --older-than 180d -n", "show what would be deleted"),
            ExampleSpec("lecturectl remove --all --samples", "empty the store"),
        ])
}
