import Foundation
import LectureSimulation
import LectureTestSupport
import Testing

/// Runs that once showed a bug, each the smallest that did. They are kept as scenarios and not as seeds, since another
/// generator makes another scenario of the same seed.
struct RegressionTests {
    /// The subject of a scenario.
    struct Regression: Sendable, CustomTestStringConvertible {
        /// The file, without its suffix.
        let name: String
        /// The bug.
        let bug: String
        var testDescription: String { "\(name): \(bug)" }
    }

    static let all = [
        Regression(
            name: "paused-while-dead",
            bug: "a lecture that was paused while its program was dead stayed in the queue forever"),
        Regression(
            name: "empty-file-placed-twice",
            bug: "a crash between the rename of an empty file and its row left a file that no other could replace"),
        Regression(
            name: "rewritten-while-unsized",
            bug: "a chunk without a known length was proven by bytes that a later answer had written over"),
        Regression(name: "reported-twice", bug: "a failure was reported twice when two notices about it came together"),
        Regression(
            name: "wait-of-what-ended",
            bug: "a server's Retry-After was lost when the lecture had ended before its answer was read"),
        Regression(
            name: "commit-fails-under-way",
            bug: "none yet: a commit fails while chunks are proven, and no notice of them may be published"),
        Regression(
            name: "removal-is-not-committed",
            bug: "none yet: the commit of a removal fails, and its files have to stay"),
    ]

    @Test(arguments: all)
    func `fixed bugs do not recur`(regression: Regression) throws {
        let outcome = try Simulation(try Scenario(contentsOf: Self.path(regression.name))).run()
        #expect(outcome.findings == [], "\(regression.bug)")
    }

    @Test func `every stored scenario is run`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.directory).sorted()
        #expect(files == Self.all.map { "\($0.name).json" }.sorted())
    }

    private static let directory = "\(Places.repository())/Tests/SimulationTests/Regressions"
    private static func path(_ name: String) -> String { "\(directory)/\(name).json" }
}
