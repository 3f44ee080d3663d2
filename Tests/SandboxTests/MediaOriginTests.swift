import Foundation
import LectureTestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct MediaOriginNetTests {
    /// A small generated lecture, and all its bytes.
    private let path = "/media/bytes-64K-7.mp4"

    private func start(_ arguments: [String] = ["--no-https"]) async throws -> (SandboxOrigin, String, Data) {
        let sandbox = try await SandboxOrigin.start(arguments)
        let url = sandbox.http + path
        return (sandbox, url, try await Answer.get(url).body)
    }

    @Test func `the whole lecture comes with strong validators and its length`() async throws {
        let (sandbox, url, _) = try await start()
        let answer = try await Answer.get(url)
        #expect(answer.status == 200)
        #expect(answer.body.count == 65536)
        #expect(answer.fields["etag"]?.hasPrefix("\"") == true)
        #expect(answer.fields["last-modified"] == "Mon, 05 Jan 2026 00:00:00 GMT")
        #expect(answer.fields["accept-ranges"] == "bytes")
        #expect(answer.fields["content-length"] == "65536")
        #expect(answer.fields["content-type"] == "video/mp4")
        #expect(answer.fields["date"] != nil)
        await sandbox.stop()
    }

    @Test func `HEAD says the same as GET and sends no body`() async throws {
        let (sandbox, url, _) = try await start()
        let get = try await Answer.get(url).fields
        let head = try await Answer.get(url, ["--head"])
        #expect(try await sandbox.requests().last?.bytes == 0)
        #expect(head.fields["content-length"] == get["content-length"])
        #expect(head.fields["etag"] == get["etag"])
        // A range means nothing with HEAD (RFC 9110 section 14.2).
        #expect(try await Answer.get(url, ["--head", "--header", "Range: bytes=0-9"]).status == 200)
        await sandbox.stop()
    }

    @Test(arguments: [
        ("0-0", 0..<1), ("0-9", 0..<10), ("7-8", 7..<9), ("65535-65535", 65535..<65536), ("65000-", 65000..<65536),
        ("-1", 65535..<65536), ("-65536", 0..<65536), ("-99999999999999999999", 0..<65536),
        ("3-99999999999999999999", 3..<65536), ("4093-12289", 4093..<12290),
    ])
    func `a range brings exactly its bytes`(_ range: String, _ bytes: Range<Int>) async throws {
        let (sandbox, url, whole) = try await start()
        let answer = try await Answer.get(url, ["--header", "Range: bytes=\(range)"])
        #expect(answer.status == 206)
        #expect(answer.fields["content-range"] == "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/65536")
        #expect(answer.body == whole[bytes])
        await sandbox.stop()
    }

    @Test(arguments: ["65536-", "70000-80000", "-0"])
    func `a range without an existing byte is answered with 416 and the length`(_ range: String) async throws {
        let (sandbox, url, _) = try await start()
        let answer = try await Answer.get(url, ["--header", "Range: bytes=\(range)"])
        #expect(answer.status == 416)
        #expect(answer.fields["content-range"] == "bytes */65536")
        await sandbox.stop()
    }

    @Test(arguments: ["items=0-9", "bytes=9-0", "bytes=a-b", "bytes=--1", "bytes=1", "bytes=0-1-2", "bytes=0-9,20-29"])
    func `an invalid range, and several at once, bring the whole lecture`(_ field: String) async throws {
        let (sandbox, url, whole) = try await start()
        let answer = try await Answer.get(url, ["--header", "Range: \(field)"])
        #expect(answer.status == 200)
        #expect(answer.body == whole)
        await sandbox.stop()
    }

    @Test func `If-Range permits a range only with the current strong validator`() async throws {
        let (sandbox, url, _) = try await start()
        let fields = try await Answer.get(url).fields
        let tag = try #require(fields["etag"])
        let date = try #require(fields["last-modified"])
        let cases = [
            (tag, 206), ("\"other\"", 200), ("W/" + tag, 200), (date, 206), ("Sun, 06 Nov 1994 08:49:37 GMT", 200),
            ("nonsense", 200),
        ]
        for (condition, status) in cases {
            let answer = try await Answer.get(
                url, ["--header", "Range: bytes=5-9", "--header", "If-Range: \(condition)"])
            #expect(answer.status == status, "If-Range: \(condition)")
        }
        await sandbox.stop()
    }

    @Test func `preconditions are judged in the order of RFC 9110`() async throws {
        let (sandbox, url, _) = try await start()
        let tag = try #require(try await Answer.get(url).fields["etag"])
        let old = "Sun, 06 Nov 1994 08:49:37 GMT"
        let late = "Fri, 01 Jan 2100 00:00:00 GMT"
        let cases: [([String], Int)] = [
            (["If-None-Match: \(tag)"], 304), (["If-None-Match: W/\(tag)"], 304), (["If-None-Match: *"], 304),
            (["If-None-Match: \"a\", \(tag)"], 304), (["If-None-Match: \"a\""], 200), (["If-Match: \(tag)"], 200),
            (["If-Match: *"], 200), (["If-Match: \"a\""], 412), (["If-Modified-Since: \(late)"], 304),
            (["If-Modified-Since: \(old)"], 200), (["If-Unmodified-Since: \(old)"], 412),
            (["If-None-Match: \"a\"", "If-Modified-Since: \(late)"], 200),
            (["If-Match: \(tag)", "If-Unmodified-Since: \(old)"], 200),
        ]
        for (fields, status) in cases {
            let answer = try await Answer.get(url, fields.flatMap { ["--header", $0] })
            #expect(answer.status == status, "\(fields)")
        }
        await sandbox.stop()
    }

    @Test func `digest fields name the whole lecture, with a range too`() async throws {
        let (sandbox, url, whole) = try await start(["--no-https", "--digests", "both"])
        let directory = try TemporaryDirectory()
        let file = try directory.write(Array(whole), to: "whole")
        let sum = try await ChildProcess.run(
            Places.command("openssl"), ["dgst", "-sha256", "-binary", file])
        let digest = sum.output.base64EncodedString()
        for arguments in [[], ["--range", "1-2"]] {
            let answer = try await Answer.get(url, arguments)
            #expect(answer.fields["repr-digest"] == "sha-256=:\(digest):")
            #expect(answer.fields["digest"] == "SHA-256=\(digest)")
        }
        await sandbox.stop()
    }

    @Test func `ranges of a gigabyte cost only their own length`() async throws {
        let (sandbox, _, _) = try await start()
        let url = sandbox.http + "/media/bytes-1G-3.mp4"
        let whole = try await Answer.get(url, ["--range", "1073741000-1073741823"]).body
        let part = try await Answer.get(url, ["--range", "1073741500-1073741600"]).body
        #expect(whole.count == 824)
        #expect(part == whole[500...600])
        await sandbox.stop()
    }

    @Test func `HTTPS is served with a certificate of its authority`() async throws {
        let (sandbox, _, whole) = try await start([])
        let trusted = try await Answer.get(sandbox.https + path, ["--cacert", sandbox.authorityFile])
        #expect(trusted.body == whole)
        let distrusted = try await Answer.get(sandbox.https + path)
        #expect(distrusted.exitStatus == 60)
        await sandbox.stop()
    }

    @Test func `unknown paths, methods and hosts are refused`() async throws {
        let (sandbox, url, _) = try await start()
        #expect(try await Answer.get(sandbox.http + "/media/none.mp4").status == 404)
        #expect(try await Answer.get(sandbox.http + "/media/bytes-9999999G-1.mp4").status == 404)
        #expect(try await Answer.get(sandbox.http + "/nothing").status == 404)
        #expect(try await Answer.get(url, ["--request", "DELETE"]).status == 405)
        #expect(try await Answer.get(url, ["--header", "Host: example.org"]).status == 421)
        await sandbox.stop()
    }
}
