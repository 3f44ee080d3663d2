import LectureServe

// The server of a store, and who may use it.

extension CommandTable {
    private static let accessOption = OptionSpec.value(
        "access", nil, "FILE", .file, help: "The access file: who may use the server.",
        defaultText: "serve.access_file, else access beside the configuration file")

    static let serveOptions: [OptionSpec] = [
        .value(
            "listen", nil, "ADDRESS:PORT", .text,
            help: "Where it listens: an IPv4 address of this machine, and a port; 0 for any free one.",
            defaultText: "127.0.0.1:8080"),
        .repeated(
            "name", nil, "HOST", .text, help: "A name of this server in the network, without a port. Repeatable."),
        .value(
            "tls-cert", nil, "FILE", .file, help: "The certificate in PEM, with those that lead to its root."),
        .value(
            "tls-key", nil, "FILE", .file, help: "Its private key in PEM, which only its owner may read."),
        .flag("behind-proxy", help: "A proxy in front of the server ends TLS."),
        accessOption,
    ]

    static let serve = CommandSpec(
        "serve", "shows the store in a browser, and serves it to classrooms, branch servers and programs",
        discussion: [
            "Prints the URL, and serves until it is stopped. Unfinished lectures of the store continue, and learning "
                + "reports are sent at the next opportunity. Licences are renewed by 'lecturectl daemon', which may "
                + "run at the same time.",
            "Everything needs a token of the access file: see 'lecturectl access'. An address that other machines "
                + "reach needs TLS, its own or a proxy's.",
            "A changed access file counts at once; SIGHUP reads it, too. SIGTERM and SIGINT stop the server, with "
                + "status 0. systemd learns when it is ready (Type=notify).",
        ],
        options: serveOptions,
        groups: [
            OptionGroup("Network", limitOptions + networkOptions), OptionGroup("Disk", storageOptions),
        ],
        examples: [
            ExampleSpec("lecturectl serve", "serve this machine"),
            ExampleSpec(
                "lecturectl serve --listen 0.0.0.0:8443 --tls-cert own.pem --tls-key own.key",
                "serve a network"),
        ])

    static let access = CommandSpec(
        "access", "says who may use 'lecturectl serve'",
        discussion: [
            "The access file has the digest of each token, and never a token. Only its owner may read it. A server "
                + "that runs notices each change."
        ],
        examples: [ExampleSpec("lecturectl access list", "show who may use the server")],
        subcommands: [
            CommandSpec(
                "add", "adds a person or a program, and prints the token, which is shown only once",
                arguments: [ArgumentSpec("NAME", "The name of a person or a program, without blanks.", .text)],
                options: [
                    .value(
                        "role", nil, "ROLE", .words(AccessFile.roles),
                        help:
                            "viewer: watches lectures; peer: fetches them for another store; operator: does everything."
                    ),
                    accessOption,
                ],
                examples: [ExampleSpec("lecturectl access add ada --role operator", "let ada do everything")]),
            CommandSpec(
                "list", "lists who may use the server", options: [accessOption],
                examples: [ExampleSpec("lecturectl access list --json", "one JSON object for each")]),
            CommandSpec(
                "remove", "removes a person or a program: the token and its sessions are over",
                arguments: [ArgumentSpec("NAME", "The name.", .text)], options: [accessOption],
                examples: [ExampleSpec("lecturectl access remove ada", "ada may not use it any more")]),
        ])
}
