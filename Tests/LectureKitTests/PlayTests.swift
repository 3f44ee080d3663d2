import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Plays of licensed lectures through the library: what is counted, and when.
@Suite(.timeLimit(.minutes(2)))
struct PlayNetTests {
    /// A manager with a licensed lecture in its store.
    private struct Scene {
        let site: Site
        let sandbox: SandboxOrigin
        let manager: LectureManager
        let key: ContentKey
        let bytes: Data

        init(_ policy: CallbackPolicy) async throws {
            (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
            try await sandbox.set(policy: policy)
            key = try ContentKey("bytes-3M-5")
            manager = try Self.manager(site, sandbox)
            bytes = Data(try await manager.document(at: "\(sandbox.http)/media/\(key.text).mp4"))
            let content = try await manager.fetch(try await sandbox.link(key: key.text))
            #expect(content.state == .completed)
        }

        static func manager(_ site: Site, _ sandbox: SandboxOrigin) throws -> LectureManager {
            try site.manager { configuration in
                configuration.deviceDirectory = site.directory.file("device")
                configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
                configuration.rights.userKey = "sandbox"
            }
        }

        func end() async {
            await manager.close()
            await sandbox.stop()
        }
    }

    @Test(arguments: [nil, 3600])
    func `what is read from border to border of chunks is checked once, and says whether it is charged`(
        playTime: Int?
    ) async throws {
        var policy = CallbackPolicy()
        policy.expirationPlaytime = playTime
        let scene = try await Scene(policy)
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(play.isCharged == (playTime != nil))
        let (taken, pieces) = (Guarded(Data()), Guarded(0))
        var (place, windows) = (Int64(0), 0)
        while place < play.byteCount {
            let end = try #require(play.chunkEnd(at: place))
            // Each byte of a chunk has its end; the first one behind it has another.
            #expect(end > place && play.chunkEnd(at: end - 1) == end && play.chunkEnd(at: (place + end) / 2) == end)
            try await play.read(range: place..<end) { bytes in
                taken.withLock { $0 += bytes }
                pieces.withLock { $0 += 1 }
            }
            (place, windows) = (end, windows + 1)
        }
        #expect(place == play.byteCount && windows >= 3)
        #expect(taken.withLock { $0 } == scene.bytes)
        // One piece each: a window touches one chunk. What is charged may come in several.
        if playTime == nil { #expect(pieces.withLock { $0 } == windows) }
        #expect(play.chunkEnd(at: play.byteCount) == play.byteCount)
        try await play.end()
        await scene.end()
    }

    @Test func `a play reads any number of times and counts once`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let scene = try await Scene(policy)
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(play.countLeft == 1 && play.byteCount == Int64(scene.bytes.count))
        let taken = Guarded(Data())
        for start in stride(from: Int64(0), to: play.byteCount, by: 700_000) {
            try await play.read(range: start..<start + 700_000) { bytes in taken.withLock { $0 += bytes } }
        }
        #expect(taken.withLock { $0 } == scene.bytes)
        try await play.end()
        await #expect(throws: LectureError(.closing, detail: scene.key.text)) { try await play.read { _ in } }
        #expect(try await scene.manager.licences.status(of: scene.key)?.countLeft == 1)
        try await scene.manager.licences.beginPlay(scene.key).end()
        let error = await #expect(throws: LectureError.self) { try await scene.manager.licences.beginPlay(scene.key) }
        #expect(error?.code == .countUsedUp)
        #expect(try await scene.manager.licences.status(of: scene.key)?.reasons == [.countUsedUp])
        await scene.end()
    }

