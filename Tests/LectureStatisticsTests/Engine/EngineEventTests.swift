import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// What steps lead to, as values: events for applications, and results for those who wait.
struct EngineEventTests {
    private func progress(_ world: SendWorld) -> [ReportSendResult] {
        world.process.events.compactMap { if case .reportsProgress(let result) = $0 { result } else { nil } }
    }

    private func withoutProgress(_ world: SendWorld) -> [ReportNotice] {
        world.process.notices.filter { if case .event(.reportsProgress) = $0 { false } else { true } }
    }

    @Test func `delivered reports are counted, and named where an order asks for it`() throws {
        for isNaming in [false, true] {
            let world = try SendWorld()
            try world.add("a")
            var result = ReportSendResult()
            (result.delivered, result.requests) = (1, 1)
            #expect(try world.send { $0.namesDelivered = isNaming } == result)
            let named: [ReportNotice] = isNaming ? [.event(.reportsDelivered(["a"]))] : []
            #expect(withoutProgress(world) == [.delivered(1)] + named + [.ended(order: 1, result)])
        }
    }

    @Test func `a refused report has its error`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.answer(422)
        var result = ReportSendResult()
        (result.refused, result.requests) = (1, 1)
        #expect(try world.send() == result)
        let error = LectureError(.reportRefused)
        #expect(
            withoutProgress(world)
                == [.event(.reportRefused(id: "a", reason: .refused, error: error)), .ended(order: 1, result)])
        let errors = world.process.events.compactMap { event -> LectureError? in
            if case .reportRefused(_, _, let error) = event { error } else { nil }
        }
        #expect(errors.map(\.detail) == ["a"] && errors.map(\.cause) == ["HTTP 422"])
    }

    @Test func `an obstacle has the URL of its target`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.behave { _, _ in .answer(503) }
        let result = try world.send { $0.attempts = 1 }
        let obstacles = world.process.events.compactMap { event -> ReportObstacle? in
            if case .reportObstacle(let obstacle) = event { obstacle } else { nil }
        }
        #expect(obstacles.count == 1 && obstacles.allSatisfy { $0.error.code == .reportTargetWaits && $0.again != nil })
        #expect((obstacles + result.obstacles).map(\.url) == [SendWorld.url, SendWorld.url])
        #expect(result.left == 1 && result.obstacles.count == 1)
    }

    @Test func `progress is published at most every 100 ms, and only with new numbers`() throws {
        let world = try SendWorld { $0.limits.count = 5 }
        try world.add(500)
        var moments: [BootInstant] = []
        world.begin()
        world.run { world in
            let count = progress(world).count - moments.count
            moments += Array(repeating: world.clock.boot(), count: count)
            return !world.process.ends.isEmpty
        }
        let published = progress(world)
        #expect(published.count > 5, "\(published.count)")
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(100) })
        #expect(zip(published, published.dropFirst()).allSatisfy { $0 != $1 && $0.delivered <= $1.delivered })
        #expect(published.allSatisfy { $0.delivered + $0.left == 500 && $0.obstacles.isEmpty })
    }
}
