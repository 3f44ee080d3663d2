import LectureFormats
import LectureModel
import LectureWebhooks
import Testing

@testable import LectureSQLite
@testable import LectureStore

/// The bodies that receivers get, from the rows of a store.
struct WebhookBodyTests {
    private static let lecture = #""key":"a","title":"Limits","course":"Algebra""#

    /// What is done, and the body that follows.
    private static let story: [(sql: String, type: String, second: Int, data: String)] = [
        (
            "UPDATE content SET state = 4, completed_ms = 1000, updated_ms = 1000", "lecture.completed", 1,
            lecture + #","bytes":1048576"#
        ),
        (
            "UPDATE content SET state = 6, completed_ms = NULL, updated_ms = 2000, error_code = -8646",
            "lecture.damaged", 2,
            lecture + #","code":-8646,"name":"damaged","message":"the stored file is damaged""#
        ),
        (
            """
            UPDATE content SET state = 0;
            UPDATE content SET state = 6, updated_ms = 3000, error_code = -8404, error_detail = 'http://hush/',
                error_cause = 'hush'
            """, "lecture.failed", 3,
            lecture + #","code":-8404,"name":"http_404","message":"the server answered HTTP 404""#
        ),
        ("UPDATE renewal SET state = 1", "licence.renewed", 4, lecture),
        (attempt("refused", 5), "licence.refused", 5, lecture + notDownloadable),
        (attempt("ended", 6), "licence.ended", 6, lecture + notDownloadable),
        (attempt("deleted", 7), "licence.deleted", 7, lecture + notDownloadable),
        (
            """
            UPDATE report SET state = 3, dead_reason = 4, changed_ms = 8000, answer_status = 409,
                answer_text = 'hush' WHERE id = 1
            """, "report.dead", 8,
            #""key":"a","course":"Algebra","id":"r-1","reason":"conflict","http_status":409"#
        ),
        (
            "UPDATE report SET state = 3, dead_reason = 3, changed_ms = 9000 WHERE id = 2", "report.dead", 9,
            #""key":"gone","id":"r-2","reason":"unsupported""#
        ),
        ("UPDATE content SET desire = 3, updated_ms = 10000; DELETE FROM content", "lecture.removed", 10, lecture),
    ]

    private static let notDownloadable =
        #","code":-8650,"name":"not_downloadable","message":"this link does not permit downloading""#

    private static func attempt(_ outcome: String, _ second: Int) -> String {
        """
        INSERT INTO licence_attempt(licence_id, at_ms, duration_ms, kind, outcome, error_code, detail)
        VALUES (1, \(second * 1000 - 250), 250, 3, '\(outcome)', -8650, 'https://hush/?token=hush')
        """
    }

    /// A lecture, a licence in a batch, and two reports, with words that must not leave the device.
    private func world() throws -> WebhookWorld {
        let world = try WebhookWorld()
        try world.follow([("https://a.example/hush", WebhookKind.allCases)])
        let rows = """
            INSERT INTO content(key, state, position, added_ms, updated_ms, is_gateway, source_identity, title, course,
                source_url, bytes_proven)
                VALUES ('a', 2, 0, 1, 1, 0, x'', 'Limits', 'Algebra', 'http://hush/', 1048576);
            INSERT INTO licence(content_key, content_id, mac, granted_ms, checked_ms)
                VALUES ('a', (SELECT id FROM content), zeroblob(32), 4000, 3000);
            INSERT INTO renewal_run(id, selection, begun_ms) VALUES (1, 'all', 1);
            INSERT INTO renewal(run_id, licence_id, urgency_ms) VALUES (1, 1, 0);
            INSERT INTO lms_lane(id, client_user_id, session) VALUES (1, 'hush', 'hush');
            INSERT INTO report(lane_id, sequence, changed_ms, wall_ms, bytes, uuid, content, course, "values")
                VALUES (1, 1, 1, 1, 1, 'r-1', 'a', 'Algebra', '{"hush":1}'), (1, 2, 1, 1, 1, 'r-2', 'gone', NULL, '{}')
            """
        try execute(rows, world)
        return world
    }

    private func execute(_ sql: String, _ world: WebhookWorld) throws {
        for statement in sql.split(separator: ";") { try world.execute(String(statement)) }
    }

