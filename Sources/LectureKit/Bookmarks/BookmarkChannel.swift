import LectureDownload
import LectureFormats
import LectureModel
import LectureStatistics

/// Where the bookmarks of a lecture are kept: the server that its gateway names, else the configured one.
struct BookmarkChannel {
    /// Takes changes, by the outbox of learning reports.
    let target: ReportRecord.Target
    /// Returns the list.
    let listURL: String

    /// The parameters of a change, with the macros of a report.
    private static let parameters = [
        ("media_content_key", "{MEDIA_CONTENT_KEY}"), ("client_user_id", "{CLIENT_USER_ID}"),
        ("localtime", "{LOCALTIME}"), ("uservalues", "{USERVALUES}"),
        ("bookmarks", "{\(ReportRecord.Target.bookmarks)}"),
    ]

    /// Finds the server; nil when none is known. One that the gateway names by an unusable URL does not count.
    ///
    /// - Parameters:
    ///   - descriptor: the gateway's answer, if there is one.
    ///   - configured: the URL of the configuration; nil without one.
    ///   - key: the lecture.
    ///   - user: the learner.
    ///   - now: the wall clock, which the server gets.
    init?(descriptor: JSONValue?, configured: String?, key: String, user: String, now: Timestamp) {
        let parameters = Self.parameters.map { ReportTarget.Parameter($0.0, $0.1) }
        let targets = [descriptor?["bookmark_url"]?.string, configured].compactMap(\.self).compactMap { url in
            try? ReportTarget(url: url, format: .kollus, parameters: parameters).address()
        }
        guard let first = targets.first else { return nil }
        target = first
        let query = [
            ReportParameter("media_content_key", key), ReportParameter("client_user_id", user),
            ReportParameter("localtime", "\(now.milliseconds / 1000)"),
        ]
        listURL = RequestMaker.url(first.url, query: "?" + FormText.encode(query))
    }

    // MARK: What is sent and received

    /// The values of a report with changes.
    ///
    /// - Parameters:
    ///   - changes: open ones, by position.
    ///   - now: the wall clock.
    /// - Returns: a JSON object with the macros as members.
    static func values(_ changes: [BookmarkRecord], now: Timestamp) -> String {
        JSONWriter.object { writer in
            writer.member("LOCALTIME", now.milliseconds / 1000)
            writer.array(ReportRecord.Target.bookmarks) { writer in
                for change in changes {
                    writer.object { writer in
                        writer.member("action", change.state == .removed ? "remove" : "add")
                        write(change.position, &writer)
                        guard change.state != .removed else { return }
                        writer.member("value", change.value)
                        writer.member("localtime", (change.changed ?? now).milliseconds / 1000)
                    }
                }
            }
        }
    }

    /// Writes a position in seconds, as a whole number where it is one.
    private static func write(_ position: Int64, _ writer: inout JSONWriter) {
        if position % 1000 == 0 {
            writer.member("position", position / 1000)
        } else {
            writer.member("position", Double(position) / 1000)
        }
    }

    /// Reads a server's list.
    ///
    /// - Parameter body: the whole answer: `{"error": 0, "result": {"bookmark_positions": [{"position", "value",
    ///   "kind", "label", "localtime"}]}}`. Kind 0 is a learner's, 1 the teacher's.
    /// - Returns: its bookmarks; of two of a kind at one position the last.
    /// - Throws: ``LectureError`` with `bookmarkAnswer`.
    static func bookmarks(_ body: [UInt8]) throws(LectureError) -> [BookmarkRecord] {
        let value: JSONValue
        do throws(LectureError) {
            value = try JSONScanner.value(of: body, limits: JSONScanner.Limits(depth: 8, items: 200_000))
        } catch { throw LectureError(.bookmarkAnswer, cause: error.message) }
        if let code = value["error"], !AnswerForm.isNoError(code) {
            throw LectureError(.bookmarkAnswer, cause: "error \(code.text)")
        }
        guard let positions = (value["result"] ?? value)["bookmark_positions"]?.elements else {
            throw LectureError(.bookmarkAnswer, cause: "no 'bookmark_positions'")
        }
        var found: [BookmarkRecord.Kind: [Int64: BookmarkRecord]] = [:]
        for element in positions {
            guard let bookmark = bookmark(element) else {
                throw LectureError(.bookmarkAnswer, cause: "a bookmark without a valid position or kind")
            }
            found[bookmark.kind, default: [:]][bookmark.position] = bookmark
        }
        return found.values.flatMap(\.values).sorted {
            ($0.position, $0.kind.rawValue) < ($1.position, $1.kind.rawValue)
        }
    }

    private static func bookmark(_ value: JSONValue) -> BookmarkRecord? {
        guard let seconds = number(value["position"]), (0...BookmarkRules.furthest).contains(seconds),
            let number = number(value["kind"] ?? .integer(0)).flatMap({ Int(exactly: $0) }),
            let kind = BookmarkRecord.Kind(rawValue: number)
        else { return nil }
        var bookmark = BookmarkRecord(
            kind: kind, position: Int64((seconds * 1000).rounded()), value: value["value"]?.string ?? "",
            label: value["label"]?.string ?? "")
        // Of no effect here, so an impossible time is left out.
        bookmark.changed = Self.number(value["localtime"]).flatMap { Int64(exactly: ($0 * 1000).rounded()) }
            .map { Timestamp(milliseconds: $0) }
        return bookmark
    }

    /// Servers written in PHP send numbers as texts.
    private static func number(_ value: JSONValue?) -> Double? {
        value?.double ?? value?.string.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }
}

/// What a bookmark may be.
enum BookmarkRules {
    /// The last position, a hundred years, in seconds: the range that a descriptor's positions have.
    static let furthest = 3_153_600_000.0
    /// The longest text in bytes.
    static let longestValue = 4096

    /// Checks a position and rounds it.
    ///
    /// - Returns: in milliseconds.
    /// - Throws: ``LectureError`` with `bookmarkInvalid`.
    static func position(_ position: Duration) throws(LectureError) -> Int64 {
        guard position >= .zero, position <= .seconds(furthest) else {
            throw LectureError(.bookmarkInvalid, cause: "the position is outside of the lecture")
        }
        return Int64((position / .milliseconds(1)).rounded())
    }

    /// Checks a learner's text.
    ///
    /// - Throws: ``LectureError`` with `bookmarkInvalid`.
    static func check(_ value: String) throws(LectureError) {
        guard value.utf8.count <= longestValue else {
            throw LectureError(.bookmarkInvalid, cause: "the text has \(value.utf8.count) bytes")
        }
        if value.utf8.contains(0) { throw LectureError(.bookmarkInvalid, cause: "the text contains a NUL") }
    }
}
