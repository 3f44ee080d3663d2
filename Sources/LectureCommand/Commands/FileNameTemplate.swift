import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// The file names below an output directory: `{course}/{number:02} {title}.{ext}`.
///
/// A field becomes its value, with every character that some system does not allow in file names replaced by `_`; a
/// value never adds a directory. A directory with an empty name is omitted.
struct FileNameTemplate: Sendable {
    /// The fields of a template.
    enum Field: String, CaseIterable, Sendable {
        case course, folder, teacher, title, number, key, name, ext
    }

    private enum Part: Sendable {
        case text(String)
        case field(Field, width: Int)
    }

    /// The longest path component in bytes. A part file or a copy may append a suffix.
    private static let limit = 240
    private let parts: [[Part]]

    /// Parses a template.
    ///
    /// - Parameter text: as typed.
    /// - Throws: ``UsageError`` for an unknown field, an open brace or an empty template.
    init(_ text: String) throws(UsageError) {
        var parts: [[Part]] = []
        for component in text.split(separator: "/", omittingEmptySubsequences: true) {
            parts.append(try Self.read(component))
        }
        guard let last = parts.last, !last.isEmpty, !text.hasPrefix("/"), !text.hasSuffix("/") else {
            throw Self.failure("it must end with a file name and must not begin with a slash")
        }
        self.parts = parts
    }

    private static func failure(_ reason: String) -> UsageError {
        UsageError("Option '--name': \(reason).", path: ["precache"])
    }

    private static func read(_ text: Substring) throws(UsageError) -> [Part] {
        var parts: [Part] = []
        var rest = text
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}") else { throw failure("a '{' has no '}'") }
            parts.append(try field(rest[rest.index(after: open)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        return parts
    }

    private static func field(_ text: Substring) throws(UsageError) -> Part {
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let field = Field(rawValue: words[0]) else {
            let names = Field.allCases.map(\.rawValue)
            let hint = Suggestion.nearest(to: words[0], among: names).map { "did you mean '{\($0)}'?" }
            throw failure(
                "\(UsageError.quoted("{\(text)}")) is no field; \(hint ?? "there are \(names.joined(separator: ", "))")"
            )
        }
        guard words.count > 1 else { return .field(field, width: 0) }
        guard field == .number, words[1].count == 2, words[1].hasPrefix("0"), let width = Int(words[1]), width > 0
        else {
            throw failure("\(UsageError.quoted("{\(text)}")): only a number has a width, written as in '{number:02}'")
        }
        return .field(field, width: width)
    }

    /// The path of a lecture's file below the output directory.
    ///
    /// - Parameters:
    ///   - request: the lecture.
    ///   - fileName: the name given by its list; nil for the last component of its URL.
    ///   - number: its position in its list, from 1.
    /// - Returns: a relative path.
    /// - Throws: `LectureError` with `outputRefused` when the file's name would be empty.
    func path(_ request: DownloadRequest, fileName: String?, number: Int) throws(LectureError) -> String {
        let (name, ext) = Self.split(fileName ?? Self.lastPart(request.url))
        func value(_ field: Field, width: Int) -> String {
            switch field {
            case .course: return request.course ?? ""
            case .folder: return request.folder ?? ""
            case .teacher: return request.teacher ?? ""
            case .title: return request.title ?? name
            case .number:
                let digits = String(number)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            case .key: return request.key?.text ?? name
            case .name: return name
            case .ext: return ext
            }
        }
        var components: [String] = []
        for (place, parts) in parts.enumerated() {
            let text = parts.map { part in
                switch part {
                case .text(let text): text
                case .field(let field, let width): Self.safe(value(field, width: width))
                }
            }.joined()
            let isLast = place == self.parts.count - 1
            let component = Self.component(text, keeping: isLast ? ".\(ext)" : "")
            if component.isEmpty {
                guard !isLast else {
                    throw LectureError(
                        .outputRefused, detail: URLText.withoutSecrets(request.url),
                        cause: "--name makes its file name empty")
                }
                continue
            }
            components.append(component)
        }
        return components.joined(separator: "/")
    }

    /// The last component of a URL's path; empty if there is none.
    private static func lastPart(_ url: String) -> String {
        guard let parts = try? URLParts(url), let name = parts.path.split(separator: "/").last else { return "" }
        return String(name)
    }

    /// A name and its extension; `mp4` if the URL shows none, as a gateway's does.
    private static func split(_ name: String) -> (name: String, ext: String) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "mp4") }
        let ext = name[name.index(after: dot)...]
        guard (1...5).contains(ext.count), ext.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            return (name, "mp4")
        }
        return (String(name[..<dot]), String(ext))
    }

    /// A value without characters that are special to a file system, shell or terminal.
    private static func safe(_ value: String) -> String {
        String(
            String.UnicodeScalarView(
                value.unicodeScalars.map { scalar in
                    let isUnsafe =
                        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                        || "/\\:*?\"<>|".unicodeScalars.contains(scalar)
                        || scalar.properties.isBidiControl
                    return isUnsafe ? "_" : scalar
                }))
    }

    /// One path component: no blanks and dots at its ends, no dash at its beginning, and not too long.
    private static func component(_ text: String, keeping suffix: String) -> String {
        var text = Substring(text)
        while let first = text.first, first == " " || first == "." { text.removeFirst() }
        while let last = text.last, last == " " || last == "." { text.removeLast() }
        if text == suffix.dropFirst() { return "" }
        if text.hasPrefix("-") { text = "_" + text.dropFirst() }
        guard text.utf8.count > limit else { return String(text) }
        let tail = text.hasSuffix(suffix) ? suffix : ""
        var head = text.dropLast(tail.count)
        while head.utf8.count + tail.utf8.count > limit { head.removeLast() }
        return head + tail
    }
}
