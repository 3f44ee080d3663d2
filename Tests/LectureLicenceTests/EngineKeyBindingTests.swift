import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureSQLite
import LectureSimulation
import LectureStore
import LectureTestSupport
import Testing

/// The key of a lecture's media is bound to the keys that granted its licence: what a deleted row said is not lost.
struct EngineKeyBindingTests {
    /// Another secret than the servers' own, as a learner would draw it.
    private static let mine = Array("a secret that the learner has drawn".utf8)

    private static func thumbprint(_ secret: [UInt8]) throws -> String {
        try VerificationKey(secret: try SecretBytes(copying: secret)).signerThumbprint()
    }

    private static func servers() throws -> GrantingKeys {
        GrantingKeys(answers: [try thumbprint(FakeServer.secret)], files: ["issuer"])
    }

    /// A lecture with sealed media, and what was sealed.
    private struct Sealed {
        let content: ContentID
        let key: ContentKey
        let header: [UInt8]
        let box: [UInt8]
    }

    /// Seals a lecture's media, with a key that is bound to nothing yet.
    private static func seal(_ world: LicenceWorld, _ content: ContentID, _ key: ContentKey) throws -> Sealed {
        let (cipher, wrapped) = try world.vault.newCipher(for: key, purpose: .licensed)
        try world.ledger.contentKeys.add(content, wrapped, now: world.clock.now())
        let header = try cipher.newHeader()
        var box = [UInt8](repeating: 0, count: 3 + 16)
        let sealer = try cipher.sealer(header: header, sealedBefore: [])
        try unsafe [UInt8](arrayLiteral: 1, 2, 3).withUnsafeBytes { plain in
            try unsafe box.withUnsafeMutableBytes { try unsafe sealer.seal(segment: 0, isLast: true, plain, into: $0) }
        }
        return Sealed(content: content, key: key, header: header, box: box)
    }

    /// Whether the stored key still opens what was sealed.
    private static func opens(_ world: LicenceWorld, _ sealed: Sealed) throws -> Bool {
        let stored = try #require(try world.ledger.contentKeys.key(sealed.content))
        let opener = try world.vault.cipher(stored, for: sealed.key).opener(header: sealed.header)
        var plain = [UInt8](repeating: 0, count: 3)
        try unsafe sealed.box.withUnsafeBytes { box in
            try unsafe plain.withUnsafeMutableBytes { try unsafe opener.open(segment: 0, isLast: true, box, into: $0) }
        }
        return plain == [1, 2, 3]
    }

    private static func bound(_ world: LicenceWorld, _ sealed: Sealed) throws -> GrantingKeys? {
        try #require(try world.ledger.contentKeys.key(sealed.content)).grantingKeys
    }

    /// A lecture with sealed media that its server has granted twice.
    private static func granted(_ world: LicenceWorld) throws -> Sealed {
        world.verifier = SecretVerifier(issuers: ["issuer"])
        try world.restart()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""expiration_count":2"#)) }
        let (content, key) = try world.waiting("a")
        let sealed = try seal(world, content, key)
        try grant(world, sealed, nil)
        return sealed
    }

    private static func grant(
        _ world: LicenceWorld, _ sealed: Sealed, _ code: LectureError.Code?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let count = world.grants.count
        world.engine.grant(sealed.content, key: sealed.key)
        #expect(world.run { $0.grants.count == count + 1 }, sourceLocation: sourceLocation)
        #expect(world.grants.last?.error?.code == code, sourceLocation: sourceLocation)
    }

    /// From now on the configuration names the learner's key, and their own server answers.
    private static func takeOver(_ world: LicenceWorld) throws {
        world.verifier = SecretVerifier(secret: mine, issuers: ["mine"])
        try world.restart()
        world.server.behave { request, _ in
            let payload = FakeServer.permit(request.items, #""expiration_count":1000"#)
            let token = (try? SigningKey(secret: SecretBytes(copying: mine)).sign(Array(payload.utf8))) ?? []
            return .body(String(decoding: token, as: UTF8.self))
        }
    }

    /// From now on the provider's own server answers again.
    private static func giveBack(_ world: LicenceWorld) throws {
        world.verifier = SecretVerifier(issuers: ["issuer"])
        try world.restart()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items, #""expiration_count":2"#)) }
    }

    private static func tamper(_ world: LicenceWorld, _ script: String) throws {
        try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite).run(script: script)
    }

    /// The row is deleted, and a link of the learner's own names their server.
    private static func losesRow(_ world: LicenceWorld, _ sealed: Sealed) throws {
        try tamper(world, "DELETE FROM licence")
        try world.restart()
        var source = LicenceSource()
        source.callbackURL = LicenceWorld.url
        try world.change { try $0.recordSource(source, of: sealed.key, in: $1) }
        #expect(try world.entry("a").grantingKeys == nil)
    }

