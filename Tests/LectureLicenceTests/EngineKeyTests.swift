import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// Whose signatures count for a licence.
struct EngineKeyTests {
    /// Another secret than the servers' own, as a learner would draw it.
    private static let mine = Array("a secret that the learner has drawn".utf8)

    private static func thumbprint(_ secret: [UInt8]) throws -> String {
        try VerificationKey(secret: try SecretBytes(copying: secret)).signerThumbprint()
    }

    /// A permitting answer under a key.
    private static func answer(_ items: [JSONValue], _ members: String, _ secret: [UInt8]) -> ServerAction {
        let payload = FakeServer.permit(items, members)
        let token = (try? SigningKey(secret: SecretBytes(copying: secret)).sign(Array(payload.utf8))) ?? []
        return .body(String(decoding: token, as: UTF8.self))
    }

    /// A lecture that its server has granted twice.
    private func granted(_ world: LicenceWorld) throws -> ContentKey {
        world.verifier = SecretVerifier(issuers: ["issuer"])
        try world.restart()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""expiration_count":2"#)) }
        let (content, key) = try world.waiting("a")
        world.engine.grant(content, key: key)
        #expect(world.run { $0.grants.count == 1 })
        #expect(world.grants.first?.error == nil)
        return key
    }

    /// From now on the configuration names the learner's key, and their own server answers.
    private func takeOver(_ world: LicenceWorld, issuers: [String] = []) throws {
        world.verifier = SecretVerifier(secret: Self.mine, issuers: issuers)
        try world.restart()
        world.server.behave { request, _ in
            Self.answer(
                request.items, #""expiration_count":1000,"content_expire_reset":1,"iat":1"#, Self.mine)
        }
    }

    @Test func `the first grant names its key, and the issuers that the configuration had`() throws {
        let world = try LicenceWorld()
        let key = try granted(world)
        let keys = GrantingKeys(answers: [try Self.thumbprint(FakeServer.secret)], files: ["issuer"])
        #expect(try world.entry("a").grantingKeys == keys)
        // A renewal leaves it as it is, whatever issuers are configured by then.
        world.verifier = SecretVerifier(issuers: ["another"])
        try world.restart()
        #expect(try world.renew(.keys([key])).renewed == 1)
        #expect(try world.entry("a").grantingKeys == keys)
    }

    @Test(arguments: [true, false])
    func `a fresh answer sets the time only for licences of its own key`(isOwn: Bool) throws {
        let world = try LicenceWorld()
        let real = world.clock.now()
        let key = try granted(world)
        // The clock runs ahead by a day, and is corrected.
        world.clock.setWall(real + .seconds(86_400))
        try world.licensed("seen") { entry in
            let own = (try? Self.thumbprint(FakeServer.secret)) ?? ""
            entry.grantingKeys = GrantingKeys(answers: [isOwn ? own : "other"])
        }
        world.clock.setWall(real)
        #expect(try world.engine.time().isTrusted == false)
        world.server.behave { request, _ in
            let seconds = real.milliseconds / 1000 + 5
            return .payload(#"{"iat":\#(seconds),"# + FakeServer.permit(request.items).dropFirst())
        }
        #expect(try world.renew(.keys([key])).renewed == 1)
        #expect(try world.engine.time().isTrusted == isOwn)
    }

    @Test func `an answer under another key changes nothing, whatever it says`() throws {
        let world = try LicenceWorld()
        let key = try granted(world)
        _ = try world.engine.takePlay(key)
        let before = try world.entry("a")
        try takeOver(world)
        let summary = try world.renew(.keys([key]))
        #expect((summary.renewed, summary.failed) == (0, 1))
        #expect(world.progress.last?.error?.code == .keyNotGranting)
        world.engine.check(key, within: .seconds(10))
        world.settle(for: .seconds(20))
        guard case .unreachable(let error) = world.checks.last else {
            Issue.record("a check under another key has an outcome")
            return
        }
        #expect(error.code == .keyNotGranting)
        let content = try #require(world.contents.ids[key])
        world.engine.grant(content, key: key)
        #expect(world.run { $0.grants.count == 2 })
        #expect(world.grants.last?.error?.code == .keyNotGranting && world.grants.last?.isFinal == true)
        let after = try world.entry("a")
        #expect(after.record == before.record && after.token == before.token && after.source == before.source)
        #expect(after.grantingKeys == before.grantingKeys && after.error?.code == .keyNotGranting)
        #expect(try world.ledger.attempts(key, limit: 9).filter { $0.error?.code == .keyNotGranting }.count >= 2)
        // Its own server still counts.
        world.verifier = SecretVerifier()
        try world.restart()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""expiration_count":2"#)) }
        #expect(try world.renew(.keys([key])).renewed == 1)
        #expect(try world.entry("a").record?.countLeft == 1)
    }

    @Test func `an answer under another key neither ends a licence nor orders a removal`() throws {
        let world = try LicenceWorld()
        let key = try granted(world)
        try takeOver(world)
        world.server.behave { request, _ in
            Self.answer(request.items, #""content_expired":1,"content_delete":1"#, Self.mine)
        }
        #expect(try world.renew(.keys([key])).failed == 1)
        let record = try world.record("a")
        #expect(!record.isForceExpired && !record.isDeleted)
    }

    @Test func `the time of an answer that counts for no licence is not believed`() throws {
        let world = try LicenceWorld()
        let key = try granted(world)
        let before = try #require(try world.engine.time().noEarlierThan)
        try takeOver(world)
        let future = before.milliseconds / 1000 + 86_400
        world.server.behave { request, _ in
            let payload = FakeServer.permit(request.items).dropLast() + ",\"iat\":\(future)}"
            let token = (try? SigningKey(secret: SecretBytes(copying: Self.mine)).sign(Array(payload.utf8))) ?? []
            return .body(String(decoding: token, as: UTF8.self))
        }
        _ = try world.renew(.keys([key]))
        #expect(try #require(try world.engine.time().noEarlierThan).milliseconds / 1000 < future)
    }

    @Test func `in a licence of an earlier store the first accepted answer sets the key`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a")
        #expect(try world.entry("a").grantingKeys == nil)
        #expect(try world.renew(.keys([key])).renewed == 1)
        #expect(try world.entry("a").grantingKeys?.answers == [try Self.thumbprint(FakeServer.secret)])
        try takeOver(world)
        #expect(try world.renew(.keys([key])).failed == 1)
    }

    @Test func `a group of lectures under two keys is answered for those of its key`() throws {
        let world = try LicenceWorld()
        try world.licensed("old")
        let key = try granted(world)
        try takeOver(world)
        let summary = try world.renew(.all)
        #expect((summary.renewed, summary.failed) == (1, 1))
        #expect(try world.entry("a").error?.code == .keyNotGranting)
        #expect(try world.entry("old").grantingKeys?.answers == [try Self.thumbprint(Self.mine)])
        #expect(try world.entry(key.text).grantingKeys?.answers == [try Self.thumbprint(FakeServer.secret)])
    }

    // MARK: Licence files

    private static func file(_ members: String = "", issued: Int64 = 1_749_999_000) throws -> LicenceFile {
        LicenceFile(try JSONScanner.value(of: Array(#"{"mck":"a","iat":\#(issued)\#(members)}"#.utf8)))
    }

    @discardableResult
    private static func keep(
        _ world: LicenceWorld, _ key: ContentKey, _ signer: String, isConfigured: Bool, issued: Int64 = 1_749_999_000
    ) throws -> LicenceEntry {
        try world.engine.keepFile(
            try file(issued: issued), token: "a.b.c", key: key,
            signer: FileSigner(thumbprint: signer, isConfigured: isConfigured))
    }

    @Test func `a lecture granted by a callback takes files of the issuers that were configured then`() throws {
        let world = try LicenceWorld()
        let key = try granted(world)
        try takeOver(world, issuers: ["mine"])
        for isConfigured in [true, false] {
            #expect(throws: LectureError(.keyNotGranting, detail: "a")) {
                try Self.keep(world, key, "mine", isConfigured: isConfigured)
            }
        }
        #expect(try world.record("a").form == .callback)
        let kept = try Self.keep(world, key, "issuer", isConfigured: false)
        #expect(kept.record?.form == .file && kept.grantingKeys?.files == ["issuer"])
        #expect(kept.grantingKeys?.answers == [try Self.thumbprint(FakeServer.secret)])
    }

    @Test func `a lecture without a licence takes any key, and then only that one`() throws {
        let world = try LicenceWorld()
        let key = try world.content("a")
        try Self.keep(world, key, "first", isConfigured: false)
        #expect(
            try world.entry("a").grantingKeys
                == GrantingKeys(
                    answers: [try Self.thumbprint(FakeServer.secret)], files: ["first"]))
        #expect(throws: LectureError(.keyNotGranting, detail: "a")) {
            try Self.keep(world, key, "second", isConfigured: true, issued: 1_749_999_500)
        }
        try Self.keep(world, key, "first", isConfigured: false, issued: 1_749_999_500)
    }

    @Test func `a lecture whose server was asked and has not granted takes only configured keys`() throws {
        let world = try LicenceWorld()
        let (_, key) = try world.waiting("a")
        #expect(throws: LectureError(.trustNotConfigured, detail: "a")) {
            try Self.keep(world, key, "mine", isConfigured: false)
        }
        try Self.keep(world, key, "issuer", isConfigured: true)
    }

    @Test(arguments: ["count", "play time", "force", "seen", "deleted", "end", "suspicion"])
    func `a licence of an earlier store that counts or has ended takes only configured keys`(what: String) throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = nil
            switch what {
            case "count": entry.record?.policy.countLimit = 3
            case "play time": entry.record?.policy.playTimeLimit = .seconds(60)
            case "force": entry.record?.isForceExpired = true
            case "seen": entry.record?.wasSeenExpired = true
            case "deleted": entry.record?.isDeleted = true
            case "end": entry.record?.policy.expiresAt = Timestamp(milliseconds: 1_749_999_999_999)
            default: entry.suspicion = .forged
            }
        }
        #expect(throws: LectureError(.trustNotConfigured, detail: "a")) {
            try Self.keep(world, key, "mine", isConfigured: false)
        }
        try Self.keep(world, key, "issuer", isConfigured: true)
    }

    @Test func `a licence of an earlier store that neither counts nor has ended takes any key once`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        try Self.keep(world, key, "first", isConfigured: false)
        #expect(throws: LectureError(.keyNotGranting, detail: "a")) {
            try Self.keep(world, key, "second", isConfigured: false, issued: 1_749_999_500)
        }
    }

    @Test func `in a store that was changed a lecture without a licence takes only configured keys`() throws {
        let world = try LicenceWorld()
        try world.index.transaction {
            _ = try $0.ledger.append(TimeRow(reading: world.reading), source: .finding)
        }
        let key = try world.content("a")
        #expect(throws: LectureError(.trustNotConfigured, detail: "a")) {
            try Self.keep(world, key, "mine", isConfigured: false)
        }
        try Self.keep(world, key, "issuer", isConfigured: true)
    }

    // MARK: The stored text

    @Test func `the stored text is read back, and an unreadable one permits nothing`() {
        for keys in [
            GrantingKeys(), GrantingKeys(answers: ["a"]), GrantingKeys(files: ["f", "g"]),
            GrantingKeys(answers: ["a", "b"], files: ["f"]),
        ] {
            #expect(GrantingKeys(stored: keys.text) == keys && !keys.text.isEmpty)
        }
        #expect(GrantingKeys(stored: "") == GrantingKeys())
        #expect(GrantingKeys(answers: ["a", "a"]).answers == ["a"])
        #expect(GrantingKeys(files: (0..<99).map(String.init)).files.count == GrantingKeys.limit)
    }
}
