import Foundation
import LectureTestSupport
import Testing

/// The sandbox's LMS on the wire.
@Suite(.timeLimit(.minutes(2))) struct LMSNetTests {
    private static func event(_ id: String, user: String = "u", session: String = "s", _ number: Int = 1) -> String {
        #"{"event_id":"\#(id)","user":"\#(user)","session":"\#(session)","seq":\#(number),"time_ms":5,"report":{}}"#
    }

    /// Sends a batch of the `json` format.
    @discardableResult
    private func send(
        _ sandbox: SandboxOrigin, _ key: String, _ events: [String], _ more: [String] = [],
        to path: String = "/lms/json"
    ) async throws -> Answer {
        let body = #"{"batch_id":"\#(key)","events":[\#(events.joined(separator: ","))]}"#
        return try await Answer.get(
            sandbox.http + path,
            ["-H", "Idempotency-Key: \(key)", "-H", "Content-Type: application/json", "--data-binary", body] + more)
    }

    private func text(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test func `a batch takes effect once, however often it comes`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        for _ in 0..<3 {
            let answer = try await send(sandbox, "b1", [Self.event("e1"), Self.event("e2", 2)])
            #expect(answer.status == 200)
            #expect(text(answer) == "{\"ok\":true,\"batch_id\":\"b1\"}\n")
        }
        let sums = try await sandbox.lmsSummary()
        #expect([sums.requests, sums.taken, sums.replayed, sums.events, sums.once] == [3, 1, 2, 2, 2] as [Int])
        #expect(try await sandbox.lmsEvents().map(\.came) == [3, 3] as [Int])
        #expect(sums.keyViolations == 0 && sums.contentViolations == 0 && sums.outOfOrder == 0)
        await sandbox.stop()
    }

    @Test func `a key with other bytes, a report under two keys and a wrong order are detected`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await send(sandbox, "b1", [Self.event("e1", 5)])
        #expect(try await send(sandbox, "b1", [Self.event("e2", 6)]).status == 422)
        #expect(try await send(sandbox, "b2", [Self.event("e1", 5)]).status == 200)
        #expect(try await send(sandbox, "b3", [Self.event("e3", 4)]).status == 200)
        #expect(try await send(sandbox, "b4", [Self.event("e1", 9)]).status == 409)
        let sums = try await sandbox.lmsSummary()
        #expect([sums.keyViolations, sums.contentViolations, sums.more, sums.outOfOrder] == [1, 1, 1, 1] as [Int])
        #expect(sums.never == 1)
        await sandbox.stop()
    }

    @Test func `servers of other names know nothing of each other`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.setLMS(habits: "status:503;retry=7", on: "/lms/json/b")
        #expect(try await send(sandbox, "b1", [Self.event("e1")], to: "/lms/json/a").status == 200)
        let refused = try await send(sandbox, "b1", [Self.event("e1")], to: "/lms/json/b")
        #expect(refused.status == 503 && refused.fields["retry-after"] == "7")
        #expect(try await sandbox.lmsSummary("/lms/json/a").once == 1)
        #expect(try await sandbox.lmsSummary("/lms/json/b").once == 0)
        #expect(try await sandbox.lmsSummary().requests == 0)
        await sandbox.stop()
    }

    @Test func `acknowledgements are lost, late or halved, and the reports are still accepted`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let ends: [(habits: String, status: Int, curl: Int32)] = [
            ("lose:100", 0, 52), ("late:100;status=502", 502, 0), ("half", 200, 18), ("hang:100", 0, 28),
        ]
        for (index, end) in ends.enumerated() {
            try await sandbox.setLMS(habits: end.habits)
            let answer = try await send(sandbox, "b\(index)", [Self.event("e\(index)", index)], ["--max-time", "1"])
            #expect(answer.status == end.status, "\(end.habits)")
            #expect(answer.exitStatus == end.curl, "\(end.habits)")
        }
        let sums = try await sandbox.lmsSummary()
        #expect(sums.once == 4)
        #expect(sums.lost == 3)
        await sandbox.stop()
    }

    @Test(arguments: [
        ("drop:100", 0), ("timeout:100", 0), ("status:501", 501), ("busy:100", 429),
        ("body-limit:10", 413), ("count-limit:1", 413), ("html", 200), ("not-ok", 200), ("conflict-other", 409),
        ("poison:e2", 400), ("poison:e2;status=422", 422), ("authorization:Bearer x", 401), ("redirect", 307),
        ("redirect-to:http://127.0.0.1:9/", 307),
    ])
    func `refused reports have no effect`(_ habits: String, _ status: Int) async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.setLMS(habits: habits)
        let answer = try await send(
            sandbox, "b", [Self.event("e1"), Self.event("e2", 2)], ["--max-time", "1", "-H", "Expect:"])
        #expect(answer.status == status)
        #expect(try await sandbox.lmsSummary().once == 0)
        await sandbox.stop()
    }

    @Test(arguments: ["204", "empty", "text", "php", "utf16", "latin1", "mark", "other-id", "slow:1"])
    func `answers have every form, and the reports are accepted`(_ habits: String) async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.setLMS(habits: habits)
        let answer = try await send(sandbox, "b", [Self.event("e1")])
        #expect(answer.status == (habits == "204" ? 204 : 200))
        #expect(try await sandbox.lmsSummary().once == 1)
        let begin: [String: [UInt8]] = [
            "utf16": [0xFF, 0xFE, 0x7B, 0], "mark": [0xEF, 0xBB, 0xBF, 0x7B], "text": Array("OK".utf8), "empty": [],
        ]
        #expect(answer.body.starts(with: begin[habits] ?? []))
        if habits == "latin1" { #expect(String(data: answer.body, encoding: .utf8) == nil) }
        if habits == "php" { #expect(answer.fields["content-type"] == "text/html; charset=euc-kr") }
        if habits == "other-id" { #expect(!text(answer).contains("\"b\"")) }
        await sandbox.stop()
    }

    @Test func `a redirect to the same host leads to the same server`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.setLMS(habits: "redirect,authorization:Basic eA==")
        let answer = try await send(
            sandbox, "b", [Self.event("e1")], ["--location", "-H", "Authorization: Basic eA=="])
        #expect(answer.status == 200)
        let sums = try await sandbox.lmsSummary()
        #expect(sums.statuses == ["200": 1, "307": 1] && sums.once == 1 && sums.keyViolations == 0)
        #expect(try await sandbox.lmsVisits().map(\.authorized) == [true, true])
        await sandbox.stop()
    }

    @Test func `compressed bodies are only for servers configured for them`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let place = try TemporaryDirectory()
        let file = try place.write(#"{"batch_id":"b","events":[\#(Self.event("e1"))]}"#, to: "body")
        #expect(try await ChildProcess.run(Places.command("gzip"), [file]).status == 0)
        let words = [
            "-H", "Idempotency-Key: b", "-H", "Content-Type: application/json", "-H", "Content-Encoding: gzip",
            "--data-binary", "@\(file).gz",
        ]
        #expect(try await Answer.get(sandbox.http + "/lms/json", words).status == 415)
        try await sandbox.setLMS(habits: "gzip")
        #expect(try await Answer.get(sandbox.http + "/lms/json", words).status == 200)
        #expect(try await sandbox.lmsSummary().once == 1)
        #expect(try await sandbox.lmsVisits().map(\.encoding) == ["gzip", "gzip"])
        await sandbox.stop()
    }

    @Test func `forms and queries are read, arrays too`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let report = #"{"user_info":{"client_user_id":"u"},"content_info":{"start_at":7,"runtime":RUN}}"#
        for (index, run) in ["1", "3", "2"].enumerated() {
            let field = "json_data=" + report.replacing("RUN", with: run)
            let answer = try await Answer.get(
                sandbox.http + "/lms/a", ["-H", "Idempotency-Key: k\(index)", "--data-urlencode", field])
            #expect(answer.status == 200)
        }
        let both = "data=[" + report.replacing("RUN", with: "4") + "," + report.replacing("RUN", with: "5") + "]"
        _ = try await Answer.get(sandbox.http + "/lms/a", ["-H", "Idempotency-Key: k9", "--data-urlencode", both])
        _ = try await Answer.get(
            sandbox.http + "/lms/a?TM=12", ["-H", "Idempotency-Key: kg", "--get", "--data-urlencode", "PT=3 4"])
        #expect(try await sandbox.lmsEvents("/lms/a").map(\.id) == ["k0", "k1", "k2", "k9#1", "k9#2", "kg"])
        let sums = try await sandbox.lmsSummary("/lms/a")
        #expect([sums.once, sums.outOfOrder, sums.lanes] == [6, 1, 1] as [Int])
        #expect(try await sandbox.lmsVisits("/lms/a").map(\.method).last == "GET")
        await sandbox.stop()
    }

    @Test func `statements are known by their own ids`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let id = "01890000-0000-7000-8000-00000000000a"
        func statement(_ name: String) -> String {
            #"{"id":"\#(id)","actor":{"account":{"homePage":"http://a/","name":"\#(name)"}},"#
                + #""verb":{"id":"http://v/"},"object":{"id":"http://o/"},"timestamp":"2026-01-01T00:00:00.000Z"}"#
        }
        func post(_ key: String, _ name: String, version: String = "1.0.3") async throws -> Answer {
            try await Answer.get(
                sandbox.http + "/xAPI/statements",
                [
                    "-H", "Idempotency-Key: \(key)", "-H", "Content-Type: application/json", "-H",
                    "X-Experience-API-Version: \(version)", "--data-binary", "[\(statement(name))]",
                ])
        }
        let path = SandboxOrigin.lmsPath("xapi")
        #expect(try await post("k1", "u", version: "").status == 400)
        #expect(text(try await post("k2", "u")) == "[\"\(id)\"]\n")
        #expect(try await post("k3", "u").status == 200)
        #expect(try await post("k4", "v").status == 409)
        let sums = try await sandbox.lmsSummary(path)
        #expect([sums.events, sums.once, sums.contentViolations, sums.bad] == [1, 1, 1, 1] as [Int])
        let found = try await Answer.get(sandbox.http + path + "?statementId=\(id)")
        #expect(found.status == 200 && text(found) == statement("u"))
        let other = try await Answer.get(sandbox.http + path + "?statementId=\(id.dropLast())b")
        #expect(other.status == 404)
        await sandbox.stop()
    }

    @Test func `channels are in a descriptor on request`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let link = try await sandbox.link(key: "bytes-1K-1", query: "lms=a&lms=http://h/x&lms.TM=%7BPLAY_TIME%7D")
        let descriptor = text(try await Answer.get(link))
        let parameters = #""method":"POST","period_s":60,"parameters":{"TM":"{PLAY_TIME}"}}"#
        #expect(
            descriptor.contains(
                #""lms":[{"url":"\#(sandbox.http)/lms/a",\#(parameters),{"url":"http://h/x",\#(parameters)]"#))
        #expect(!text(try await Answer.get(try await sandbox.link(key: "bytes-1K-1"))).contains("\"lms\""))
        await sandbox.stop()
    }

    @Test func `a limit admits so many requests a second`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.setLMS(habits: "limit:0;retry=3")
        #expect(try await send(sandbox, "b1", [Self.event("e1")]).status == 200)
        try await sandbox.setLMS(habits: "limit:1;retry=3")
        // Both in one process, well within a second.
        let url = sandbox.http + "/lms/json"
        let answer = try await send(sandbox, "b2", [Self.event("e2")], [url])
        #expect(answer.status == 429 && answer.fields["retry-after"] == "3")
        #expect(try await sandbox.lmsSummary().statuses == ["200": 2, "429": 1])
        await sandbox.stop()
    }

    @Test func `an order that is not understood is refused`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        for (habits, path) in [("sulk", "/lms"), ("lose:101", "/lms"), ("lose", "/lms"), ("html", "/other")] {
            await #expect(throws: ChildProcess.Failure.self) { try await sandbox.setLMS(habits: habits, on: path) }
        }
        #expect(try await send(sandbox, "b", ["{}"]).status == 400)
        #expect(try await sandbox.lmsSummary().bad == 1)
        await sandbox.stop()
    }
}
