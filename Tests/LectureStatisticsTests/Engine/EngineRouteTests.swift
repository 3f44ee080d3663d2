import LectureFormats
import LectureModel
import LectureStatistics
import LectureStore
import LectureTestSupport
import Testing

/// Where requests go, what they carry, and what happens to superseded reports.
struct EngineRouteTests {
    private static func secret(_ settings: inout TargetSettings) {
        settings.headers = ["Authorization": "Bearer secret", "Idempotency-Key": "mine"]
    }

    @Test func `a redirect on the same host is followed at once under the same id`() throws {
        let world = try SendWorld(Self.secret)
        try world.add("a")
        world.lms.behave { request, _ in
            request.url.hasSuffix("/new") ? .good : .answer(308, headers: [("Location", "https://lms.example/new")])
        }
        let summary = try world.send()
        #expect(summary.delivered == 1 && summary.requests == 2)
        let requests = world.lms.requests
        #expect(requests.map(\.id) == ["a", "a"])
        #expect(requests.map(\.url) == [SendWorld.url, "https://lms.example/new"])
        #expect(requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
        #expect(requests[0].wire == requests[1].wire)
    }

    @Test func `credentials go to no other origin, also when the redirect is followed`() throws {
        let world = try SendWorld(target: .init(url: "http://lms.example/in", format: .json), Self.secret)
        try world.add("a")
        world.lms.behave { request, _ in
            request.url.hasPrefix("https") ? .good : .answer(301, headers: [("Location", SendWorld.url)])
        }
        #expect(try world.send().delivered == 1)
        #expect(world.lms.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
    }

    @Test func `elsewhere nothing is sent`() throws {
        let world = try SendWorld(Self.secret)
        try world.add("a")
        world.lms.answer(302, headers: [("Location", "https://evil.example/in")])
        #expect(try world.send().left == 1)
        #expect(world.lms.requests.allSatisfy { $0.url == SendWorld.url })
    }

    @Test func `a target that refuses encoded bodies gets plain ones under another id`() throws {
        let world = try SendWorld { settings in
            settings.encoding = "gzip"
            settings.limits.count = 10
        }
        try world.add(100)
        world.lms.behave { request, _ in request.headers["Content-Encoding"] == nil ? .good : .answer(415) }
        let summary = try world.send()
        #expect(summary.delivered == 100 && summary.refused == 0 && summary.requests < 10 + 8)
        #expect(world.lms.breaches.isEmpty && world.disorder().isEmpty)
        #expect(world.lms.requests.contains { $0.headers["Content-Encoding"] == "gzip" })
    }

