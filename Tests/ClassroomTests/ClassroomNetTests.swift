import Foundation
import LectureKit
import LectureServedMedia
import LectureTestSupport
import Testing

@testable import LectureServe

/// The classroom with curl, ffmpeg and mpv.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ClassroomNetTests {
    private static func counted(_ count: Int) -> CallbackPolicy {
        var policy = CallbackPolicy()
        policy.expirationCount = count
        return policy
    }

    @Test(arguments: [SealPolicy.licensed, .always])
    func `bytes and ranges are those of the film`(seal: SealPolicy) async throws {
        let school = try await School(seal: seal)
        _ = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        let path = try await school.play("film", as: "kim")
        let whole = try await school.get(path, as: "kim")
        #expect(whole.status == 200 && whole.body == film && whole.head["content-type"] == "video/mp4")
        #expect(whole.head["accept-ranges"] == "bytes" && whole.head["cache-control"] == "no-store")
        #expect(whole.head["content-security-policy"] != nil)
        let parts = [("0-9", 0..<10), ("1000-", 1000..<film.count), ("-16", film.count - 16..<film.count)]
        for (text, range) in parts {
            let part = try await school.get(path, as: "kim", "-r", text)
            #expect(part.status == 206 && part.body == film[range], "\(text)")
            #expect(part.head["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(film.count)")
        }
        let beyond = try await school.get(path, as: "kim", "-r", "\(film.count)-")
        #expect(beyond.status == 416 && beyond.head["content-range"] == "bytes */\(film.count)")
        let other = try await school.get(path, as: "kim", "-r", "0-9", "-H", #"If-Range: "v""#)
        #expect(other.status == 200 && other.body == film)
        let head = try await school.get(path, as: "kim", "-I")
        #expect(head.status == 200 && head.body.isEmpty && head.head["content-length"] == "\(film.count)")
        await school.end()
    }

    @Test func `a program plays by the lecture's key, and is counted once`() async throws {
        let school = try await School(Self.counted(2))
        let key = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        #expect(try await school.countUsed(key) == 0)
        let place = "/classroom/lectures/film/media"
        let head = try await school.get(place, as: "kim", "-I")
        #expect(head.status == 200 && head.head["content-length"] == "\(film.count)")
        #expect(try await school.countUsed(key) == 0, "the head alone is no play")
        for first in stride(from: 0, to: film.count, by: film.count / 7) {
            let part = try await school.get(place, as: "kim", "-r", "\(first)-\(first + 9)")
            #expect(part.status == 206 && part.body == film[first..<min(first + 10, film.count)])
        }
        #expect(try await school.countUsed(key) == 1)
        let frames = try await TestStreams.frames(school.url(place, as: "kim"))
        let meant = try await TestStreams.frames(school.streams.directory.file("film.mp4"))
        #expect(frames == meant)
        #expect(frames.split(separator: "\n").count > 250)
        let played = try await ChildProcess.run(
            try Places.command("mpv"),
            ["--no-config", "--vo=null", "--ao=null", "--start=6", "--end=7", school.url(place, as: "kim")])
        #expect(played.status == 0, "\(played.text)\(played.errorText)")
        #expect(try await school.countUsed(key) == 1, "still the same play")
        #expect(try await school.get(place, as: "lee", "-r", "0-0").status == 206)
        #expect(try await school.countUsed(key) == 2)
        let refused = try await school.get("/classroom/lectures/film/plays", as: "lee", "-X", "POST")
        #expect(refused.status == 403 && refused.text.contains("\"code\":\(LectureError.Code.countUsedUp.number)"))
        let page = try await school.get(
            "/classroom/lectures/film/plays", as: "lee", "-X", "POST", "-H", "Accept: text/html")
        #expect(page.status == 403 && page.text.contains("(code \(LectureError.Code.countUsedUp.number))"))
        await school.end()
    }

    @Test(arguments: [TestStreams.Kind.aes, .ts, .fmp4, .audio])
    func `adaptive lectures play with their playlists, segments and keys`(kind: TestStreams.Kind) async throws {
        let school = try await School(Self.counted(2))
        let key = try await school.keep("\(kind)/main.m3u8", as: "adaptive")
        let url = school.url("/classroom/lectures/adaptive/media", as: "kim")
        let led = try await Curl.get([url])
        #expect(led.status == 303 && led.head["location"]?.hasSuffix("/main.m3u8") == true)
        let frames = try await TestStreams.frames(url)
        let meant = try await TestStreams.frames("\(school.origin.http)/\(kind)/main.m3u8")
        #expect(frames == meant)
        #expect(frames.split(separator: "\n").count > 250)
        #expect(try await school.countUsed(key) == 1)
        let list = try await Curl.get([url, "-L"])
        #expect(list.head["content-type"] == "application/vnd.apple.mpegurl" || list.text.contains("#EXTM3U"))
        let path = try #require(led.head["location"])
        let base = path.dropLast("main.m3u8".utf8.count)
        for name in ["none.ts", "..%2Fmain.m3u8", "main.m3u8/x"] {
            let status = try await school.get("\(base)\(name)", as: "kim").status
            #expect(status == 400 || status == 404, "\(name)")
        }
        await school.end()
    }

    @Test func `a play belongs to its person`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let path = try await school.play("film", as: "kim")
        for (name, status) in [("lee", 403), ("ada", 403), ("branch", 403), (nil, 401)] as [(String?, Int)] {
            #expect(try await school.get(path, as: name).status == status)
            let body = #"{"sequence":1,"state":"playing","played":[]}"#
            #expect(try await school.get("\(path)/progress", as: name, "-d", body).status == status)
        }
        #expect(try await school.get("/classroom/plays/\(String(repeating: "A", count: 43))", as: "kim").status == 404)
        let asked = try await Curl.get(["\(school.server.url)\(path)"])
        #expect(asked.head["www-authenticate"]?.hasPrefix("Basic ") == true, "players send names once they are asked")
        let browser = try await Curl.get(["\(school.server.url)\(path)", "-H", "Sec-Fetch-Mode: cors"])
        #expect(browser.status == 401 && browser.head["www-authenticate"]?.hasPrefix("Bearer ") == true)
        await school.end()
    }

    @Test func `a person with a link sees one lecture and nothing else`() async throws {
        let school = try await School()
        for key in ["film", "other"] { _ = try await school.keep("film.mp4", as: key) }
        let jar = school.directory.file("jar")
        let opened = try await Curl.get(
            ["\(school.server.url)\(try await school.link("film", user: "gast"))", "-c", jar])
        #expect(opened.status == 303 && opened.head["location"] == "/classroom/lectures/film")
        func get(_ path: String, _ words: String...) async throws -> Curl.Response {
            try await Curl.get(["\(school.server.url)\(path)", "-b", jar] + words)
        }
        let page = try await get("/classroom/lectures/film")
        #expect(page.status == 200 && page.text.contains("<video controls"))
        let list = try await get("/classroom")
        #expect(list.status == 200 && list.text.contains("/lectures/film") && !list.text.contains("/lectures/other"))
        for path in ["", "/media", "/poster", "/subtitles/0"] {
            #expect(try await get("/classroom/lectures/other\(path)").status == 403, "\(path)")
            #expect(try await get("/classroom/lectures/none\(path)").status == 403, "\(path)")
        }
        let token = try #require(page.text.split(separator: "name=\"form_token\" value=\"").last?.prefix { $0 != "\"" })
        let form = ["-d", "form_token=\(token)"]
        #expect(try await get("/classroom/lectures/other/plays", form[0], form[1]).status == 403)
        let more = "\(form[1])&key=other&user=x&until=9999999999"
        #expect(try await get("/classroom/links", form[0], more).status == 403)
        #expect(try await get("/classroom/lectures/film/plays", "-X", "POST").status == 403, "without the form's token")
        let theirs = try await school.play("other", as: "kim")
        #expect(try await get(theirs).status == 403)
        // Without script: a form leads to a page with the media.
        let led = try await get("/classroom/lectures/film/plays", form[0], "\(form[1])&at=3", "-H", "Accept: text/html")
        let place = try #require(led.head["location"])
        #expect(led.status == 303 && place.hasPrefix("/classroom/lectures/film?play=") && place.hasSuffix("&at=3"))
        let watch = try await get(place)
        let source = try #require(
            watch.text.split(separator: " src=\"").first { $0.hasPrefix("/classroom/plays/") })
        #expect(source.prefix { $0 != "\"" }.hasSuffix("#t=3"))
        let film = try school.film()
        #expect(try await get(String(source.prefix { $0 != "#" })).body == film)
        // Links that are expired, changed, or foreign.
        let link = try await school.link("film", user: "gast")
        for changed in [link.replacingOccurrences(of: "/film/", with: "/other/"), "\(link)x", String(link.dropLast())] {
            #expect(try await Curl.get(["\(school.server.url)\(changed)"]).status == 403)
        }
        for (name, until, status) in [("kim", "9999999999", 403), ("ada", "5", 400), ("ada", "x", 400)] {
            let form = "key=film&user=x&until=\(until)"
            #expect(try await school.get("/classroom/links", as: name, "-d", form).status == status)
        }
        await school.end()
    }

    @Test func `rules and watermarks are refused, as other players would not follow them`() async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "marked", #","watermark":{"text":"kim"}"#)
        let refused = try await school.get("/classroom/lectures/marked/plays", as: "kim", "-X", "POST")
        #expect(refused.status == 403)
        #expect(try refused.member("name") == LectureError.Code.playerNotPermitted.name)
        #expect(try await school.get("/classroom/lectures/none/plays", as: "kim", "-X", "POST").status == 404)
        await school.end()
    }

    @Test func `a licence that ends in the middle ends the play`() async throws {
        let school = try await School(.ending(in: 5))
        // More than the sockets between server and client hold: behind the film is a box that players skip
        // (ISO/IEC 14496-12 section 8.1.2).
        let size = 48 << 20
        let long = "\(UUID().uuidString).mp4"
        var bytes = [UInt8](try school.film()) + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
        bytes += Array("free".utf8) + [UInt8](repeating: 0, count: size - 8)
        _ = try school.streams.directory.write(bytes, to: long)
        _ = try await school.keep(long, as: "film")
        let path = try await school.play("film", as: "kim")
        // As slowly as a player that shows it.
        let reading = try ChildProcess(
            "/usr/bin/curl",
            Curl.options + [
                "--limit-rate", "2M", "-o", "/dev/null", "-u", "kim:token-kim", "\(school.server.url)\(path)",
            ])
        let ending = await reading.ending()
        #expect(ending.status != 0, "the rest was not sent")
        let after = try await school.get(path, as: "kim", "-r", "0-9")
        #expect(after.status == 403 && after.text.contains("\"code\":\(LectureError.Code.licenceExpired.number)"))
        await school.end()
    }

    @Test func `thirty viewers play at once, and one has no more plays than permitted`() async throws {
        let school = try await School(seal: .always) { options in
            (options.mostPlaysPerPerson, options.mostPlays) = (30, 31)
        }
        _ = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        var paths: [String] = []
        for _ in 0..<30 { paths.append(try await school.play("film", as: "kim")) }
        let words = paths.flatMap { ["\(school.server.url)\($0)", "-o", "-"] }
        let all = try await ChildProcess.run(
            "/usr/bin/curl", ["-q", "-s", "-S", "-u", "kim:token-kim", "--parallel", "--parallel-max", "30"] + words)
        #expect(all.status == 0 && all.output.count == 30 * film.count, "\(all.errorText)")
        // One more takes the place of the one that was left first.
        paths.append(try await school.play("film", as: "kim"))
        var open = 0
        for path in paths where try await school.get(path, as: "kim", "-r", "0-0").status == 206 { open += 1 }
        #expect(open == 30)
        _ = try await school.play("film", as: "lee")
        let many = try await school.get("/classroom/lectures/film/plays", as: "ada", "-X", "POST")
        #expect(many.status == 429)
        #expect(try many.member("name") == "many_plays")
        await school.end()
    }

    @Test func `what is reported arrives in the outbox, once, under the viewer's name`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let path = try await school.play("film", as: "kim")
        func report(_ text: String) async throws -> Curl.Response {
            try await school.get("\(path)/progress", as: "kim", "-H", "Content-Type: application/json", "-d", text)
        }
        let first = #"{"sequence":1,"state":"playing","duration":10,"played":[{"from":0,"to":1}]}"#
        #expect(try await report(first).text == #"{"added":true}"#)
        #expect(try await report(first).text == #"{"added":false}"#)
        let jump = try await report(#"{"sequence":2,"state":"paused","duration":10,"played":[{"from":4,"to":4.5}]}"#)
        #expect(jump.status == 200)
        for bad in ["{}", #"{"sequence":3,"state":"playing","played":[{"from":0,"to":500}]}"#] {
            #expect(try await report(bad).status == 400)
        }
        let values = try await school.reports(of: "kim")
        #expect(values.count == 2)
        #expect(try await school.reports(of: "lee").isEmpty)
        #expect(Self.number(values.last, "playtime") == 1, "whole seconds, rounded down: \(values)")
        #expect(
            try await ViewerPlaces.point(of: key, viewer: "kim", in: school.manager.contents) == .milliseconds(4500))
        #expect(try await school.manager.contents.details(of: key)?.resumePoint == .zero, "that is of all others")
        // The page is closed: the last report.
        #expect(try await report(#"{"sequence":3,"state":"closed","played":[{"from":4.5,"to":5}]}"#).status == 200)
        #expect(try await report(#"{"sequence":4,"state":"playing","played":[]}"#).status == 404)
        let last = try await school.reports(of: "kim")
        #expect(last.count == 3 && Self.number(last.last, "playtime") == 2, "\(last)")
        await school.end()
    }

    /// A number, wherever it is in the document.
    private static func number(_ values: [String: Any]?, _ name: String) -> Double? {
        guard let values else { return nil }
        if let number = values[name] as? Double { return number }
        for value in values.values {
            if let inner = value as? [String: Any], let number = number(inner, name) { return number }
        }
        return nil
    }

    @Test func `a play that ends without a word is closed with what was reported, and sessions outlive the server`()
        async throws
    {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let jar = school.directory.file("jar")
        _ = try await Curl.get(["\(school.server.url)\(try await school.link("film", user: "gast"))", "-c", jar])
        let path = try await school.play("film", as: "kim")
        let text = #"{"sequence":1,"state":"playing","duration":10,"played":[{"from":0,"to":1}]}"#
        #expect(try await school.get("\(path)/progress", as: "kim", "-d", text).status == 200)
        await school.server.stop()
        let values = try await school.reports(of: "kim")
        #expect(values.count == 2, "the first one, and the one of the end")
        #expect(values.last?["PLAY_STATUS"] as? String == "stop")
        let again = try await school.again()
        #expect(try await Curl.get(["\(again.url)/classroom/lectures/film", "-b", jar]).status == 200)
        #expect(try await Curl.get(["\(again.url)\(path)", "-u", "kim:token-kim"]).status == 404, "plays do not")
        await again.stop()
        await school.end()
    }

    @Test func `the list shows what can be played, in pages`() async throws {
        let school = try await School()
        for number in 1...3 { _ = try await school.keep("film.mp4", as: "film & \(number)") }
        let list = try await school.get("/classroom", as: "kim")
        #expect(list.status == 200)
        #expect(list.text.ranges(of: "<li><a href=\"/classroom/lectures/film%20%26%20").count == 3)
        #expect(!list.text.contains("rel=\"next\"") && !list.text.contains("film & "))
        let after = try await school.get("/classroom?after=film%20%26%201", as: "kim").text
        #expect(after.ranges(of: "<li><a href=\"/classroom/lectures/").count == 2 && after.contains("rel=\"prev\""))
        #expect(try await school.get("/classroom?course=none", as: "kim").text.contains("There is no lecture"))
        #expect(try await school.get("/classroom/lectures/film%20%26%201", as: "kim").status == 200)
        #expect(try await school.get("/classroom/lectures/none", as: "kim").status == 404)
        #expect(try await school.get("/classroom", as: "branch").status == 403)
        let unknown = try await Curl.get(["\(school.server.url)/classroom/lectures/film"])
        #expect(unknown.status == 303 && unknown.head["location"]?.hasPrefix("/sign-in?next=") == true)
        let script = try await school.get("/classroom/watch.js", as: "kim")
        #expect(script.head["content-type"] == "text/javascript; charset=utf-8")
        await school.end()
    }
}
