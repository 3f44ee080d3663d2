import Foundation
import LectureModel
import LectureTestSupport
import Testing

/// `docs/errors.md` is generated from the catalogue. `RECORD_GOLDEN=1` writes it again and fails the test, so that a
/// recording run is never taken for a passing one.
@Suite struct ErrorDocumentTests {
    private static let path = "\(Places.repository())/docs/errors.md"

    /// libcurl's results with a name of their own; the others are called by their number.
    private static let namedTransfers = (1...99).filter {
        !LectureError.Code.transfer($0).name.hasPrefix("transfer_")
    }

    private static let introduction = """
        # Errors

        Written by the catalogue in `Sources/LectureModel/LectureErrorCodes.swift`; a test compares. Numbers and names
        are frozen: they are stored, stand in JSON (`code`, `name`), and are never used for something else. Scripts
        compare the number or the name, people read the sentence. `lecturectl why KEY` shows why it is so and what
        happens next.

        Numbers between −8600 and −9000 are those of the Kollus storage manager, those between −2100 and −2199 of its
        application key; −8000−n is libcurl's result n below 100 or the HTTP status n from 300 on, −9000−n the same of a
        licence server and −10000−n of a play callback, −4001 to −4101 are the numbers with which a video gateway
        refuses a link, and numbers from −20000 down are LectureKit's own. A newer program's number that this one does
        not know is shown as `code_NUMBER`.

        """

    /// A row of the catalogue; the others are of a family, and have no reason of their own.
    private static func catalogueRow(_ code: LectureError.Code) -> String {
        "| \(code.number) | `\(code.name)` | \(code.summary) | \(code.reason) | \(code.remedy) |"
    }

    private static func catalogueTable(_ codes: [LectureError.Code]) -> String {
        "| number | name | what happened | why | what to do |\n| --- | --- | --- | --- | --- |\n"
            + codes.map(catalogueRow).joined(separator: "\n") + "\n"
    }

    private static func row(_ code: LectureError.Code, name: String? = nil, number: String? = nil) -> String {
        let columns = [number ?? "\(code.number)", "`\(name ?? code.name)`", code.summary, code.remedy]
        return "| " + columns.joined(separator: " | ") + " |"
    }

    private static func table(_ rows: [String]) -> String {
        "| number | name | what happened | what to do |\n| --- | --- | --- | --- |\n" + rows.joined(separator: "\n")
            + "\n"
    }

    private static var document: String {
        let all = LectureError.Code.all.sorted { $0.number > $1.number }
        let ranges: [(title: String, numbers: ClosedRange<Int>)] = [
            ("The storage", -9000 ... -8600), ("The store", -20009 ... -20001),
            ("Answers that are not the object", -20029 ... -20010), ("Input", -20049 ... -20030),
            ("Scheduling, and the program itself", -20099 ... -20050), ("Licences, and the device", -20139 ... -20100),
            ("Learning reports", -20199 ... -20140), ("Applications", -2199 ... -2100),
            ("Workers of applications", -20239 ... -20220), ("Players", -20259 ... -20240),
            ("Bookmarks", -20269 ... -20260), ("Adaptive lectures", -20289 ... -20270),
            ("Rules of retention, and forecasts", -20297 ... -20290), ("Webhooks", -20309 ... -20298),
            ("Bundles", -20329 ... -20310),
        ]
        var text = introduction
        for (title, numbers) in ranges {
            text += "\n## \(title)\n\n" + catalogueTable(all.filter { numbers.contains($0.number) })
        }
        text += "\n## Refusals by a video gateway\n\n"
        text += table(
            LectureError.Code.namedGatewayNumbers.map { row(.gateway($0)) }
                + [
                    "| -n, every other n from 4001 to 4101 | `gateway_n` | "
                        + "the gateway refuses the link with its number n | \(LectureError.Code.gateway(4050).remedy) |"
                ])
        text += "\n## Transfers below HTTP\n\n"
        text += table(
            namedTransfers.map { row(.transfer($0)) }
                + [row(.transfer(1), name: "transfer_n", number: "-8000-n, every other n")])
        text += "\n## HTTP statuses\n\n"
        text += table(
            [401, 403, 404, 407, 410, 429, 500, 502, 503, 504].map { row(.status($0)) }
                + ["| -8000-n, every other n from 300 | `http_n` | the server answered HTTP n | as its class |"])
        return text
    }

    @Test func `The document matches the catalogue`() throws {
        if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
            try Data(Self.document.utf8).write(to: URL(filePath: Self.path))
            Issue.record("recorded errors.md; run again without RECORD_GOLDEN")
            return
        }
        let written = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(written == Self.document, "RECORD_GOLDEN=1 writes it anew")
    }

    @Test func `Every code of the catalogue is in the document once`() {
        let document = Self.document
        for code in LectureError.Code.all {
            #expect(document.ranges(of: "| \(code.number) | `\(code.name)` |").count == 1, "\(code.name)")
        }
    }

    @Test func `Numbers and names are used once, and every message can be built`() {
        let all = LectureError.Code.all
        #expect(Set(all.map(\.number)).count == all.count)
        #expect(Set(all.map(\.name)).count == all.count)
        for code in all {
            #expect(code.number < 0 && !code.summary.isEmpty && !code.summary.hasSuffix("."), "\(code.name)")
            #expect(code.remedy.isEmpty || code.remedy.hasSuffix("."), "\(code.name)")
            #expect(!code.summary.contains("|") && !code.remedy.contains("|"), "\(code.name)")
        }
    }
}
