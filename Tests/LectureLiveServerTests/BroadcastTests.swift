import Foundation
import Glibc
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// Feeds: real nginx, and ffmpeg as the broadcaster.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct BroadcastTests {
    /// The path of a link, for the client of these tests.
    private func path(_ url: String?) throws -> String {
        let url = try #require(url)
        return String(try #require(url.range(of: "/live/").map { url[$0.lowerBound...] }))
    }

    private func start(_ host: StageMember, _ room: Int = 1) async throws -> LiveAnswer {
        try await host.client.call("POST", "/v2/members/me/video-rooms/\(room)/start")
    }

    private func end(_ host: StageMember, _ room: Int = 1) async throws -> LiveAnswer {
        try await host.client.call("POST", "/v2/members/me/video-rooms/\(room)/end")
    }

    @Test func `a broadcast from the first feed to the end, with an interruption`() async throws {
        let stage = try await LiveStage(media: true)
        let (host, viewer) = (try await stage.member("host"), try await stage.member("viewer"))
        #expect(try await host.createRoom() == 1)
        for member in [host, viewer] { #expect(try await member.join(1).status == 200) }
        let events = try host.events(after: "1-0")
        let url = try await LiveFeed.url(of: host)
        #expect(try await start(host).code == "STREAM_KEY_STATE_NOT_ACTIVE")
        // A key that does not exist.
        let wrong = try LiveFeed.publish(String(url.dropLast(4)) + "AAAA")
        #expect(await wrong.ending().status != 0)
        let first = try LiveFeed.publish(url)
        let ready = try await events.change(to: .scheduled, key: .active)
        #expect(try await end(host).code == "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE")
        let started = try await start(host)
        #expect(started.json["videoRoomState"]?.string == "LIVE", "\(started.text)")
        #expect(try await start(host).code == "VIDEO_ROOM_STATE_NOT_SCHEDULED")
        #expect(try await start(viewer).code == "VIDEO_ROOM_NOT_FOUND")
        let live = try await events.change(to: .live, key: .live, after: ready.id)
        // Only its owner learns of the key.
        let others = try viewer.events(after: "1-0")
        let seen = try await others.change(to: .live)
        #expect(seen.change?.keyState == nil && seen.change?.playURL != live.change?.playURL)
        let link = try path(await viewer.room(1)["playUrl"]?.string)
        #expect(try path(seen.change?.playURL) == link)
        let whole = try path(await viewer.room(1)["eventHlsPlayUrl"]?.string)
        try await readWhole(whole, stage)
        try await watch(link, stage, viewer)
        // The same key once more: the former feed is dropped, and the session is another one.
        let second = try LiveFeed.publish(url)
        let lost = try await events.change(to: .inactive, key: .liveWithoutFeed, after: live.id)
        let again = try await events.change(to: .live, key: .live, after: lost.id)
        #expect(await first.ending().status != 0)
        let newLink = try path(await viewer.room(1)["playUrl"]?.string)
        #expect(newLink != link)
        #expect(again.change?.playURL != live.change?.playURL)
        let former = try await stage.application.call("GET", link)
        #expect(former.text.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(try await !stage.application.call("GET", newLink).text.contains("ENDLIST"))
        // The broadcaster is gone, and the host ends the room.
        await LiveFeed.end(second)
        let quiet = try await events.change(to: .inactive, key: .liveWithoutFeed, after: again.id)
        #expect(try await viewer.room(1)["playUrl"] == nil)
        #expect(try await end(host).json["videoRoomState"]?.string == "ENDED")
        _ = try await events.change(to: .ended, key: .inactive, after: quiet.id)
        #expect(try await end(host).code == "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE")
        #expect(try await host.post("late").code == "CHANNEL_CLOSED")
        try await readRest([newLink, whole], stage)
        #expect(try await viewer.room(1)["eventHlsPlayUrl"] == nil)
        // Who was there can read the messages.
        #expect(try await viewer.history().map(\.id) == Array(1...UInt64(viewer.history().count)))
        await stage.server.stop()
    }

    /// Reads the rest of a room that is over, which is possible for a while: the last session, and all of them.
    private func readRest(_ links: [String], _ stage: LiveStage) async throws {
        var rest = try await stage.application.call("GET", links[0])
        while !rest.text.contains("ENDLIST") { rest = try await stage.application.call("GET", links[0]) }
        #expect(rest.status == 200)
        let all = try await stage.application.call("GET", links[1]).text
        #expect(all.hasPrefix("#EXTM3U\n") && all.hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(["1-0.ts", "#EXT-X-DISCONTINUITY", "2-0.ts"].allSatisfy { all.contains("\n\($0)\n") })
        stage.clock.advance(.seconds(120))
        for link in links {
            #expect(try await stage.application.call("GET", link).code == "INVALID_PLAYBACK_LINK")
        }
    }

    /// Reads what was made since the room began, and tries names that are not in it.
    private func readWhole(_ link: String, _ stage: LiveStage) async throws {
        let playlist = try await stage.application.call("GET", link)
        #expect(playlist.status == 200 && playlist.text.contains("#EXT-X-PLAYLIST-TYPE:EVENT"), "\(playlist.text)")
        let base = String(link.dropLast("index.m3u8".count))
        let segment = try await stage.application.call("GET", base + "1-0.ts")
        #expect(segment.status == 200 && segment.body.first == 0x47)
        let files = [
            "0.ts", "1-index.m3u8", "2-0.ts", "0-0.ts", "-1-0.ts", "1--1.ts", "+1-0.ts", "1-0-0.ts", "1-../0.ts",
            "1-..%2F..%2Flive.sqlite", "1-999.ts", "1-.ts", "1.ts", "nginx.conf",
        ]
        for file in files {
            #expect(try await stage.application.call("GET", base + file).status == 404, "\(file)")
        }
        // Signed for all sessions: the signature of one does not do.
        var words = link.split(separator: "/").map(String.init)
        words[2] = "1"
        #expect(try await stage.application.call("GET", "/" + words.joined(separator: "/")).status == 403)
    }

    /// Reads the media of a link, and tries what must not work.
    private func watch(_ link: String, _ stage: LiveStage, _ viewer: StageMember) async throws {
        let anonymous = LiveClient(port: Int(stage.server.port))
        let playlist = try await anonymous.call("GET", link)
        #expect(playlist.head.contains("application/vnd.apple.mpegurl") && playlist.text.hasPrefix("#EXTM3U"))
        let name = try #require(playlist.text.split(separator: "\n").last { $0.hasSuffix(".ts") })
        let base = String(link.dropLast("index.m3u8".count))
        let segment = try await anonymous.call("GET", base + name)
        // Packets of 188 bytes (ISO/IEC 13818-1).
        #expect(segment.status == 200 && segment.body.count % 188 == 0 && segment.body.first == 0x47)
        let head = try await anonymous.call("HEAD", base + name)
        #expect(head.body.isEmpty && head.head.contains("Content-Length: \(segment.body.count)"))
        var words = link.split(separator: "/").map(String.init)
        let changes = [(1, "2"), (2, "2"), (3, "1"), (4, "9999999999"), (5, String(words[5].dropLast()) + "~")]
        for (place, value) in changes {
            var changed = words
            changed[place] = value
            let answer = try await anonymous.call("GET", "/" + changed.joined(separator: "/"))
            #expect((answer.status, answer.code) == (403, "INVALID_PLAYBACK_LINK"), "\(changed)")
        }
        let files = [
            "../../live.sqlite", "..%2F..%2Flive.sqlite", "%2e%2e/index.m3u8", "nginx.conf", ".ts", "-1.ts", "",
        ]
        for file in files {
            #expect(try await anonymous.call("GET", base + file).status == 404, "\(file)")
        }
        #expect(try await anonymous.call("POST", link).status == 405)
        words[2] = "+1"
        #expect(try await anonymous.call("GET", "/" + words.joined(separator: "/")).status == 403)
        for (token, status) in [(viewer.streamingToken, 200), (viewer.token, 401), ("x", 401)] {
            #expect(try await anonymous.call("GET", "\(link)?streamingToken=\(token)").status == status)
        }
        // A ban ends the link as well.
        let host = try await stage.member("host")
        let bans = "/v2/members/me/channels/1/bans"
        #expect(try await host.client.call("POST", bans, #"{"appUserId":"viewer"}"#).status == 204)
        #expect(try await anonymous.call("GET", link).status == 403)
        #expect(try await viewer.room(1)["playUrl"] == nil)
        #expect(try await host.client.call("DELETE", "\(bans)/viewer").status == 204)
        #expect(try await anonymous.call("GET", link).status == 200)
    }

    @Test func `nginx that is killed is started again, and a feed before its room belongs to it`() async throws {
        let stage = try await LiveStage(media: true)
        let host = try await stage.member("host")
        let first = try #require(stage.server.mediaProcess)
        // The feed comes before the room.
        let broadcaster = try LiveFeed.publish(try await LiveFeed.url(of: host))
        var state: String?
        while state != "ACTIVE" {
            let key = try await host.client.call("GET", "/v2/members/me/stream-key").json
            state = key["streamKeyState"]?.string
        }
        #expect(try await host.createRoom() == 1)
        #expect(try await host.join(1).status == 200)
        let events = try host.events(after: "1-0")
        #expect(try await start(host).status == 200)
        let live = try await events.change(to: .live)
        #expect(live.change?.playURL?.contains("/live/1/1/") == true)
        // nginx dies: the feed is lost.
        kill(first, SIGKILL)
        let lost = try await events.change(to: .inactive, key: .liveWithoutFeed, after: live.id)
        #expect(await broadcaster.ending().status != 0)
        try await waitUntil { stage.server.mediaProcess.map { $0 != first } ?? false }
        // It may not listen yet: a broadcaster tries again.
        let url = try await LiveFeed.url(of: host)
        var next = try LiveFeed.publish(url)
        while await host.isLive(1) == false {
            if next.hasEnded { next = try LiveFeed.publish(url) }
        }
        let back = try await events.change(to: .live, key: .live, after: lost.id)
        #expect(back.change?.playURL?.contains("/live/1/2/") == true)
        // The application's server ends everything: the broadcaster is dropped, and the key is another one.
        let former = try await LiveFeed.url(of: host)
        let path = "/v2/apps/me/members/host/stream-key/force-terminate"
        #expect(try await stage.application.call("POST", path).status == 204)
        _ = try await events.change(to: .ended, key: .inactive, after: back.id)
        #expect(await next.ending().status != 0)
        #expect(try await LiveFeed.url(of: host) != former)
        let refused = try LiveFeed.publish(former)
        #expect(await refused.ending().status != 0)
        let process = try #require(stage.server.mediaProcess)
        await stage.server.stop()
        #expect(!ProcessList.isRunning(process))
    }
}

extension StageMember {
    /// Whether a room is on the air.
    func isLive(_ id: Int) async -> Bool { (try? await room(id)["videoRoomState"]?.string) == "LIVE" }
}

/// Processes of this machine.
enum ProcessList {
    /// Whether a process runs; one that waits for its parent only does not.
    static func isRunning(_ process: Int32) -> Bool {
        guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline")) else { return false }
        return !line.isEmpty
    }
}
