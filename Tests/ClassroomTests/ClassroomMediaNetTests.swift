import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What the classroom shows beside and instead of the film, and plays beside others, with real files and clients.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ClassroomMediaNetTests {
    /// Puts a picture at the origin, and returns its URL. Its name is one that the origin knows the type of.
    private static func picture(_ school: School, _ name: String) async throws -> (url: String, bytes: Data) {
        let path = school.streams.directory.file(name)
        let made = try await ChildProcess.run(
            try Places.command("ffmpeg"),
            ["-v", "error", "-y", "-i", school.streams.directory.file("film.mp4"), "-frames:v", "1", path])
        try #require(made.status == 0, "\(made.errorText)")
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.write(to: URL(filePath: "\(path).mp4"))
        return ("\(school.origin.http)/\(name).mp4", bytes)
    }

    /// A lecture with a picture, subtitles, chapters and bookmarks.
    private static func keepAll(_ school: School, picture: String) async throws -> ContentKey {
        let subtitles = #"[{"name":"English","language":"en","url":"\#(school.origin.http)/subtitles/a.vtt"}]"#
        return try await school.keep(
            "film.mp4", as: "film",
            #","title":"A <b>","snapshot_url":"\#(picture)","subtitles":\#(subtitles),"duration":10"#)
    }

    @Test(arguments: [("png", "image/png"), ("jpg", "image/jpeg"), ("webp", "image/webp"), ("gif", "image/gif")])
    func `the poster and the subtitles are whole, with and without a body`(suffix: String, type: String) async throws {
        let school = try await School(seal: .always)
        let picture = try await Self.picture(school, "still.\(suffix)")
        _ = try await Self.keepAll(school, picture: picture.url)
        let page = Markup(try await school.get("/classroom/lectures/film", as: "kim").text)
        let poster = try #require(page["video"].first?.attributes["poster"])
        let track = try #require(page["track"].first?.attributes)
        #expect(track["srclang"] == "en" && track["label"] == "English")
        let subtitles = try #require(track["src"])
        let text = try Data(contentsOf: URL(filePath: school.streams.directory.file("subtitles/a.vtt")))
        for (path, kind, bytes) in [(poster, type, picture.bytes), (subtitles, "text/vtt; charset=utf-8", text)] {
            let whole = try await school.get(path, as: "kim")
            #expect(whole.status == 200 && whole.body == bytes && whole.head["content-type"] == kind, "\(path)")
            #expect(whole.head["cache-control"] == "no-store" && whole.head["x-content-type-options"] == "nosniff")
            let head = try await school.get(path, as: "kim", "-I")
            #expect(head.status == 200 && head.body.isEmpty && head.head["content-length"] == "\(bytes.count)")
            #expect(head.head["content-type"] == kind)
            // They have no ranges, and a client that asks for one gets all of it (RFC 9110 section 14.2).
            for range in ["0-3", "-1", "99999999-"] {
                let part = try await school.get(path, as: "kim", "-r", range)
                #expect(part.status == 200 && part.body == bytes, "\(path) \(range)")
            }
            #expect(try await school.get(path, as: nil).status == 401)
            #expect(try await school.get(path, as: "branch").status == 403)
        }
        for number in ["1", "-1", "x", "", "0x0", "99999999999999999999", "0%20"] {
            let answer = try await school.get("/classroom/lectures/film/subtitles/\(number)", as: "kim")
            #expect(answer.status == 404, "\(number)")
        }
        await school.end()
    }

    @Test func `a picture that is none, or is gone, is not there`() async throws {
        let school = try await School()
        let key = try await Self.keepAll(school, picture: "\(school.origin.http)/film.mp4")
        let poster = "/classroom/lectures/film/poster"
        let details = try #require(try await school.manager.contents.details(of: key))
        let path = try #require(details.snapshotPath)
        let none = try await school.get(poster, as: "kim")
        #expect(none.status == 404, "a film is no picture")
        try FileManager.default.removeItem(atPath: path)
        let gone = try await school.get(poster, as: "kim")
        #expect(gone.status == 404 && !gone.text.contains(school.directory.path), "\(gone.status) \(gone.text)")
        #expect(try await school.get("/classroom/lectures/film", as: "kim").status == 200)
        await school.end()
    }

    @Test func `queries of pages may be anything`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        try await school.manager.contents.setResumePoint(.seconds(5), of: key)
        let places: [(String, String)] = [
            ("", "5"), ("?at=0", "0"), ("?at=7", "7"), ("?at=-1", "0"), ("?at=x", "5"), ("?at=", "5"), ("?at=1.5", "5"),
            ("?at=99999999999999999999", "5"), ("?at=9223372036854775807", "172800"), ("?at=1&at=2", "1"),
            ("?at=%22%3E%3Cscript%3E", "5"), ("?x=%00&at=3", "3"),
        ]
        for (query, at) in places {
            let answer = try await school.get("/classroom/lectures/film\(query)", as: "kim")
            let fields = Markup(answer.text)["input"].filter { $0.attributes["name"] == "at" }
            #expect(answer.status == 200 && fields.map { $0.attributes["value"] } == [at], "\(query)")
        }
        for place in [
            "page=7", "after=", "after=none", "before=none", "before=%00",
            "after=\(String(repeating: "x", count: 600))",
        ] {
            let answer = try await school.get("/classroom?\(place)", as: "kim")
            #expect(answer.status == 200 && answer.text.contains("/classroom/lectures/film"), "\(place)")
        }
        #expect(try await school.get("/classroom?after=film", as: "kim").text.contains("There is no lecture"))
        let markup = try await school.get("/classroom?course=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", as: "kim")
        #expect(markup.status == 200 && !markup.text.contains("<script>"))
        let unknown = try await school.get("/classroom/lectures/film?play=x", as: "kim")
        #expect(unknown.status == 404 && Markup(unknown.text)["h1"].map(\.text) == ["Not possible"])
        let forms: [(String, String?)] = [("at=3", "&at=3"), ("at=0", nil), ("at=-3", nil), ("at=x", nil), ("", nil)]
        for (form, tail) in forms {
            let led = try await school.get(
                "/classroom/lectures/film/plays", as: "kim", "-H", "Accept: text/html", "-d", form)
            let place = led.head["location"] ?? ""
            #expect(led.status == 303 && (tail.map(place.hasSuffix) ?? !place.contains("at=")), "\(form) \(place)")
        }
        await school.end()
    }

    // MARK: Lectures that go while they play

    /// A player that has read a little, and reads the rest when it is permitted to.
    private struct Reader {
        private let process: ChildProcess

        init(_ school: School, _ path: String, as name: String) async throws {
            let curl = "curl -q -s --max-time 60 -u \(name):token-\(name) \(school.server.url)\(path)"
            process = try ChildProcess(
                "/bin/bash",
                ["-c", "set -o pipefail; exec 3<&0; \(curl) </dev/null | { head -c 10; read -r go <&3; cat; }"],
                environment: ["PATH": "/usr/bin:/bin"], keepsInputOpen: true)
            // Far more than the sockets hold is still to come.
            try await process.wait(for: .output) { $0.count == 10 }
        }

        func rest() async -> ChildProcess.Ending {
            process.write("go\n")
            return await process.ending()
        }
    }

    @Test(arguments: [SealPolicy.licensed, .always])
    func `of a lecture that is removed while it plays, only its own bytes are sent`(seal: SealPolicy) async throws {
        let school = try await School(seal: seal)
        let key = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        let play = try await school.play("film", as: "kim")
        #expect(try await school.get("/classroom/lectures/film/media", as: "kim", "-r", "0-9").status == 206)
        let reading = try await Reader(school, play, as: "kim")
        try await school.manager.downloads.remove(key)
        #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        let ending = await reading.rest()
        #expect(film.starts(with: ending.output), "\(ending.output.count)")
        #expect(ending.status != 0 || ending.output.count == film.count, "cut short, and said so")
        for path in [play, "/classroom/lectures/film/media"] {
            let after = try await school.get(path, as: "kim", "-r", "\(film.count - 10)-")
            #expect([403, 404, 500].contains(after.status), "\(path) \(after.status)")
            #expect(!after.text.contains(school.directory.path), "\(after.text)")
        }
        for path in ["", "/media", "/poster", "/subtitles/0"] {
            let gone = try await school.get("/classroom/lectures/film\(path)", as: "kim")
            #expect(gone.status == 404, "\(path) \(gone.status) \(gone.text)")
        }
        let refused = try await school.get("/classroom/lectures/film/plays", as: "kim", "-X", "POST")
        #expect(refused.status == 404)
        #expect(try await !school.get("/classroom", as: "kim").text.contains("/lectures/film"))
        await school.end()
    }

    @Test func `a lecture that is replaced while it plays is never mixed with the other`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        let play = try await school.play("film", as: "kim")
        let media = "/classroom/lectures/film/media"
        #expect(try await school.get(media, as: "kim").body == film)
        let reading = try await Reader(school, play, as: "kim")
        try await school.manager.downloads.remove(key)
        #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        _ = try await school.keep("ts/main0.ts", as: "film")
        let other = try Data(contentsOf: URL(filePath: school.streams.directory.file("ts/main0.ts")))
        let ending = await reading.rest()
        #expect(film.starts(with: ending.output))
        let old = try await school.get(play, as: "kim")
        let isCut = old.result != 0 && film.starts(with: old.body)
        #expect(old.status >= 400 || old.body == film || isCut, "\(old.status)")
        // The next play is of what is there now: at once, or once the program has learned that its play is over.
        let first = try await school.get(media, as: "kim")
        #expect(first.body == other || first.status >= 400, "\(first.status)")
        #expect(try await school.get(media, as: "kim").body == other)
        #expect(try await school.get(try await school.play("film", as: "kim"), as: "kim").body == other)
        await school.end()
    }

    // MARK: Plays beside others

    @Test func `two persons play one lecture, each with their own play, count and reports`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 9
        let school = try await School(policy)
        let key = try await school.keep("film.mp4", as: "film")
        let film = try school.film()
        let plays = (try await school.play("film", as: "kim"), try await school.play("film", as: "lee"))
        #expect(plays.0 != plays.1)
        #expect(try await school.countUsed(key) == 0)
        async let first = school.get(plays.0, as: "kim")
        async let second = school.get(plays.1, as: "lee")
        let (one, two) = try await (first, second)
        #expect(one.body == film && two.body == film)
        #expect(try await school.countUsed(key) == 2)
        for (path, name, end) in [(plays.0, "kim", 1), (plays.1, "lee", 2)] {
            let text = #"{"sequence":1,"state":"playing","played":[{"from":0,"to":\#(end)}]}"#
            #expect(try await school.get("\(path)/progress", as: name, "-d", text).text == #"{"added":true}"#)
        }
        let closed = #"{"sequence":2,"state":"closed","played":[]}"#
        #expect(try await school.get("\(plays.0)/progress", as: "kim", "-d", closed).status == 200)
        #expect(try await school.get(plays.0, as: "kim").status == 404)
        #expect(try await school.get(plays.1, as: "lee", "-r", "0-9").status == 206, "hers goes on")
        for (name, end, status) in [("kim", 1, "stop"), ("lee", 2, "play")] {
            let last = try #require(try await school.reports(of: name).last)
            let seen = try #require(last["TIMEMAP_DATA"] as? [[NSNumber]]).map { $0.map(\.intValue) }
            #expect(seen == [[0, end]] && last["PLAY_STATUS"] as? String == status, "\(last)")
        }
        #expect(try await school.countUsed(key) == 2, "ranges are no plays")
        await school.end()
    }

    @Test func `a person has so many plays, all have so many, and one that is read is not ended for another`()
        async throws
    {
        let school = try await School { options in (options.mostPlaysPerPerson, options.mostPlays) = (2, 3) }
        _ = try await school.keep("film.mp4", as: "film")
        func status(_ path: String, _ name: String) async throws -> Int {
            try await school.get(path, as: name, "-r", "0-0").status
        }
        func tryOpen(_ name: String) async throws -> Curl.Response {
            try await school.get("/classroom/lectures/film/plays", as: name, "-X", "POST")
        }
        var paths: [String] = []
        for _ in 0..<3 { paths.append(try await school.play("film", as: "kim")) }
        #expect(try await status(paths[0], "kim") == 404, "the first one had to go")
        for path in paths.dropFirst() { #expect(try await status(path, "kim") == 206) }
        // What was read last stays.
        #expect(try await status(paths[1], "kim") == 206)
        paths.append(try await school.play("film", as: "kim"))
        #expect(try await status(paths[2], "kim") == 404)
        #expect(try await status(paths[1], "kim") == 206)
        let lees = try await school.play("film", as: "lee")
        let full = try await tryOpen("ada")
        #expect(full.status == 429)
        #expect(try full.member("name") == "many_plays")
        #expect(try await status(lees, "lee") == 206, "of others none is ended")
        let form = try await school.get(
            "/classroom/lectures/film/plays", as: "ada", "-X", "POST", "-H", "Accept: text/html")
        #expect(form.status == 429 && form.text.contains("Back to the lecture"))
        #expect(try await school.get("/classroom/lectures/film/media", as: "ada").status == 429)
        let readers = [
            try await Reader(school, paths[1], as: "kim"), try await Reader(school, paths[3], as: "kim"),
        ]
        #expect(try await tryOpen("kim").status == 429, "both are read")
        for reader in readers { #expect(await reader.rest().status == 0) }
        #expect(try await tryOpen("kim").status == 201)
        await school.end()
    }
}