    @Test func `Every kind has its line, and none names what is private`() throws {
        let world = try world()
        for (sql, _, _, _) in Self.story { try execute(sql, world) }
        #expect(try world.send()?.delivered == Self.story.count)
        // Lectures are sent at once, and those of one lecture in its order.
        let bodies = world.arrivals.map(\.body).sorted { one, other in stamp(one) < stamp(other) }
        let wanted = Self.story.map { _, type, second, data in
            let time = "1970-01-01T00:00:\(second < 10 ? "0" : "")\(second).000Z"
            return #"{"type":"\#(type)","timestamp":"\#(time)","data":{\#(data)}}"#
        }
        for (body, line) in zip(bodies, wanted) { #expect(body == line) }
        #expect(bodies.count == wanted.count && bodies.allSatisfy { !$0.contains("hush") && !$0.contains("://") })
        #expect(Set(Self.story.map(\.type)) == Set(WebhookKind.allCases.map(\.name)))
        let lectures = world.arrivals.filter { $0.body.contains(#""key":"a""#) }.map(\.body)
        #expect(lectures == lectures.sorted { stamp($0) < stamp($1) })
    }

    private func stamp(_ body: String) -> String {
        (try? JSONScanner.value(of: Array(body.utf8)))?["timestamp"]?.string ?? ""
    }

    private static func event(_ kind: WebhookKind = .lectureFailed) -> WebhookEvent {
        WebhookEvent(id: 1, kind: kind, happened: Timestamp(milliseconds: 0))
    }

    @Test func `Text of any kind is one line, and is read as it was`() throws {
        let control = String(String.UnicodeScalarView((0...0x1F).compactMap(Unicode.Scalar.init)))
        let texts = [
            control, "\u{7F}\u{80}\u{85}", #"\"/\u0041"#, "\u{2028}\u{2029}", "e\u{301}\u{1F600}\u{10FFFF}",
            "</script>",
            "\u{FEFF}x", "\r\n", String(repeating: "x", count: 4000),
        ]
        for text in texts {
            var event = Self.event()
            (event.key, event.title, event.course) = ("k" + text, text, text + text)
            let body = Array(WebhookBody.text(event).utf8)
            #expect(!body.contains { $0 < 0x20 || $0 == 0x7F }, "\(text.debugDescription)")
            let data = try #require(try JSONScanner.value(of: body)["data"])
            let read = ["key", "title", "course"].map { data[$0]?.string.map { Array($0.utf8) } }
            #expect(read == [event.key, event.title, event.course].map { Array($0.utf8) }, "\(text.debugDescription)")
        }
    }

    /// Each member alone: its line, and nothing of the others.
    private static let members: [(change: @Sendable (inout WebhookEvent) -> Void, data: String)] = [
        ({ _ in }, ""), ({ $0.key = "k" }, #""key":"k""#), ({ $0.title = "t" }, #""title":"t""#),
        ({ $0.course = "c" }, #""course":"c""#), ({ $0.bytes = 0 }, #""bytes":0"#),
        ({ $0.bytes = .max }, #""bytes":9223372036854775807"#), ({ $0.report = "r" }, #""id":"r""#),
        ({ $0.deadReason = .refused }, #""reason":"refused""#),
        ({ $0.deadReason = .tooLarge }, #""reason":"too_large""#),
        ({ $0.deadReason = .unsupported }, #""reason":"unsupported""#),
        ({ $0.deadReason = .conflict }, #""reason":"conflict""#), ({ $0.status = 413 }, #""http_status":413"#),
        (
            { ($0.status, $0.report, $0.bytes, $0.course, $0.title, $0.key) = (400, "r", 1, "c", "t", "k") },
            #""key":"k","title":"t","course":"c","bytes":1,"id":"r","http_status":400"#
        ),
    ]

    @Test func `What is empty is left out`() {
        for kind in WebhookKind.allCases {
            for (change, data) in Self.members {
                var event = Self.event(kind)
                change(&event)
                let line = #"{"type":"\#(kind.name)","timestamp":"1970-01-01T00:00:00.000Z","data":{\#(data)}}"#
                #expect(WebhookBody.text(event) == line)
            }
        }
    }

    @Test func `Every error has the number, the name and the sentence of the catalogue`() throws {
        let known = LectureError.Code.all + (400...599).map { .status($0) } + (1...99).map { .transfer($0) }
        for code in known {
            var event = Self.event()
            event.error = code.number
            let data = try #require(try JSONScanner.value(of: Array(WebhookBody.text(event).utf8))["data"])
            let stored = LectureError.Code.stored(code.number)
            #expect(data["code"]?.integer == Int64(code.number) && data["name"]?.string == stored.name)
            #expect(data["message"]?.string == stored.summary && !stored.summary.isEmpty, "\(code.number)")
        }
        var event = Self.event()
        event.error = -31_999
        #expect(WebhookBody.text(event).contains(#""code":-31999,"name":""#), "one of a newer program")
    }

    @Test func `An id holds the store, the row and the time, and fits a header`() {
        var ids: Set<String> = []
        for store in ["0190c8f2-7c1a-7000-8000-000000000001", "0190c8f2-7c1a-7000-8000-000000000002"] {
            for row in [1, 12, Int64.max] {
                for time in [0, 35, 36, 1_790_000_000_123] as [Int64] {
                    var event = Self.event()
                    (event.id, event.happened) = (row, Timestamp(milliseconds: time))
                    let id = WebhookBody.id(of: event, store: store)
                    #expect(id == "msg_\(store)-\(row)-\(String(time, radix: 36))" && !id.contains("."))
                    let more = WebhookBody.id(of: event, store: store)
                    ids.insert(more)
                }
            }
        }
        #expect(ids.count == 24)
    }
}
