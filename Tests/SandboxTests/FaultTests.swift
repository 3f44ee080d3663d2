import Foundation
import LectureTestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct FaultNetTests {
    private let path = "/media/bytes-256K-9.mp4"
    private let size = 256 << 10

    private func start() async throws -> (SandboxOrigin, String) {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        return (sandbox, sandbox.http + path)
    }

    @Test func `drop ends the connection after so many bytes`() async throws {
        let (sandbox, url) = try await start()
        let answer = try await Answer.get(url + "?fault=drop:65536")
        #expect(answer.status == 200)
        #expect(answer.exitStatus == 18)
        #expect(answer.body.count == 65536)
        await sandbox.stop()
    }

    @Test func `rst resets the connection`() async throws {
        let (sandbox, url) = try await start()
        let answer = try await Answer.get(url + "?fault=rst:1000")
        #expect(answer.exitStatus == 56)
        await sandbox.stop()
    }

    @Test func `stall keeps the connection open and silent`() async throws {
        let (sandbox, url) = try await start()
        let answer = try await Answer.get(url + "?fault=stall:1000", ["--max-time", "0.5"])
        #expect(answer.exitStatus == 28)
        #expect(answer.body.count == 1000)
        await sandbox.stop()
    }

    @Test func `slow sends at its rate`() async throws {
        let (sandbox, url) = try await start()
        let clock = ContinuousClock()
        let elapsed = try await clock.measure { _ = try await Answer.get(url + "?fault=slow:524288") }
        #expect(elapsed > .milliseconds(450))
        await sandbox.stop()
    }

    @Test func `several faults at once all apply`() async throws {
        let (sandbox, url) = try await start()
        let clock = ContinuousClock()
        let elapsed = try await clock.measure {
            let answer = try await Answer.get(url + "?fault=delay:200,weak-etag,drop:10")
            #expect(answer.body.count == 10)
            #expect(answer.fields["etag"]?.hasPrefix("W/\"") == true)
        }
        #expect(elapsed > .milliseconds(200))
        await sandbox.stop()
    }

    @Test func `wrong-range names another range than it sends`() async throws {
        let (sandbox, url) = try await start()
        let right = try await Answer.get(url, ["--range", "10-19"])
        let wrong = try await Answer.get(url + "?fault=wrong-range", ["--range", "10-19"])
        #expect(wrong.fields["content-range"] == "bytes 11-20/\(size)")
        #expect(wrong.body == right.body)
        await sandbox.stop()
    }

    @Test func `shift sends other bytes than it names`() async throws {
        let (sandbox, url) = try await start()
        let elsewhere = try await Answer.get(url, ["--range", "15-24"])
        let shifted = try await Answer.get(url + "?fault=shift:5", ["--range", "10-19"])
        #expect(shifted.fields["content-range"] == "bytes 10-19/\(size)")
        #expect(shifted.body == elsewhere.body)
        await sandbox.stop()
    }

    @Test func `short, unknown-total and multipart alter a range within the standard`() async throws {
        let (sandbox, url) = try await start()
        let short = try await Answer.get(url + "?fault=short:4", ["--range", "10-19"])
        #expect(short.fields["content-range"] == "bytes 10-13/\(size)")
        #expect(short.body.count == 4)
        let unknown = try await Answer.get(url + "?fault=unknown-total", ["--range", "10-19"])
        #expect(unknown.fields["content-range"] == "bytes 10-19/*")
        let parts = try await Answer.get(url + "?fault=multipart", ["--range", "0-1,4-5"])
        #expect(parts.status == 206)
        #expect(parts.fields["content-type"] == "multipart/byteranges; boundary=lecture-sandbox-boundary")
        #expect(String(decoding: parts.body, as: UTF8.self).contains("Content-Range: bytes 4-5/\(size)"))
        await sandbox.stop()
    }

    @Test func `changed serves another version after so many requests`() async throws {
        let (sandbox, url) = try await start()
        let first = try await Answer.get(url + "?fault=changed:after=2")
        let second = try await Answer.get(url + "?fault=changed:after=2")
        let third = try await Answer.get(url + "?fault=changed:after=2")
        #expect(first.body == second.body)
        #expect(first.fields["etag"] == second.fields["etag"])
        #expect(third.body != first.body)
        #expect(third.body.count == first.body.count)
        #expect(third.fields["etag"] != first.fields["etag"])
        #expect(third.fields["last-modified"] != first.fields["last-modified"])
        let one = try await Answer.get(url + "?fault=changed;bytes=1;keep-validator")
        #expect(one.fields["etag"] == first.fields["etag"])
        #expect(zip(one.body, first.body).count { $0 != $1 } == 1)
        await sandbox.stop()
    }

    @Test func `ignore-if-range sends a range of the new version to a client of the old one`() async throws {
        let (sandbox, url) = try await start()
        let tag = try #require(try await Answer.get(url).fields["etag"])
        let arguments = ["--range", "0-9", "--header", "If-Range: \(tag)"]
        #expect(try await Answer.get(url + "?fault=changed", arguments).status == 200)
        let answer = try await Answer.get(url + "?fault=changed,ignore-if-range", arguments)
        #expect(answer.status == 206)
        #expect(answer.fields["etag"] != tag)
        await sandbox.stop()
    }

    @Test func `status requests a wait, in seconds or by date, and stops after so many times`() async throws {
        let (sandbox, url) = try await start()
        for _ in 0..<2 {
            let answer = try await Answer.get(url + "?fault=503;retry=2;times=2")
            #expect(answer.status == 503)
            #expect(answer.fields["retry-after"] == "2")
        }
        #expect(try await Answer.get(url + "?fault=503;retry=2;times=2").status == 200)
        let dated = try await Answer.get(url + "?fault=status:429;retry-date=60")
        #expect(dated.status == 429)
        #expect(dated.fields["retry-after"]?.hasSuffix(" GMT") == true)
        await sandbox.stop()
    }

    @Test func `html is a foreign web page in place of media`() async throws {
        let (sandbox, url) = try await start()
        let answer = try await Answer.get(url + "?fault=html", ["--range", "5-9"])
        #expect(answer.status == 200)
        #expect(answer.fields["content-type"]?.hasPrefix("text/html") == true)
        await sandbox.stop()
    }

    @Test func `gzip is a real content coding of the same bytes`() async throws {
        let (sandbox, url) = try await start()
        let plain = try await Answer.get(url)
        let coded = try await Answer.get(url + "?fault=gzip")
        #expect(coded.fields["content-encoding"] == "gzip")
        #expect(coded.body != plain.body)
        let decoded = try await Answer.get(url + "?fault=gzip", ["--compressed"])
        #expect(decoded.body == plain.body)
        await sandbox.stop()
    }

    @Test func `no-range, no-length and the missing validators omit their fields`() async throws {
        let (sandbox, url) = try await start()
        let whole = try await Answer.get(url + "?fault=no-range", ["--range", "5-9"])
        #expect(whole.status == 200)
        #expect(whole.fields["accept-ranges"] == nil)
        let unknown = try await Answer.get(url + "?fault=no-length")
        #expect(unknown.fields["content-length"] == nil)
        #expect(unknown.body.count == size)
        #expect(unknown.exitStatus == 0)
        let bare = try await Answer.get(url + "?fault=no-validator")
        #expect(bare.fields["etag"] == nil && bare.fields["last-modified"] == nil)
        let dated = try await Answer.get(url + "?fault=no-etag")
        #expect(dated.fields["etag"] == nil && dated.fields["last-modified"] != nil)
        await sandbox.stop()
    }

    @Test func `length lies about the body in both directions`() async throws {
        let (sandbox, url) = try await start()
        let long = try await Answer.get(url + "?fault=length:%2B100")
        #expect(long.fields["content-length"] == String(size + 100))
        #expect(long.exitStatus == 18)
        let short = try await Answer.get(url + "?fault=length:-100")
        #expect(short.body.count == size - 100)
        await sandbox.stop()
    }

    @Test func `redirect leads through so many hops, redirect-to elsewhere`() async throws {
        let (sandbox, url) = try await start()
        let direct = try await Answer.get(url)
        let hopping = try await Answer.get(url + "?fault=redirect:3", ["--location", "--max-redirs", "3"])
        #expect(hopping.body == direct.body)
        let tooMany = try await Answer.get(url + "?fault=redirect:3", ["--location", "--max-redirs", "2"])
        #expect(tooMany.exitStatus == 47)
        let elsewhere = try await Answer.get(url + "?fault=redirect-to:ftp://127.0.0.1/")
        #expect(elsewhere.status == 302)
        #expect(elsewhere.fields["location"] == "ftp://127.0.0.1/")
        await sandbox.stop()
    }

    @Test func `a fault that is not understood is named`() async throws {
        let (sandbox, url) = try await start()
        for fault in ["wobble", "drop:x", "slow", "status:99", "drop:1;colour=red"] {
            let answer = try await Answer.get(url + "?fault=\(fault)")
            #expect(answer.status == 400, "\(fault)")
        }
        await sandbox.stop()
    }

    @Test func `control sets a fault for everyone, and reset forgets it`() async throws {
        let (sandbox, url) = try await start()
        try await sandbox.set(fault: "503", on: path)
        #expect(try await Answer.get(url).status == 503)
        try await sandbox.set(fault: "", on: path)
        #expect(try await Answer.get(url).status == 200)
        try await sandbox.set(fault: "404;times=1", on: "/media/*")
        #expect(try await Answer.get(url).status == 404)
        #expect(try await Answer.get(url).status == 200)
        try await sandbox.set(fault: "403", on: "/media/*")
        try await sandbox.reset()
        #expect(try await Answer.get(url).status == 200)
        #expect(try await sandbox.requests().map(\.status) == [200])
        await #expect(throws: ChildProcess.Failure.self) { try await sandbox.set(fault: "wobble", on: path) }
        await sandbox.stop()
    }

    @Test func `the log shows requests and sent bytes`() async throws {
        let (sandbox, url) = try await start()
        _ = try await Answer.get(url, ["--range", "0-9", "--header", "If-Range: \"x\"", url, "--next", "--silent"])
        let requests = try await sandbox.requests(for: path)
        #expect(requests.map(\.status) == [200, 200])
        #expect(requests[0].range == "bytes=0-9")
        #expect(requests[0].ifRange == "\"x\"")
        #expect(requests[0].bytes == size)
        #expect(requests[1].range == nil)
        #expect(requests[0].connection == requests[1].connection)
        await sandbox.stop()
    }

    @Test func `a stalled answer does not delay the shutdown of the server`() async throws {
        let (sandbox, url) = try await start()
        let client = try ChildProcess(Places.command("curl"), ["--silent", "--no-buffer", url + "?fault=stall:1"])
        try await client.wait(for: .output) { !$0.isEmpty }
        await sandbox.stop()
        #expect(await client.ending().status != 0)
    }
}
