import LectureModel
import LectureStatistics
import LectureStore
import Testing

/// What a step of the engine leads to, as values in their order.
struct EngineEffectTests {
    @Test func `an order starts a request after the commit, and a stop cancels it`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        let engine = world.process.engine
        let step = engine.commit()
        guard case .start(let request) = step.effects.first else {
            Issue.record("\(step.effects) starts nothing")
            return
        }
        #expect(step.effects == [.start(request)])
        #expect(request.url == SendWorld.url && request.headers["Idempotency-Key"] == "a")
        #expect(world.lms.requests.isEmpty, "nothing is performed")
        for effect in step.effects { world.lms.perform(effect) }
        #expect(world.lms.requests.map(\.id) == ["a"])
        #expect(engine.commit().effects == [], "each effect is decided once")
        engine.stop()
        #expect(engine.commit().effects == [.cancel([request.id])])
    }

    @Test func `a failed commit performs none of its effects`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        world.process.outbox.failsCommits = true
        let engine = world.process.engine
        let failed = engine.commit()
        guard case .cancel(let ids) = failed.effects.first else {
            Issue.record("\(failed.effects) cancels nothing")
            return
        }
        #expect(failed.effects == [.cancel(ids)] && ids.count == 1, "its request is not started")
        #expect(failed.notices.contains { if case .failure = $0 { true } else { false } })
        world.process.outbox.failsCommits = false
        for effect in failed.effects { world.lms.perform(effect) }
        #expect(engine.commit().effects == [] && world.lms.requests.isEmpty, "the next step waits")
        world.run { $0.process.ends.count == 1 }
        #expect(world.process.ends.map(\.delivered) == [1] && world.lms.requests.map(\.id) == ["a"])
    }
}
