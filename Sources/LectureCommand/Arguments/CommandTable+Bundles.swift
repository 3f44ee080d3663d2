/// The commands for bundles.
extension CommandTable {
    private static let file = ArgumentSpec("FILE", "The bundle.", .file)
    private static let trust = OptionSpec.repeated(
        "trust", nil, "FILE", .file,
        help: "A public key whose bundles are trusted: a JWK or a JWK set, as 'device show' prints it. Repeatable.")

    static let bundle = CommandSpec(
        "bundle", "carries lectures to other devices without a network",
        discussion: [
            "A bundle is a tar archive with lectures, sealed for the devices it was made for, and signed. "
                + "docs/bundle.md describes the format and what it protects."
        ],
        examples: [
            ExampleSpec("lecturectl bundle create algebra.tar --course Algebra --for room-12.jwk", "make one"),
            ExampleSpec("lecturectl bundle import algebra.tar --trust office.jwk", "import it on the other device"),
        ],
        subcommands: [createBundle, listBundle, verifyBundle, importBundle])

    private static let createBundle = CommandSpec(
        "create", "writes lectures to a bundle",
        discussion: [
            "The file appears whole or not at all. Each lecture is compared with its proofs while it is read, and "
                + "sealed under a new key, which only the devices of --for can open. The device's key signs the "
                + "bundle, or the one of --sign-with.",
            "Licensed lectures are carried without their licence: the other device asks the licence server before it "
                + "keeps them. Only those that may be played now are taken. Adaptive lectures are left out.",
            "Exit status 1 means that lectures were left out; each is reported.",
        ],
        arguments: [
            ArgumentSpec("FILE", "The bundle; it must not exist yet.", .file),
            ArgumentSpec(
                "KEY", "The lectures; without any, and without --course, all complete ones.", .key, minimum: 0,
                maximum: nil),
        ],
        options: [
            .repeated(
                "for", nil, "FILE", .file,
                help: "The public key of a device that may open it, as 'device show' prints it. Repeatable."),
            .value("course", nil, "NAME", .text, help: "The lectures of this course."),
            .value(
                "have", nil, "FILE", .file,
                help: "Leave out what the other device has: the output of 'list --json' there; - is standard input."),
            .value(
                "sign-with", nil, "FILE", .file,
                help: "The private key that signs it (PEM, P-256 or Ed25519).", defaultText: "this device's key"),
            .flag("force", "f", help: "Replace the file."),
            .flag("dry-run", "n", help: "Print what would be in it, and write nothing."),
        ],
        examples: [
            ExampleSpec(
                "lecturectl bundle create more.tar --for room-12.jwk --have room-12.jsonl",
                "only what the other device does not have")
        ])

    private static let listBundle = CommandSpec(
        "list", "lists the lectures of a bundle",
        discussion: ["The signature and the list are verified; the lectures themselves are not read."],
        arguments: [file], options: [trust],
        examples: [ExampleSpec("lecturectl bundle list algebra.tar", "show what is in it and who has signed it")])

    private static let verifyBundle = CommandSpec(
        "verify", "compares every byte of a bundle with what was signed",
        discussion: ["Each damaged part is named; exit status 65. No key is needed for it."],
        arguments: [file], options: [trust],
        examples: [ExampleSpec("lecturectl bundle verify algebra.tar", "check a copy")])

    private static let importBundle = CommandSpec(
        "import", "takes the lectures of a bundle into the store",
        discussion: [
            "It is safe to repeat: what is complete is skipped, and an import that was interrupted continues. Nothing "
                + "is used before its signature and its digest were verified. Lectures that need a licence ask their "
                + "licence server; without a network they wait for the next import.",
            "Two lectures are taken at once unless --jobs says otherwise; each further one takes memory.",
            "The signer must be this device, or one of --trust.",
        ],
        arguments: [
            file, ArgumentSpec("KEY", "Only these lectures.", .key, minimum: 0, maximum: nil),
        ],
        options: [
            trust,
            .flag("acks", help: "Print 'ACK KEY' on standard output for each complete lecture."),
            .value(
                "deadline", nil, "DURATION", .duration,
                help: "Stop after this time with exit status 75. What was imported is kept."),
            .flag("dry-run", "n", help: "Print what would be imported, and import nothing."),
        ],
        groups: [
            OptionGroup("Network", networkOptions), OptionGroup("Disk", storageOptions), EndHook.group,
        ],
        examples: [
            ExampleSpec("lecturectl bundle import /media/stick/algebra.tar --trust office.jwk", "import from a stick")
        ])
}
