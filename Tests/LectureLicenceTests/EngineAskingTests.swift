import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

/// Grants before downloads, checks before plays, and pending callbacks.
struct EngineAskingTests {
    private func permitting(_ members: String) -> @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction {
        { request, _ in .payload(FakeServer.permit(request.items, members)) }
    }

    private func refusing(_ members: String = "") -> @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction {
        { request, _ in
            let answers = request.items.map { item in
                FakeServer.answer(
                    item["media_content_key"]?.string ?? "", kind: request.kind,
                    #""result":0,"message":"no"\#(members)"#,
                    session: item["session_key"]?.string)
            }
            return .payload(#"{"data":[\#(answers.joined(separator: ","))]}"#)
        }
    }

    // MARK: Grants

    @Test func `a download waits for its grant, and waiting ones share a request`() throws {
        let world = try LicenceWorld()
        let all = try (0..<12).map { try world.waiting("g\($0)") }
        world.server.behave(permitting(#""expiration_count":3,"check_abuse":1"#))
        #expect(try world.standing(of: all[0].key) == .due)
        #expect(try world.standing(of: ContentKey("unlicensed")) == .unneeded)
        for (content, key) in all { world.engine.requestGrant(content, key: key) }
        world.engine.requestGrant(all[0].content, key: all[0].key)
        #expect(world.run { $0.grants.count == 12 })
        #expect(world.server.requests.map(\.items.count) == [10, 2] && world.server.requests[0].kind == 1)
        #expect(world.grants.allSatisfy { $0.error == nil } && Set(world.grants.map(\.content)).count == 12)
        #expect(try world.standing(of: all[0].key) == .granted)
        let entry = try world.entry("g0")
        #expect(entry.record?.policy.countLimit == 3 && entry.record?.policy.checksEveryPlay == true)
        #expect(entry.granted != nil && entry.token.split(separator: ".").count == 3)
    }

    @Test func `a refusal is final, and nothing is granted`() throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.server.behave(refusing())
        world.engine.grant(content, key: key)
        #expect(world.run { !$0.grants.isEmpty })
        #expect(world.grants[0].error?.code.number == -8655 && world.grants[0].isFinal)
        #expect(world.grants[0].error?.cause == "no")
        #expect(try world.standing(of: key) == .due && world.entry("g").record == nil)
    }

    @Test(arguments: [
        (ServerAction.failure(curl: 6), -9006, false), (.body("", status: 500), -9500, false),
        (.body("", status: 404), -9404, true), (.body("x"), -8634, false), (.payload(#"{"data":[]}"#), -8682, true),
        (.payload(#"{"data":{"kind":1,"result":"1"}}"#), -8636, true), (.silence, -9028, false),
    ])
    func `without an answer there is no download, and the error says whether to ask again`(
        action: ServerAction, code: Int, isFinal: Bool
    ) throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.server.behave { _, _ in action }
        world.engine.grant(content, key: key)
        #expect(world.run { !$0.grants.isEmpty })
        #expect(world.grants[0].error?.code.number == code && world.grants[0].isFinal == isFinal)
        #expect((world.grants[0].retryAfter != nil) == !isFinal)
        #expect(try world.standing(of: key) == .due)
    }

    @Test func `a grant for a paused server is answered at once, with the time of the next request`() throws {
        let world = try LicenceWorld()
        let (one, other) = (try world.waiting("g1"), try world.waiting("g2"))
        world.server.behave { _, _ in .body("", status: 429, headers: [("Retry-After", "600")]) }
        world.engine.grant(one.content, key: one.key)
        #expect(world.run { $0.grants.count == 1 })
        world.engine.grant(other.content, key: other.key)
        #expect(world.run(for: .seconds(1)) { $0.grants.count == 2 })
        #expect(world.server.requests.count == 1 && world.grants[1].error?.code == .serverWait)
        let wait = try #require(world.grants[1].retryAfter)
        #expect(world.grants[1].answer == .postponed(LectureError(.serverWait), wait))
        #expect(wait > .seconds(590) && wait <= .seconds(600))
    }

    @Test func `a server that asked downloads to wait is not asked for licences either`() throws {
        let world = try LicenceWorld()
        let (one, other) = (try world.waiting("g1"), try world.waiting("g2"))
        let origin = try Origin(url: LicenceWorld.url)
        var (share, budgets) = (OriginShare(), OriginBudgets())
        share.waitUntil = world.clock.boot() + .seconds(600)
        budgets.add(share, at: origin)
        world.load(budgets)
        world.engine.grant(one.content, key: one.key)
        #expect(world.run(for: .seconds(1)) { $0.grants.count == 1 })
        #expect(world.server.requests.isEmpty && world.grants[0].error?.code == .serverWait)
        let wait = try #require(world.grants[0].retryAfter)
        #expect(world.grants[0].answer == .postponed(LectureError(.serverWait), wait))
        #expect(wait > .seconds(590) && wait <= .seconds(600))
        // Long transfers of the same server do not keep a licence waiting.
        (share.waitUntil, share.running) = (nil, 1000)
        budgets = OriginBudgets()
        budgets.add(share, at: origin)
        world.load(budgets)
        world.engine.grant(other.content, key: other.key)
        #expect(world.run { $0.grants.count == 2 } && world.server.requests.count == 1)
        #expect(world.grants[1].error?.code != .serverWait)
    }

    @Test func `a withdrawn source is forgotten, a granted licence is not`() throws {
        let world = try LicenceWorld()
        let (_, key) = try world.waiting("g")
        try world.change { try $0.recordSource(nil, of: key, in: $1) }
        #expect(try world.ledger.entry(key) == nil && world.standing(of: key) == .unneeded)
        try world.licensed("h")
        try world.change { try $0.recordSource(nil, of: ContentKey(stored: "h"), in: $1) }
        #expect(try world.record("h").form == .callback)
        world.settle()
        let anchor = try world.anchors.anchor(of: world.settings.store)
        #expect(try world.ledger.inspect(against: anchor).isIntact && anchor != nil)
    }

    @Test func `a rolled back transaction of downloads leaves no anchor ahead of the store`() throws {
        let world = try LicenceWorld()
        try world.licensed("other")
        let key = try world.content("g")
        struct Change: Error {}
        #expect(throws: Change.self) {
            try world.change {
                try $0.recordSource(LicenceSource(), of: key, in: $1)
                throw Change()
            }
        }
        world.settle()
        #expect(try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store)).isIntact)
    }

    @Test func `a step of downloads that changes licences ends with one row of the chain, and its anchor`() throws {
        let world = try LicenceWorld()
        let key = try world.content("g")
        world.settle()
        let before = try world.anchors.anchor(of: world.settings.store)?.revision ?? 0
        world.recordNext(LicenceSource(), of: key)
        let step = world.commit()
        guard case .keepAnchor(let anchor) = step.effects.last else {
            Issue.record("\(step.effects) keeps no anchor")
            return
        }
        #expect(step.effects.count == 1 && anchor.revision == before + 1)
        world.engine.perform(.keepAnchor(anchor))
        #expect(try world.ledger.entry(key) != nil && world.ledger.inspect(against: anchor).isIntact)
        world.settle()
        #expect(try world.anchors.anchor(of: world.settings.store) == anchor, "there is no second row")
    }

    @Test func `a step of downloads that fails changes no licence and leaves no anchor`() throws {
        let world = try LicenceWorld()
        try world.licensed("other")
        let key = try world.content("g")
        world.settle()
        world.recordNext(LicenceSource(), of: key, failing: LectureError(.storageFull))
        let step = world.commit()
        #expect(step.effects == [] && step.notices.isEmpty, "it is not a failure of the licences")
        #expect(world.downloadsFail && !world.engine.isFailing)
        #expect(try world.ledger.entry(key) == nil)
        #expect(try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store)).isIntact)
    }

    // MARK: Checks

    @Test func `a permitted check allows one play`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.checksEveryPlay = true
        }
        #expect(try world.engine.judge(key, forPlay: true).reasons == [.checkDue])
        world.server.behave(permitting(#""message":"enjoy""#))
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { !$0.checks.isEmpty })
        #expect(world.checks == [.permitted])
        #expect(world.server.requests[0].items[0]["reset_req"]?.integer == 0)
        #expect(try world.engine.judge(key, forPlay: true).isPlayable)
        #expect(try world.engine.takePlay(key).record?.countUsed == 1)
        #expect(throws: LectureError(.licenceCheckDue)) { try world.engine.takePlay(key) }
    }

    @Test func `a permission holds for a minute`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.checksEveryPlay = true
        }
        world.server.behave(permitting(#""message":"""#))
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { !$0.checks.isEmpty })
        world.clock.advance(to: world.clock.boot() + .seconds(61))
        #expect(try world.engine.judge(key, forPlay: true).reasons == [.checkDue])
    }

    @Test func `a check distinguishes a refusal from an unreachable server`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a")
        let before = try world.record("a")
        world.server.behave(refusing())
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { $0.checks.count == 1 })
        #expect(world.checks[0] == .refused(LectureError(.playRefused)))
        world.server.behave { _, _ in .silence }
        let asked = world.clock.boot()
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { $0.checks.count == 2 })
        #expect(world.checks[1] == .unreachable(LectureError(.callbackTransfer(28))))
        #expect(world.clock.boot() - asked <= .seconds(6), "a person waits no longer than was said")
        world.server.behave(permitting(#""expiration_count":"x""#))
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { $0.checks.count == 3 })
        #expect(world.checks[2] == .unreachable(LectureError(.answerInvalid)))
        #expect(try world.record("a") == before)
    }

