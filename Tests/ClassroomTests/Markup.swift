import Foundation
import LectureHTTP
import LectureServe

/// The tags of a page, read as a browser does it: enough of HTML for what our own pages have.
struct Markup {
    /// A start tag.
    struct Tag {
        let name: String
        let attributes: [String: String]
        /// What follows it, up to the next tag.
        var text: String
    }

    let tags: [Tag]
    /// Start tags without an end, and ends without a start.
    let unbalanced: [String]
    private static let void: Set<String> = ["meta", "link", "input", "track", "br"]

    init(_ html: String) {
        var (tags, open, unbalanced): ([Tag], [String], [String]) = ([], [], [])
        for piece in html.components(separatedBy: "<").dropFirst() {
            guard let end = Self.end(piece), let first = piece.first else { continue }
            let text = String(piece[piece.index(after: end)...])
            if first == "/" {
                let name = String(piece[..<end].dropFirst())
                if open.last == name { open.removeLast() } else { unbalanced.append("/\(name)") }
            } else if first != "!" {
                let inner = String(piece[..<end])
                let name = String(inner.prefix { !$0.isWhitespace })
                tags.append(Tag(name: name, attributes: Self.attributes(inner.dropFirst(name.count)), text: text))
                if !Self.void.contains(name) { open.append(name) }
            }
        }
        self.tags = tags
        self.unbalanced = unbalanced + open
    }

    /// All tags with a name.
    subscript(name: String) -> [Tag] { tags.filter { $0.name == name } }

    /// The end of a tag is no character within quotation marks.
    private static func end(_ piece: String) -> String.Index? {
        var isQuoted = false
        return piece.indices.first { place in
            if piece[place] == "\"" { isQuoted.toggle() }
            return piece[place] == ">" && !isQuoted
        }
    }

    private static func attributes(_ text: Substring) -> [String: String] {
        var (found, rest): ([String: String], Substring) = ([:], text)
        while true {
            rest = rest.drop(while: \.isWhitespace)
            let name = rest.prefix { $0 != "=" && !$0.isWhitespace }
            guard !name.isEmpty else { return found }
            rest = rest.dropFirst(name.count)
            var value = ""
            if rest.hasPrefix("=\"") {
                value = String(rest.dropFirst(2).prefix { $0 != "\"" })
                rest = rest.dropFirst(value.count + 3)
            }
            found[String(name)] = Self.unescaped(value)
        }
    }

    /// A text as a person sees it.
    static func unescaped(_ text: String) -> String {
        let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        return marks.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}

extension HTTPAnswer {
    /// The body as text.
    var text: String { if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" } }

    /// The value of a field.
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
