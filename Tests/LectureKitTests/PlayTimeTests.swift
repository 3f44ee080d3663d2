import Foundation
import LectureKit
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// Limited play time through the library: plays, streams, and players that report their own time. Generated lectures
/// have no duration, so a second of them is 125,000 bytes.
@Suite(.timeLimit(.minutes(2)))
struct PlayTimeNetTests {
    private struct Scene {
        let site: Site
        let sandbox: SandboxOrigin
        let manager: LectureManager
        let key: ContentKey

        init(_ name: String = "bytes-10M-5", seconds: Int = 60, type: Int = 0, count: Int? = nil) async throws {
            (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
            var policy = CallbackPolicy()
            (policy.expirationPlaytime, policy.expirationPlaytimeType) = (seconds, type)
            policy.expirationCount = count
            try await sandbox.set(policy: policy)
            key = try ContentKey(name)
            let (place, server) = (site.directory.file("device"), sandbox)
            manager = try site.manager { configuration in
                configuration.deviceDirectory = place
                configuration.rights.keys = [.init(id: "sandbox", place: .secret(server.drmKeyFile))]
                configuration.rights.userKey = "sandbox"
            }
            let content = try await manager.fetch(try await link())
            #expect(content.state == .completed)
        }

        func link() async throws -> String { try await sandbox.link(key: key.text, query: "licensed") }

        func used() async throws -> Duration { try #require(try await manager.licences.status(of: key)).playTimeUsed }

        /// Runs a statement like a user with an editor, and returns its only value.
        func text(_ statement: String) throws -> String {
            let database = try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite)
            return try #require(try database.first(statement) { $0.text(0) })
        }

        func number(_ statement: String) throws -> Int { try #require(Int(try text(statement))) }

        func end() async {
            await manager.close()
            await sandbox.stop()
        }
    }

    /// Reads, and counts what came.
    private func read(_ play: Play, _ range: Range<Int64>? = nil) async throws -> Int {
        let count = Guarded(0)
        try await play.read(range: range) { bytes in count.withLock { $0 += bytes.count } }
        return count.withLock { $0 }
    }

    @Test func `a play is charged in steps as it reads, and gets the rest of a step back at its end`() async throws {
        let scene = try await Scene()
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(try await scene.used() == .zero)
        #expect(try await read(play, 0..<1000) == 1000)
        #expect(try await scene.used() == .seconds(10))
        #expect(try await read(play, 5_000_000..<6_000_000) == 1_000_000)
        #expect(try await scene.used() == .seconds(10))
        #expect(try await read(play, 0..<1_000_000) == 1_000_000)
        #expect(try await scene.used() == .seconds(20))
        try await play.end()
        #expect((.milliseconds(16_000)...(.milliseconds(16_020))).contains(try await scene.used()))
        await #expect(throws: LectureError(.closing)) { try await read(play, 0..<1) }
        await scene.end()
    }

    @Test func `a read ends where the play time ends, and what came before stays`() async throws {
        let scene = try await Scene()
        let play = try await scene.manager.licences.beginPlay(scene.key)
        let count = Guarded(0)
        await #expect(throws: LectureError(.playTimeUsedUp)) {
            try await play.read { bytes in count.withLock { $0 += bytes.count } }
        }
        #expect((7_499_000...7_501_000).contains(count.withLock { $0 }))
        await #expect(throws: LectureError(.playTimeUsedUp)) { try await read(play, 0..<1) }
        try await play.end()
        #expect(try await scene.used() == .seconds(60))
        let refusal = await #expect(throws: LectureError.self) {
            try await scene.manager.contents.read(scene.key) { _ in }
        }
        #expect(refusal?.code == .playTimeUsedUp)
        await scene.end()
    }

    @Test func `a lecture without limited play time is not metered`() async throws {
        let scene = try await Scene(seconds: 0, count: 5)
        let ledger = "SELECT count(*) FROM time_ledger"
        let before = try scene.number(ledger)
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(try await read(play) == 10 << 20)
        try await play.end()
        #expect(try await scene.used() == .zero)
        #expect(try scene.number(ledger) == before + 1, "the play alone")
        await scene.end()
    }

    @Test func `what is watched and what is read are not charged twice`() async throws {
        let scene = try await Scene()
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(try await read(play, 0..<2_500_000) == 2_500_000)
        try await play.watched(media: .seconds(18), running: .seconds(18))
        #expect(try await scene.used() == .seconds(20))
        try await play.watched(media: .seconds(18), running: .seconds(18))
        #expect(try await scene.used() == .seconds(36))
        try await play.end()
        #expect(try await scene.used() == .seconds(36))
        await scene.end()
    }

    @Test func `a player that reports its own time reads ahead of it`() async throws {
        let scene = try await Scene()
        let play = try await scene.manager.licences.beginPlay(scene.key, counting: .reported)
        #expect(try await read(play) == 10 << 20)
        #expect(try await scene.used() == .seconds(2), "a step, in case it never reports")
        try await play.watched(media: .seconds(25), running: .seconds(25))
        #expect(try await scene.used() == .seconds(25))
        #expect(try await read(play, 0..<100_000) == 100_000)
        #expect(try await scene.used() == .seconds(27))
        try await play.end()
        #expect(try await scene.used() == .seconds(25))
        // One that reports nothing pays for what it read.
        let silent = try await scene.manager.licences.beginPlay(scene.key, counting: .reported)
        #expect(try await read(silent, 0..<1_250_000) == 1_250_000)
        try await silent.end()
        #expect((.seconds(35)...(.milliseconds(35_010))).contains(try await scene.used()))
        await scene.end()
    }

