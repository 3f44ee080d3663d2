import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// A device that gets a new key: the old one is kept, and what it has sealed waits for it.
@Suite(.timeLimit(.minutes(2)))
struct DeviceReplacementTests {
    private let place: TemporaryDirectory
    private let home: DeviceHome

    init() throws {
        place = try TemporaryDirectory()
        home = DeviceHome(directory: place.file("device"))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.directory).sorted()
    }

    @Test func `A device without a key says so and draws none`() throws {
        #expect(try home.presentIdentity() == nil)
        #expect(!FileManager.default.fileExists(atPath: home.directory))
        let identity = try home.identity()
        #expect(try home.presentIdentity() == identity)
        try Data([1]).write(to: URL(filePath: place.file("device/device.key")))
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.presentIdentity() }
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.replaceKey() }
        #expect(try names() == ["device.key"])
    }

    @Test func `The old key is kept beside the new one, private to its owner, and is never overwritten`() throws {
        let first = try home.identity()
        let key = try Data(contentsOf: URL(filePath: place.file("device/device.key")))
        let kept = "device-\(first.playerID).key"
        // A foreign file under the name is left alone.
        try Data([7]).write(to: URL(filePath: place.file("device/\(kept)")))
        let second = try home.replaceKey()
        #expect(second != first && second.playerID != first.playerID)
        #expect(try home.presentIdentity() == second)
        #expect(try Data(contentsOf: URL(filePath: place.file("device/\(kept)"))) == Data([7]))
        let other = "device-\(first.playerID)-2.key"
        #expect(try names() == [other, kept, "device.key"].sorted())
        #expect(try Data(contentsOf: URL(filePath: place.file("device/\(other)"))) == key)
        let attributes = try FileManager.default.attributesOfItem(atPath: place.file("device/\(other)"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // Back to the old key and away from it again: it is kept once.
        try FileManager.default.removeItem(atPath: place.file("device/device.key"))
        try FileManager.default.copyItem(
            atPath: place.file("device/\(other)"), toPath: place.file("device/device.key"))
        #expect(try home.presentIdentity() == first)
        _ = try home.replaceKey()
        #expect(try names() == [other, kept, "device.key"].sorted())
    }

    @Test func `A new device gets a key, and of many replacements none loses one`() async throws {
        let home = home
        #expect(try home.presentIdentity() == nil)
        let players = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try home.replaceKey().playerID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(players.count == 8)
        let last = try #require(try home.presentIdentity()?.playerID)
        let kept = players.subtracting([last]).map { "device-\($0).key" }
        #expect(try names() == (kept + ["device.key"]).sorted())
    }

    // MARK: A store with licences

    private static func manager(_ site: Site, _ sandbox: SandboxOrigin, _ device: String) throws -> LectureManager {
        try site.manager { configuration in
            configuration.deviceDirectory = device
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
        }
    }

    private func putBack(_ player: String) throws {
        try FileManager.default.removeItem(atPath: place.file("device/device.key"))
        try FileManager.default.copyItem(
            atPath: place.file("device/device-\(player).key"), toPath: place.file("device/device.key"))
    }

    @Test(arguments: [false, true])
    func `a store names its device, and plays again with its own key`(isUsedMeanwhile: Bool) async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        let key = try ContentKey("bytes-64K-6")
        var manager = try Self.manager(site, sandbox, home.directory)
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        let bytes = Guarded(Data())
        try await manager.licences.beginPlay(key).read { piece in bytes.withLock { $0 += piece } }
        await manager.close()
        let player = try #require(try home.presentIdentity()?.playerID)
        _ = try home.replaceKey()
        if isUsedMeanwhile {
            manager = try Self.manager(site, sandbox, home.directory)
            #expect(try await manager.licences.status(of: key)?.reasons.first == .storeCopied)
            // Neither a play nor a renewal touches it, until the new device is accepted.
            let refused = await #expect(throws: LectureError.self) { try await manager.licences.beginPlay(key) }
            #expect(refused?.code == .storeCopied)
            let unrenewed = await #expect(throws: LectureError.self) { try await manager.licences.renew(.all) }
            #expect(unrenewed?.code == .storeCopied)
            try await manager.licences.acceptDevice()
            // What the old key has sealed stays closed, whatever a server answers.
            let report = try await manager.licences.regrant()
            #expect((report.renewed, report.failed) == (0, 1))
            let sealed = await #expect(throws: LectureError.self) { try await manager.licences.beginPlay(key) }
            #expect(sealed?.code == .storeCopied)
            await manager.close()
        }
        try putBack(player)
        manager = try Self.manager(site, sandbox, home.directory)
        // Licences used with another key meanwhile are believed once their server has granted them again.
        if isUsedMeanwhile {
            let report = try await manager.licences.regrant()
            #expect((report.renewed, report.playable, report.unbelieved) == (1, 1, []))
        }
        #expect(try await manager.licences.status(of: key)?.reasons == [])
        let again = Guarded(Data())
        try await manager.licences.beginPlay(key).read { piece in again.withLock { $0 += piece } }
        #expect(again.withLock { $0 } == bytes.withLock { $0 } && bytes.withLock { $0.count } == 65_536)
        await manager.close()
        await sandbox.stop()
    }
}
