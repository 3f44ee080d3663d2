import LectureDownload
import LectureFormats
import LectureModel
import LectureSQLite
import LectureSimulation
import Testing

@testable import LectureStore

/// What a step leads to, as values in their order, before anything of it is performed.
struct EffectScenarios {
    private static let url = FetchingScenarios.url

    /// Advances time until a step has effects, and performs them.
    private func next(_ scene: Scene) -> [DownloadEffect] {
        for _ in 0..<500 {
            scene.advance([])
            let step = perform(scene)
            if !step.effects.isEmpty { return step.effects }
        }
        return []
    }

    /// Makes one step and performs its effects.
    @discardableResult
    private func perform(_ scene: Scene) -> CommittedStep<DownloadEffect, EngineNotice> {
        let step = scene.program.commit()
        for effect in step.effects { scene.program.engine.perform(effect) }
        return step
    }

    private func isFlush(_ effect: DownloadEffect) -> Bool {
        if case .part(_, .flush) = effect { true } else { false }
    }

    private func publication(_ number: Int64) -> Publication {
        let order = OutputOrder(path: "media/a7/1", isSealed: false, output: "/out/\(number)", right: .nothing)
        return Publication(content: ContentID(number), order: order, isSmall: true)
    }

    /// The part file of the first effect that is for one.
    private func partFile(_ effects: [DownloadEffect]) -> PartHandle? {
        for case .part(let part, _) in effects { return part }
        return nil
    }

    @Test func `the first step decides the first request and performs nothing`() throws {
        let (scene, _) = try FetchingScenarios.scene()
        try scene.want(Self.url)
        let step = scene.program.commit()
        #expect(scene.network.requests.isEmpty)
        guard case .transfer(.start(let request)) = step.effects.last else {
            Issue.record("no transfer is started")
            return
        }
        #expect(request.url == Self.url && request.range == nil && request.ifRange == nil && request.body == nil)
        #expect(step.effects == [.transfer(.limitRate(nil)), .list, .transfer(.start(request))])
        for effect in step.effects { scene.program.engine.perform(effect) }
        #expect(scene.network.requests == [request])
        #expect(scene.program.commit().effects == [], "each effect is decided once")
    }

