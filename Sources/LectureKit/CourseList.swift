import LectureDownload
import LectureFormats
public import LectureModel

/// Reads a course list, one lecture per line, in constant memory: `.jsonl`, `.csv` or `.txt`.
///
/// A line that cannot be read is reported with its number; the others are still read.
public struct CourseList {
    /// What a line is.
    public enum Line: Sendable {
        /// A lecture.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - fileName: the name of the finished file in an output directory; nil takes the last part of the URL.
        case lecture(DownloadRequest, fileName: String?)
        /// What is wrong with a line, `courseLine`, or with the whole list, `courseList`.
        ///
        /// - Parameter error: the detail names the line.
        case issue(LectureError)
        /// An unknown member or column; the lines that have it are used without it.
        ///
        /// - Parameter warning: reported once per list.
        case warning(Warning)
    }

    /// An unknown member of a course list.
    public struct Warning: Sendable, Hashable {
        /// The first line that has it, from 1.
        public let line: Int
        /// Its name.
        public let member: String
        /// The nearest known name; nil when none is near.
        public let suggestion: String?

        /// Creates a warning.
        ///
        /// - Parameters:
        ///   - line: the first line that has the member.
        ///   - member: its name.
        ///   - suggestion: the nearest known name.
        package init(line: Int, member: String, suggestion: String?) {
            (self.line, self.member, self.suggestion) = (line, member, suggestion)
        }

        /// One sentence, with the line and the suggestion.
        public var message: String {
            "line \(line): unknown member '\(member)' ignored"
                + (suggestion.map { " (did you mean '\($0)'?)" } ?? "")
        }
    }

    private var reader: CourseListReader

    /// Starts a list.
    ///
    /// - Parameter path: the list's path; its extension selects the format.
    /// - Throws: ``LectureError`` with the code `courseList` for another extension.
    public init(path: String) throws(LectureError) {
        guard let format = CourseListReader.Format(path: path) else { throw LectureError(.courseList, detail: path) }
        reader = CourseListReader(format: format)
    }

    /// Starts a list without a name, such as standard input.
    ///
    /// - Parameter firstByte: the first byte that is not white space: `{` means objects; anything else means URLs.
    public init(firstByte: UInt8?) {
        reader = CourseListReader(format: firstByte == UInt8(ascii: "{") ? .jsonLines : .text)
    }

    /// Reads the next bytes.
    ///
    /// - Parameter bytes: bytes, cut anywhere.
    /// - Returns: the lines that ended in them.
    public mutating func read(_ bytes: [UInt8]) -> [Line] { reader.read(bytes[...]).map(Self.line) }

    /// Ends the list; the last line may lack its line end.
    ///
    /// - Returns: the last lines.
    public mutating func finish() -> [Line] { reader.finish().map(Self.line) }

    private static func line(_ item: CourseListReader.Item) -> Line {
        switch item {
        case .unknown(let member, let number):
            let nearest = Suggestion.nearest(to: member, among: CourseEntry.memberNames)
            return .warning(Warning(line: number, member: member, suggestion: nearest))
        case .issue(let error, let number):
            return .issue(LectureError(error.code, detail: numbered(number, error.detail), cause: error.cause))
        case .entry(let entry, let number):
            do {
                return .lecture(try DownloadRequest(entry), fileName: entry.file)
            } catch {
                return .issue(LectureError(.courseLine, detail: "line \(number)", cause: error.message))
            }
        }
    }

    /// The number of the line, unless the detail already names it.
    private static func numbered(_ number: Int, _ detail: String) -> String {
        if detail.hasPrefix("line ") { return detail }
        return detail.isEmpty ? "line \(number)" : "line \(number): \(detail)"
    }
}

extension DownloadRequest {
    fileprivate init(_ entry: CourseEntry) throws(LectureError) {
        self.init(url: entry.url)
        key = try entry.key.map { (text) throws(LectureError) in try ContentKey(text) }
        title = entry.title
        course = entry.course
        teacher = entry.teacher
        sha256 = entry.sha256
        size = entry.size.map { Int64(clamping: $0) }
        folder = entry.folder
        priority = entry.priority ?? 0
        mirrors = entry.mirrors
        for header in entry.headers { headers[header.name] = header.value }
    }

    /// Whether a text is a `kollus:` link.
    ///
    /// - Parameter text: a source.
    /// - Returns: true when it starts with `kollus:`.
    public static func isLink(_ text: String) -> Bool { KollusLink.isLink(text) }

    /// The requests of a link `kollus://download?url=…&folder=…` or `kollus://download_play?url=…`.
    ///
    /// - Parameter link: the link.
    /// - Returns: one request per URL, in order.
    /// - Throws: ``LectureError``: `urlInvalid`, `urlScheme`, `nameRefused`; `linkFetchesNothing` for a link that asks
    ///   to play or to show a list.
    public static func requests(link: String) throws(LectureError) -> [DownloadRequest] {
        switch try KollusLink(link) {
        case .download(let requests): return requests
        case .downloadAndPlay(let url): return [DownloadRequest(url: url)]
        case .play: throw LectureError(.linkFetchesNothing, detail: "kollus://path")
        case .list: throw LectureError(.linkFetchesNothing, detail: "kollus://list")
        }
    }
}
