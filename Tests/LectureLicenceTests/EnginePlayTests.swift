import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

/// Plays, trusted time, anchors, and stores that were changed or put back.
struct EnginePlayTests {
    private func anchored(_ world: LicenceWorld) throws -> LedgerAnchor? {
        try world.anchors.anchor(of: world.settings.store)
    }

    // MARK: Plays

    @Test func `a play is counted and anchored before it begins`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.countLimit = 2
        }
        #expect(try world.engine.takePlay(key).record?.countLeft == 1)
        #expect(try world.ledger.inspect(against: anchored(world)).isIntact && anchored(world) != nil)
        #expect(try world.engine.takePlay(key).record?.countLeft == 0)
        #expect(throws: LectureError(.countUsedUp)) { try world.engine.takePlay(key) }
        #expect(try world.record("a").countUsed == 2)
    }

    @Test func `a play whose anchor cannot be kept is refused and given back`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        world.anchors.refuse(true)
        #expect(throws: LectureError(.anchorUnwritable)) { try world.engine.takePlay(key) }
        #expect(try world.record("a").countUsed == 0)
        world.anchors.refuse(false)
        #expect(try world.engine.takePlay(key).record?.countUsed == 1)
        #expect(try world.ledger.inspect(against: anchored(world)).isIntact)
    }

    @Test func `a play that obviously cannot be recorded is refused before it is taken`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        let before = try world.ledger.newestTime()
        world.anchors.obstruct(LectureError(.createFile, detail: "anchor"))
        #expect(try world.engine.judge(key, forPlay: false).reasons == [.anchorUnwritable])
        #expect(throws: LectureError(.anchorUnwritable)) { try world.engine.takePlay(key) }
        #expect(try world.ledger.newestTime() == before)
        world.anchors.obstruct(nil)
        #expect(try world.engine.takePlay(key).record?.countUsed == 1)
    }

    @Test func `the first row of a store follows its first anchor, and time of the device's other stores`() throws {
        let world = try LicenceWorld()
        world.anchors.set(nil, of: world.settings.store)
        let later = world.clock.now() + .seconds(86_400)
        world.anchors.set(
            LedgerAnchor(revision: 7, code: [], proven: later, estimate: later + .seconds(60)), of: "another")
        #expect(try world.engine.time().noEarlierThan == later + .seconds(60))
        world.anchors.refuse(true)
        #expect(throws: LectureError(.writeFile)) { try world.waiting("a") }
        #expect(try world.ledger.newestTime() == nil, "no grant is stored without an anchor")
        world.anchors.refuse(false)
        _ = try world.waiting("b")
        #expect(try world.anchors.anchor(of: world.settings.store) != nil)
        #expect(try world.ledger.newestTime() != nil)
    }

    @Test func `play time is counted in the unit of the policy`() throws {
        let world = try LicenceWorld()
        for (name, unit) in [("m", LicencePolicy.PlayTimeUnit.media), ("r", .running)] {
            let key = try world.licensed(name) { entry in
                entry.record?.policy.expiresAt = nil
                entry.record?.policy.playTimeLimit = .seconds(100)
                entry.record?.policy.playTimeUnit = unit
            }
            let left = try world.engine.addPlayTime(key, media: .seconds(60), running: .seconds(30))
            #expect(left == (unit == .media ? .seconds(40) : .seconds(70)))
            try world.engine.addPlayTime(key, media: .seconds(-5), running: .seconds(70))
            #expect(try world.record(name).playTimeLeft == (unit == .media ? .seconds(40) : .zero))
        }
        #expect(try world.engine.judge(ContentKey("r"), forPlay: true).reasons == [.playTimeUsedUp])
    }

    @Test func `a licence once seen past its end stays ended, whatever the clock shows then`() throws {
        let world = try LicenceWorld()
        let start = world.clock.now()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = start + .seconds(100) }
        #expect(try world.engine.judge(key, forPlay: true).isPlayable)
        world.clock.advance(to: BootInstant(nanoseconds: 200_000_000_000))
        #expect(try world.engine.judge(key, forPlay: false).reasons == [.expired])
        #expect(try world.record("a").wasSeenExpired == false, "looking is not playing")
        #expect(throws: LectureError(.licenceExpired)) { try world.engine.takePlay(key) }
        #expect(try world.record("a").wasSeenExpired && world.record("a").countUsed == 0)
        world.clock.setWall(start)
        #expect(throws: (any Error).self) { try world.engine.takePlay(key) }
        #expect(try world.ledger.inspect(against: anchored(world)).isIntact)
    }

    @Test func `a lecture that is incomplete, unknown or without a licence does not play`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        world.contents.incomplete = [key]
        #expect(throws: LectureError(.notComplete)) { try world.engine.takePlay(key) }
        #expect(throws: LectureError(.notComplete)) { try world.engine.takePlay(ContentKey("nothing")) }
        let free = try world.content("free")
        #expect(try world.engine.takePlay(free).record == nil)
        let (content, waiting) = try world.waiting("waiting")
        #expect(throws: LectureError(.licenceMissing)) { try world.engine.takePlay(waiting) }
        try world.index.transaction { _ in
            try world.ledger.forget(waiting)
            _ = try world.ledger.append(TimeLedger(first: world.reading).row, source: .clocks)
            try world.ledger.contentKeys.add(
                content, WrappedKey(wrapped: Array(repeating: 1, count: 40), purpose: .licensed), now: world.clock.now()
            )
        }
        #expect(throws: LectureError(.licenceMissing), "its key was made for licensed media") {
            try world.engine.takePlay(waiting)
        }
    }

    // MARK: Time

    @Test func `a server's time over TLS counts, and a fresh answer without TLS ends a doubt only`() throws {
        for url in ["https://drm.example/x", "http://drm.example/x"] {
            let world = try LicenceWorld()
            let start = world.clock.now()
            let key = try world.licensed("a", url: url) { $0.record?.policy.expiresAt = start + .seconds(86_400) }
            world.clock.setWall(start + .seconds(-3600))
            #expect(throws: LectureError(.clockUntrusted)) { try world.engine.takePlay(key) }
            let date = HTTPDate(start + .seconds(5)).headerValue
            world.server.behave { request, _ in
                .payload(FakeServer.permit(request.items, #""message":"""#), headers: [("Date", date)])
            }
            world.engine.check(key, within: .seconds(5))
            #expect(world.run { !$0.checks.isEmpty })
            if url.hasPrefix("https") {
                #expect(try world.engine.takePlay(key).record?.countUsed == 1)
                #expect(try world.ledger.newestTime()?.proven.map { $0 >= start } == true)
            } else {
                #expect(try world.ledger.newestTime()?.proven == nil)
                #expect(try world.engine.time().noEarlierThan.map { $0 >= start } == true, "it does not go back")
            }
        }
    }

    @Test func `the issue time of a verified token is a lower bound, and nonsense is ignored`() throws {
        let world = try LicenceWorld()
        let start = world.clock.now()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = start + .seconds(86_400 * 30) }
        for (issued, proven) in [(start.milliseconds / 1000 + 86_400, true), (start.milliseconds, false)] {
            let before = try world.ledger.newestTime()?.proven
            world.server.behave { request, _ in
                let inner = FakeServer.permit(request.items, #""message":"""#).dropLast()
                return .payload(#"\#(inner),"iat":\#(issued)}"#)
            }
            let count = world.checks.count
            world.engine.check(key, within: .seconds(5))
            #expect(world.run { $0.checks.count > count })
            let after = try world.ledger.newestTime()?.proven
            #expect((after != before) == proven || !proven && after.map { $0 < start + .seconds(86_500) } == true)
        }
        #expect(try world.engine.judge(key, forPlay: true).isPlayable)
    }

    // MARK: Findings

    /// Copies a store, plays in the store, and restores the copy.
    private func rolledBack(_ change: (inout LicenceEntry) -> Void) throws -> (LicenceWorld, ContentKey) {
        let world = try LicenceWorld()
        let key = try world.licensed("a", change)
        _ = try world.engine.takePlay(key)
        let (old, anchor) = (try world.entry("a"), try anchored(world))
        _ = try world.engine.takePlay(key)
        // The rows that a copy would restore, and the anchor of the newer store.
        let newest = try #require(try anchored(world))
        #expect(newest != anchor)
        let path = "\(world.location.directory)/lecturekit.db"
        try Connection(path: path, access: .readWrite).run(
            script: """
                UPDATE licence SET count_used = \(old.record?.countUsed ?? 0);
                """)
        return (world, key)
    }

    @Test func `a tampered ledger accepts no licence until its server has answered`() throws {
        let (world, key) = try rolledBack { entry in
            entry.record?.policy.expiresAt = nil
        }
        try world.restart()
        world.settle()
        #expect(world.events.contains(.trouble(LectureError(.ledgerForged))))
        #expect(throws: LectureError(.ledgerForged)) { try world.engine.takePlay(key) }
        #expect(try world.standing(of: key) == .due)
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""message":"""#)) }
        #expect(try world.renew().renewed == 1)
        #expect(try world.engine.takePlay(key).suspicion == nil)
        try world.restart()
        #expect(try world.ledger.inspect(against: anchored(world)).isIntact, "the finding is over")
    }

    @Test func `used plays are restored neither by a changed ledger nor by a renewal, only by a reset`() throws {
        let (world, key) = try rolledBack { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.countLimit = 2
        }
        try world.restart()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""message":"""#)) }
        #expect(try world.renew().renewed == 1)
        #expect(throws: LectureError(.ledgerForged)) { try world.engine.takePlay(key) }
        world.server.behave { request, _ in
            .payload(FakeServer.permit(request.items, #""content_expire_reset":1"#))
        }
        #expect(try world.renew().renewed == 1)
        #expect(try world.engine.takePlay(key).record?.countLeft == 1)
    }

    @Test func `restoring an older store does not turn back the time`() throws {
        let world = try LicenceWorld()
        let start = world.clock.now()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = start + .seconds(1000) }
        _ = try world.engine.takePlay(key)
        let anchor = try #require(try anchored(world))
        world.anchors.set(
            LedgerAnchor(
                revision: anchor.revision + 500, code: anchor.code, proven: start + .seconds(5000),
                estimate: start + .seconds(5000)), of: world.settings.store)
        try world.restart()
        world.settle()
        #expect(world.events.contains(.trouble(LectureError(.storeRolledBack))))
        let reasons = try world.engine.judge(key, forPlay: true).reasons
        #expect(reasons == [.storeRolledBack, .clockUntrusted, .expired])
        let kept = try #require(try anchored(world))
        #expect(kept.revision > anchor.revision + 500 && kept.estimate.map { $0 >= start + .seconds(5000) } == true)
        #expect(try world.ledger.inspect(against: kept).isIntact)
    }

    @Test func `a process killed before storing its anchor causes no finding`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        _ = try world.engine.takePlay(key)
        world.anchors.refuse(true)
        try world.engine.addPlayTime(key, media: .seconds(1), running: .seconds(1))
        world.anchors.refuse(false)
        try world.restart()
        world.settle()
        #expect(!world.events.contains { if case .trouble(_) = $0 { true } else { false } })
        #expect(try world.engine.takePlay(key).record?.countUsed == 2)
    }

    @Test func `an anchor that could not be stored is stored later, and reported`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        _ = try world.engine.takePlay(key)
        world.anchors.refuse(true)
        _ = try world.renew()
        world.settle()
        let before = try anchored(world)
        #expect(world.events.contains(.trouble(LectureError(.writeFile))))
        world.anchors.refuse(false)
        _ = try world.renew()
        world.settle(for: .seconds(20))
        let after = try anchored(world)
        #expect(after?.revision ?? 0 > before?.revision ?? 0)
    }
}

extension LicenceWorld {
    /// A reading of both clocks.
    var reading: ClockReading { ClockReading(wall: clock.now(), boot: clock.boot(), bootID: settings.bootID) }
}
