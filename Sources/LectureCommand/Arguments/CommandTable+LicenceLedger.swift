import LectureModel

/// The commands that look at and change the ledger of licences.
extension CommandTable {
    static let licenceLedgerCommands = [
        CommandSpec(
            "list", "lists licences and whether they permit a play now",
            discussion: [
                "On a terminal a table; elsewhere the same columns separated by tabs. With --expiring the one that "
                    + "ends or has to be checked first comes first."
            ],
            options: [
                .value(
                    "expiring", nil, "DURATION", .duration,
                    help: "Only what ends or has to be checked within this time, or has been."),
                .value("limit", nil, "N", .integer(1...Int.max), help: "At most so many.", defaultText: "no limit"),
                .value("offset", nil, "N", .integer(0...Int.max), help: "Leave out the first ones.", defaultText: "0"),
            ],
            examples: [ExampleSpec("lecturectl licence list --expiring 7d", "what has to be renewed this week")]),
        CommandSpec(
            "show", "shows one licence: what it permits, what was used, and every reason against a play",
            arguments: [key],
            examples: [ExampleSpec("lecturectl licence show algebra-01", "why it may or may not be played")]),
        CommandSpec(
            "import", "keeps a licence file for a lecture",
            discussion: [
                "The file is a compact JWS that names the lecture (claim 'mck'). It is verified with the keys of the "
                    + "configuration, or with those given here, and kept only when nothing speaks against it."
            ],
            arguments: [ArgumentSpec("FILE", "The licence file; - reads standard input.", .file)],
            options: trustOptions,
            examples: [ExampleSpec("lecturectl licence import algebra-01.jws --trust ca.pem", "keep one")]),
        CommandSpec(
            "renew", "asks the licence servers anew, ten licences a request",
            discussion: [
                "Without keys and options: what has ended or has to be checked. A renewal that was killed goes on "
                    + "where it was when the same is asked for again. A renewal that fails changes nothing: what is "
                    + "permitted stays permitted.",
                "One process asks a server at most at the rate of --rate, slower when the server asks for it.",
            ],
            arguments: [
                ArgumentSpec("KEY", "Only these lectures.", .key, minimum: 0, maximum: nil)
            ],
            options: [
                .flag(
                    "expired", help: "What has ended or has to be checked; the default.", conflicts: ["within", "all"]),
                .value(
                    "within", nil, "DURATION", .duration, help: "Also what will have within this time.",
                    conflicts: ["expired", "all"]),
                .flag("all", "a", help: "Everything that a server gave.", conflicts: ["expired", "within"]),
            ] + batchOptions(),
            examples: [
                ExampleSpec("lecturectl licence renew --within 3d", "renew what ends in the next days"),
                ExampleSpec("lecturectl licence renew --all --dry-run", "see which requests that would be"),
            ]),
        licenceRegrant,
        CommandSpec(
            "pending", "lists completion notices not yet delivered to licence servers",
            discussion: [
                "A licence server gets a notice when a download is complete. Notices that could not be delivered are "
                    + "kept and sent by the next 'lecturectl precache' or 'lecturectl licence pending --pay'."
            ],
            options: [.flag("pay", help: "Send them now.")],
            examples: [ExampleSpec("lecturectl licence pending --pay", "send all pending notices")]),
    ]

    private static let licenceRegrant = CommandSpec(
        "regrant", "asks the licence servers for new grants, without downloading again",
        discussion: [
            "For licences that are no longer trusted because the store was restored from a backup, changed, or "
                + "written by another device. A renewal does not help there once plays or play time are counted: how "
                + "much was used is not known. The server is asked as before a download, and decides. A request that "
                + "fails changes nothing, and a licence that is in order is left alone.",
            "With --new-device this device takes over a store that another device has written. Lectures that the "
                + "other device has sealed do not open here: import its key first ('lecturectl device import'), or "
                + "remove them and download them again.",
        ],
        arguments: [keys],
        options: [
            .flag("all", "a", help: "Every licence that is not trusted."),
            .flag(
                "new-device", help: "Take over a store that another device has written.",
                conflicts: ["dry-run"]),
        ] + batchOptions(exceptWith: ["new-device"]),
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl licence regrant --all", "after a backup was restored"),
            ExampleSpec("lecturectl licence regrant algebra-01 algebra-02", "only these"),
        ])

    /// How batches ask.
    private static func batchOptions(exceptWith others: [String] = []) -> [OptionSpec] {
        [
            .value(
                "jobs", "j", "N", .integer(1...64), help: "Requests under way at once to one server.",
                defaultText: "8"),
            .value(
                "rate", nil, "N", .integer(1...10_000), help: "Requests a second to one server at the most.",
                defaultText: "100"),
            .value(
                "max-attempts", nil, "N", .integer(1...1000),
                help: "Attempts for one licence before it fails for this run.", defaultText: "5"),
            .flag("dry-run", "n", help: "Print the plan and send no request.", conflicts: others),
            .flag("acks", help: "Print 'ACK KEY' on standard output once a licence is durably renewed or granted."),
        ]
    }
}