    @Test func `a prepared play is read before it counts, and counts once, or not at all`() async throws {
        var policy = CallbackPolicy()
        (policy.expirationCount, policy.expirationPlaytime) = (1, 60)
        let scene = try await Scene(policy)
        let unused = try await scene.manager.licences.preparePlay(scene.key)
        try await unused.read(range: 0..<2_000_000) { _ in }
        try await unused.end()
        await #expect(throws: LectureError(.closing)) { try await unused.start() }
        let status = try await scene.manager.licences.status(of: scene.key)
        #expect(status?.countLeft == 1 && status?.playTimeLeft == .seconds(60))
        // Two are prepared for the last play: the one that starts first has it.
        let play = try await scene.manager.licences.preparePlay(scene.key)
        let late = try await scene.manager.licences.preparePlay(scene.key)
        #expect(play.countLeft == 0)
        try await play.start()
        try await play.start()
        #expect(try await scene.manager.licences.status(of: scene.key)?.countUsed == 1)
        await #expect(throws: LectureError(.countUsedUp)) { try await late.start() }
        let taken = Guarded(Data())
        try await play.read { bytes in taken.withLock { $0 += bytes } }
        #expect(taken.withLock { $0 } == scene.bytes)
        try await play.end()
        await #expect(throws: LectureError(.countUsedUp)) { try await scene.manager.licences.preparePlay(scene.key) }
        await scene.end()
    }

    @Test(arguments: [0, 1])
    func `play time is counted in the unit of the policy, and outlives the process`(type: Int) async throws {
        var policy = CallbackPolicy()
        (policy.expirationPlaytime, policy.expirationPlaytimeType) = (60, type)
        let scene = try await Scene(policy)
        // At double speed: 20 seconds of the lecture pass in 10 seconds.
        let play = try await scene.manager.licences.beginPlay(scene.key)
        try await play.watched(media: .seconds(20), running: .seconds(10))
        let used = try await scene.manager.licences.status(of: scene.key)?.playTimeUsed
        #expect(used == (type == 0 ? .seconds(20) : .seconds(10)))
        // Less than ten seconds is stored with the end.
        try await play.watched(media: .seconds(4), running: .seconds(2))
        #expect(try await scene.manager.licences.status(of: scene.key)?.playTimeUsed == used)
        try await play.end()
        await scene.manager.close()
        let again = try Scene.manager(scene.site, scene.sandbox)
        let left = try await again.licences.status(of: scene.key)?.playTimeLeft
        #expect(left == (type == 0 ? .seconds(36) : .seconds(48)))
        let last = try await again.licences.beginPlay(scene.key)
        let error = await #expect(throws: LectureError.self) {
            try await last.watched(media: .seconds(100), running: .seconds(100))
        }
        #expect(error?.code == .playTimeUsedUp)
        await #expect(throws: LectureError.self) { try await last.read { _ in } }
        let refusal = await #expect(throws: LectureError.self) { try await again.licences.beginPlay(scene.key) }
        #expect(refusal?.code == .playTimeUsedUp)
        await again.close()
        await scene.end()
    }

    @Test func `a lecture that needs a check is not played without an answer`() async throws {
        var policy = CallbackPolicy()
        policy.checkAbuse = 1
        let scene = try await Scene(policy)
        try await scene.manager.licences.beginPlay(scene.key).end()
        await scene.sandbox.stop()
        let error = await #expect(throws: LectureError.self) {
            try await scene.manager.licences.beginPlay(scene.key, patience: .seconds(3))
        }
        #expect(error?.code == .licenceCheckDue && error?.cause.isEmpty == false)
        await scene.end()
    }

    @Test func `lectures sealed for storage only are played without a licence`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager { configuration in
            configuration.seal = .always
            configuration.deviceDirectory = site.directory.file("device")
        }
        let content = try await manager.fetch("\(sandbox.http)/media/bytes-2M-9.mp4")
        #expect(content.state == .completed)
        #expect(try await manager.licences.status(of: content.key) == nil)
        let count = Guarded(0)
        try await manager.contents.read(content.key) { bytes in count.withLock { $0 += bytes.count } }
        #expect(count.withLock { $0 } == 2 << 20)
        await #expect(throws: LectureError.self) { try await manager.contents.path(of: content.key) }
        #expect(try await manager.contents.verify(content.key).damaged.isEmpty)
        await manager.close()
        await sandbox.stop()
    }
}
