import LectureEngine
import LectureFormats
import LectureModel
import LectureTestSupport
import LectureWebhooks
import Testing

@testable import LectureStore

/// What follows from answers, in the store and over restarts.
struct WebhookAnswerTests {
    private static let url = "https://hooks.example/a"
    private static let start = Timestamp(milliseconds: 1_790_000_000_000)

    private func world(_ keys: [String], _ urls: [String] = [url]) throws -> WebhookWorld {
        let world = try WebhookWorld()
        try world.follow(urls.map { ($0, WebhookKind.allCases) })
        for key in keys { try world.fail(key) }
        return world
    }

    private func entry(_ world: WebhookWorld, _ number: Int = 0) throws -> WebhookEntry {
        try world.rows.endpoints()[number]
    }

    private func waiting(_ world: WebhookWorld) throws -> [WebhookDelivery] {
        try world.rows.deliveries(try entry(world).id, in: .waiting, after: nil, limit: 100)
    }

    private func once(_ order: inout WebhookOrder) { (order.attempts, order.longestWait) = (1, .zero) }

    private func automatic(_ order: inout WebhookOrder) {
        (order.attempts, order.longestWait, order.endsWaits) = (1, .zero, false)
    }

    // MARK: Each status

    @Test func `Every status from 200 to 599 leaves the rows that are promised`() throws {
        let world = try world(["a"])
        for status in 200...599 {
            world.answer = { _ in (status, nil) }
            let result = try #require(try world.send(once))
            let (entry, delivery) = (try entry(world), try waiting(world).first)
            let again = entry.condition.wait.map { $0.due }
            #expect(result.requests == 1 && result.left == entry.waiting, "\(status)")
            guard status >= 300 else {
                #expect(result.delivered == 1 && entry.condition.failures == 0 && again == nil && delivery == nil)
                try world.fail("a")
                continue
            }
            let code = status == 410 ? LectureError.Code.webhookGone : .status(status)
            #expect(result.obstacles.map(\.error.code) == [code] && result.obstacles.map(\.again) == [again])
            #expect(entry.condition.status == status && entry.condition.answered == world.now, "\(status)")
            #expect(delivery?.status == status && delivery?.attempts == status - 299, "\(status)")
            let isPatient = [408, 425, 429].contains(status) || status >= 500
            if status == 410 {
                #expect(entry.condition.isSuspended && entry.condition.failures == 0 && again == nil)
            } else {
                let wait = try #require(entry.condition.wait?.remaining(at: world.now))
                #expect(wait >= .milliseconds(500) && wait <= .seconds(1) && entry.condition.failures == 1, "\(status)")
            }
            let isRefused = !isPatient && status != 410
            #expect(delivery?.refusals == (isRefused ? 1 : 0) && (delivery?.wait != nil) == isRefused, "\(status)")
            _ = try world.rows.revive(entry.id)
        }
        #expect(try entry(world).delivered == 100)
    }

