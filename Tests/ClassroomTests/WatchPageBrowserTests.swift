import Foundation
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The watch page in Chromium: without script, by keyboard, with its links and picture, and when something fails.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct WatchPageBrowserTests {
    private static let video = "document.querySelector('video')"
    private static let chapters = """
        ,"title":"Algebra","duration":10,"chapters":[{"language":"en","items":[
        {"position":2,"value":"First"},{"position":6,"value":"Second"}]}],
        "bookmarks":[{"position":4,"title":"Mine","kind":"user"}]
        """

    /// A school with a lecture, and a browser that shows its page.
    private struct Visit {
        let school: School
        let browser: Browser
        let key: ContentKey
        let page: String

        init(_ more: String = WatchPageBrowserTests.chapters, hasScript: Bool = true) async throws {
            school = try await School()
            key = try await school.keep("film.mp4", as: "film", more)
            var options = Browser.Options()
            options.hasScript = hasScript
            browser = try await Browser.start(options)
            page = "\(school.server.url)/classroom/lectures/film"
            try await browser.open("\(school.server.url)\(try await school.link("film", user: "gast"))")
        }

        func play() async throws {
            try await browser.click("form.play button")
            try await browser.wait(for: "\(WatchPageBrowserTests.video).currentTime > 0.8")
        }

        /// The whole seconds that the last report of the guest has.
        func seen() async throws -> [[Int]] {
            let last = try #require(try await school.reports(of: "gast").last)
            return try #require(last["TIMEMAP_DATA"] as? [[NSNumber]]).map { $0.map(\.intValue) }
        }

        func end() async {
            await browser.stop()
            await school.end()
        }
    }

    @Test func `without script a form leads to a page that plays`() async throws {
        let visit = try await Visit(hasScript: false)
        let browser = visit.browser
        #expect(try await browser.count("video[src]") == 0)
        try await browser.click("form.play button")
        #expect(try await browser.url.hasPrefix("\(visit.page)?play="))
        #expect(try await browser.count("video[src^='/classroom/plays/'][autoplay]") == 1)
        // A chapter begins a play at its place.
        try await browser.click("ol a[data-at='6']")
        #expect(try await browser.url == "\(visit.page)?at=6")
        #expect(try await browser.text("form.play button") == "Play from 0:06")
        try await browser.click("form.play button")
        #expect(try await browser.url.hasSuffix("&at=6"))
        #expect(try await browser.count("video[src$='#t=6']") == 1)
        // The page is loaded once its first picture is: it plays by itself, from there.
        let state = try await browser.script(
            "const video = \(Self.video); return [video.paused, video.videoWidth === 320, video.currentTime >= 6]")
        #expect(state as? [Bool] == [false, true, true], "\(state)")
        // Nothing is reported without the script, and the page says nothing about it.
        #expect(try await browser.text("#notice").isEmpty)
        #expect(try await visit.school.reports(of: "gast").isEmpty)
        await visit.end()
    }

    @Test func `chapters and bookmarks lead to their places, before and while it plays`() async throws {
        let visit = try await Visit()
        let browser = visit.browser
        try await browser.click("ol[lang=en] a[data-at='6']")
        try await browser.script(Self.intercept("real(url, options)"))
        #expect(try await browser.url == "\(visit.page)?at=6")
        #expect(try await browser.text("form.play button") == "Play from 0:06")
        try await browser.click("form.play button")
        try await browser.wait(for: "\(Self.video).currentTime > 6.3")
        for (place, name) in [(2, "First"), (4, "Mine")] {
            #expect(try await browser.text("ol a[data-at='\(place)']") == "0:0\(place) \(name)")
            try await browser.click("ol a[data-at='\(place)']")
            try await browser.wait(for: "\(Self.video).currentTime > \(place + 1).1 && \(Self.video).currentTime < 6")
            #expect(try await browser.script("return document.activeElement.tagName") as? String == "VIDEO")
            #expect(try await browser.url == "\(visit.page)?at=6", "the page stays")
        }
        try await browser.script("\(Self.video).pause()")
        try await browser.wait(
            for: "sent.at(-1).state === 'paused' && document.body.dataset.answered == sent.length")
        let seen = Set(try await visit.seen().flatMap { $0[0]..<$0[1] })
        #expect(seen.isSuperset(of: [2, 4]) && seen.isDisjoint(with: [0, 1]), "\(seen)")
        await visit.end()
    }

    @Test func `the poster is shown until it plays`() async throws {
        let school = try await School()
        let still = school.streams.directory.file("poster.png")
        let made = try await ChildProcess.run(
            try Places.command("ffmpeg"),
            ["-v", "error", "-y", "-i", school.streams.directory.file("film.mp4"), "-frames:v", "1", still])
        try #require(made.status == 0, "\(made.errorText)")
        // The origin knows the type of few names.
        try Data(contentsOf: URL(filePath: still)).write(to: URL(filePath: "\(still).mp4"))
        _ = try await school.keep("film.mp4", as: "film", #","snapshot_url":"\#(school.origin.http)/poster.png.mp4""#)
        let browser = try await Browser.start()
        try await browser.open("\(school.server.url)\(try await school.link("film", user: "gast"))")
        let width = try await browser.scriptLater(
            """
            const done = arguments[arguments.length - 1], picture = new Image()
            picture.onload = () => done(picture.naturalWidth)
            picture.onerror = () => done(-1)
            picture.src = document.querySelector('video').poster
            """)
        #expect(width as? Int == 320)
        // The box has the shape of the picture, so that nothing moves when it plays.
        let box = try await browser.script(
            "const box = document.querySelector('video').getBoundingClientRect(); return box.width / box.height")
        #expect((1.7...1.8).contains((box as? NSNumber)?.doubleValue ?? 0), "\(box)")
        await browser.stop()
        await school.end()
    }

    @Test func `it plays by keyboard only, and nothing is missing for those who do not see it`() async throws {
        let visit = try await Visit()
        let browser = visit.browser
        #expect(try await browser.accessibilityFindings().isEmpty)
        func focused() async throws -> String {
            try await browser.script(
                "const at = document.activeElement; return at.tagName + (at.dataset.at || '')") as? String ?? ""
        }
        var order: [String] = []
        for _ in 0..<30 where order.last != "BUTTON" {
            try await browser.press(Browser.Key.tab)
            order.append(try await focused())
        }
        #expect(order.first == "A" && order.last == "BUTTON" && order.contains("VIDEO"), "\(order)")
        try await browser.press(Browser.Key.enter)
        try await browser.wait(for: "\(Self.video).currentTime > 0.5")
        for _ in 0..<30 where order.last != "A6" {
            try await browser.press(Browser.Key.tab)
            order.append(try await focused())
        }
        #expect(order.last == "A6", "\(order)")
        try await browser.press(Browser.Key.enter)
        try await browser.wait(for: "\(Self.video).currentTime > 6.2")
        #expect(try await focused() == "VIDEO")
        try await browser.press(" ")
        try await browser.wait(for: "\(Self.video).paused")
        try await browser.open("\(visit.school.server.url)/classroom")
        #expect(try await browser.accessibilityFindings().isEmpty)
        #expect(try await browser.text("ul.lectures a") == "Algebra")
        await visit.end()
    }

    // MARK: When something fails

    /// Answers the page's reports with `reply`, an expression of the report's number among all that were sent.
    private static func intercept(_ reply: String) -> String {
        """
        window.sent = []
        const real = window.fetch
        window.fetch = (url, options) => {
          if (!String(url).endsWith('/progress')) return real(url, options)
          sent.push({...JSON.parse(options.body), keepalive: options.keepalive})
          const number = sent.length
          return \(reply).then((answer) => {
            document.body.dataset.answered = 1 + Number(document.body.dataset.answered ?? 0)
            return answer
          })
        }
        """
    }

    /// How many stretches that were sent do not begin where the one before has ended.
    private static func gaps(_ browser: Browser) async throws -> Int? {
        try await browser.script(
            """
            const numbers = new Set(), all = sent.filter((one) => numbers.size < numbers.add(one.sequence).size)
            const played = all.flatMap((one) => one.played)
            return played.slice(1).filter((one, place) => one.from !== played[place].to).length
            """) as? Int
    }

    @Test func `what is watched without a jump has no gaps, over reports and pauses`() async throws {
        let visit = try await Visit(
            #","duration":10,"lms":[{"url":"http://127.0.0.1:9/lms","period_s":60}]"#)
        let browser = visit.browser
        try await browser.script(Self.intercept("real(url, options)"))
        try await visit.play()
        try await browser.wait(for: "document.body.dataset.answered == 1")
        try await browser.wait(for: "\(Self.video).currentTime > 5.5")
        for end in ["6.2", "7.1"] {
            try await browser.script("\(Self.video).pause()")
            try await browser.wait(for: "sent.at(-1).state === 'paused'")
            try await browser.script("\(Self.video).play()")
            try await browser.wait(for: "\(Self.video).currentTime > \(end)")
        }
        try await browser.script("\(Self.video).pause()")
        // The first one and one at each pause; a slow machine sends more while it plays.
        try await browser.wait(
            for: "sent.length >= 4 && sent.at(-1).state === 'paused' && document.body.dataset.answered == sent.length")
        #expect(try await Self.gaps(browser) == 0)
        let end = try await browser.script("return Math.floor(sent.at(-1).played.at(-1).to)") as? Int ?? 0
        let seen = try await visit.seen()
        #expect(seen.count == 1 && (end - 1...end).contains(seen.first?.last ?? 0), "\(seen), \(end)")
        #expect((seen.first?.first ?? 9) <= 1, "\(seen)")
        // The first one, and one at each pause: none for a jump.
        #expect(try await visit.school.reports(of: "gast").count == 4)
        await visit.end()
    }

    @Test func `a page that is left sends in one report what was on its way to nowhere`() async throws {
        let visit = try await Visit()
        let browser = visit.browser
        try await browser.script(Self.intercept("new Promise(() => {})"))
        try await visit.play()
        // The first report gets no answer, the second one waits for it.
        for end in [1, 2] {
            try await browser.script("\(Self.video).pause()")
            try await browser.wait(for: "\(Self.video).paused && sent.length === 1")
            try await browser.script("\(Self.video).currentTime = \(end * 3)")
            try await browser.script("\(Self.video).play()")
            try await browser.wait(for: "\(Self.video).currentTime > \(end * 3).4")
        }
        try await browser.script("dispatchEvent(new Event('pagehide'))")
        let sent = try #require(try await browser.script("return sent") as? [[String: Any]])
        #expect(sent.map { $0["state"] as? String } == ["paused", "closed"])
        #expect(sent.allSatisfy { $0["keepalive"] as? Bool == true })
        // On a slow machine another one becomes due while it plays, and waits as well.
        let numbers = sent.compactMap { $0["sequence"] as? Int }
        #expect(numbers.first == 1 && numbers.last ?? 0 >= 3, "\(sent)")
        let starts = (sent.last?["played"] as? [[String: Any]] ?? []).compactMap { ($0["from"] as? NSNumber)?.intValue }
        #expect(starts.starts(with: [3, 6]) && starts.dropFirst(2).allSatisfy { $0 >= 6 }, "what had waited: \(sent)")
        await visit.end()
    }

    @Test func `a report without an answer is sent again under its number`() async throws {
        let visit = try await Visit()
        let browser = visit.browser
        try await browser.script(
            Self.intercept("(window.isOnline ? real(url, options) : Promise.reject(new TypeError('offline')))"))
        try await visit.play()
        try await browser.script("\(Self.video).pause()")
        try await browser.wait(for: "\(Self.video).paused && sent.length >= 1")
        #expect(try await visit.school.reports(of: "gast").isEmpty)
        try await browser.script("isOnline = true")
        try await browser.script("\(Self.video).play()")
        try await browser.wait(for: "\(Self.video).currentTime > 2.1")
        try await browser.script("\(Self.video).pause()")
        let isTaken = "document.body.dataset.answered == sent.at(-1).sequence"
        try await browser.wait(for: "\(Self.video).paused && sent.at(-1).state === 'paused' && \(isTaken)")
        let numbers = try await browser.script("return sent.map((one) => one.sequence)") as? [Int] ?? []
        #expect(numbers.starts(with: [1, 1]) && numbers == numbers.sorted(), "\(numbers)")
        #expect(Set(numbers) == Set(1...(numbers.last ?? 1)) && numbers.count > Set(numbers).count, "\(numbers)")
        #expect(try await Self.gaps(browser) == 0)
        let end = try await browser.script("return Math.floor(sent.at(-1).played.at(-1).to)") as? Int ?? 0
        let seen = try await visit.seen()
        #expect(seen.count == 1 && (end - 1...end).contains(seen.first?.last ?? 0), "\(seen), \(end)")
        #expect((seen.first?.first ?? 9) <= 1, "\(seen)")
        await visit.end()
    }

    @Test func `a play that is over says so, and the page plays on with another`() async throws {
        let visit = try await Visit()
        let browser = visit.browser
        try await visit.play()
        let token = try await browser.script("return \(Self.video).src.split('/').pop()") as? String ?? ""
        try await browser.scriptLater(
            """
            const done = arguments[arguments.length - 1]
            fetch('/classroom/plays/\(token)/progress', {
              method: 'POST', body: '{"sequence":900,"state":"closed","played":[]}',
              headers: {'X-Form-Token': document.querySelector('[name=form_token]').value}
            }).then((answer) => done(answer.status))
            """)
        #expect(try await browser.script("return document.querySelector('form.play').hidden") as? Bool == true)
        try await browser.script("\(Self.video).pause()")
        try await browser.wait(for: "document.getElementById('notice').textContent !== ''")
        #expect(try await browser.text("#notice") == ClassroomRefusal.unknownPlay.sentence)
        #expect(try await browser.script("return document.querySelector('form.play').hidden") as? Bool == false)
        try await browser.click("form.play button")
        try await browser.wait(for: "\(Self.video).currentTime > 0.5 && !\(Self.video).src.endsWith('\(token)')")
        #expect(try await browser.text("#notice").isEmpty)
        await visit.end()
    }
}
