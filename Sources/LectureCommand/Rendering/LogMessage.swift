import LectureFormats
package import LectureKit
package import LectureModel
import LectureRecords

/// How messages are written on standard error, each on a line of its own.
///
/// | format | a line |
/// | --- | --- |
/// | sentences | `lecturectl: The store is in use.` |
/// | text | `2026-11-27T01:02:03.004Z error The store is in use. error=store_busy error_number=-20011` |
/// | json | `{"time":"2026-11-27T01:02:03.004Z","level":"error","message":"The store is in use.", …}` |
/// | journal | `<3>lecturectl: The store is in use.` |
package enum LogFormat: String, Sendable, CaseIterable {
    /// Sentences for people.
    case sentences
    /// Time and level, a sentence, and what varies as `name=value`.
    case text
    /// JSON objects, described by docs/json/log.schema.json.
    case json
    /// Sentences with priorities for systemd's journal (sd-daemon(3)), which adds the time.
    case journal

    /// The values of `--log-format`.
    package static let words = ["auto", "text", "json", "journal"]
    /// The environment variable for `--log-format`.
    package static let variable = "LECTURE_LOG_FORMAT"

    /// The format that a command line names, for messages about a command line that cannot be used.
    ///
    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - environment: the variables.
    /// - Returns: the word; nil when it is none of ``words``.
    package static func named(by arguments: [String], _ environment: [String: String]) -> String? {
        let words = arguments.prefix { $0 != "--" }
        var named: String?
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == "--log-format" { named = next }
            if word.hasPrefix("--log-format=") { named = String(word.dropFirst(13)) }
        }
        return (named ?? environment[variable]).flatMap { Self.words.contains($0) ? $0 : nil }
    }
}

/// One message on standard error.
package struct LogMessage: Sendable, Equatable {
    /// When it was written, by the wall clock.
    package var time: Timestamp
    /// How much it matters.
    package var priority: MessagePriority
    /// One sentence.
    package var text: String
    /// The error that it reports.
    package var error: LectureError?
    /// What the library says it is about; empty for a message of the command.
    package var category = ""
    /// What varies in a message of the library.
    package var fields: [String: String] = [:]

    /// A message of the command.
    ///
    /// - Parameters:
    ///   - time: when it is written.
    ///   - priority: how much it matters.
    ///   - text: one sentence.
    ///   - error: the error that it reports.
    package init(time: Timestamp, priority: MessagePriority, text: String, error: LectureError? = nil) {
        (self.time, self.priority, self.text, self.error) = (time, priority, text, error)
    }

    /// A message of the library, which has no secrets in it.
    ///
    /// - Parameter record: what happened.
    package init(_ record: LectureLogRecord) {
        let priority: MessagePriority =
            switch record.level {
            case .debug: .debug
            case .info: .information
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            }
        self.init(time: record.time, priority: priority, text: record.message)
        (category, fields) = (record.category.rawValue, record.fields)
    }

    /// The line for people and for the journal.
    ///
    /// - Parameters:
    ///   - format: not `json`.
    ///   - program: the program that says it.
    /// - Returns: the line with its end; control characters are replaced.
    package func line(_ format: LogFormat, of program: ProgramTable = .lecturectl) -> SafeText {
        let pairs = format == .text ? allFields : fields
        let rest = pairs.sorted { $0.key < $1.key }.map { " \($0.key)=\(Self.value($0.value))" }.joined()
        switch format {
        case .text, .json: return "\(MomentText.utc(time)) \(priority.name) \(text)\(rest)\n"
        case .sentences: return "\(program.programName): \(text)\(rest)\n"
        case .journal: return "\(priority.prefix)\(program.programName): \(text)\(rest)\n"
        }
    }

    /// The line for programs: an object with its line end.
    package var json: String {
        JSONLine.line { writer in
            writer.member("time", MomentText.utc(time))
            writer.member("level", priority.name)
            writer.member("message", text)
            if !category.isEmpty { writer.member("category", category) }
            let fields = allFields
            guard !fields.isEmpty else { return }
            writer.object("fields") { writer in
                for (name, value) in fields.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
            }
        }
    }

    private var allFields: [String: String] {
        guard let error else { return fields }
        return fields.merging(["error": error.code.name, "error_number": "\(error.code.number)"]) { given, _ in given }
    }

    /// A value that ends where the next blank is.
    private static func value(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        guard !isPlain else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

/// Writes what the library logs among the messages of a command (`-vv`).
struct LogObserver: LectureObserver {
    let context: CommandContext

    func log(_ record: LectureLogRecord) { context.write(LogMessage(record)) }

    func record(_ metric: LectureMetric) {
        guard metric.name == "lecturekit_log_records_dropped_total" else { return }
        let subject = metric.value == 1 ? "1 message was" : "\(metric.value) messages were"
        context.say("\(subject) left out of the log: standard error takes them too slowly.", .warning)
    }
}
