import Foundation
import LectureTestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct GatewayNetTests {
    private func descriptor(_ answer: Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    @Test func `a token opens the descriptor of its lecture`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let answer = try await Answer.get(try await sandbox.link(key: "ranges-and-resuming"))
        #expect(answer.fields["content-type"] == "application/vnd.lecturekit.descriptor+json")
        let descriptor = try descriptor(answer)
        #expect(descriptor["media_content_key"] as? String == "ranges-and-resuming")
        #expect(descriptor["title"] as? String == "Ranges and resuming")
        #expect(descriptor["client_user_id"] as? String == "learner")
        let media = try #require(descriptor["media"] as? [String: Any])
        let fixture = Places.repository() + "/Tools/lecture-sandbox/Fixtures/ranges-and-resuming.mp4"
        let body = try await Answer.get(try #require(media["url"] as? String)).body
        #expect(body == (try Data(contentsOf: URL(filePath: fixture))))
        #expect(media["size"] as? Int == body.count)
        let sum = try await ChildProcess.run(Places.command("sha256sum"), [fixture])
        #expect(media["sha256"] as? String == String(sum.text.prefix(64)))
        await sandbox.stop()
    }

    @Test func `the three paths of the gateway answer alike`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let link = try await sandbox.link(key: "bytes-1M-4")
        for url in [link, link.replacing("/si?", with: "/s?"), sandbox.http + "/i/bytes-1M-4"] {
            let descriptor = try descriptor(try await Answer.get(url))
            #expect(descriptor["media_content_key"] as? String == "bytes-1M-4")
        }
        await sandbox.stop()
    }

    @Test func `expired, forged and broken tokens are refused with the vendor's numbers`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let good = try await sandbox.link(key: "bytes-1M-4")
        let late = try await sandbox.link(key: "bytes-1M-4", expiresIn: -1)
        // {"alg":"none"}
        let unsigned = sandbox.http + "/si?jwt=eyJhbGciOiJub25lIn0.e30."
        let forged = good.replacing("custom_key", with: "x").replacing("&", with: "A&")
        let cases = [(late, 4085), (forged, 4007), (unsigned, 4007), (sandbox.http + "/si", 4007)]
        for (url, number) in cases {
            let answer = try await Answer.get(url)
            #expect(answer.status == 403)
            #expect(try descriptor(answer)["error"] as? Int == number, "\(url)")
        }
        #expect(try await Answer.get(sandbox.http + "/i/unknown").status == 404)
        await sandbox.stop()
    }

    @Test func `a token of openssl is accepted, so both sides agree on HS256`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        func base64URL(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let head = base64URL(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let claims = base64URL(Data(#"{"cuid":"u1","expt":4102444800,"mc":[{"mckey":"bytes-1M-4"}]}"#.utf8))
        let directory = try TemporaryDirectory()
        let signed = try directory.write("\(head).\(claims)", to: "signed")
        let secret = try String(contentsOfFile: sandbox.secretFile, encoding: .utf8)
        let mac = try await ChildProcess.run(
            Places.command("openssl"), ["dgst", "-sha256", "-hmac", secret, "-binary", signed])
        let answer = try await Answer.get("\(sandbox.http)/si?jwt=\(head).\(claims).\(base64URL(mac.output))")
        #expect(try descriptor(answer)["client_user_id"] as? String == "u1")
        await sandbox.stop()
    }

    @Test func `a leased address expires, and cannot be used for another lecture`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https", "--lease-seconds", "0", "--require-lease"])
        let media = try #require(
            try descriptor(try await Answer.get(sandbox.http + "/i/bytes-1M-4"))["media"] as? [String: Any])
        let url = try #require(media["url"] as? String)
        #expect(try await Answer.get(url).status == 403)
        #expect(try await Answer.get(sandbox.http + "/media/bytes-1M-4.mp4").status == 403)
        await sandbox.stop()

        let patient = try await SandboxOrigin.start(["--no-https", "--require-lease"])
        let second = try descriptor(try await Answer.get(patient.http + "/i/bytes-1M-4?media-fault=drop:10"))
        let leased = try #require((second["media"] as? [String: Any])?["url"] as? String)
        #expect(try await Answer.get(leased).body.count == 10)
        #expect(try await Answer.get(leased.replacing("1M-4", with: "1M-5")).status == 403)
        await patient.stop()
    }

    @Test func `a descriptor can be altered for tests of the reader`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let url = sandbox.http + "/i/bytes-1M-4?set.title=..%2Fa%00b&set.new=x&digest=none"
        let descriptor = try descriptor(try await Answer.get(url))
        #expect(descriptor["title"] as? String == "../a\u{0}b")
        #expect(descriptor["new"] as? String == "x")
        #expect((descriptor["media"] as? [String: Any])?["sha256"] == nil)
        await sandbox.stop()
    }

    @Test func `the course list names every lecture with its digest in three forms`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https", "--bytes", "1M-1?fault=slow:9999999"])
        let lines = try await Answer.get(sandbox.http + "/course.jsonl").body.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 4)
        for line in lines {
            let entry = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            let body = try await Answer.get(try #require(entry["url"] as? String)).body
            #expect(body.count == entry["size"] as? Int)
            let directory = try TemporaryDirectory()
            let file = try directory.write(Array(body), to: "lecture")
            let sum = try await ChildProcess.run(Places.command("sha256sum"), [file])
            #expect(entry["sha256"] as? String == String(sum.text.prefix(64)))
        }
        let table = String(decoding: try await Answer.get(sandbox.http + "/course.csv").body, as: UTF8.self)
        #expect(table.split(separator: "\n").map { $0.split(separator: ",").count } == [7, 7, 7, 7, 7])
        let text = String(decoding: try await Answer.get(sandbox.http + "/course.txt").body, as: UTF8.self)
        #expect(text.split(separator: "\n").count { $0.hasPrefix("http://") } == 4)
        let digest = try await sandbox.sha256(of: "/media/bytes-1M-1.mp4")
        #expect(table.contains(digest))
        #expect(try await sandbox.sha256(of: "/media/bytes-1M-1.mp4", version: 1) != digest)
        await sandbox.stop()
    }

    @Test func `invalid arguments end with 64 and a hint`() async throws {
        for arguments in [["--wobble"], ["--port"], ["--port", "x"], ["--bytes", "7"], ["token"], ["certificates"]] {
            let ending = try await ChildProcess.run(Places.builtProduct("lecture-sandbox"), arguments)
            #expect(ending.status == 64, "\(arguments)")
            #expect(ending.errorText.contains("--help"))
        }
    }
}
