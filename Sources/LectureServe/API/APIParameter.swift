import LectureFormats
import LectureKit
import LectureModel

/// A value that an operation of the API takes, in its path, its query or its body. The same value checks it and
/// describes it in the document, so that both say the same.
struct APIParameter: Sendable {
    /// What it may be.
    enum Kind: Sendable {
        /// A text of so many characters without control characters.
        case text(ClosedRange<Int>)
        /// A segment of a path that names a lecture.
        case segment
        /// The key of a lecture.
        case key
        /// An address with `http` or `https`.
        case address
        /// The digits of a digest.
        case digest
        /// A day: `2026-12-01`.
        case day
        /// A place in the list of reports, as an answer has given it.
        case reportPlace
        /// A place in the list of licences, as an answer has given it.
        case licencePlace
        /// A whole number.
        case integer(ClosedRange<Int>)
        /// One of these words.
        case words([String])
    }

    let name: String
    let kind: Kind
    /// A sentence or two.
    let help: String
    var isRequired = false

    /// Whether a text is such a value.
    ///
    /// - Parameter text: as it was sent.
    /// - Returns: whether it may be used.
    func accepts(_ text: String) -> Bool {
        switch kind {
        case .text(let range): range.contains(text.unicodeScalars.count) && Self.isPlain(text, c1: false)
        case .segment, .key: !text.isEmpty && text.utf8.count <= 1024 && Self.isPlain(text)
        case .address: Self.isAddress(text)
        case .digest: text.utf8.count == 64 && Hexadecimal.bytes(text) != nil
        case .day: text.utf8.count == 10 && !text.contains("/") && MomentText.day(text) != nil
        case .reportPlace: ReportPage.Place(text: text) != nil
        case .licencePlace: LicencePage.Place(text: text) != nil
        case .integer(let range):
            // Only as it would be written: no sign in front of it, no zeros.
            Int(text).map { range.contains($0) && "\($0)" == text } ?? false
        case .words(let words): words.contains(text)
        }
    }

    /// The text of a value of JSON; nil for one of another type.
    ///
    /// - Parameter value: a member of a body.
    /// - Returns: the text, which may still be refused.
    func text(_ value: JSONValue) -> String? {
        guard case .integer = kind else { return value.string }
        if let integer = value.integer { return "\(integer)" }
        // `7.0` is a whole number, too (JSON Schema, section 6.1.1).
        guard let number = value.double, number.rounded() == number, abs(number) < 1e9 else { return nil }
        return "\(Int(number))"
    }

    /// Names may not have the C1 controls either, which terminals obey.
    private static func isPlain(_ text: String, c1: Bool = true) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(c1 ? 0x7F...0x7F : 0x7F...0x9F).contains($0.value) }
    }

    private static func isAddress(_ text: String) -> Bool {
        let isKnown = text.hasPrefix("http://") || text.hasPrefix("https://")
        return isKnown && text.unicodeScalars.count <= 2000 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    // MARK: The document

    private static let plain = #"^[^\x00-\x1f\x7f-\x9f]*$"#

    /// Writes the members of its schema (JSON Schema 2020-12).
    ///
    /// - Parameter json: where they go.
    func schema(_ json: inout JSONWriter) {
        switch kind {
        case .integer(let range):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            json.member("maximum", range.upperBound)
        case .words(let words):
            json.member("type", "string")
            json.array("enum") { json in for word in words { json.element(word) } }
        case .text(let range): text(range, Self.plain, &json)
        // 684 are the base64url of the longest key.
        case .segment: text(1...685, #"^(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]+$"#, &json)
        case .key: text(1...512, #"^[^\x00-\x1f\x7f]*$"#, &json)
        case .address: text(8...2000, "^https?://[!-~]+$", &json)
        case .digest: text(64...64, "^[0-9A-Fa-f]{64}$", &json)
        case .day: text(10...10, "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", &json)
        case .reportPlace: text(1...18, "^[0-9]+$", &json)
        case .licencePlace: text(2...530, #"^(-?[0-9]{1,15})?_[^\x00-\x1f\x7f]{1,512}$"#, &json)
        }
    }

    private func text(_ range: ClosedRange<Int>, _ pattern: String, _ json: inout JSONWriter) {
        json.member("type", "string")
        json.member("minLength", range.lowerBound)
        json.member("maxLength", range.upperBound)
        json.member("pattern", pattern)
        if case .day = kind { json.member("format", "date") }
    }
}