    @Test func `time is charged in running seconds where the licence counts them, at least the lecture's`() async throws
    {
        let scene = try await Scene(type: 1)
        let play = try await scene.manager.licences.beginPlay(scene.key)
        #expect(try await read(play, 0..<2_500_000) == 2_500_000)
        try await play.end()
        #expect((.seconds(20)...(.seconds(41))).contains(try await scene.used()))
        await scene.end()
    }

    @Test func `reads that fail take no time`() async throws {
        let scene = try await Scene()
        // Everything behind the first chunk is damaged.
        let path = try scene.text("SELECT file_path FROM resource WHERE role = 0")
        let file = try FileHandle(forWritingTo: URL(filePath: "\(scene.site.store)/\(path)"))
        try file.seek(toOffset: 4_000_000)
        try file.write(contentsOf: Data(repeating: 7, count: 4_000_000))
        try file.close()
        for _ in 0..<20 {
            let error = await #expect(throws: LectureError.self) {
                try await scene.manager.contents.read(scene.key, range: 5_000_000..<6_000_000) { _ in }
            }
            #expect(error?.code == .damaged)
        }
        #expect(try await scene.used() == .zero)
        let count = Guarded(0)
        let error = await #expect(throws: LectureError.self) {
            try await scene.manager.contents.read(scene.key) { bytes in count.withLock { $0 += bytes.count } }
        }
        #expect(error?.code == .damaged)
        let due = Duration.milliseconds(count.withLock { Int64($0) } / 125)
        #expect((due...(due + .milliseconds(20))).contains(try await scene.used()))
        await scene.end()
    }

    @Test func `a reader that is cancelled, or drops its play, gets back what it did not use`() async throws {
        let scene = try await Scene()
        let (manager, key) = (scene.manager, scene.key)
        let began = Guarded(false)
        let task = Task {
            try await manager.contents.read(key) { _ in
                began.withLock { $0 = true }
                // It goes on when it is cancelled.
                while !Task.isCancelled { sched_yield() }
            }
        }
        try await waitUntil { began.withLock({ $0 }) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect((.seconds(1)...(.milliseconds(1010))).contains(try await scene.used()))
        do {
            let play = try await manager.licences.beginPlay(key)
            #expect(try await read(play, 0..<1000) == 1000)
        }
        try await waitUntil { try await scene.used() < .seconds(2) }
        await scene.end()
    }

    @Test func `many reads of one play, and its end among them, are charged for what they returned`() async throws {
        let scene = try await Scene(seconds: 600)
        for round in 0..<5 {
            let before = try await scene.used()
            let play = try await scene.manager.licences.beginPlay(scene.key)
            let count = Guarded(0)
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        let start = Int64(number) * 1_000_000
                        try? await play.read(range: start..<start + 900_000) { bytes in
                            count.withLock { $0 += bytes.count }
                        }
                    }
                }
                if round % 2 == 1 { group.addTask { try? await play.end() } }
            }
            try await play.end()
            let due = Duration.milliseconds(count.withLock { Int64($0) } / 125)
            let cost = try await scene.used() - before
            // A piece that was charged when the play ended may not have been returned.
            #expect((due...(due + .seconds(9))).contains(cost), "\(due) \(cost)")
            if round % 2 == 0 { #expect(cost <= due + .milliseconds(20)) }
        }
        await scene.end()
    }

    @Test func `a stream of a lecture in the store is charged like its plays, and another one is not`() async throws {
        let scene = try await Scene()
        let stream = try await scene.manager.streams.open(try await scene.link())
        #expect(stream.key == scene.key)
        #expect(try await stream.data(0..<1_250_000).count == 1_250_000)
        await stream.end()
        #expect((.seconds(10)...(.milliseconds(10_010))).contains(try await scene.used()))
        let again = try await scene.manager.streams.open(try await scene.link())
        let basket = Basket()
        await #expect(throws: LectureError(.playTimeUsedUp)) { try await again.read { basket.take($0) } }
        #expect((6_248_000...6_251_000).contains(basket.data.count))
        await again.end()
        #expect(try await scene.used() == .seconds(60))
        #expect(try await scene.manager.licences.status(of: scene.key)?.countUsed == 0)
        let other = try await scene.manager.streams.open("\(scene.sandbox.http)/media/bytes-9M-4.mp4")
        #expect(try await other.data().count == 9 << 20)
        await other.end()
        await scene.end()
    }

    @Test func `streams whose consumers block do not keep each other from being charged`() async throws {
        let scene = try await Scene(seconds: 600)
        let (manager, link) = (scene.manager, try await scene.link())
        let count = 8
        let consuming = Guarded(0)
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    let stream = try await manager.streams.open(link)
                    let pieces = Guarded(0)
                    try await stream.read(range: 0..<300_000) { _ in
                        let piece = pieces.withLock { pieces in
                            pieces += 1
                            return pieces
                        }
                        guard piece == 1 else { return }
                        consuming.withLock { $0 += 1 }
                        // Each waits for all others.
                        while consuming.withLock({ $0 }) < count { sched_yield() }
                    }
                    await stream.end()
                }
            }
            try await group.waitForAll()
        }
        #expect(try await scene.used() >= .milliseconds(8 * 2400))
        await scene.end()
    }

    @Test func `the container's duration counts, not the one in the database`() async throws {
        let scene = try await Scene("durable-on-the-disk")
        _ = try scene.text("UPDATE content SET duration_ms = 1 RETURNING key")
        let count = Guarded(0)
        let error = await #expect(throws: LectureError.self) {
            try await scene.manager.contents.read(scene.key) { bytes in count.withLock { $0 += bytes.count } }
        }
        #expect(error?.code == .playTimeUsedUp)
        // 70.247 seconds in 219,257 bytes.
        #expect((187_200...187_300).contains(count.withLock { $0 }))
        await scene.end()
    }
}