    @Test func `Ten refusals wait from half a minute to an hour, and keep back only what follows of the lecture`()
        throws
    {
        let world = try world(["a"])
        world.answer = { $0.body.contains(#""key":"a""#) ? (400, nil) : (200, nil) }
        for refusal in 1..<WebhookVerdict.refusalLimit {
            #expect(try world.send(once)?.requests == 1)
            let wait = try #require(try waiting(world).first?.wait)
            let longest = min(3600, 60 << (refusal - 1))
            let length = wait.due - wait.setAt
            #expect(length >= .milliseconds(longest * 500) && length <= .seconds(longest) && wait.setAt == world.now)
            // The next programs send what else there is, and not this one.
            try world.fail("a")
            try world.fail("b\(refusal)")
            world.clock.setWall(wait.due + .milliseconds(-1))
            let other = try #require(try world.send(once))
            #expect((other.requests, other.delivered, other.left) == (1, 1, refusal + 1))
            world.clock.setWall(wait.due)
        }
        let last = try #require(try world.send(once))
        #expect((last.dead, last.left) == (1, WebhookVerdict.refusalLimit - 1))
        #expect(
            last.obstacles.map(\.error.cause) == ["HTTP 400"] && last.obstacles.map(\.error.code) == [.webhookRefused])
        let dead = try world.rows.deliveries(try entry(world).id, in: .dead, after: nil, limit: 9)
        #expect(dead.map(\.refusals) == [10] && dead.map(\.event.id) == [1])
        // What kept it back is over, so that the next of the lecture goes out.
        world.clock.setWall(world.now + .seconds(1))
        #expect(try world.send(once)?.requests == 1)
        #expect(world.arrivals.last?.id != world.arrivals.first?.id)
    }

    // MARK: Waits over restarts

    @Test func `The waits of an endpoint grow over programs, and end with an answer`() throws {
        let world = try world(["a", "b"])
        world.answer = { _ in nil }
        for failure in 1...15 {
            #expect(try world.send(automatic)?.requests == (failure == 1 ? 2 : 1), "\(failure)")
            let entry = try entry(world)
            // Two requests have failed at once at first.
            let longest = min(3600, 1 << failure)
            let wait = try #require(entry.condition.wait)
            let length = wait.due - wait.setAt
            #expect(entry.condition.failures == failure + 1 && entry.condition.status == nil)
            #expect(length >= .milliseconds(longest * 500) && length <= .seconds(longest), "\(failure): \(length)")
            world.clock.setWall(wait.due + .milliseconds(-1))
            #expect(try world.send(automatic)?.requests == 0)
            world.clock.setWall(wait.due)
        }
        world.answer = { _ in (204, nil) }
        #expect(try world.send(automatic)?.delivered == 2)
        #expect(try entry(world).condition.failures == 0 && entry(world).condition.wait == nil)
    }

    /// A wait of ten minutes, the change of the clock since, and the requests of the next program.
    @Test(arguments: [
        (0, 0), (599, 0), (600, 1), (86_400, 1), (-1, 0), (-600, 0), (-601, 1), (-86_400, 1),
    ])
    func `A wait that was asked for ends with its time, or with a clock that cannot be`(change: Int, count: Int) throws
    {
        for status in [429, 503] {
            let world = try world(["a"])
            world.answer = { _ in (status, "600") }
            #expect(try world.send(once)?.obstacles.map(\.again) == [Self.start + .seconds(600)])
            world.clock.setWall(Self.start + .seconds(change))
            world.answer = { _ in (200, nil) }
            #expect(try world.send(once)?.requests == count, "\(status)")
            #expect(try world.send { $0.longestWait = .seconds(601) }?.left == 0)
        }
    }

    @Test(arguments: [("Mon, 21 Sep 2026 14:18:20 GMT", 300), ("300", 300), ("0", 1), ("-5", 1), ("later", 1)])
    func `A wait is stored as it was asked for, and never less than the own one`(wait: String, seconds: Int) throws {
        let world = try world(["a"])
        world.answer = { _ in (503, wait) }
        let again = try #require(try world.send(once)?.obstacles.first?.again)
        #expect(again <= Self.start + .seconds(seconds) && again >= Self.start + .milliseconds(seconds * 500))
        if seconds > 1 { #expect(again == Self.start + .seconds(seconds)) }
    }

    @Test func `An order tries as often as it may, and an arrival begins anew`() throws {
        for attempts in 1...6 {
            let world = try world(["a"])
            world.answer = { _ in (500, nil) }
            let result = try #require(
                try world.send { ($0.attempts, $0.longestWait) = (attempts, .seconds(3600)) })
            #expect((result.requests, result.left) == (attempts, 1))
            #expect(try entry(world).condition.failures == attempts && waiting(world).map(\.attempts) == [attempts])
        }
        let world = try world(["a", "a", "a", "a"])
        var count = 0
        world.answer = { _ in
            count += 1
            return (count.isMultiple(of: 3) ? 200 : 502, nil)
        }
        let result = try #require(try world.send { $0.attempts = 3 })
        #expect((result.requests, result.delivered, result.left) == (12, 4, 0) && result.obstacles.isEmpty)
    }

    // MARK: Several endpoints

    @Test func `Each endpoint has its own answers, and an event one id for all`() throws {
        let urls = [204, 500, 410, 404, 302].map { "https://h\($0).example/" }
        let keys = ["a", "b", "c"]
        let world = try world(keys, urls)
        world.answer = { (Int($0.url.dropFirst(9).prefix(3)) ?? 0, nil) }
        let result = try #require(try world.send(once))
        #expect((result.delivered, result.left, result.requests) == (3, 12, 15))
        #expect(result.obstacles.map(\.url) == Array(urls.dropFirst()))
        #expect(
            result.obstacles.map(\.error.code) == [.status(500), .webhookGone, .status(404), .status(302)])
        for url in urls {
            let sent = world.arrivals.filter { $0.url == url }
            #expect(sent.map(\.id) == world.arrivals.prefix(3).map(\.id) && sent.count == keys.count)
            #expect(sent.map(\.body) == world.arrivals.prefix(3).map(\.body), "\(url)")
        }
        #expect(try world.rows.endpoints().map(\.condition.failures) == [0, 3, 0, 3, 3])
        #expect(try world.rows.endpoints().map(\.condition.isSuspended) == [false, false, true, false, false])
        // What one has not taken stays stored until it has.
        #expect(try world.count("webhook_event") == 3 && world.count("webhook_delivery") == 12)
        for entry in try world.rows.endpoints() { _ = try world.rows.revive(entry.id) }
        world.answer = { _ in (200, nil) }
        #expect(try world.send()?.delivered == 12)
        #expect(try world.count("webhook_event") == 0 && world.rows.endpoints().map(\.delivered) == [3, 3, 3, 3, 3])
    }

