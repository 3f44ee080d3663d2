import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LectureLoopback

/// A store with one lecture and a server for it.
struct Theatre {
    let directory: TemporaryDirectory
    let sandbox: SandboxOrigin
    let manager: LectureManager
    let server: LoopbackServer
    let key: ContentKey
    /// The lecture, as its server sends it.
    let media: Data

    /// Downloads a lecture: sealed under a licence, or in clear.
    ///
    /// - Parameters:
    ///   - policy: of the licence; nil for a lecture without one.
    ///   - name: as the sandbox names it.
    ///   - change: changes the options of the server.
    /// - Throws: what the library throws.
    init(
        _ policy: CallbackPolicy? = nil, key name: String = "durable-on-the-disk",
        _ change: (inout LoopbackOptions) -> Void = { _ in }
    ) async throws {
        directory = try TemporaryDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"] + (policy == nil ? [] : ["--licensed"]))
        if let policy { try await sandbox.set(policy: policy) }
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        (configuration.reserveBytes, configuration.maxAttempts) = (1 << 20, 1)
        configuration.deviceDirectory = directory.file("device")
        configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
        configuration.rights.userKey = "sandbox"
        manager = try LectureManager(configuration)
        let plain = "\(sandbox.http)/media/\(name).mp4"
        var request = DownloadRequest(url: policy == nil ? plain : try await sandbox.link(key: name))
        request.key = try ContentKey(name)
        key = try await manager.downloads.enqueue(request)
        guard try await manager.downloads.waitUntilIdle(deadline: .seconds(60)),
            try await manager.contents.find(key)?.state == .completed
        else { throw LectureError(.notComplete) }
        let read = Collected()
        let play = try await manager.streams.open("\(sandbox.http)/media/\(name).mp4")
        try await play.read { read.add($0) }
        await play.end()
        media = read.bytes
        var options = LoopbackOptions()
        change(&options)
        server = try LoopbackServer(manager, options: options)
    }

    /// Bytes of a read.
    private final class Collected: @unchecked Sendable {
        // `@unchecked Sendable`: one read adds to it, and it is looked at after that.
        private(set) var bytes = Data()
        func add(_ more: [UInt8]) { bytes += more }
    }

    func open() async throws -> LoopbackPlay { try await server.open(.lecture(key)) }

    var status: LicenceStatus? {
        get async throws { try await manager.licences.status(of: key) }
    }

    /// The largest file of the store.
    func sealedFile() throws -> String {
        let files = FileManager.default.enumerator(atPath: directory.file("store"))
        var largest = (path: "", bytes: 0)
        while let name = files?.nextObject() as? String {
            let path = "\(directory.file("store"))/\(name)"
            let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            if bytes > largest.bytes { largest = (path, bytes) }
        }
        return largest.path
    }

    func end() async {
        await server.stop()
        await manager.close()
        await sandbox.stop()
    }
}
