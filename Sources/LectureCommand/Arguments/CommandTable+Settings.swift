// The commands about settings.

extension CommandTable {
    static let doctor = CommandSpec(
        "doctor", "examines configuration, store, disk, clock, device key and servers",
        discussion: [
            "Each line says what was found, and what to do where something is wrong. Nothing is changed: a missing "
                + "store is not made, an older one is not migrated.",
            "The servers of unfinished lectures, of licences and of reports are asked for their root, without "
                + "credentials: whether their name is known, they can be reached, their certificate is trusted, and "
                + "they answer. The clock is compared with those that are asked over https.",
            "Exit status 1 means that something does not work; warnings leave it at 0.",
        ],
        arguments: [
            ArgumentSpec("SERVER", "A further server to ask: an http or https URL.", .url, minimum: 0, maximum: nil)
        ],
        options: [.flag("offline", help: "Ask no server.")] + settingOptions,
        examples: [
            ExampleSpec("lecturectl doctor", "examine everything"),
            ExampleSpec("lecturectl doctor https://media.example.org", "ask a server before the first download"),
        ])

    static let config = CommandSpec(
        "config", "shows and checks the settings",
        examples: [ExampleSpec("lecturectl config show --origin", "show every setting and where its value comes from")],
        subcommands: [
            CommandSpec(
                "show", "shows the effective settings",
                discussion: [
                    "Secrets are not shown, and no store is opened. The options are those that other commands take for "
                        + "the network and the disk; a value given here is shown with the others."
                ],
                options: [.flag("origin", help: "Show which file, variable or option each value comes from.")]
                    + settingOptions,
                examples: [
                    ExampleSpec("lecturectl config show --origin", "show where each value comes from"),
                    ExampleSpec("LECTURE_JOBS=8 lecturectl config show --json", "one JSON object per setting"),
                ]),
            CommandSpec(
                "check", "checks the configuration file and the files it names",
                discussion: [
                    "A setting that this version does not know is an error here; every other command ignores it with a "
                        + "warning. Certificates, credentials and keys that the file names are read. No server is "
                        + "asked, and no store is opened.",
                    "Exit status 78 means that there are mistakes.",
                ],
                arguments: [
                    ArgumentSpec("FILE", "The file; by default the one that is used.", .file, minimum: 0, maximum: 1)
                ],
                examples: [
                    ExampleSpec("lecturectl config check", "check the file that is used"),
                    ExampleSpec("lecturectl config check new.json", "check a file before it is used"),
                ]),
        ])
}
