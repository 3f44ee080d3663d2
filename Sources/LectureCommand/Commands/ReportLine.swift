import LectureFormats
import LectureKit
import LectureModel

/// A line of `lms add --batch`.
enum ReportLine {
    /// The limits of a report, and space for the line around it.
    static let limits = JSONScanner.Limits(depth: 34, items: 200_100)

    /// The members that a line may have. Others are refused: a report whose payload has a mistyped name would be stored
    /// and delivered without it.
    static let memberNames = [
        "id", "user", "session", "content", "course", "note", "seq", "time_ms", "report", "target", "format",
    ]

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - bytes: one JSON object.
    ///   - configuration: supplies the configured target.
    /// - Returns: the report.
    /// - Throws: `LectureError` with `reportInvalid` that names the member.
    static func report(_ bytes: [UInt8], _ configuration: Configuration) throws(LectureError) -> LearningReport {
        do throws(LectureError) {
            return try read(try MemberReader(try JSONScanner.value(of: bytes, limits: limits)), configuration)
        } catch {
            if error.code == .reportInvalid { throw error }
            throw LectureError(.reportInvalid, cause: error.detail.isEmpty ? error.message : error.detail)
        }
    }

    private static func read(
        _ reader: MemberReader, _ configuration: Configuration
    ) throws(LectureError) -> LearningReport {
        if let name = reader.unknown(besides: memberNames).first {
            let hint = Suggestion.hint(for: name, among: memberNames)
            throw LectureError(.reportInvalid, cause: "unknown member '\(name)'\(hint)")
        }
        var report = LearningReport()
        report.id = try reader.string("id")
        report.user = try reader.string("user") ?? ""
        report.session = try reader.string("session") ?? ""
        report.content = try reader.string("content") ?? ""
        report.course = try reader.string("course")
        report.note = try reader.string("note")
        report.sequence = try reader.integer("seq", in: 0...Int64.max).map { Int64($0) }
        report.time = try reader.integer("time_ms", in: 0...Int64.max).map { Timestamp(milliseconds: Int64($0)) }
        if let values = reader.value["report"], !values.isNull { report.values = values.text }
        var format: ReportFormat?
        if let name = try reader.string("format") {
            format = ReportFormat(rawValue: name)
            guard format != nil else {
                let words = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw LectureError(.reportInvalid, detail: "format", cause: "must be one of \(words)")
            }
        }
        if let url = try reader.string("target") {
            report.target = ReportAddCommand.target(url, format, configuration)
        } else if format != nil {
            throw LectureError(.reportInvalid, detail: "format", cause: "it needs a target")
        }
        return report
    }
}

/// The file of `lms add --play`.
struct PlayFile {
    private let duration: Duration
    private let blocks: Int
    private let startAt: Timestamp
    private let intervals: [PlayedInterval]

    /// Parses a file.
    ///
    /// - Parameter bytes: one JSON object.
    /// - Throws: `LectureError` with `reportInvalid` that names the member.
    init(_ bytes: [UInt8]) throws(LectureError) {
        do throws(LectureError) {
            let reader = try MemberReader(try JSONScanner.value(of: bytes, limits: ReportLine.limits))
            duration = .milliseconds(try reader.integer("duration_ms", in: 0...Self.longest) ?? 0)
            blocks = try reader.integer("block_count", in: 1...10_000) ?? 100
            var intervals: [PlayedInterval] = []
            var first: Int?
            for element in try reader.array("intervals") ?? [] {
                let member = try MemberReader(element)
                if let wall = try member.integer("wall_ms", in: 0...Int64.max) { first = first ?? wall }
                intervals.append(try Self.interval(member))
            }
            self.intervals = intervals
            guard let first else { throw LectureError(.json, detail: "no interval has the member 'wall_ms'") }
            startAt = Timestamp(milliseconds: Int64(first))
        } catch {
            throw LectureError(.reportInvalid, detail: "play", cause: error.detail)
        }
    }

    /// A hundred years.
    private static let longest: Int64 = 3_155_760_000_000

    private static func interval(_ reader: MemberReader) throws(LectureError) -> PlayedInterval {
        guard let name = try reader.string("activity"), let activity = PlayedInterval.Activity(rawValue: name) else {
            let words = PlayedInterval.Activity.allCases.map(\.rawValue).joined(separator: ", ")
            throw LectureError(.json, detail: "member 'activity' must be one of \(words)")
        }
        guard let from = try reader.integer("from_ms", in: 0...longest),
            let to = try reader.integer("to_ms", in: 0...longest)
        else { throw LectureError(.json, detail: "an interval lacks 'from_ms' or 'to_ms'") }
        let speed = try reader.integer("speed_permille", in: 0...1_000_000) ?? 1000
        let began = try reader.integer("boot_ns", in: 0...Int64.max)
        let ended = try reader.integer("ended_boot_ns", in: 0...Int64.max)
        guard (began == nil) == (ended == nil) else {
            throw LectureError(.json, detail: "an interval has only one of 'boot_ns' and 'ended_boot_ns'")
        }
        // Without clocks, the real time of a played interval is its length divided by its speed.
        let ran = activity == .play ? Double(max(0, to - from)) / max(0.001, Double(speed) / 1000) : 0
        let lasting =
            if let began, let ended { Duration.nanoseconds(max(0, ended - began)) } else {
                Duration.milliseconds(Int64(ran))
            }
        return PlayedInterval(
            activity, from: .milliseconds(from), to: .milliseconds(to), speed: Double(speed) / 1000, lasting: lasting)
    }

    /// The report's JSON.
    func values(content: String, user: String) -> String {
        LectureManager.Reports.playValues(
            intervals, content: content, user: user, startAt: startAt, duration: duration, blocks: blocks)
    }
}
