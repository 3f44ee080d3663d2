import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What the classroom refuses, and to whom; and what its pages show.
struct ClassroomRefusalNetTests {
    private static func withSchool(_ body: (School) async throws -> Void) async throws {
        let school = try await School()
        do { try await body(school) } catch {
            await school.end()
            throw error
        }
        await school.end()
    }

    @Test func `each path needs a role`() async throws {
        try await Self.withSchool { school in
            _ = try await school.keep("film.mp4", as: "film")
            let play = try await school.play("film", as: "kim")
            let rows: [(String, [String], Int, Int, Int, Int)] = [
                // viewer, operator, peer, without a token
                ("/classroom", [], 200, 200, 403, 303), ("/classroom/lectures/film", [], 200, 200, 403, 303),
                ("/classroom/watch.js", [], 200, 200, 403, 401),
                ("/classroom/lectures/film/media", ["-r", "0-9"], 206, 206, 403, 401),
                ("/classroom/lectures/film/poster", [], 404, 404, 403, 401),
                ("/classroom/lectures/film/subtitles/0", [], 404, 404, 403, 401),
                ("/classroom/links", ["-d", "key=film&user=x&until=1"], 403, 400, 403, 401),
                ("/classroom/lectures/film/plays", ["-X", "POST"], 201, 201, 403, 401),
                (play, ["-r", "0-9"], 206, 403, 403, 401),
            ]
            for (path, words, viewer, keeper, peer, stranger) in rows {
                let expected = [("kim", viewer), ("ada", keeper), ("branch", peer)]
                for (name, status) in expected {
                    let answer = try await ask(school, path, name, words)
                    #expect(answer.status == status, "\(path) \(name): \(answer.text.prefix(200))")
                }
                #expect(try await ask(school, path, nil, words).status == stranger, "\(path)")
            }
        }
    }

    private func ask(_ school: School, _ path: String, _ name: String?, _ words: [String]) async throws -> Curl.Response
    {
        let who = name.map { ["-u", "\($0):\(school.tokens[$0] ?? "")"] } ?? []
        return try await Curl.get(["\(school.server.url)\(path)"] + who + words)
    }

    @Test func `paths that are none are not found`() async throws {
        try await Self.withSchool { school in
            _ = try await school.keep("film.mp4", as: "film")
            let paths = [
                "/classroom/x", "/classroom/lectures", "/classroom/lectures/film/x",
                "/classroom/lectures/film/subtitles", "/classroom/lectures/film/subtitles/x",
                "/classroom/lectures/film/subtitles/-1", "/classroom/lectures/film/subtitles/99", "/classroom/plays",
                "/classroom/lectures/none", "/classroom/lectures/~YS9i", "/classroom/open/a/b/c",
                "/classroom/plays/x/y/z",
            ]
            for path in paths {
                let answer = try await ask(school, path, "kim", [])
                #expect(answer.status == 404, "\(path): \(answer.status)")
            }
            #expect(try await ask(school, "/classroom/lectures/~!", "kim", []).status == 403)
            for path in ["/classroom/../", "/classroom/lectures/..", "/classroom/%2e%2e/x"] {
                #expect(try await ask(school, path, "kim", ["--path-as-is"]).status == 400, "\(path)")
            }
        }
    }

    @Test func `a removed lecture plays no longer`() async throws {
        try await Self.withSchool { school in
            let key = try await school.keep("film.mp4", as: "film")
            let other = try await school.keep("film.mp4", as: "other")
            try await school.manager.downloads.remove(key)
            #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
            #expect(try await ask(school, "/classroom/lectures/film", "kim", []).status == 404)
            #expect(try await ask(school, "/classroom/lectures/film/plays", "kim", ["-X", "POST"]).status == 404)
            #expect(try await ask(school, "/classroom/lectures/film/media", "kim", ["-r", "0-9"]).status == 404)
            let list = try await ask(school, "/classroom", "kim", [])
            #expect(!list.text.contains("/lectures/film\"") && list.text.contains("/lectures/\(other.text)\""))
        }
    }

    @Test func `the watch page has chapters, bookmarks, and text as text`() async throws {
        try await Self.withSchool { school in
            let more =
                #","title":"<b>Waves</b>","synopsis":"a & b","duration":60,"#
                + #""chapters":[{"language":"ko","items":[{"position":0,"value":"시작"},"#
                + #"{"position":65.5,"value":"<i>"}]}],"#
                + #""bookmarks":[{"position":3661,"title":"proof","kind":"teacher"}]"#
            _ = try await school.keep("film.mp4", as: "film", more)
            let text = try await ask(school, "/classroom/lectures/film", "kim", []).text
            let pieces = [
                "<h1>&lt;b&gt;Waves&lt;/b&gt;</h1>", "<p>a &amp; b</p>", "<h2>Chapters</h2>", "<ol lang=\"ko\">",
                ">0:00 시작</a>", "?at=65\" data-at=\"65\">1:05 &lt;i&gt;</a>", "aria-label=\"&lt;b&gt;Waves&lt;/b&gt;\"",
                "<button class=\"main\">Play</button>", "<video controls preload=\"none\"", "role=\"status\"",
            ]
            for piece in pieces { #expect(text.contains(piece), "\(piece)") }
            #expect(!text.contains("<b>") && !text.contains("<i>"))
            let later = try await ask(school, "/classroom/lectures/film?at=65", "kim", []).text
            #expect(
                later.contains("<button class=\"main\">Play from 1:05</button>") && later.contains("From the beginning")
            )
        }
    }
}
