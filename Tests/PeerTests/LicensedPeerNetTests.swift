import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `precache --from` with lectures that need a licence: media may come from the office, rights never do.
@Suite(.timeLimit(.minutes(5))) struct LicensedPeerNetTests {
    private static let count = 3_000_000
    private static let key = "bytes-\(count)-1"
    /// A gateway's answer is shorter. It comes from the internet, as all that says what a lecture is.
    private static let descriptor = 4096

    private static func plays(_ count: Int) -> CallbackPolicy {
        var policy = CallbackPolicy()
        policy.expirationCount = count
        return policy
    }

    @Test(arguments: [true, false])
    func `the media comes from the office, and the licence from its own server`(hasDigest: Bool) async throws {
        let branch = try await LicensedBranch()
        try await branch.stock(Self.key)
        let player = try #require(try await branch.sandbox.callbackItems().last?.player)
        let server = try await branch.serve()
        // The office may play it for ever; who asks from now on may play it twice.
        try await branch.sandbox.set(policy: Self.plays(2))
        let run = try await branch.fetch(
            Self.key, from: server, hasDigest: hasDigest, "--from-trust", branch.officeKey)
        #expect(run.fetched.ending.status == 0 && run.fetched.totals.completed == 1, "\(run.fetched.said)")
        #expect(run.fetched.totals.bytesFromPeers == Self.count, "\(run.fetched.said)")
        #expect((1..<Self.descriptor).contains(run.fetched.totals.bytesFromInternet), "\(run.fetched.said)")
        // A gateway's word is no proof of what is behind it: its server was asked for one byte.
        #expect(run.mediaBytes == 1, "\(run.mediaBytes)")
        #expect(!run.items.isEmpty && run.items.allSatisfy { $0.key == Self.key && $0.outcome == "granted" })
        #expect(run.items.allSatisfy { $0.player != player }, "the licence is the classroom's own")
        try await branch.expectHidden(Self.key, mayBeSealed: true)
        let sum = try await branch.sum(Self.key)
        for _ in 0..<2 { #expect(try await branch.played(Self.key, by: branch.client) == sum) }
        let third = try await branch.client("cat", Self.key)
        #expect(third.status == 77 && third.output.isEmpty, "\(third.errorText)")
        for _ in 0..<3 { #expect(try await branch.played(Self.key, by: branch.office) == sum) }
        try await branch.client.expectSound()
        await branch.end(server)
    }

    @Test func `what the licence server refuses comes from no office`() async throws {
        let branch = try await LicensedBranch()
        try await branch.stock(Self.key)
        let server = try await branch.serve()
        try await branch.sandbox.set(policy: .refusal("The course begins in March."))
        let refused = try await branch.fetch(Self.key, from: server, "--from-trust", branch.officeKey)
        #expect(refused.fetched.ending.status == 77, "\(refused.fetched.said)")
        #expect(refused.fetched.said.contains("The course begins in March."))
        #expect(refused.fetched.totals.bytesFetched < Self.descriptor && refused.mediaBytes == 0)
        #expect(!refused.items.isEmpty && refused.items.allSatisfy { $0.outcome == "refused" })
        try await branch.expectHidden(Self.key, mayBeSealed: false)
        #expect(try await branch.client("cat", Self.key).status != 0)
        // The office has its own licence all the same.
        #expect(try await branch.played(Self.key, by: branch.office) == (try await branch.sum(Self.key)))
        // The server thinks better of it.
        try await branch.sandbox.set(policy: .ending(in: 3600))
        let granted = try await branch.fetch(Self.key, from: server)
        #expect(granted.fetched.ending.status == 0, "\(granted.fetched.said)")
        #expect(granted.fetched.totals.bytesFromPeers == Self.count)
        #expect(try await branch.played(Self.key, by: branch.client) == (try await branch.sum(Self.key)))
        await branch.end(server)
    }

    @Test(arguments: ["status:503", "timeout:100", "wrong-signature"])
    func `a licence server that is away or lies keeps the media at the office`(habits: String) async throws {
        let branch = try await LicensedBranch()
        try await branch.stock(Self.key)
        let server = try await branch.serve()
        try await branch.sandbox.set(habits: habits)
        let away = try await branch.fetch(
            Self.key, from: server, "--from-trust", branch.officeKey, "--deadline", "3s")
        #expect(away.fetched.ending.status != 0 && away.fetched.totals.completed == 0, "\(away.fetched.said)")
        #expect(away.fetched.totals.bytesFetched < Self.descriptor && away.mediaBytes == 0, "\(away.fetched.said)")
        try await branch.expectHidden(Self.key, mayBeSealed: false)
        #expect(try await branch.client("cat", Self.key).status != 0)
        try await branch.sandbox.set(habits: "")
        let back = try await branch.fetch(Self.key, from: server)
        #expect(back.fetched.ending.status == 0 && back.fetched.totals.completed == 1, "\(back.fetched.said)")
        #expect(back.fetched.totals.bytesFromPeers == Self.count, "\(back.fetched.said)")
        #expect(back.fetched.totals.bytesFromInternet < Self.descriptor, "\(back.fetched.said)")
        #expect(try await branch.played(Self.key, by: branch.client) == (try await branch.sum(Self.key)))
        await branch.end(server)
    }

    @Test func `an office whose licence has ended gives nothing, and the classroom's own licence is enough`()
        async throws
    {
        let branch = try await LicensedBranch()
        try await branch.stock(Self.key)
        try await branch.sandbox.set(policyJSON: #"{"content_expired":1}"#)
        _ = try await branch.office("licence", "renew", "--all")
        #expect(try await branch.office("cat", Self.key).status == 77)
        try await branch.sandbox.set(policy: .ending(in: 3600))
        let server = try await branch.serve()
        let run = try await branch.fetch(Self.key, from: server)
        #expect(run.fetched.ending.status == 0 && run.fetched.totals.completed == 1, "\(run.fetched.said)")
        #expect(run.fetched.totals.bytesFromPeers == 0 && run.mediaBytes >= Self.count, "\(run.fetched.said)")
        #expect(run.fetched.faults.isEmpty, "that an office lacks a lecture is no fault of it")
        #expect(try await branch.played(Self.key, by: branch.client) == (try await branch.sum(Self.key)))
        await branch.end(server)
    }

    @Test func `an office whose licence ends in the middle gives no more, and the rest comes from the internet`()
        async throws
    {
        let (count, key) = (60_000_000, "bytes-60000000-2")
        let branch = try await LicensedBranch()
        try await branch.stock(key)
        let server = try await branch.serve()
        let place = try await branch.place(key)
        let process = try ChildProcess(
            BuiltProgram.url.path, try await branch.words(key, from: server) + ["--limit-rate", "5M"],
            environment: branch.client.environment)
        // 10 MB or more have come.
        try await process.wait(for: .output) { output in
            String(decoding: output, as: UTF8.self).firstMatch(of: /"state":"downloading","bytes":\d{8}/) != nil
        }
        try await branch.sandbox.set(policyJSON: #"{"content_expired":1}"#)
        _ = try await branch.office("licence", "renew", "--all")
        let run = try await branch.run(await process.ending(), key, since: place)
        #expect(run.fetched.ending.status == 0 && run.fetched.totals.completed == 1, "\(run.fetched.said)")
        #expect(run.fetched.totals.bytesFromPeers > 0 && run.fetched.totals.bytesFromInternet > 0)
        #expect((count..<count + Self.descriptor).contains(run.fetched.totals.bytesFetched), "\(run.fetched.said)")
        #expect(run.fetched.faults.isEmpty && run.mediaBytes < count, "\(run.mediaBytes) \(run.fetched.said)")
        #expect(try await branch.played(key, by: branch.client) == (try await branch.sum(key)))
        #expect(try await branch.office("cat", key).status == 77)
        await branch.end(server)
    }

    @Test func `a lecture that the office has without a licence needs one in the classroom`() async throws {
        let branch = try await LicensedBranch()
        // The same file by its own address: no gateway, no licence, and it is in clear at the office.
        let plain = "\(branch.sandbox.http)/media/\(Self.key).mp4"
        #expect(try await branch.office("precache", "-q", "--key", Self.key, plain).status == 0)
        let server = try await branch.serve()
        try await branch.sandbox.set(policy: .refusal("No."))
        let refused = try await branch.fetch(Self.key, from: server, "--from-trust", branch.officeKey)
        #expect(refused.fetched.ending.status == 77 && refused.fetched.totals.bytesFromPeers == 0)
        try await branch.expectHidden(Self.key, mayBeSealed: false)
        try await branch.sandbox.set(policy: Self.plays(1))
        let run = try await branch.fetch(Self.key, from: server)
        #expect(run.fetched.totals.bytesFromPeers == Self.count, "\(run.fetched.said)")
        try await branch.expectHidden(Self.key, mayBeSealed: true)
        #expect(try await branch.played(Self.key, by: branch.client) == (try await branch.sum(Self.key)))
        #expect(try await branch.client("cat", Self.key).status == 77)
        await branch.end(server)
    }
}
