import LectureFormats
import LectureModel

/// The spellings of a learner's id in texts.
package enum LearnerSpelling {
    /// The length in bytes from which an id is also found inside words and numbers. A shorter one would match
    /// everywhere by chance.
    package static let wordLength = 4

    /// As it is, with JSON escapes, percent-encoded with capital and small digits, as form data, and as JSON inside a
    /// form.
    ///
    /// - Parameter id: a learner id.
    /// - Returns: each spelling once, the longest first, so that no shorter one leaves a part of it; none for an empty
    ///   id.
    package static func all(of id: String) -> [[UInt8]] {
        if id.isEmpty { return [] }
        let quoted = String(JSONValue.string(id).text.dropFirst().dropLast())
        var spellings: [[UInt8]] = []
        for text in [id, quoted] {
            let percent = PercentEncoding.text(text)
            let plus = percent.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+")
            let form = String(FormText.encode([ReportParameter("", text)]).dropFirst())
            for spelling in [text, percent, small(percent), plus, small(plus), form, small(form)] {
                let bytes = Array(spelling.utf8)
                if !spellings.contains(bytes) { spellings.append(bytes) }
            }
        }
        return spellings.sorted { $0.count > $1.count }
    }

    /// The text with small letters in its percent-encoded bytes.
    private static func small(_ text: String) -> String {
        var escape = 0
        return String(
            text.map { character in
                escape = character == "%" ? 2 : max(-1, escape - 1)
                return escape >= 0 && character.isHexDigit ? Character(character.lowercased()) : character
            })
    }
}
