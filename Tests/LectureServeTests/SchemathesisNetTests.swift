import Foundation
import LectureFormats
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// JSON as the product reads and writes it.
enum JSONText {
    static func of(_ write: (inout JSONWriter) -> Void) -> String { JSONWriter.object(write) }
    static func member(_ text: String) throws -> JSONValue? { try JSONScanner.scan(text).members?.first?.value }
}

/// Schemathesis makes requests from the document, and judges the answers by it.
struct SchemathesisNetTests {
    /// What `Tools/schemathesis` has installed; without access to PyPI it is missing.
    static let program: String? = {
        let place = Places.repository() + "/.build/schemathesis"
        return (try? FileManager.default.contentsOfDirectory(atPath: place))?.sorted()
            .filter { FileManager.default.fileExists(atPath: "\(place)/\($0)/complete") }
            .map { "\(place)/\($0)/bin/schemathesis" }.last
    }()

    /// A stream is read to its end, and each example takes a second. Wrong tokens are counted by design, and then
    /// answered with 429: APIRefusalNetTests has them. An address may have the form that the schema asks for, and still
    /// name no host.
    private static let settings = """
        [[operations]]
        include-path = "/api/v1/events"
        parameters = { "query.seconds" = 1 }
        generation.max-examples = 2
        phases.coverage.enabled = false

        [[operations]]
        include-name = "POST /api/v1/lectures"
        checks.positive_data_acceptance.enabled = false

        [checks]
        ignored_auth.enabled = false
        """

    @Test(
        .enabled(if: program != nil, "Schemathesis is not installed: run Tools/schemathesis"), .timeLimit(.minutes(3)))
    func `every answer to requests made from the document is one that it describes`() async throws {
        let me = try BadDay()
        // Nothing listens there: downloads that are requested fail at once, and no other machine is asked.
        let nowhere = "http://127.0.0.1:1"
        let served = try await ServedStore(me, environment: ["http_proxy": nowhere, "https_proxy": nowhere])
        for key in ["0", "one"] {
            let body = #"{"url": "http://127.0.0.1:1/\#(key).mp4", "key": "\#(key)", "title": "\#(key)"}"#
            let made = try await served.ask(
                "/api/v1/lectures", "-H", "Content-Type: application/json", "--data-binary", body)
            #expect(made.status == 202, "\(made.text)")
        }
        let file = try me.home.write(Self.settings, to: "schemathesis.toml")
        let ending = try await ChildProcess.run(
            try #require(Self.program),
            [
                "--config-file", file, "run", "\(served.url)/api/v1/openapi.json",
                "--header", "Authorization: Bearer \(served.token)", "--phases", "coverage,fuzzing,stateful",
                "--max-examples", "4", "--seed", "1", "--generation-database", "none", "--max-time", "30",
                "--request-timeout", "20", "--suppress-health-check", "all", "--warnings", "off", "--no-color",
                "--continue-on-failure",
            ],
            environment: ["HOME": me.home.path, "http_proxy": "", "https_proxy": ""], directory: me.home.path)
        #expect(ending.status == 0, "\(ending.text.suffix(8000)) \(ending.errorText.suffix(2000))")
        // All but the document itself.
        #expect(ending.text.contains("Selected: 22/22"), "\(ending.text.suffix(1500))")
        // The server is as well as before.
        #expect(try await served.ask("/healthz").status == 200)
        await served.stop()
        try await me.expectSound()
    }
}
