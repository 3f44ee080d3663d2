import Foundation
import Testing

/// Compares a text with a file under `Golden/`. `RECORD_GOLDEN=1` writes the file and fails the test, so that a
/// recording run is never taken for a passing one.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = goldenDirectory.appending(path: name)
    if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
        try Data(text.utf8).write(to: file)
        Issue.record("recorded \(name); run again without RECORD_GOLDEN", sourceLocation: sourceLocation)
        return
    }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(text == golden, "\(name) differs; RECORD_GOLDEN=1 records it anew", sourceLocation: sourceLocation)
}

let goldenDirectory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Golden")

let repositoryRoot = goldenDirectory.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
