import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

@Suite(.serialized)
struct BrowserNetTests {
    private static let page = """
        <!doctype html><html lang="en"><title>First</title><main><h1>Words</h1>
        <form><label>Name <input id="name"></label> <button id="go" type="button">Go</button></form>
        <a id="next" href="second.html">Next</a><p id="late"></p></main>
        <script>
        document.getElementById('go').addEventListener('click', () => {
            const name = document.getElementById('name').value
            fetch('second.html').then(() => { document.getElementById('late').textContent = 'Hello ' + name })
        })
        </script>
        """
    private static let second = """
        <!doctype html><html lang="en"><title>Second</title><main><h1>Second</h1>
        <p id="faint" style="color:#ddd;background:#fff">faint</p></main>
        """

    @Test func `a browser opens, types, clicks, waits, judges and shows a page`() async throws {
        let files = try TemporaryDirectory()
        try files.write(Self.page, to: "first.html")
        try files.write(Self.second, to: "second.html")
        var options = NginxOrigin.Options()
        options.directives = "default_type text/html;"
        let origin = try await NginxOrigin.start(serving: files.path, options)
        let browser = try await Browser.start()
        try await browser.open("\(origin.http)/first.html")
        #expect(try await browser.title == "First")
        try await browser.type("Ada", into: "#name")
        try await browser.click("#go")
        try await browser.wait(for: "document.getElementById('late').textContent == 'Hello Ada'")
        #expect(try await browser.text("#late") == "Hello Ada")
        #expect(try await browser.accessibilityFindings() == [])
        try await browser.press(Browser.Key.tab + Browser.Key.enter)
        try await browser.wait(for: "document.title == 'Second'")
        let findings = try await browser.accessibilityFindings()
        #expect(findings.count == 1 && findings.first?.contains("color-contrast") == true, "\(findings)")
        try await browser.resize(width: 320, height: 640)
        #expect(try await browser.script("return innerWidth") as? Int == 320)
        #expect(try await browser.screenshot().starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let wrong = await #expect(throws: ChildProcess.Failure.self) {
            try await browser.wait(for: "document.title == 'Third'", limit: 0)
        }
        #expect("\(wrong.map(\.description) ?? "")".contains("Third"))
        await browser.stop()
    }

    @Test func `a browser without scripts, in Korean and dark, is just that`() async throws {
        let files = try TemporaryDirectory()
        try files.write(Self.page, to: "first.html")
        var options = NginxOrigin.Options()
        options.directives = "default_type text/html; add_header X-Languages $http_accept_language;"
        let origin = try await NginxOrigin.start(serving: files.path, options)
        var wanted = Browser.Options()
        (wanted.hasScript, wanted.isDark, wanted.languages) = (false, true, "ko,en")
        let browser = try await Browser.start(wanted)
        try await browser.open("\(origin.http)/first.html")
        try await browser.type("Ada", into: "#name")
        try await browser.click("#go")
        #expect(try await browser.text("#late").isEmpty)
        let language = try await browser.script(
            "return navigator.language + matchMedia('(prefers-color-scheme: dark)').matches")
        #expect(language as? String == "kotrue")
        await browser.stop()
    }
}
