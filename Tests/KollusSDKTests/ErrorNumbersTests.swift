import Foundation
import KollusSDK
import LectureTestSupport
import Testing

/// The list of numbers in the module's documentation is written from the sentences. `RECORD_GOLDEN=1` writes it again
/// and fails the test, so that a recording run is never taken for a passing one.
@Suite struct ErrorNumbersTests {
    private static let path = "\(Places.repository())/Sources/KollusSDK/KollusSDK.docc/ErrorNumbers.md"

    private static let introduction = """
        # Error numbers

        Every number of the vendor, and what it means.

        ## Overview

        A ``KollusError`` has the number as its code and the sentence as its localized description. A ``KollusStorage``
        does not return all of them: some belong to players, to streaming, or to formats that are not used here.
        <doc:ErrorHandling> shows how to act on them.

        | number | name | what it means |
        | --- | --- | --- |

        """

    private static var document: String {
        introduction
            + KollusError.Code.allCases.map { "| \($0.rawValue) | `\($0)` | \($0.sentence) |\n" }.joined()
    }

    @Test func `the list of the documentation has the sentence of every number`() throws {
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(Self.document.utf8).write(to: URL(filePath: Self.path))
            Issue.record("recorded ErrorNumbers.md; run again without RECORD_GOLDEN")
            return
        }
        let written = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(written == Self.document, "RECORD_GOLDEN=1 writes it anew")
    }

    @Test func `no sentence breaks the table`() {
        for code in KollusError.Code.allCases { #expect(!code.sentence.contains("|"), "\(code)") }
    }
}
