import Foundation
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// A store with lectures in every state, its server, and who may use it.
final class PageRig: Sendable {
    static let hostile = #"<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>&amp;'"#
    static let token = "operator-token-1"

    let sandbox: SandboxOrigin
    let directory: TemporaryDirectory
    let manager: LectureManager
    let options: ServeOptions
    let licensed: ContentKey
    let slow: ContentKey
    let failed: ContentKey
    let done: ContentKey

    init() async throws {
        directory = try TemporaryDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"])
        var grant = CallbackPolicy()
        grant.expirationIn = 5 * 86_400
        grant.expirationCount = 3
        try await sandbox.set(policy: grant)
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.reserveBytes = 1 << 20
        configuration.quotaBytes = 4 << 30
        configuration.maxAttempts = 1
        configuration.deviceDirectory = directory.file("device")
        configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
        configuration.rights.userKey = "sandbox"
        manager = try LectureManager(configuration)
        options = try Self.options(directory)
        let http = sandbox.http
        try await sandbox.set(fault: "slow:40000", on: "/media/bytes-16M-9.mp4")
        try await sandbox.set(fault: "404", on: "/media/bytes-1M-8.mp4")
        let link = try await sandbox.link(key: "bytes-300K-3", licensed: "")
        licensed = try await Self.enqueue(manager, link, "bytes-300K-3", "") {
            ($0.title, $0.course) = ("Thermodynamics, part 2: entropy and its arrow", "Physics II")
        }
        done = try await Self.enqueue(manager, "\(http)/media/bytes-2M-7.mp4", "algebra-01", Self.hostile)
        failed = try await Self.enqueue(manager, "\(http)/media/bytes-1M-8.mp4", "missing-01", "선형대수학 3강: 고유값")
        _ = try await Self.enqueue(manager, "\(http)/media/bytes-700K-2.mp4", "kanji-01", "線形代数 第2回 行列式") {
            $0.course = "数学"
        }
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        slow = try await Self.enqueue(
            manager, "\(http)/media/bytes-16M-9.mp4", "slow-01", "Signals and systems: the Fourier transform")
        var report = LearningReport(values: #"{"n":1}"#, user: "kim", session: "1")
        report.target = ReportTarget(url: "\(http)/lms/json", format: .json)
        try await manager.reports.add(report)
    }

    private static func enqueue(
        _ manager: LectureManager, _ url: String, _ key: String, _ title: String,
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> ContentKey {
        var request = DownloadRequest(url: url)
        request.key = try ContentKey(key)
        request.title = title
        change(&request)
        return try await manager.downloads.enqueue(request)
    }

    /// Options with an access file that only its owner may read.
    static func options(_ directory: TemporaryDirectory) throws -> ServeOptions {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        let people = [("operator", "ada", token), ("viewer", "bo", "viewer-token-1")]
        let lines = try people.map { role, name, token in
            "\(role) \(name) sha256:\(Hexadecimal.text(try digests.sha256(of: Array(token.utf8))))\n"
        }
        let file = try directory.write(lines.joined(), to: "access")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        var options = ServeOptions(accessFile: file, keyFile: directory.file("serve.key"))
        options.port = UInt16(try Places.freePort())
        return options
    }

    /// Starts the server, always on the same port.
    func serve() async throws -> LectureServer { try await LectureServer.start(manager, options) }

    /// Waits until a lecture of the store passes.
    func wait(for key: ContentKey, _ passes: @Sendable (Content) -> Bool) async throws {
        let events = manager.events
        if let lecture = try await manager.contents.find(key), passes(lecture) { return }
        for await _ in events {
            if let lecture = try await manager.contents.find(key), passes(lecture) { return }
        }
    }

    func end() async {
        await manager.close()
        await sandbox.stop()
    }
}

extension Browser {
    /// Signs in, and waits for the page behind it.
    func signIn(_ url: String, token: String = PageRig.token) async throws {
        try await open("\(url)/")
        try await type(token, into: "#token")
        try await click(".sign-in button")
        try await wait(for: "location.pathname == '/'")
    }
}
