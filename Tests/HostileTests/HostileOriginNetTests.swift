import HostileSuite
import LectureTestSupport
import Testing

/// The servers of the suite behave as their cases say; otherwise verdicts would mean nothing.
@Suite(.timeLimit(.minutes(10))) struct HostileOriginNetTests {
    private func evidence(_ name: String, _ client: Client = .lecturectl()) async throws -> Evidence {
        let hostileCase = try #require(HostileCase.all.first { $0.name == name })
        return try await Turnstile.shared.pass {
            try await Meeting(hostileCase, client, knowsDigest: false).hold()
        }
    }

    @Test func `HTTP/2 is used with a client that offers it, and HTTP/1.1 otherwise`() async throws {
        for name in ["h2-plain", "h2-padding", "h2-continuation", "h2-no-stream-at-first"] {
            #expect(try await evidence(name).journal.map(\.asked.version) == ["HTTP/2"], "\(name)")
        }
        #expect(try await evidence("h2-not-offered").journal.map(\.asked.version) == ["HTTP/1.1"])
    }

    @Test func `an invalid certificate is refused by the client, and the journal shows it`() async throws {
        for name in ["self-signed", "expired-certificate", "signed-by-server", "outside-constraints"] {
            let seen = try await evidence(name)
            #expect(seen.journal.isEmpty && !seen.handshakes.isEmpty, "\(name): \(seen.story)")
        }
    }

    @Test func `parallel ranges reach both edges`() async throws {
        let seen = try await evidence("edge-same")
        #expect(Set(seen.journal.map { $0.connection % 2 }) == [0, 1], "\(seen.story)")
    }

    @Test func `a client that trusts everyone and never retries breaks promises`() async throws {
        let curl = try Client.curl()
        let careless = Client(name: "careless", program: curl.program, takesDigest: false) { task in
            ["--insecure", "--silent", "--location", "--output", task.output, task.url]
        } environment: {
            ["HOME": $0.home]
        }
        for name in ["self-signed", "https-to-http", "truncation", "h2-reset-as-end", "certificate-turns-bad"] {
            let hostileCase = try #require(HostileCase.all.first { $0.name == name })
            let meeting = Meeting(hostileCase, careless, knowsDigest: false)
            let seen = try await Turnstile.shared.pass { try await meeting.hold() }
            #expect(!meeting.breaches(seen).isEmpty, "\(name) lets everything pass: \(seen.story)")
        }
    }
}
