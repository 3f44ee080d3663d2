import LectureCrypto
import LectureEngine
import LectureLicence
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// New grants for licences that are no longer believed, and stores of another device.
struct EngineRegrantTests {
    /// Licences of three plays each, of which one was taken, in a ledger that was rolled back.
    private func suspected(_ names: [String]) throws -> LicenceWorld {
        let world = try LicenceWorld()
        try world.licensed(names) { entry, _ in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.countLimit = 3
            entry.record?.countUsed = 1
        }
        try world.index.transaction { _ in
            try world.ledger.suspectAll(.rolledBack)
            _ = try world.ledger.append(TimeRow(reading: world.reading), source: .finding)
        }
        return world
    }

    private func regrant(_ world: LicenceWorld, _ selection: RenewalSelection = .all) throws -> RenewalReport {
        let count = world.summaries.count
        world.engine.renew(selection, .regrant)
        #expect(world.run { $0.summaries.count > count })
        return try #require(world.summaries.last)
    }

    private static let permit = #""expiration_count":3"#

    @Test func `every rejected licence is granted again, ten a request and without a session key`() throws {
        let names = (0..<25).map { "k\(100 + $0)" }
        let world = try suspected(names)
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, Self.permit)) }
        let summary = try regrant(world)
        #expect((summary.total, summary.renewed, summary.failed) == (25, 25, 0))
        #expect(summary.playable == 25 && summary.unbelieved.isEmpty)
        #expect(world.server.requests.map(\.items.count) == [10, 10, 5])
        #expect(world.server.requests.allSatisfy { $0.kind == 1 } && world.server.breaches.isEmpty)
        #expect(world.server.requests.flatMap(\.items).allSatisfy { $0["session_key"] == nil })
        let entry = try world.entry("k100")
        #expect(entry.suspicion == nil && entry.record?.countLeft == 3 && entry.granted != nil)
        #expect(try world.ledger.attempts(entry.key, limit: 5).map(\.kind) == [1])
        #expect(try world.engine.takePlay(entry.key).record?.countLeft == 2)
    }

    @Test func `an accepted licence is never granted again`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.countLimit = 1
        }
        _ = try world.engine.takePlay(key)
        for selection in [RenewalSelection.all, .keys([key]), .expired] {
            #expect(try regrant(world, selection).total == 0)
        }
        #expect(world.server.requests.isEmpty)
        #expect(throws: LectureError(.countUsedUp)) { try world.engine.takePlay(key) }
    }

    @Test func `a licence accepted again before its turn is not requested`() throws {
        let world = try suspected(["a"])
        // A run that was started and interrupted; a check with a reset came between.
        _ = try world.ledger.renewals.begin(.all, .regrant, now: world.clock.now())
        world.server.behave { request, _ in
            .payload(FakeServer.permit(request.items, #""content_expire_reset":1"#))
        }
        #expect(try world.renew().playable == 1)
        _ = try world.engine.takePlay(ContentKey("a"))
        #expect(try regrant(world).renewed == 1)
        #expect(world.server.requests.map(\.kind) == [3])
        #expect(try world.record("a").countUsed == 1, "what was used stays used")
    }

    @Test func `refused, unreadable or unanswered, a regrant changes nothing`() throws {
        let world = try suspected(["a"])
        let before = try world.entry("a")
        let refusal = #"{"data":[{"kind":1,"media_content_key":"a","result":0,"message":"no"}]}"#
        for action in [
            ServerAction.payload(refusal), .body("no token"), .failure(curl: 7), .payload(#"{"data":[]}"#),
        ] {
            world.server.behave { _, _ in action }
            let summary = try regrant(world)
            #expect((summary.renewed, summary.failed) == (0, 1))
            let after = try world.entry("a")
            #expect(after.record == before.record && after.suspicion == .rolledBack && after.token == before.token)
            #expect(after.granted == before.granted && after.error != nil)
        }
        // An answer to another question grants nothing.
        world.server.behave { _, _ in .payload(#"{"data":[{"kind":3,"media_content_key":"a","result":1}]}"#) }
        #expect(try regrant(world).renewed == 0)
        #expect(throws: LectureError(.storeRolledBack)) { try world.engine.takePlay(ContentKey("a")) }
    }

    @Test func `a lecture that this device cannot open is not requested`() throws {
        let world = try suspected(["a", "b"])
        world.contents.sealedElsewhere = [ContentKey(stored: "a")]
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, Self.permit)) }
        let summary = try regrant(world)
        #expect((summary.renewed, summary.failed, summary.playable) == (1, 1, 1))
        #expect(world.server.requests.flatMap(\.keys) == ["b"])
        #expect(world.progress.compactMap(\.error).map(\.code) == [.sealedElsewhere])
        #expect(try world.engine.judge(ContentKey("a"), forPlay: false).reasons.first == .storeCopied)
    }

    @Test func `a renewal reports lectures that still do not play, also when it was interrupted`() throws {
        let world = try suspected(["a", "b", "c"])
        try world.licensed("free") { $0.record?.policy.expiresAt = nil }
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""message":"""#)) }
        world.engine.renew(.all)
        #expect(world.run { !$0.progress.isEmpty })
        try world.restart()
        let summary = try world.renew()
        #expect((summary.renewed, summary.playable) == (4, 1))
        #expect(summary.unbelieved.map(\.text).sorted() == ["a", "b", "c"])
        world.forget()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, Self.permit)) }
        #expect(try regrant(world).playable == 3)
    }

    // MARK: Another device's store

    /// Another device's ledger on the store of a world.
    private func foreignStore(_ world: LicenceWorld) throws -> (LicenceEngine, SQLiteLicenceLedger, MemoryAnchors) {
        let index = try SQLiteDownloadIndex(opening: world.location, now: world.clock.now())
        let device = try DeviceKey.generate()
        let authenticator = try LedgerAuthenticator(device)
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: authenticator)
        let anchors = MemoryAnchors()
        var settings = world.settings
        settings.device = authenticator.device
        let contents = WorldContents(vault: DeviceVault(device))
        contents.ids = world.contents.ids
        let ports = LicenceEngine.Ports(
            store: index, contents: contents, transport: world.server, verifier: SecretVerifier(), anchors: anchors,
            clock: world.clock, random: world.randomness, offload: { $0() })
        let owner = try index.owners.registerOwner(pid: 3, bootID: "boot", command: "test", now: world.clock.now())
        let loop = Loop(
            Loop.Ports(
                clock: world.clock, random: world.randomness, numbers: TransferNumbers(),
                transaction: { try index.transaction($0) }))
        return (
            LicenceEngine(ports: ports, settings: settings, owner: owner, inbox: Inbox(wake: {}), in: loop), ledger,
            anchors
        )
    }

    @Test func `another device's store is refused as it is, until it is accepted`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        _ = try world.engine.takePlay(key)
        let (engine, ledger, anchors) = try foreignStore(world)
        let (row, newest) = (try world.entry("a"), try world.ledger.newestTime())
        #expect(throws: LectureError(.storeCopied)) { try engine.open() }
        #expect(try world.entry("a") == row && world.ledger.newestTime() == newest)
        #expect(try anchors.anchor(of: world.settings.store) == nil && !ledger.hasOwnRows())
        try world.restart()
        #expect(try world.engine.takePlay(key).suspicion == nil, "at home nothing has happened")
        let home = try world.entry("a")
        try engine.open(accepting: true)
        #expect(try ledger.entry(key)?.suspicion == .copied && ledger.hasOwnRows())
        #expect(throws: LectureError(.storeCopied)) { try engine.takePlay(key) }
        // The other device has only marked the licences: at home the marks are taken back.
        let finding = try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store))
        let marked = try #require(LedgerOutlook(finding, nil, at: world.reading))
        let mustBeSettled = try marked.mustBeSettled(world.ledger)
        #expect(marked.suspicion == nil && !mustBeSettled)
        try world.restart()
        #expect(try world.entry("a") == home && world.ledger.hasOwnRows())
        #expect(try world.engine.takePlay(key).suspicion == nil)
        try world.restart()
        #expect(try world.engine.open().isIntact)
    }

    @Test func `a read-only check concludes what opening the ledger writes`() throws {
        for (doubt, suspicion) in [
            (ClockDoubt.storeRolledBack, LicenceSuspicion.rolledBack), (.storeCopied, .copied),
            (.ledgerForged, .forged),
        ] {
            let reading = ClockReading(
                wall: Timestamp(milliseconds: 1_750_000_000_000), boot: BootInstant(nanoseconds: 5), bootID: "b")
            let anchor = LedgerAnchor(
                revision: 1, code: [], proven: nil, estimate: Timestamp(milliseconds: 1_760_000_000_000))
            let outlook = try #require(LedgerOutlook(.suspect(doubt, nil), anchor, at: reading))
            #expect(outlook.suspicion == suspicion)
            #expect(outlook.time.time.noEarlierThan == anchor.estimate)
        }
        let reading = ClockReading(wall: Timestamp(milliseconds: 1), boot: BootInstant(nanoseconds: 5), bootID: "b")
        #expect(LedgerOutlook(.new, nil, at: reading) == nil)
        #expect(LedgerOutlook(.intact(TimeRow(reading: reading)), nil, at: reading) == nil)
    }
}
