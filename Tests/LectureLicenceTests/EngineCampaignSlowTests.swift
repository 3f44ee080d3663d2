import LectureEngine
import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

/// Many renewals under all kinds of failures, from seeds.
struct EngineCampaignSlowTests {
    /// The most requests that started within one second.
    private func mostInASecond(_ requests: [ServerRequest]) -> Int {
        let started = requests.map(\.started).sorted()
        var (first, most) = (0, 0)
        for (index, moment) in started.enumerated() {
            while moment - started[first] >= .seconds(1) { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    /// A server that takes 200 requests a second, refuses one in twenty and forgets one in fifty.
    private func burdened(_ limit: Int) -> @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction {
        let recent = Guarded<[BootInstant]>([])
        return { request, randomness in
            let isOver = recent.withLock { recent in
                recent.removeAll { request.started - $0 >= .seconds(1) }
                recent.append(request.started)
                return recent.count > limit
            }
            switch Int.random(in: 0..<100, using: &randomness) {
            case 0..<5: return .body("busy", status: 429)
            case 5..<7: return .silence
            default: return isOver ? .body("busy", status: 429) : .payload(FakeServer.permit(request.items))
            }
        }
    }

    /// Three thousand renewals and six kills, with `Tools/soak` ten thousand and twenty.
    @Test func `renewals survive kills, refusals and silence, with none lost or doubled`() throws {
        let (seed, cap) = (UInt64(1), 200.0)
        let world = try LicenceWorld(seed: seed) { settings in
            settings.pace.rate?.maximum = cap
            settings.totalTimeout = .seconds(10)
        }
        let count = RunSize.count(3000, soak: 10_000)
        // More than a second apart: a new process does not know what the one before it has asked.
        let kills = count / 500
        try world.licensed((0..<count).map { "k\(100_000 + $0)" }) { entry, number in
            entry.record?.policy.expiresAt = Timestamp(milliseconds: 1_749_000_000_000 + Int64(number % 977) * 1000)
        }
        world.server.behave(burdened(Int(cap * 1.05)))
        var randomness = SeededGenerator(seed: seed)
        for kill in 1...kills {
            world.engine.renew(.all)
            let goal = count * kill / (kills + 1) + Int.random(in: -100...100, using: &randomness)
            #expect(world.run { $0.progress.count >= goal })
            try world.restart()
        }
        let summary = try world.renew()
        #expect((summary.total, summary.renewed, summary.failed, summary.waiting) == (count, count, 0, 0))
        let reported = world.progress
        #expect(
            reported.count == count && Set(reported.map(\.key)).count == count
                && reported.allSatisfy { $0.error == nil })
        var after: ContentKey?
        var seen = 0
        while true {
            let page = try world.ledger.entries(after: after, limit: 500)
            guard let last = page.last else { break }
            after = last.key
            for entry in page {
                seen += 1
                #expect(entry.record?.policy.expiresAt == Timestamp(milliseconds: 1_861_919_999_000))
                let permitted = try world.ledger.attempts(entry.key, limit: 20).count { $0.outcome == "permitted" }
                #expect(permitted == 1, "applied once")
            }
        }
        #expect(seen == count)
        let most = mostInASecond(world.server.requests)
        #expect(Double(most) <= cap * 1.05)
        #expect(world.server.breaches.isEmpty)
        #expect(try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store)).isIntact)
    }

    @Test(arguments: [5, 40])
    func `a server with a lower limit than our start rate is detected and not overrun`(limit: Int) throws {
        let world = try LicenceWorld(seed: 3)
        try world.licensed((0..<2000).map { "k\(100_000 + $0)" })
        let (recent, refused) = (Guarded<[BootInstant]>([]), Guarded(0))
        world.server.behave { request, _ in
            let isOver = recent.withLock { recent in
                recent.removeAll { request.started - $0 >= .seconds(1) }
                if recent.count < limit { recent.append(request.started) }
                return recent.count >= limit && recent.last != request.started
            }
            if isOver { refused.withLock { $0 += 1 } }
            return isOver ? .body("", status: 429) : .payload(FakeServer.permit(request.items))
        }
        let summary = try world.renew()
        #expect(summary.renewed == 2000 && summary.failed == 0)
        #expect(refused.withLock(\.self) < world.server.requests.count / 2)
    }

    @Test func `a store that cannot be written for a while loses and doubles nothing`() throws {
        // So slowly that the run is not over before the last failure.
        let world = try LicenceWorld(seed: 4) { $0.pace = .callbacks(requestsPerSecond: 20, requests: 8) }
        let count = 500
        try world.licensed((0..<count).map { "k\(100_000 + $0)" })
        let (content, key) = try world.waiting("g")
        let path = "\(world.location.directory)/lecturekit.db"
        func run(_ script: String) throws { try Connection(path: path, access: .readWrite).run(script: script) }
        let fails = "BEGIN SELECT raise(ABORT, 'the disk is full'); END;"
        world.engine.renew(.all)
        world.run { $0.progress.count >= 100 }
        for trigger in ["INSERT ON licence_attempt", "UPDATE ON licence", "INSERT ON time_ledger"] {
            // After a short failure an answer is stored; after a long one the caller is informed, and asks again.
            for steps in [2, 3] {
                try run("CREATE TRIGGER breaks BEFORE \(trigger) \(fails)")
                let (failures, grants) = (world.failures, world.grants.count)
                world.engine.grant(content, key: key)
                #expect(world.run { $0.failures == failures + steps })
                try run("DROP TRIGGER breaks;")
                let done = world.progress.count
                #expect(world.run { $0.progress.count >= done + 50 && $0.grants.count > grants })
                #expect(world.grants.last?.error?.code == (steps < 3 ? nil : .storeFailed), "\(trigger) \(steps)")
                #expect(world.grants.count == grants + 1 && world.grants.last?.isFinal == false)
            }
        }
        #expect(world.run { !$0.summaries.isEmpty })
        #expect(world.summaries.first?.renewed == count)
        #expect(world.progress.count == count && Set(world.progress.map(\.key)).count == count)
        for entry in try world.ledger.entries(after: nil, limit: count + 9) where entry.key != key {
            #expect(try world.ledger.attempts(entry.key, limit: 20).count { $0.outcome == "permitted" } == 1)
        }
    }

    @Test func `an engine whose store cannot be written still stops`() throws {
        let world = try LicenceWorld(seed: 5)
        try world.licensed((0..<50).map { "k\($0)" })
        world.engine.renew(.all)
        world.run { !$0.progress.isEmpty }
        let path = "\(world.location.directory)/lecturekit.db"
        try Connection(path: path, access: .readWrite).run(
            script: "CREATE TRIGGER breaks BEFORE UPDATE ON renewal BEGIN SELECT raise(ABORT, 'full'); END;")
        world.engine.stop()
        #expect(world.run { $0.notices.contains { if case .stopped = $0 { true } else { false } } })
    }
}

extension LicenceWorld {
    var failures: Int { notices.count { if case .failure = $0 { true } else { false } } }
}
