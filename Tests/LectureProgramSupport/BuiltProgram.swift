package import Foundation
import LectureTestSupport

/// The built `lecturectl`, which is beside the test runner.
package enum BuiltProgram {
    /// The program.
    package static let url = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
        path: "lecturectl")

    /// How it ended.
    package struct Result {
        /// The exit status, or the signal.
        package let status: Int32
        /// Which of the two it is.
        package let reason: Process.TerminationReason
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
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        // Files and not pipes: a pipe that another test's child inherited would keep its reader waiting for that child.
        let directory = try TemporaryDirectory()
        let (output, diagnostics) = (directory.file("output"), directory.file("diagnostics"))
        for path in [output, diagnostics] { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: diagnostics))
        try process.run()
        process.waitUntilExit()
        let data = try Data(contentsOf: URL(filePath: output))
        let errors = try Data(contentsOf: URL(filePath: diagnostics))
        return Result(
            status: process.terminationStatus, reason: process.terminationReason, output: data, diagnostics: errors)
    }
}
