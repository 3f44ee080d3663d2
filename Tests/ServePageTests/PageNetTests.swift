import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The page without a browser: what each address answers, what a button does, and what is refused.
struct PageNetTests {
    /// A client with a session.
    private struct Client {
        let url: String
        var cookie = ""

        func callAsFunction(_ path: String, _ words: String...) async throws -> (
            status: Int, head: String, text: String
        ) {
            let session = cookie.isEmpty ? [] : ["-H", "Cookie: \(cookie)"]
            let all =
                ["-q", "-s", "-S", "-i", "--path-as-is", "--max-time", "60"] + session + words + ["\(url)\(path)"]
            let ending = try await ChildProcess.run("/usr/bin/curl", all)
            let end = ending.output.range(of: Data("\r\n\r\n".utf8))
            let head = String(decoding: end.map { ending.output[..<$0.lowerBound] } ?? ending.output, as: UTF8.self)
            let body = end.map { Data(ending.output[$0.upperBound...]) } ?? Data()
            let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
            return (status, head, String(decoding: body, as: UTF8.self))
        }

        /// Signs in.
        mutating func signIn(_ token: String) async throws {
            let answer = try await self("/sign-in", "--data-urlencode", "token=\(token)")
            cookie = Self.field("set-cookie", answer.head).map { String($0.prefix { $0 != ";" }) } ?? ""
        }

        static func field(_ name: String, _ head: String) -> String? {
            head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }

