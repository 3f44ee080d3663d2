import LectureKit
import LectureModel

/// The commands that take reports out of the store, bring them back, and erase a learner.
extension CommandTable {
    static let statisticsExport = [lmsExport, lmsImport, lmsErase]

    private static let lmsExport = CommandSpec(
        "export", "writes reports as CSV, JSON Lines or xAPI",
        discussion: [
            "A million reports need the memory of a few. With --output the file is compressed when its name ends with "
                + ".gz or .zst, only its owner may read it, and it stands under its name only when it is whole. What "
                + "is stored meanwhile may be in the export or not; what was there before is in it once.",
            "JSON Lines ends with a summary line with the SHA-256 of the lines before it, and is what 'lecturectl lms "
                + "import' reads back. In CSV a text that a spreadsheet would take for a formula has an apostrophe in "
                + "front. xAPI is an array of statements of the video profile.",
            "--pseudonymise replaces learners by keyed hashes (HMAC with SHA-256): with the same key the same learner "
                + "has the same pseudonym. The key is all of the file's bytes, at least 16; only its owner "
                + "may read it.",
        ],
        options: [
            .value(
                "format", nil, "FORMAT", .words(["csv", "jsonl", "xapi"]), help: "What is written.",
                defaultText: "what the name of --output says, else jsonl"),
            .value(
                "since", nil, "TIME", .time,
                help: "Nothing that happened before; by the corrected time where it is known."),
            .value("until", nil, "TIME", .time, help: "Nothing that happened then or later."),
            .repeated(
                "state", nil, "STATE", .words(ReportState.names), help: "Only reports in this state. Repeatable."),
            .value("course", nil, "NAME", .text, help: "Only this course."),
            .value("user", nil, "ID", .text, help: "Only this learner."),
            .value("output", "o", "FILE", .file, help: "Where the export is written.", defaultText: "standard output"),
            .value(
                "pseudonymise", nil, "KEYFILE", .file,
                help: "Replace learners by pseudonyms under the key in this file."),
            .flag("force", "f", help: "Replace the file of --output when it is there."),
        ],
        examples: [
            ExampleSpec("lecturectl lms export --output reports.jsonl.zst", "everything, to be read back elsewhere"),
            ExampleSpec(
                "lecturectl lms export --format csv --state dead > dead.csv", "what was refused, for a spreadsheet"),
        ])

    private static let lmsImport = CommandSpec(
        "import", "reads exports back",
        discussion: [
            "Reads JSON Lines or CSV, compressed with gzip or Zstandard or not: the bytes say which. Reports come in "
                + "the state they are in there; what was being sent when the export was made waits again. Repeating an "
                + "import changes nothing.",
            "A line that cannot be read and a report that cannot be stored are named and do not stop the others; the "
                + "status is then 1. A file that is cut off or was changed ends with status 65; its readable reports "
                + "are stored.",
        ],
        arguments: [ArgumentSpec("FILE", "The exports; - reads standard input.", .file, maximum: nil)],
        options: [
            .value(
                "format", nil, "FORMAT", .words(["jsonl", "csv"]), help: "What the files hold.",
                defaultText: "csv for .csv, .csv.gz and .csv.zst, else jsonl")
        ],
        examples: [ExampleSpec("lecturectl lms import reports.jsonl.zst", "store what was exported")])

    private static let lmsErase = CommandSpec(
        "erase", "erases a learner from the store and its copies, and proves it",
        discussion: [
            "Deletes the learner's reports in every state, sessions, and requests; empties the store's log; does the "
                + "same in each copy that 'lecturectl store backup' made; then searches the raw bytes of all of them "
                + "for the id, also percent-encoded and with the escapes of JSON. An id below four bytes is not "
                + "searched for, as it is everywhere by chance.",
            "What was done is printed. The status is 1 when a copy cannot be reached or another place still names the "
                + "learner: each is named. Exports, and copies made by other means, are yours to delete.",
            "A report that was sent and never acknowledged stops everything with status 75: run "
                + "'lecturectl lms send' first, or add --force.",
        ],
        options: [
            .value("user", nil, "ID", .text, help: "The learner's id. Needed."),
            .flag(
                "force", "f",
                help: "Also dissolve requests that were never acknowledged; the other reports in them go "
                    + "out once more."),
            .flag("dry-run", "n", help: "Only say what would be erased."),
            .repeated(
                "forget-copy", nil, "FILE", .file,
                help: "This copy of the store is gone for good: strike it from the list. Repeatable."),
        ],
        examples: [
            ExampleSpec("lecturectl lms erase --user kim7 --dry-run", "see what there is"),
            ExampleSpec("lecturectl lms erase --user kim7", "erase it"),
        ])
}
