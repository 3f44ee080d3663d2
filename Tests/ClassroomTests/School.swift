import Foundation
import LectureCrypto
import LectureFormats
import LectureKit
import LectureTestSupport
import Testing

@testable import LectureServe

/// A store with real films, and its server.
struct School {
    let directory: TemporaryDirectory
    let streams: TestStreams
    let sandbox: SandboxOrigin?
    let origin: NginxOrigin
    let manager: LectureManager
    let server: LectureServer
    /// Of all people; `kim` and `lee` may watch, `ada` may do everything, `branch` is another server.
    let tokens = ["kim": "token-kim", "lee": "token-lee", "ada": "token-ada", "branch": "token-branch"]

    init(
        _ policy: CallbackPolicy? = nil, seal: SealPolicy = .licensed,
        _ change: (inout ClassroomOptions) -> Void = { _ in }
    ) async throws {
        (directory, streams) = (try TemporaryDirectory(), try await TestStreams.shared.value)
        origin = try await streams.serve()
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        (configuration.reserveBytes, configuration.maxAttempts, configuration.seal) = (1 << 20, 1, seal)
        configuration.deviceDirectory = directory.file("device")
        if let policy {
            let sandbox = try await SandboxOrigin.start(["--no-https", "--licensed"])
            try await sandbox.set(policy: policy)
            configuration.rights.keys = [.init(id: sandbox.drmKeyID, place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = sandbox.drmKeyID
            self.sandbox = sandbox
        } else {
            sandbox = nil
        }
        manager = try LectureManager(configuration)
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        let roles = ["kim": "viewer", "lee": "viewer", "ada": "operator", "branch": "peer"]
        let lines = try tokens.map { name, token in
            let digest = Hexadecimal.text(try digests.sha256(of: Array(token.utf8)))
            return "\(roles[name] ?? "") \(name) sha256:\(digest)\n"
        }
        let path = try directory.write(lines.joined(), to: "access")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        var options = ServeOptions(accessFile: path, keyFile: directory.file("key"))
        options.port = 0
        change(&options.classroom)
        server = try await LectureServer.start(manager, options)
    }

    /// Starts the server again, on another port.
    func again() async throws -> LectureServer {
        var options = ServeOptions(accessFile: directory.file("access"), keyFile: directory.file("key"))
        options.port = 0
        return try await LectureServer.start(manager, options)
    }

    /// Downloads a lecture; under a licence where there is a policy.
    ///
    /// - Parameters:
    ///   - name: below the origin, for instance `film.mp4` or `aes/main.m3u8`.
    ///   - key: its key.
    ///   - more: further members of its description.
    /// - Returns: the key.
    /// - Throws: what the library throws.
    func keep(_ name: String, as key: String, _ more: String = "") async throws -> ContentKey {
        var url = "\(origin.http)/\(name)"
        if sandbox != nil || !more.isEmpty {
            let drm = sandbox.map {
                #","drm":{"callback_url":"\#($0.drmCallback)","key_id":"\#($0.drmKeyID)"}"#
            }
            let text = #"{"version":1,"media_content_key":"\#(key)","media":{"url":"\#(url)"}\#(drm ?? "")\#(more)}"#
            try FileManager.default.createDirectory(
                atPath: streams.directory.file("i"), withIntermediateDirectories: true)
            // Tests of this process share the directory.
            let place = "i/\(UUID().uuidString)"
            _ = try streams.directory.write(text, to: place)
            url = "\(origin.http)/\(place)"
        }
        var request = DownloadRequest(url: url)
        request.key = try ContentKey(key)
        var selection = StreamSelection()
        selection.subtitleLanguages = ["en"]
        request.selection = selection
        let kept = try await manager.downloads.enqueue(request)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let state = try await manager.contents.find(kept)?.state
        try #require(state == .completed, "\(String(describing: state))")
        return kept
    }

    /// The film as it is at the origin.
    func film() throws -> Data { try Data(contentsOf: URL(filePath: streams.directory.file("film.mp4"))) }

    /// The URL of a path, with name and token as players have them.
    func url(_ path: String, as name: String) -> String {
        let token = tokens[name] ?? ""
        return "http://\(name):\(token)@127.0.0.1:\(server.port)\(path)"
    }

    /// A request, with the token of a person.
    func get(_ path: String, as name: String?, _ words: String...) async throws -> Curl.Response {
        let who = name.map { ["-u", "\($0):\(tokens[$0] ?? "")"] } ?? []
        return try await Curl.get(["\(server.url)\(path)"] + who + words)
    }

    /// Opens a play, and returns its path.
    func play(_ key: String, as name: String) async throws -> String {
        let answer = try await get("/classroom/lectures/\(key)/plays", as: name, "-X", "POST")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.member("url")
    }

    /// The link of an operator for a person.
    func link(_ key: String, user: String, lasting seconds: Int64 = 600) async throws -> String {
        let until = Int64(Date().timeIntervalSince1970) + seconds
        let answer = try await get(
            "/classroom/links", as: "ada", "--data-urlencode", "key=\(key)", "--data-urlencode", "user=\(user)",
            "-d", "until=\(until)")
        try #require(answer.status == 201, "\(answer.text)")
        return try answer.member("url")
    }

    /// How many plays were counted.
    func countUsed(_ key: ContentKey) async throws -> Int? {
        try await manager.licences.status(of: key)?.countUsed
    }

    /// What is in the outbox for a person, the oldest first.
    func reports(of user: String) async throws -> [[String: Any]] {
        var query = ReportQuery()
        query.user = user
        return try await manager.reports.list(query).rows.sorted { $0.sequence < $1.sequence }.map { row in
            try #require(try JSONSerialization.jsonObject(with: Data(row.values.utf8)) as? [String: Any])
        }
    }

    func end() async {
        await server.stop()
        await manager.close()
        await origin.stop()
        await sandbox?.stop()
    }
}
