import Foundation
import LectureTestSupport
import Testing

/// The sandbox's DRM callback on the wire: its grants, and its log.
@Suite(.timeLimit(.minutes(2))) struct CallbackNetTests {
    private typealias Exchange = CallbackExchange

    private func start(_ more: [String] = []) async throws -> SandboxOrigin {
        try await SandboxOrigin.start(["--no-https"] + more)
    }

    @Test func `an answer is a signed bare token with the user key beside it`() async throws {
        let sandbox = try await start(["--user-key", "our own"])
        let exchange = try await Exchange.ask(sandbox.drmCallback, "[\(Exchange.item(kind: 1, "a"))]")
        #expect(exchange.answer.status == 200)
        #expect(exchange.answer.fields["x-kollus-userkey"] == "our own")
        #expect(exchange.header as? [String: String] == ["alg": "HS256", "typ": "JWT"])
        #expect(exchange.claims.keys.sorted() == ["data"])
        #expect(!exchange.isObject)
        #expect(try Exchange.sorted(exchange.data[0]) == #"{"kind":1,"media_content_key":"a","result":1}"#)
        #expect(try await exchange.isSigned(with: sandbox.drmKeyFile))
        #expect(sandbox.userKey == "our own")
        await sandbox.stop()
    }

    @Test func `application parameters are recorded with their items, and are one field`() async throws {
        let sandbox = try await start()
        let items = "[\(Exchange.item(kind: 1, "a")),\(Exchange.item(kind: 2, "b"))]"
        let field = ["--data-urlencode", "extra_drm_param=a b&é=\""]
        #expect(try await Exchange.ask(sandbox.drmCallback, items, field).answer.status == 200)
        #expect(try await Exchange.ask(sandbox.drmCallback, items).answer.status == 200)
        #expect(try await Exchange.ask(sandbox.drmCallback, items, field + field).answer.status == 400)
        #expect(try await Exchange.ask(sandbox.drmCallback, items, ["-d", "other=1"]).answer.status == 400)
        let noted = try await sandbox.callbackItems().map(\.extra)
        #expect(noted == ["a b&é=\"", "a b&é=\"", nil, nil])
        await sandbox.stop()
    }

    @Test func `the secret is a file of its own that only its owner may read`() async throws {
        let sandbox = try await start()
        let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.drmKeyFile)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? Int == 64)
        await sandbox.stop()
    }

    @Test func `every field of a policy is sent with the kinds that have it`() async throws {
        let sandbox = try await start()
        var policy = CallbackPolicy()
        policy.expirationDate = 1_893_455_999
        policy.expirationCount = 3
        policy.expirationPlaytime = 60
        policy.expirationPlaytimeType = 1
        policy.expirationRefreshPopup = 1
        policy.checkAbuse = 1
        policy.checkExpirationDate = 1_800_000_000
        policy.contentExpired = 1
        policy.contentExpireReset = 1
        policy.contentDelete = 1
        policy.offlineBookmark = .init(download: 2, readonly: 1)
        try await sandbox.set(policy: policy)
        let items = (1...3).map { Exchange.item(kind: $0, "a") }.joined(separator: ",")
        let data = try await Exchange.ask(sandbox.drmCallback, "[\(items)]").data
        let bounds =
            #""expiration_count":3,"expiration_date":1893455999,"expiration_playtime":60,"expiration_playtime_type":1,"#
        let grant =
            #"{"check_abuse":1,\#(bounds)"expiration_refresh_popup":1,"kind":1,"media_content_key":"a","#
            + #""offline_bookmark":{"download":2,"readonly":1},"result":1}"#
        #expect(try Exchange.sorted(data[0]) == grant)
        let completion =
            #"{"check_expiration_date":1800000000,"content_delete":1,"kind":2,"media_content_key":"a","result":1}"#
        #expect(try Exchange.sorted(data[1]) == completion)
        let check =
            #"{"check_abuse":1,"check_expiration_date":1800000000,"content_delete":1,"content_expire_reset":1,"#
            + #""content_expired":1,\#(bounds)"kind":3,"media_content_key":"a","result":1,"session_key":"s1","#
            + #""start_at":"1700000000"}"#
        #expect(try Exchange.sorted(data[2]) == check)
        await sandbox.stop()
    }

    @Test func `relative dates count from the answer`() async throws {
        let sandbox = try await start()
        var policy = CallbackPolicy.ending(in: 3600)
        policy.checkExpirationIn = -60
        try await sandbox.set(policy: policy)
        let before = Int(Date().timeIntervalSince1970)
        let data = try await Exchange.ask(sandbox.drmCallback, "[\(Exchange.item(kind: 3, "a"))]").data
        let after = Int(Date().timeIntervalSince1970)
        #expect((before + 3600...after + 3600).contains(try #require(data[0]["expiration_date"] as? Int)))
        #expect((before - 60...after - 60).contains(try #require(data[0]["check_expiration_date"] as? Int)))
        await sandbox.stop()
    }

    @Test func `a policy for a lecture and kind takes precedence, and can be removed`() async throws {
        let sandbox = try await start()
        let items = "[" + ["a", "b"].map { Exchange.item(kind: 1, $0) }.joined(separator: ",") + "]"
        try await sandbox.set(policy: .refusal("Not this week."))
        try await sandbox.set(policyJSON: #"{"expiration_count":"7","content_delete":1.5}"#, for: ["a"], kind: 1)
        let data = try await Exchange.ask(sandbox.drmCallback, items).data
        #expect(data[0]["expiration_count"] as? String == "7")
        #expect(data[0]["content_delete"] as? Double == 1.5)
        #expect(data[1]["result"] as? Int == 0)
        #expect(data[1]["message"] as? String == "Not this week.")
        try await sandbox.set(policy: nil, for: ["a"], kind: 1)
        #expect(try await Exchange.ask(sandbox.drmCallback, items).data.map { $0["result"] as? Int } == [0, 0])
        try await sandbox.reset()
        #expect(try await Exchange.ask(sandbox.drmCallback, items).data.map { $0["result"] as? Int } == [1, 1])
        await sandbox.stop()
    }

    @Test func `every item is recorded, with the number of requests and grants of each lecture`() async throws {
        let sandbox = try await start()
        try await sandbox.set(policy: .refusal("no"), for: ["b"])
        let items = "[\(Exchange.item(kind: 3, "a")),\(Exchange.item(kind: 3, "b", session: "s2"))]"
        _ = try await Exchange.ask(sandbox.drmCallback, items)
        try await sandbox.set(habits: "status:503;times=1")
        let failed = try await Exchange.ask(sandbox.drmCallback, "[\(Exchange.item(kind: 3, "a"))]")
        #expect(failed.answer.status == 503)
        _ = try await Exchange.ask(sandbox.drmCallback, "[\(Exchange.item(kind: 3, "a", session: "s3"))]")
        let log = try await sandbox.callbackItems()
        #expect(log.map(\.outcome) == ["granted", "refused", "failed", "granted"])
        #expect(log.map(\.key) == ["a", "b", "a", "a"])
        #expect(log.map(\.status) == [200, 200, 503, 200])
        #expect(log.allSatisfy { $0.user == "u1" && $0.player == "p1" && $0.resetReq == 1 && $0.kind == 3 })
        #expect(log[0].session == log[2].session)
        #expect(Set(log.map(\.session)).count == 3)
        #expect(log[0].request == log[1].request)
        #expect(try await sandbox.callbackItems(after: 3).map(\.number) == [4])
        let counts = try await sandbox.callbackCounts()
        #expect(counts.map(\.asked) == [3, 1])
        #expect(counts.map(\.granted) == [2, 0])
        #expect(counts.map(\.refused) == [0, 1])
        #expect(counts.map(\.failed) == [1, 0])
        #expect(counts.map(\.sessions) == [2, 1])
        let sums = try await sandbox.callbackSums()
        #expect((sums.requests, sums.items, sums.granted, sums.contents) == (3, 4, 2, 2))
        #expect((sums.contentsGranted, sums.contentsGrantedAgain, sums.contentsNeverGranted) == (1, 1, 1))
        await sandbox.stop()
    }

    @Test(
        arguments: [
            "", "{}", "[]", "[1]", "[{}]", #"[{"kind":1}]"#, #"[{"kind":"1","media_content_key":"a"}]"#,
            #"[{"kind":4,"media_content_key":"a"}]"#, #"[{"kind":1,"media_content_key":""}]"#,
            #"[{"kind":3,"media_content_key":"a"}]"#, #"[{"kind":1,"media_content_key":"a","localtime":"1"}]"#,
            #"[{"kind":1,"media_content_key":"a","localtime":1.0}]"#,
            #"[{"kind":1,"media_content_key":"a","uservalues":"{}"}]"#,
            #"[{"kind":1,"kind":1,"media_content_key":"a"}]"#, #"[{"kind":1,"media_content_key":"a"},]"#,
            #"[{"kind":1,"media_content_key":"a"}] x"#, #"[{"kind":01,"media_content_key":"a"}]"#,
            #"[{"kind":1,"media_content_key":"a","reset_req":2}]"#, #"[{"kind":1,"media_content_key":"\ud800"}]"#,
            "[" + [String](repeating: #"{"kind":1,"media_content_key":"a"}"#, count: 11).joined(separator: ",") + "]",
        ])
    func `an undocumented request is answered with 400`(_ items: String) async throws {
        let sandbox = try await start()
        let exchange = try await Exchange.ask(sandbox.drmCallback, items)
        #expect(exchange.answer.status == 400)
        #expect(exchange.answer.fields["x-kollus-userkey"] == nil)
        #expect(try await sandbox.callbackSums().bad == 1)
        await sandbox.stop()
    }

    @Test func `other forms, types and methods are refused`() async throws {
        let sandbox = try await start()
        let good = "items=%5B\(Exchange.item(kind: 1, "a").filter { !" é&+".contains($0) })%5D"
        #expect(try await Answer.get(sandbox.drmCallback, ["--data", good]).status == 200)
        let others: [[String]] = [
            ["--data", good + "&x=1"], ["--data", good + "&" + good], ["--data", "items=%5"], ["--data", ""],
            ["--data", good, "-H", "Content-Type: application/json"], ["--get"], ["--form", "items=[]"],
        ]
        for arguments in others {
            #expect(try await Answer.get(sandbox.drmCallback, arguments).status == 400, "\(arguments)")
        }
        await sandbox.stop()
    }

    @Test func `a licensed lecture's descriptor names the callback, the key and the values of the link`() async throws {
        let sandbox = try await start(["--bytes", "64K-5?licensed&fault=weak-etag", "--bytes", "64K-6"])
        let list = try await Answer.get(sandbox.http + "/course.txt").body
        let lines = String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
        let licensed = try #require(lines.first { $0.contains("/si?jwt=") })
        #expect(lines.count { $0.contains("/si?jwt=") } == 1)
        let links = [
            licensed, try await sandbox.link(key: "bytes-64K-6"),
            try await sandbox.link(key: "bytes-64K-6", user: "u7", query: "licensed=busy&uservalue0=a%26b&uservalue7="),
            try await sandbox.link(key: "bytes-64K-6", query: "licensed=http%3A%2F%2F127.0.0.1%3A1%2Fx&drm-key=php"),
        ]
        var descriptors: [[String: Any]] = []
        for link in links {
            let body = try await Answer.get(link).body
            descriptors.append(try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any]))
        }
        let expected: [[String: String]?] = [
            ["callback_url": sandbox.drmCallback, "key_id": sandbox.drmKeyID], nil,
            ["callback_url": sandbox.drmCallback + "/busy", "key_id": sandbox.drmKeyID],
            ["callback_url": "http://127.0.0.1:1/x", "key_id": "php"],
        ]
        #expect(descriptors.map { $0["drm"] as? [String: String] } == expected)
        #expect(descriptors[2]["uservalues"] as? [String: String] == ["uservalue0": "a&b", "uservalue7": ""])
        #expect(descriptors[2]["client_user_id"] as? String == "u7")
        let media = try #require((descriptors[0]["media"] as? [String: Any])?["url"] as? String)
        #expect(try await Answer.get(media).fields["etag"]?.hasPrefix("W/") == true)
        await sandbox.stop()
    }

    @Test func `with --licensed every lecture needs a licence`() async throws {
        let sandbox = try await start(["--licensed"])
        let body = try await Answer.get(sandbox.http + "/i/bytes-1M-4").body
        let descriptor = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect((descriptor["drm"] as? [String: String])?["callback_url"] == sandbox.drmCallback)
        await sandbox.stop()
    }
}
