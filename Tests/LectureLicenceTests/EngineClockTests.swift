import LectureCrypto
import LectureEngine
import LectureFormats
import LectureLicence
import LectureModel
import LectureStore
import LectureTestSupport
import Testing

/// What licence servers, licence files and downloads say about the time.
struct EngineClockTests {
    private static let ahead: Duration = .seconds(9 * 3600)

    private static func thumbprint() throws -> String {
        try VerificationKey(secret: try SecretBytes(copying: FakeServer.secret)).signerThumbprint()
    }

    /// A licence whose clock was ahead during one boot, and is right again; others if wanted.
    private static func doubted(
        own: GrantingKeys? = nil, other: GrantingKeys? = nil, _ configure: (inout LicenceSettings) -> Void = { _ in }
    ) throws -> (world: LicenceWorld, key: ContentKey) {
        let world = try LicenceWorld(configure)
        let own = try own ?? GrantingKeys(answers: [thumbprint()], files: ["issuer"])
        let real = world.clock.now()
        if let other { try world.licensed("other") { $0.grantingKeys = other } }
        world.clock.setWall(real + ahead)
        let key = try world.licensed("a") { entry in
            entry.grantingKeys = own
            entry.record?.policy.expiresAt = real + .seconds(86_400)
        }
        world.clock.setWall(real)
        #expect(try !world.engine.time().isTrusted)
        return (world, key)
    }

    /// The server answers with these members beside `data`.
    private static func answer(_ world: LicenceWorld, _ members: String, headers: [(String, String)] = []) {
        world.server.behave { request, _ in
            .payload("{\(members)" + FakeServer.permit(request.items).dropFirst(), headers: headers)
        }
    }

