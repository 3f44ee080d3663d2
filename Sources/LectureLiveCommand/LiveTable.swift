package import LectureCommand
import LectureLive

/// The commands and options of `lecture-live`.
package enum LiveTable {
    /// The table.
    package static let program = ProgramTable(root: root, globalOptions: globalOptions)

    private static let globalOptions: [OptionSpec] = [
        .value(
            "server", nil, "URL", .url, help: "The server of live lectures.", environment: "LECTURE_LIVE_SERVER"),
        .value(
            "token-file", nil, "FILE", .file,
            help: "Where 'login' stores the member's access token; a file that others may read is refused.",
            environment: "LECTURE_LIVE_TOKEN_FILE",
            defaultText: "$XDG_STATE_HOME/lecturekit/live-token, else ~/.local/state/lecturekit/live-token"),
        .flag("json", help: "Print one JSON object per line on standard output."),
        .flag("quiet", "q", help: "Print errors only."),
        .value(
            "log-format", nil, "FORMAT", .words(LogFormat.words),
            help: "How messages on standard error are written; text and json: with their time and level.",
            environment: LogFormat.variable, defaultText: "auto: with priorities for the journal, else sentences"),
        .flag("help", "h", help: "Show this help."),
        .flag("version", "V", help: "Show the version."),
    ]

    private static let root = CommandSpec(
        "lecture-live", "broadcasts and watches live lectures, and takes part in their chat",
        discussion: [
            "For a server with the member API of FlipFlop Lite, such as lecture-live-server. Log in first.",
            "Data goes to standard output, messages to standard error. Access tokens, stream keys and secrets are read "
                + "from files, and are never printed.",
        ],
        examples: [
            ExampleSpec(
                "lecture-live login --credentials app.key --user kim", "log in; the token is stored"),
            ExampleSpec("lecture-live broadcast --title 'Algebra' --source screen", "show the screen to learners"),
            ExampleSpec("lecture-live watch 12 --chat", "watch it, and read the chat"),
        ],
        subcommands: [login, rooms, broadcast, watch, chat, archive, help, version])

    private static let room = ArgumentSpec(
        "ROOM", "The number of the room, as 'rooms' shows it.", .integer(1...Int.max))

    private static let store = OptionSpec.value(
        "store", nil, "DIR", .directory, help: "The store of lecturectl, with its configuration.",
        environment: "LECTURE_STORE")

    private static let login = CommandSpec(
        "login", "logs a member in, and stores the access token",
        discussion: [
            "This is what the server of an application does: it needs the application's key and secret. On a machine "
                + "of a learner put a token that the application has fetched into the token file instead."
        ],
        options: [
            .value(
                "credentials", nil, "FILE", .file,
                help: "A file of mode 0600 with the application's KEY:SECRET. Required."),
            .value("user", nil, "ID", .text, help: "The member. Required."),
            .value("name", nil, "NAME", .text, help: "The member's name.", defaultText: "the ID"),
        ],
        examples: [ExampleSpec("lecture-live login --credentials app.key --user kim --name 'Kim Lee'", "log Kim in")])

    private static let rooms = CommandSpec(
        "rooms", "lists, shows, ends, deletes and moderates the member's rooms",
        discussion: ["Without a subcommand it lists them: 'lecture-live rooms --state LIVE'."], standard: "list",
        subcommands: [
            CommandSpec(
                "list", "lists the member's rooms, the newest first",
                options: [
                    .value(
                        "state", nil, "STATE", .words(VideoRoomState.allCases.map(\.rawValue)),
                        help: "Only rooms in this state."),
                    .value(
                        "limit", nil, "N", .integer(1...100_000), help: "At most N rooms.", defaultText: "20"),
                ],
                examples: [ExampleSpec("lecture-live rooms list --state ENDED --limit 5", "list the last five")]),
            CommandSpec(
                "show", "shows a room", arguments: [room],
                examples: [ExampleSpec("lecture-live rooms show 12", "show its state and its recording")]),
            CommandSpec(
                "end", "ends a room whose feed has stopped",
                discussion: [
                    "A room can be ended while its feed is interrupted (LIVE_INACTIVE), which the server notices "
                        + "within seconds after the broadcaster has stopped."
                ],
                arguments: [room], examples: [ExampleSpec("lecture-live rooms end 12", "end it")]),
        ] + moderation)

    private static let user = ArgumentSpec("USER", "The member's ID with the application.", .text)

    private static let moderation: [CommandSpec] = [
        CommandSpec(
            "delete", "deletes a room that is not on the air",
            discussion: ["Its chat and its recording are deleted with it, and cannot be restored."],
            arguments: [room], examples: [ExampleSpec("lecture-live rooms delete 12", "delete it")]),
        CommandSpec(
            "ban", "bans a member from a room",
            discussion: ["The member cannot watch it, read or write its chat, or renew a licence of its recording."],
            arguments: [room, user], examples: [ExampleSpec("lecture-live rooms ban 12 lee", "ban Lee")]),
        CommandSpec(
            "unban", "permits a member again", arguments: [room, user],
            examples: [ExampleSpec("lecture-live rooms unban 12 lee", "permit Lee again")]),
        CommandSpec(
            "hide", "hides a message of the chat",
            discussion: ["'lecture-live chat --json' prints the numbers of messages."],
            arguments: [room, ArgumentSpec("MESSAGE", "The number of the message.", .integer(1...Int.max))],
            examples: [ExampleSpec("lecture-live rooms hide 12 7", "hide the seventh message")]),
        CommandSpec(
            "slow", "sets how long members wait between two messages",
            arguments: [room, ArgumentSpec("SECONDS", "0 to 3600; 0 for no wait.", .integer(0...3600))],
            examples: [ExampleSpec("lecture-live rooms slow 12 30", "a message each half minute")]),
    ]

    private static let broadcast = CommandSpec(
        "broadcast", "broadcasts a lecture",
        discussion: [
            "Makes a room, starts it when its feed can be watched, and ends it when the time is over, at the end of a "
                + "file, or on SIGINT and SIGTERM, which are the usual ends: the exit status is 0.",
            "A lost link is brought back by itself. A room that was left open is continued with --resume.",
        ],
        options: [
            .value("title", nil, "TITLE", .text, help: "The title of the room."),
            .value(
                "room", nil, "ROOM", .integer(1...Int.max), help: "Broadcast to a room that there is already.",
                conflicts: ["title"]),
            .flag("resume", help: "Continue with the room that was left open, if there is one."),
            .value(
                "source", nil, "SOURCE", .text,
                help: "Where the picture comes from: test, screen[:DISPLAY], camera:DEVICE or file:PATH[,loop].",
                defaultText: "test"),
            .value(
                "microphone", nil, "DEVICE", .text,
                help: "The ALSA device of the sound, with screen and camera.", defaultText: "silence"),
            .value(
                "size", nil, "SIZE", .words(["640x360", "960x540", "1280x720", "1920x1080"]),
                help: "The size of the picture.", defaultText: "1280x720"),
            .value("fps", nil, "N", .integer(1...60), help: "Pictures a second.", defaultText: "30"),
            .value(
                "bitrate", nil, "RATE", .bitRate, help: "Of the video, in bits a second.", defaultText: "2M"),
            .flag("adaptive", help: "Let the bitrate follow the link."),
            .flag("preview", help: "Show what is sent, in a window; needs a display."),
            .value("duration", nil, "TIME", .duration, help: "End after this time on the air."),
        ],
        examples: [
            ExampleSpec(
                "lecture-live broadcast --source camera:/dev/video0 --microphone default", "from a camera"),
            ExampleSpec("lecture-live broadcast --source file:intro.mp4 --duration 10m", "from a file"),
            ExampleSpec("lecture-live broadcast --resume", "go on after a crash"),
        ])

    private static let watch = CommandSpec(
        "watch", "watches a live lecture",
        discussion: ["It waits for a room that has not begun, and ends with the room."],
        arguments: [room],
        options: [
            .flag("no-video", help: "Play the sound only; needs no display."),
            .flag("mute", help: "Play without sound."),
            .flag(
                "low-latency",
                help: "Play over RTMP, seconds earlier than HLS; encrypted only where the server has TLS for it."),
            .flag("chat", help: "Print the chat, too."),
            .value("duration", nil, "TIME", .duration, help: "Leave after this time."),
            .flag("keep", help: "Keep the lecture in the store, from its start on; needs --store."),
            .value(
                "report", nil, "USER", .text,
                help: "Record what USER watches for the LMS, as 'lecturectl lms send' sends it; needs --store."),
            store,
        ],
        examples: [
            ExampleSpec("lecture-live watch 12 --chat", "watch it, and read the chat"),
            ExampleSpec("lecture-live watch 12 --low-latency", "watch it with as little delay as there can be"),
            ExampleSpec(
                "lecture-live watch 12 --keep --report kim --store lectures", "keep it, and report what Kim watches"),
        ])

    private static let chat = CommandSpec(
        "chat", "prints the chat of a lecture, and sends lines",
        discussion: [
            "Each line of standard input is sent as a message. When the server asks to wait, the next line waits.",
            "It goes on until SIGINT or the end of the room; with --no-follow until the end of standard input.",
        ],
        arguments: [ArgumentSpec(room.name, room.help, room.grammar, minimum: 0)],
        options: [
            .value("history", nil, "N", .integer(0...100_000), help: "First print the last N.", defaultText: "20"),
            .flag("follow", help: "Go on after the end of standard input; this is the default."),
            .value("file", nil, "FILE", .file, help: "Print a chat that was kept as WebVTT, with its positions."),
            .value(
                "lecture", nil, "KEY", .key, help: "Print the chat that was kept with a lecture; needs --store.",
                conflicts: ["file"]),
            store,
        ],
        examples: [
            ExampleSpec("lecture-live chat 12", "read and write"),
            ExampleSpec("echo 'We begin in 5 minutes.' | lecture-live chat 12 --no-follow", "send one line"),
            ExampleSpec("lecture-live chat --file chat.vtt", "print the chat of a recording"),
        ])

    private static let archive = CommandSpec(
        "archive", "shows the recording of a lecture that has ended",
        discussion: ["The exit status is 0 when there is one, 75 when it is not there yet, and 1 when it has failed."],
        arguments: [room], options: [.flag("wait", help: "Wait until there is one.")],
        examples: [
            ExampleSpec("lecture-live archive 12 --wait", "wait for it; then 'lecturectl precache' downloads it")
        ])

    private static let help = CommandSpec(
        "help", "explains a command",
        arguments: [ArgumentSpec("COMMAND", "The command's words.", .command, minimum: 0, maximum: 2)],
        examples: [ExampleSpec("lecture-live help rooms end", "explain 'rooms end'")])

    private static let version = CommandSpec(
        "version", "shows the version",
        examples: [ExampleSpec("lecture-live version --json", "the same as one JSON object")])
}
