import Foundation
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The document of the API as a client reads it.
struct ReadDocument: @unchecked Sendable {
    // The object is read and never changed, so threads may share it.
    private let root: [String: Any]

    init(_ data: Data) throws {
        root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// The operations: method in capitals, path.
    var operations: [(method: String, path: String)] {
        paths.flatMap { path, item in item.keys.map { ($0.uppercased(), path) } }
            .sorted { ($0.path, $0.method) < ($1.path, $1.method) }
    }

    private var paths: [String: [String: [String: Any]]] {
        root["paths"] as? [String: [String: [String: Any]]] ?? [:]
    }

    /// The operation of a request, by its path without the query.
    func operation(_ method: String, _ address: String) -> [String: Any]? {
        let segments = address.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = paths.keys.filter { path in
            let words = path.split(separator: "/", omittingEmptySubsequences: false)
            return words.count == segments.count && zip(words, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        // Of two that fit, the one with fewer variables.
        let path = fitting.min { $0.count { $0 == "{" } < $1.count { $0 == "{" } }
        return path.flatMap { paths[$0]?[method.lowercased()] }
    }

    /// What an answer breaks of what the document says.
    func faults(_ method: String, _ address: String, _ answer: Answer) throws -> [String] {
        guard let operation = operation(method, address) else { return ["no such operation"] }
        let responses = operation["responses"] as? [String: [String: Any]] ?? [:]
        guard let response = responses["\(answer.status)"] else { return ["no status \(answer.status)"] }
        let content = response["content"] as? [String: [String: Any]] ?? [:]
        let type = answer.field("content-type") ?? "none"
        guard let schema = content[type]?["schema"] as? [String: Any] else { return ["no type \(type)"] }
        if type == "text/event-stream" { return [] }
        // The document describes itself as any object.
        if address.hasSuffix("/openapi.json"), answer.status == 200 { return answer.json.isEmpty ? ["empty"] : [] }
        return try JSONSchema(root: resolved(schema)).faults(in: answer.body)
    }

    /// A schema of this name.
    func schema(_ name: String) -> [String: Any]? {
        let components = root["components"] as? [String: Any]
        return (components?["schemas"] as? [String: [String: Any]])?[name]
    }

    /// A schema with its references followed.
    private func resolved(_ schema: [String: Any]) -> [String: Any] {
        if let reference = schema["$ref"] as? String {
            return self.schema(String(reference.split(separator: "/").last ?? "")).map(resolved) ?? ["$ref": reference]
        }
        return schema.mapValues { value in
            if let object = value as? [String: Any] { return resolved(object) }
            return value
        }
    }
}

/// A store with lectures in several states, its server, and who may use it.
final class APIRig: Sendable {
    static let hostile = #"</script><img src=x onerror=alert(1)>"\&'"# + "\u{202E}강의"
    static let tokens = ["operator": "operator-token-1", "viewer": "viewer-token-1", "peer": "peer-token-1"]

    let sandbox: SandboxOrigin
    let directory: TemporaryDirectory
    let manager: LectureManager
    let server: LectureServer
    let document: ReadDocument

    private init(
        _ sandbox: SandboxOrigin, _ directory: TemporaryDirectory, _ manager: LectureManager, _ server: LectureServer
    ) async throws {
        (self.sandbox, self.directory, self.manager, self.server) = (sandbox, directory, manager, server)
        document = try ReadDocument(
            try await Self.curl(server.url, "/api/v1/openapi.json", [], token: Self.tokens["operator"]).body)
    }

    /// Runs a test with a rig.
    static func with(_ body: (APIRig) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let manager = try LectureManager(configuration(directory, sandbox))
        try await fill(manager, sandbox)
        let server = try await LectureServer.start(manager, try options(directory))
        do {
            try await body(try await APIRig(sandbox, directory, manager, server))
        } catch {
            await server.stop()
            await manager.close()
            await sandbox.stop()
            throw error
        }
        await server.stop()
        await manager.close()
        await sandbox.stop()
    }

    private static func configuration(
        _ directory: TemporaryDirectory, _ sandbox: SandboxOrigin
    ) -> LectureConfiguration {
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.reserveBytes = 1 << 20
        configuration.maxAttempts = 1
        configuration.deviceDirectory = directory.file("device")
        configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
        configuration.rights.userKey = "sandbox"
        return configuration
    }

    /// `one` and `two/2` are complete, `three` has failed, `bytes-300K-3` has a licence for five days.
    private static func fill(_ manager: LectureManager, _ sandbox: SandboxOrigin) async throws {
        var grant = CallbackPolicy()
        grant.expirationIn = 5 * 86_400
        try await sandbox.set(policy: grant)
        let link = try await sandbox.link(key: "bytes-300K-3", licensed: "")
        let lectures = [
            ("\(sandbox.http)/media/bytes-300K-1.mp4", "one", hostile, "Physics"),
            ("\(sandbox.http)/media/bytes-300K-2.mp4", "two/2", "Two", "Physics"),
            ("\(sandbox.http)/none/bytes", "three", "Three", ""), (link, "bytes-300K-3", "", ""),
        ]
        for (url, key, title, course) in lectures {
            var request = DownloadRequest(url: url)
            (request.key, request.title, request.course) = (try ContentKey(key), title, course)
            try await manager.downloads.enqueue(request)
        }
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        for number in 1...3 {
            var report = LearningReport(values: #"{"n":\#(number)}"#, user: "kim", session: "\(number)")
            report.target = ReportTarget(url: "\(sandbox.http)/lms/json?secret=s", format: .json)
            try await manager.reports.add(report)
        }
    }

    private static func options(_ directory: TemporaryDirectory) throws -> ServeOptions {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        let lines = try tokens.map { role, token in
            "\(role) \(role) sha256:\(Hexadecimal.text(try digests.sha256(of: Array(token.utf8))))\n"
        }
        let file = try directory.write(lines.joined(), to: "access")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        var options = ServeOptions(accessFile: file, keyFile: directory.file("serve.key"))
        options.port = UInt16(try Places.freePort())
        options.version = "1.2.3"
        return options
    }

    private static func curl(
        _ url: String, _ path: String, _ words: [String], token: String?
    ) async throws -> Answer {
        let field = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        let options = ["-q", "-s", "-S", "-i", "--path-as-is", "--globoff", "--max-time", "60"]
        let ending = try await ChildProcess.run("/usr/bin/curl", options + field + words + [url + path])
        return Answer(ending.output, errors: ending.errorText)
    }

    /// Asks, and checks the answer against the document. The path is below `/api/v1/`, with its query; the body is
    /// JSON; the role is whose token is sent, nil for none.
    @discardableResult
    func ask(
        _ method: String, _ path: String, _ body: String? = nil, _ words: [String] = [], role: String? = "operator",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let data = body.map { ["-H", "Content-Type: application/json", "--data-binary", $0] } ?? []
        let address = "/api/v1/\(path)"
        let answer = try await Self.curl(
            server.url, address, ["-X", method] + data + words, token: role.flatMap { Self.tokens[$0] })
        let faults = try document.faults(method, address, answer)
        #expect(
            faults.isEmpty, "\(method) \(path): \(answer.status) \(faults) \(answer.text.prefix(500))",
            sourceLocation: sourceLocation)
        return answer
    }

    /// Asks for what is no operation.
    func raw(_ path: String, _ words: String..., role: String? = "operator") async throws -> Answer {
        try await Self.curl(server.url, path, words, token: role.flatMap { Self.tokens[$0] })
    }

    /// The objects of a list.
    func list(_ path: String, _ name: String) async throws -> [[String: Any]] {
        try #require(try await ask("GET", path).json[name] as? [[String: Any]])
    }

    /// The keys of a list of lectures.
    func keys(_ query: String) async throws -> [String] {
        try await list("lectures\(query)", "lectures").compactMap { $0["key"] as? String }
    }

    /// Waits until a lecture of the store passes.
    func wait(for key: String, _ passes: @Sendable (Content?) -> Bool) async throws {
        let (events, key) = (manager.events, try ContentKey(key))
        if passes(try await manager.contents.find(key)) { return }
        for await _ in events where passes(try await manager.contents.find(key)) { return }
    }
}
