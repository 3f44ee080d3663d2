/// A piece of HTML that is well-formed by construction: text and attributes become markup in one place, where they are
/// escaped, so that no title, name or message can be more than text.
struct HTML: Sendable, Hashable {
    /// The markup.
    private(set) var markup: String

    /// Nothing.
    static let none = HTML(markup: "")

    private init(markup: String) { self.markup = markup }

    /// Text.
    ///
    /// - Parameter text: any text.
    init(_ text: String) { markup = Self.escaped(text) }

    /// Pieces after one another.
    ///
    /// - Parameter pieces: the pieces.
    init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

    /// An element.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - attributes: names and values; one that is nil is left out, an empty one has no value.
    ///   - children: what is in it.
    init(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>, _ children: HTML...) {
        self.init(name, attributes, children)
    }

    /// An element.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - attributes: names and values; one that is nil is left out, an empty one has no value.
    ///   - children: what is in it.
    init(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String?>, _ children: [HTML]) {
        let name = "\(name)"
        markup = "<\(name)"
        for case (let key, let value?) in attributes {
            markup += value.isEmpty && key.description != "value" ? " \(key)" : " \(key)=\"\(Self.escaped(value))\""
        }
        markup += ">"
        if Self.empty.contains(name) { return }
        for child in children { markup += child.markup }
        markup += "</\(name)>"
    }

    /// A document.
    ///
    /// - Parameters:
    ///   - language: its language (BCP 47).
    ///   - children: head and body.
    /// - Returns: its bytes.
    static func document(_ language: String, _ children: HTML...) -> [UInt8] {
        Array("<!DOCTYPE html>\n\(HTML("html", ["lang": language], children).markup)\n".utf8)
    }

    /// Elements without an end (WHATWG HTML, section 13.1.2).
    private static let empty: Set<String> = ["meta", "link", "input", "br", "hr", "img", "track"]

    /// What stands for a character that would be markup; nil for another one.
    static func entity(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        default: nil
        }
    }

    /// What stands for a text in content and in quoted attributes. Control characters, which HTML does not permit, and
    /// those that change the direction of what follows are shown as replacement characters.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if let entity = entity(scalar) {
                escaped += entity
                continue
            }
            switch scalar {
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": escaped += "\u{FFFD}"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value): escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
