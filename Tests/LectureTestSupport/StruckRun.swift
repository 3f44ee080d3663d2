import Foundation

/// Runs of a program that are killed in place of one of the calls that change the disk, or whose calls are slow, by
/// `Tools/strike`.
package struct StruckRun: Sendable {
    /// Whether processes may be traced here, which a sandbox around the tests may forbid.
    package static let isPossible: Bool = {
        #if arch(x86_64)
            return FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
        #else
            return false
        #endif
    }()

    private struct Report: Decodable {
        struct Call: Decodable {
            let call: String
            let file: String
        }

        let calls: Int
        let struck: Call?
    }

    private let words: [String]
    private let environment: [String: String]
    private let directory: TemporaryDirectory

    /// A program to be killed.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: its arguments.
    ///   - environment: changes to that of this process.
    /// - Throws: the system's error.
    package init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
        (words, self.environment) = ([program] + arguments, environment)
        directory = try TemporaryDirectory()
    }

    /// How many calls a whole run makes.
    ///
    /// - Parameter calls: the names of the calls that are counted, with commas; nil for all that change the disk.
    /// - Returns: how many there are.
    /// - Throws: ``ChildProcess/Failure`` when the run does not end well.
    package func counted(_ calls: String? = nil) async throws -> Int {
        let (ending, report) = try await run(["--count"] + (calls.map { ["--calls", $0] } ?? []))
        guard ending.status == 0, let report else { throw ChildProcess.Failure(description: ending.errorText) }
        return report.calls
    }

    /// Kills a run.
    ///
    /// - Parameter number: the number of the call in whose place it is killed.
    /// - Returns: the call and its file; nil when the run ended before.
    /// - Throws: ``ChildProcess/Failure`` when the tracer cannot be started.
    package func kill(at number: Int) async throws -> String? {
        let (_, report) = try await run(["--kill", "\(number)"])
        return report?.struck.map { "call \(number), \($0.call) of \($0.file)" }
    }

    /// Runs it on a disk that takes long to sync.
    ///
    /// - Parameters:
    ///   - milliseconds: how much longer each sync takes.
    ///   - path: a part of the paths of the files whose syncs are slow.
    /// - Returns: how it ended, and how many syncs were slow.
    /// - Throws: ``ChildProcess/Failure`` when the tracer cannot be started.
    package func slowed(by milliseconds: Int, syncing path: String) async throws -> (ChildProcess.Ending, syncs: Int) {
        let (ending, report) = try await run(
            ["--slow", "\(milliseconds)", "--calls", "fsync,fdatasync", "--path", path])
        return (ending, report?.calls ?? 0)
    }

    private func run(_ strike: [String]) async throws -> (ChildProcess.Ending, Report?) {
        let file = directory.file("strike.json")
        try? FileManager.default.removeItem(atPath: file)
        // A hang is a finding, not a wait; the limit is far from what a busy machine needs.
        let ending = try await ChildProcess.run(
            "/usr/bin/timeout",
            ["120", Places.repository() + "/Tools/strike"] + strike + ["--report", file, "--"] + words,
            environment: environment)
        let report = try FileManager.default.contents(atPath: file).map {
            try JSONDecoder().decode(Report.self, from: $0)
        }
        return (ending, report)
    }
}
