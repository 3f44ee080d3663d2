extension CommandTable {
    static let licence = CommandSpec(
        "licence", "manages licences",
        examples: [ExampleSpec("lecturectl licence verify course.jwt --trust roots.pem", "validate a licence file")],
        subcommands: licenceLedgerCommands + [licenceVerify])

    static let trustOptions: [OptionSpec] = [
        .value("trust", nil, "CA.PEM", .file, help: "Root certificates for tokens that carry their own chain (x5c)."),
        .value("crl", nil, "FILE", .file, help: "Revocation lists; each certificate must then be covered by one."),
        .value("jwks", nil, "FILE", .file, help: "A JWK set with the issuers' public keys."),
        .value("hmac-key-file", nil, "FILE", .file, help: "The raw bytes of a secret for HS256."),
    ]

    static let licenceVerify = CommandSpec(
        "verify", "validates licence files without storing them",
        discussion: [
            "Prints the verdict with every reason for a refusal, and the claims if the signature is valid. Exit status "
                + "65 means that the file is refused. Without --trust, --jwks and --hmac-key-file the keys of the "
                + "configuration are used. Claims are compared only with the values that --audience, --issuer, "
                + "--user, --content and --device give.",
            "With --batch it reads one JSON object per line on standard input, {\"id\":…,\"token\":…,"
                + "\"trust\":\"hs|jwks|x5c\",\"ctx\":{…}}, and answers each with one line, "
                + "{\"id\":…,\"verdict\":\"accept|reject\",\"reasons\":[…]}, in order. Bad input does not end it. "
                + "Members of ctx: now, device, content, user, aud, iss, used_count, used_playtime, last_seen, "
                + "serial_floor, seen_jti, eku.",
        ],
        arguments: [ArgumentSpec("FILE", "A licence file, a compact token; - is standard input.", .file)],
        options: trustOptions + [
            .value(
                "at", nil, "TIME", .time, help: "Validate for this time: seconds since 1970, or 2026-03-01T08:00:00Z.",
                defaultText: "now"),
            .value("audience", nil, "TEXT", .text, help: "The value that 'aud' must contain."),
            .value("issuer", nil, "TEXT", .text, help: "The value that 'iss' must have."),
            .value("user", nil, "TEXT", .text, help: "The value that 'sub' must have."),
            .value("content", nil, "KEY", .text, help: "The value that 'mck' must have."),
            .value("device", nil, "ID", .text, help: "The player id that 'cnf' must name."),
            .flag("batch", help: "Validate the lines of standard input."),
            .value(
                "trust-dir", nil, "DIR", .directory,
                help: "Keys for --batch: those of hs.key, jwks.json, roots.pem and crl.pem that exist."),
        ],
        flagInsteadOfArguments: "batch",
        examples: [
            ExampleSpec(
                "lecturectl licence verify course.jwt --trust roots.pem --crl crl.pem", "validate with certificates"),
            ExampleSpec("lecturectl licence verify --batch --trust-dir keys < lines.jsonl", "validate many tokens"),
        ])

    static let passphraseFile = OptionSpec.value(
        "passphrase-file", nil, "FILE", .file,
        help: "A file with the passphrase, readable only by its owner; without it the passphrase is typed.")

    static let device = CommandSpec(
        "device", "manages the key of this device",
        discussion: [
            "Licences are bound to the key, and sealed lectures open only with it. It is kept outside every store, in "
                + "$LECTURE_DEVICE, else 'storage.device_dir', else $XDG_DATA_HOME/lecturekit-device, else "
                + "~/.local/share/lecturekit-device, and is generated when it is first needed."
        ],
        examples: [ExampleSpec("lecturectl device show", "show the player id and the public key")],
        subcommands: [
            CommandSpec(
                "show", "shows the player id and the public key",
                discussion: ["None of this is secret. Issuers need it to bind a licence to this device."],
                examples: [ExampleSpec("lecturectl device show --json", "the same as one JSON object")]),
            CommandSpec(
                "export", "writes a copy of the key, protected by a passphrase",
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
                "import", "imports a copy of a key as this device's key",
                discussion: [
                    "A different key of this device is replaced only with --replace. Licences bound to that key, and "
                        + "everything sealed with it, are then unusable unless there is a copy of it."
                ],
                arguments: [ArgumentSpec("FILE", "A copy from 'lecturectl device export'.", .file)],
                options: [passphraseFile, .flag("replace", help: "Replace the key that this device has.")],
                examples: [ExampleSpec("lecturectl device import device.copy", "move to another machine")]),
        ])
}
