import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// TLS of the built program, with curl and a certificate that is made here.
@Suite(.timeLimit(.minutes(3))) struct TLSNetTests {
    /// Makes a certificate for `localhost` and this machine's address.
    private static func identity(in home: TemporaryDirectory, _ name: String) async throws -> (
        cert: String, key: String
    ) {
        let (cert, key) = (home.file("\(name).pem"), home.file("\(name).key"))
        let ending = try await ChildProcess.run(
            Places.command("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
                "-out", cert,
            ])
        try #require(ending.status == 0, "\(ending.errorText)")
        return (cert, key)
    }

    @Test func `curl trusts the certificate, and nothing is said without TLS or by an old version`() async throws {
        let me = try BadDay()
        let (cert, key) = try await Self.identity(in: me.home, "own")
        let served = try await ServedStore(me, "--tls-cert", cert, "--tls-key", key)
        #expect(served.url.hasPrefix("https://127.0.0.1:"))
        #expect(try await served.ask("/healthz", "--cacert", cert).text == "ok\n")
        #expect(try await served.ask("/healthz", "--cacert", cert, "--tls-max", "1.2").status == 200)
        #expect(try await served.ask("/metrics", "--cacert", cert).status == 200)
        let foreign = try await Self.identity(in: me.home, "foreign")
        let distrusted = try await served.ask("/healthz", "--cacert", foreign.cert)
        #expect(distrusted.status == 0 && distrusted.errors.contains("certificate"), "\(distrusted.errors)")
        let words = ["-q", "-s", "-S", "--max-time", "20", "http://127.0.0.1:\(served.port)/healthz"]
        #expect(try await ChildProcess.run("/usr/bin/curl", words).status != 0, "HTTP without TLS")
        let old = try await ChildProcess.run(
            "/bin/bash",
            ["-c", "openssl s_client -tls1_1 -cipher DEFAULT@SECLEVEL=0 -connect 127.0.0.1:\(served.port) </dev/null"])
        #expect(old.status != 0, "TLS 1.1")
        // Many connections that never begin TLS keep no client away.
        let silent = (0..<50).map { _ in RawPeer(port: served.port) }
        #expect(try await served.ask("/healthz", "--cacert", cert).status == 200)
        for peer in silent { peer?.end() }
        await served.stop()
    }

    @Test func `another address is served with TLS, and sessions are for TLS only`() async throws {
        let me = try BadDay()
        let (cert, key) = try await Self.identity(in: me.home, "own")
        let served = try await ServedStore(me, "--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
        let ending = try await ChildProcess.run(
            "/usr/bin/curl",
            ["-q", "-s", "-S", "--max-time", "20", "--cacert", cert, "https://localhost:\(served.port)/healthz"])
        #expect(ending.text == "ok\n", "\(ending.errorText)")
        await served.stop()
    }

    @Test func `a key that others may read, or that belongs to another certificate, is refused`() async throws {
        let me = try BadDay()
        #expect(try await me("access", "add", "ada", "--role", "viewer").status == 0)
        let (own, other) = (
            try await Self.identity(in: me.home, "own"), try await Self.identity(in: me.home, "other")
        )
        func status(_ cert: String, _ key: String) async throws -> (Int32, String) {
            let ending = try await me("serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
            return (ending.status, ending.errorText)
        }
        let mixed = try await status(own.cert, other.key)
        #expect(mixed.0 == 78 && mixed.1.contains("belong together"), "\(mixed)")
        let swapped = try await status(own.key, own.cert)
        #expect(swapped.0 != 0)
        #expect(try await status(own.cert, me.home.file("none")).0 == 74)
        _ = unsafe chmod(own.key, 0o644)
        let exposed = try await status(own.cert, own.key)
        #expect(exposed.0 == 78 && exposed.1.contains("own.key"), "\(exposed)")
    }
}
