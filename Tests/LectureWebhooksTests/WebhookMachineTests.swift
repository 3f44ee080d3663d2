import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks
import Testing

@testable import LectureStore

struct WebhookMachineTests {
    private static let url = "https://hooks.example/a?token=x"

    private func world(_ kinds: [WebhookKind] = WebhookKind.allCases) throws -> WebhookWorld {
        let world = try WebhookWorld()
        try world.follow([(Self.url, kinds)])
        return world
    }

    @Test func `Everything that waits is sent, a few at once`() throws {
        let world = try world()
        for number in 0..<25 { try world.fail("k\(number)") }
        let result = try #require(try world.send())
        #expect((result.delivered, result.left, result.requests) == (25, 0, 25) && result.obstacles.isEmpty)
        #expect(world.mostAtOnce == WebhookMachine.window)
        #expect(world.keys() == (0..<25).map { "k\($0)" })
        #expect(try world.count("webhook_event") == 0 && world.count("webhook_delivery") == 0)
        let entry = try #require(try world.rows.endpoints().first)
        #expect((entry.created, entry.delivered, entry.waiting) == (25, 25, 0) && entry.lastDelivered == world.now)
    }

    @Test func `What happened to one lecture is sent in its order`() throws {
        let world = try world()
        for _ in 0..<5 { try world.fail("a") }
        try world.fail("b")
        var failures = 3
        world.answer = { _ in
            failures -= 1
            return failures >= 0 ? (500, nil) : (200, nil)
        }
        #expect(try world.send()?.delivered == 6)
        let ids = world.arrivals.filter { $0.body.contains(#""key":"a""#) }.map(\.id)
        var order: [String] = []
        for id in ids where order.last != id { order.append(id) }
        #expect(order.count == 5 && order == order.sorted { $0.utf8.count == $1.utf8.count && $0 < $1 })
    }

    @Test func `Repeated requests have the same id and body, and the time of the attempt`() throws {
        let world = try world()
        try world.fail("a")
        var count = 0
        world.answer = { _ in
            count += 1
            return count < 4 ? nil : (200, nil)
        }
        #expect(try world.send()?.delivered == 1)
        #expect(world.arrivals.count == 4 && Set(world.arrivals.map(\.id)).count == 1)
        #expect(Set(world.arrivals.map(\.body)).count == 1)
        #expect(world.arrivals.map(\.time) == world.arrivals.map(\.time).sorted())
        #expect(world.arrivals.last?.time == world.now.milliseconds / 1000)
    }

    @Test func `A server that asks to wait is obeyed, also by the next program and by one that ends waits`() throws {
        let world = try world()
        try world.fail("a")
        world.answer = { _ in (503, "600") }
        let first = try #require(try world.send())
        #expect((first.left, first.requests) == (1, 1) && first.obstacles.first?.error.code == .status(503))
        #expect(first.obstacles.first?.again == world.now + .seconds(600))
        world.answer = { _ in (200, nil) }
        #expect(try world.send()?.requests == 0)
        #expect(try world.send { $0.longestWait = .seconds(700) }?.delivered == 1)
        #expect(world.now >= Timestamp(milliseconds: 1_790_000_000_000) + .seconds(600))
    }

    @Test func `A server that does not answer is tried ever more rarely, one request at a time`() throws {
        let world = try world()
        for number in 0..<8 { try world.fail("k\(number)") }
        world.answer = { _ in nil }
        // The first requests went out together; after that one at a time.
        _ = try world.send { ($0.attempts, $0.longestWait) = (12, .seconds(86_400)) }
        let times = world.arrivals.map(\.time)
        #expect(times.filter { $0 == times[0] }.count == WebhookMachine.window)
        let later = times.drop { $0 == times[0] }
        #expect(Set(later).count == later.count)
        let gaps = zip(later, later.dropFirst()).map { $1 - $0 }
        #expect(gaps.count >= 6 && (gaps.last ?? 0) > 16 * max(1, gaps.first ?? 0) / 4)
        world.answer = { _ in (200, nil) }
        #expect(try world.send()?.delivered == 8)
    }

    @Test func `An endpoint that is gone gets nothing until it is revived or wants something else`() throws {
        let world = try world()
        for key in ["a", "b"] { try world.fail(key) }
        world.answer = { _ in (410, nil) }
        let result = try #require(try world.send())
        #expect(result.left == 2 && result.obstacles.map(\.error.code) == [.webhookGone])
        world.answer = { _ in (200, nil) }
        let before = world.arrivals.count
        #expect(try world.send()?.left == 2)
        try world.follow([(Self.url, WebhookKind.allCases)])
        #expect(try world.send()?.left == 2 && world.arrivals.count == before)
        try world.follow([(Self.url, [.lectureFailed])])
        #expect(try world.send()?.delivered == 2)
    }

    @Test func `Ten refusals make an event dead, and it is sent again when a person asks for it`() throws {
        let world = try world()
        try world.fail("a")
        try world.fail("a")
        try world.fail("b")
        world.answer = { $0.body.contains(#""key":"a""#) ? (404, nil) : (200, nil) }
        let first = try #require(try world.send())
        #expect((first.delivered, first.left, first.dead) == (1, 2, 0))
        var (dead, codes) = (0, Set<LectureError.Code>())
        for _ in 0..<200 where try world.rows.endpoints()[0].waiting > 0 {
            let result = try #require(try world.send { $0.longestWait = .seconds(7200) })
            dead += result.dead
            codes.formUnion(result.obstacles.map(\.error.code))
        }
        #expect(dead == 2 && codes == [.status(404), .webhookRefused])
        let sent = world.arrivals.filter { $0.body.contains(#""key":"a""#) }
        #expect(sent.count == 2 * WebhookVerdict.refusalLimit)
        let entry = try #require(try world.rows.endpoints().first)
        #expect((entry.waiting, entry.dead, entry.delivered) == (0, 2, 1))
        let kept = try world.rows.deliveries(entry.id, in: .dead, after: nil, limit: 10)
        #expect(kept.map(\.status) == [404, 404] && kept.map(\.attempts) == [10, 10])
        #expect(try world.rows.deliveries(entry.id, in: .dead, after: kept[0].id, limit: 10).count == 1)
        world.answer = { _ in (200, nil) }
        #expect(try world.send()?.requests == 0)
        #expect(try world.rows.revive(entry.id) == 2)
        #expect(try world.send()?.delivered == 2)
    }

    @Test func `An endpoint without a secret holds up no other one`() throws {
        let world = try world()
        try world.follow([(Self.url, WebhookKind.allCases), ("https://b.example/", WebhookKind.allCases)])
        try world.fail("a")
        world.secrets = { url throws(LectureError) in
            if url == Self.url { throw LectureError(.webhookSecret) }
        }
        let result = try #require(try world.send())
        #expect((result.delivered, result.left) == (1, 1))
        #expect(result.obstacles.map(\.error.code) == [.webhookSecret])
        #expect(try world.count("webhook_delivery", "owner_id IS NOT NULL OR attempts > 0") == 0)
    }

    @Test func `An order for one endpoint leaves the others alone`() throws {
        let world = try world()
        try world.follow([(Self.url, WebhookKind.allCases), ("https://b.example/", WebhookKind.allCases)])
        try world.fail("a")
        let chosen = try world.rows.endpoints()[1].id
        #expect(try world.send { $0.endpoints = [chosen] }?.delivered == 1)
        #expect(world.arrivals.map(\.url) == ["https://b.example/"])
        #expect(try world.rows.endpoints().map(\.waiting) == [1, 0])
    }

    /// At least once on the wire, once in effect, none missing: for random receivers and kills.
    @Test(arguments: 0..<40) func `Whatever happens, each event arrives`(run: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let world = try WebhookWorld(seed: seed)
        try world.follow([(Self.url, WebhookKind.allCases), ("https://b.example/", [.lectureFailed])])
        var effects: [String: [String]] = [:]
        var failed = 0
        var habits = SeededGenerator(seed: seed &+ 1)
        world.answer = { arrival in
            let stores = { effects[arrival.url, default: []].append(arrival.id) }
            switch Int.random(in: 0..<8, using: &habits) {
            case 0:
                // Stored, and the answer is lost.
                stores()
                return nil
            case 1: return nil
            case 2: return (503, "\(Int.random(in: 0...30, using: &habits))")
            case 3: return (500, nil)
            case 4 where Bool.random(using: &habits): return (404, nil)
            default:
                stores()
                return (204, nil)
            }
        }
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                try world.fail("k\(Int.random(in: 0..<5, using: &random))")
                failed += 1
            }
            try world.send(killedAfter: Bool.random(using: &random) ? Int.random(in: 0...5, using: &random) : nil)
        }
        world.answer = { arrival in
            effects[arrival.url, default: []].append(arrival.id)
            return (200, nil)
        }
        for entry in try world.rows.endpoints() { _ = try world.rows.revive(entry.id) }
        let last = try #require(try world.send())
        #expect(last.left == 0, "seed \(seed)")
        for url in [Self.url, "https://b.example/"] {
            var once: [String] = []
            for id in effects[url] ?? [] where !once.contains(id) { once.append(id) }
            #expect(once.count == failed, "seed \(seed), run \(run): \(once.count) of \(failed) at \(url)")
        }
        let entries = try world.rows.endpoints()
        #expect(entries.map(\.delivered) == [failed, failed] && entries.map(\.created) == [failed, failed])
        #expect(try world.count("webhook_event") == 0)
        #expect(try StoreMaintenance.check(world.location) == [], "seed \(seed)")
    }
}
