import LectureDownload
import LectureModel
import LectureSQLite
import LectureSimulation
import LectureTestSupport
import Testing

@testable import LectureStore

/// Users, other programs, full disks and broken stores.
struct StoreScenarios {
    private static let url = FetchingScenarios.url

    static func slow(_ scene: Scene) {
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 64 << 10
            return slow
        }
    }

    @Test(arguments: [TargetState.pause, .cancel])
    func `a stopped item resumes where it was`(targetState: TargetState) throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(500))
        _ = try scene.index.targets.setTargetState(key, targetState, now: scene.world.now)
        try scene.rest()
        let content = try #require(try scene.content(key))
        #expect(content.stopReason == .user)
        #expect(content.committedBytes > 0)
        let before = scene.network.delivered
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count && before > Int(content.committedBytes), "no byte came twice")
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [TargetState.pause, .remove])
    func `a request withdrawn while the work ends is honoured`(targetState: TargetState) throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(300))
        _ = try scene.index.targets.setTargetState(key, targetState, now: scene.world.now)
        scene.program.step()
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a pause during a stop for another reason holds`() throws {
        let (scene, _) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(300))
        scene.program.stop()
        scene.program.step()
        _ = try scene.index.targets.setTargetState(key, .pause, now: scene.world.now)
        try scene.run { scene.program.engine.activeCount == 0 }
        #expect(try scene.content(key)?.state == .stopped)
        #expect(try scene.content(key)?.stopReason == .user)
    }

    @Test func `removing during a download leaves nothing`() throws {
        let (scene, _) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(300))
        _ = try scene.index.targets.setTargetState(key, .remove, now: scene.world.now)
        try scene.rest()
        #expect(try scene.content(key) == nil)
        #expect(try scene.disk.listing() == [])
        #expect(scene.program.events.contains(.removed(key)))
        #expect(try scene.contradictions() == [])
    }

    @Test func `the quota stops an item before its first byte is written`() throws {
        var settings = DownloadSettings()
        settings.quotaBytes = 3 << 20
        let (scene, _) = try FetchingScenarios.scene(chunks: 6, settings: settings)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .quota }
        scene.work(for: .seconds(1))
        // The part file of an unwanted transfer must refuse its bytes at once: it is never opened, and a real one would
        // block the transport's thread forever.
        #expect(scene.network.delivered < 1 << 20)
        #expect(try scene.disk.listing() == [])
        #expect(try scene.contradictions() == [])
        settings.quotaBytes = nil
        scene.program.engine.configure(settings)
        try scene.run { try scene.content(key)?.state == .completed }
    }

    @Test func `a chunk of the part file that changed in a crash is fetched again`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(700))
        #expect(try #require(try scene.content(key)).committedChunks > 0)
        try scene.crash()
        try #require(scene.disk.parts.count == 1)
        scene.disk.spoilPart(at: 17, mask: 4)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `the quota also ends a body of unknown length, and leaves nothing of it`() throws {
        var settings = DownloadSettings()
        settings.quotaBytes = 3 << 20
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 60, settings: settings) { file in
            file.hidesLength = true
            file.hasRanges = false
        }
        Self.slow(scene)
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.stopReason == .quota)
        #expect(try scene.content(key)?.error?.code == .quota)
        #expect(scene.network.delivered < 20 << 20)
        #expect(try scene.disk.listing() == [])
        #expect(try scene.contradictions() == [])
        scene.network.files[Self.url]?.bytes = Array(bytes.prefix(2 << 20))
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == Array(bytes.prefix(2 << 20)))
    }

    @Test func `a full disk stops the item, which resumes by itself`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(300))
        scene.disk.writeFailure = LectureError(.storageFull)
        try scene.run { try scene.content(key)?.stopReason == .space }
        #expect(try scene.content(key)?.error?.code == .storageFull)
        scene.disk.writeFailure = nil
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a part file that cannot be created stops the item, which resumes by itself`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.disk.openFailure = LectureError(.storageFull)
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .space }
        scene.disk.openFailure = nil
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a lost part file is fetched again`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(700))
        #expect(try #require(try scene.content(key)).committedBytes > 0)
        try scene.crash()
        scene.disk.parts = [:]
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `outside the timetable nothing moves`() throws {
        var settings = DownloadSettings()
        settings.timetable = try Timetable("06:00-06:10=off,else=full")
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 40, settings: settings)
        // 0.2 s before six o'clock, since the machine booted a second ago.
        scene.world.clock.wallAtBoot = 6 * 3_600_000 - 1_200
        Self.slow(scene)
        let key = try scene.want(Self.url)
        try scene.run(within: .seconds(60)) { try scene.content(key)?.stopReason == .schedule }
        let before = scene.network.delivered
        scene.work(for: .seconds(590))
        #expect(scene.network.delivered == before)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `two programs on one store never fetch the same lecture`() throws {
        let scene = try Scene()
        var keys: [ContentKey] = []
        for number in 1...12 {
            let url = "http://media.example/\(number).mp4"
            scene.network.files[url] = ServedFile(lectureBytes(300_000, seed: UInt64(number)))
            keys.append(try scene.want(url))
        }
        let other = try scene.another()
        let both = [scene.program, other]
        var turns = 0
        while try scene.index.owners.nextDue(run: scene.program.run) != nil
            || both.contains(where: { $0.engine.activeCount > 0 })
        {
            for program in both { program.step() }
            scene.advance(both)
            turns += 1
            try #require(turns < 5000)
        }
        #expect(scene.network.requests.count == 12)
        for key in keys { #expect(try scene.content(key)?.state == .completed) }
        #expect(both.allSatisfy { $0.engine.statistics.bytesFetched > 0 })
        #expect(try scene.contradictions() == [])
    }

    @Test func `a failed commit acts like a crash, and is transient`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(100))
        for table in ["chunk", "attempt", "resource"] {
            let event = table == "resource" ? "UPDATE OF state ON resource" : "INSERT ON \(table)"
            try scene.index.connection.execute(
                "CREATE TRIGGER broken BEFORE \(event) BEGIN SELECT RAISE(ABORT, 'no'); END")
            scene.work(for: .seconds(2))
            try scene.index.connection.execute("DROP TRIGGER broken")
            scene.work(for: .milliseconds(200))
        }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.program.notices.contains { if case .failure = $0 { true } else { false } })
        #expect(try scene.contradictions() == [])
        // Nothing of the failed commits may count against the server's limit.
        let more = try (1...8).map { number in
            let url = "http://media.example/more-\(number).mp4"
            scene.network.files[url] = ServedFile(lectureBytes(100_000, seed: UInt64(number)))
            return try scene.want(url)
        }
        try scene.rest()
        for key in more { #expect(try scene.content(key)?.state == .completed) }
        scene.work(for: .milliseconds(50))
        #expect(scene.disk.openPaths.isEmpty)
    }

    @Test func `a transfer whose commit failed occupies no slot of its server`() throws {
        let scene = try Scene()
        // The lease is written with the claim, so each failed commit had opened transfers.
        for number in 1...20 {
            let url = "http://media.example/\(number).mp4"
            scene.network.files[url] = ServedFile(lectureBytes(50_000, seed: UInt64(number)))
            try scene.want(url)
        }
        try scene.index.connection.execute(
            """
            CREATE TRIGGER broken AFTER UPDATE OF state ON content WHEN NEW.state = 2
            BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
        for _ in 0..<8 {
            scene.program.step()
            scene.work(for: .seconds(70))
        }
        try scene.index.connection.execute("DROP TRIGGER broken")
        try scene.rest()
        #expect(try scene.index.owners.summary(scene.program.run).counts[.completed] == 20)
    }

    @Test(arguments: [
        "CREATE TRIGGER broken BEFORE UPDATE ON content BEGIN SELECT RAISE(ABORT, 'no'); END",
        // Every statement succeeds, the commit fails: as on a full disk.
        "CREATE TRIGGER broken AFTER UPDATE ON content BEGIN INSERT INTO late VALUES (7); END",
    ])
    func `a store that stays broken does not prevent a process from ending`(trigger: String) throws {
        let (scene, _) = try FetchingScenarios.scene(chunks: 6)
        Self.slow(scene)
        try scene.want(Self.url)
        scene.work(for: .milliseconds(300))
        let store = scene.index.connection
        try store.execute("CREATE TABLE early(id INTEGER PRIMARY KEY)")
        try store.execute("CREATE TABLE late(id REFERENCES early(id) DEFERRABLE INITIALLY DEFERRED)")
        try store.execute(trigger)
        scene.program.stop()
        try scene.run(within: .seconds(120)) {
            scene.program.notices.contains { if case .stopped = $0 { true } else { false } }
        }
        #expect(scene.world.findings == [])
    }
}
