import Foundation
import LectureTestSupport
import Testing

/// The callback in PHP, an independent implementation.
@Suite(.timeLimit(.minutes(1))) struct PHPCallbackNetTests {
    @Test func `it answers one item with an object and many with an array, signed`() async throws {
        let server = try await PHPCallbackServer.start()
        let one = try await CallbackExchange.ask(server.url, "[\(CallbackExchange.item(kind: 1, "a"))]")
        #expect(one.answer.status == 200)
        #expect(one.isObject)
        #expect(one.answer.fields["x-kollus-userkey"] == "academy")
        #expect(one.answer.fields["content-type"]?.hasPrefix("text/html") == true)
        #expect(one.data[0]["expiration_date"] is Int)
        #expect(one.data[0]["offline_bookmark"] as? [String: Int] == ["download": 1, "readonly": 1])
        #expect(try await one.isSigned(with: server.keyFile))
        let items = "[\(CallbackExchange.item(kind: 3, "a")),\(CallbackExchange.item(kind: 2, "b"))]"
        let many = try await CallbackExchange.ask(server.url, items)
        #expect(!many.isObject)
        #expect(many.data.map { $0["media_content_key"] as? String } == ["a", "b"])
        #expect(many.data[0]["session_key"] as? String == "s1")
        #expect(try await many.isSigned(with: server.keyFile))
        #expect(try server.items().map(\.kind) == [1, 3, 2])
        #expect(try server.items().map(\.resetReq) == [nil, 1, nil])
        await server.stop()
    }

    @Test func `it refuses configured requests and fails on ones it does not understand`() async throws {
        let server = try await PHPCallbackServer.start(key: "another key", userKey: "other")
        try server.set(["a": ["result": 0], "b": ["content_delete": 1]])
        let items = "[\(CallbackExchange.item(kind: 1, "a")),\(CallbackExchange.item(kind: 2, "b"))]"
        let answers = try await CallbackExchange.ask(server.url, items)
        #expect(answers.data.map { $0["result"] as? Int } == [0, 1])
        #expect(answers.data[1]["content_delete"] as? Int == 1)
        #expect(try await answers.isSigned(with: server.keyFile))
        #expect(try await CallbackExchange.ask(server.url, "what?").answer.status == 500)
        await server.stop()
    }
}
