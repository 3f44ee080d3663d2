import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import LectureStore
import LectureTestSupport
import Testing

/// Batch renewals against servers with any behaviour, on a real store in virtual time.
struct EngineRenewalTests {
    private func names(_ count: Int) -> [String] { (0..<count).map { "k\(100_000 + $0)" } }

    private static let end = Timestamp(milliseconds: 1_861_919_999_000)

    @Test func `everything is renewed, ten a request, and reported once each`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(95))
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        let summary = try world.renew()
        #expect((summary.total, summary.renewed, summary.failed, summary.waiting) == (95, 95, 0, 0))
        #expect(world.server.requests.map(\.items.count) == Array(repeating: 10, count: 9) + [5])
        #expect(world.progress.map(\.current) == Array(1...95) && world.progress.allSatisfy { $0.count == 95 })
        #expect(Set(world.progress.map(\.key)).count == 95 && world.progress.allSatisfy { $0.error == nil })
        #expect(world.exchanges.count == 10 && world.server.breaches.isEmpty)
        let entry = try world.entry("k100000")
        #expect(entry.record?.policy.expiresAt == Self.end && entry.token.split(separator: ".").count == 3)
        #expect(entry.checked != nil && entry.attempts == 0 && entry.error == nil)
        #expect(try world.ledger.attempts(entry.key, limit: 5).map(\.outcome) == ["permitted"])
    }

    @Test func `a request describes the licence, and has a new session key each`() throws {
        let world = try LicenceWorld()
        try world.licensed("a") { entry in
            entry.record?.wasSeenExpired = true
            entry.record?.policy.checkAt = Timestamp(milliseconds: 1_000)
            entry.source.userValues = ["uservalue0": "x"]
        }
        try world.licensed("b") { $0.record?.policy.expiresAt = nil }
        _ = try world.renew()
        let items = try #require(world.server.requests.first?.items)
        let a = try #require(items.first { $0["media_content_key"]?.string == "a" })
        let b = try #require(items.first { $0["media_content_key"]?.string == "b" })
        #expect(a["reset_req"]?.integer == 1 && a["content_expired"]?.integer == 1 && a["check_expired"]?.integer == 1)
        #expect(a["uservalues"]?["uservalue0"]?.string == "x" && a["client_user_id"]?.string == "learner")
        #expect(b["content_expired"]?.integer == 0 && b["expiration_date"]?.integer == 0)
        let sessions = items.compactMap { $0["session_key"]?.string }
        #expect(sessions.count == 2 && sessions[0] != sessions[1] && sessions.allSatisfy { $0.utf8.count == 32 })
        let shown = world.exchanges.map { $0.items + ($0.answer ?? "") }.joined()
        #expect(
            !sessions.contains { shown.contains($0) } && !shown.contains("session_key") && shown.contains("uservalue0"))
    }

    @Test func `a server that answers only the first of ten has everything renewed, and is asked one by one`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(200))
        world.server.behave { request, _ in .payload(FakeServer.permit(Array(request.items.prefix(1)))) }
        let summary = try world.renew()
        #expect(summary.renewed == 200 && summary.failed == 0)
        let sizes = world.server.requests.map(\.items.count)
        // Requests in flight when this was noticed may have several items; no later one has.
        #expect(sizes.filter { $0 > 1 }.count <= world.settings.pace.window.initial)
        #expect(sizes.suffix(100).allSatisfy { $0 == 1 })
    }

    @Test func `an unanswered item fails alone, and its licence stays as it is`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(20))
        world.server.behave { request, _ in
            .payload(FakeServer.permit(request.items.filter { $0["media_content_key"]?.string != "k100007" }))
        }
        let before = try world.entry("k100007")
        let summary = try world.renew()
        #expect(summary.renewed == 19 && summary.failed == 1)
        let failed = world.progress.filter { $0.error != nil }
        #expect(failed.map(\.key.text) == ["k100007"] && failed.first?.error?.code.number == -8682)
        let alone = world.server.requests.filter { $0.keys.contains("k100007") }.map(\.items.count)
        #expect(alone == [10, 1], "asked again once, alone")
        let after = try world.entry("k100007")
        #expect(after.record == before.record && after.token == before.token && after.error?.code == .answerMissing)
        #expect(try world.ledger.attempts(after.key, limit: 9).map(\.outcome) == ["missing", "missing"])
    }

    @Test func `refused and invalid answers fail only their item, and remove nothing`() throws {
        let world = try LicenceWorld()
        try world.licensed(["a", "b", "c", "d"]) { entry, _ in entry.record?.policy.countLimit = 5 }
        world.server.behave { request, _ in
            let answers = request.items.map { item -> String in
                let key = item["media_content_key"]?.string ?? ""
                switch key {
                case "a": return FakeServer.answer(key, kind: 3, #""result":0,"message":"no more""#)
                case "b": return FakeServer.answer(key, kind: 3, #""result":1,"expiration_count":"5""#)
                case "c":
                    return FakeServer.answer(key, kind: 3, #""result":1,"content_expire_reset":1"#, session: "other")
                default: return FakeServer.answer(key, kind: 3, #""result":1"#)
                }
            }
            return .payload(#"{"data":[\#(answers.joined(separator: ","))]}"#)
        }
        let before = try ["a", "b", "c"].map { try world.record($0) }
        let summary = try world.renew()
        #expect((summary.renewed, summary.failed) == (1, 3))
        let errors = Dictionary(world.progress.map { ($0.key.text, $0.error?.code.number) }) { first, _ in first }
        #expect(errors == ["a": -8657, "b": -8636, "c": -8681, "d": nil])
        #expect(world.progress.first { $0.key.text == "a" }?.error?.cause == "no more")
        #expect(try ["a", "b", "c"].map { try world.record($0) } == before)
        #expect(try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store)).isIntact)
    }

    @Test func `a forced end is stored before it is reported, and a deletion reported when the file is gone`() throws {
        let world = try LicenceWorld()
        try world.licensed(["ends", "goes"])
        world.server.behave { request, _ in
            let answers = request.keys.map { key in
                FakeServer.answer(
                    key, kind: 3,
                    key == "ends"
                        ? #""result":1,"content_expired":1"# : #""result":1,"content_delete":1,"message":"bye""#)
            }
            return .payload(#"{"data":[\#(answers.joined(separator: ","))]}"#)
        }
        world.engine.renew(.all)
        world.run { world in
            let reported = world.events.contains(.licenceEnded(ContentKey(stored: "ends")))
            if reported { #expect((try? world.record("ends").isForceExpired) == true) }
            return !world.summaries.isEmpty
        }
        let errors = Set(world.progress.map { $0.error?.code.number })
        #expect(errors == [-8658, -8680])
        #expect(try world.record("goes").isDeleted)
        #expect(try world.engine.judge(ContentKey(stored: "goes"), forPlay: true).reasons.first == .deleted)
        let isReported = { (world: LicenceWorld) in world.events.contains(.licenceDeleted(ContentKey(stored: "goes"))) }
        #expect(!isReported(world), "the file is still there")
        #expect(
            try world.index.contents.item(#require(world.contents.ids[ContentKey(stored: "goes")]))?.targetState
                == .remove)
        world.engine.contentRemoved(ContentKey(stored: "goes"))
        #expect(world.run(until: isReported))
        #expect(world.exchanges.last?.answer?.contains("bye") == true, "the server's message")
    }

    @Test func `one item that breaks a server does not spoil the nine beside it`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(30))
        world.server.behave { request, _ in
            request.keys.contains("k100004")
                ? .body("oops", status: 500) : .payload(FakeServer.permit(request.items))
        }
        let summary = try world.renew()
        #expect(summary.renewed == 29 && summary.failed == 1)
        #expect(world.progress.filter { $0.error != nil }.map(\.key.text) == ["k100004"])
        #expect(world.progress.compactMap(\.error?.code.number) == [-9500])
    }

    @Test(arguments: [
        (ServerAction.body("<html>welcome to our network</html>"), -8634), (.body(""), -8651),
        (.payload(#"{"dat":[]}"#), -8635), (.failure(curl: 7), -9007), (.body("", status: 404), -9404),
        (.silence, -9028),
    ])
    func `a server that never answers is abandoned, and every licence stays`(action: ServerAction, code: Int) throws {
        let world = try LicenceWorld()
        try world.licensed(names(300))
        world.server.behave { _, _ in action }
        let summary = try world.renew()
        #expect(summary.renewed == 0 && summary.failed == 300)
        #expect(world.progress.allSatisfy { $0.error?.code.number == code })
        #expect(world.server.requests.count < 100, "a dead server is not asked for each")
        #expect(try world.record("k100000").policy.expiresAt == Timestamp(milliseconds: 1_749_999_940_000))
        // The next run tries it again.
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        #expect(try world.renew().renewed == 300)
    }

    @Test func `a missing key ends the run without repeated requests`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(20)) { entry, _ in entry.source.keyID = "unknown" }
        let summary = try world.renew()
        #expect(summary.failed == 20 && world.server.requests.count == 2)
        #expect(Set(world.progress.map { $0.error?.code }) == [.licenceKeyMissing])
    }

    @Test func `a server that asks to wait gets no requests for that long, in both forms`() throws {
        for usesDate in [false, true] {
            let world = try LicenceWorld()
            try world.licensed(names(40))
            let date = HTTPDate(world.clock.now() + .seconds(60)).headerValue
            let until = BootInstant(nanoseconds: 60_000_000_000)
            let clock = world.clock
            world.server.behave { request, _ in
                clock.boot() < BootInstant(nanoseconds: 50_000_000_000)
                    ? .body("", status: 429, headers: [("Retry-After", usesDate ? date : "60")])
                    : .payload(FakeServer.permit(request.items))
            }
            #expect(try world.renew().renewed == 40)
            let started = world.server.requests.map(\.started)
            let firstAnswer = BootInstant(nanoseconds: 100_000_000)
            #expect(started.allSatisfy { $0 < firstAnswer || $0 >= until })
            #expect(started.contains { $0 >= until })
        }
    }

    @Test func `a run ends unfinished instead of waiting for days, and the next one continues`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(40))
        let clock = world.clock
        world.server.behave { request, _ in
            clock.boot() < BootInstant(nanoseconds: 3_600_000_000_000)
                ? .body("", status: 503, headers: [("Retry-After", "7200")])
                : .payload(FakeServer.permit(request.items))
        }
        let first = try world.renew(for: .seconds(60))
        #expect(first.waiting == 40 && first.renewed == 0 && !first.isContinued)
        let run = try #require(
            world.notices.compactMap { if case .renewalEnded(let run, _) = $0 { run } else { nil } }.last)
        #expect(try world.ledger.renewals.progress(run).nextDue != nil)
        world.clock.advance(to: BootInstant(nanoseconds: 7_300_000_000_000))
        let second = try world.renew(for: .seconds(60))
        #expect(second.renewed == 40 && second.total == 40 && second.isContinued)
        let started = world.notices.compactMap { notice in
            if case .renewalStarted(_, let isContinued) = notice { isContinued } else { nil }
        }
        #expect(started == [false, true])
        #expect(world.events.count { $0 == .renewalBegan(total: 40, done: 0) } == 2)
    }

    @Test func `servers do not wait for each other`() throws {
        let world = try LicenceWorld()
        for number in 0..<30 {
            try world.licensed("a\(number)", url: "https://dead.example/x")
            try world.licensed("b\(number)", url: "https://alive.example/x")
        }
        world.server.behave { request, _ in
            request.url.contains("dead") ? .silence : .payload(FakeServer.permit(request.items))
        }
        let summary = try world.renew()
        #expect(summary.renewed == 30 && summary.failed == 30)
        let renewed = world.progress.prefix(30)
        #expect(renewed.allSatisfy { $0.key.text.hasPrefix("b") && $0.error == nil })
    }

    @Test func `two processes share the items of a run`() throws {
        let world = try LicenceWorld { $0.lookAhead = 40 }
        try world.licensed(names(400))
        let other = try world.another()
        world.engine.renew(.all)
        other.engine.renew(.all)
        var ends = 0
        let isOver = world.run { world in
            let notices = other.step()
            ends += notices.count { if case .renewalEnded = $0 { true } else { false } }
            return ends > 0 && !world.summaries.isEmpty
        }
        #expect(isOver)
        let asked = world.server.requests.flatMap(\.keys)
        #expect(asked.count == 400 && Set(asked).count == 400, "nothing is asked for twice")
        #expect(world.summaries.last?.renewed == 400 && ends == 1)
        #expect(world.progress.count < 400 && world.progress.count > 0)
    }

    @Test func `a stop releases all items, and the next process continues`() throws {
        let world = try LicenceWorld()
        try world.licensed(names(200))
        world.engine.renew(.all)
        world.run { $0.progress.count >= 50 }
        world.engine.stop()
        let isStopped = { (world: LicenceWorld) in
            world.notices.contains { if case .stopped = $0 { true } else { false } }
        }
        #expect(world.run(until: isStopped))
        #expect(!world.engine.isBusy && world.server.network.nextDue == nil)
        let done = world.progress.count
        try world.restart()
        world.forget()
        let summary = try world.renew()
        #expect(summary.renewed == 200 && world.progress.count == 200 - done)
        #expect(world.progress.first?.current == done + 1)
    }
}

extension LedgerFinding {
    var isIntact: Bool { if case .intact = self { true } else { false } }
}