    private static func grant(_ world: LicenceWorld, _ key: ContentKey) throws {
        world.engine.grant(try #require(world.contents.ids[key]), key: key)
        #expect(world.run { !$0.grants.isEmpty })
        #expect(world.grants.last?.error == nil)
    }

    private static func seconds(_ world: LicenceWorld, _ offset: Int64 = 0) -> Int64 {
        world.clock.now().milliseconds / 1000 + offset
    }

    // MARK: Grants

    @Test func `a new grant that is issued now ends a doubt`() throws {
        let (world, key) = try Self.doubted()
        Self.answer(world, #""iat":\#(Self.seconds(world)),"#)
        try Self.grant(world, key)
        let time = try world.engine.time()
        #expect(time.isTrusted && time.noEarlierThan.map { $0 < world.clock.now() + .seconds(60) } == true)
    }

    @Test(arguments: [-600, 600, nil] as [Int64?])
    func `a grant that was issued at another time, or names none, ends no doubt`(offset: Int64?) throws {
        let (world, key) = try Self.doubted()
        Self.answer(world, offset.map { #""iat":\#(Self.seconds(world, $0)),"# } ?? "")
        try Self.grant(world, key)
        #expect(try !world.engine.time().isTrusted)
    }

    @Test func `the answer to a grant counts once`() throws {
        let (world, key) = try Self.doubted()
        Self.answer(world, #""iat":\#(Self.seconds(world)),"#)
        try Self.grant(world, key)
        world.clock.setWall(world.clock.now() + .seconds(-600))
        #expect(try !world.engine.time().isTrusted)
        try Self.grant(world, key)
        world.settle()
        #expect(try !world.engine.time().isTrusted)
    }

    // MARK: Keys

    @Test func `the Date of an answer under another key is not heard`() throws {
        let (world, key) = try Self.doubted(own: GrantingKeys(answers: ["another"]))
        let date = HTTPDate(world.clock.now()).headerValue
        Self.answer(world, "", headers: [("Date", date)])
        #expect(try world.renew(.keys([key])).failed == 1)
        #expect(try !world.engine.time().isTrusted && world.ledger.newestTime()?.proven == nil)
    }

    @Test(arguments: [true, false])
    func `where others have granted licences Date is a second opinion`(hasOwnAuthority: Bool) throws {
        let (world, key) = try Self.doubted(other: GrantingKeys(answers: ["another"])) {
            $0.hasOwnAuthority = hasOwnAuthority
        }
        let before = try world.engine.time().noEarlierThan
        Self.answer(world, "", headers: [("Date", HTTPDate(world.clock.now()).headerValue)])
        #expect(try world.renew(.keys([key])).renewed == 1)
        let time = try world.engine.time()
        #expect(time.isTrusted == !hasOwnAuthority)
        #expect(try world.ledger.newestTime()?.proven == nil)
        if let before { #expect(time.noEarlierThan.map { $0 >= before } == true, "nothing was proven: it stays") }
    }

    // MARK: Downloads

    @Test func `the Date of a download ends a doubt with the clock, and costs one row`() throws {
        let (world, _) = try Self.doubted()
        world.engine.inbox.post(.witnessed(world.clock.now(), at: world.clock.boot()))
        world.settle()
        #expect(try world.engine.time().isTrusted)
        let newest = try world.ledger.newestTime()
        for _ in 1...3 {
            world.engine.inbox.post(.witnessed(world.clock.now(), at: world.clock.boot()))
            world.settle()
        }
        #expect(try world.ledger.newestTime() == newest)
    }

    @Test func `with an authority of the user's own the Date of a download says nothing`() throws {
        let (world, _) = try Self.doubted { $0.hasOwnAuthority = true }
        world.engine.inbox.post(.witnessed(world.clock.now(), at: world.clock.boot()))
        world.settle()
        #expect(try !world.engine.time().isTrusted)
    }

    // MARK: Licence files

    private static func keep(
        _ world: LicenceWorld, _ key: ContentKey, issued: Int64, by signer: String = "issuer",
        isConfigured: Bool = true, _ refusal: LectureError? = nil
    ) throws {
        let file = LicenceFile(
            try JSONScanner.value(of: Array(#"{"mck":"\#(key.text)","iat":\#(issued)}"#.utf8)))
        _ = try world.engine.keepFile(
            file, token: "a.b.c", key: key, signer: FileSigner(thumbprint: signer, isConfigured: isConfigured),
            unlessClockIsConfirmed: refusal)
    }

    @Test func `a file issued since ends a doubt, and the same file does not do so again`() throws {
        let (world, key) = try Self.doubted()
        let issued = Self.seconds(world, -600)
        try Self.keep(world, key, issued: issued, LectureError(.licenceFileRefused))
        #expect(try world.engine.time() == .known(world.clock.now()))
        world.clock.setWall(world.clock.now() + .seconds(-300))
        let other = try world.content("b")
        #expect(throws: LectureError(.licenceFileRefused)) {
            try Self.keep(world, other, issued: issued, LectureError(.licenceFileRefused))
        }
        #expect(try !world.engine.time().isTrusted && world.ledger.entry(other) == nil)
    }

    @Test func `a file ends no doubt for licences that others have granted`() throws {
        let (world, _) = try Self.doubted()
        let mine = try world.content("mine")
        try Self.keep(world, mine, issued: Self.seconds(world), by: "mine", isConfigured: false)
        #expect(try !world.engine.time().isTrusted)
        let (old, key) = try Self.doubted(own: nil, other: nil)
        // A licence of an earlier store: nothing says whose it is.
        try old.index.transaction { _ in
            var entry = try old.entry("a")
            entry.grantingKeys = nil
            try old.ledger.store(entry)
            _ = try old.ledger.append(try #require(try old.ledger.newestTime()), source: .clocks)
        }
        let free = try old.content("free")
        try Self.keep(old, free, issued: Self.seconds(old), by: "mine", isConfigured: false)
        #expect(try !old.engine.time().isTrusted && old.entry(key.text).record != nil)
    }
}
