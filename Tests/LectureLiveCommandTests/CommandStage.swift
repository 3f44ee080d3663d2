import FlipFlopLiteSDK
import Foundation
import Glibc
import LectureCommand
import LectureFiles
import LectureFormats
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import LectureTransport
import Testing

/// Something that a test needs and does not get.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// Collects what a command writes, and wakes those who wait for a part of it.
final class WatchedSink: ByteSink {
    private struct State {
        var text = ""
        var waiters: [(part: String, waiter: Waiter<Void>)] = []
    }

    private let state = Guarded(State())

    func write(_ more: [UInt8]) throws(OutputError) {
        let ready = state.withLock { state in
            state.text += String(decoding: more, as: UTF8.self)
            defer { state.waiters.removeAll { state.text.contains($0.part) } }
            return state.waiters.filter { state.text.contains($0.part) }.map(\.waiter)
        }
        for waiter in ready { waiter.answer(()) }
    }

    var text: String { state.withLock { $0.text } }

    /// Waits until something was written.
    func wait(for part: String) async throws {
        let waiter = Waiter<Void>()
        state.withLock { state in
            if state.text.contains(part) { waiter.answer(()) } else { state.waiters.append((part, waiter)) }
        }
        try await waiter.value()
    }
}

/// A command that runs in this process.
final class RunningCommand: Sendable {
    let output = WatchedSink()
    let diagnostics = WatchedSink()
    private let task: Task<LectureCommand.ExitStatus, Never>
    private let secrets: [String]

    init(_ words: [String], environment: [String: String], _ effects: LiveEffects, secrets: [String]) {
        self.secrets = secrets
        let context = CommandContext(
            arguments: words, environment: environment, output: output, diagnostics: diagnostics,
            outputIsTerminal: false, diagnosticsIsTerminal: false, terminalSize: { .standard }, clock: SystemClock(),
            program: LiveTable.program, signals: { nil })
        task = Task { await LiveActions.runner(effects).run(context) }
    }

    /// Waits for its end, and searches all that it wrote for secrets; lines for programs are those of their schemas.
    func end() async throws -> (code: Int32, output: String, diagnostics: String) {
        let code = await task.value.code
        let (output, diagnostics) = (output.text, diagnostics.text)
        for secret in secrets where (output + diagnostics).contains(secret) {
            Issue.record("a secret was written: \(output)\(diagnostics)")
        }
        for line in output.split(separator: "\n") where line.hasPrefix("{") {
            #expect(try faults(String(line)) == [], "\(line)")
        }
        return (code, output, diagnostics)
    }
}

/// What is wrong with a line, by its schema.
func faults(_ line: String) throws -> [String] {
    let event = try JSONScanner.scan(Array(line.utf8))["event"]?.string ?? "none"
    return try JSONSchema(named: "live/\(event)").faults(in: Data(line.utf8))
}

/// The program's own server, and the files of members.
final class CommandStage: Sendable {
    static let credentials = "academy:the-secret-of-the-academy"

    let server: LectureLiveServer.LiveServer
    let directory: TemporaryDirectory
    private let credentialsFile: String

    /// Starts the server, with nginx if there is a broadcast.
    init(hasMedia: Bool = false, _ change: (inout LiveOptions) -> Void = { _ in }) async throws {
        directory = try TemporaryDirectory.inMemory()
        guard let credentials = LiveCredentials(Self.credentials) else { throw Missing(description: "credentials") }
        var options = LiveOptions(stateDirectory: directory.file("state"), credentials: credentials)
        (options.rtmpPort, options.nginx) = (hasMedia ? 0 : nil, try Places.command("nginx"))
        options.fragment = .milliseconds(500)
        change(&options)
        server = try await LectureLiveServer.LiveServer.start(options)
        credentialsFile = try directory.secret(Self.credentials, "app.key")
    }

    var address: String { "http://127.0.0.1:\(server.port)" }

    func tokenFile(_ user: String) -> String { directory.file("\(user)/deep/token") }

    func environment(_ user: String) -> [String: String] {
        ["LECTURE_LIVE_SERVER": address, "LECTURE_LIVE_TOKEN_FILE": tokenFile(user)]
    }

    /// Logs a member in by the command.
    @discardableResult
    func login(_ user: String, _ more: String...) async throws -> (code: Int32, output: String, diagnostics: String) {
        let words = ["login", "--credentials", credentialsFile, "--user", user] + more
        let end = try await start(user, words).end()
        #expect(end.code == 0, "\(end.diagnostics)")
        return end
    }

    func token(_ user: String) throws -> String {
        try String(contentsOfFile: tokenFile(user), encoding: .utf8).split(separator: "\n").map(String.init).first ?? ""
    }

    /// Starts a command as a member.
    func start(
        _ user: String, _ words: [String], input: Int32 = STDIN_FILENO, time: LiveTime? = nil,
        media: MediaFactories = .standard([:])
    ) -> RunningCommand {
        var effects = LiveEffects(media: media)
        effects.input = input
        if let time { effects.time = time }
        let secrets = [(try? token(user)) ?? "", String(Self.credentials.dropFirst(8))].filter { !$0.isEmpty }
        return RunningCommand(words, environment: environment(user), effects, secrets: secrets)
    }

    /// Runs a command as a member to its end.
    func run(_ user: String, _ words: String...) async throws -> (code: Int32, output: String, diagnostics: String) {
        try await start(user, words).end()
    }

    /// The member API, for what no command does.
    func client<Value: Sendable>(
        _ user: String, _ body: (MemberClient) async throws -> Value
    ) async throws -> Value {
        try await withMember(address, try token(user), body)
    }
}

extension TemporaryDirectory {
    /// A file that only its owner may read.
    func secret(_ text: String, _ name: String, mode: Int = 0o600) throws -> String {
        let file = try write("\(text)\n", to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}

/// A pipe for standard input.
final class InputPipe: Sendable {
    let reading: Int32
    private let writing: Guarded<Int32>

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Missing(description: "a pipe") }
        (reading, writing) = (ends[0], Guarded(ends[1]))
    }

    deinit {
        close()
        Glibc.close(reading)
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(writing.withLock { $0 }, bytes, bytes.count)
    }

    func close() {
        writing.withLock { end in
            if end >= 0 { Glibc.close(end) }
            end = -1
        }
    }
}

/// Runs a body with the member API of a server.
func withMember<Value: Sendable>(
    _ address: String, _ token: String, _ body: (MemberClient) async throws -> Value
) async throws -> Value {
    let transport = try CurlTransport(TransportConfiguration(), clock: SystemClock())
    do {
        let server = try LectureLiveClient.LiveServer(address: address, accessToken: token)
        let value = try await body(MemberClient(server, transport: transport))
        await transport.shutdown()
        return value
    } catch {
        await transport.shutdown()
        throw error
    }
}
