import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The events of a real store over real connections.
@Suite(.timeLimit(.minutes(4))) struct APIEventNetTests {
    /// One event of a stream.
    struct Event {
        var name = ""
        var id: String?
        var data = ""

        /// Reads a stream; the schema of each line is checked.
        static func read(_ text: String) throws -> [Event] {
            try text.components(separatedBy: "\n\n").compactMap { block in
                var event = Event()
                for line in block.split(separator: "\n") {
                    if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
                    if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                    if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
                }
                guard !event.data.isEmpty else { return nil }
                let faults = try JSONSchema(describing: event.data).faults(in: Data(event.data.utf8))
                #expect(faults.isEmpty, "\(event.data): \(faults)")
                let object = try JSONSerialization.jsonObject(with: Data(event.data.utf8)) as? [String: Any]
                #expect((object?["event"] ?? object?["record"]) as? String == event.name)
                return event
            }
        }
    }

    /// A client that stays connected.
    private static func listen(_ rig: APIRig, _ query: String = "", last: String? = nil) throws -> ChildProcess {
        let field = last.map { ["-H", "Last-Event-ID: \($0)"] } ?? []
        return try ChildProcess(
            "/usr/bin/curl",
            ["-q", "-s", "-N", "--max-time", "60", "-H", "Authorization: Bearer operator-token-1"] + field
                + ["\(rig.server.url)/api/v1/events\(query)"])
    }

    private static func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

    @Test func `a download is reported line by line, and what was missed is sent again`() async throws {
        try await APIRig.with { rig in
            try await rig.sandbox.set(fault: "slow:60000", on: "/media/bytes-300K-7.mp4")
            let client = try Self.listen(rig)
            // The first block has no event: only the id that a client without events would come back with.
            let first = Self.text(try await client.wait(for: .output) { Self.text($0).contains("\n\n") })
            #expect(first.hasPrefix("retry: 1000\nid: ") && first.hasSuffix("-0\n\n"))
            let body = #"{"url": "\#(rig.sandbox.http)/media/bytes-300K-7.mp4", "key": "five", "title": "<b>\n"}"#
            #expect(try await rig.ask("POST", "lectures", body).status == 400)
            try await rig.ask("POST", "lectures", body.replacing(#"\n"#, with: ""))
            let output = try await client.wait(for: .output) { Self.text($0).contains("event: completed") }
            client.send(SIGKILL)
            let events = try Event.read(Self.text(output))
            #expect(events.first { $0.name != "status" }?.name == "queued")
            #expect(events.contains { $0.name == "progress" && $0.id == nil })
            #expect(events.filter { $0.name != "progress" }.allSatisfy { $0.id != nil })
            #expect(events.allSatisfy { $0.name == "status" || $0.data.contains(#""key":"five""#) })
            // Back with the first event: the rest comes again, in its order, and no gap.
            let ids = events.compactMap(\.id)
            let back = try Self.listen(rig, "?seconds=2", last: ids[0])
            let again = try Event.read(await back.ending().text)
            #expect(again.first { $0.name != "progress" }.map(\.id) == ids.dropFirst().first, "\(ids) \(again)")
            #expect(!again.contains { $0.name == "gap" })
            for wrong in ["x", "\(ids[0])0", "other-1", "-", "999"] {
                let ending = await (try Self.listen(rig, "?seconds=1", last: wrong)).ending()
                #expect(try Event.read(ending.text).first?.name == "gap", "\(wrong)")
                #expect(ending.status == 0, "the stream has no end")
            }
        }
    }

    @Test func `what another process does is seen by the counts`() async throws {
        try await APIRig.with { rig in
            let client = try Self.listen(rig)
            _ = try await client.wait(for: .output) { Self.text($0).contains("\n\n") }
            var configuration = LectureConfiguration(storeDirectory: rig.directory.file("store"))
            configuration.reserveBytes = 1 << 20
            configuration.deviceDirectory = rig.directory.file("device")
            let other = try LectureManager(configuration)
            var request = DownloadRequest(url: "\(rig.sandbox.http)/media/bytes-300K-8.mp4")
            request.key = try ContentKey("other")
            // The first look is sent, too: what was done before it is in no event.
            _ = try await client.wait(for: .output) { Self.text($0).contains("event: status") }
            try await other.downloads.enqueue(request)
            #expect(try await other.downloads.waitUntilIdle(deadline: .seconds(30)))
            let output = try await client.wait(for: .output) { data in
                Self.text(data).components(separatedBy: "event: status").count > 2
            }
            client.send(SIGKILL)
            let status = try #require(try Event.read(Self.text(output)).last { $0.name == "status" })
            #expect(status.id != nil && status.data.contains(#""record":"status""#))
            await other.close()
        }
    }

    @Test func `clients that go, that only want the head, and the end of the server do no harm`() async throws {
        try await APIRig.with { rig in
            for method in ["/api/v1/events", "/live"] {
                let head = try await rig.raw(method, "-I", "--max-time", "20")
                #expect(head.status == 200 && head.field("content-type") == "text/event-stream", "\(method)")
            }
            for _ in 1...20 {
                let client = try Self.listen(rig)
                _ = try await client.wait(for: .output) { !$0.isEmpty }
                client.send(SIGKILL)
            }
            let many = try (1...10).map { _ in try Self.listen(rig) }
            for client in many { _ = try await client.wait(for: .output) { !$0.isEmpty } }
            try await rig.ask("POST", "lectures/three/retry")
            for client in many {
                _ = try await client.wait(for: .output) { data in
                    ["queued", "failed"].contains { Self.text(data).contains("event: \($0)\n") }
                }
                client.send(SIGKILL)
            }
            let open = try Self.listen(rig)
            _ = try await open.wait(for: .output) { !$0.isEmpty }
            await rig.server.stop()
            #expect(await open.ending().status != 28, "the stream outlives the server")
        }
    }
}

/// What is kept of events, as a value.
struct APIEventFeedTests {
    private static func feed(_ count: Int, length: Int = 40) -> APIEvents.Feed {
        var feed = APIEvents.Feed(run: "run")
        for number in 1...count {
            let text = String(repeating: "x", count: length)
            feed.add("{\"event\":\"e\(number)\",\"key\":\"\(text)\"}\n")
        }
        return feed
    }

    @Test func `a client gets what comes after its place`() {
        let feed = Self.feed(3, length: 1)
        #expect(feed.place(nil) == 3 && feed.text(after: 3) == "")
        #expect(feed.text(after: 2) == "event: e3\nid: run-3\ndata: {\"event\":\"e3\",\"key\":\"x\"}\n\n")
        #expect(feed.text(after: 0).components(separatedBy: "\n\n").count == 4)
        let gap = "event: gap\nid: run-3\ndata: {\"event\":\"gap\"}\n\n"
        #expect(feed.text(after: nil) == gap)
        #expect(APIEvents.Feed(run: "a").place(nil) == 0)
    }

    @Test func `a place is known only in this run, and as long as all after it are kept`() {
        let feed = Self.feed(APIEvents.most + 10)
        let (last, oldest) = (APIEvents.most + 10, 10)
        #expect(feed.entries.count == APIEvents.most && feed.last == last)
        let rows: [(String, Int?)] = [
            ("run-\(last)", last), ("run-\(last - 1)", last - 1), ("run-\(oldest)", oldest), ("run-\(oldest - 1)", nil),
            ("run-0", nil), ("run-\(last + 1)", nil), ("run--1", nil), ("ran-\(last)", nil), ("run", nil), ("", nil),
            ("-", nil), ("run-", nil), ("run-x", nil), ("run-99999999999999999999", nil), ("a-run-\(last)", nil),
        ]
        for (id, place) in rows { #expect(feed.place(id) == place, "\(id)") }
        #expect(feed.text(after: oldest - 1).hasPrefix("event: gap\n"))
        #expect(feed.text(after: oldest).components(separatedBy: "\n\n").count == APIEvents.most + 1)
    }

    @Test func `long lines push others out before a client's buffer is full`() {
        let feed = Self.feed(100, length: 10_000)
        let kept = feed.entries.reduce(0) { $0 + $1.line.utf8.count }
        #expect(kept <= APIEvents.mostBytes && feed.entries.count == 13 && feed.last == 100)
        #expect(feed.entries.last?.number == 100 && feed.entries.first?.number == 88)
        #expect(feed.text(after: 87).utf8.count < 256 << 10)
        var over = feed
        over.add(String(repeating: "x", count: APIEvents.mostBytes + 1))
        #expect(over.entries.isEmpty && over.text(after: 100).hasPrefix("event: gap\n"))
        over.add("{\"event\":\"e\"}\n")
        #expect(over.place("run-101") == 101 && over.entries.count == 1)
    }

    @Test func `only the latest progress of a lecture is sent, once, and not after its end`() throws {
        var feed = APIEvents.Feed(run: "run")
        let (one, two) = (try ContentKey("one"), try ContentKey("two"))
        for text in ["a", "b"] {
            feed.setProgress("{\"event\":\"progress\",\"key\":\"one\",\"n\":\"\(text)\"}\n", of: one)
            feed.setProgress("{\"event\":\"progress\",\"key\":\"two\",\"n\":\"\(text)\"}\n", of: two)
        }
        #expect(
            !feed.text(after: 0).contains("\"a\"") && feed.text(after: 0).components(separatedBy: "\n\n").count == 3)
        #expect(!feed.text(after: 0).contains("id:"))
        feed.add("{\"event\":\"completed\",\"key\":\"one\"}\n", about: one)
        let text = feed.text(after: 0)
        #expect(text.hasPrefix("event: completed\nid: run-1\n") && text.components(separatedBy: "\n\n").count == 3)
        feed.forgetProgress()
        #expect(feed.text(after: 1) == "")
    }

    @Test func `events have the lines of --json, or none`() throws {
        var lecture = Content(
            key: try ContentKey("k"), sourceURL: "http://u:p@h/a?token=s", title: "t", state: .queued,
            added: Timestamp(milliseconds: 0))
        let (key, error) = (lecture.key, LectureError(.storageFull))
        (lecture.error, lecture.stopReason, lecture.totalBytes) = (error, .space, 1)
        let rows: [(LectureEvent, String?, Bool)] = [
            (.queued(lecture), "queued", true), (.completed(lecture), "completed", true),
            (.failed(lecture), "failed", true), (.stopped(lecture), "stopped", true),
            (.outdated(lecture), "outdated", true), (.unchanged(lecture), "skipped", true),
            (.checkFailed(key: key, error: error), "check_failed", true), (.removed(key), "removed", true),
            (.published(key: key, path: "/p"), "published", false),
            (.publishingFailed(key: key, path: "/p", error: error), "error", false),
            (.licenceGranted(key), "licence", false), (.licenceEnded(key), "licence", false),
            (.licenceDeleted(key), "licence", false),
            (.renewed(key: key, current: 1, count: 2, error: nil), "renewed", false),
            (.renewed(key: key, current: 1, count: 2, error: error), "error", false), (.trouble(error), "error", false),
            (.reportRefused(id: "i", reason: .refused, error: error), "refused", false),
            (.advanced(lecture), nil, false), (.renewalBegan(total: 1, done: 0), nil, false),
            (.reportsDelivered(["i"]), nil, false),
        ]
        for (event, name, isAbout) in rows {
            let found = APIEvents.line(event)
            #expect(found?.0.hasPrefix("{\"event\":\"\(name ?? "")\"") ?? (name == nil), "\(event)")
            #expect((found?.1 != nil) == isAbout, "\(event)")
            guard let line = found?.0 else { continue }
            #expect(!line.contains("token=") && !line.contains("u:p"))
            let schema = try JSONSchema(describing: line)
            let faults = try schema.faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(line): \(faults)")
        }
    }
}