    // MARK: Binding

    @Test func `a grant binds the key of the media, and every change of keys binds it again`() throws {
        let world = try LicenceWorld()
        let sealed = try Self.granted(world)
        #expect(try world.entry("a").grantingKeys == Self.servers())
        #expect(try Self.bound(world, sealed) == Self.servers() && Self.opens(world, sealed))
        let file = LicenceFile(try JSONScanner.value(of: Array(#"{"mck":"a","iat":1749999000}"#.utf8)))
        let kept = try world.engine.keepFile(
            file, token: "a.b.c", key: sealed.key, signer: FileSigner(thumbprint: "issuer", isConfigured: true))
        #expect(try Self.bound(world, sealed) == kept.grantingKeys && Self.opens(world, sealed))
        _ = try world.engine.takePlay(sealed.key)
    }

    @Test func `a key of an earlier store is bound with the first answer that is accepted`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.record?.policy.expiresAt = nil }
        let sealed = try Self.seal(world, try #require(world.contents.ids[key]), key)
        _ = try world.engine.takePlay(key)
        #expect(try Self.bound(world, sealed) == nil)
        #expect(try world.renew(.keys([key])).renewed == 1)
        #expect(try Self.bound(world, sealed) == world.entry("a").grantingKeys)
        #expect(try Self.bound(world, sealed) != nil && Self.opens(world, sealed))
        _ = try world.engine.takePlay(key)
    }

    @Test func `a grant that cannot be stored leaves row and key as they were`() throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("a")
        let sealed = try Self.seal(world, content, key)
        try Self.tamper(
            world,
            "CREATE TRIGGER full BEFORE INSERT ON time_ledger BEGIN SELECT RAISE(ABORT, 'no room'); END")
        world.engine.grant(content, key: key)
        #expect(world.run(for: .seconds(10)) { !$0.grants.isEmpty })
        #expect(world.grants.first?.error != nil)
        #expect(try world.entry("a").record == nil && Self.bound(world, sealed) == nil)
        try Self.tamper(world, "DROP TRIGGER full")
        try Self.grant(world, sealed, nil)
        #expect(try Self.bound(world, sealed) == world.entry("a").grantingKeys)
    }

    // MARK: Attacks

    @Test func `after the row was deleted only the key of the first grant counts`() throws {
        let world = try LicenceWorld()
        let sealed = try Self.granted(world)
        try Self.losesRow(world, sealed)
        try Self.takeOver(world)
        try Self.grant(world, sealed, .keyNotGranting)
        #expect(try world.entry("a").record == nil)
        let file = LicenceFile(try JSONScanner.value(of: Array(#"{"mck":"a","iat":1749999000}"#.utf8)))
        #expect(throws: LectureError(.keyNotGranting, detail: "a")) {
            try world.engine.keepFile(
                file, token: "a.b.c", key: sealed.key, signer: FileSigner(thumbprint: "mine", isConfigured: true))
        }
        // Its own server can still grant it, and then its issuers count as before.
        try Self.giveBack(world)
        try Self.grant(world, sealed, nil)
        #expect(try world.entry("a").grantingKeys == Self.servers())
        _ = try world.engine.takePlay(sealed.key)
    }

    @Test func `a row with other keys counts for nothing, and the first key can still grant it`() throws {
        let world = try LicenceWorld()
        let sealed = try Self.granted(world)
        let mine = try Self.thumbprint(Self.mine)
        try Self.tamper(world, "UPDATE licence SET granting_keys = '\(mine)/mine'")
        try Self.takeOver(world)
        #expect(try world.entry("a").suspicion == .forged)
        try Self.grant(world, sealed, .keyNotGranting)
        try Self.giveBack(world)
        try Self.grant(world, sealed, nil)
        #expect(try world.entry("a").grantingKeys == Self.servers())
        #expect(try world.entry("a").suspicion == nil)
    }

    @Test func `a key put back after another grant opens nothing`() throws {
        let world = try LicenceWorld()
        let sealed = try Self.granted(world)
        try Self.tamper(world, "CREATE TABLE kept AS SELECT * FROM content_key; DELETE FROM content_key")
        try Self.losesRow(world, sealed)
        try Self.takeOver(world)
        try Self.grant(world, sealed, nil)
        try Self.tamper(world, "INSERT INTO content_key SELECT * FROM kept; DROP TABLE kept")
        #expect(try world.engine.judge(sealed.key, forPlay: true).reasons == [.otherKey])
        #expect(throws: LectureError(.licenceOtherKey)) { try world.engine.takePlay(sealed.key) }
    }
}
