import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureStore
import LectureTestSupport
import Testing

/// Statements of a provider about new keys.
struct KeyStatementTests {
    // The last character of a thumbprint has two bits that are 0.
    private static let old = String(repeating: "o", count: 43)
    private static let new = String(repeating: "w", count: 43)
    private static let other = String(repeating: "k", count: 43)

    private static func statement(_ members: String, at seconds: Int64? = 1_750_000_000) throws -> KeyStatement {
        try KeyStatement(
            try JSONScanner.value(of: Array("{\(members)}".utf8)),
            at: seconds.map { Timestamp(milliseconds: $0 * 1000) })
    }

    @Test func `a statement names keys, and lectures if it is not for all`() throws {
        let all = try Self.statement(#""iat":1,"new_keys":["\#(Self.new)"]"#)
        #expect(all.newKeys == [Self.new] && all.contents == nil)
        let some = try Self.statement(
            #""iat":1,"exp":1750000001,"new_keys":["\#(Self.new)","\#(Self.other)"],"mck":["a","b"],"iss":"p""#)
        #expect(some.newKeys == [Self.new, Self.other])
        #expect(some.contents == [try ContentKey("a"), try ContentKey("b")])
        #expect(
            try Self.statement(#""iat":1,"new_keys":["\#(Self.new)"],"mck":"a""#).contents == [try ContentKey("a")])
        // Without a known time an end is not compared.
        _ = try Self.statement(#""iat":1,"exp":2,"new_keys":["\#(Self.new)"]"#, at: nil)
    }

    @Test(arguments: [
        #""new_keys":["N"]"#, #""iat":"1","new_keys":["N"]"#, #""iat":-1,"new_keys":["N"]"#, #""iat":1"#,
        #""iat":1,"new_keys":[]"#, #""iat":1,"new_keys":["short"]"#, #""iat":1,"new_keys":["N",1]"#,
        #""iat":1,"new_keys":"N""#, #""iat":1,"new_keys":["N"],"exp":1750000000"#,
        #""iat":1,"new_keys":["N"],"exp":"never""#, #""iat":1,"new_keys":["N"],"mck":[]"#,
        #""iat":1,"new_keys":["N"],"mck":["a",1]"#, #""iat":1,"new_keys":["N"],"mck":"""#,
    ])
    func `a statement with a missing or impossible claim is refused`(members: String) {
        #expect {
            try Self.statement(members.replacing("\"N\"", with: "\"\(Self.new)\""))
        } throws: { ($0 as? LectureError)?.code == .rekeyRefused }
    }

    @Test func `a statement is no array, and no more than 32 keys`() throws {
        #expect(throws: LectureError.self) { try KeyStatement(.null, at: nil) }
        let many = [String](repeating: "\"\(Self.new)\"", count: 33).joined(separator: ",")
        #expect(throws: LectureError.self) { try Self.statement(#""iat":1,"new_keys":[\#(many)]"#) }
    }

    // MARK: Carrying it out

    private static func keys(_ world: LicenceWorld, _ name: String) throws -> GrantingKeys? {
        try world.entry(name).grantingKeys
    }

    private static func order(_ members: String = "") throws -> KeyStatement {
        try statement(#""iat":1,"new_keys":["\#(new)"]\#(members)"#)
    }

    @Test func `licences under the old key take the new one, in parts, and only once`() throws {
        let world = try LicenceWorld()
        let count = 2 * LicenceEngine.keyChangesAtOnce + 3
        try world.licensed((0..<count).map { "k\(10_000 + $0)" }) { entry, number in
            entry.grantingKeys = GrantingKeys(answers: [number == 7 ? Self.other : Self.old], files: ["f", Self.old])
        }
        var (changed, parts): (Int, Int) = (0, 0)
        var last: ContentKey?
        repeat {
            let part = try world.engine.changeKeys(try Self.order(), from: Self.old, after: last)
            (changed, last, parts) = (changed + part.changed, part.last, parts + 1)
            // A process that is killed here continues with the rest.
            if parts == 1 { try world.restart() }
        } while last != nil
        #expect(changed == count && parts == 3)
        #expect(try Self.keys(world, "k10000") == GrantingKeys(answers: [Self.new], files: ["f", Self.new]))
        #expect(try Self.keys(world, "k10007") == GrantingKeys(answers: [Self.other], files: ["f", Self.new]))
        #expect(try world.engine.changeKeys(try Self.order(), from: Self.old).changed == 0)
        #expect(try !world.engine.hasLicences(coveredBy: Self.old) && world.engine.hasLicences(coveredBy: Self.new))
        try world.restart()
        #expect(try world.engine.open().isIntact)
    }

    @Test func `a statement about some lectures leaves the others`() throws {
        let world = try LicenceWorld()
        for name in ["a", "b"] { try world.licensed(name) { $0.grantingKeys = GrantingKeys(answers: [Self.old]) } }
        #expect(try world.engine.changeKeys(try Self.order(#","mck":"b""#), from: Self.old).changed == 1)
        #expect(try Self.keys(world, "a")?.answers == [Self.old] && Self.keys(world, "b")?.answers == [Self.new])
        #expect(try world.engine.changeKeys(try Self.order(), from: Self.other).changed == 0)
    }

    @Test func `the key of the media is bound to the new keys, also where the row was lost`() throws {
        let world = try LicenceWorld()
        let keys = GrantingKeys(answers: [Self.old])
        let key = try world.licensed("a") { $0.grantingKeys = keys }
        let content = try #require(world.contents.ids[key])
        let (_, wrapped) = try world.vault.newCipher(for: key, purpose: .licensed, boundTo: keys)
        try world.ledger.contentKeys.add(content, wrapped, now: world.clock.now())
        let lost = try world.content("lost")
        let (_, alone) = try world.vault.newCipher(for: lost, purpose: .licensed, boundTo: keys)
        let other = try #require(world.contents.ids[lost])
        try world.ledger.contentKeys.add(other, alone, now: world.clock.now())
        #expect(try world.engine.changeKeys(try Self.order(), from: Self.old).changed == 2)
        for key in [key, lost] {
            let content = try #require(world.contents.ids[key])
            let stored = try #require(try world.ledger.contentKeys.key(content))
            #expect(try stored.grantingKeys?.answers == [Self.new] && world.vault.opens(stored))
        }
        #expect(try !world.engine.judge(key, forPlay: false).reasons.contains(.otherKey))
    }

    @Test func `the licence of a removed lecture takes the new key as well`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { $0.grantingKeys = GrantingKeys(answers: [Self.old]) }
        world.contents.ids[key] = nil
        #expect(try world.engine.changeKeys(try Self.order(), from: Self.old).changed == 1)
        #expect(try Self.keys(world, "a")?.answers == [Self.new])
    }
}
