import LectureEngine
import LectureModel
import LectureStatistics
import LectureStore
import LectureTestSupport
import Testing

/// Backlogs under all kinds of failures, from seeds: each report takes effect once, in order, and none is lost.
struct EngineCampaignTests {
    /// Takes effect nearly always, and acknowledges less often; sometimes it does neither.
    private static let lossy: VirtualLMS.Habit = { _, randomness in
        switch Int.random(in: 0..<100, using: &randomness) {
        case 0..<20: .failure(56, takesEffect: true)
        case 20..<25: .half(200, #"{"ok":"#, takesEffect: true)
        case 25..<30: .answer(500, takesEffect: true)
        case 30..<33: .failure(7)
        case 33..<35: .answer(503, headers: [("Retry-After", "3")])
        case 35..<37: .answer(200, AnswerRow.page)
        case 37..<40: .answer(409, takesEffect: true)
        default: .good
        }
    }

    private func finish(_ world: SendWorld, _ count: Int, orders: Int = 60) throws {
        for _ in 0..<orders where try world.count(.pending) + world.count(.leased) > 0 {
            try world.send()
            world.wait(.seconds(60))
        }
        #expect(try world.count(.delivered) == count && world.isConserved())
        #expect(try world.inFlightBatches() == 0)
        #expect(world.lms.effects.count == count)
        #expect(world.lms.breaches.isEmpty, "\(world.lms.breaches.prefix(2))")
        #expect(world.disorder().isEmpty)
    }

    @Test(arguments: 1...6)
    func `lost acknowledgements and crashes cause one effect each, in order, under one id`(seed: Int) throws {
        let world = try SendWorld(seed: UInt64(seed)) { settings in
            settings.limits.count = 20
            if seed % 2 == 0 { settings.encoding = "gzip" }
        }
        try world.add(1000)
        world.lms.behave(Self.lossy)
        for _ in 0..<25 {
            world.begin()
            let steps = Guarded(world.randomness.number(1..<60))
            world.run { _ in
                steps.withLock {
                    $0 -= 1
                    return $0 < 0
                }
            }
            try world.restart()
            world.wait(.milliseconds(Int64(world.randomness.number(0..<20_000))))
            #expect(try world.isConserved())
        }
        try finish(world, 1000)
    }

    @Test(arguments: 1...4)
    func `a store that cannot be written at random loses and doubles nothing`(seed: Int) throws {
        let world = try SendWorld(seed: UInt64(seed)) { $0.limits.count = 20 }
        try world.add(600)
        world.lms.behave(Self.lossy)
        world.process.faults.failures = 30
        for _ in 0..<4 {
            world.begin()
            world.run(for: .seconds(300)) { $0.process.ends.count > 10 }
            #expect(try world.isConserved())
        }
        #expect(world.process.faults.failed > 5 && world.process.failures > 0)
        world.process.faults.failures = 0
        world.run(for: .seconds(3600)) { $0.process.runner.machine.isIdle }
        #expect(world.process.runner.machine.isIdle)
        try finish(world, 600)
    }

    @Test(arguments: 1...4)
    func `a stop at any moment completes and leaves nothing leased`(seed: Int) throws {
        let world = try SendWorld(seed: UInt64(seed)) { $0.limits.count = 10 }
        try world.add(300)
        world.lms.behave(Self.lossy)
        for _ in 0..<10 {
            world.begin()
            let steps = Guarded(world.randomness.number(1..<25))
            world.run { _ in
                steps.withLock {
                    $0 -= 1
                    return $0 < 0
                }
            }
            world.process.runner.stop()
            #expect(world.run { $0.process.isStopped })
            #expect(world.process.ends.count == 1 && world.process.runner.machine.isIdle)
            #expect(try world.numbers("count(*) FROM lms_flight WHERE owner_id IS NOT NULL") == [0])
            #expect(try world.isConserved())
            try world.restart()
        }
        try finish(world, 300)
    }

    @Test func `a stop completes while the store cannot be written`() throws {
        let world = try SendWorld { $0.limits.count = 10 }
        try world.add(100)
        world.begin()
        world.run { _ in world.lms.effects.count > 20 }
        world.process.faults.failures = 1000
        world.process.runner.stop()
        #expect(world.run { $0.process.isStopped })
        try world.restart()
        try finish(world, 100)
    }

    @Test(arguments: 1...4)
    func `two programs on one store do not send the same report`(seed: Int) throws {
        let world = try SendWorld(seed: UInt64(seed)) { $0.limits.count = 10 }
        try world.add(500)
        let other = try world.another()
        if seed > 1 { world.lms.behave(Self.lossy) }
        world.begin()
        world.begin(other)
        #expect(world.run { !$0.process.ends.isEmpty && !other.ends.isEmpty })
        if seed == 1 {
            #expect(world.lms.repeats == 0 && (other.ends.first?.delivered ?? 0) > 50)
            #expect((world.process.ends.first?.delivered ?? 0) + (other.ends.first?.delivered ?? 0) == 500)
        }
        try finish(world, 500)
    }

    @Test func `a crashed program leaves its requests to a running one`() throws {
        let world = try SendWorld { $0.limits.count = 10 }
        try world.add(40)
        let other = try world.another()
        world.lms.behave { _, _ in .failure(28, takesEffect: true) }
        world.begin(other)
        world.run(for: .seconds(1)) { _ in world.lms.requests.count == 4 }
        try world.kill(other)
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 40)
        #expect(world.lms.breaches.isEmpty && world.lms.repeats == 40 && world.lms.effects.count == 40)
    }

    @Test(arguments: 1...4)
    func `with poison, size limits and losses, refused reports are dead and all others arrive`(seed: Int) throws {
        let world = try SendWorld(seed: UInt64(seed)) { $0.limits.count = 64 }
        try world.add(600, padding: 60)
        let poison = Set((0..<20).map { _ in "r\(world.randomness.number(0..<600))" })
        let lossy = Self.lossy
        world.lms.behave { request, randomness in
            if request.wire.count > 8000 { return .answer(413) }
            if !poison.isDisjoint(with: request.events) { return .answer(400, "poison") }
            return lossy(request, &randomness)
        }
        for round in 0..<60 where try world.count(.pending) + world.count(.leased) > 0 {
            if round % 3 == 2 {
                world.begin()
                world.run(for: .milliseconds(Int64(world.randomness.number(50..<900)))) { _ in false }
                try world.restart()
            } else {
                try world.send()
            }
            world.wait(.seconds(30))
        }
        #expect(try world.count(.dead) == poison.count && world.count(.delivered) == 600 - poison.count)
        #expect(Set(world.lms.effects).isDisjoint(with: poison))
        #expect(try world.isConserved() && world.lms.breaches.isEmpty && world.disorder().isEmpty)
        // The cause of the refusals was fixed.
        world.lms.behave { _, _ in .good }
        var selection = ReportSelection()
        selection.states = [.dead]
        let revived = try world.process.index.transaction {
            try $0.outbox.upkeep.revive(selection, now: world.clock.now())
        }
        #expect(revived == poison.count)
        #expect(try world.send().delivered == poison.count && world.lms.breaches.isEmpty)
    }
}
