import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// Webhooks of the library: with a real store, a server of lectures, and a receiver in Python.
@Suite(.timeLimit(.minutes(2))) struct WebhookNetTests {
    private func webhook(
        _ site: Site, _ url: String, _ kinds: Set<WebhookKind> = Set(WebhookKind.allCases)
    ) throws -> WebhookConfiguration {
        let path = try site.directory.write(WebhookReceiver.secret, to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return WebhookConfiguration(url: url, secretFile: path, kinds: kinds)
    }

    @Test func `the journal has what was announced, and a page has a part of it`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let hook = try webhook(site, "http://127.0.0.1:1/")
        let manager = try site.manager { ($0.webhooks, $0.maxAttempts) = ([hook], 1) }
        let events = manager.events
        let good = try await manager.fetch("\(sandbox.http)/media/bytes-64K-1.mp4") { $0.key = try? ContentKey("a") }
        _ = try await manager.fetch("\(sandbox.http)/none.mp4") { $0.key = try? ContentKey("b") }
        _ = try await manager.fetch("\(sandbox.http)/media/bytes-64K-2.mp4") { $0.key = try? ContentKey("c") }
        let removals = manager.events
        try await manager.downloads.remove(good.key)
        _ = try await manager.first(in: removals) { if case .removed = $0 { true } else { false } }
        let endpoint = try #require(try await manager.webhooks.endpoints().first)
        let found = try await manager.webhooks.events(of: endpoint.id, dead: false)
        #expect(found.next == nil && found.events.count == 4 && endpoint.waiting == 4)
        var place: WebhookEventPage.Place?
        var ids: [String] = []
        repeat {
            let page = try await manager.webhooks.events(of: endpoint.id, dead: false, from: place, limit: 1)
            ids += page.events.map(\.id)
            place = page.next
        } while place != nil
        #expect(ids == found.events.map(\.id))
        #expect(try await manager.webhooks.events(of: endpoint.id, dead: true).events.isEmpty)
        await manager.close()
        // The events of the library and the rows say the same, in the same order.
        var announced: [String] = []
        for await event in events {
            switch event {
            case .completed(let content): announced.append("lecture.completed \(content.key)")
            case .failed(let content): announced.append("lecture.failed \(content.key)")
            case .removed(let key): announced.append("lecture.removed \(key)")
            default: continue
            }
        }
        #expect(found.events.map { "\($0.kind.name) \($0.key)" } == announced)
        await sandbox.stop()
    }

    @Test func `the endpoints are those of the configuration, and nil leaves them`() async throws {
        let site = try Site()
        let one = try webhook(site, "https://a.example/x")
        let two = try webhook(site, "https://b.example/", [.reportDead])
        let first = try site.manager { $0.webhooks = [one, two] }
        #expect(try await first.webhooks.endpoints().map(\.server) == ["https://a.example", "https://b.example"])
        #expect(try await first.webhooks.endpoints().map(\.kinds.count) == [9, 1])
        await first.close()
        let second = try site.manager()
        #expect(try await second.webhooks.endpoints().map(\.isConfigured) == [false, false])
        await #expect(throws: LectureError(.webhookUnknown)) { _ = try await second.webhooks.test() }
        await #expect(throws: LectureError(.webhookUnknown)) {
            var options = WebhookSendOptions()
            options.url = "https://c.example/"
            _ = try await second.webhooks.send(options: options)
        }
        #expect(try await second.webhooks.send() == WebhookSendResult())
        await second.close()
        let third = try site.manager { $0.webhooks = [two] }
        #expect(third.webhooks.removed.isEmpty, "nothing waited for it")
        #expect(try await third.webhooks.endpoints().map(\.url) == ["https://b.example/"])
        await third.close()
    }

    @Test func `a program that stays open sends at once, also what others do, and rests`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let receiver = try await WebhookReceiver.start()
        let hook = try webhook(site, receiver.url)
        let resident = try site.manager { ($0.webhooks, $0.isLongRunning) = ([hook], true) }
        let other = try site.manager { $0.webhooks = [hook] }
        _ = try await other.fetch("\(sandbox.http)/media/bytes-64K-1.mp4")
        try await receiver.wait { $0.count == 1 }
        _ = try await resident.fetch("\(sandbox.http)/media/bytes-64K-2.mp4")
        try await receiver.wait { $0.count == 2 }
        try await waitUntil { try await resident.webhooks.endpoints()[0].delivered == 2 }
        // With other settings another endpoint gets what happens from then on.
        let second = try await WebhookReceiver.start()
        var settings = LectureConfiguration(storeDirectory: site.store)
        settings.reserveBytes = 1 << 20
        settings.webhooks = [try webhook(site, second.url)]
        _ = try await resident.reconfigure(settings)
        _ = try await resident.fetch("\(sandbox.http)/media/bytes-64K-3.mp4")
        try await second.wait { $0.count == 1 }
        #expect(try receiver.requests().count == 2)
        await other.close()
        await resident.close()
        await receiver.stop()
        await second.stop()
        await sandbox.stop()
    }

    @Test func `a call is ended by its task, by stopping and by closing, and loses nothing`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let receiver = try await WebhookReceiver.start(habit: "500")
        let hook = try webhook(site, receiver.url)
        let manager = try site.manager { $0.webhooks = [hook] }
        _ = try await manager.fetch("\(sandbox.http)/media/bytes-64K-1.mp4")
        var patient = WebhookSendOptions()
        (patient.attempts, patient.longestWait) = (1000, .seconds(3600))
        let options = patient
        let cancelled = Task { try await manager.webhooks.send(options: options) }
        try await receiver.wait { !$0.isEmpty }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        // What the call began goes on; the next request is to be one of the next call.
        await manager.webhooks.stopSending()
        let stopped = Task { try await manager.webhooks.send(options: options) }
        try await receiver.wait { $0.count >= 2 }
        await manager.webhooks.stopSending()
        #expect(try await stopped.value.left == 1)
        let closed = Task { try await manager.webhooks.send(options: options) }
        try await receiver.wait { $0.count >= 3 }
        await manager.close()
        _ = try? await closed.value
        await #expect(throws: LectureError(.closing)) { _ = try await manager.webhooks.send() }
        try receiver.set("")
        let next = try site.manager { $0.webhooks = [hook] }
        try await next.webhooks.retry()
        #expect(try await next.webhooks.send().delivered == 1)
        #expect(try receiver.events().count == 1)
        await next.close()
        await receiver.stop()
        await sandbox.stop()
    }
}

