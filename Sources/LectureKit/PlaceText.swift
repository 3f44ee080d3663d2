import LectureFormats
import LectureModel

// Places in lists as addresses of pages have them.

extension LicencePage.Place {
    /// The place as a text for other programs: when the last licence ends, an underscore, and its key.
    package var text: String { "\(deadline.map { "\($0.milliseconds)" } ?? "")_\(last?.text ?? "")" }

    /// Reads such a text.
    ///
    /// - Parameter text: the text; nil is returned for another one.
    package init?(text: String) {
        let words = text.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[0].utf8.count <= 16, let key = try? ContentKey(String(words[1])) else {
            return nil
        }
        let deadline = Int64(words[0]).map { Timestamp(milliseconds: $0) }
        guard deadline != nil || words[0].isEmpty else { return nil }
        self.init()
        (last, self.deadline) = (key, deadline)
    }
}

extension ReportPage.Place {
    /// The place as a text for other programs: a number.
    package var text: String { "\(last.value)" }

    /// Reads such a text.
    ///
    /// - Parameter text: the text; nil is returned for another one.
    package init?(text: String) {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ FieldText.digit($0) != nil }),
            let number = Int64(text)
        else { return nil }
        self.init(last: OutboxID(number))
    }
}
