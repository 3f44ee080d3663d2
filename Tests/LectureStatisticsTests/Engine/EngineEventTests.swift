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

    /// What an order changes about a target, and whether it is asked then.
    static let resumptions: [(SendResumption, isSuspended: Bool, isAsked: Bool, isStillSuspended: Bool)] = [
        (.everything, true, true, false), (.waits, true, false, true), (.nothing, true, false, true),
        (.everything, false, true, false), (.waits, false, true, false), (.nothing, false, false, false),
    ]

    @Test(arguments: resumptions)
    func `only a person's order ends a suspension, and one without a change ends no wait`(
        resumption: SendResumption, isSuspended: Bool, isAsked: Bool, isStillSuspended: Bool
    ) throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.behave { _, _ in isSuspended ? .answer(401) : .failure(7) }
        _ = try world.send { $0.attempts = 12 }
        #expect(try world.entry().condition.suspension == (isSuspended ? .unauthorized : nil))
        if !isSuspended { #expect(try world.entry().condition.wait != nil) }
        world.lms.behave { _, _ in .good }
        let result = try world.send {
            ($0.resumption, $0.attempts, $0.longestWait) = (resumption, 1, .zero)
        }
        #expect((result.delivered == 1) == isAsked && (result.requests > 0) == isAsked)
        #expect((try world.entry().condition.suspension != nil) == isStillSuspended)
    }
}
