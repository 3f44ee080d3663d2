import LectureModel

/// The ways in which a learner's id stands in texts.
package enum LearnerSpelling {
    /// From how many bytes on an id is found inside of words and numbers. Below, it is found by chance everywhere.
    package static let wordLength = 4

    /// As it is, with the escapes of JSON, percent-encoded with capital and small digits, as form data, and what is
    /// JSON inside of a form.
    ///
    /// - Parameter id: a learner id.
    /// - Returns: each spelling once, the longest first, so that no shorter one leaves a rest of it; none for an empty
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
