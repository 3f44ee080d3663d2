import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The classroom as people see it in Chromium: languages, narrow windows, search.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ClassroomLanguagesBrowserTests {
    /// Where screenshots go; nowhere when it is not set.
    private static let pictures = ProcessInfo.processInfo.environment["LECTUREKIT_SCREENSHOTS"]

    private static func look(_ browser: Browser, _ name: String) async throws {
        #expect(try await browser.accessibilityFindings() == [], "\(name)")
        let width = try await browser.script("return document.documentElement.scrollWidth - window.innerWidth")
        #expect((width as? NSNumber)?.intValue ?? 1 <= 0, "\(name) is wider than its window")
        if let pictures { _ = try await browser.screenshot(to: "\(pictures)/\(name).png") }
    }

    @Test func `a person signs in, chooses a language, searches and watches, on a wide and a narrow window`()
        async throws
    {
        let school = try await School()
        let more =
            #","duration":10,"synopsis":"Energy and its arrow of time.","chapters":[{"language":"en","items":"#
            + #"[{"position":2,"value":"Energy"},{"position":6,"value":"Entropy"}]}]"#
        for (key, title) in [("film", "Thermodynamics, part 1"), ("two", "엔트로피 2강"), ("three", "Waves")] {
            _ = try await school.keep(
                "film.mp4", as: key, #","title":"\#(title)","course":"Physics II","teacher":"Kim"\#(more)"#)
        }
        let browser = try await Browser.start()
        try await browser.resize(width: 1200, height: 900)
        try await browser.open("\(school.server.url)/classroom")
        try await browser.type("token-kim", into: "#token")
        try await browser.click(".sign-in button")
        try await browser.wait(for: "location.pathname == '/classroom'")
        for language in PageLanguage.allCases {
            try await browser.script(
                "document.querySelector('.language select').value = '\(language.rawValue)'")
            try await browser.click(".language button")
            try await browser.wait(for: "document.documentElement.lang == '\(language.rawValue)'")
            #expect(try await browser.text("h1") == PageText.classroomList.text(language))
            try await Self.look(browser, "classroom-\(language.rawValue)")
            try await browser.type("thermo", into: "#search")
            try await browser.click("form[role=search] button")
            try await browser.wait(for: "document.querySelectorAll('ul.lectures > li').length == 1")
            try await browser.resize(width: 320, height: 700)
            try await Self.look(browser, "classroom-\(language.rawValue)-narrow")
            try await browser.click("ul.lectures a.name")
            try await browser.wait(for: "document.querySelector('video') !== null")
            #expect(try await browser.text("form.play button").hasPrefix(PageText.play.text(language).prefix(1)))
            try await Self.look(browser, "watch-\(language.rawValue)-narrow")
            try await browser.resize(width: 1200, height: 900)
            try await Self.look(browser, "watch-\(language.rawValue)")
            try await browser.click("nav a[href='/classroom']")
        }
        await browser.stop()
        await school.end()
    }

    @Test func `a person finds their place again, and a message of the script is in their language`() async throws {
        let school = try await School()
        let key = try await school.keep("film.mp4", as: "film", #","duration":10"#)
        let browser = try await Browser.start()
        try await browser.open("\(school.server.url)/classroom/lectures/film")
        try await browser.type("token-lee", into: "#token")
        try await browser.click(".sign-in button")
        try await browser.wait(for: "document.querySelector('video') !== null")
        let video = "document.querySelector('video')"
        try await browser.script(
            "\(video).addEventListener('playing', () => { \(video).currentTime = 5 }, {once: true})")
        try await browser.click("form.play button")
        try await browser.wait(for: "\(video).currentTime > 5.8")
        try await browser.script("\(video).pause()")
        var point = Duration.zero
        for _ in 0..<500 where point < .seconds(5) {
            point = try await ViewerPlaces.point(of: key, viewer: "lee", in: school.manager.contents)
        }
        #expect(point >= .seconds(5))
        try await browser.open("\(school.server.url)/language?language=ko&back=/classroom/lectures/film")
        // At 5 s, or a little later on a slow machine.
        let button = try await browser.text("form.play button")
        #expect(button.hasPrefix("0:0") && button.hasSuffix("부터 재생") && !button.hasPrefix("0:00"), "\(button)")
        // Another one of the same lecture begins at its beginning.
        #expect(try await ViewerPlaces.point(of: key, viewer: "kim", in: school.manager.contents) == .zero)
        try await school.manager.downloads.remove(key)
        #expect(try await school.manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        try await browser.click("form.play button")
        try await browser.wait(for: "document.getElementById('notice').textContent !== ''")
        let notice = try await browser.script(
            "const at = document.getElementById('notice'); return at.lang + ' ' + at.textContent")
        let known = PageText.refusedLecture.text(.korean)
        #expect((notice as? String)?.hasPrefix("en ") == true || notice as? String == "ko \(known)", "\(notice)")
        await browser.stop()
        await school.end()
    }
}
