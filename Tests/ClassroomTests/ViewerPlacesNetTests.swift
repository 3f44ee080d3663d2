import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// What belongs to each viewer: where they resume, their language, and what they search for.
@Suite(.timeLimit(.minutes(3)))
struct ViewerPlacesNetTests {
    private static func watch(_ school: School, _ user: String, from: Double, to: Double) async throws {
        let path = try await school.play("film", as: user)
        let text = #"{"sequence":1,"state":"paused","duration":10,"played":[{"from":\#(from),"to":\#(to)}]}"#
        #expect(try await school.get("\(path)/progress", as: user, "-d", text).status == 200)
    }

    private static func start(_ school: School, _ user: String) async throws -> String? {
        let answer = try await school.get("/classroom/lectures/film", as: user)
        return Markup(answer.text)["input"].first { $0.attributes["name"] == "at" }?.attributes["value"]
    }

    @Test func `each person resumes where they were, and a newcomer where the lecture was left`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film", #","duration":10"#)
        #expect(try await Self.start(school, "kim") == "0")
        try await school.manager.contents.setResumePoint(.seconds(3), of: key)
        #expect(try await Self.start(school, "kim") == "3", "that of the players of this machine")
        try await Self.watch(school, "kim", from: 4, to: 5.5)
        try await Self.watch(school, "lee", from: 1, to: 2.5)
        #expect(try await Self.start(school, "kim") == "5")
        #expect(try await Self.start(school, "lee") == "2")
        #expect(try await Self.start(school, "ada") == "3")
        #expect(try await school.manager.contents.details(of: key)?.resumePoint == .seconds(3))
        // Another server of the same store, and a person who has come by a link, under their name.
        let again = try await school.again()
        let jar = school.directory.file("jar")
        _ = try await Curl.get(["\(again.url)\(try await school.link("film", user: "lee"))", "-c", jar])
        let page = try await Curl.get(["\(again.url)/classroom/lectures/film", "-b", jar])
        #expect(page.text.contains("Play from 0:02"), "\(page.text)")
        await again.stop()
        await school.end()
    }

    @Test func `who has watched to the end begins again, and who is at the beginning stays there`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film", #","duration":10"#)
        try await school.manager.contents.setResumePoint(.seconds(6), of: key)
        for (point, start): (Duration, String) in [
            (.seconds(10), "0"), (.milliseconds(9500), "0"), (.seconds(9), "0"), (.milliseconds(8999), "8"),
            (.zero, "0"), (.seconds(-5), "0"), (.seconds(100), "0"),
        ] {
            try await ViewerPlaces.set(point, of: key, viewer: "kim", in: school.manager.contents)
            #expect(try await Self.start(school, "kim") == start, "\(point)")
        }
        #expect(try await Self.start(school, "lee") == "6")
        let unnamed = await #expect(throws: LectureError.self) {
            try await ViewerPlaces.set(.zero, of: key, viewer: "", in: school.manager.contents)
        }
        #expect(unnamed?.code == .parameter)
        let unknown = await #expect(throws: LectureError.self) {
            try await ViewerPlaces.set(.zero, of: try ContentKey("none"), viewer: "kim", in: school.manager.contents)
        }
        #expect(unknown?.code == .unknownContent)
        let recorder = await #expect(throws: LectureError.self) {
            _ = try await ViewerPlaces.record(key, viewer: "", in: school.manager.reports)
        }
        #expect(recorder?.code == .parameter)
        await school.end()
    }

    @Test func `points go with their lecture, and an erased learner's with them`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film", #","duration":10"#)
        try await Self.watch(school, "kim", from: 4, to: 5)
        try await Self.watch(school, "lee", from: 6, to: 7)
        await school.server.stop()
        _ = try await school.manager.reports.eraseLearner("kim", isForced: true)
        #expect(try await ViewerPlaces.point(of: key, viewer: "kim", in: school.manager.contents) == .zero)
        #expect(try await ViewerPlaces.point(of: key, viewer: "lee", in: school.manager.contents) == .seconds(7))
        try await school.manager.downloads.remove(key)
        #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        _ = try await school.keep("film.mp4", as: "film")
        #expect(
            try await ViewerPlaces.point(of: key, viewer: "lee", in: school.manager.contents) == .zero,
            "it is another one")
        await school.end()
    }

    // MARK: The list

    @Test func `lectures are found by a part of their title, within a course, page by page`() async throws {
        let school = try await School()
        for number in 10...63 {
            let course = number % 2 == 0 ? "Waves" : "Heat"
            let title = number == 20 ? "엔트로피" : "Lesson \(number)"
            _ = try await school.keep("film.mp4", as: "k\(number)", #","title":"\#(title)","course":"\#(course)""#)
        }
        func keys(_ query: String) async throws -> [String] {
            let answer = try await school.get("/classroom?\(query)", as: "kim")
            #expect(answer.status == 200)
            return Markup(answer.text)["a"].compactMap { $0.attributes["href"] }
                .filter { $0.hasPrefix("/classroom/lectures/") }.map { String($0.dropFirst(20)) }
        }
        let titles = (10...63).filter { $0 != 20 }.map { "k\($0)" }
        #expect(try await keys("") == Array(titles.prefix(50)))
        #expect(try await keys("after=k60") == ["k61", "k62", "k63", "k20"])
        #expect(try await keys("before=k61") == Array(titles.prefix(50)))
        #expect(try await keys("search=lesson%203") == (30...39).map { "k\($0)" })
        #expect(try await keys("search=%EC%97%94") == ["k20"])
        #expect(try await keys("search=Lesson&course=Heat&after=k57") == ["k59", "k61", "k63"])
        #expect(try await keys("search=nothing") == [])
        #expect(try await keys("course=lesson") == [])
        #expect(try await keys("search=%25") == [], "no pattern")
        // Both pages of a search, by the links that are shown.
        let first = try await school.get("/classroom?search=les", as: "kim").text
        let next = Markup(first)["a"].first { $0.attributes["rel"] == "next" }?.attributes["href"]
        #expect(next == "/classroom?search=les&after=k60")
        await school.end()
    }

    // MARK: Languages

    @Test(arguments: [("ko", "강의실"), ("ja", "教室"), ("en", "Classroom")])
    func `pages, refusals and messages for the script are in the language of the cookie`(
        language: String, title: String
    ) async throws {
        let school = try await School()
        _ = try await school.keep("film.mp4", as: "film")
        let chosen = try #require(PageLanguage(rawValue: language))
        let choice = try await school.get("/language?language=\(language)&back=/classroom", as: "kim")
        #expect(choice.status == 303 && choice.head["location"] == "/classroom")
        let cookie = try #require(choice.head["set-cookie"]?.split(separator: ";").first.map(String.init))
        let asked = ["-H", "Cookie: \(cookie)", "-H", "Accept-Language: fr, en;q=0.9"]
        let list = try await school.get("/classroom", as: "kim", asked[0], asked[1], asked[2], asked[3])
        #expect(list.text.contains("<html lang=\"\(language)\">") && list.text.contains("<h1>\(title)</h1>"))
        #expect(list.text.contains("action=\"/language\""))
        let missing = try await school.get(
            "/classroom/lectures/none", as: "kim", asked[0], asked[1], asked[2], asked[3])
        #expect(missing.status == 404 && missing.text.contains(PageText.refusedLecture.text(chosen)))
        let gone = try await school.get("/classroom/plays/none", as: "kim", asked[0], asked[1])
        #expect(gone.status == 404 && gone.head["content-language"] == language)
        #expect(try gone.member("message") == PageText.refusedPlay.text(chosen))
        await school.end()
    }
}
