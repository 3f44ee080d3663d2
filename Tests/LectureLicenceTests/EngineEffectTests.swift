import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

/// What a step of the licence engine leads to, as values in their order.
struct EngineEffectTests {
    private func start(_ effects: [LicenceEffect]) -> TransferRequest? {
        for case .transfer(.start(let request)) in effects { return request }
        return nil
    }

    @Test func `a grant is requested after the commit, and its answer is anchored`() throws {
        let world = try LicenceWorld()
        world.settle()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let step = world.engine.commit()
        let request = try #require(start(step.effects))
        #expect(step.effects == [.transfer(.start(request))])
        #expect(request.url == LicenceWorld.url && request.body != nil)
        #expect(world.server.requests.isEmpty, "nothing is performed")
        for effect in step.effects { effect.perform(for: world.engine) }
        #expect(world.server.requests.count == 1)
        world.clock.advance(to: try #require(world.server.nextDue))
        world.server.deliver()
        let answered = world.engine.commit()
        guard case .keepAnchor(let anchor) = answered.effects.last else {
            Issue.record("\(answered.effects) keeps no anchor")
            return
        }
        #expect(answered.effects.count == 1)
        #expect(try world.anchors.anchor(of: world.settings.store) != anchor, "nothing is performed")
        LicenceEffect.keepAnchor(anchor).perform(for: world.engine)
        #expect(try world.anchors.anchor(of: world.settings.store) == anchor)
        #expect("\(answered.effects)" == "[keep anchor \(anchor.revision)]")
    }

    @Test func `a stop cancels what runs`() throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let started = world.engine.commit()
        let request = try #require(start(started.effects))
        for effect in started.effects { effect.perform(for: world.engine) }
        world.engine.stop()
        #expect(world.engine.commit().effects.first == .transfer(.cancel([request.id])))
    }

    @Test func `a failed commit performs none of its effects`() throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let started = world.engine.commit()
        let request = try #require(start(started.effects))
        for effect in started.effects { effect.perform(for: world.engine) }
        let store = try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite)
        try store.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON licence_attempt BEGIN SELECT RAISE(ABORT, 'no'); END")
        world.clock.advance(to: try #require(world.server.nextDue))
        world.server.deliver()
        let failed = world.engine.commit()
        #expect(failed.notices.contains { if case .failure = $0 { true } else { false } })
        #expect(failed.effects == [.transfer(.cancel([request.id]))], "no anchor of a row that is not there")
        #expect(world.engine.commit().effects == [], "the next step waits")
    }
}
