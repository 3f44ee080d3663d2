package import LectureModel

/// Why an error happens: one sentence for every code; a test fails if one is missing. The row of a code has what
/// happened, why, and what to do; what happens next depends on the store and on the processes that use it.
package enum Explanations {
    /// The reason behind an error.
    ///
    /// - Parameter code: from the catalogue or from one of its families.
    /// - Returns: a sentence.
    package static func reason(of code: LectureError.Code) -> String {
        own(code) ?? familyText(code) ?? "This version has no explanation for it."
    }

    /// Whether a code has a reason of its own or one of a family's.
    ///
    /// - Parameter code: the code.
    /// - Returns: false for a number that only a newer version knows.
    static func isMapped(_ code: LectureError.Code) -> Bool {
        own(code) != nil || familyText(code) != nil
    }

    private static func own(_ code: LectureError.Code) -> String? { code.reason.isEmpty ? nil : code.reason }

    /// Transfers and statuses take their text from the row that decides about retries, so that the two cannot disagree.
    private static func familyText(_ code: LectureError.Code) -> String? {
        if (9001...9099).contains(-code.number) || (9300...9599).contains(-code.number) {
            // The numbers of a media server; the same client sends these requests.
            return RetryTable.entry(code: .stored(code.number + 1000)).reason
        }
        if (10_001...10_099).contains(-code.number) || (10_300...10_599).contains(-code.number) {
            return RetryTable.entry(code: .stored(code.number + 2000)).reason
        }
        if LectureError.Code.gatewayNumbers.contains(-code.number) {
            return "The gateway returned this number instead of the lecture."
        }
        guard (8001...8099).contains(-code.number) || (8300...8599).contains(-code.number) else { return nil }
        return RetryTable.entry(code: code).reason
    }
}
