import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The built program, a receiver in Python with bad habits, and kills.
@Suite struct WebhookNetTests {
    // MARK: What arrives

    @Test func `What happens in the store arrives, signed, in the order of each lecture`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one", "two", "three!"])
            try await me("remove", "one")
            let sent = try await me("webhooks", "send", "--json")
            #expect(sent.status == 0 && sent.text.contains(#""delivered":4"#), "\(sent.text)\(sent.errorText)")
            let requests = try me.receiver.requests()
            #expect(requests.count == 4 && requests.allSatisfy { $0.signatures == 1 && $0.type == "application/json" })
            #expect(requests.filter { $0.key == "one" }.map(\.event) == ["lecture.completed", "lecture.removed"])
            #expect(requests.filter { $0.key == "two" }.map(\.event) == ["lecture.completed"])
            let failed = try #require(requests.first { $0.key == "three" })
            #expect(failed.event == "lecture.failed" && failed.body.contains(#""name":"http_404""#))
            #expect(requests.allSatisfy { !$0.body.contains("http://") })
            try validate(requests)
            // Nothing waits any more, and nothing is sent twice.
            #expect(try await me("webhooks", "send").status == 0)
            let endpoint = try await me.endpoint()
            #expect((endpoint.waiting, endpoint.delivered) == (0, 4) && !endpoint.server.contains("hook"))
            #expect(try me.receiver.requests().count == 4)
        }
    }

    /// The bodies are those that the schema promises.
    private func validate(_ requests: [WebhookReceiver.Request]) throws {
        let schema = try JSONSchema(named: "webhook")
        for request in requests { #expect(try schema.faults(in: Data(request.body.utf8)) == [], "\(request.body)") }
    }

    @Test func `A damaged lecture, and one that has come back`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one"])
            let path = try await me("path", "one").text.trimmingCharacters(in: .whitespacesAndNewlines)
            // Outside of the store, which deletes files that it does not know.
            try FileManager.default.moveItem(atPath: path, toPath: me.home.file("away"))
            #expect(try await me("verify", "one").status == 65)
            try FileManager.default.moveItem(atPath: me.home.file("away"), toPath: path)
            try await me.precache(["one"])
            #expect(try await me("webhooks", "send").status == 0)
            #expect(
                try me.receiver.events().map(\.event) == ["lecture.completed", "lecture.damaged", "lecture.completed"])
            #expect(try me.receiver.events()[1].body.contains(#""name":"media_missing""#))
        }
    }

    @Test func `Only the wanted kinds are stored, and nothing without an endpoint`() async throws {
        try await WebhookScene.play { me in
            try me.configure(#","events":["lecture.failed"]"#)
            try await me.precache(["one", "two!"])
            #expect(try await me.endpoint().waiting == 1)
            try me.configure(endpoints: [])
            let ending = try await me("list")
            #expect(
                ending.errorText.contains("1 events: the webhook is not configured any more"), "\(ending.errorText)")
            try await me.precache(["three"])
            #expect(try await me.endpoints().isEmpty && me.receiver.requests().isEmpty)
            // A configuration that says nothing of webhooks changes nothing.
            try me.configure()
            try await me.precache(["four"])
            _ = try me.home.write("{}", to: "config.json")
            #expect(try await me.endpoint().waiting == 1)
            #expect(try await me.endpoint().configured == false)
            #expect(try await me("webhooks", "send").status == 75)
            #expect(try me.receiver.requests().isEmpty)
        }
    }

    // MARK: Receivers

    @Test func `A receiver that was down, or asks to wait, gets everything later`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one", "two"])
            try me.receiver.set("503 3600")
            let busy = try await me("webhooks", "send", "--longest-wait", "1s", "--json")
            #expect(busy.status == 69 && busy.text.contains(#""name":"http_503""#), "\(busy.text)")
            // Obeyed over restarts, and by a person who sends again: the server has asked for it.
            try me.receiver.set("")
            let seen = try me.receiver.requests().count
            #expect(try await me("webhooks", "send", "--longest-wait", "1s").status == 69)
            #expect(try me.receiver.requests().count == seen)
            #expect(try await me("webhooks", "retry").status == 0)
            #expect(try await me("webhooks", "send").status == 0)
            #expect(try Set(me.receiver.events().map(\.key)) == ["one", "two"])
        }
    }

    @Test(arguments: ["429 0", "503 0", "500", "cut"])
    func `A receiver that recovers has each event once in effect`(habit: String) async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one"])
            try me.receiver.set(habit)
            let ending = try await me("webhooks", "send", "--max-attempts", "2", "--longest-wait", "5s")
            #expect(ending.status == 69, "\(ending.errorText)")
            try me.receiver.set("")
            #expect(try await me("webhooks", "send").status == 0)
            let requests = try me.receiver.requests()
            #expect(requests.count == 3 && Set(requests.map(\.id)).count == 1 && Set(requests.map(\.body)).count == 1)
            #expect(try me.receiver.events().count == 1)
        }
    }

    @Test func `A receiver that is gone gets nothing more until a person says so`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one", "two"])
            try me.receiver.set("410")
            #expect(try await me("webhooks", "send").status == 77)
            let seen = try me.receiver.requests().count
            try me.receiver.set("")
            let again = try await me("webhooks", "send")
            #expect(
                again.status == 77 && again.errorText.contains("switched off by its receiver"), "\(again.errorText)")
            #expect(try me.receiver.requests().count == seen)
            #expect(try await me.endpoint().gone)
            #expect(try await me("webhooks", "retry").status == 0)
            #expect(try await me("webhooks", "send").status == 0)
            #expect(try me.receiver.events().count == 2)
        }
    }

    @Test func `One event that is refused keeps back only its own lecture`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["poison", "one", "two"])
            try await me("remove", "poison")
            try me.receiver.set(#"refuse "poison""#)
            let ending = try await me("webhooks", "send", "--longest-wait", "5s")
            #expect(ending.status == 69, "\(ending.errorText)")
            #expect(try Set(me.receiver.events().map(\.key)) == ["one", "two"])
            // Its removal was not sent before it.
            #expect(try me.receiver.requests().allSatisfy { $0.event != "lecture.removed" })
            #expect(try await me.endpoint().waiting == 2)
        }
    }

    @Test func `A redirect is not followed`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one"])
            try me.receiver.set("302")
            #expect(try await me("webhooks", "send", "--longest-wait", "1s").status == 69)
            #expect(try me.receiver.requests().count == 1)
        }
    }

    // MARK: Secrets

    @Test func `A secret is changed without losing an event`() async throws {
        try await WebhookScene.play { me in
            let new = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
            let other = try await WebhookReceiver.start(secrets: [new])
            try me.configure(endpoints: [me.receiver.url, other.url])
            _ = try me.home.write("\(new)\n\(WebhookReceiver.secret)\n", to: "secret")
            try await me.precache(["one"])
            #expect(try await me("webhooks", "send").status == 0)
            #expect(try me.receiver.events().map(\.signatures) == [1] && other.events().map(\.signatures) == [1])
            #expect(try me.receiver.events().map(\.id) == other.events().map(\.id))
            await other.stop()
        }
    }

    @Test func `A secret that others may read, or is none, sends nothing`() async throws {
        try await WebhookScene.play { me in
            try await me.precache(["one"])
            let secret = try me.home.write("password\n", to: "secret")
            let unusable = try await me("webhooks", "send")
            #expect(unusable.status == 78 && unusable.errorText.contains("secret"), "\(unusable.errorText)")
            #expect(try await me("config", "check").status == 78)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
            #expect(try await me("webhooks", "send").status == 78)
            #expect(try me.receiver.requests().isEmpty)
            try me.configure()
            #expect(try await me("webhooks", "send").status == 0)
        }
    }

    @Test func `A test is answered, and stores nothing`() async throws {
        try await WebhookScene.play { me in
            let good = try await me("webhooks", "test", "--json")
            #expect(good.status == 0 && good.text.contains(#""http_status":204"#), "\(good.text)\(good.errorText)")
            #expect(try me.receiver.requests().map(\.event) == ["webhook.test"])
            try me.receiver.set("404")
            let bad = try await me("webhooks", "test")
            #expect(bad.status == 69 && bad.errorText.contains("HTTP 404"), "\(bad.errorText)")
            #expect(try await me("webhooks", "test", "--endpoint", "http://127.0.0.1:1/").status == 1)
            try await me.precache(["one"])
            #expect(try await me("webhooks", "test", "--endpoint", "1").status == 69)
        }
    }

    // MARK: Kills and the daemon

    @Test func `Whatever is killed, each event arrives once in effect and none is missing`() async throws {
        try await WebhookScene.play { me in
            let seed = UInt64.random(in: .min ... .max)
            var random = SeededGenerator(seed: seed)
            try me.receiver.set("random")
            var keys: [String] = []
            for round in 0..<6 {
                keys += (0..<8).map { "r\(round)-\($0)" }
                try await me.precache(keys.suffix(8) + ["f\(round)!"])
                let removed = keys.suffix(8).prefix(2)
                try await me.run(["remove"] + removed)
                let seen = try me.receiver.requests().count
                let process = try me.start(["webhooks", "send", "--max-attempts", "1000", "--longest-wait", "10m"])
                let wanted = seen + Int.random(in: 0...6, using: &random)
                // proof: the moment is random on purpose; what is promised must hold for each.
                try await me.receiver.wait { $0.count >= wanted }
                process.send(SIGKILL)
                _ = await process.ending()
            }
            try me.receiver.set("")
            try await me("webhooks", "retry")
            let ending = try await me("webhooks", "send")
            #expect(ending.status == 0, "seed \(seed): \(ending.errorText)")
            let events = try me.receiver.events()
            #expect(Set(events.map(\.id)).count == events.count)
            func keyed(_ type: String) -> [String] { events.filter { $0.event == type }.map(\.key).sorted() }
            #expect(keyed("lecture.completed") == keys.sorted(), "seed \(seed)")
            #expect(keyed("lecture.failed") == (0..<6).map { "f\($0)" }, "seed \(seed)")
            #expect(
                keyed("lecture.removed") == (0..<6).flatMap { ["r\($0)-0", "r\($0)-1"] }.sorted(), "seed \(seed)")
            for key in keyed("lecture.removed") {
                #expect(events.filter { $0.key == key }.map(\.event) == ["lecture.completed", "lecture.removed"])
            }
            let endpoint = try await me.endpoint()
            #expect(endpoint.waiting == 0 && endpoint.delivered == events.count, "seed \(seed)")
            #expect(try me.receiver.requests().count > events.count, "seed \(seed): nothing was repeated")
        }
    }

    @Test func `Two programs at once send each event once`() async throws {
        try await WebhookScene.play { me in
            try await me.precache((0..<30).map { "k\($0)" })
            let both = try (0..<2).map { _ in try me.start(["webhooks", "send"]) }
            for process in both { #expect([0, 75].contains(await process.ending().status)) }
            #expect(try await me("webhooks", "send").status == 0)
            #expect(try me.receiver.requests().count == 30 && me.receiver.events().count == 30)
        }
    }

    @Test func `The daemon sends what it does and what others do`() async throws {
        try await WebhookScene.play { me in
            let daemon = try me.start(["daemon", "--json"])
            _ = try await daemon.wait(for: .output) { $0.range(of: Data("ready".utf8)) != nil }
            try await me.precache(["one", "two!"])
            try await me.receiver.wait { $0.filter(\.stored).count == 2 }
            try me.receiver.set("503 0")
            try await me("remove", "one")
            try await me.receiver.wait { $0.contains { !$0.stored } }
            try me.receiver.set("")
            try await me.receiver.wait { $0.filter(\.stored).count == 3 }
            // The receiver has stored the event before the daemon has its answer.
            try await waitUntil { try await me.endpoint().waiting == 0 }
            daemon.send(SIGTERM)
            let ending = await daemon.ending()
            #expect(ending.status == 0, "\(ending.errorText)")
        }
    }
}
