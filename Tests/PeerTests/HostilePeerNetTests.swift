import LectureCrypto
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Branch servers that lie, break off and lead elsewhere: the lecture is right all the same, and nothing fails.
@Suite(.timeLimit(.minutes(5))) struct HostilePeerNetTests {
    @Test(arguments: HostileOffice.Trick.allCases)
    func `whatever a branch server does, the lecture arrives as it is`(trick: HostileOffice.Trick) async throws {
        let branch = try await Branch(["a": 20_000_000])
        try branch.writeToken("token-of-the-client")
        let office = try HostileOffice(trick, try branch.bytes("a"))
        // No attempt may fail: a lecture that had to be tried again would be lost here.
        let fetched = try await branch.fetch(["a"], from: office.url, "--retries", "0")
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect((fetched.totals.bytesFromPeers > 0) == trick.delivers, "\(fetched.said)")
        if trick.isEnough {
            #expect(fetched.totals.bytesFromInternet == 0 && fetched.faults.isEmpty, "\(fetched.said)")
        } else {
            #expect(fetched.totals.bytesFromInternet > 0)
        }
        #expect(office.strays == 0, "it was followed elsewhere")
        #expect(!fetched.said.contains("token-of-the-client"))
        try await branch.expectComplete(["a"])
    }

    @Test func `a store that is believed cannot change a lecture with a digest`() async throws {
        let branch = try await Branch(["a": 9_000_000])
        try branch.writeToken("token-of-the-client")
        let key = try DeviceKey.generate()
        let trusted = try branch.client.home.write(try key.publicJWK(), to: "mallory.jwk")
        let office = try HostileOffice(.otherBytes, try branch.bytes("a"), signer: key)
        let fetched = try await branch.fetch(["a"], from: office.url, "--from-trust", trusted)
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromInternet == 9_000_000)
        try await branch.expectComplete(["a"])
    }

    @Test func `an attacker without a key that was named gives no lecture without a digest`() async throws {
        let branch = try await Branch(["a": 2_000_000])
        try branch.writeToken("token-of-the-client")
        let office = try HostileOffice(.honest, try branch.bytes("a"))
        let fetched = try await branch.fetch(
            ["a"], from: office.url, hasDigests: false, "--from-trust", branch.officeKey)
        #expect(fetched.totals.completed == 1 && fetched.totals.bytesFromPeers == 0, "\(fetched.said)")
        #expect(fetched.totals.withoutDigest == 1)
        try await branch.expectComplete(["a"])
    }

    @Test func `three failures are enough for a run`() async throws {
        let keys = (0..<8).map { "l\($0)" }
        let branch = try await Branch(Dictionary(uniqueKeysWithValues: keys.map { ($0, 100_000) }))
        try branch.writeToken("token-of-the-client")
        let office = try HostileOffice(.noOffer, try branch.bytes("l0"))
        let fetched = try await branch.fetch(keys, from: office.url, "--jobs", "1")
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 8, "\(fetched.said)")
        #expect(fetched.faults.count == 1, "the same cause is named once")
        try await branch.expectComplete(keys)
    }
}
