import Foundation
import LectureFormats
import LectureLive
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// Playing over RTMP: by signed addresses, in a second, and no longer than one may.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct RelayTests {
    /// A room that is live, with a feed, and a viewer.
    private struct Live {
        let stage: LiveStage
        let host: StageMember
        let viewer: StageMember
        let feed: ChildProcess
        let events: EventClient

        func address() async throws -> String {
            try #require(try await viewer.room(1)["rtmpPlayUrl"]?.string)
        }
    }

    private func live() async throws -> Live {
        let stage = try await LiveStage(media: true)
        let (host, viewer) = (try await stage.member("host"), try await stage.member("viewer"))
        #expect(try await host.createRoom() == 1)
        for member in [host, viewer] { #expect(try await member.join(1).status == 200) }
        let events = try host.events(after: "1-0")
        let feed = try LiveFeed.publish(try await LiveFeed.url(of: host))
        _ = try await events.change(to: .scheduled, key: .active)
        #expect(try await viewer.room(1)["rtmpPlayUrl"] == nil)
        #expect(try await host.client.call("POST", "/v2/members/me/video-rooms/1/start").status == 200)
        _ = try await events.change(to: .live, key: .live)
        return Live(stage: stage, host: host, viewer: viewer, feed: feed, events: events)
    }

    /// Waits until nginx serves this many players.
    private func players(_ count: Int, _ live: Live) async throws {
        try await waitUntil { await live.stage.server.playerCount() == count }
    }

    @Test func `a viewer plays over RTMP until the feed ends`() async throws {
        let live = try await live()
        let address = try await live.address()
        #expect(address.hasPrefix("rtmp://127.0.0.1:") && address.contains("/egress/"))
        let secret = try #require(try await LiveFeed.url(of: live.host).split(separator: "/").last)
        #expect(!address.contains(secret))
        let player = try LiveFeed.play(address, seconds: 600)
        // A second of media, which the first player has by then as well.
        #expect(await (try LiveFeed.play(address, seconds: 1)).ending().status == 0)
        try await players(1, live)
        await LiveFeed.end(live.feed)
        // The end of the stream is sent: no player waits for its time limit.
        #expect(await player.ending().status == 0)
        try await players(0, live)
        _ = try await live.events.change(to: .inactive, key: .liveWithoutFeed)
        #expect(try await live.viewer.room(1)["rtmpPlayUrl"] == nil)
        #expect(await (try LiveFeed.play(address, seconds: 1)).ending().status != 0)
        await live.stage.server.stop()
    }

    @Test func `changed addresses, and those of others, are refused`() async throws {
        let live = try await live()
        let address = try await live.address()
        let (name, query) = (String(address.split(separator: "?")[0]), String(address.split(separator: "?")[1]))
        let fields = query.split(separator: "&").map(String.init)
        var wrong = [name, "\(name)?", "\(name)x?\(query)", "\(name)?\(query)x"]
        for place in fields.indices {
            var changed = fields
            changed.remove(at: place)
            wrong.append("\(name)?\(changed.joined(separator: "&"))")
            changed = fields
            changed[place] += "1"
            wrong.append("\(name)?\(changed.joined(separator: "&"))")
        }
        // The signature of a playback link is another one.
        let link = try #require(try await live.viewer.room(1)["playUrl"]?.string).split(separator: "/")
        wrong.append("\(name)?" + fields.dropLast().joined(separator: "&") + "&signature=\(link[link.count - 2])")
        for url in wrong {
            let player = try LiveFeed.play(url, seconds: 1)
            #expect(await player.ending().status != 0, "\(url)")
        }
        #expect(await live.stage.server.playerCount() == 0)
        await LiveFeed.end(live.feed)
        await live.stage.server.stop()
    }

    @Test(arguments: [true, false])
    func `a member who is banned or deleted is dropped at once, and others play on`(isBan: Bool) async throws {
        let live = try await live()
        let other = try await live.stage.member("other")
        let otherAddress = try #require(try await other.room(1)["rtmpPlayUrl"]?.string)
        let address = try await live.address()
        let (first, second) = (
            try LiveFeed.play(address, seconds: 600), try LiveFeed.play(otherAddress, seconds: 600)
        )
        try await players(2, live)
        if isBan {
            let bans = "/v2/members/me/channels/1/bans"
            #expect(try await live.host.client.call("POST", bans, #"{"appUserId":"viewer"}"#).status == 204)
        } else {
            #expect(try await live.stage.application.call("DELETE", "/v2/apps/me/members/viewer").status == 204)
        }
        _ = await first.ending()
        try await waitUntil { await live.stage.server.droppingCount() == 0 }
        #expect(await (try LiveFeed.play(address, seconds: 1)).ending().status != 0)
        #expect(await (try LiveFeed.play(otherAddress, seconds: 1)).ending().status == 0)
        try await players(1, live)
        await LiveFeed.end(live.feed)
        #expect(await second.ending().status == 0)
        await live.stage.server.stop()
    }

    @Test func `a player that nginx has yet to begin is dropped when it has`() async throws {
        let live = try await live()
        // As nginx asks for a connection that it does not know by its stream before it has read the answer.
        let address = try await live.address().split(separator: "?")
        let name = try #require(address[0].split(separator: "/").last)
        let configuration = live.stage.directory.file("state/run/nginx.conf")
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let hooks = try #require(text.split(separator: "/hooks/").dropFirst().first?.split(separator: "/").first)
        let nginx = LiveClient(port: Int(live.stage.server.port))
        func hook(_ word: String, _ form: String) async throws -> Int {
            try await nginx.call("POST", "/hooks/\(hooks)/\(word)", form).status
        }
        #expect(try await hook("play", "clientid=999999&name=\(name)&\(address[1])") == 200)
        try await players(1, live)
        let bans = "/v2/members/me/channels/1/bans"
        #expect(try await live.host.client.call("POST", bans, #"{"appUserId":"viewer"}"#).status == 204)
        try await players(0, live)
        #expect(await live.stage.server.droppingCount() == 1)
        #expect(try await hook("play-done", "clientid=999999&name=\(name)") == 200)
        #expect(await live.stage.server.droppingCount() == 0)
        await LiveFeed.end(live.feed)
        await live.stage.server.stop()
    }

    @Test func `nginx says whether it knew the connection that it is to drop`() async throws {
        let live = try await live()
        let nginx = try #require(live.stage.server.nginx)
        let key = String(try #require(try await LiveFeed.url(of: live.host).split(separator: "/").last))
        let name = String(try #require(try await live.address().split(separator: "?")[0].split(separator: "/").last))
        #expect(await !nginx.drop(.player(name: name, client: "999999")))
        #expect(await !nginx.drop(.publisher(key: "another", client: "1")))
        #expect(await nginx.drop(.publisher(key: key, client: "1")))
        _ = await live.feed.ending()
        await live.stage.server.stop()
    }

    @Test func `addresses name the host of the public URL`() throws {
        var options = LiveOptions(stateDirectory: "x", credentials: try #require(LiveCredentials("a:0123456789abcdef")))
        let hosts =
            [
                (nil, "127.0.0.1"), ("https://live.example", "live.example"),
                ("https://live.example:8443/x", "live.example"),
                ("no URL", "127.0.0.1"),
            ] as [(String?, String)]
        for (url, host) in hosts {
            options.publicURL = url
            #expect(LiveService.rtmpHost(options) == host)
        }
        (options.publicURL, options.address) = (nil, "192.0.2.7")
        #expect(LiveService.rtmpHost(options) == "192.0.2.7")
    }
}
