// The commands about settings.

extension CommandTable {
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
