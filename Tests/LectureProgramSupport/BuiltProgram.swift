package import Foundation
import LectureTestSupport

/// The built `lecturectl`, which is beside the test runner.
package enum BuiltProgram {
    /// The program.
    package static let url = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
        path: "lecturectl")

    /// How it ended.
    package struct Result {
        /// The exit status, or 128 + the signal's number.
        package let status: Int32
        /// Standard output.
        package let output: Data
        /// Standard error.
        package let diagnostics: Data

        /// Standard output as text.
        package var outputText: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text.
        package var diagnosticsText: String { String(decoding: diagnostics, as: UTF8.self) }
    }

    /// Runs the program to its end.
    package static func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Result {
        try run(url, arguments, environment: environment)
    }

    /// Runs a shell line in which `$0` is the program.
    package static func shell(_ line: String) throws -> Result {
        try run(URL(filePath: "/bin/bash"), ["-c", line, url.path], environment: ["PATH": "/usr/bin:/bin"])
    }

    /// Runs any program to its end; blocks its thread.
    package static func run(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws -> Result
    {
        let ending = try ChildProcess.runBlocking(program.path, arguments, environment: environment)
        return Result(status: ending.status, output: ending.output, diagnostics: ending.errors)
    }
}
