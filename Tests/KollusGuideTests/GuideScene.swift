import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// An application with an issued key, on its own device, and the servers it uses.
struct GuideScene: Sendable {
    let sandbox: SandboxOrigin
    let home: TemporaryDirectory
    /// The issued values, and the paths.
    private var environment: [String: String]

    /// Issues a key and starts the servers.
    ///
    /// - Parameter arguments: more options of the sandbox.
    /// - Returns: once the sandbox serves.
    /// - Throws: ``ChildProcess/Failure`` when it does not.
    static func make(_ arguments: [String] = []) async throws -> GuideScene {
        let sandbox = try await SandboxOrigin.start(["--no-https"] + arguments)
        let seconds = 30 * 86_400
        let key = try await sandbox.issue(#"{"app":"com.example.academy","app_expires_in":\#(seconds)}"#)
        return try GuideScene(sandbox, key: key, expires: Date(timeIntervalSinceNow: Double(seconds)))
    }

    private init(_ sandbox: SandboxOrigin, key: String, expires: Date) throws {
        home = try TemporaryDirectory()
        self.sandbox = sandbox
        let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
        try home.write(#"{"drm":{"keys":[\#(server)],"user_key":"sandbox"}}"#, to: "config.json")
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let day = calendar.dateComponents([.year, .month, .day], from: expires)
        let date = [day.year, day.month, day.day].map { $0.map { $0 < 10 ? "0\($0)" : "\($0)" } ?? "" }
        environment = [
            "HOME": home.path, "LECTURE_STORE": home.file("store"), "LECTURE_DEVICE": home.file("device"),
            "LECTURE_CONFIG": home.file("config.json"), "LECTURE_TRUST": sandbox.directory, "LECTURE_RESERVE": "1M",
            "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "TZ": "UTC",
            "KOLLUS_KEY": key.trimmingCharacters(in: .whitespacesAndNewlines),
            "KOLLUS_BUNDLE_ID": "com.example.academy", "KOLLUS_EXPIRES": date.joined(separator: "/"),
        ]
    }

    /// Runs a chapter to its end.
    func run(
        _ words: [String], _ changes: [String: String] = [:], program: String = Places.builtProduct("kollus-guide")
    ) async throws -> ChildProcess.Ending {
        try await start(words, changes, program: program).ending()
    }

    /// Starts a chapter.
    func start(
        _ words: [String], _ changes: [String: String] = [:], program: String = Places.builtProduct("kollus-guide")
    ) throws -> ChildProcess {
        let variables = environment.merging(changes) { _, new in new }
        return try ChildProcess(program, words, environment: variables, directory: home.path)
    }

    func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }

    /// Runs the command on the same store.
    func command(_ words: String...) async throws -> ChildProcess.Ending {
        try await ChildProcess.run(BuiltProgram.url.path, words, environment: environment, directory: home.path)
    }

    /// Stores a learning report, as a player would.
    func report(_ number: Int, to path: String) async throws {
        try home.write(#"{"content_info":{"playtime":\#(number)}}"#, to: "report.json")
        let ending = try await command(
            "lms", "add", "--user", "learner", "--session", "1763625600", "--seq", "\(number)", "--json",
            home.file("report.json"), "--target", sandbox.http + path, "--format", "json")
        #expect(ending.status == 0, "\(ending.all)")
    }

    /// Waits until a server has sent so many bytes of each lecture.
    func untilBytesCame(_ count: Int, of keys: String...) async throws {
        for key in keys { try await waitUntil { try await bytes(of: key) >= count } }
    }

    /// The bytes of a lecture's body that its server has sent.
    func bytes(of key: String) async throws -> Int {
        try await sandbox.requests(for: "/media/\(key).mp4").map(\.bytes).reduce(0, +)
    }
}

extension ChildProcess.Ending {
    /// The lines of standard output.
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    /// All output, for a failed expectation.
    var all: String { "status \(status)\n\(text)\(errorText)" }
}