    @Test func `the first answer opens the part file, and its end finalizes and closes it`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        let key = try scene.want(Self.url)
        perform(scene)
        let opening = next(scene)
        let part = try #require(partFile(opening))
        let item = try #require(try scene.index.contents.item(key))
        let version = try #require(try scene.index.versions.building(item.id))
        let media = try #require(version.resources.first)
        let total = UInt64(bytes.count)
        let plan = PartFilePlan(
            resource: media.id, path: media.path, total: total, chunkBytes: media.chunkBytes,
            needsDigest: false, resumes: false, reserveBytes: DownloadSettings().reserveBytes)
        #expect(opening.filter { !isFlush($0) } == [.part(part, .open(plan))])
        var others = plan
        others.needsDigest = true
        #expect(opening != [.part(part, .open(others))], "plans are compared")
        #expect(next(scene, unless: isFlush) == [.part(part, .finalize(total: total))])
        #expect(next(scene, unless: isFlush) == [.part(part, .close(deleting: false))])
        #expect(try scene.bytes(key) == bytes)
    }

    private func next(_ scene: Scene, unless isLeftOut: (DownloadEffect) -> Bool) -> [DownloadEffect] {
        for _ in 0..<500 {
            let effects = next(scene).filter { !isLeftOut($0) }
            if !effects.isEmpty { return effects }
        }
        return []
    }

    @Test(arguments: [TargetState.pause, .cancel, .remove])
    func `a withdrawn request cancels its transfer, and then syncs and closes`(targetState: TargetState) throws {
        let (scene, _) = try FetchingScenarios.scene(chunks: 6)
        StoreScenarios.slow(scene)
        let key = try scene.want(Self.url)
        let content = try #require(try scene.index.contents.item(key)).id
        scene.work(for: .milliseconds(500))
        let transfer = try #require(scene.network.requests.last).id
        _ = try scene.index.targets.setTargetState(key, targetState, now: scene.world.now)
        scene.program.engine.setNeedsStep()
        let step = perform(scene)
        #expect(step.effects.first == .transfer(.cancel([transfer])))
        #expect(step.effects.dropFirst().allSatisfy(isFlush))
        let ending = next(scene)
        let part = try #require(partFile(ending))
        #expect(ending.suffix(2) == [.part(part, .flush), .part(part, .close(deleting: false))])
        #expect(ending.dropLast(2).allSatisfy(isFlush))
        guard targetState == .remove else { return }
        let deleting = next(scene, unless: isFlush)
        guard case .delete(let paths, .content(content)) = deleting.first else {
            Issue.record("\(deleting) deletes nothing")
            return
        }
        #expect(deleting.count == 1 && !paths.isEmpty)
    }

    /// A download that runs and another that is wanted, when commits begin to fail. Every statement succeeds, so that
    /// the step has decided to start the other transfer when the commit fails.
    private func sceneWithFailingCommits() throws -> (scene: Scene, running: TransferID) {
        let (scene, _) = try FetchingScenarios.scene(chunks: 6)
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 4 << 10
            return slow
        }
        try scene.want(Self.url)
        scene.work(for: .milliseconds(500))
        let running = try #require(scene.network.requests.last).id
        scene.network.files[Self.other] = ServedFile(lectureBytes(100_000))
        try scene.want(Self.other)
        let store = scene.index.connection
        try store.execute("CREATE TABLE early(id INTEGER PRIMARY KEY)")
        try store.execute("CREATE TABLE late(id REFERENCES early(id) DEFERRABLE INITIALLY DEFERRED)")
        try store.execute("CREATE TRIGGER broken AFTER UPDATE ON content BEGIN INSERT INTO late VALUES (7); END")
        return (scene, running)
    }

    private static let other = "http://other.example/week-2.mp4"

    private func hasFailed(_ step: CommittedStep<DownloadEffect, EngineNotice>) -> Bool {
        step.notices.contains { if case .failure = $0 { true } else { false } }
    }

    @Test func `a failed commit performs none of its effects, and what runs goes on`() throws {
        let (scene, _) = try sceneWithFailingCommits()
        let failed = perform(scene)
        #expect(hasFailed(failed) && failed.effects == [])
        #expect(perform(scene).effects == [], "the next step waits")
        try scene.index.connection.execute("DROP TRIGGER broken")
        scene.work(for: .seconds(5))
        #expect(scene.network.requests(for: Self.other).count == 1, "decided again, and started once")
        try scene.rest()
        #expect(scene.network.requests(for: Self.url).count == 1, "was never interrupted")
        #expect(try scene.contradictions() == [])
    }

    @Test func `after three failed commits all that runs is ended, and started again from the store`() throws {
        let (scene, running) = try sceneWithFailingCommits()
        var failed: [[DownloadEffect]] = []
        for _ in 0..<5_000 where failed.count < 3 {
            let step = perform(scene)
            if hasFailed(step) { failed.append(step.effects) }
            scene.advance([])
        }
        let last = try #require(failed.last)
        #expect(failed.count == 3 && failed.dropLast() == [[], []])
        // The other item was never claimed by a step that was committed: it has no part file.
        let part = try #require(partFile(last))
        #expect(last == [.transfer(.cancel([running])), .part(part, .close(deleting: false))])
        #expect(scene.network.requests(for: Self.other).isEmpty)
        #expect(scene.program.engine.isFailing && scene.program.engine.activeCount == 0)
        try scene.index.connection.execute("DROP TRIGGER broken")
        try scene.rest()
        #expect(scene.network.requests(for: Self.url).count > 1)
        #expect(scene.network.requests(for: Self.other).count == 1)
        #expect(try scene.contradictions() == [])
        #expect(!scene.program.engine.isRecovering)
    }

    @Test func `small files that are published in one step are one effect, and a large one is another`() throws {
        let (scene, large) = try FetchingScenarios.scene()
        let urls = [Self.url] + (1...3).map { "\(Self.url)/small-\($0)" }
        for url in urls.dropFirst() { scene.network.files[url] = ServedFile(lectureBytes(1_000)) }
        for url in urls { try scene.want(url) }
        try scene.rest()
        for (number, url) in urls.enumerated() {
            let key = try scene.want(url) { $0.outputPath = "/out/\(number)" }
            scene.program.engine.publish(try #require(try scene.index.contents.contentID(key)))
        }
        let published = perform(scene).effects.compactMap { effect -> [String]? in
            guard case .publish(let files) = effect else { return nil }
            return files.map(\.order.output)
        }
        #expect(published == [["/out/0"], ["/out/1", "/out/2", "/out/3"]])
        try scene.rest()
        #expect(scene.disk.outputs.count == 4 && scene.disk.outputs["/out/0"] == large)
        #expect(try scene.contradictions() == [])
    }

    @Test func `effects differ in every value, and are described without URLs`() throws {
        let (scene, _) = try FetchingScenarios.scene()
        let secret = "http://media.example/a.mp4?token=secret"
        scene.network.files[secret] = ServedFile(lectureBytes(1000))
        try scene.want(secret)
        let effects = scene.program.commit().effects
        guard case .transfer(.start(let request)) = effects.last else {
            Issue.record("no transfer is started")
            return
        }
        #expect(!"\(effects)".contains("secret"))
        let changes: [(inout TransferRequest) -> Void] = [
            { $0.id = TransferID(99) }, { $0.url = Self.url },
            { $0.headers.append(HeaderField(name: "A", value: "b")) },
            { $0.range = .from(1) }, { $0.ifRange = "\"x\"" }, { $0.allowsHTTP2.toggle() },
            { $0.stallTimeout = .seconds(1) }, { $0.rateLimit = 1 }, { $0.body = RequestBody([], mediaType: "a/b") },
            { $0.totalTimeout = .seconds(1) }, { $0.sink = OtherSink() },
        ]
        for (number, change) in changes.enumerated() {
            var other = request
            change(&other)
            #expect(TransferEffect.start(other) != .start(request), "\(number)")
        }
        let texts: [(DownloadEffect, String)] = [
            (.transfer(.limitRate(7)), "limit the rate to 7"), (.transfer(.limitRate(nil)), "do not limit the rate"),
            (.transfer(.cancel([TransferID(3), TransferID(5)])), "cancel 3 5"), (.list, "list the files"),
            (.delete(["a", "b"], .orphans), "delete 2 files of no lecture"),
            (.delete(["a"], .version(VersionID(4))), "delete 1 files of version 4"),
            (.delete([], .content(ContentID(4))), "delete 0 files of lecture 4"),
            (.requestGrant(ContentID(4), key: try ContentKey("k")), "request the grant of 4"),
            (.resolve(ContentID(4), key: try ContentKey("k"), sourceURL: secret), "resolve 4"),
            (.publish([4, 5].map(publication)), "publish 4 as /out/4, 5 as /out/5"),
        ]
        for (effect, text) in texts { #expect("\(effect)" == text) }
    }
}

/// A sink that takes nothing.
private final class OtherSink: TransferSink {
    func headReceived(_ head: ResponseHead) -> Bool { false }
    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool { false }
    func transferEnded(_ outcome: TransferOutcome) {}
}
