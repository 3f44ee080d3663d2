import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks
import Testing

@testable import LectureStore

/// Programs whose requests are answered late, in any order, or never.
struct WebhookOrderTests {
    private func world(_ keys: [String]) throws -> WebhookWorld {
        let world = try WebhookWorld()
        try world.follow([("https://a.example/", WebhookKind.allCases)])
        for key in keys { try world.fail(key) }
        return world
    }

    private func entry(_ world: WebhookWorld) throws -> WebhookEntry { try world.rows.endpoints()[0] }

    @Test func `Each answer lets one more request begin, and a lecture has one at a time`() throws {
        let world = try world(["a", "a", "b", "b", "c", "d", "e", "f"])
        let program = try WebhookProgram(world)
        program.send()
        #expect(program.keys == ["a", "b", "c", "d"])
        program.answer("c", 200)
        #expect(program.keys == ["a", "b", "d", "e"])
        program.answer("b", 204)
        #expect(program.keys == ["a", "d", "e", "b"])
        // While it fails there is one request at a time.
        program.answer("d", 500)
        #expect(program.keys == ["a", "e", "b"])
        program.answer("a", nil)
        program.answer("b", 200)
        #expect(program.keys == ["e", "a", "d", "f"], "an arrival opens it again")
        for key in ["e", "a", "d", "f", "a"] { program.answer(key, 200) }
        #expect(program.results.map(\.delivered) == [8] && program.results.map(\.requests) == [10])
        #expect(try entry(world).waiting == 0)
    }

    /// Answers to requests that run together, and the wait that is stored: at least and at most, in milliseconds.
    @Test(
        arguments: [
            ([(503, "600"), (500, nil)], 600_000, 600_000), ([(500, nil), (503, "600")], 600_000, 600_000),
            ([(503, "600"), (503, "60")], 600_000, 600_000), ([(429, "60"), (503, "600")], 600_000, 600_000),
            ([(503, "600"), (nil, nil)], 600_000, 600_000), ([(503, "600"), (404, nil)], 600_000, 600_000),
            ([(500, nil), (500, nil)], 1000, 2000), ([(500, nil), (500, nil), (500, nil)], 2000, 4000),
            ([(503, "600"), (200, nil)], 0, 0), ([(200, nil), (503, "1")], 1000, 1000),
        ] as [([(Int?, String?)], Int, Int)])
    func `Answers that come together leave the longest wait`(answers: [(Int?, String?)], least: Int, most: Int) throws {
        let world = try world(["a", "b", "c", "d"])
        let program = try WebhookProgram(world)
        program.send { $0.attempts = 100 }
        for (key, answer) in zip(["a", "b", "c", "d"], answers) { program.answer(key, answer.0, wait: answer.1) }
        let wait = try entry(world).condition.wait?.remaining(at: world.now) ?? .zero
        #expect(wait >= .milliseconds(least) && wait <= .milliseconds(most), "\(wait)")
        #expect(program.results.isEmpty, "requests run")
    }

    @Test func `What an endpoint asked for outlives the answers to earlier requests`() throws {
        for (first, wait, second) in [(503, "600", nil), (429, "600", 500), (410, nil, 204), (410, nil, nil)]
            as [(Int, String?, Int?)]
        {
            let world = try world(["a", "b", "c"])
            let program = try WebhookProgram(world)
            program.send { $0.attempts = 1 }
            program.answer("a", first, wait: wait)
            program.answer("b", second)
            program.stop()
            #expect(try entry(world).condition.isSuspended == (first == 410), "\(first), \(second ?? 0)")
            let next = try WebhookProgram(world)
            next.send { ($0.attempts, $0.longestWait) = (1, .zero) }
            #expect(next.keys.isEmpty, "\(first), \(second ?? 0)")
        }
    }

