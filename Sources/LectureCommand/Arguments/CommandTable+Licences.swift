extension CommandTable {
    static let licence = CommandSpec(
        "licence", "manages licences",
        examples: [ExampleSpec("lecturectl licence verify course.jwt --trust roots.pem", "judge a licence file")],
        subcommands: licenceLedgerCommands + [licenceVerify])

    static let trustOptions: [OptionSpec] = [
        .value("trust", nil, "CA.PEM", .file, help: "Root certificates for tokens that bring their own (x5c)."),
        .value("crl", nil, "FILE", .file, help: "Revocation lists; each certificate must then be covered by one."),
        .value("jwks", nil, "FILE", .file, help: "A JWK set with the issuers' public keys."),
        .value("hmac-key-file", nil, "FILE", .file, help: "The raw bytes of a secret for HS256."),
    ]

    static let licenceVerify = CommandSpec(
        "verify", "validates licence files without storing them",
        discussion: [
            "Prints the verdict with every reason against it, and the claims of a file whose signature is right. Ends "
                + "with status 65 when the file is refused. Without --trust, --jwks and --hmac-key-file the keys of "
                + "the configuration judge it. What is not asked for with --audience, --issuer, --user, --content or "
                + "--device is not compared.",
            "With --batch it reads one JSON object a line on standard input, {\"id\":…,\"token\":…,"
                + "\"trust\":\"hs|jwks|x5c\",\"ctx\":{…}}, and answers each by one line, "
                + "{\"id\":…,\"verdict\":\"accept|reject\",\"reasons\":[…]}, in their order. No input ends it but its "
                + "end. Members of ctx: now, device, content, user, aud, iss, used_count, used_playtime, last_seen, "
                + "serial_floor, seen_jti, eku.",
        ],
        arguments: [ArgumentSpec("FILE", "A licence file, a compact token; - is standard input.", .file)],
        options: trustOptions + [
            .value(
                "at", nil, "TIME", .time, help: "Judge as of this time: seconds since 1970, or 2026-03-01T08:00:00Z.",
                defaultText: "now"),
            .value("audience", nil, "TEXT", .text, help: "What 'aud' has to name."),
            .value("issuer", nil, "TEXT", .text, help: "What 'iss' has to be."),
            .value("user", nil, "TEXT", .text, help: "What 'sub' has to be."),
            .value("content", nil, "KEY", .text, help: "What 'mck' has to be."),
            .value("device", nil, "ID", .text, help: "The player id that 'cnf' has to name."),
            .flag("batch", help: "Judge the lines of standard input."),
            .value(
                "trust-dir", nil, "DIR", .directory,
                help: "Keys for --batch: hs.key, jwks.json, roots.pem, crl.pem, as far as they are there."),
        ],
        flagInsteadOfArguments: "batch",
        examples: [
            ExampleSpec(
                "lecturectl licence verify course.jwt --trust roots.pem --crl crl.pem", "judge by certificates"),
            ExampleSpec("lecturectl licence verify --batch --trust-dir keys < lines.jsonl", "judge many tokens"),
        ])

    static let passphraseFile = OptionSpec.value(
        "passphrase-file", nil, "FILE", .file,
        help: "A file with the passphrase, readable by its owner only; without it the terminal asks.")

    static let device = CommandSpec(
        "device", "manages the key of this device",
        discussion: [
            "Licences are bound to the key, and sealed lectures open only with it. It lies outside of every store, in "
                + "$LECTURE_DEVICE, else 'storage.device_dir', else $XDG_DATA_HOME/lecturekit-device, else "
                + "~/.local/share/lecturekit-device, and is drawn when it is first needed."
        ],
        examples: [ExampleSpec("lecturectl device show", "show the player id and the public key")],
        subcommands: [
            CommandSpec(
                "show", "shows the player id and the public key",
                discussion: ["Nothing of it is secret. Issuers need it to bind a licence to this device."],
                examples: [ExampleSpec("lecturectl device show --json", "the same as one JSON object")]),
            CommandSpec(
                "export", "writes a copy of the key that only a passphrase opens",
                discussion: ["Without the key the sealed lectures of this device are lost: keep a copy elsewhere."],
                options: [
                    .value("output", "o", "FILE", .file, help: "Where the copy is written; it must not exist yet."),
                    passphraseFile,
                ],
                examples: [
                    ExampleSpec(
                        "lecturectl device export --output device.copy", "ask for the passphrase on the terminal")
                ]),
            CommandSpec(
                "import", "takes a copy of a key as this device's",
                discussion: [
                    "Another key that this device has is only given up with --replace: licences that are bound to it, "
                        + "and everything it has sealed, are unreadable from then on unless there is a copy of it."
                ],
                arguments: [ArgumentSpec("FILE", "A copy from 'lecturectl device export'.", .file)],
                options: [passphraseFile, .flag("replace", help: "Give up the key that this device has.")],
                examples: [ExampleSpec("lecturectl device import device.copy", "move to another machine")]),
        ])
}
