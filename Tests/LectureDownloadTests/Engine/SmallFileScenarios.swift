import LectureDownload
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// Whole downloads of files that finish by themselves.
struct SmallFileScenarios {
    private static let url = FetchingScenarios.url

    /// Counts what the disk does.
    private final class Operations {
        var counts: [DiskOperation: Int] = [:]
        var refused: (DiskOperation, Int)?

        func note(_ operation: DiskOperation) -> LectureError? {
            counts[operation, default: 0] += 1
            guard let refused, refused == (operation, counts[operation]) else { return nil }
            return LectureError(.writeFile, cause: "refused by the test")
        }
    }

    private static func scene(
        bytes: Int = 300_000, seed: UInt64 = 1, seals: Bool = false
    ) throws -> (scene: Scene, bytes: [UInt8], operations: Operations) {
        let (scene, whole) = try FetchingScenarios.scene(chunks: 0, seed: seed, seals: seals) { file in
            file.bytes = lectureBytes(bytes)
        }
        let operations = Operations()
        scene.disk.fault = { operation, _ in operations.note(operation) }
        return (scene, whole, operations)
    }

    /// A world after some steps of a program that was asked for the file.
    private static func scene(after steps: Int) throws -> (scene: Scene, bytes: [UInt8], key: ContentKey) {
        let (scene, bytes, _) = try scene(seed: UInt64(steps))
        let key = try scene.want(url)
        for _ in 0..<steps {
            scene.program.step()
            scene.advance([scene.program])
        }
        return (scene, bytes, key)
    }

    @Test(arguments: [1_000, 300_000, 1 << 20, 4 << 20], ["plain", "of a known digest", "sealed, of a known digest"])
    func `it costs one sync and one rename`(count: Int, kind: String) throws {
        let knowsDigest = kind != "plain"
        let (scene, bytes, operations) = try Self.scene(bytes: count, seals: kind.hasPrefix("sealed"))
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(Self.url) { $0.sha256 = knowsDigest ? digest : nil }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        let content = try #require(try scene.content(key))
        #expect(content.committedBytes == Int64(count) && content.totalBytes == Int64(count))
        #expect(content.committedChunks == content.totalChunks && content.totalChunks > 0)
        #expect(content.sha256 == (knowsDigest ? digest : nil))
        #expect(operations.counts[.place] == 1)
        // A file of several blocks may be synced by the engine before it is whole.
        #expect(operations.counts[.sync] == 1 || count > 1 << 20)
        #expect(try scene.contradictions() == [])
    }

    @Test func `one with the wrong digest never gets its final name`() throws {
        let (scene, _, operations) = try Self.scene()
        let key = try scene.want(Self.url) { $0.sha256 = [UInt8](repeating: 7, count: 32) }
        try scene.rest()
        let content = try #require(try scene.content(key))
        #expect(content.state == .failed && content.error?.code == .digestMismatch)
        #expect(operations.counts[.place] == nil && scene.disk.files.isEmpty)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [DiskOperation.open, .write, .sync, .place])
    func `a disk that fails once costs a wait`(operation: DiskOperation) throws {
        let (scene, bytes, operations) = try Self.scene()
        operations.refused = (operation, 1)
        let key = try scene.want(Self.url)
        scene.work(for: .seconds(5))
        #expect(try scene.content(key)?.state == .stopped)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [false, true])
    func `a crash at any step leaves no file that a row denies, and no row that a file denies`(powerCut: Bool) throws {
        for steps in 1...25 {
            let (scene, bytes, key) = try Self.scene(after: steps)
            try scene.crash(powerCut: powerCut)
            try scene.rest()
            #expect(try scene.bytes(key) == bytes, "after \(steps) steps")
            #expect(try scene.contradictions() == [], "after \(steps) steps")
        }
    }

    @Test(arguments: [TargetState.pause, .cancel, .remove])
    func `a request withdrawn at any step is honoured`(targetState: TargetState) throws {
        for steps in 1...25 {
            let (scene, bytes, key) = try Self.scene(after: steps)
            let withdrawn = try scene.index.targets.setTargetState(key, targetState, now: scene.world.now)
            try scene.rest()
            let content = try scene.content(key)
            if targetState == .remove {
                #expect(content == nil && scene.disk.files.isEmpty && scene.disk.parts.isEmpty, "after \(steps) steps")
            } else if content?.state != .completed {
                #expect(withdrawn && content?.stopReason == .user, "after \(steps) steps")
                _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
                try scene.rest()
                #expect(try scene.bytes(key) == bytes, "after \(steps) steps")
            }
            #expect(try scene.contradictions() == [], "after \(steps) steps")
        }
    }
}
