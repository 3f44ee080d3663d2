import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

@Suite(.serialized, .timeLimit(.minutes(5)))
struct PageInBrowserNetTests {
    private static func pages(_ rig: PageRig) -> [String] {
        [
            "/", "/lectures", "/lectures?state=failed&sort=size", "/lectures?search=nothing", "/licences", "/reports",
            PageContext.path(of: rig.licensed), PageContext.path(of: rig.slow), PageContext.path(of: rig.failed),
            "\(PageContext.path(of: rig.done))/remove", "/lectures/none",
        ]
    }

    @Test func `no page has a finding of axe, light or dark, or scrolls sideways at 320 pixels`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        let browser = try await Browser.start()
        let pictures = ProcessInfo.processInfo.environment["LECTUREKIT_PICTURES"]
        try await browser.open("\(server.url)/")
        #expect(try await browser.accessibilityFindings() == [], "sign-in")
        try await Self.picture(browser, "sign-in", pictures)
        try await browser.signIn(server.url)
        for (number, page) in Self.pages(rig).enumerated() {
            for isDark in [false, true] {
                try await browser.setDark(isDark)
                try await browser.resize(width: 1280, height: 900)
                try await browser.open(server.url + page)
                #expect(try await browser.accessibilityFindings() == [], "\(page), dark: \(isDark)")
                try await Self.picture(browser, "\(number)-\(isDark ? "dark" : "light")", pictures)
                try await browser.resize(width: 320, height: 700)
                let width = try await browser.script("return document.documentElement.scrollWidth") as? Int
                #expect(width == 320, "\(page)")
                if !isDark {
                    #expect(try await browser.accessibilityFindings() == [], "\(page), narrow")
                    try await Self.picture(browser, "\(number)-phone", pictures)
                }
            }
        }
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    @Test func `a phone shows only the days on which licences end, and a wide window all`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        let browser = try await Browser.start()
        try await browser.signIn(server.url)
        try await browser.open("\(server.url)/licences")
        let rows = "[...document.querySelectorAll('#calendar tbody tr')]"
        let visible = "return \(rows).filter(row => row.offsetHeight).length"
        try await browser.resize(width: 1280, height: 900)
        #expect(try await browser.script(visible) as? Int == 61)
        try await browser.resize(width: 320, height: 700)
        let ends = try await browser.count("#calendar tbody button")
        #expect(ends > 0)
        #expect(try await browser.script(visible) as? Int == ends)
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    private static func picture(_ browser: Browser, _ name: String, _ directory: String?) async throws {
        if let directory { try await browser.screenshot(to: "\(directory)/\(name).png") }
    }

    @Test func `a title with markup is text everywhere, and no script of it runs`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        let browser = try await Browser.start()
        try await browser.signIn(server.url)
        for page in ["/lectures", PageContext.path(of: rig.done), "\(PageContext.path(of: rig.done))/remove"] {
            try await browser.open(server.url + page)
            let text = try await browser.script("return document.querySelector('main').textContent") as? String
            #expect(text?.contains(PageRig.hostile) == true, "\(page)")
            #expect(try await browser.count("main img, main script") == 0)
            #expect(try await browser.title.contains("'taken'</script>") == (page == PageContext.path(of: rig.done)))
        }
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    @Test func `every button does in the store what it says`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        let browser = try await Browser.start()
        try await browser.signIn(server.url)
        try await Self.clickAll(browser, rig, server.url)
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    private static func clickAll(_ browser: Browser, _ rig: PageRig, _ url: String) async throws {
        let slow = PageContext.path(of: rig.slow)
        func press(_ name: String, _ note: PageText, on page: String, of path: String) async throws {
            try await browser.open(url + page)
            try await browser.click("form[action='\(path)/\(name)'] button")
            try await browser.wait(for: "document.querySelector('.note')")
            #expect(try await browser.text(".note") == note.text(.english), "\(name)")
        }
        try await press("pause", .resultPaused, on: "/", of: slow)
        try await rig.wait(for: rig.slow) { $0.state == .stopped && $0.stopReason == .user }
        try await press("resume", .resultResumed, on: "/", of: slow)
        try await rig.wait(for: rig.slow) { $0.state == .downloading }
        try await press("up", .resultPriority, on: slow, of: slow)
        #expect(try await rig.manager.contents.find(rig.slow)?.priority == 10)
        try await press("down", .resultPriority, on: slow, of: slow)
        #expect(try await rig.manager.contents.find(rig.slow)?.priority == 0)
        try await press("cancel", .resultCancelled, on: slow, of: slow)
        try await rig.wait(for: rig.slow) { $0.state == .stopped }
        try await rig.sandbox.set(fault: "", on: "/media/bytes-1M-8.mp4")
        try await press("retry", .resultResumed, on: "/", of: PageContext.path(of: rig.failed))
        try await rig.wait(for: rig.failed) { $0.state == .completed }
        let before = try await rig.manager.licences.status(of: rig.licensed)?.checked
        let events = rig.manager.events
        try await press(
            "renew", .resultRenewing, on: PageContext.path(of: rig.licensed), of: PageContext.path(of: rig.licensed))
        for await case .renewalEnded(let report) in events {
            #expect(report.renewed == 1)
            break
        }
        #expect(try await rig.manager.licences.status(of: rig.licensed)?.checked != before)
        try await browser.open("\(url)/licences")
        let again = rig.manager.events
        try await browser.click("form[action$='/renew'] button")
        for await case .renewalEnded(let report) in again {
            #expect(report.renewed == 1)
            break
        }
        let done = PageContext.path(of: rig.done)
        try await browser.open(url + done)
        try await browser.click("a[href='\(done)/remove']")
        try await browser.click("a.action")
        #expect(try await browser.url == url + done, "it can be kept")
        try await browser.click("a[href='\(done)/remove']")
        try await browser.click("form[action='\(done)/remove'] button")
        try await browser.wait(for: "document.querySelector('.note')")
        #expect(try await browser.text(".note") == PageText.resultRemoved.text(.english))
        let removed = try await rig.manager.contents.find(rig.done)
        #expect(removed == nil || removed?.state == .removing)
        try await browser.click("footer form[action='/sign-out'] button")
        try await browser.wait(for: "location.pathname == '/sign-in'")
        try await browser.open("\(url)/reports")
        #expect(try await browser.url == "\(url)/sign-in?next=%2Freports")
    }