    @Test func `Two programs share what waits, and one takes over what the other leaves`() throws {
        let world = try world(["a", "b", "c", "d", "e", "f", "g", "h", "i"])
        let (one, two) = (try WebhookProgram(world), try WebhookProgram(world))
        one.send()
        two.send()
        #expect(one.keys == ["a", "b", "c", "d"] && two.keys == ["e", "f", "g", "h"])
        two.answer("e", 200)
        #expect(two.keys == ["f", "g", "h", "i"])
        for key in ["f", "g", "h", "i"] { two.answer(key, 200) }
        // What another program holds is none of its own.
        #expect(two.results.map(\.delivered) == [5] && two.results.map(\.left) == [4])
        #expect(two.results.first?.obstacles.isEmpty == true)
        try world.index.owners.dismissOwner(one.owner, now: world.now)
        two.send()
        #expect(two.keys == ["a", "b", "c", "d"])
        // Late answers for requests that were lost: an arrival counts once, a refusal not at all.
        one.answer("a", 200)
        two.answer("a", 200)
        #expect(try entry(world).delivered == 6 && entry(world).waiting == 3)
        one.answer("b", 404)
        two.answer("c", 200)
        let kept = try world.rows.deliveries(try entry(world).id, in: .waiting, after: nil, limit: 9)
        #expect(kept.map(\.refusals) == [0, 0] && kept.map(\.event.key) == ["b", "d"])
        two.answer("b", 200)
        two.answer("d", 200)
        let last = try entry(world)
        #expect((last.waiting, last.delivered, last.created) == (0, 9, 9))
    }

    @Test func `A program that stops cancels its requests, and the next one repeats them`() throws {
        let world = try world(["a", "b", "c"])
        let program = try WebhookProgram(world)
        program.send()
        program.answer("b", 500)
        let open = program.open
        program.stop()
        #expect(program.hasStopped && program.cancelled == open.map(\.id))
        #expect(program.results.map(\.left) == [3] && program.results.map(\.requests) == [3])
        #expect(program.results.first?.obstacles.map(\.error.code) == [.status(500)])
        #expect(try world.count("webhook_delivery", "owner_id IS NOT NULL") == 0)
        // Replies to a program that has stopped change nothing.
        for request in open { program.answer(request.id, 200) }
        #expect(try entry(world).waiting == 3 && entry(world).delivered == 0)
        #expect(try world.send()?.delivered == 3)
        let again = Set(world.arrivals.map(\.id))
        #expect(open.allSatisfy { again.contains($0.headers["webhook-id"] ?? "") })
    }

    @Test func `An endpoint that is removed while requests run takes no answer`() throws {
        let world = try world(["a", "b"])
        let program = try WebhookProgram(world)
        program.send()
        try world.follow([("https://b.example/", WebhookKind.allCases)])
        try world.fail("c")
        program.answer("a", 200)
        program.answer("b", 404)
        #expect(program.keys == ["c"], "an order for all sends to what there is")
        program.answer("c", 200)
        let entry = try entry(world)
        #expect((entry.created, entry.delivered, entry.condition.failures) == (1, 1, 0))
        #expect(program.results.map(\.left) == [0] && program.results.map(\.requests) == [3])
        #expect(try world.count("webhook_event") == 0)
    }

    @Test func `What is being sent is not given up, and what was given up takes no answer`() throws {
        let world = try world(["a", "b", "c", "d", "e", "f"])
        let program = try WebhookProgram(world)
        program.send()
        #expect(try world.rows.expire(before: world.now + .seconds(1), limit: 0) == 2)
        #expect(try entry(world).waiting == 4 && entry(world).expired == 2)
        program.answer("a", 200)
        #expect(program.keys == ["b", "c", "d"])
        // Its owner's row is gone, and so is what protects it.
        try world.index.owners.dismissOwner(program.owner, now: world.now)
        #expect(try world.rows.expire(before: world.now + .seconds(1), limit: 100) == 3)
        program.answer("b", 200)
        let entry = try entry(world)
        #expect((entry.created, entry.waiting, entry.delivered, entry.expired) == (6, 0, 1, 5))
    }

    @Test func `Two orders count what they share, and the patient one goes on`() throws {
        let world = try world(["a", "b"])
        let program = try WebhookProgram(world)
        program.send { ($0.id, $0.attempts, $0.longestWait) = (1, 1, .zero) }
        program.send { ($0.id, $0.attempts) = (2, 100) }
        program.answer("a", 200)
        program.answer("b", 503)
        #expect(program.results.map(\.requests) == [2] && program.results.map(\.delivered) == [1])
        world.clock.advance(to: world.clock.boot() + .seconds(2))
        program.send { ($0.id, $0.longestWait) = (3, .zero) }
        #expect(program.keys == ["b"])
        program.answer("b", 200)
        #expect(
            program.results.count == 3 && program.results.dropFirst().allSatisfy { $0.delivered >= 1 && $0.left == 0 })
    }
}