        /// The form token of a page.
        func formToken(_ path: String) async throws -> String {
            let text = try await self(path).text
            let start = try #require(text.range(of: #"name="form_token" value=""#), "\(text)")
            return String(text[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    private static func withRig(_ body: (PageRig, Client) async throws -> Void) async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        do {
            var client = Client(url: server.url)
            try await client.signIn(PageRig.token)
            try #require(!client.cookie.isEmpty)
            try await body(rig, client)
        } catch {
            await server.stop()
            await rig.end()
            throw error
        }
        await server.stop()
        await rig.end()
    }

    @Test func `every page shows what is in the store, as text`() async throws {
        try await Self.withRig { rig, client in
            let pages: [(String, [String])] = [
                ("/", ["<h1>Overview</h1>", "id=\"status\"", "id=\"disk\"", "missing-01", "id=\"lms\""]),
                ("/lectures", ["<h1>Lectures</h1>", "선형대수학 3강", "線形代数", "bytes-300K-3", "slow-01"]),
                (
                    "/lectures/algebra-01",
                    ["The requested version", "/classroom/lectures/algebra-01", "&lt;script&gt;"]
                ),
                ("/lectures/missing-01", ["404", "id=\"attempts\"", "/lectures/missing-01/retry"]),
                (
                    "/lectures/bytes-300K-3",
                    ["id=\"details\"", "id=\"licence\"", "Plays left", "May be played", "grant: permitted"]
                ),
                ("/lectures/algebra-01/remove", ["Remove this lecture?", "name=\"confirmed\" value=\"yes\""]),
                ("/licences", ["1 licence<", "/renew\""]), ("/reports", ["/lms/json", "Waiting"]),
            ]
            for (path, pieces) in pages {
                let answer = try await client(path)
                #expect(answer.status == 200, "\(path)")
                for piece in pieces { #expect(answer.text.contains(piece), "\(path) lacks \(piece)") }
                #expect(!answer.text.contains("<script>document") && !answer.text.contains("<img src=x"), "\(path)")
                #expect(
                    answer.text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">") && answer.text.hasSuffix("</html>\n"))
                #expect(!answer.text.contains(PageRig.token) && !answer.text.contains("style=\""), "\(path)")
                let korean = try await client(path, "-H", "Accept-Language: ko")
                #expect(korean.text.contains("<html lang=\"ko\">"), "\(path)")
            }
        }
    }

    @Test func `the list is searched, filtered and sorted`() async throws {
        try await Self.withRig { _, client in
            let lists: [(String, [String], [String])] = [
                ("?state=failed", ["missing-01"], ["algebra-01", "kanji-01"]),
                ("?state=completed", ["algebra-01", "kanji-01"], ["missing-01", "slow-01"]),
                ("?course=%E6%95%B0%E5%AD%A6", ["kanji-01"], ["algebra-01"]),
                ("?search=fourier", ["slow-01"], ["algebra-01", "kanji-01"]),
                ("?search=%E8%A1%8C%E5%88%97", ["kanji-01"], ["slow-01"]), ("?search=%25", [], ["kanji-01"]),
                ("?search=_", [], ["kanji-01"]), ("?type=sample", [], ["algebra-01"]),
                ("?expiring=7", ["bytes-300K-3"], ["algebra-01"]), ("?expiring=1", [], ["bytes-300K-3"]),
                ("?state=nonsense", ["algebra-01", "missing-01"], []), ("?after=unknown", ["algebra-01"], []),
            ]
            for (query, shown, hidden) in lists {
                let text = try await client("/lectures\(query)").text
                for key in shown { #expect(text.contains("href=\"/lectures/\(key)\""), "\(query) lacks \(key)") }
                for key in hidden { #expect(!text.contains("href=\"/lectures/\(key)\""), "\(query) has \(key)") }
                if shown.isEmpty { #expect(text.contains("No lecture matches."), "\(query)") }
            }
            let sorted = try await client("/lectures?sort=size").text
            let places = try ["slow-01", "algebra-01", "kanji-01"].map { key in
                try #require(sorted.range(of: "href=\"/lectures/\(key)\"")).lowerBound
            }
            #expect(places == places.sorted())
        }
    }

    @Test func `a button changes the store and leads back with what it did`() async throws {
        try await Self.withRig { rig, client in
            let token = try await client.formToken("/lectures")
            func press(_ path: String, _ words: String...) async throws -> String {
                let form = ["-d", "form_token=\(token)"] + words
                var all = ["--data-urlencode", "back=/lectures?state=stopped"]
                all = form + all
                let ending = try await ChildProcess.run(
                    "/usr/bin/curl", ["-q", "-s", "-i", "-H", "Cookie: \(client.cookie)"] + all + [client.url + path])
                let head = String(decoding: ending.output, as: UTF8.self)
                #expect(head.contains(" 303 "), "\(path): \(head)")
                return Client.field("location", head) ?? ""
            }
            #expect(try await press("/lectures/slow-01/pause") == "/lectures?state=stopped&note=paused")
            try await rig.wait(for: rig.slow) { $0.state == .stopped && $0.stopReason == .user }
            #expect(try await press("/lectures/slow-01/up") == "/lectures?state=stopped&note=priority")
            #expect(try await rig.manager.contents.find(rig.slow)?.priority == 10)
            for _ in 0..<12 { _ = try await press("/lectures/slow-01/down") }
            #expect(try await rig.manager.contents.find(rig.slow)?.priority == -100)
            #expect(try await press("/lectures/slow-01/resume") == "/lectures?state=stopped&note=resumed")
            try await rig.wait(for: rig.slow) { $0.state != .stopped }
            #expect(try await press("/lectures/slow-01/cancel") == "/lectures?state=stopped&note=cancelled")
            #expect(try await press("/lectures/algebra-01/remove") == "/lectures/algebra-01/remove")
            #expect(try await rig.manager.contents.find(rig.done) != nil)
            #expect(try await press("/lectures/algebra-01/remove", "-d", "confirmed=yes") == "/lectures?note=removed")
            try await rig.wait(for: rig.licensed) { _ in true }
            let left = try await rig.manager.contents.find(rig.done)
            #expect(left == nil || left?.state == .removing)
            let unknown = try await press("/lectures/nothing/pause")
            let number = LectureError.Code.unknownContent.number
            #expect(unknown == "/lectures?state=stopped&note=failed&code=\(number)")
            #expect(try await press("/reports/retry") == "/reports?note=retried")
            #expect(try await press("/licences/2020-01-01/renew") == "/licences?note=noneToRenew")
        }
    }

    @Test func `nothing is changed without a role, a session's token, or from elsewhere`() async throws {
        try await Self.withRig { rig, client in
            let token = try await client.formToken("/lectures")
            var viewer = Client(url: client.url)
            try await viewer.signIn("viewer-token-1")
            let stranger = Client(url: client.url)
            let before = try await rig.manager.contents.find(rig.slow)?.priority
            let paths = [
                "/lectures/slow-01/up", "/reports/retry", "/licences/2026-12-01/renew", "/lectures/slow-01/remove",
            ]
            for path in paths {
                #expect(try await client(path, "-d", "form_token=wrong").status == 403, "\(path)")
                #expect(try await client(path, "-d", "a=b").status == 403)
                #expect(try await stranger(path, "-d", "form_token=\(token)").status == 401)
                #expect(try await viewer(path, "-d", "form_token=\(token)").status == 403)
                let foreign = try await client(path, "-d", "form_token=\(token)", "-H", "Origin: http://evil.example")
                #expect(foreign.status == 403 && foreign.text.contains("foreign_origin"))
                #expect(try await client(path, "-X", "PUT", "-d", "form_token=\(token)").status == 405)
            }
            #expect(try await rig.manager.contents.find(rig.slow)?.priority == before)
            for path in ["/", "/lectures", "/lectures/algebra-01", "/licences", "/reports", "/live", "/script.js"] {
                #expect(try await viewer(path).status == 403, "\(path)")
                let answer = try await stranger(path)
                #expect([303, 401].contains(answer.status), "\(path)")
            }
            #expect(try await stranger("/style.css").status == 200)
        }
    }

    @Test func `signing in leads where it was asked, and signing out ends the session`() async throws {
        try await Self.withRig { _, client in
            let cases = [
                ("/lectures?state=failed", "/lectures?state=failed"), ("https://evil.example/", "/"),
                ("//evil.example/", "/"), ("/\\evil.example", "/"), ("", "/"), ("javascript:alert(1)", "/"),
            ]
            let fresh = Client(url: client.url)
            for (next, place) in cases {
                let answer = try await fresh(
                    "/sign-in", "--data-urlencode", "token=\(PageRig.token)", "--data-urlencode", "next=\(next)")
                #expect(answer.status == 303 && Client.field("location", answer.head) == place, "\(next)")
            }
            let viewer = try await fresh("/sign-in", "-d", "token=viewer-token-1")
            #expect(Client.field("location", viewer.head) == "/classroom")
            let wrong = try await fresh("/sign-in", "-d", "token=wrong", "--data-urlencode", "next=/lectures")
            #expect(wrong.status == 403 && wrong.text.contains("This token is not valid here."))
            #expect(wrong.text.contains("name=\"next\" value=\"/lectures\"") && !wrong.text.contains("value=\"wrong\""))
            #expect(Client.field("set-cookie", wrong.head) == nil)
            let asked = try await fresh("/licences")
            #expect(Client.field("location", asked.head) == "/sign-in?next=%2Flicences")
            let out = try await client("/sign-out", "-X", "POST")
            #expect(out.status == 303 && Client.field("set-cookie", out.head)?.contains("Max-Age=0") == true)
        }
    }

    @Test func `a language is chosen, and led back from`() async throws {
        try await Self.withRig { _, client in
            let cases = [
                ("language=ja&back=%2Flectures", "/lectures", true), ("language=xx&back=%2F", "/", false),
                ("language=ko&back=%2F%2Fevil.example", "/", true), ("back=%2Freports", "/reports", false),
            ]
            for (query, place, isSet) in cases {
                let answer = try await client("/language?\(query)")
                #expect(answer.status == 303 && Client.field("location", answer.head) == place, "\(query)")
                #expect((Client.field("set-cookie", answer.head) != nil) == isSet, "\(query)")
            }
            var japanese = client
            japanese.cookie += "; language=ja"
            #expect(try await japanese("/lectures").text.contains("<h1>講義</h1>"))
        }
    }

    @Test func `what is not there is not found`() async throws {
        try await Self.withRig { _, client in
            for path in ["/lectures/nothing", "/lectures/nothing/remove"] {
                let answer = try await client(path)
                #expect(answer.status == 404 && answer.text.contains("There is no such lecture."), "\(path)")
            }
            for path in ["/lectures/a/b/c", "/lectures/algebra-01/explode", "/nothing", "/lectures/", "/%00"] {
                #expect(try await client(path).status == 404, "\(path)")
            }
        }
    }
}
