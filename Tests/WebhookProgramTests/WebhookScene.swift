import Foundation
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A device with a store, a server of lectures, and a receiver of webhooks. What the program prints is searched for the
/// secret and the token of the URL at the end.
struct WebhookScene: Sendable {
    let sandbox: SandboxOrigin
    let receiver: WebhookReceiver
    let home: TemporaryDirectory
    private let transcript = Guarded("")

    /// An endpoint as `webhooks list --json` prints it.
    struct Endpoint: Decodable {
        let webhook: Int
        let server: String
        let configured: Bool
        let waiting: Int
        let dead: Int
        let delivered: Int
        let expired: Int
        let failures: Int
        let gone: Bool
    }

    /// Runs a scenario. At its end the store must be sound, and no secret printed or stored.
    static func play(_ story: (WebhookScene) async throws -> Void) async throws {
        let (sandbox, receiver) = (try await SandboxOrigin.start(["--no-https"]), try await WebhookReceiver.start())
        let scene = WebhookScene(sandbox: sandbox, receiver: receiver, home: try TemporaryDirectory())
        try scene.configure()
        try await story(scene)
        let check = try await scene("store", "check")
        #expect(check.status == 0, "\(check.errorText)")
        let text = scene.transcript.withLock { $0 }
        for secret in ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "not-printed"] {
            #expect(!text.contains(secret), "a secret was printed")
        }
        for name in ["lecturekit.db", "lecturekit.db-wal"] {
            let bytes = FileManager.default.contents(atPath: scene.home.file("store/\(name)")) ?? Data()
            #expect(bytes.range(of: Data("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8)) == nil, "a secret was stored")
        }
        await sandbox.stop()
        await receiver.stop()
    }

    /// Writes the configuration.
    func configure(_ more: String = "", endpoints: [String]? = nil) throws {
        let secret = try home.write("\(WebhookReceiver.secret)\n", to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let entries = (endpoints ?? [receiver.url]).map { #"{"url":"\#($0)","secret_file":"secret"\#(more)}"# }
        _ = try home.write(
            #"{"webhooks":[\#(entries.joined(separator: ","))],"network":{"retries":1}}"#, to: "config.json")
    }

    // MARK: Commands

    func start(_ words: [String]) throws -> ChildProcess {
        try ChildProcess(
            BuiltProgram.url.path, words,
            environment: [
                "HOME": home.path, "LECTURE_STORE": home.file("store"), "LECTURE_CONFIG": home.file("config.json"),
                "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
            ], directory: home.path)
    }

    @discardableResult
    func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }

    @discardableResult
    func run(_ words: [String]) async throws -> ChildProcess.Ending {
        let ending = try await start(words).ending()
        transcript.withLock { $0 += ending.errorText + ending.text }
        return ending
    }

    /// Downloads small lectures; each is `KEY`, or `KEY!` for one that its server does not have.
    func precache(_ keys: [String]) async throws {
        let lines = keys.map { key in
            let name =
                key.hasSuffix("!")
                ? "none/\(key.dropLast()).mp4" : "media/bytes-64K-\(abs(key.hashValue % 900) + 1).mp4"
            return #"{"key":"\#(key.filter { $0 != "!" })","url":"\#(sandbox.http)/\#(name)","title":"T","course":"C"}"#
        }
        _ = try home.write(lines.joined(separator: "\n") + "\n", to: "course.jsonl")
        let ending = try await run(["precache", "--progress", "none", "--quiet", "course.jsonl"])
        let expected: Int32 = keys.contains { $0.hasSuffix("!") } ? 1 : 0
        #expect(ending.status == expected, "\(ending.errorText)")
    }

    func endpoints() async throws -> [Endpoint] {
        let ending = try await run(["webhooks", "list", "--json"])
        return try ending.text.split(separator: "\n").map {
            try JSONDecoder().decode(Endpoint.self, from: Data($0.utf8))
        }
    }

    func endpoint() async throws -> Endpoint { try #require(try await endpoints().first) }
}
