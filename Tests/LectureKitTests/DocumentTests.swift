import Foundation
import LectureTestSupport
import Testing

/// Examples in documents are parts of a program that is built.
@Suite struct DocumentTests {
    @Test(arguments: [
        "README.md", "Sources/LectureKit/LectureKit.docc/PrecachingACourse.md",
        "Sources/LectureKit/LectureManager.swift",
    ])
    func `Every line of an example is one of a program that is built, in its order`(document: String) throws {
        var files = try DocumentExamples.program(in: "Examples/precache")
        if document == "README.md" { files += try DocumentExamples.program(in: "Examples/kollus-guide") }
        let examples = try DocumentExamples.examples(in: document)
        #expect(!examples.isEmpty)
        for example in examples {
            let strays = files.map { DocumentExamples.stray(example, in: $0, isWhole: false) }
            #expect(strays.contains(nil), "not in the program, or not in this order: \(strays)")
        }
    }
}

/// The example as a program.
@Suite(.timeLimit(.minutes(1))) struct ExampleNetTests {
    @Test func `The example fetches a lecture and prints its path`() async throws {
        let origin = try await SandboxOrigin.start()
        let scratch = try TemporaryDirectory()
        let url = "\(origin.http)/media/bytes-3M-5.mp4"
        let run = try await ChildProcess.run(Places.builtProduct("precache-example"), [scratch.file("store"), url])
        #expect(run.status == 0)
        // The listener prints beside it: its last event may come after the path.
        let words = run.text.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        let path = try #require(words.first { $0.hasPrefix("/") })
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
