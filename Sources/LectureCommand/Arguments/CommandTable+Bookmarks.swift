/// The commands for bookmarks.
extension CommandTable {
    private static let user = OptionSpec.value(
        "user", nil, "ID", .text, help: "The learner.", defaultText: "the one named by the lecture's gateway")
    private static let time = ArgumentSpec("TIME", "The position: 90, 12:30, 1:02:03.", .position)

    static let bookmark = CommandSpec(
        "bookmark", "manages the bookmarks of lectures",
        discussion: [
            "A list begins with the bookmarks that came with the lecture: the teacher's index, and the learner's own. "
                + "Learners' bookmarks can be set and removed without a network where the licence permits it; the "
                + "changes go to the bookmark server with 'bookmark sync' or 'lms send'."
        ],
        examples: [ExampleSpec("lecturectl bookmark add algebra-01 12:30 'the proof'", "set one")],
        subcommands: [
            CommandSpec(
                "list", "lists the bookmarks of a lecture, by position", arguments: [key], options: [user],
                examples: [ExampleSpec("lecturectl bookmark list algebra-01", "show them")]),
            CommandSpec(
                "add", "sets a bookmark; one at the same position is replaced",
                arguments: [key, time, ArgumentSpec("TEXT", "The bookmark's text.", .text, minimum: 0)],
                options: [user],
                examples: [ExampleSpec("lecturectl bookmark add algebra-01 12:30 'the proof'", "set one")]),
            CommandSpec(
                "remove", "removes bookmarks of the learner",
                arguments: [key, ArgumentSpec("TIME", "The positions: 90, 12:30, 1:02:03.", .position, maximum: nil)],
                options: [user], examples: [ExampleSpec("lecturectl bookmark remove algebra-01 12:30", "remove one")]),
            CommandSpec(
                "sync", "sends changes to the bookmark server, and takes over what it has",
                discussion: [
                    "Without keys it does so for each lecture with changes that wait. Where the server and this store "
                        + "have changed the same position, the change made here wins; everything else is the "
                        + "server's. What cannot be sent waits. Exit status 75 means that changes wait."
                ],
                arguments: [ArgumentSpec("KEY", "Only these lectures.", .key, minimum: 0, maximum: nil)],
                options: [user], groups: [EndHook.group],
                examples: [ExampleSpec("lecturectl bookmark sync", "send everything that waits")]),
        ])
}
