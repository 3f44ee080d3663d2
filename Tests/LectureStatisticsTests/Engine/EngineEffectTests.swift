import LectureEngine
import LectureModel
import LectureStatistics
import LectureStore
import Testing

/// What a step leads to, as values in their order.
struct EngineEffectTests {
    /// The request of a step that does nothing but send one.
    private func request(_ effects: [ExchangeEffect]) throws -> ExchangeRequest {
        let request: ExchangeRequest? = if case .send(let request) = effects.first { request } else { nil }
        #expect(effects == request.map { [.send($0)] }, "a step sends one request")
        return try #require(request)
    }

    @Test func `an order sends a request after the commit, and a stop cancels it`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        let process = world.process
        let request = try request(process.commit().effects)
        #expect(request.url == SendWorld.url && request.headers["Idempotency-Key"] == "a")
        #expect(world.lms.requests.isEmpty, "nothing is performed")
        world.process.performer.perform(.send(request))
        #expect(world.lms.requests.map(\.id) == ["a"])
        #expect(process.commit().effects == [], "each effect is decided once")
        process.runner.stop()
        #expect(process.commit().effects == [.cancel([request.id])])
    }

    @Test func `a failed commit performs none of its effects`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        world.process.faults.failsCommits = true
        let process = world.process
        let failed = process.commit()
        #expect(failed.effects == [], "its request is not sent")
        #expect(failed.notices.contains { if case .failure = $0 { true } else { false } })
        world.process.faults.failsCommits = false
        #expect(process.commit().effects == [] && world.lms.requests.isEmpty, "the next step waits")
        world.run { $0.process.ends.count == 1 }
        #expect(world.process.ends.map(\.delivered) == [1] && world.lms.requests.map(\.id) == ["a"])
    }

    @Test func `an answer is kept while the store cannot be written, and its report is sent once`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        let process = world.process
        world.process.performer.perform(.send(try request(process.commit().effects)))
        world.process.faults.failsCommits = true
        var failures = 0
        world.run(for: .seconds(5)) { world in
            failures = world.process.failures
            return failures == 2
        }
        #expect(failures == 2 && world.lms.requests.count == 1)
        world.process.faults.failsCommits = false
        world.run { $0.process.ends.count == 1 }
        #expect(world.process.ends.map(\.delivered) == [1])
        #expect(world.lms.requests.map(\.id) == ["a"], "the answer was not lost")
    }

    @Test func `a store that fails for long costs the answer and not the report`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.begin()
        let process = world.process
        world.process.performer.perform(.send(try request(process.commit().effects)))
        world.process.faults.failsCommits = true
        world.run(for: .seconds(300)) { $0.process.failures > FailedSteps.patience }
        #expect(world.process.failures > FailedSteps.patience)
        world.process.faults.failsCommits = false
        world.run { $0.process.ends.count == 1 }
        #expect(world.process.ends.map(\.delivered) == [1])
        #expect(world.lms.requests.map(\.id) == ["a", "a"], "sent again under its id")
    }
}
