import Foundation
import Glibc
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// Messages, event streams and moderation.
struct ChatTests {
    /// A room with a host and members, all of which have joined.
    private func channel(
        _ stage: LiveStage, _ names: [String]
    ) async throws -> (host: StageMember, members: [StageMember]) {
        let host = try await stage.member("host")
        #expect(try await host.createRoom() == 1)
        #expect(try await host.join(1).status == 200)
        var members: [StageMember] = []
        for name in names {
            let member = try await stage.member(name)
            #expect(try await member.join(1).status == 200)
            members.append(member)
        }
        return (host, members)
    }

    @Test(.timeLimit(.minutes(1)))
    func `six members on streams that are cut again and again get every message once, in order`() async throws {
        let stage = try await LiveStage()
        let (host, members) = try await channel(stage, (1...5).map { "member-\($0)" })
        let all = [host] + members
        let start = try #require(try await host.history().last?.id)
        let received = try await withThrowingTaskGroup(of: (Int, [LiveMessage]).self) { group in
            for (place, member) in all.enumerated() {
                group.addTask {
                    var (collected, lastID) = ([LiveMessage](), "1-\(start)")
                    repeat {
                        let stream = try member.events(after: lastID)
                        // Cut after a few more, wherever that is.
                        await stream.wait { [place] messages in
                            messages.count > place + 2 || messages.contains { $0.text == "the end" }
                        }
                        let (messages, position) = stream.cut()
                        collected += messages
                        lastID = position
                    } while !collected.contains { $0.text == "the end" }
                    return (place, collected)
                }
            }
            await withTaskGroup(of: Void.self) { posts in
                for member in all {
                    posts.addTask {
                        for number in 0..<20 {
                            do {
                                let answer = try await member.post("\(member.id) \(number)")
                                #expect(answer.status == 201, "\(answer.text)")
                            } catch {
                                Issue.record(error)
                            }
                        }
                    }
                }
            }
            #expect(try await host.post("the end").status == 201)
            return try await group.reduce(into: [Int: [LiveMessage]]()) { $0[$1.0] = $1.1 }
        }
        let expected = (start + 1)...(start + UInt64(all.count * 20) + 1)
        let history = try await host.history()
        for place in all.indices {
            #expect(received[place]?.map(\.id) == Array(expected), "\(all[place].id)")
            #expect(received[place] == Array(history.suffix(expected.count)), "\(all[place].id)")
        }
        for member in all {
            // What one member wrote is in the order in which it was written.
            #expect(
                history.filter { $0.userID == member.id && $0.origin == .member }.map(\.text)
                    == (0..<20).map { "\(member.id) \($0)" } + (member.id == "host" ? ["the end"] : []))
        }
        await stage.server.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a stream says where it is, replays a long absence, and ends with its server`() async throws {
        let stage = try await LiveStage()
        let (host, members) = try await channel(stage, ["kim"])
        let long = String(repeating: "\"", count: 1900)
        for number in 0..<150 { #expect(try await host.post("\(number) \(long)").status == 201) }
        let last = try #require(try await host.history().last?.id)
        // 150 messages of nearly 4 KB are more than a stream buffers.
        for position in ["1-0", "0", "1-0,7-3"] {
            let stream = try members[0].events(after: position)
            let messages = await stream.wait { $0.last?.id == last }
            #expect(messages.map(\.id) == Array(1...last), "after \(position)")
            _ = stream.cut()
        }
        let fresh = try members[0].events()
        #expect(await fresh.opened() == "1-\(last)")
        #expect(try await host.post("now").status == 201)
        let first = await fresh.wait { !$0.isEmpty }.first
        #expect(first?.text == "now")
        let wrong = try await members[0].client.call(
            "GET", "/v2/members/me/event-sources", fields: ["Last-Event-ID: one-two"])
        #expect((wrong.status, wrong.code) == (400, "INVALID_PARAMETER"))
        #expect(fresh.head.contains("text/event-stream") && fresh.head.contains("200"))
        await stage.server.stop()
        await fresh.wait { _ in false }
        #expect(fresh.isOver)
    }

    @Test func `messages are limited in length and kind, and kept as they are`() async throws {
        let stage = try await LiveStage()
        let (host, _) = try await channel(stage, [])
        let outsider = try await stage.member("outsider")
        let cases: [(String, Int, String?)] = [
            ("<script>alert('&amp;')</script> \u{202E}대수 😀", 201, nil), ("two\nlines\tand a tab", 201, nil),
            (String(repeating: "x", count: 2000), 201, nil),
            (String(repeating: "x", count: 2001), 400, "CHANNEL_MESSAGE_TOO_LONG"),
            ("", 400, "INVALID_CHANNEL_MESSAGE"), (" \n ", 400, "INVALID_CHANNEL_MESSAGE"),
            ("a\u{0}b", 400, "INVALID_CHANNEL_MESSAGE"), ("a\u{1B}[2Jb", 400, "INVALID_CHANNEL_MESSAGE"),
            ("a\u{7F}", 400, "INVALID_CHANNEL_MESSAGE"), ("a\u{85}b", 400, "INVALID_CHANNEL_MESSAGE"),
            (String(repeating: "x", count: 1 << 20), 413, "BODY_TOO_LONG"),
        ]
        var kept: [String] = []
        for (text, status, code) in cases {
            let answer = try await host.post(text)
            #expect((answer.status, answer.code) == (status, code), "\(text.prefix(30).debugDescription)")
            if status == 201 { kept.append(text) }
        }
        #expect(try await host.history().filter { $0.origin == .member }.map(\.text) == kept)
        // Words of the service, and bodies of other kinds.
        let bodies: [(String, String)] = [
            (#"{"message":"x","customType":"JOINED"}"#, "INVALID_CHANNEL_MESSAGE"),
            (#"{"message":"x","customType":"MESSAGE_HIDDEN"}"#, "INVALID_CHANNEL_MESSAGE"),
            (#"{"message":"x","customType":"\#(String(repeating: "y", count: 51))"}"#, "INVALID_CHANNEL_MESSAGE"),
            (#"{"message":1}"#, "INVALID_HTTP_MESSAGE_BODY"), ("{}", "INVALID_HTTP_MESSAGE_BODY"),
            (String(repeating: "[", count: 5000), "INVALID_HTTP_MESSAGE_BODY"),
        ]
        for (body, code) in bodies {
            let answer = try await host.client.call("POST", "/v2/members/me/channels/1/messages", body)
            #expect((answer.status, answer.code) == (400, code), "\(body.prefix(40))")
        }
        #expect(try await outsider.post("x").code == "CHANNEL_NOT_JOINED")
        let history = try await outsider.client.call("GET", "/v2/members/me/channels/1/messages")
        #expect(history.code == "CHANNEL_NOT_JOINED")
        await stage.server.stop()
    }

    @Test func `the history is read in both directions`() async throws {
        let stage = try await LiveStage()
        let (host, _) = try await channel(stage, [])
        for number in 3...9 { #expect(try await host.post("\(number)").status == 201) }
        let cases: [(String, [UInt64], Bool)] = [
            ("?channelMessageId=4&limit=3", [5, 6, 7], false),
            ("?channelMessageId=4&sortBy=LESS_THAN&limit=2", [3, 2], false),
            ("?sortBy=LESS_THAN&limit=3", [9, 8, 7], false), ("?limit=100", Array(1...9), true),
            ("?channelMessageId=9", [], true), ("?sortBy=CREATED_AT_DESC&limit=1", [9], false),
            ("?channelMessageId=2&sortBy=CREATED_AT_ASC&limit=2", [3, 4], false),
        ]
        for (query, ids, isLast) in cases {
            let page = try await host.client.call("GET", "/v2/members/me/channels/1/messages\(query)").json
            #expect(page["content"]?.elements?.compactMap { LiveMessage($0)?.id } == ids, "\(query)")
            #expect(page["last"]?.bool == isLast, "\(query)")
        }
        for query in ["?limit=0", "?limit=101", "?limit=x", "?channelMessageId=-1", "?sortBy=UP"] {
            let answer = try await host.client.call("GET", "/v2/members/me/channels/1/messages\(query)")
            #expect((answer.status, answer.code) == (400, "INVALID_PARAMETER"), "\(query)")
        }
        await stage.server.stop()
    }

    @Test func `members are counted as they come and go`() async throws {
        let stage = try await LiveStage()
        let (host, members) = try await channel(stage, ["kim", "lee"])
        // Again is the same as once.
        let again = try await members[0].join(1).json
        #expect(again["participantCount"]?.integer == 3 && again["wasJoined"]?.bool == true)
        for _ in 0..<2 {
            let left = try await members[1].client.call("POST", "/v2/members/me/video-rooms/1/channel/leave")
            #expect(left.json["participantCount"]?.integer == 2)
        }
        let history = try await host.history()
        #expect(
            history.map(\.customType) == [
                "JOINED", "CHANNEL_STAT_UPDATED", "JOINED", "CHANNEL_STAT_UPDATED", "JOINED", "CHANNEL_STAT_UPDATED",
                "LEAVED", "CHANNEL_STAT_UPDATED",
            ])
        #expect(history.map(\.participants) == [1, 1, 2, 2, 3, 3, 2, 2])
        #expect(history.map(\.userID) == ["host", "", "kim", "", "lee", "", "lee", ""])
        #expect(try await stage.application.call("DELETE", "/v2/apps/me/members/kim").status == 204)
        #expect(try await host.history().suffix(2).map(\.participants) == [1, 1])
        await stage.server.stop()
    }

    @Test func `the host hides messages, bans members, and slows them down`() async throws {
        let stage = try await LiveStage()
        let (host, members) = try await channel(stage, ["kim", "lee"])
        let (kim, lee) = (members[0], members[1])
        let (stream, kimStream) = (try lee.events(after: "1-6"), try kim.events(after: "1-6"))
        let rude = try #require(LiveMessage(try await kim.post("rude").json))
        let path = "/v2/members/me/channels/1"
        let hide = "\(path)/messages/\(rude.id)/hide"
        #expect(try await lee.client.call("POST", hide).code == "NOT_VIDEO_ROOM_OWNER")
        for _ in 0..<2 { #expect(try await host.client.call("POST", hide).status == 204) }
        #expect(try await host.client.call("POST", "\(path)/messages/1/hide").code == "CHANNEL_MESSAGE_NOT_FOUND")
        let seen = await stream.wait { $0.contains { $0.customType == "MESSAGE_HIDDEN" } }
        #expect(seen.map(\.hiddenID) == [nil, rude.id])
        // A history, and a stream that comes later, do not have the text any more, and no gap.
        let history = try await lee.history()
        #expect(history.map(\.id) == Array(1...8) && history[6].text.isEmpty && history[6].hiddenID == rude.id)
        // A ban.
        let ban = #"{"appUserId":"kim"}"#
        #expect(try await lee.client.call("POST", "\(path)/bans", ban).code == "NOT_VIDEO_ROOM_OWNER")
        #expect(try await host.client.call("POST", "\(path)/bans", #"{"appUserId":"host"}"#).status == 400)
        #expect(try await host.client.call("POST", "\(path)/bans", #"{"appUserId":"x"}"#).code == "MEMBER_NOT_FOUND")
        #expect(try await host.client.call("POST", "\(path)/bans", ban).status == 204)
        let after = await stream.wait { $0.contains { $0.customType == "LEAVED" } }
        #expect(after.first { $0.customType == "LEAVED" }?.userID == "kim")
        for answer in [
            try await kim.post("again"), try await kim.join(1), try await kim.client.call("GET", "\(path)/messages"),
        ] { #expect((answer.status, answer.code) == (403, "MEMBER_BANNED")) }
        #expect(try await lee.post("better").status == 201)
        await stream.wait { $0.contains { $0.text == "better" } }
        #expect(!kimStream.messages.contains { $0.text == "better" })
        #expect(try await host.client.call("DELETE", "\(path)/bans/kim").status == 204)
        #expect(try await kim.join(1).status == 200)
        // Slow mode holds for members and not for the host.
        #expect(try await host.client.call("PUT", "\(path)/slow-mode", #"{"seconds":3601}"#).status == 400)
        #expect(try await host.client.call("PUT", "\(path)/slow-mode", #"{"seconds":30}"#).status == 204)
        stage.clock.advance(.seconds(30))
        #expect(try await kim.post("one").status == 201)
        stage.clock.advance(.seconds(29))
        let slow = try await kim.post("two")
        #expect((slow.status, slow.code) == (429, "CHANNEL_SLOW_MODE"))
        #expect(try await (host.post("a").status, host.post("b").status) == (201, 201))
        stage.clock.advance(.seconds(1))
        #expect(try await kim.post("two").status == 201)
        await stage.server.stop()
    }

    @Test func `a member that writes too fast waits`() async throws {
        let stage = try await LiveStage { $0.chat = ChatRules() }
        let (host, members) = try await channel(stage, ["kim"])
        for number in 0..<10 { #expect(try await members[0].post("\(number)").status == 201) }
        let refused = try await members[0].post("more")
        #expect((refused.status, refused.code) == (429, "TOO_MANY_MESSAGES") && refused.head.contains("Retry-After: 1"))
        #expect(try await host.post("others go on").status == 201)
        stage.clock.advance(.seconds(2))
        #expect(try await (members[0].post("a").status, members[0].post("b").status) == (201, 201))
        #expect(try await members[0].post("c").status == 429)
        await stage.server.stop()
    }

    @Test func `a rate bucket fills evenly and never beyond its size`() {
        let rules = ChatRules()
        let start = Timestamp(milliseconds: 0)
        var bucket = RateBucket(rules, now: start)
        var steps: [(Int64, Bool)] = Array(repeating: (0, true), count: 10)
        steps += [(0, false), (999, false), (1000, true), (1500, false), (2000, true), (1000, false)]
        steps += Array(repeating: (1_000_000_000, true), count: 10) + [(1_000_000_000, false)]
        for (time, isPermitted) in steps {
            let taken = bucket.take(rules, now: Timestamp(milliseconds: time))
            #expect(taken == isPermitted, "at \(time)")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reader that never reads is ended, and the others go on`() async throws {
        let stage = try await LiveStage()
        let (host, members) = try await channel(stage, ["kim", "lee"])
        let idle = try #require(Peer.connected(to: Int(stage.server.port)))
        idle.send(
            "GET /v2/members/me/event-sources HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(members[0].token)\r\n\r\n")
        let reader = try members[1].events()
        #expect(await reader.opened() == "1-6")
        #expect(idle.readHead().contains("200"))
        let text = String(repeating: "\\", count: 2000)
        var count = 0
        // What the kernel takes for it, and what the server buffers, is bounded; so it must come to an end.
        while await stage.server.service.readerCount == 2 || count < 10 {
            #expect(try await host.post(text).status == 201)
            count += 1
            try #require(count < 4000)
        }
        #expect(await stage.server.service.readerCount == 1)
        let total = count
        let messages = await reader.wait { $0.count >= total }
        #expect(messages.map(\.id) == Array(7..<UInt64(7 + count)))
        idle.close()
        await stage.server.stop()
    }
}