    @Test func `a check goes before a batch of everything`() throws {
        let world = try LicenceWorld { $0.pace.window.initial = 2 }
        try world.licensed((0..<400).map { "k\($0)" })
        let key = try world.licensed("mine")
        world.engine.renew(.keys((0..<400).map { ContentKey(stored: "k\($0)") }))
        world.run { $0.progress.count >= 100 }
        world.engine.check(key, within: .seconds(5))
        let before = world.server.requests.count
        #expect(world.run { !$0.checks.isEmpty })
        let position = try #require(world.server.requests.firstIndex { $0.keys == ["mine"] })
        #expect(position - before <= 1)
    }

    @Test func `a forced end in a refusal is stored and reported`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        world.server.behave(refusing(#","content_expired":1"#))
        world.engine.check(key, within: .seconds(5))
        #expect(world.run { !$0.checks.isEmpty })
        #expect(world.checks == [.refused(LectureError(.playRefused))])
        #expect(throws: LectureError(.licenceForceExpired)) { try world.engine.takePlay(key) }
        #expect(world.events.contains(.licenceEnded(key)))
    }

    // MARK: Pending callbacks

    private func owing(_ world: LicenceWorld, _ name: String = "d") throws -> ContentKey {
        let key = try world.licensed(name) { $0.record?.policy.expiresAt = nil }
        try world.change { try $0.completed(key, now: world.clock.now(), in: $1) }
        return key
    }

    /// Whether no callback is pending after a while.
    private func paysAll(_ world: LicenceWorld) -> Bool {
        world.run(for: .seconds(4000)) { world in (try? world.ledger.pendingCallbacks(limit: 9).isEmpty) == true }
    }

    @Test func `a pending callback is retried until it is answered, over days and restarts`() throws {
        let world = try LicenceWorld()
        let key = try owing(world)
        world.server.behave { _, _ in .failure(curl: 7) }
        world.run(for: .seconds(86_400)) { _ in false }
        let tries = world.server.requests.count
        #expect((24...200).contains(tries), "an hour at the most, and not every second: \(tries)")
        #expect(world.server.requests.allSatisfy { $0.kind == 2 })
        #expect(try world.engine.judge(key, forPlay: true).isPlayable, "the lecture is usable")
        try world.restart()
        world.server.behave(permitting(#""check_expiration_date":1861919999"#))
        #expect(paysAll(world))
        #expect(try world.record("d").policy.checkAt != nil)
        #expect(world.exchanges.last?.kind == 2 && world.exchanges.last?.error == nil)
        #expect(!world.events.contains { if case .trouble(_) = $0 { true } else { false } })
    }

    @Test func `many pending callbacks share requests, and a missing answer is requested again alone`() throws {
        let world = try LicenceWorld()
        for number in 0..<25 { _ = try owing(world, "d\(number)") }
        world.server.behave { request, _ in .payload(FakeServer.permit(Array(request.items.prefix(1)), #""x":1"#)) }
        #expect(paysAll(world))
        #expect(world.server.requests[0].items.count == 10)
    }

    @Test func `a refused completion is recorded, not repeated, and locks only where configured`()
        throws
    {
        for isStrict in [false, true] {
            let world = try LicenceWorld { $0.isStrict = isStrict }
            let key = try owing(world)
            #expect(try world.engine.judge(key, forPlay: true).reasons == (isStrict ? [.checkDue] : []))
            world.server.behave(refusing())
            #expect(paysAll(world))
            world.settle(for: .seconds(10_000))
            #expect(world.server.requests.count == 1)
            #expect(world.events.contains(.trouble(LectureError(.completionRefused))))
            #expect(try world.ledger.attempts(key, limit: 9).first?.error?.code == .completionRefused)
            #expect(try world.engine.judge(key, forPlay: true).isPlayable == !isStrict)
        }
    }

    @Test func `a strict lecture is unlocked as soon as its server was notified`() throws {
        let world = try LicenceWorld { $0.isStrict = true }
        let key = try owing(world)
        world.server.behave(permitting(#""x":1"#))
        #expect(paysAll(world))
        #expect(try world.engine.takePlay(key).owesCompletion == false)
    }

    @Test func `a server may order the file deleted in answer to a completion`() throws {
        let world = try LicenceWorld()
        let key = try owing(world)
        world.server.behave(permitting(#""content_delete":1"#))
        #expect(paysAll(world))
        #expect(try world.record("d").isDeleted)
        #expect(try world.index.contents.item(#require(world.contents.ids[key]))?.targetState == .remove)
    }
}
