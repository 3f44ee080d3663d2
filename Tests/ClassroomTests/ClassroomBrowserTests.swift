import Foundation
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The classroom in Chromium.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct ClassroomBrowserTests {
    private static let video = "document.querySelector('video')"

    @Test func `every kind plays and seeks, and what was watched is reported`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 9
        let school = try await School(policy)
        let browser = try await Browser.start()
        let kinds = [("film.mp4", "film"), ("aes/main.m3u8", "aes"), ("fmp4/main.m3u8", "fmp4")]
        for (name, key) in kinds {
            let kept = try await school.keep(name, as: key)
            try await browser.open("\(school.server.url)\(try await school.link(key, user: "gast-\(key)"))")
            try await browser.click("form.play button")
            try await browser.wait(for: "\(Self.video).currentTime > 3 && \(Self.video).videoWidth === 320")
            try await browser.script("\(Self.video).currentTime = 6")
            try await browser.wait(for: "\(Self.video).currentTime > 8.3")
            try await browser.script("\(Self.video).pause()")
            #expect(try await school.countUsed(kept) == 1, "\(key)")
            // The page is left: the last report comes with it, before the next page is there or soon after.
            try await browser.open("\(school.server.url)\(try await school.link(key, user: "gast-\(key)"))")
            let button = try await browser.text("form.play button")
            #expect(button.hasPrefix("Play from 0:08"), "\(button)")
            let reports = try await school.reports(of: "gast-\(key)")
            #expect(!reports.isEmpty, "\(key)")
            let seen = (reports.last?["TIMEMAP_DATA"] as? [[NSNumber]] ?? []).map { $0.map(\.doubleValue) }
            #expect(
                seen.count == 2 && (seen.first?.first ?? 9) < 3 && (seen.last?.first ?? 0) >= 6, "\(seen) \(reports)")
        }
        await browser.stop()
        await school.server.stop()
        for (_, key) in kinds {
            let last = try await school.reports(of: "gast-\(key)").last
            #expect(last?["PLAY_STATUS"] as? String == "stop", "\(key)")
        }
        await school.end()
    }

    @Test func `subtitles are shown, and a play resumes where it was`() async throws {
        let school = try await School()
        let key = try await school.keep("subtitles/main.m3u8", as: "spoken")
        try await school.manager.contents.setResumePoint(.seconds(6), of: key)
        let browser = try await Browser.start()
        try await browser.open("\(school.server.url)\(try await school.link("spoken", user: "gast"))")
        #expect(try await browser.count("track[srclang=en]") == 1)
        #expect(try await browser.text("form.play button") == "Play from 0:06")
        try await browser.click("form.play button")
        try await browser.wait(for: "\(Self.video).currentTime > 6.3")
        try await browser.wait(
            for: "[...\(Self.video).textTracks].some((track) => "
                + "[...(track.activeCues || [])].some((cue) => cue.text === 'World'))")
        await browser.stop()
        await school.end()
    }
}