    @Test func `the page follows the store, says that its server is gone, and finds it again`() async throws {
        let rig = try await PageRig()
        var server = try await rig.serve()
        let browser = try await Browser.start()
        try await browser.signIn(server.url)
        let state = "document.getElementById('connection').textContent"
        try await browser.wait(for: "\(state) == '\(PageText.connected.text(.english))'")
        let first = try await browser.script("return document.querySelector('.figures').textContent") as? String
        try await browser.wait(for: "document.querySelector('.figures').textContent != '\(first ?? "")'")
        try await rig.manager.downloads.pause(rig.slow)
        try await browser.wait(for: "document.querySelector('#attention').textContent.includes('Paused')")
        try await browser.script("document.querySelector('#attention .name a').focus()")
        await server.stop()
        try await browser.wait(for: "\(state) == '\(PageText.lost.text(.english))'")
        try await rig.manager.downloads.resume(rig.slow)
        server = try await rig.serve()
        try await browser.wait(for: "\(state) == '\(PageText.foundAgain.text(.english))'")
        try await browser.wait(for: "document.querySelector('#downloads progress')")
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    @Test func `everything works by keyboard`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        let browser = try await Browser.start()
        try await browser.open("\(server.url)/lectures")
        try await browser.script("document.getElementById('token').focus()")
        try await browser.press(PageRig.token + Browser.Key.enter)
        try await browser.wait(for: "location.pathname == '/lectures'")
        try await browser.press(Browser.Key.tab)
        #expect(try await Self.focused(browser) == "#content")
        try await browser.press(Browser.Key.enter)
        var seen: [String] = []
        // Tab reaches every control once, in the order of the page, and each is outlined.
        for _ in 0..<60 {
            try await browser.press(Browser.Key.tab)
            let name = try await Self.focused(browser)
            if name == "" || name == "#content" { break }
            seen.append(name)
            let outline = try await browser.script("return getComputedStyle(document.activeElement).outlineStyle")
            #expect(outline as? String == "solid", "\(name)")
        }
        for name in ["search", "course", "state", "/lectures/slow-01", "/lectures/slow-01/pause"] {
            #expect(seen.contains(name), "\(name) of \(seen)")
        }
        try await browser.script("document.querySelector('form[action$=\"slow-01/pause\"] button').focus()")
        try await browser.press(Browser.Key.enter)
        try await rig.wait(for: rig.slow) { $0.state == .stopped }
        await browser.stop()
        await server.stop()
        await rig.end()
    }

    private static func focused(_ browser: Browser) async throws -> String {
        try await browser.script(
            """
            const element = document.activeElement
            if (!element || element === document.body) return ''
            return element.getAttribute('href') || element.name ||
                element.closest('form')?.getAttribute('action') || '?'
            """) as? String ?? ""
    }

    @Test func `without a script it searches, turns pages, pauses, removes and changes the language`() async throws {
        let rig = try await PageRig()
        let server = try await rig.serve()
        var wanted = Browser.Options()
        (wanted.hasScript, wanted.languages) = (false, "ko")
        let browser = try await Browser.start(wanted)
        try await browser.signIn(server.url)
        #expect(try await browser.text("h1") == "개요")
        #expect(try await browser.script("return document.documentElement.lang") as? String == "ko")
        try await browser.open("\(server.url)/lectures")
        try await browser.type("fourier", into: "input[name=search]")
        try await browser.click(".filter button")
        #expect(try await browser.count("tbody tr") == 1)
        try await browser.click("form[action$='/pause'] button")
        try await rig.wait(for: rig.slow) { $0.state == .stopped }
        #expect(try await browser.url.contains("search=fourier"), "it comes back to the search")
        try await browser.click("option[value=ja]")
        try await browser.click(".language button")
        #expect(try await browser.text("h1") == "講義")
        try await browser.open("\(server.url)/lectures/slow-01/remove")
        try await browser.click("main form button")
        try await browser.wait(for: "document.querySelector('.note')")
        #expect(try await browser.text(".note") == PageText.resultRemoved.text(.japanese))
        await browser.stop()
        await server.stop()
        await rig.end()
    }
}
