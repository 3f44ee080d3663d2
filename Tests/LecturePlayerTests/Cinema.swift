import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// A store with a film, for which a server has granted a licence.
struct Cinema {
    let directory: TemporaryDirectory
    let sandbox: SandboxOrigin
    let configuration: LectureConfiguration
    let manager: LectureManager
    let key: ContentKey

    init(
        _ policy: CallbackPolicy? = nil, key name: String = "durable-on-the-disk",
        seal: SealPolicy = .licensed
    ) async throws {
        let isLicensed = policy != nil
        directory = try TemporaryDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"] + (isLicensed ? ["--licensed"] : []))
        if let policy { try await sandbox.set(policy: policy) }
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.reserveBytes = 1 << 20
        configuration.seal = seal
        configuration.maxAttempts = 1
        configuration.deviceDirectory = directory.file("device")
        configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
        configuration.rights.userKey = "sandbox"
        self.configuration = configuration
        manager = try LectureManager(configuration)
        var request = DownloadRequest(
            url: isLicensed ? try await sandbox.link(key: name) : "\(sandbox.http)/media/\(name).mp4")
        request.key = try ContentKey(name)
        key = try await manager.downloads.enqueue(request)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await manager.contents.find(key)?.state == .completed)
    }

    /// A player without a window and without a sound.
    func player(_ change: (inout PlayerOptions) -> Void = { _ in }) throws -> Player {
        var engine = MpvOptions()
        (engine.surface, engine.more) = (.none, ["ao": "null"])
        return try player(engine, change)
    }

    func player(_ engine: MpvOptions, _ change: (inout PlayerOptions) -> Void = { _ in }) throws -> Player {
        var options = PlayerOptions()
        change(&options)
        return Player(manager, .lecture(key), engine: try MpvEngine(engine), options: options)
    }

    func player(
        of media: PlayerMedia, _ change: (inout PlayerOptions) -> Void = { _ in }
    ) throws -> Player {
        var (engine, options) = (MpvOptions(), PlayerOptions())
        (engine.surface, engine.more, engine.readAhead) = (.none, ["ao": "null"], .seconds(30))
        change(&options)
        return Player(manager, media, engine: try MpvEngine(engine), options: options)
    }

    var countLeft: Int? {
        get async throws { try await manager.licences.status(of: key)?.countLeft }
    }

    var resumePoint: Duration? {
        get async throws { try await manager.contents.details(of: key)?.resumePoint }
    }

    func end() async {
        await manager.close()
        await sandbox.stop()
    }
}

/// Waits until a player reports something.
func wait(
    _ events: inout AsyncStream<PlayerEvent>.Iterator, for passes: (PlayerEvent) -> Bool
) async -> PlayerEvent? {
    while let event = await events.next() {
        if passes(event) { return event }
    }
    return nil
}