    @Test func `What happens while an endpoint is off waits, and is given up by age and number like the rest`() throws {
        let world = try world(["a"])
        world.answer = { _ in (410, nil) }
        try world.send(once)
        for number in 0..<9 {
            world.clock.setWall(Self.start + .seconds(10 * number + 10))
            try world.fail("k\(number)")
        }
        for change in [once, automatic] {
            let result = try #require(try world.send(change))
            #expect((result.requests, result.left) == (0, 10) && result.obstacles.map(\.error.code) == [.webhookGone])
        }
        #expect(try world.rows.expire(before: Self.start + .seconds(30), limit: 5) == 5)
        #expect(try entry(world).expired == 5 && entry(world).condition.isSuspended)
        #expect(try waiting(world).map(\.event.key) == (4..<9).map { "k\($0)" })
        try world.follow([(Self.url, [.reportDead])])
        try world.fail("late")
        world.answer = { _ in (200, nil) }
        #expect(try world.send()?.delivered == 5)
        #expect(world.arrivals.count == 6 && world.arrivals.last?.body.contains("k8") == true)
    }

    // MARK: Programs that end

    @Test func `A program that is killed after any request leaves nothing claimed and nothing out of order`() throws {
        for limit in 0...8 {
            let world = try world(["a", "a", "b", "a", "c", "d", "e"])
            #expect(try world.send(killedAfter: limit) == nil || limit > 7)
            #expect(try world.count("webhook_delivery", "owner_id IS NOT NULL") == 0)
            let (first, left) = (world.arrivals, try entry(world).waiting)
            let last = try #require(try world.send())
            #expect(last.delivered == left && last.left == 0, "\(limit)")
            let repeated = world.arrivals.dropFirst(first.count).filter { again in first.contains { $0.id == again.id }
            }
            #expect(repeated.count <= WebhookMachine.window && Set(world.arrivals.map(\.id)).count == 7, "\(limit)")
            for again in repeated { #expect(first.contains { $0.id == again.id && $0.body == again.body }) }
            var ids: [String] = []
            for arrival in world.arrivals where arrival.body.contains(#""key":"a""#) {
                if !ids.contains(arrival.id) { ids.append(arrival.id) }
            }
            #expect(ids.compactMap { Int($0.split(separator: "-")[1]) } == [1, 2, 4], "\(limit)")
        }
    }
}
