import Foundation
import LectureTestSupport
import Testing

/// The behaviours of the sandbox's DRM callback on the wire.
@Suite(.timeLimit(.minutes(2))) struct HabitNetTests {
    private typealias Exchange = CallbackExchange

    private let one = "[\(CallbackExchange.item(kind: 3, "a"))]"
    private let two = "[\(CallbackExchange.item(kind: 3, "a")),\(CallbackExchange.item(kind: 3, "b"))]"

    private func start(_ habits: String) async throws -> SandboxOrigin {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        try await sandbox.set(habits: habits)
        return sandbox
    }

    @Test(arguments: ["text/html", "text/plain", "application/json"])
    func `any content type can be sent`(_ type: String) async throws {
        let sandbox = try await start("type:\(type)")
        let exchange = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(exchange.answer.fields["content-type"] == type)
        #expect(try await exchange.isSigned(with: sandbox.drmKeyFile))
        await sandbox.stop()
    }

    @Test func `only the first item is answered, as an object`() async throws {
        let sandbox = try await start("first-only,object,claims,message,no-user-key")
        let exchange = try await Exchange.ask(sandbox.drmCallback, two)
        #expect(exchange.isObject)
        #expect(exchange.data.map { $0["media_content_key"] as? String } == ["a"])
        #expect(exchange.data[0]["message"] as? String == "Have a good day.")
        #expect(exchange.claims["exp"] is Int && exchange.claims["iat"] is Int)
        #expect(exchange.answer.fields["x-kollus-userkey"] == nil)
        #expect(try await sandbox.callbackItems().map(\.outcome) == ["granted", "missing"])
        await sandbox.stop()
    }

    @Test func `integers become strings, and answers are doubled`() async throws {
        let sandbox = try await start("strings,doubled")
        let data = try await Exchange.ask(sandbox.drmCallback, one).data
        #expect(data.map { $0["result"] as? String } == ["1", "1"])
        #expect(data.map { $0["kind"] as? String } == ["3", "3"])
        #expect(try await sandbox.callbackItems().map(\.outcome) == ["spoiled"])
        await sandbox.stop()
    }

    @Test func `kind, key and session key are returned altered or omitted`() async throws {
        let sandbox = try await start("other-kind,other-key,wrong-session")
        var data = try await Exchange.ask(sandbox.drmCallback, one).data
        #expect(data[0]["kind"] as? Int == 1)
        #expect(data[0]["media_content_key"] as? String == "other-a")
        #expect(data[0]["session_key"] as? String == "other-s1")
        try await sandbox.set(habits: "no-session")
        data = try await Exchange.ask(sandbox.drmCallback, one).data
        #expect(data[0]["session_key"] == nil)
        #expect(data[0]["kind"] as? Int == 3)
        await sandbox.stop()
    }

    @Test func `signatures are wrong or missing`() async throws {
        let sandbox = try await start("wrong-signature")
        let wrong = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(wrong.signature.count == 32)
        #expect(try await !wrong.isSigned(with: sandbox.drmKeyFile))
        try await sandbox.set(habits: "alg-none")
        let none = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(none.header["alg"] as? String == "none")
        #expect(none.signature.isEmpty && none.text.hasSuffix("."))
        #expect(none.data.count == 1)
        await sandbox.stop()
    }

    @Test func `there is text before and after the token`() async throws {
        let sandbox = try await start("text-before")
        #expect(try await Exchange.ask(sandbox.drmCallback, one).text.hasPrefix("Notice: "))
        try await sandbox.set(habits: "text-after")
        let after = try await Exchange.ask(sandbox.drmCallback, one).text
        #expect(after.hasPrefix("eyJ") && after.hasSuffix("-->\n"))
        await sandbox.stop()
    }

    @Test func `the body is a page, nothing, or huge`() async throws {
        let sandbox = try await start("html")
        let page = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(page.answer.status == 200)
        #expect(page.answer.fields["content-type"]?.hasPrefix("text/html") == true)
        #expect(page.text.hasPrefix("<!DOCTYPE"))
        try await sandbox.set(habits: "empty")
        let empty = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(empty.answer.status == 200 && empty.text.isEmpty)
        try await sandbox.set(habits: "huge:3000000")
        let huge = try await Exchange.ask(sandbox.drmCallback, one)
        #expect(huge.answer.body.count == 3_000_003)
        #expect(huge.text.hasPrefix("eyJAAAA"))
        await sandbox.stop()
    }

    @Test func `bad input can be 500, and everything can be`() async throws {
        let sandbox = try await start("bad-input-500")
        #expect(try await Exchange.ask(sandbox.drmCallback, "[]").answer.status == 500)
        #expect(try await Exchange.ask(sandbox.drmCallback, one).answer.status == 200)
        try await sandbox.set(habits: "status:500")
        #expect(try await Exchange.ask(sandbox.drmCallback, one).answer.status == 500)
        await sandbox.stop()
    }

    @Test func `a share of requests is refused, with Retry-After in both forms`() async throws {
        let sandbox = try await start("busy:50;retry=7")
        var statuses: [Int] = []
        var retries: Set<String?> = []
        for _ in 0..<4 {
            let answer = try await Exchange.ask(sandbox.drmCallback, one).answer
            statuses.append(answer.status)
            if answer.status == 429 { retries.insert(answer.fields["retry-after"]) }
        }
        #expect(statuses == [200, 429, 200, 429])
        #expect(retries == ["7"])
        try await sandbox.set(habits: "busy:100;status=503;retry-date=60")
        let answer = try await Exchange.ask(sandbox.drmCallback, one).answer
        #expect(answer.status == 503)
        #expect(answer.fields["retry-after"]?.hasSuffix("GMT") == true)
        await sandbox.stop()
    }

    @Test func `requests beyond the limit per second are refused, and all are counted by the second`()
        async throws
    {
        let sandbox = try await start("limit:2;retry=1")
        let urls = [String](repeating: sandbox.drmCallback, count: 9)
        var statuses: [String] = []
        // One curl for nine, so that they are sent within a second; on a machine that is too busy for that, once more.
        repeat {
            let ending = try await ChildProcess.run(
                Places.command("curl"),
                ["-s", "-o", "/dev/null", "-w", "%{http_code} ", "--data-urlencode", "items=\(one)", urls[0]]
                    + urls.dropFirst().flatMap { ["-o", "/dev/null", $0] })
            statuses += ending.text.split(separator: " ").map(String.init)
        } while !statuses.contains("429")
        #expect(Set(statuses) == ["200", "429"])
        let items = try await sandbox.callbackItems()
        #expect(items.map { String($0.status) } == statuses)
        for item in items {
            // Times are truncated to milliseconds, so a window of a second is one more or less here.
            let granted = items.filter { $0.outcome == "granted" && $0.number < item.number }.map(\.timeMs)
            if item.status == 429 {
                #expect(granted.count { $0 >= item.timeMs - 1001 } >= 2)
            } else {
                #expect(granted.count { $0 > item.timeMs - 999 } < 2)
            }
        }
        let rates = try await sandbox.callbackRates()
        #expect(rates.reduce(0) { $0 + $1.requests } == statuses.count)
        #expect(rates.reduce(0) { $0 + $1.limited } == statuses.count { $0 == "429" })
        #expect(rates.allSatisfy { $0.items == $0.requests && $0.bad == 0 })
        // In no second were more accepted than the limit.
        #expect(rates.allSatisfy { $0.requests - $0.limited <= 2 })
        let sums = try await sandbox.callbackSums()
        #expect(sums.limited == statuses.count { $0 == "429" })
        #expect(sums.peakPerSecond == rates.map(\.requests).max())
        await sandbox.stop()
    }

    @Test func `a share of requests is never answered`() async throws {
        let sandbox = try await start("timeout:50")
        #expect(try await Exchange.ask(sandbox.drmCallback, one).answer.status == 200)
        let silent = try ChildProcess(
            Places.command("curl"),
            ["-s", "--dump-header", "-", "--data-urlencode", "items=\(one)", sandbox.drmCallback])
        while try await sandbox.callbackItems().count < 2 {}
        #expect(try await sandbox.callbackItems().map(\.outcome) == ["granted", "failed"])
        let ending = await silent.terminate()
        #expect(ending.status == 128 + SIGTERM)
        #expect(ending.text.isEmpty)
        await sandbox.stop()
    }

    @Test func `answers are slow`() async throws {
        let sandbox = try await start("slow:300")
        let begin = ContinuousClock.now
        let status = try await Exchange.ask(sandbox.drmCallback, one).answer.status
        let elapsed = ContinuousClock.now - begin
        #expect(status == 200)
        #expect(elapsed >= .milliseconds(300))
        await sandbox.stop()
    }

    @Test func `a share of items is omitted, and a share of lectures is always refused`() async throws {
        let sandbox = try await start("missing:50")
        #expect(try await Exchange.ask(sandbox.drmCallback, two).data.count == 1)
        #expect(try await Exchange.ask(sandbox.drmCallback, two).data.count == 1)
        #expect(try await sandbox.callbackItems().map(\.outcome) == ["granted", "missing", "granted", "missing"])
        try await sandbox.set(habits: "refuse:50")
        let items = (0..<10).map { Exchange.item(kind: 1, "content-\($0)") }.joined(separator: ",")
        let first = try await Exchange.ask(sandbox.drmCallback, "[\(items)]").data.map { $0["result"] as? Int }
        let second = try await Exchange.ask(sandbox.drmCallback, "[\(items)]").data.map { $0["result"] as? Int }
        #expect(first == second)
        #expect(Set(first) == [0, 1])
        await sandbox.stop()
    }

    @Test func `each path below the callback is a separate server, and faults apply to it too`() async throws {
        let sandbox = try await start("status:500")
        #expect(try await Exchange.ask(sandbox.drmCallback + "/other", one).answer.status == 200)
        try await sandbox.set(habits: "object", on: "/drm/callback/other")
        #expect(try await Exchange.ask(sandbox.drmCallback + "/other", one).isObject)
        try await sandbox.set(fault: "drop:5", on: "/drm/callback/other")
        #expect(try await Exchange.ask(sandbox.drmCallback + "/other", one).answer.exitStatus == 18)
        try await sandbox.set(fault: "418", on: "/drm/callback/other")
        #expect(try await Exchange.ask(sandbox.drmCallback + "/other", one).answer.status == 418)
        #expect(try await sandbox.callbackItems().last?.outcome == "failed")
        await sandbox.stop()
    }

    @Test func `habits and policies that are not understood are refused`() async throws {
        let sandbox = try await start("")
        for habits in ["wobble", "slow", "busy:101", "doubled:2", "status:99", "busy:1;x=2", "limit:x"] {
            await #expect(throws: ChildProcess.Failure.self, "\(habits)") { try await sandbox.set(habits: habits) }
        }
        for policy in ["1", "[]", "{", #"{"result":1,"result":0}"#] {
            await #expect(throws: ChildProcess.Failure.self, "\(policy)") { try await sandbox.set(policyJSON: policy) }
        }
        await sandbox.stop()
    }
}
