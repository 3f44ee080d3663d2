import Foundation
import LectureSimulation
import LectureTestSupport
import Testing

/// Stories in which something was wrong once, each the smallest that showed it. They are kept as scenarios and not as
/// seeds, since another generator makes another scenario of the same seed.
struct RegressionTests {
    /// What a story was about.
    struct Regression: Sendable, CustomTestStringConvertible {
        /// The file, without its suffix.
        let name: String
        /// What was wrong.
        let bug: String
        var testDescription: String { "\(name): \(bug)" }
    }

    static let all = [
        Regression(
            name: "paused-while-dead",
            bug: "a lecture that was paused while its program was dead stayed in the queue for ever"),
        Regression(
            name: "empty-file-placed-twice",
            bug: "a crash between the rename of an empty file and its row left a file that no other could replace"),
        Regression(
            name: "rewritten-while-unsized",
            bug: "a chunk without a known length was proven by bytes that a later answer had written over"),
        Regression(name: "told-twice", bug: "a failure was told twice when two things about it came together"),
        Regression(
            name: "wait-of-what-ended",
            bug: "a server's wish to be left alone was lost when the lecture had ended before its answer was read"),
        Regression(
            name: "commit-fails-under-way",
            bug: "none yet: a commit fails while chunks are proven, and nobody may hear of them"),
        Regression(
            name: "removal-is-not-committed",
            bug: "none yet: the commit of a removal fails, and its files have to stay"),
    ]

    @Test(arguments: all)
    func `what went wrong once does not again`(regression: Regression) throws {
        let outcome = try Simulation(try Scenario(contentsOf: Self.path(regression.name))).run()
        #expect(outcome.findings == [], "\(regression.bug)")
    }

    @Test func `every story that is kept is told`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.directory).sorted()
        #expect(files == Self.all.map { "\($0.name).json" }.sorted())
    }

    private static let directory = "\(Places.repository())/Tests/SimulationTests/Regressions"
    private static func path(_ name: String) -> String { "\(directory)/\(name).json" }
}
