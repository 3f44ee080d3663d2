import LectureModel

/// The commands of webhooks.
extension CommandTable {
    static let webhooks = CommandSpec(
        "webhooks", "notifies servers of yours of what happens in the store",
        discussion: [
            "A server that 'webhooks' of the configuration names gets an HTTP POST for each thing that "
                + "happens: a lecture is complete, has failed, was removed or is damaged; a licence was "
                + "renewed, refused or ended, or its lecture's removal ordered; a report was refused for good. "
                + "Requests are signed (Standard Webhooks). What happens while the server or the network is "
                + "down, or while a program is killed, waits in the store. 'lecturectl daemon' sends by itself.",
            "An endpoint is named by its number in 'webhooks list' or by its whole URL. Its URL may be a secret, so "
                + "only its scheme, host and port are printed.",
        ],
        examples: [
            ExampleSpec("lecturectl webhooks test", "see whether the servers of the configuration answer"),
            ExampleSpec("lecturectl webhooks list", "see what waits, and why"),
        ],
        subcommands: [
            CommandSpec(
                "list", "lists the endpoints and what waits for each, or the events that wait",
                discussion: [
                    "Prints a table on a terminal; elsewhere the same columns separated by tabs. An endpoint that the "
                        + "configuration in use does not name gets nothing from it."
                ],
                options: [
                    .flag("waiting", help: "List the events that wait.", conflicts: ["dead"]),
                    .flag("dead", help: "List the events that were refused for good.", conflicts: ["waiting"]),
                ],
                examples: [
                    ExampleSpec("lecturectl webhooks list --json", "print the endpoints for a script"),
                    ExampleSpec("lecturectl webhooks list --dead", "see which events were refused"),
                ]),
            CommandSpec(
                "send", "sends every event that waits",
                discussion: [
                    "Events of one lecture are sent in their order, those of different lectures up to four at once. It "
                        + "is safe to kill and to repeat: what may have arrived is sent again under the same "
                        + "'webhook-id' with the same body.",
                    "The exit status is 0 when nothing is left, 1 when events were refused for good, 69 when a server "
                        + "could not be reached or has failed, 75 when events are waiting, 77 when a server has "
                        + "switched its webhook off, 78 when a secret cannot be used.",
                ],
                options: [
                    .value("endpoint", nil, "NUMBER|URL", .text, help: "Only to this endpoint."),
                    .value(
                        "max-attempts", nil, "N", .integer(1...1000),
                        help: "Give up on an endpoint after N failures in a row.", defaultText: "5"),
                    .value(
                        "longest-wait", nil, "DURATION", .duration,
                        help: "Do not wait for an endpoint longer than this.",
                        defaultText: "30s"),
                ],
                groups: [EndHook.group],
                examples: [ExampleSpec("lecturectl webhooks send", "send what waits")]),
            CommandSpec(
                "retry", "lets events that were refused for good wait again",
                discussion: [
                    "Waits end, and an endpoint that was switched off by its receiver is asked again. "
                        + "'lecturectl webhooks send', or the daemon, sends."
                ],
                options: [
                    .value(
                        "endpoint", nil, "NUMBER|URL", .text, help: "Only this endpoint.", defaultText: "all endpoints")
                ],
                examples: [ExampleSpec("lecturectl webhooks retry", "after a receiver was corrected")]),
            CommandSpec(
                "test", "sends a test and prints the answer",
                discussion: [
                    "The event 'webhook.test' is signed as all others, is about nothing that has happened, and is not "
                        + "stored. The exit status is that of 'webhooks send'."
                ],
                options: [
                    .value(
                        "endpoint", nil, "NUMBER|URL", .text, help: "Only to this endpoint.",
                        defaultText: "all of the configuration")
                ],
                examples: [ExampleSpec("lecturectl webhooks test", "after the configuration was changed")]),
        ])
}