    @Test func `encoded bodies are stored as they went out`() throws {
        let world = try SendWorld { $0.encoding = "gzip" }
        try world.add(30)
        world.lms.behave { _, _ in .failure(56, takesEffect: true) }
        try world.send()
        try world.restart()
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 30)
        #expect(world.lms.breaches.isEmpty && world.lms.effects.count == 30)
        #expect(world.lms.requests.allSatisfy { $0.headers["Content-Encoding"] == "gzip" })
    }

    @Test func `one report refused as encoded is sent plain under another id`() throws {
        let world = try SendWorld { $0.encoding = "gzip" }
        try world.add("a")
        world.lms.behave { request, _ in request.headers["Content-Encoding"] == nil ? .good : .answer(415) }
        #expect(try world.send().delivered == 1)
        #expect(world.lms.breaches.isEmpty && world.lms.requests.map(\.id) == ["a", "request-1"])
    }

    @Test func `an id that is invalid in a header is left out of it`() throws {
        let world = try SendWorld()
        for id in ["a b", "é", "x\r\nAuthorization: evil"] {
            try world.add(id)
            #expect(try world.send().delivered == 1)
            let request = try #require(world.lms.requests.last)
            #expect(request.events == [id] && request.id.hasPrefix("request-"))
            #expect(request.headers.elements.allSatisfy { !$0.value.contains("evil") })
        }
    }

    @Test func `a dead letter resent with a corrected time has another id`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.answer(422, headers: [("Date", "Fri, 20 Nov 2026 09:00:00 GMT")])
        #expect(try world.send().refused == 1)
        let revived = try world.process.index.transaction {
            try $0.outbox.upkeep.revive(ReportSelection(), now: world.clock.now())
        }
        #expect(revived == 1)
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 1)
        #expect(world.lms.breaches.isEmpty && world.lms.effects == ["a"])
        #expect(world.lms.requests.map(\.id) == ["a", "request-1"])
    }

    @Test func `an erasure during a request cancels that request, and no other learner's`() throws {
        let world = try SendWorld()
        try world.add("a")
        try world.add("b", user: "lee")
        world.lms.answer(422)
        world.begin()
        world.run(for: .seconds(1)) { _ in !world.lms.requests.isEmpty }
        _ = try world.process.index.transaction { try $0.outbox.erasure.erase(user: "kim", isForced: true) }
        #expect(world.run { !$0.process.ends.isEmpty })
        #expect(try world.state("a") == nil && world.state("b") == .dead && world.isConserved())
        #expect(world.process.failures == 0 && world.lms.breaches.isEmpty)
    }

    // MARK: Formats

    @Test func `a batch has the documented form`() throws {
        let world = try SendWorld()
        try world.add("a", values: .object([JSONMember("n", .integer(7))])) { $0.note = "by hand" }
        try world.add("b")
        #expect(try world.send().delivered == 2)
        let request = try #require(world.lms.requests.first)
        #expect(request.method == "POST" && request.mediaType == "application/json")
        let time = try #require(request.json?["events"]?.elements?.first?["time_ms"]?.integer)
        #expect(
            request.text == """
                {"batch_id":"\(request.id)","events":[{"event_id":"a","user":"kim","session":"s","seq":1,\
                "time_ms":\(time),"note":"by hand","report":{"n":7}},{"event_id":"b","user":"kim","session":"s",\
                "seq":2,"time_ms":\(time),"report":{"n":1}}]}
                """)
    }

    @Test func `statements go to the statements resource of an LRS, and a known one does not lose others`() throws {
        let id = (0..<3).map { "018f0000-0000-7000-8000-00000000000\($0)" }
        let world = try SendWorld(target: .init(url: "https://lrs.example/xAPI/?tenant=1", format: .xapi))
        for id in id { try world.add(id) }
        world.lms.behave { request, _ in
            guard request.events.contains(id[1]) else { return .answer(200, "[]") }
            return .answer(409, "conflict", takesEffect: request.events == [id[1]])
        }
        let summary = try world.send()
        #expect(summary.delivered == 3 && summary.refused == 0)
        #expect(Set(world.lms.effects) == Set(id))
        let request = try #require(world.lms.requests.first)
        #expect(request.url == "https://lrs.example/xAPI/statements?tenant=1")
        #expect(request.headers["X-Experience-API-Version"] == "1.0.3")
        #expect(request.json?.elements?.first?["id"]?.string == id[0])
    }

    @Test func `a channel gets its own parameters, one report a request, as a form or a query`() throws {
        let parameters: [ReportRecord.Target.Parameter] = [
            .init(name: "data", template: "{JSON_DATA}"), .init(name: "PT", template: "{PLAY_TIME} s"),
        ]
        let values = JSONValue.object([JSONMember("content_info", .object([JSONMember("playtime", .integer(45))]))])
        for method in ["POST", "GET"] {
            let target = ReportRecord.Target(
                url: "https://lms.example/k?x=1", method: method, format: .kollus, parameters: parameters)
            let world = try SendWorld(target: target)
            try world.add("a", values: values)
            try world.add("b", values: values)
            #expect(try world.send().delivered == 2)
            let form = "data=%7B%22content_info%22%3A%7B%22playtime%22%3A45%7D%7D&PT=45+s"
            for request in world.lms.requests {
                #expect(request.method == method)
                #expect(request.url == "https://lms.example/k?x=1" + (method == "GET" ? "&\(form)" : ""))
                #expect(request.text == (method == "GET" ? "" : form))
            }
            #expect(world.lms.requests.map(\.id) == ["a", "b"])
        }
    }

    // MARK: Session queues

    @Test func `the newest cumulative report replaces the older ones, and they count again when it is refused`()
        throws
    {
        let world = try SendWorld()
        for number in 0..<5 { try world.add("c\(number)", isCumulative: true) }
        try world.add("plain")
        world.lms.behave { request, _ in request.events.contains("c4") ? .answer(422) : .good }
        let summary = try world.send()
        #expect(try world.state("c4") == .dead && world.state("c3") == .delivered)
        #expect(try world.state("plain") == .delivered)
        #expect(try world.count(.superseded) == 3 && world.isConserved())
        #expect(summary.delivered == 2 && summary.refused == 1 && summary.superseded == 3 && summary.left == 0)
    }

    @Test func `open reports go to another target, possibly delivered ones under the same id`() throws {
        let world = try SendWorld()
        try world.add(150)
        world.lms.behave { _, _ in .failure(28) }
        try world.send()
        let held = Set(world.lms.requests.map(\.id))
        let other = ReportRecord.Target(url: "https://second.example/in", format: .json)
        let target = try world.process.index.transaction { try $0.outbox.target(other) }
        try world.restart()
        world.lms.forget()
        world.lms.behave { _, _ in .good }
        let summary = try world.send { $0.target = target }
        #expect(summary.delivered == 150 && summary.left == 0)
        #expect(world.lms.requests.allSatisfy { $0.url == other.url })
        #expect(held.isSubset(of: world.lms.requests.map(\.id)))
        #expect(world.lms.breaches.isEmpty && world.disorder().isEmpty && world.lms.effects.count == 150)
    }

    /// An LMS that refuses what is more than its limit in a second, of the virtual clock.
    @Test(arguments: [5, 50]) func `the default pace finds the limit of a target`(limit: Int) throws {
        let world = try SendWorld {
            $0.limits.count = 1
            $0.pace = .reports
        }
        try world.add(30 * limit)
        let counts = Guarded((second: Int64(-1), count: 0, refused: 0))
        world.lms.behave { request, _ in
            let isOver = counts.withLock { counts in
                let second = request.started.nanoseconds / 1_000_000_000
                counts = (second, counts.second == second ? counts.count + 1 : 1, counts.refused)
                if counts.count > limit { counts.refused += 1 }
                return counts.count > limit
            }
            return isOver ? .answer(429, "slower, please") : .good
        }
        let started = world.clock.boot()
        let summary = try world.send { $0.attempts = 1000 }
        #expect(summary.delivered == 30 * limit && summary.refused == 0 && summary.left == 0)
        #expect(world.lms.breaches.isEmpty && world.lms.repeats == 0 && world.disorder().isEmpty)
        #expect((3...16).contains(world.lms.network.mostRunning), "it has grown, and not beyond the most")
        #expect(world.lms.requests.prefix(3).map(\.started).filter { $0 == started }.count <= 2)
        #expect(counts.withLock(\.refused) < 10 * limit)
        #expect(world.clock.boot() - started < .seconds(75), "less than half of what it serves was left unused")
    }

    @Test func `requests start while others are in flight`() throws {
        let world = try SendWorld { $0.limits.count = 5 }
        try world.add(200)
        #expect(try world.send().delivered == 200)
        #expect(world.lms.network.mostRunning == 4 && world.disorder().isEmpty)
    }

    @Test func `a second run joins the first one`() throws {
        let world = try SendWorld { $0.limits.count = 5 }
        try world.add(100)
        world.begin()
        world.run { _ in world.lms.effects.count > 20 }
        world.begin()
        #expect(world.run { _ in world.process.ends.count == 2 })
        #expect(world.process.ends[0].delivered == 100 && world.process.ends[1].delivered < 100)
        #expect(world.lms.effects.count == 100 && world.lms.repeats == 0)
    }

    // MARK: Time

    @Test func `the time of a server corrects the time of reports`() throws {
        let world = try SendWorld { $0.limits.count = 1 }
        world.clock.setWall(Timestamp(milliseconds: 1_000_000))
        world.wait(.seconds(100))
        try world.add("a")
        try world.add("b", user: "lee")
        world.lms.answer(204, headers: [("Date", "Fri, 20 Nov 2026 09:00:00 GMT")])
        try world.send()
        let times = try world.numbers("corrected_ms FROM report WHERE corrected_ms IS NOT NULL")
        let server: Int64 = 1_795_165_200_000
        #expect(times.count == 2 && times.allSatisfy { abs($0 - server) < 1000 })
    }

    @Test func `a time over plain HTTP is no proof beside a target with HTTPS`() throws {
        let world = try SendWorld(target: .init(url: "http://lms.example/in", format: .json))
        try world.add("a")
        try world.add("b", user: "lee") { $0.target = .init(url: SendWorld.url, format: .json) }
        world.lms.behave { request, _ in
            let date =
                request.url.hasPrefix("https") ? "Fri, 20 Nov 2026 09:00:00 GMT" : "Tue, 01 Jan 2030 00:00:00 GMT"
            return .answer(204, headers: [("Date", date)])
        }
        try world.send()
        let times = try world.numbers("corrected_ms FROM report WHERE corrected_ms IS NOT NULL")
        #expect(times.count == 2 && times.allSatisfy { abs($0 - 1_795_165_200_000) < 1000 })
    }
}
