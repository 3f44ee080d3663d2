import Foundation
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A device with a store, and its own learning management systems. The program's whole output is kept, and searched
/// for secrets at the end.
struct StatisticsScene: Sendable {
    let sandbox: SandboxOrigin
    let home: TemporaryDirectory
    let store: String
    private let transcript = Guarded(Data())
    private let secrets = Guarded<[Data]>([])

    private init(_ sandbox: SandboxOrigin) throws {
        home = try TemporaryDirectory()
        (self.sandbox, store) = (sandbox, home.file("store"))
    }

    /// Runs a scenario. At its end no report may be lost, the store must be sound, and no secret printed.
    ///
    /// - Parameters:
    ///   - target: more members of the entry in `lms.targets`, for instance `"batch":20`.
    ///   - path: of the LMS.
    ///   - story: the scenario.
    /// - Throws: what the scenario throws.
    static func play(
        _ target: String = "", path: String = "/lms/json", _ story: (StatisticsScene) async throws -> Void
    ) async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let scene = try StatisticsScene(sandbox)
        try scene.configure(target, path: path)
        try await story(scene)
        let account = try await scene.account()
        #expect(account.conserved, "\(account)")
        let check = try await scene("store", "check")
        #expect(check.status == 0, "\(check.errorText)")
        let text = scene.transcript.withLock { $0 }
        for secret in scene.secrets.withLock({ $0 }) { #expect(text.range(of: secret) == nil, "a secret was printed") }
        await sandbox.stop()
    }

    /// Writes the configuration: everything goes to an LMS of the sandbox, at its own rate.
    func configure(_ target: String = "", path: String = "/lms/json", more: String = "") throws {
        let format = path.hasPrefix("/xAPI") ? "xapi" : path.hasPrefix("/lms/json") ? "json" : "kollus"
        let url = sandbox.http + (path.hasSuffix("/statements") ? String(path.dropLast("/statements".count)) : path)
        let rule = #"{"url":"\#(sandbox.http)","rate":5000\#(target.isEmpty ? "" : ",")\#(target)}"#
        let lms = #"{"url":"\#(url)","format":"\#(format)","targets":[\#(rule)]\#(more)}"#
        try home.write(#"{"lms":\#(lms),"network":{"timeout_s":2}}"#, to: "config.json")
    }

    // MARK: Commands

    func start(_ words: [String], environment more: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            BuiltProgram.url.path, words, environment: environment.merging(more) { _, new in new }, directory: home.path
        )
    }

    /// Starts the program with a file as standard input; the process is the program itself.
    func start(_ words: [String], input file: String) throws -> ChildProcess {
        try ChildProcess(
            "/bin/bash", ["-c", #"file=$1; shift; exec "$0" "$@" < "$file""#, BuiltProgram.url.path, file] + words,
            environment: environment, directory: home.path)
    }

    private var environment: [String: String] {
        [
            "HOME": home.path, "LECTURE_STORE": store, "LECTURE_CONFIG": home.file("config.json"),
            "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
        ]
    }

    func run(_ words: [String], environment more: [String: String] = [:]) async throws -> ChildProcess.Ending {
        let ending = try await start(words, environment: more).ending()
        keep(ending)
        return ending
    }

    func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }

    /// Keeps a program's output, for the search at the end.
    func keep(_ ending: ChildProcess.Ending) { transcript.withLock { $0 += ending.errors + ending.output } }

    /// A secret that must never be printed.
    func addSecret(_ text: String) { secrets.withLock { $0.append(Data(text.utf8)) } }

    // MARK: Reports

    /// A line of `lms add --batch`.
    static func line(_ id: String, session: String = "s", _ number: Int, user: String = "u") -> String {
        #"{"id":"\#(id)","user":"\#(user)","session":"\#(session)","seq":\#(number),"report":{"n":\#(number)}}"#
    }

    /// Lines of reports `r0`, `r1`, …, so many for each session.
    static func lines(_ count: Int, perSession: Int = 1) -> [String] {
        (0..<count).map { line("r\($0)", session: "s\($0 / perSession)", $0 % perSession, user: "u\($0 % 7)") }
    }

    /// Stores reports and expects that each is acknowledged.
    func add(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let file = try home.write(lines.joined(separator: "\n") + "\n", to: "lines-\(UUID().uuidString)")
        let ending = try await start(["lms", "add", "--batch"], input: file).ending()
        keep(ending)
        #expect(ending.status == 0, "\(ending.errorText)", sourceLocation: sourceLocation)
        #expect(Self.acknowledged(ending.text).count == lines.count, sourceLocation: sourceLocation)
    }

    /// The ids after `ACK`; a line that a kill truncated does not count.
    static func acknowledged(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .filter { $0.hasPrefix("ACK ") }.map { String($0.dropFirst(4)) }
    }

    /// The ids of stored reports.
    func ids(_ words: String...) async throws -> [String] {
        let ending = try await run(["lms", "list", "--ids"] + words)
        #expect(ending.status == 0, "\(ending.errorText)")
        return ending.text.split(separator: "\n").map(String.init)
    }

    /// Sends; the exit status must be one of these.
    @discardableResult
    func send(
        _ words: String..., expecting statuses: Set<Int32> = [0], environment more: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ChildProcess.Ending {
        let ending = try await run(["lms", "send", "--progress", "none"] + words, environment: more)
        #expect(
            statuses.contains(ending.status), "\(ending.status): \(ending.text) \(ending.errorText)",
            sourceLocation: sourceLocation)
        return ending
    }

    /// Sends until nothing is left; a server that fails now and then ends some of the runs.
    func sendAll(atMost limit: Int = 40, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<limit where try await send(expecting: [0, 69, 75]).status == 0 { return }
        Issue.record("never done", sourceLocation: sourceLocation)
    }

    struct Account: Decodable {
        let created: Int
        let pending: Int
        let leased: Int
        let delivered: Int
        let dead: Int
        let superseded: Int
        let expired: Int
        let pruned: Int
        let erased: Int
        let conserved: Bool

        var open: Int { pending + leased }
    }

    /// The counts of `lms list --summary`.
    func account() async throws -> Account {
        let ending = try await run(["lms", "list", "--summary", "--json"])
        let line = try #require(ending.text.split(separator: "\n").first, "\(ending.errorText)")
        return try Self.decoder.decode(Account.self, from: Data(line.utf8))
    }

    /// A report as `lms list` shows it.
    struct Report: Decodable {
        let id: String
        let state: String
        let reason: String?
        let attempts: Int
    }

    /// The output of `lms list`.
    func reports(_ words: String...) async throws -> [Report] {
        try await run(["lms", "list", "--json"] + words).text.split(separator: "\n").map {
            try Self.decoder.decode(Report.self, from: Data($0.utf8))
        }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    // MARK: The other side

    /// Each of these reports took effect once and no other did; every rule of the protocol was kept.
    func expectOnce(
        _ ids: some Collection<String>, on path: String = "/lms/json",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let taken = try await sandbox.lmsEvents(path).filter { $0.effects > 0 }
        #expect(Set(taken.map(\.id)) == Set(ids), sourceLocation: sourceLocation)
        let sums = try await sandbox.lmsSummary(path)
        #expect(sums.once == ids.count && sums.more == 0, "\(sums)", sourceLocation: sourceLocation)
        #expect(sums.keyViolations == 0 && sums.contentViolations == 0, "\(sums)", sourceLocation: sourceLocation)
        #expect(sums.outOfOrder == 0 && sums.bad == 0, "\(sums)", sourceLocation: sourceLocation)
    }
}
