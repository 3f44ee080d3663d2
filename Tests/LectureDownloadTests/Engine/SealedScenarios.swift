import LectureDownload
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// Sealed lectures in the scripted world: their chunk grid, and what is recorded of their files.
struct SealedScenarios {
    private static let url = FetchingScenarios.url
    private static let segment = SealedFormat.plaintextBytes

    private func media(_ key: ContentKey, _ scene: Scene) throws -> ResourceRecord {
        let item = try #require(try scene.index.contents.item(key))
        if let version = item.currentVersion {
            return try #require(try scene.index.versions.resources(version).first { $0.role == .media })
        }
        return try #require(try scene.index.versions.building(item.id)?.resources.first { $0.role == .media })
    }

    @Test(arguments: [nil, 1, 3])
    func `a sealed file arrives on the grid of its segments, whatever the connections`(connections: Int?) throws {
        var settings = DownloadSettings()
        settings.connections = connections
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 12, settings: settings, seals: true)
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        // Where a transfer ends at a boundary, the last piece is not taken whole.
        #expect(scene.network.delivered < bytes.count + 16_384)
        let media = try media(key, scene)
        #expect(media.seal == .clean && media.chunkBytes == UInt64(Self.segment) && media.grid.lead == 40)
        #expect(media.committedChunks == media.grid.count(total: UInt64(bytes.count)))
        #expect(try scene.content(key)?.committedBytes == Int64(bytes.count))
        #expect(scene.disk.headers == 1)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test(arguments: [0, 1, 1_048_519, 1_048_520, 1_048_521, 2_097_080, 2_097_081], [true, false])
    func `a file ends with its last segment, also when its length is unknown`(count: Int, hides: Bool) throws {
        var settings = DownloadSettings()
        settings.acceptsAny = true
        let scene = try Scene(settings: settings, seals: true)
        var file = ServedFile(lectureBytes(count))
        file.hidesLength = hides
        if hides { file.hasRanges = false }
        scene.network.files[Self.url] = file
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == file.bytes)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test func `a stopped download resumes under its header`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6, seals: true)
        StoreScenarios.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(500))
        #expect(try media(key, scene).seal == .open, "its seal state is unknown while it is open")
        _ = try scene.index.targets.setTargetState(key, .pause, now: scene.world.now)
        try scene.rest()
        let committed = Int(try #require(try scene.content(key)).committedBytes)
        #expect(committed > 0 && committed < bytes.count)
        #expect(try media(key, scene).seal == .clean)
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.disk.headersUsedOn == 1 && scene.disk.headers == 1)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test(arguments: [true, false])
    func `after a kill the file gets another header`(powerCut: Bool) throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6, seals: true)
        StoreScenarios.slow(scene)
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.committedBytes ?? 0 > 1 << 20 }
        try scene.crash(powerCut: powerCut)
        #expect(try media(key, scene).seal == .open)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.disk.headersUsedOn == 0 && scene.disk.headers == 2)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test func `a removed proof turns a clean file into an open one`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 4, seals: true)
        let key = try scene.want(Self.url)
        try scene.rest()
        let before = try media(key, scene)
        // Until its part file has reported that it is closed.
        scene.work(for: .seconds(1))
        let claimed = try #require(
            try scene.index.owners.claim(
                content: before.content, owner: scene.program.owner, now: scene.world.now))
        let second = Int(before.grid.range(of: 1, total: before.total).count)
        try scene.index.resources.markUncommitted(claimed.lease, before.id, chunks: [1], bytes: UInt64(second))
        try scene.index.versions.reopenVersion(claimed.lease, before.version, now: scene.world.now)
        try scene.index.owners.release(claimed.lease)
        #expect(try media(key, scene).seal == .open)
        #expect(try scene.content(key)?.committedBytes == Int64(bytes.count - second))
        _ = try scene.index.owners.joinUnfinished(scene.program.run)
        scene.program.setNeedsStep()
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count + second)
        #expect(scene.disk.headers == 2)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test(arguments: [
        LectureError.Code.sealedElsewhere, .sealRequired, .deviceKeyRefused, .cryptography,
    ])
    func `without a key the lecture fails with the reason`(code: LectureError.Code) throws {
        let (scene, _) = try FetchingScenarios.scene(seals: true)
        scene.seals.failure = LectureError(code)
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.state == .failed)
        #expect(try scene.content(key)?.error?.code == code)
        #expect(scene.network.requests.isEmpty && scene.disk.parts.isEmpty, "nothing is asked for or written")
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test func `a started sealed lecture whose key is lost fails, and keeps its data`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6, seals: true)
        StoreScenarios.slow(scene)
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.committedBytes ?? 0 > 1 << 20 }
        scene.seals.failure = LectureError(.sealedElsewhere)
        try scene.crash()
        try scene.rest()
        let content = try #require(try scene.content(key))
        #expect(content.state == .failed && content.error?.code == .sealedElsewhere && content.committedBytes > 1 << 20)
        scene.seals.failure = nil
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        scene.program.setNeedsStep()
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        let found = try scene.contradictions()
        #expect(found == [])
    }

    @Test func `a sealed lecture is not published in clear`() throws {
        let (scene, _) = try FetchingScenarios.scene(seals: true)
        let key = try scene.want(Self.url) { $0.outputPath = "/out/lecture" }
        try scene.rest()
        #expect(try scene.content(key)?.state == .completed)
        #expect(scene.disk.outputs.isEmpty)
        let refusals = scene.program.events.compactMap { event -> LectureError.Code? in
            if case .publishingFailed(_, _, let error) = event { error.code } else { nil }
        }
        #expect(!scene.program.events.contains { if case .published = $0 { true } else { false } })
        #expect(refusals == [.isSealed])
    }
}
