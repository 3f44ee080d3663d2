package import Foundation
import Glibc
package import LectureTestSupport
package import Testing

/// A person's account on a machine: the built program, its own home and store, deleted with the test.
package final class BadDay: Sendable {
    /// Whether this program may mount file systems in its own namespace, for disks that are full or read-only.
    package static let mayMount: Bool = {
        let result = try? BuiltProgram.run(
            URL(filePath: "/usr/bin/unshare"), ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        return result?.status == 0
    }()

    /// The account's home.
    package let home: TemporaryDirectory
    /// The store's directory.
    package var store: String { home.file("store") }
    /// What the program finds in its environment.
    package var environment: [String: String] {
        [
            "HOME": home.path, "LECTURE_STORE": store, "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "",
            "XDG_CONFIG_HOME": "",
        ]
    }

    /// Makes the account.
    package init() throws { home = try TemporaryDirectory() }

    /// Starts the program.
    package func start(_ words: String..., keepsInputOpen: Bool = false) throws -> ChildProcess {
        try ChildProcess(
            BuiltProgram.url.path, words, environment: environment, directory: home.path,
            keepsInputOpen: keepsInputOpen)
    }

    /// Runs the program to its end.
    package func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }

    /// Runs the program to its end.
    package func run(_ words: [String]) async throws -> ChildProcess.Ending {
        try await ChildProcess.run(
            BuiltProgram.url.path, words, environment: environment, directory: home.path)
    }

    /// Runs a shell script in which `$0` is the program, with its own mounts.
    package func withMounts(_ script: String, _ words: String...) async throws -> ChildProcess.Ending {
        try await ChildProcess.run(
            "/usr/bin/unshare", ["--mount", "bash", "-euc", script, BuiltProgram.url.path] + words,
            environment: environment, directory: home.path)
    }

    /// The lectures of the store, by key.
    package func list() async throws -> [Line] { try await Line.all(self("list", "--json").text) }

    /// The store must be sound.
    package func expectSound(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let check = try await self("store", "check")
        #expect(check.status == 0, "\(check.errorText)", sourceLocation: sourceLocation)
    }

    /// The bytes of the only lecture's file.
    package func bytes() async throws -> Data {
        let key = try #require(try await list().first?.key)
        let path = try await self("path", key).text.trimmingCharacters(in: .newlines)
        return try Data(contentsOf: URL(filePath: path))
    }

    /// The SHA-256 of the only lecture's file, computed by an independent program.
    package func sha256() async throws -> String {
        let key = try #require(try await list().first?.key)
        let path = try await self("path", key).text.trimmingCharacters(in: .newlines)
        return String(try await ChildProcess.run("/usr/bin/sha256sum", [path]).text.prefix(64))
    }
}

/// A line of JSON output, as far as tests need it.
package struct Line: Decodable, Sendable {
    /// The event's name.
    package let event: String?
    /// The lecture.
    package let key: String?
    /// Its state.
    package let state: String?
    /// Why it stopped.
    package let stopReason: String?
    /// The error's name.
    package let name: String?
    /// Verified bytes.
    package let bytes: Int?
    /// All bytes.
    package let total: Int?
    /// Lectures that are complete.
    package let completed: Int?
    /// Lectures that failed.
    package let failed: Int?
    /// Lectures that stopped.
    package let stopped: Int?
    /// Lectures that were skipped.
    package let skipped: Int?
    /// Verified bytes of this run.
    package let bytesFetched: Int?
    /// Verified bytes of earlier runs.
    package let bytesReused: Int?

    /// Reads output, each line of which must match its schema.
    package static func all(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [Line] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try text.split(separator: "\n").map { line in
            let faults = try JSONSchema(describing: String(line)).faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(line): \(faults)", sourceLocation: sourceLocation)
            return try decoder.decode(Line.self, from: Data(line.utf8))
        }
    }

    /// The last line, which must be the summary.
    package static func summary(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Line {
        let last = try #require(try all(text, sourceLocation: sourceLocation).last, sourceLocation: sourceLocation)
        #expect(last.event == "summary", sourceLocation: sourceLocation)
        return last
    }
}

extension ChildProcess {
    /// Waits until standard output contains a text.
    package func wait(forOutput text: String) async throws {
        try await wait(for: .output) { $0.range(of: Data(text.utf8)) != nil }
    }
}

extension BadDay {
    /// What the store has of its lectures: committed chunks, and pieces of others.
    ///
    /// - Returns: bytes; 0 when there is no store yet.
    /// - Throws: ``ChildProcess/Failure`` when Python is missing.
    package func receivedBytes() async throws -> Int {
        let script = """
            import sqlite3, sys
            try:
                db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
                query = "SELECT (SELECT total(bytes) FROM chunk_piece) + (SELECT total(bytes_proven) FROM content)"
                print(int(db.execute(query).fetchone()[0]))
            except sqlite3.Error:
                print(0)
            """
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", script, "\(store)/lecturekit.db"])
        return try #require(Int(ending.text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
