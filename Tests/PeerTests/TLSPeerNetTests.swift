import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `precache --from` over TLS, with certificates that are made here by `openssl`.
@Suite(.timeLimit(.minutes(5))) struct TLSPeerNetTests {
    /// What is wrong with a branch server's certificate.
    enum Flaw: String, CaseIterable {
        /// It is of another name.
        case name
        /// Its authority is not known to the classroom.
        case authority
        /// It has expired.
        case time
        /// It is one of a client, and not of a server.
        case purpose

        /// What the reason has.
        var words: String {
            switch self {
            case .name: "127.0.0.1"
            case .authority, .purpose: "certificate"
            case .time: "expired"
            }
        }
    }

    /// An authority, and a certificate of it with its key.
    struct Identity {
        let authority: String
        let certificate: String
        let key: String

        /// Makes them.
        ///
        /// - Parameters:
        ///   - home: where they go.
        ///   - flaw: what is wrong with the certificate; nil for nothing.
        /// - Throws: without `openssl`.
        init(in home: TemporaryDirectory, _ flaw: Flaw? = nil) async throws {
            let place = home.file("tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            (authority, certificate, key) = ("\(place)/ca.pem", "\(place)/chain.pem", "\(place)/own.key")
            let names = flaw == .name ? "DNS:hq.example,IP:192.0.2.1" : "DNS:localhost,IP:127.0.0.1"
            let purpose = flaw == .purpose ? "clientAuth" : "serverAuth"
            // A certificate that ends the day before it was made has expired.
            let days = flaw == .time ? "-1" : "2"
            let script = """
                set -e; cd "$1"
                make="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc"
                openssl req -x509 $make -days 2 -subj "/CN=Authority" -keyout ca.key -out ca.pem
                openssl req $make -subj "/CN=office" -keyout own.key -out own.csr
                printf 'subjectAltName=%s\\nextendedKeyUsage=%s\\n' "$2" "$3" > own.ext
                openssl x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days "$4" -extfile own.ext \\
                    -out own.pem
                cat own.pem ca.pem > chain.pem
                """
            let ending = try await ChildProcess.run("/bin/bash", ["-c", script, "bash", place, names, purpose, days])
            try #require(ending.status == 0, "\(ending.errorText)")
        }

        /// The options of a server.
        var words: [String] { ["--tls-cert", certificate, "--tls-key", key] }
    }

    /// A branch whose office has a lecture, and serves it with TLS.
    private static func branch(
        _ count: Int, _ flaw: Flaw? = nil
    ) async throws -> (branch: Branch, server: OfficeServer, identity: Identity) {
        let branch = try await Branch(["a": count])
        try await branch.stock(["a"])
        let identity = try await Identity(in: branch.office.home, flaw)
        let server = try await OfficeServer.start(branch.office, identity.words)
        #expect(server.url.hasPrefix("https://127.0.0.1:"))
        try branch.writeToken(server.token)
        return (branch, server, identity)
    }

    @Test func `lectures come over TLS, by name and by address`() async throws {
        let (branch, server, identity) = try await Self.branch(9_000_000)
        let fetched = try await branch.fetch(["a"], from: server.url, "--ca-file", identity.authority)
        #expect(fetched.ending.status == 0 && fetched.faults.isEmpty, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers == 9_000_000 && fetched.totals.bytesFromInternet == 0)
        try await branch.expectComplete(["a"])
        #expect(try await branch.client("remove", "a").status == 0)
        let named = try await branch.fetch(
            ["a"], from: "https://localhost:\(server.port)", "--ca-file", identity.authority)
        #expect(named.totals.bytesFromPeers == 9_000_000 && named.faults.isEmpty, "\(named.said)")
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    @Test(arguments: Flaw.allCases)
    func `a certificate that proves nothing is refused, and the lecture comes from the internet`(
        flaw: Flaw
    ) async throws {
        let (branch, server, identity) = try await Self.branch(2_000_000, flaw)
        let other = try await Identity(in: branch.client.home)
        let authority = flaw == .authority ? other.authority : identity.authority
        let fetched = try await branch.fetch(
            ["a"], from: server.url, "--from-trust", branch.officeKey, "--ca-file", authority, "--retries", "0")
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers == 0 && fetched.totals.bytesFromInternet == 2_000_000)
        // One fault, with its code, the reason, and the option that helps.
        try #require(fetched.faults.count == 1, "\(fetched.said)")
        let fault = fetched.faults[0]
        #expect(fault.contains(#""code":-20321"#) && fault.contains(#""name":"peer_unusable""#), "\(fault)")
        #expect(fault.contains(flaw.words) && fault.contains("--ca-file"), "\(fault)")
        #expect(!fetched.said.contains(server.token), "a token is in the output")
        try await branch.expectComplete(["a"])
        let ending = await server.process.terminate()
        #expect(!ending.errorText.contains("/peer/"), "it was asked: \(ending.errorText)")
    }

    @Test func `without the option no authority of one's own is believed`() async throws {
        let (branch, server, _) = try await Self.branch(500_000)
        let fetched = try await branch.fetch(["a"], from: server.url)
        #expect(fetched.ending.status == 0 && fetched.totals.bytesFromInternet == 500_000, "\(fetched.said)")
        #expect(fetched.faults.count == 1 && fetched.said.contains("certificate"), "\(fetched.said)")
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    @Test(arguments: [true, false])
    func `a server that speaks TLS and a client that does not, or the reverse, cost nothing`(
        hasTLS: Bool
    ) async throws {
        let branch = try await Branch(["a": 500_000])
        try await branch.stock(["a"])
        let identity = try await Identity(in: branch.office.home)
        let server = try await OfficeServer.start(branch.office, hasTLS ? identity.words : [])
        try branch.writeToken(server.token)
        let url = "\(hasTLS ? "http" : "https")://127.0.0.1:\(server.port)"
        let fetched = try await branch.fetch(["a"], from: url, "--ca-file", identity.authority)
        #expect(fetched.ending.status == 0 && fetched.totals.bytesFromInternet == 500_000, "\(fetched.said)")
        #expect(fetched.faults.count == 1, "\(fetched.said)")
        try await branch.expectComplete(["a"])
        await server.stop()
    }

    /// Whether a run has reported 10 MB or more of a lecture.
    @Sendable private static func hasMegabytes(_ output: Data) -> Bool {
        String(decoding: output, as: UTF8.self).firstMatch(of: /"state":"downloading","bytes":\d{8}/) != nil
    }

    private static func start(
        _ branch: Branch, _ server: OfficeServer, _ identity: Identity
    ) async throws -> ChildProcess {
        let list = try await branch.list(["a"], for: branch.client)
        let words = [
            "precache", list, "--json", "--from", server.url, "--from-token-file", branch.tokenFile, "--ca-file",
            identity.authority, "--limit-rate", "20M",
        ]
        let process = try ChildProcess(BuiltProgram.url.path, words, environment: branch.client.environment)
        try await process.wait(for: .output, until: Self.hasMegabytes)
        return process
    }

    @Test func `a server that is killed in the middle of TLS costs nothing that has arrived`() async throws {
        let (branch, server, identity) = try await Self.branch(60_000_000)
        let process = try await Self.start(branch, server, identity)
        server.process.send(SIGKILL)
        let fetched = try Fetched(await process.ending(), try await branch.origin.requests())
        _ = await server.process.ending()
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers > 0 && fetched.totals.bytesFromInternet > 0, "\(fetched.said)")
        #expect(fetched.totals.bytesFetched == 60_000_000, "nothing came twice")
        #expect((1...3).contains(fetched.faults.count), "\(fetched.said)")
        try await branch.expectComplete(["a"])
    }

    @Test func `a run that is killed in the middle of TLS continues at the office`() async throws {
        let (branch, server, identity) = try await Self.branch(60_000_000)
        let process = try await Self.start(branch, server, identity)
        process.send(SIGKILL)
        _ = await process.ending()
        let had = try await branch.client.receivedBytes()
        #expect(had > 0)
        let fetched = try await branch.fetch(["a"], from: server.url, "--ca-file", identity.authority)
        #expect(fetched.ending.status == 0 && fetched.totals.completed == 1, "\(fetched.said)")
        #expect(fetched.totals.bytesFromInternet == 0 && fetched.faults.isEmpty, "\(fetched.said)")
        #expect(fetched.totals.bytesFromPeers <= 60_000_000 - had + 2_000_000)
        try await branch.expectComplete(["a"])
        await server.stop()
    }
}
