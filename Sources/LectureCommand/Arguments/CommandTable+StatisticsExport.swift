import LectureKit
import LectureModel

/// The commands that export and import reports, and erase a learner.
extension CommandTable {
    static let statisticsExport = [lmsExport, lmsImport, lmsErase]

    private static let lmsExport = CommandSpec(
        "export", "writes reports as CSV, JSON Lines or xAPI",
        discussion: [
            "Memory use does not grow with the number of reports. With --output the file is compressed if its name "
                + "ends with .gz or .zst, only its owner may read it, and it has its name only once it is complete. "
                + "Reports stored during the export may or may not be in it; earlier ones are in it exactly once.",
            "JSON Lines ends with a summary line with the SHA-256 of the lines before it; 'lecturectl lms import' "
                + "reads it back. In CSV, text that a spreadsheet would take for a formula is prefixed with an "
                + "apostrophe. xAPI is an array of statements of the video profile.",
            "--pseudonymise replaces learners by keyed hashes (HMAC with SHA-256): with the same key the same learner "
                + "has the same pseudonym. The key is all of the file's bytes, at least 16; only its owner "
                + "may read it.",
        ],
        options: [
            .value(
                "format", nil, "FORMAT", .words(["csv", "jsonl", "xapi"]), help: "The format to write.",
                defaultText: "by the name of --output, else jsonl"),
            .value(
                "since", nil, "TIME", .time,
                help: "Only reports from this time on, by the corrected time if it is known."),
            .value("until", nil, "TIME", .time, help: "Only reports from before this time."),
            .repeated(
                "state", nil, "STATE", .words(ReportState.names), help: "Only reports in this state. Repeatable."),
            .value("course", nil, "NAME", .text, help: "Only this course."),
            .value("user", nil, "ID", .text, help: "Only this learner."),
            .value("output", "o", "FILE", .file, help: "Where the export is written.", defaultText: "standard output"),
            .value(
                "pseudonymise", nil, "KEYFILE", .file,
                help: "Replace learners by pseudonyms under the key in this file."),
            .flag("force", "f", help: "Replace the file of --output if it exists."),
        ],
        examples: [
            ExampleSpec("lecturectl lms export --output reports.jsonl.zst", "export everything to import it elsewhere"),
            ExampleSpec(
                "lecturectl lms export --format csv --state dead > dead.csv", "export what was refused to a CSV file"),
        ])

    private static let lmsImport = CommandSpec(
        "import", "imports exported reports",
        discussion: [
            "Reads JSON Lines or CSV, plain or compressed with gzip or Zstandard; compression is detected. Reports "
                + "keep the state they have in the export; those that were being sent when it was made wait again. "
                + "Repeating an import changes nothing.",
            "Lines that cannot be read and reports that cannot be stored are reported and do not stop the others; the "
                + "exit status is then 1. For a file that is truncated or was modified the exit status is 65; its "
                + "readable reports are stored.",
        ],
        arguments: [ArgumentSpec("FILE", "The exports; - reads standard input.", .file, maximum: nil)],
        options: [
            .value(
                "format", nil, "FORMAT", .words(["jsonl", "csv"]), help: "The format of the files.",
                defaultText: "csv for .csv, .csv.gz and .csv.zst, else jsonl")
        ],
        examples: [ExampleSpec("lecturectl lms import reports.jsonl.zst", "store the exported reports")])

    private static let lmsErase = CommandSpec(
        "erase", "erases a learner from the store and its copies, and verifies it",
        discussion: [
            "Deletes the learner's reports in every state, sessions, and requests; empties the store's log; does the "
                + "same in each copy that 'lecturectl store backup' made; then searches the raw bytes of all of them "
                + "for the id, also percent-encoded and with JSON escapes. Ids of less than four bytes are not "
                + "searched for, because they occur everywhere by chance.",
            "Prints what was done. The exit status is 1 when a copy cannot be reached or another place still names the "
                + "learner; each of them is listed. You must delete exports, and copies made by other means, yourself.",
            "If a report was sent and never acknowledged, nothing is erased and the exit status is 75: run "
                + "'lecturectl lms send' first, or add --force.",
        ],
        options: [
            .value("user", nil, "ID", .text, help: "The learner's id. Required."),
            .flag(
                "force", "f",
                help: "Also break up requests that were never acknowledged; the other reports in them are "
                    + "sent again."),
            .flag("dry-run", "n", help: "Only print what would be erased."),
            .repeated(
                "forget-copy", nil, "FILE", .file,
                help: "This copy of the store no longer exists: remove it from the list. Repeatable."),
        ],
        examples: [
            ExampleSpec("lecturectl lms erase --user kim7 --dry-run", "show what would be erased"),
            ExampleSpec("lecturectl lms erase --user kim7", "erase it"),
        ])
}