/// The array `webhooks` of a configuration file.
@Suite struct WebhookConfigurationTests {
    private let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        let path = try place.write(WebhookReceiver.secret, to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private func webhooks(_ text: String) throws -> [WebhookConfiguration]? {
        var configuration = LectureConfiguration(storeDirectory: "/s")
        let path = try place.write(#"{"webhooks": \#(text)}"#, to: "config.json")
        _ = try configuration.apply(file: path)
        return configuration.webhooks
    }

    @Test func `an entry names a URL, a secret and events`() throws {
        let all = try webhooks(#"[{"url": "http://h.example/a", "secret_file": "secret"}]"#)
        #expect(all == [WebhookConfiguration(url: "http://h.example/a", secretFile: place.file("secret"))])
        let some = try webhooks(
            #"[{"url": "https://h/", "secret_file": "secret", "events": ["report.dead", "lecture.failed"]}]"#)
        #expect(some?.first?.kinds == [.reportDead, .lectureFailed])
        #expect(try webhooks("[]") == [])
    }

    @Test(arguments: [
        ("{}", "must be an array"), ("[1]", "must hold objects"), (#"[{"secret_file": "secret"}]"#, "needs its url"),
        (#"[{"url": "https://h/"}]"#, "needs its secret_file"),
        (#"[{"url": "ftp://h/", "secret_file": "secret"}]"#, "must be an http or https URL"),
        (#"[{"url": "https://u:p@h/", "secret_file": "secret"}]"#, "must have no user"),
        (#"[{"url": "https://h/", "secret_file": "none"}]"#, "No such file"),
        (#"[{"url": "https://h/", "secret": "whsec_x"}]"#, "secrets are given by file"),
        (#"[{"url": "https://h/", "secret_file": "secret", "events": []}]"#, "not empty"),
        (
            #"[{"url": "https://h/", "secret_file": "secret", "events": ["lecture.complete"]}]"#,
            "did you mean 'lecture.completed'?"
        ),
        (#"[{"url": "https://h/", "secret_file": "secret", "events": [7]}]"#, "names '7'"),
        (
            #"[{"url": "https://h/", "secret_file": "secret"}, {"url": "https://h/", "secret_file": "secret"}]"#,
            "the same url"
        ),
    ])
    func `a mistake is named`(text: String, words: String) throws {
        let error = #expect(throws: LectureError.self) { _ = try webhooks(text) }
        #expect(error?.code == .configuration && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func `a check reads the secret, and never names it`() throws {
        _ = try webhooks(#"[{"url": "https://h/", "secret_file": "secret"}]"#)
        #expect(LectureConfiguration.mistakes(inFile: place.file("config.json")).isEmpty)
        _ = try place.write("hush", to: "secret")
        let found = LectureConfiguration.mistakes(inFile: place.file("config.json"))
        #expect(found.map(\.code) == [.webhookSecret] && !found[0].message.contains("hush"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: place.file("secret"))
        #expect(LectureConfiguration.mistakes(inFile: place.file("config.json")).map(\.code) == [.secretReadable])
    }
}
