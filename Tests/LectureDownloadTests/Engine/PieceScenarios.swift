import LectureDownload
import LectureModel
import LectureSQLite
import LectureSimulation
import Testing

@testable import LectureStore

/// Runs that are shorter than a chunk takes: what they received of it is kept.
struct PieceScenarios {
    private static let url = FetchingScenarios.url

    /// A server that sends 200,000 bytes a second.
    private static func scene(
        seals: Bool, settings: DownloadSettings = DownloadSettings(), file change: (inout ServedFile) -> Void = { _ in }
    ) throws -> (scene: Scene, bytes: [UInt8], key: ContentKey) {
        var settings = settings
        settings.connections = settings.connections ?? 1
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 2, settings: settings, seals: seals, file: change)
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 2000
            return slow
        }
        return (scene, bytes, try scene.want(url))
    }

    private static func pause(_ key: ContentKey, in scene: Scene) throws {
        _ = try scene.index.targets.setTargetState(key, .pause, now: scene.world.now)
        try scene.rest()
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        scene.program.setNeedsStep()
    }

    @Test(arguments: [true, false], [1, 3])
    func `stopped every three seconds, it receives no byte twice`(seals: Bool, connections: Int) throws {
        var settings = DownloadSettings()
        settings.connections = connections
        let (scene, bytes, key) = try Self.scene(seals: seals, settings: settings)
        for _ in 0..<3 {
            scene.work(for: .seconds(3))
            try Self.pause(key, in: scene)
        }
        #expect(scene.network.delivered > 3 * 500_000)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count)
        let statistics = scene.program.engine.statistics
        #expect(statistics.bytesFetched == Int64(bytes.count) && statistics.bytesReused == 0, "it is one run")
        // A file without a committed chunk is made anew; after that nothing is sealed that is not committed.
        if seals { #expect(scene.disk.headers <= 2 && scene.disk.headersUsedOn >= 1) }
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false], [true, false])
    func `killed every two seconds, it loses less than a second each`(seals: Bool, powerCut: Bool) throws {
        let (scene, bytes, key) = try Self.scene(seals: seals)
        let kills = 6
        for _ in 0..<kills {
            scene.work(for: .seconds(2))
            try scene.crash(powerCut: powerCut)
        }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered <= bytes.count + kills * 200_000)
        let statistics = scene.program.engine.statistics
        #expect(statistics.bytesReused > 0)
        #expect(statistics.bytesFetched + statistics.bytesReused == Int64(bytes.count))
        #expect(try scene.contradictions() == [])
    }

    @Test(
        arguments: ["UPDATE chunk_piece SET box = zeroblob(bytes + 28)", "UPDATE chunk_piece SET start = start + 1"],
        [true, false])
    func `a piece that was changed is not used`(change: String, seals: Bool) throws {
        let (scene, bytes, key) = try Self.scene(seals: seals)
        scene.work(for: .seconds(3))
        try Self.pause(key, in: scene)
        try scene.index.connection.execute(change)
        try scene.crash()
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered > bytes.count + 400_000)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `of several pieces those before a changed one are used`(seals: Bool) throws {
        let (scene, bytes, key) = try Self.scene(seals: seals)
        scene.work(for: .seconds(3))
        try Self.pause(key, in: scene)
        try scene.index.connection.execute(
            "UPDATE chunk_piece SET box = zeroblob(bytes + 28) WHERE start = (SELECT max(start) FROM chunk_piece)")
        try scene.crash()
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered > bytes.count && scene.network.delivered < bytes.count + 300_000)
    }

    @Test func `a sealed lecture's pieces do not show its bytes, and go with the chunk`() throws {
        let (scene, bytes, key) = try Self.scene(seals: true)
        scene.work(for: .seconds(3))
        try Self.pause(key, in: scene)
        let rows = try scene.index.connection.query("SELECT start, bytes, box FROM chunk_piece") { row in
            (start: row.int(0), count: row.int(1), box: row.blob(2))
        }
        #expect(rows.count > 1)
        for row in rows {
            let text = Array(bytes[row.start..<(row.start + min(32, row.count))])
            for start in 0..<(row.box.count - 32) where row.box[start] == text[0] {
                #expect(Array(row.box[start..<(start + 32)]) != text)
            }
        }
        try scene.rest()
        #expect(try scene.index.connection.query("SELECT 1 FROM chunk_piece") { $0.int(0) } == [])
    }

    @Test func `pieces of another version are not used`() throws {
        let (scene, _, key) = try Self.scene(seals: false)
        scene.work(for: .seconds(3))
        try Self.pause(key, in: scene)
        var file = try #require(scene.network.files[Self.url])
        file.bytes = lectureBytes(file.bytes.count, seed: 99)
        file.etag = "\"another\""
        scene.network.files[Self.url] = file
        try scene.rest()
        #expect(try scene.bytes(key) == file.bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `without a validator nothing is kept, since nothing could be continued`() throws {
        let (scene, bytes, key) = try Self.scene(seals: false) { file in
            file.etag = nil
            file.lastModified = nil
        }
        scene.work(for: .seconds(3))
        try Self.pause(key, in: scene)
        #expect(try scene.index.connection.query("SELECT 1 FROM chunk_piece") { $0.int(0) } == [])
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
    }

    @Test func `a fast download writes no pieces`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 8)
        let key = try scene.want(Self.url)
        try scene.index.connection.execute(
            "CREATE TRIGGER none BEFORE INSERT ON chunk_piece BEGIN SELECT RAISE(ABORT, 'a piece'); END")
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
    }
}
