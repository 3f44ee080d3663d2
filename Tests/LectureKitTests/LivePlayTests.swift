import Foundation
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// What is watched of a live lecture, which is not in the store.
struct LivePlayNetTests {
    private static let key = "live-0193"

    private func play(_ seconds: Range<Int>) -> PlayedInterval {
        PlayedInterval(
            .play, from: .seconds(seconds.lowerBound), to: .seconds(seconds.upperBound),
            lasting: .seconds(seconds.count))
    }

    @Test func `a live play is reported under its lecture, with its channel`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        let key = try ContentKey(Self.key)
        let recorder = try await manager.reports.recordPlay(
            ofLive: key, channel: "42", host: "live.example", user: "kim")
        #expect(recorder.period == .seconds(30) && recorder.key == key)
        await recorder.record(play(100..<130))
        let first = try await recorder.report()
        #expect(first.count == 1 && first[0].sequence == 1)
        await recorder.record(PlayedInterval(.stop, from: .seconds(130), to: .seconds(130), lasting: .zero))
        try await recorder.report()
        let rows = try await manager.reports.list().rows
        #expect(rows.count == 2 && rows.allSatisfy { $0.content == Self.key && $0.user == "kim" })
        let values = try JSONScanner.value(of: try #require(rows.last?.values))
        let content = try #require(values["content_info"])
        #expect(content["channel_key"]?.string == "42" && content["media_content_key"]?.string == Self.key)
        #expect(content["playtime"]?.integer == 30 && content["last_play_at"]?.integer == 130)
        #expect(content["duration"]?.integer == 0)
        #expect(values["user_info"]?["host_name"]?.string == "live.example")
        #expect(values["TIMEMAP_DATA"]?.elements?.count == 1)
        #expect(try await manager.reports.send().delivered == 2)
        await manager.close()
    }

    @Test func `a live play that its program did not end is reported by the next one, with its channel`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        let manager = try site.manager()
        let recorder = try await manager.reports.recordPlay(
            ofLive: try ContentKey(Self.key), channel: "42", user: "kim", target: target, period: .seconds(60))
        #expect(recorder.period == .seconds(60))
        await recorder.record(play(0..<12))
        try await recorder.keep()
        await manager.close()

        let next = try site.manager()
        #expect(try await next.reports.send().delivered == 1)
        let row = try #require(try await next.reports.list().rows.first)
        #expect(row.target?.url == target.url && row.session == recorder.session)
        let values = try JSONScanner.value(of: row.values)
        #expect(values["content_info"]?["channel_key"]?.string == "42")
        #expect(values["content_info"]?["playtime"]?.integer == 12 && values["PLAY_STATUS"]?.string == "stop")
        await next.close()
    }

    @Test func `a play needs a channel, a possible target and an open store`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let key = try ContentKey(Self.key)
        let target = ReportTarget(url: "ftp://lms.example/", format: .json)
        let failures = [("", nil), ("1", target)] as [(String, ReportTarget?)]
        var codes: [LectureError.Code?] = []
        for (channel, target) in failures {
            do throws(LectureError) {
                _ = try await manager.reports.recordPlay(ofLive: key, channel: channel, user: "kim", target: target)
                codes.append(nil)
            } catch { codes.append(error.code) }
        }
        #expect(codes == [.parameter, .reportInvalid])
        await manager.close()
        await #expect(throws: LectureError(.closing)) {
            try await manager.reports.recordPlay(ofLive: key, channel: "1", user: "kim")
        }
    }

    @Test func `a kept lecture's reports name no channel`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let key = try await manager.downloads.load("\(sandbox.http)/media/bytes-64K-1.mp4").key
        let recorder = try await manager.reports.recordPlay(of: key, user: "kim")
        await recorder.record(play(0..<3))
        try await recorder.report()
        let values = try JSONScanner.value(of: try #require(try await manager.reports.list().rows.first?.values))
        #expect(values["content_info"]?["channel_key"]?.string == "")
        await manager.close()
    }
}
