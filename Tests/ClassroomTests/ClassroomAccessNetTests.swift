import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// Who reaches what in the classroom of a real server: roles, sessions, methods, other sites, bodies.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ClassroomAccessNetTests {
    /// A browser with the session of a link.
    private struct Guest {
        let school: School
        let jar: String
        let formToken: String

        init(_ school: School, _ key: String, user: String) async throws {
            (self.school, jar) = (school, school.directory.file("jar-\(user)"))
            _ = try await Curl.get(["\(school.server.url)\(try await school.link(key, user: user))", "-c", jar])
            let page = try await Curl.get(["\(school.server.url)/classroom/lectures/\(key)", "-b", jar])
            let fields = Markup(page.text)["input"].filter { $0.attributes["name"] == "form_token" }
            formToken = try #require(fields.first?.attributes["value"], "\(page.text)")
        }

        func get(_ path: String, _ words: [String] = []) async throws -> Curl.Response {
            try await Curl.get(["\(school.server.url)\(path)", "-b", jar] + words)
        }

        /// As the page's script does it.
        func post(_ path: String, _ words: [String] = []) async throws -> Curl.Response {
            try await get(path, ["-X", "POST", "-H", "X-Form-Token: \(formToken)"] + words)
        }
    }

    private static let report = #"{"sequence":1,"state":"playing","played":[{"from":0,"to":1}]}"#

    // MARK: Sessions of links

    @Test func `the session of a link reaches its lecture, and nothing else of the site`() async throws {
        let school = try await School()
        for key in ["film", "secret"] { _ = try await school.keep("film.mp4", as: key) }
        let guest = try await Guest(school, "film", user: "gast")
        let theirs = try await school.play("secret", as: "kim")
        let own: String = try await guest.post("/classroom/lectures/film/plays").member("url")
        let reached = ["/classroom", "/classroom/", "/classroom/lectures/film", "/classroom/watch.js", own]
        for path in reached { #expect(try await guest.get(path).status == 200, "\(path)") }
        for path in ["", "?course=x", "?page=7"] {
            #expect(try await !guest.get("/classroom\(path)").text.contains("secret"))
        }
        let others = [
            "/", "/lectures", "/licences", "/reports", "/api/openapi.json", "/metrics", "/peer/lectures",
            "/classroom/lectures/secret", "/classroom/lectures/secret/media", "/classroom/lectures/secret/poster",
            "/classroom/lectures/secret/subtitles/0", "/classroom/lectures/~c2VjcmV0", "/classroom/lectures/%73ecret",
            "/classroom/lectures/film%2F..%2Fsecret", "/classroom/lectures/film/../secret", "/classroom/lectures/none",
            theirs, "\(theirs)/main.m3u8", "/classroom/lectures/film?play=\(theirs.split(separator: "/").last ?? "")",
        ]
        for path in others {
            for words in [[], ["-I"], ["-r", "0-9"]] {
                let answer = try await guest.get(path, ["--path-as-is"] + words)
                #expect([400, 403, 404].contains(answer.status), "\(path) \(words) \(answer.status)")
                #expect(answer.body.count < 1000, "\(path)")
            }
        }
        let changes = [
            ("/classroom/lectures/secret/plays", 403), ("/classroom/lectures/none/plays", 403),
            ("/classroom/links", 403), ("\(theirs)/progress", 403),
        ]
        for (path, status) in changes {
            let body = ["--data-raw", "key=film&user=x&until=9999999999"]
            #expect(try await guest.post(path, body).status == status, "\(path)")
        }
        #expect(try await school.get(theirs, as: "kim", "-r", "0-9").status == 206, "still theirs")
        await school.end()
    }

    @Test func `links of one name are of several persons, one for each lecture`() async throws {
        let school = try await School()
        for key in ["one", "two"] { _ = try await school.keep("film.mp4", as: key) }
        let first = try await Guest(school, "one", user: "kim")
        let play: String = try await first.post("/classroom/lectures/one/plays").member("url")
        #expect(try await first.get(play, ["-r", "0-9"]).status == 206)
        #expect(try await school.get(play, as: "kim").status == 403, "one with a token")
        let second = try await Guest(school, "two", user: "kim")
        #expect(try await second.get(play).status == 403, "one with another link")
        let again = try await Guest(school, "one", user: "kim")
        #expect(try await again.get(play, ["-r", "0-9"]).status == 206, "the same link")
        await school.end()
    }

    // MARK: Methods and other sites

    @Test func `each path has its methods, and says so`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let play = try await school.play("film", as: "ada")
        let read: Set = ["GET", "HEAD"]
        let paths: [(String, Set<String>)] = [
            ("/classroom", read), ("/classroom/watch.js", read), ("/classroom/lectures/film", read),
            ("/classroom/lectures/film/media", read), ("/classroom/lectures/film/poster", read),
            ("/classroom/lectures/film/subtitles/0", read), ("/classroom/lectures/film/plays", ["POST"]), (play, read),
            ("\(play)/progress", ["GET", "HEAD", "POST"]), ("/classroom/links", ["POST"]),
            ("/classroom/open/film/kim/1/x", read),
        ]
        for (path, methods) in paths {
            for method in Set(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]).subtracting(methods) {
                let answer = try await school.get(path, as: "ada", "-X", method)
                let allowed = (answer.head["allow"] ?? "").split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(answer.status == 405 && Set(allowed) == methods, "\(method) \(path) \(allowed)")
            }
        }
        let unknown = [
            "/classroom/x", "/classroom/lectures", "/classroom/lectures/film/x", "/classroom/plays", "\(play)/a/b",
        ]
        for path in unknown {
            #expect(try await school.get(path, as: "ada").status == 404, "\(path)")
        }
        await school.end()
    }

    @Test func `pages of other sites change nothing, read nothing, and may lead to pages`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let guest = try await Guest(school, "film", user: "gast")
        let play: String = try await guest.post("/classroom/lectures/film/plays").member("url")
        let site = "http://127.0.0.1:\(school.server.port)"
        let foreign = [
            ["-H", "Origin: http://evil.example"], ["-H", "Origin: null"], ["-H", "Origin: \(site)0"],
            ["-H", "Origin: https://127.0.0.1:\(school.server.port)"], ["-H", "Sec-Fetch-Site: cross-site"],
            ["-H", "Sec-Fetch-Site: same-site"],
        ]
        for fields in foreign {
            for path in ["/classroom/lectures/film/plays", "\(play)/progress", "/classroom/links"] {
                let answer = try await guest.post(path, fields + ["--data-raw", Self.report])
                #expect(answer.status == 403, "\(path) \(fields)")
                #expect(try answer.member("name") == "foreign_origin", "\(path) \(fields)")
            }
            for path in ["/classroom/lectures/film", "/classroom/lectures/film/media", play, "/classroom/watch.js"] {
                let answer = try await guest.get(path, fields + ["-H", "Sec-Fetch-Mode: no-cors"])
                #expect(answer.status == 403 && answer.head["access-control-allow-origin"] == nil, "\(path) \(fields)")
            }
        }
        let link = [
            "-H", "Sec-Fetch-Site: cross-site", "-H", "Sec-Fetch-Mode: navigate", "-H", "Sec-Fetch-Dest: document",
        ]
        #expect(try await guest.get("/classroom/lectures/film", link).status == 200)
        #expect(try await guest.get("/classroom/lectures/film/media", link).status == 403, "no page")
        #expect(try await guest.post("/classroom/lectures/film/plays", link).status == 403, "no link")
        let signed = try await school.link("film", user: "lee")
        #expect(try await Curl.get(["\(school.server.url)\(signed)"] + link).status == 303, "as from a mail")
        #expect(try await school.reports(of: "gast").isEmpty)
        let own = try await guest.post("\(play)/progress", ["-H", "Origin: \(site)", "--data-raw", Self.report])
        #expect(own.status == 200)
        #expect(try await school.reports(of: "gast").count == 1)
        await school.end()
    }

    @Test func `a session changes nothing without the token of its form`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let (guest, other) = (
            try await Guest(school, "film", user: "gast"), try await Guest(school, "film", user: "other")
        )
        #expect(guest.formToken != other.formToken)
        let play: String = try await guest.post("/classroom/lectures/film/plays").member("url")
        let token = guest.formToken
        let wrong = [
            [], ["-H", "X-Form-Token: "], ["-H", "X-Form-Token: \(other.formToken)"],
            ["-H", "X-Form-Token: \(token.dropLast())"], ["-H", "X-Form-Token: \(token)A"],
            ["-d", "form_token=\(other.formToken)"], ["-d", "form_token="], ["-d", "Form_Token=\(token)"],
            ["-H", "Content-Type: text/plain", "-d", "form_token=\(token)"],
            ["-H", "Content-Type: application/json", "-d", #"{"form_token":"\#(token)"}"#],
            ["-F", "form_token=\(token)"],
        ]
        for path in ["/classroom/lectures/film/plays", "\(play)/progress"] {
            for words in wrong {
                let answer = try await guest.get(path, ["-X", "POST"] + words)
                #expect(answer.status == 403, "\(path) \(words)")
                #expect(try answer.member("name") == "form_token", "\(path) \(words)")
            }
            // In the query it would be in logs and in histories.
            #expect(try await guest.get("\(path)?form_token=\(token)", ["-X", "POST"]).status == 403)
        }
        let right = [
            ["-H", "X-Form-Token: \(token)"], ["-d", "form_token=\(token)"], ["-d", "a=b&form_token=\(token)"],
        ]
        for words in right {
            let answer = try await guest.get("/classroom/lectures/film/plays", ["-X", "POST"] + words)
            #expect(answer.status == 201, "\(words)")
        }
        // A program's token is no session: no page of another site can send it.
        #expect(try await school.get("/classroom/lectures/film/plays", as: "kim", "-X", "POST").status == 201)
        await school.end()
    }

    // MARK: Bodies

    @Test func `bodies that are too long or no reports are refused, and the play goes on`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let play = try await school.play("film", as: "kim")
        let long = try school.directory.write(String(repeating: " ", count: 1 << 20) + Self.report, to: "long")
        let wide = try school.directory.write(String(repeating: " ", count: 1 << 16) + Self.report, to: "wide")
        let (json, none) = (["-H", "Content-Type: application/json"], [String]())
        let pieces = ["-H", "Transfer-Encoding: chunked"]
        let bodies: [([String], Int)] = [
            (json + ["--data-binary", "@\(long)"], 413), (pieces + ["--data-binary", "@\(long)"], 413),
            (json + ["--data-binary", "@\(wide)"], 400), (pieces + ["--data-binary", "@\(wide)"], 400),
            (json + ["-d", ""], 400), (none, 400), (json + ["-d", "[]"], 400), (json + ["-d", "\(Self.report)x"], 400),
            (["-d", "sequence=1&state=playing"], 400), (["-F", "report=\(Self.report)"], 400),
            (["-H", "Content-Type: text/xml", "-d", "<report sequence='1'/>"], 400),
            (["-H", "Content-Type: application/json; charset=utf-16le", "-d", "{\0}\0"], 400),
        ]
        for (words, status) in bodies {
            let answer = try await Curl.get(
                ["\(school.server.url)\(play)/progress", "-u", "kim:token-kim", "-X", "POST", "-H", "Expect:"] + words)
            #expect(answer.status == status, "\(words.map { $0.prefix(80) }) \(answer.status) \(answer.text)")
            #expect(answer.head["content-type"] == "application/json")
        }
        #expect(try await school.reports(of: "kim").isEmpty)
        let good = try await school.get("\(play)/progress", as: "kim", "--data-raw", Self.report)
        #expect(good.text == #"{"added":true}"#)
        #expect(try await school.reports(of: "kim").count == 1)
        await school.end()
    }

    @Test func `what a form of links lacks is refused, and what it has is escaped`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let forms = [
            "", "key=film", "key=film&user=x", "key=&user=x&until=9999999999", "key=film&user=&until=9999999999",
            "key=film&user=x&until=", "key=film&user=x&until=1.5", "key=film&user=x&until=99999999999999999999",
            "key=film&user=a%0Ab&until=9999999999", "key=a%00b&user=x&until=9999999999",
        ]
        for form in forms {
            let answer = try await school.get("/classroom/links", as: "ada", "-d", form)
            #expect(answer.status == 400, "\(form) \(answer.text)")
            #expect(try answer.member("name") == LectureError.Code.parameter.name, "\(form)")
        }
        let user = "<김> & \"민\"/.."
        let page = try await Guest(school, "film", user: user.filter { $0 != "/" })
        #expect(try await page.get("/classroom/lectures/film").status == 200)
        let link = try await school.link("film", user: user)
        #expect(link.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && link.split(separator: "/").count == 6)
        #expect(try await Curl.get(["\(school.server.url)\(link)"]).status == 303)
        await school.end()
    }
}
