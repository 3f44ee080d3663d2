import LectureModel

/// The commands that show and change the ledger of licences.
extension CommandTable {
    static let licenceLedgerCommands = [
        CommandSpec(
            "list", "lists licences and whether they allow playing now",
            discussion: [
                "Prints a table on a terminal; elsewhere the same columns separated by tabs. With --expiring the "
                    + "licence that ends or must be checked first comes first."
            ],
            options: [
                .value(
                    "expiring", nil, "DURATION", .duration,
                    help: "Only licences that end or must be checked within this time, or are overdue."),
                .value("limit", nil, "N", .integer(1...Int.max), help: "At most N licences.", defaultText: "no limit"),
                .value("offset", nil, "N", .integer(0...Int.max), help: "Skip the first N licences.", defaultText: "0"),
            ],
            examples: [ExampleSpec("lecturectl licence list --expiring 7d", "list the licences to renew this week")]),
        CommandSpec(
            "show", "shows one licence: what it permits, what was used, and every reason why it does not allow playing",
            arguments: [key],
            examples: [ExampleSpec("lecturectl licence show algebra-01", "show whether it may be played, and why")]),
        CommandSpec(
            "import", "stores a licence file for a lecture",
            discussion: [
                "The file is a compact JWS that names the lecture (claim 'mck'). It is verified with the keys of the "
                    + "configuration, and stored only if every check passes.",
                "A lecture that has a licence takes files only under the key that granted it. --trust, --jwks and "
                    + "--hmac-key-file name keys for a lecture without a licence and without a licence server; "
                    + "'lecturectl licence verify' uses them for any file.",
            ],
            arguments: [ArgumentSpec("FILE", "The licence file; - reads standard input.", .file)],
            options: trustOptions,
            examples: [ExampleSpec("lecturectl licence import algebra-01.jws --trust ca.pem", "store one")]),
        licenceRekey,
        CommandSpec(
            "renew", "renews licences, ten per request to their servers",
            discussion: [
                "Without keys and options it renews licences that have ended or must be checked. A renewal that was "
                    + "killed continues where it stopped when the same command is run again. A failed renewal changes "
                    + "nothing: what was permitted stays permitted.",
                "A process finds out by itself how many requests a server takes: it begins with a few at once, adds "
                    + "one with every answer, and slows down when the server refuses some or asks to wait. --jobs and "
                    + "--rate are limits that it does not exceed.",
            ],
            arguments: [
                ArgumentSpec("KEY", "Only these lectures.", .key, minimum: 0, maximum: nil)
            ],
            options: [
                .flag(
                    "expired", help: "Licences that have ended or must be checked; the default.",
                    conflicts: ["within", "all"]),
                .value(
                    "within", nil, "DURATION", .duration,
                    help: "Also licences that end or must be checked within this time.",
                    conflicts: ["expired", "all"]),
                .flag("all", "a", help: "All licences that a server granted.", conflicts: ["expired", "within"]),
            ] + batchOptions(),
            groups: [EndHook.group],
            examples: [
                ExampleSpec("lecturectl licence renew --within 3d", "also renew what ends within three days"),
                ExampleSpec("lecturectl licence renew --all --dry-run", "show the requests that would be sent"),
            ]),
        licenceRegrant,
        CommandSpec(
            "pending", "lists completion notices not yet delivered to licence servers",
            discussion: [
                "A licence server gets a notice when a download is complete. Notices that could not be delivered are "
                    + "kept and sent by the next 'lecturectl precache' or 'lecturectl licence pending --pay'."
            ],
            options: [.flag("pay", help: "Send the notices now.")],
            examples: [ExampleSpec("lecturectl licence pending --pay", "send all pending notices")]),
    ]

    private static let licenceRekey = CommandSpec(
        "rekey", "changes the keys that count for licences, as their provider states",
        discussion: [
            "Only the key that granted a licence counts for it. A provider that changes its key sends a statement: a "
                + "compact JWS of the type 'lecturekit-rekey+jwt', signed with the old key, that names the new one. "
                + "Licences under the old key then take responses and licence files under the new one. Other licences "
                + "stay as they are, and repeating it changes nothing.",
            "The statement is verified with the keys of the configuration, which must still name the old key, or with "
                + "those that --trust, --jwks or --hmac-key-file name.",
        ],
        arguments: [ArgumentSpec("FILE", "The statement; - reads standard input.", .file)],
        options: trustOptions,
        examples: [ExampleSpec("lecturectl licence rekey new-key.jws", "take over a provider's new key")])

    private static let licenceRegrant = CommandSpec(
        "regrant", "asks the licence servers for new grants, without downloading again",
        discussion: [
            "For licences that are no longer trusted because the store was restored from a backup, modified, or "
                + "written by another device. A renewal does not help there if plays or play time are counted, "
                + "because it is not known how much was used. The server is asked as before a download, and decides. "
                + "A failed request changes nothing, and a valid licence is left alone.",
            "With --new-device this device takes over a store that another device has written. Lectures sealed by "
                + "the other device cannot be opened here: import its key first ('lecturectl device import'), or "
                + "remove them and download them again.",
        ],
        arguments: [keys],
        options: [
            .flag("all", "a", help: "All licences that are not trusted."),
            .flag(
                "new-device", help: "Take over a store that another device has written.",
                conflicts: ["dry-run"]),
        ] + batchOptions(exceptWith: ["new-device"]),
        flagInsteadOfArguments: "all",
        examples: [
            ExampleSpec("lecturectl licence regrant --all", "request new grants after a backup was restored"),
            ExampleSpec("lecturectl licence regrant algebra-01 algebra-02", "request new grants for these lectures"),
        ])

    /// Options for batches of requests.
    private static func batchOptions(exceptWith others: [String] = []) -> [OptionSpec] {
        [
            .value(
                "jobs", "j", "N", .integer(1...64), help: "Maximum concurrent requests to one server.",
                defaultText: "64"),
            .value(
                "rate", nil, "N", .integer(1...10_000), help: "Maximum requests per second to one server.",
                defaultText: "no limit"),
            .value(
                "max-attempts", nil, "N", .integer(1...1000),
                help: "Attempts for one licence before it fails for this run.", defaultText: "5"),
            .flag("dry-run", "n", help: "Print the plan and send no request.", conflicts: others),
            .flag("acks", help: "Print 'ACK KEY' on standard output once a licence is durably renewed or granted."),
        ]
    }
}
