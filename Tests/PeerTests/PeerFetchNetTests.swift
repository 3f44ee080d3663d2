import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `precache --from` with the built program, two stores, the office's server and the lectures' server.
@Suite(.timeLimit(.minutes(5))) struct PeerFetchNetTests {
    @Test func `what the office has comes from it, and only the rest from the internet`() async throws {
        let branch = try await Branch(["a": 3_000_000, "b": 700_000, "c": 2_500_000])
        try await branch.stock(["a", "b"])
        let server = try await branch.serve()
        let fetched = try await branch.fetch(["a", "b", "c"], from: server.url)
        #expect(fetched.ending.status == 0, "\(fetched.said)")
        #expect(fetched.totals.completed == 3 && fetched.totals.lecturesFromPeers == 2)
        #expect(fetched.totals.bytesFromPeers == 3_700_000 && fetched.totals.bytesFromInternet == 2_500_000)
        // Of what the office has, the lectures' server is asked for one byte.
        for request in fetched.requests where !request.target.contains("c.mp4") { #expect(request.bytes <= 1) }
        #expect(fetched.originBytes <= 2_500_002)
        #expect(!fetched.said.contains(server.token), "a token is in the output")
        try await branch.expectComplete(["a", "b", "c"])
        #expect(try await branch.client("verify", "--all").status == 0)
        // Again: everything is there.
        let again = try await branch.fetch(["a", "b", "c"], from: server.url)
        #expect(again.totals.completed == 0 && again.totals.bytesFetched == 0 && again.originBytes == 0)
        await server.stop()
    }

    @Test func `the last sentence says what came from where`() async throws {
        let branch = try await Branch(["a": 300_000])
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let list = try await branch.list(["a"], for: branch.client)
        let words = ["precache", list, "--from", server.url + "/", "--from-token-file", branch.tokenFile]
        let ending = try await branch.client.run(words)
        #expect(ending.status == 0)
        let sentence = "From branch servers: 1 lecture, 292 KiB; from the internet: 0 B."
        #expect(ending.errorText.contains(sentence), "\(ending.errorText)")
        await server.stop()
    }

    @Test(arguments: ["always", "licensed"], ["always", "licensed"])
    func `lectures arrive whatever is sealed on either side`(mine: String, yours: String) async throws {
        func settings(_ policy: String) -> String { #"{"storage":{"seal":"\#(policy)"}}"# }
        // Below, at and above the borders of segments.
        let sizes = ["a": 1, "b": 1_048_520, "c": 1_048_521, "d": 9_500_000]
        let branch = try await Branch(
            sizes.mapValues { max($0, 16) }, settings: settings(mine), clientSettings: settings(yours))
        try await branch.stock(sizes.keys.sorted())
        let server = try await branch.serve()
        let fetched = try await branch.fetch(sizes.keys.sorted(), from: server.url)
        #expect(fetched.totals.lecturesFromPeers == 4 && fetched.totals.bytesFromInternet == 0, "\(fetched.said)")
        try await branch.expectComplete(sizes.keys.sorted())
        await server.stop()
    }

    @Test func `without a digest a store is believed only if its key was named`() async throws {
        let branch = try await Branch(["a": 400_000, "b": 500_000])
        try await branch.stock(["a", "b"], hasDigests: false)
        let server = try await branch.serve()
        let withoutDigest = try await branch.fetch(["a"], from: server.url, hasDigests: false)
        #expect(withoutDigest.totals.completed == 1 && withoutDigest.totals.bytesFromPeers == 0)
        #expect(withoutDigest.totals.withoutDigest == 1 && withoutDigest.ending.errorText.contains("--from-trust"))
        let proven = try await branch.fetch(
            ["a", "b"], from: server.url, hasDigests: false, "--from-trust", branch.officeKey)
        #expect(proven.totals.completed == 1 && proven.totals.bytesFromPeers == 500_000, "\(proven.said)")
        // The lectures' server was asked which version it has, and sent one byte.
        #expect(proven.originBytes == 1)
        try await branch.expectComplete(["a", "b"])
        await server.stop()
    }

    @Test func `what the office is believed to have needs no internet`() async throws {
        let branch = try await Branch(["a": 2_000_000])
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let list = try await branch.list(["a"], for: branch.client)
        await branch.origin.stop()
        let ending = try await branch.client.run([
            "precache", list, "--json", "--from", server.url, "--from-token-file", branch.tokenFile, "--from-trust",
            branch.officeKey,
        ])
        #expect(ending.status == 0 && ending.text.contains(#""bytes_from_peers":2000000"#), "\(ending.errorText)")
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    @Test func `another version at the office is not taken`() async throws {
        let branch = try await Branch(["a": 900_000, "b": 800_000, "c": 700_000])
        try await branch.stock(["a", "b", "c"])
        // One of another length, and one of the same.
        try Branch.write("a", 910_000, to: branch.files)
        try Branch.write("b", 800_000, to: branch.files, seed: 2)
        let server = try await branch.serve()
        let fetched = try await branch.fetch(["a", "b", "c"], from: server.url)
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 3, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers == 700_000 && fetched.totals.bytesFromInternet == 1_710_000)
        try await branch.expectComplete(["a", "b", "c"])
        // Without digests the server's tag decides.
        try Branch.write("c", 700_000, to: branch.files, seed: 3)
        #expect(try await branch.client("remove", "c").status == 0)
        let tagged = try await branch.fetch(
            ["c"], from: server.url, hasDigests: false, "--from-trust", branch.officeKey)
        #expect(tagged.totals.bytesFromPeers == 0 && tagged.totals.completed == 1, "\(tagged.said)")
        try await branch.expectComplete(["c"])
        await server.stop()
    }

    /// Whether a run has reported 10 MB or more of a lecture.
    @Sendable private static func hasMegabytes(_ output: Data) -> Bool {
        String(decoding: output, as: UTF8.self).firstMatch(of: /"state":"downloading","bytes":\d{8}/) != nil
    }

    @Test func `a server that is killed in the middle costs nothing that has arrived`() async throws {
        let branch = try await Branch(["a": 60_000_000])
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let list = try await branch.list(["a"], for: branch.client)
        let words = ["precache", list, "--json", "--from", server.url, "--from-token-file", branch.tokenFile]
        let limited = try ChildProcess(
            BuiltProgram.url.path, words + ["--limit-rate", "20M"], environment: branch.client.environment)
        try await limited.wait(for: .output, until: Self.hasMegabytes)
        server.process.send(SIGKILL)
        let ending = await limited.ending()
        _ = await server.process.ending()
        let fetched = try Fetched(ending, try await branch.origin.requests())
        #expect(ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers > 0 && fetched.totals.bytesFromInternet > 0)
        // Each connection may have met it at another moment.
        #expect((1...3).contains(fetched.faults.count), "\(fetched.said)")
        try await branch.expectComplete(["a"])
    }

    @Test func `a run that is killed continues at the office`() async throws {
        let branch = try await Branch(["a": 60_000_000])
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let list = try await branch.list(["a"], for: branch.client)
        let words = ["precache", list, "--json", "--from", server.url, "--from-token-file", branch.tokenFile]
        let killed = try ChildProcess(
            BuiltProgram.url.path, words + ["--limit-rate", "20M"], environment: branch.client.environment)
        try await killed.wait(for: .output, until: Self.hasMegabytes)
        killed.send(SIGKILL)
        _ = await killed.ending()
        let had = try await branch.client.receivedBytes()
        #expect(had > 0)
        let fetched = try await branch.fetch(["a"], from: server.url)
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromInternet == 0 && fetched.originBytes <= 2)
        #expect(fetched.totals.bytesFromPeers <= 60_000_000 - had + 2_000_000)
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    @Test(arguments: ["licensed", "always"])
    func `a damaged chunk on the office's disk comes from the internet`(policy: String) async throws {
        let branch = try await Branch(["a": 6_000_000], settings: #"{"storage":{"seal":"\#(policy)"}}"#)
        try await branch.stock(["a"])
        try Self.damage(branch.office.store, at: 3_500_000)
        let server = try await branch.serve()
        let fetched = try await branch.fetch(["a"], from: server.url, "--retries", "0")
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers > 1_000_000 && fetched.totals.bytesFromInternet >= 1_000_000)
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    /// Flips a bit in the largest file of a store.
    private static func damage(_ store: String, at offset: Int) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: store).map { "\(store)/\($0)" }
        func count(_ path: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
        let files = paths.filter { !$0.hasSuffix(".db") && !$0.contains(".db-") }
        let media = try #require(files.max { count($0) < count($1) })
        let file = try FileHandle(forUpdating: URL(filePath: media))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data([byte ^ 1]))
        try file.close()
    }

    @Test func `a token with another role is named, and one with the right role works`() async throws {
        let branch = try await Branch(["a": 200_000, "b": 200_000, "c": 200_000])
        try await branch.stock(["a", "b", "c"])
        let server = try await branch.serve("viewer")
        let second = try await branch.fetch(["a"], from: server.url)
        #expect(second.ending.status == 0 && second.totals.bytesFromPeers == 0)
        #expect(second.faults.count == 1 && second.said.contains("has not the role peer"), "\(second.said)")
        try branch.writeToken("wrong-token-of-the-client")
        let first = try await branch.fetch(["a", "b"], from: server.url)
        #expect(first.ending.status == 0 && first.totals.completed == 1)
        #expect(first.faults.count == 1 && first.said.contains("refuses the token"), "\(first.said)")
        #expect(!first.said.contains("wrong-token-of-the-client"))
        // The remedy of the error: a token with the role peer.
        let added = try await branch.office("access", "add", "client", "--role", "peer")
        try await server.process.wait(for: .errors) { $0.range(of: Data("was read again".utf8)) != nil }
        try branch.writeToken(added.text.trimmingCharacters(in: .newlines))
        let third = try await branch.fetch(["c"], from: server.url)
        #expect(third.totals.bytesFromPeers == 200_000 && third.faults.isEmpty, "\(third.said)")
        try await branch.expectComplete(["a", "b", "c"])
        await server.stop()
    }

    @Test func `a server that is not there is named, and the next one is asked`() async throws {
        let branch = try await Branch(["a": 200_000])
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let gone = "http://127.0.0.1:\(try Places.freePort())"
        // One token for two servers is refused; the remedy is a line for each.
        let list = try await branch.list(["a"], for: branch.client)
        let words = ["--from", gone, "--from", server.url, "--from-token-file", branch.tokenFile]
        let refused = try await branch.client.run(["precache", list] + words)
        #expect(refused.status == 78 && refused.errorText.contains("'URL TOKEN'"), "\(refused.errorText)")
        try branch.writeToken("# for this branch\n\(gone) one-token\n\(server.url) \(server.token)")
        let fetched = try await branch.fetch(["a"], from: gone, "--from", server.url)
        #expect(fetched.totals.bytesFromPeers == 200_000 && fetched.faults.count == 1, "\(fetched.said)")
        await server.stop()
    }

    @Test func `no byte of a lecture is in clear between the stores`() async throws {
        let branch = try await Branch(["a": 5_000_000], settings: #"{"storage":{"seal":"always"}}"#)
        try await branch.stock(["a"])
        let server = try await branch.serve()
        let tap = try Tap(to: server.port)
        // The address that the client uses is the tap's, so the server has to know it.
        let fetched = try await branch.fetch(["a"], from: tap.url)
        #expect(fetched.totals.bytesFromPeers == 5_000_000, "\(fetched.said)")
        let bytes = try branch.bytes("a")
        let seen = tap.bytes
        #expect(seen.count > 5_000_000)
        for place in stride(from: 0, to: bytes.count - 24, by: 250_007) {
            #expect(Data(seen).range(of: Data(bytes[place..<(place + 24)])) == nil, "byte \(place) is in clear")
        }
        await server.stop()
    }

    @Test func `the settings name branch servers, and options go before them`() async throws {
        let branch = try await Branch(["a": 200_000, "b": 200_000])
        try await branch.stock(["a", "b"])
        let server = try await branch.serve()
        let files = #""token_file":"\#(branch.tokenFile)","trust":["\#(branch.officeKey)"]"#
        let settings = #"{"peers":{"from":["\#(server.url)"],\#(files)}}"#
        let file = try branch.client.home.write(settings, to: ".config/lecturekit/config.json")
        _ = unsafe chmod(file, 0o600)
        let list = try await branch.list(["a"], for: branch.client)
        let ending = try await branch.client("precache", list, "--json")
        #expect(ending.text.contains(#""bytes_from_peers":200000"#), "\(ending.text)\(ending.errorText)")
        let shown = try await branch.client("config", "show")
        #expect(shown.text.contains("peers.from") && shown.text.contains(server.url))
        #expect(!shown.text.contains(server.token))
        await server.stop()
    }

    @Test func `options and files that cannot be used are refused before anything is fetched`() async throws {
        let branch = try await Branch(["a": 1000])
        try branch.writeToken("one")
        let list = try await branch.list(["a"], for: branch.client)
        func status(_ words: String...) async throws -> Int32 {
            let ending = try await branch.client.run(["precache", list] + words)
            #expect(!ending.errorText.contains("s3cret"), "\(ending.errorText)")
            return ending.status
        }
        let file = branch.tokenFile
        #expect(try await status("--from", "http://127.0.0.1:1") == 64)
        #expect(try await status("--from-token-file", file) == 64)
        #expect(try await status("--from", "http://u:s3cret@127.0.0.1:1", "--from-token-file", file) == 64)
        #expect(try await status("--from", "http://127.0.0.1:1/?t=s3cret", "--from-token-file", file) == 64)
        #expect(
            try await status("--from", "http://a:1", "--from", "http://b:1", "--from-token-file", file) == 78)
        #expect(try await status("--from", "http://127.0.0.1:1", "--from-token-file", "none") == 74)
        _ = unsafe chmod(file, 0o644)
        #expect(try await status("--from", "http://127.0.0.1:1", "--from-token-file", file) == 78)
        try branch.writeToken("a b c")
        #expect(try await status("--from", "http://127.0.0.1:1", "--from-token-file", file) == 78)
        #expect(try await branch.origin.requests().isEmpty)
    }
}
