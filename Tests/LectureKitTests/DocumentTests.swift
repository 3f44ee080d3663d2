import Foundation
import LectureTestSupport
import Testing

/// Examples in documents are parts of a program that is built.
@Suite struct DocumentTests {
    /// The code of a document: the lines between "```swift" and "```", without indentation, comment marks, empty lines.
    private static func examples(in path: String) throws -> [[String]] {
        let text = try String(contentsOfFile: "\(Places.repository())/\(path)", encoding: .utf8)
        var blocks: [[String]] = []
        var isInside = false
        for line in text.split(separator: "\n") {
            let code = plain(line)
            if code.hasPrefix("```") {
                isInside = code == "```swift"
                if isInside { blocks.append([]) }
            } else if isInside, !code.isEmpty {
                blocks[blocks.count - 1].append(code)
            }
        }
        return blocks
    }

    private static func plain(_ line: Substring) -> String {
        let line = line.trimmingCharacters(in: .whitespaces)
        return line.hasPrefix("///") ? line.dropFirst(3).trimmingCharacters(in: .whitespaces) : line
    }

    @Test(arguments: [
        "README.md", "Sources/LectureKit/LectureKit.docc/PrecachingACourse.md",
        "Sources/LectureKit/LectureManager.swift",
    ])
    func `Every line of an example is one of the program that is built, in its order`(document: String) throws {
        let program = try String(
            contentsOfFile: "\(Places.repository())/Examples/precache/Precache.swift", encoding: .utf8)
        let lines = program.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let examples = try Self.examples(in: document)
        #expect(!examples.isEmpty)
        for example in examples {
            var rest = lines[...]
            for line in example {
                let place = try #require(rest.firstIndex(of: line), "not in the program, or not in this order: \(line)")
                rest = rest[(place + 1)...]
            }
        }
    }
}

/// The example as a program.
@Suite(.timeLimit(.minutes(1))) struct ExampleNetTests {
    @Test func `The example fetches a lecture and says where it lies`() async throws {
        let origin = try await SandboxOrigin.start()
        let scratch = try TemporaryDirectory()
        let url = "\(origin.http)/media/bytes-3M-5.mp4"
        let run = try await ChildProcess.run(Places.builtProduct("precache-example"), [scratch.file("store"), url])
        #expect(run.status == 0)
        let path = try #require(run.text.split(separator: "\n").last?.split(separator: " ").last)
        #expect(try FileManager.default.attributesOfItem(atPath: String(path))[.size] as? Int == 3 << 20)
        #expect(run.text.contains("complete, \(3 << 20) bytes"))
        await origin.stop()
    }

    @Test func `The example names what it could not fetch`() async throws {
        let origin = try await SandboxOrigin.start()
        let scratch = try TemporaryDirectory()
        let run = try await ChildProcess.run(
            Places.builtProduct("precache-example"),
            [scratch.file("store"), "ftp://a/b.mp4", "\(origin.http)/media/none.mp4"])
        #expect(run.status == 1)
        #expect(run.text.contains("ftp://a/b.mp4: "))
        #expect(run.text.contains("HTTP 404"))
        await origin.stop()
    }
}
