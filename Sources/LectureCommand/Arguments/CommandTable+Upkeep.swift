import LectureModel

extension CommandTable {
    static let pin = CommandSpec(
        "pin", "keeps lectures whatever the rules say",
        discussion: [
            "'lecturectl prune' never removes a pinned lecture. 'lecturectl remove KEY' does, and its server can. "
                + "'list --json' and 'show' say which lectures are pinned."
        ],
        arguments: [keys], examples: [ExampleSpec("lecturectl pin algebra-01", "keep one lecture")])

    static let unpin = CommandSpec(
        "unpin", "takes the pins of lectures away", arguments: [keys],
        options: [everything("Take all pins away.")], flagInsteadOfArguments: "all",
        examples: [ExampleSpec("lecturectl unpin algebra-01", "leave one lecture to the rules again")])

    static let prune = CommandSpec(
        "prune", "removes what the rules do not keep",
        discussion: [
            "Rules are in the configuration ('retention.rules') or in --rule: 'keep 30d after play', 'keep 90d after "
                + "download', 'drop what has expired', each also 'for course NAME', and 'never below 20 GiB'. "
                + "docs/retention.md has the order in which lectures go.",
            "Pinned lectures, those that are played, and those that a process works on stay. Learning reports and "
                + "licences are kept; where a player resumes is removed with its lecture.",
            "The rules of the configuration are shown first: until --yes has accepted them, and again after each "
                + "change, nothing is removed and the exit status is 78.",
        ],
        options: [
            .flag("dry-run", "n", help: "Print what would be removed and why, and remove nothing."),
            .flag("yes", "y", help: "Accept the rules of the configuration, also for later runs."),
            .repeated("rule", nil, "RULE", .text, help: "A rule, in place of the configuration's. Repeatable."),
            .value(
                "max-delete", nil, "LIMIT", .countOrPercent,
                help: "Remove nothing if more than this number, or share (10%), of the complete lectures would go.",
                defaultText: Pruning.defaultLimit.text),
        ],
        examples: [
            ExampleSpec("lecturectl prune --dry-run", "show what the rules would remove"),
            ExampleSpec("lecturectl prune --yes", "remove it, and let later runs do so unattended"),
            ExampleSpec("lecturectl prune --rule 'never below 20 GiB'", "make space once"),
        ])
}
