import Foundation
import Glibc
import LectureCrypto
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// Ended rooms become lectures: what a former server has left, the process that joins, links, ranges and licences.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ArchiveTests {
    private static let form = "application/x-www-form-urlencoded"

    /// The lecture of a room, as a member reaches it.
    private func link(_ member: StageMember, _ room: EndedRoom) async throws -> String {
        let answer = try await member.room(Int(room.id))
        return try #require(answer["vodUrl"]?.string, "\(answer.text)")
    }

    private func beside(_ link: String, _ file: String) -> String { String(link.dropLast(2)) + file }

    private func retry(_ stage: LiveStage, _ room: EndedRoom) async throws -> LiveAnswer {
        try await stage.application.call("POST", "/v2/apps/me/video-rooms/\(room.id)/archive")
    }

    // MARK: What is made

    @Test func `a lecture is joined, sealed and described with its chat, and the recordings are deleted`() async throws
    {
        let messages: [(String, Int64)] = [
            ("before", -100_000), ("<b>first</b>", -88_500), ("in the pause", -83_000), ("second", -78_250),
            ("late", 0),
        ]
        let room = try await EndedRoom([TestRecording(), TestRecording()], messages: messages)
        let stage = try await LiveStage(in: room.directory) { $0.archives.lmsURL = "https://lms.example/report" }
        let line = await stage.log.wait(for: "archived")
        #expect(line["room"]?.integer == room.id && stage.log.events == ["archiving", "archived"])
        #expect(try room.files("recordings").isEmpty && room.files("archive") == ["\(room.uuid).sealed"])
        let bytes = try Data(contentsOf: URL(filePath: room.sealed))
        for word in ["ftyp", "moov", "mdat"] { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word)") }
        let viewer = try await stage.member("viewer")
        let json = try await viewer.room(Int(room.id))
        #expect(json["vodState"]?.string == "ARCHIVED" && json["vodReason"] == nil)
        #expect(json["vodArchivedAt"]?.string == MomentText.utc(stage.clock.now))
        let link = try await link(viewer, room)
        let answer = try await CurlAnswer.get(link)
        #expect(answer.status == 200 && answer.fields["content-type"] == LectureDescriptor.type)
        let descriptor = answer.json
        #expect(descriptor["media_content_key"]?.string == "live-\(room.uuid)")
        #expect(descriptor["title"]?.string == "Algebra" && descriptor["teacher"]?.string == "Kim Lee")
        #expect(descriptor["width"]?.integer == 160 && descriptor["height"]?.integer == 90)
        #expect(descriptor["client_user_id"]?.string == "viewer" && descriptor["drm"]?["key_id"]?.string == "live")
        #expect(descriptor["lms"]?.elements?.first?["url"]?.string == "https://lms.example/report")
        // The media is what the descriptor says.
        let media = try await CurlAnswer.get(try #require(descriptor["media"]?["url"]?.string))
        #expect(media.status == 200 && media.fields["content-type"] == "video/mp4")
        #expect(media.body.count == descriptor["media"]?["size"]?.integer.map { Int($0) })
        let digest = try Disk.sha256(media.body)
        #expect(Hexadecimal.text(digest) == descriptor["media"]?["sha256"]?.string)
        #expect(media.fields["etag"] == descriptor["media"]?["etag"]?.string)
        #expect(Data(media.body.prefix(12)).range(of: Data("ftyp".utf8)) != nil)
        // Every message is where it was said; pauses are cut.
        let chat = try await CurlAnswer.get(try #require(descriptor["subtitles"]?.elements?.first?["url"]?.string))
        #expect(chat.fields["content-type"] == "text/vtt; charset=utf-8")
        let entries = try ChatLog(webVTT: chat.text).entries
        #expect(entries.map(\.text) == messages.map(\.0) && entries.allSatisfy { $0.userName == "Kim Lee" })
        let whole = try #require(line["durationMs"]?.integer)
        let positions = entries.map(\.position.milliseconds)
        // Session 1 is recorded from −89 s on for two seconds, session 2 from −79 s on.
        #expect(positions[0] == 0 && abs(positions[1] - 500) <= 100 && abs(positions[3] - positions[2] - 750) <= 100)
        #expect(abs(positions[2] - 2000) <= 150 && abs(positions[4] - whole) <= 5 && abs(whole - 4000) <= 300)
        await stage.server.stop()
    }

    @Test func `a real broadcast is recorded, interrupted and archived, and nothing else is kept`() async throws {
        let stage = try await LiveStage(media: true)
        let host = try await stage.member("host")
        let publisher = Publisher(stage)
        // A feed without a room.
        let other = try await stage.member("other")
        let alone = try await publisher.publish(other)
        let recordings = stage.directory.file("state/recordings")
        try await waitUntil { try !FileManager.default.contentsOfDirectory(atPath: recordings).isEmpty }
        #expect(try await host.createRoom() == 1)
        #expect(try await host.join(1).status == 200)
        let events = try host.events(after: "1-0")
        var last: UInt64 = 0
        for session in 1...2 {
            let process = try await publisher.publish(host)
            if session == 1 {
                _ = try await events.change(to: .scheduled, key: .active)
                #expect(try await publisher.call(host, "start").status == 200)
            }
            last = try await events.change(to: .live, key: .live, after: last).id
            #expect(try await host.post("in session \(session)").status == 201)
            process.send(SIGINT)
            _ = await process.ending()
            last = try await events.change(to: .inactive, key: .liveWithoutFeed, after: last).id
        }
        let hidden = try await host.post("hidden")
        let number = try #require(hidden.json["messageId"]?.integer)
        #expect(try await host.client.call("POST", "/v2/members/me/channels/1/messages/\(number)/hide").status == 204)
        let ended = try await publisher.call(host, "end")
        #expect(ended.json["vodState"]?.string == "ARCHIVING" && ended.json["vodUrl"] == nil, "\(ended.text)")
        let line = await stage.log.wait(for: "archived")
        #expect((line["durationMs"]?.integer ?? 0) > 500)
        let link = try #require(try await host.room(1)["vodUrl"]?.string)
        let descriptor = try await CurlAnswer.get(link).json
        let chat = try await CurlAnswer.get(try #require(descriptor["subtitles"]?.elements?.first?["url"]?.string))
        #expect(try ChatLog(webVTT: chat.text).entries.map(\.text) == ["in session 1", "in session 2"])
        // Only the feed that goes on is still recorded.
        #expect(try FileManager.default.contentsOfDirectory(atPath: recordings).count == 1)
        // A room that the application's server ends is not archived.
        #expect(try await other.createRoom("terminated") == 2)
        while try await publisher.call(other, "start", 2).status != 200 { try #require(!alone.hasEnded) }
        let terminate = "/v2/apps/me/members/other/stream-key/force-terminate"
        #expect(try await stage.application.call("POST", terminate).status == 204)
        #expect(try await host.room(2)["vodState"]?.string == "NOT_ARCHIVED")
        _ = await alone.ending()
        stage.clock.advance(.seconds(60))
        await stage.server.stop()
        // What a server leaves is deleted by the next one at the latest.
        let again = try await LiveStage(in: stage.directory)
        #expect(try FileManager.default.contentsOfDirectory(atPath: recordings).isEmpty)
        #expect(try await again.member("host").room(1)["vodState"]?.string == "ARCHIVED")
        await again.server.stop()
    }

    // MARK: Ranges

    @Test func `any range of the media can be read, also over the borders of segments`() async throws {
        let room = try await EndedRoom([TestRecording(size: "640x360", isLarge: true)])
        let stage = try await LiveStage(in: room.directory)
        await stage.log.wait(for: "archived")
        let media = beside(try await link(try await stage.member("viewer"), room), "media.mp4")
        let whole = try await CurlAnswer.get(media)
        let (count, tag) = (whole.body.count, try #require(whole.fields["etag"]))
        #expect(count > 2_200_000 && whole.fields["accept-ranges"] == "bytes")
        let borders = [1_048_520, 1_048_520 + 1_048_560]
        let ranges: [(String, Range<Int>)] =
            borders.map { ("\($0 - 3)-\($0 + 2)", $0 - 3..<$0 + 3) } + borders.map { ("\($0)-\($0)", $0..<$0 + 1) } + [
                ("0-0", 0..<1), ("-5", count - 5..<count), ("1000000-", 1_000_000..<count),
                ("\(count - 1)-\(count + 9)", count - 1..<count), ("0-\(count - 1)", 0..<count),
            ]
        for (text, range) in ranges {
            let part = try await CurlAnswer.get(media, "-H", "Range: bytes=\(text)", "-H", "If-Range: \(tag)")
            #expect(part.status == 206 && part.body == Array(whole.body[range]), "\(text)")
            let field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
            #expect(part.fields["content-range"] == field && part.fields["etag"] == tag)
            #expect(part.fields["content-length"] == "\(range.count)")
        }
        let beyond = try await CurlAnswer.get(media, "-H", "Range: bytes=\(count)-")
        #expect(beyond.status == 416 && beyond.fields["content-range"] == "bytes */\(count)")
        let changed = try await CurlAnswer.get(media, "-H", "Range: bytes=1-2", "-H", "If-Range: \"other\"")
        #expect(changed.status == 200 && changed.body.count == count)
        for (arguments, status, length) in [([], 200, count), (["-H", "Range: bytes=5-9"], 206, 5)] {
            let client = LiveClient(port: Int(stage.server.port))
            let path = String(try #require(media.range(of: "/lectures/").map { media[$0.lowerBound...] }))
            let fields = arguments.count > 1 ? [arguments[1]] : []
            let head = try await client.call("HEAD", path, fields: fields)
            #expect(head.status == status && head.body.isEmpty && head.head.contains("Content-Length: \(length)"))
        }
        await stage.server.stop()
    }

    @Test func `many readers at once get the same bytes, and lists name the lecture as rooms do`() async throws {
        let room = try await EndedRoom([TestRecording(size: "320x180", isLarge: true)])
        let stage = try await LiveStage(in: room.directory)
        await stage.log.wait(for: "archived")
        let viewer = try await stage.member("viewer")
        let link = try await link(viewer, room)
        let media = beside(link, "media.mp4")
        let whole = try await CurlAnswer.get(media).body
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for reader in 0..<12 {
                group.addTask {
                    let start = reader * whole.count / 12
                    let part = try await CurlAnswer.get(media, "-r", "\(start)-")
                    return part.status == 206 && part.body == Array(whole[start...])
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        let list = try await stage.member("host").client.call("GET", "/v2/members/me/video-rooms").json["content"]
        let entry = try #require(list?.elements?.first)
        #expect(entry["vodState"]?.string == "ARCHIVED" && entry["vodArchivedAt"]?.string != nil)
        #expect(entry["vodUrl"]?.string?.hasSuffix("/si") == true && entry["vodUrl"]?.string != link)
        let parsed = try #require(VideoRoom(entry))
        #expect(parsed.archiveState == .archived && parsed.archiveURL == entry["vodUrl"]?.string)
        let byName = try await viewer.client.call("GET", "/v2/members/me/video-rooms/uuid/\(room.uuid)").json
        #expect(byName["vodUrl"]?.string == link)
        await stage.server.stop()
    }

    // MARK: Who may have it

    @Test func `a link is its member's, for a time, and ends with a ban, a member or the room`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let stage = try await LiveStage(in: room.directory) { $0.archives.mostReaders = 1 }
        await stage.log.wait(for: "archived")
        let (host, viewer) = (try await stage.member("host"), try await stage.member("viewer"))
        let link = try await link(viewer, room)
        let hosts = try await self.link(host, room)
        #expect(hosts != link)
        for file in ["si", "media.mp4", "chat.vtt"] {
            #expect(try await CurlAnswer.get(beside(link, file)).status == 200, "\(file)")
            #expect(try await CurlAnswer.get(beside(link, file), "-X", "POST", "-d", "").status == 405)
        }
        #expect(try await CurlAnswer.get(link).json["subtitles"] == nil, "nothing was said")
        for file in ["", "x", "../si", "%2e%2e/si", "si/"] {
            #expect(try await CurlAnswer.get(beside(link, file), "--path-as-is").status == 404, "\(file)")
        }
        let wrong = link.replacing(room.uuid, with: String(room.uuid.reversed()))
        #expect(try await CurlAnswer.get(wrong).json["errorCode"]?.string == "INVALID_LECTURE_LINK")
        let bans = "/v2/members/me/channels/\(room.id)/bans"
        #expect(try await host.client.call("POST", bans, #"{"appUserId":"viewer"}"#).status == 204)
        #expect(try await CurlAnswer.get(link).status == 403)
        #expect(try await viewer.room(Int(room.id))["vodUrl"] == nil)
        #expect(try await host.client.call("DELETE", "\(bans)/viewer").status == 204)
        #expect(try await CurlAnswer.get(link).status == 200)
        stage.clock.advance(.seconds(12 * 3600))
        #expect(try await CurlAnswer.get(link).status == 403)
        let later = try await self.link(try await stage.member("viewer"), room)
        #expect(try await CurlAnswer.get(later).status == 200)
        #expect(try await stage.application.call("DELETE", "/v2/apps/me/members/viewer").status == 204)
        #expect(try await CurlAnswer.get(later).status == 403)
        // The room goes, and the lecture with it.
        let own = try await self.link(try await stage.member("host"), room)
        let path = "/v2/members/me/video-rooms/\(room.id)"
        #expect(try await stage.member("host").client.call("DELETE", path).status == 204)
        #expect(try await CurlAnswer.get(own).status == 403)
        #expect(try room.files("archive").isEmpty && room.files("recordings").isEmpty)
        await stage.server.stop()
    }

    @Test func `more readers than permitted are asked to wait`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let stage = try await LiveStage(in: room.directory) { $0.archives.mostReaders = 0 }
        await stage.log.wait(for: "archived")
        let link = try await link(try await stage.member("viewer"), room)
        let busy = try await CurlAnswer.get(beside(link, "media.mp4"))
        #expect(busy.status == 503 && busy.fields["retry-after"] == "1")
        #expect(try await CurlAnswer.get(beside(link, "media.mp4"), "-I").status == 200)
        await stage.server.stop()
    }

    @Test func `licences are granted to members, refused to the banned, and withdrawn with the room`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let stage = try await LiveStage(in: room.directory) { $0.archives.userKey = "user-key" }
        await stage.log.wait(for: "archived")
        let host = try await stage.member("host")
        _ = try await stage.member("viewer")
        let secret = try String(contentsOfFile: room.directory.file("state/licence.key"), encoding: .utf8)
        let key = try VerificationKey(secret: SecretBytes(copying: Array(secret.utf8)))
        let url = "\(stage.server.url)/lectures/callback"
        func ask(_ user: String, _ kind: Int, _ content: String = "live-\(room.uuid)") async throws -> JSONValue {
            let session = kind == 3 ? #","session_key":"s-1","start_at":1800000000"# : ""
            let item = #"[{"kind":\#(kind),"media_content_key":"\#(content)","client_user_id":"\#(user)"\#(session)}]"#
            let answer = try await CurlAnswer.get(url, "--data-urlencode", "items=\(item)")
            #expect(answer.status == 200 && answer.fields["x-kollus-userkey"] == "user-key")
            let parts = answer.text.split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            let header = try JSONScanner.scan(try #require(Base64URL.bytes(parts[0])))
            #expect(header["alg"]?.string == "HS256" && header["typ"]?.string == "JWT")
            let signature = try #require(Base64URL.bytes(parts[2]))
            #expect(try key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8), .hs256))
            let payload = try JSONScanner.scan(try #require(Base64URL.bytes(parts[1])))
            return try #require(payload["data"]?.elements?.first)
        }
        let end = stage.clock.now.milliseconds / 1000 + 30 * 86_400
        #expect(try await ask("viewer", 1)["expiration_date"]?.integer == end)
        #expect(try await ask("viewer", 2)["result"]?.integer == 1)
        let check = try await ask("viewer", 3)
        #expect(check["result"]?.integer == 1 && check["expiration_date"]?.integer == end)
        #expect(check["session_key"]?.string == "s-1" && check["start_at"]?.integer == 1_800_000_000)
        #expect(try await ask("unknown", 1)["result"]?.integer == 0)
        for content in ["live-other", "other-\(room.uuid)", "live-"] {
            #expect(try await ask("viewer", 1, content)["result"]?.integer == 0, "\(content)")
        }
        let bans = "/v2/members/me/channels/\(room.id)/bans"
        #expect(try await host.client.call("POST", bans, #"{"appUserId":"viewer"}"#).status == 204)
        for kind in 1...3 {
            let refusal = try await ask("viewer", kind)
            #expect(refusal["result"]?.integer == 0 && refusal["message"]?.string?.contains("banned") == true)
        }
        for (body, status) in [("items=x", 400), ("", 400), ("items=" + String(repeating: "a", count: 70_000), 413)] {
            #expect(try await CurlAnswer.get(url, "-d", body).status == status)
        }
        #expect(try await CurlAnswer.get(url).status == 405)
        #expect(try await CurlAnswer.get(url, "-H", "Content-Type: text/plain", "-d", "items=[]").status == 400)
        // With its owner the room goes, and players are ordered to delete the lecture.
        #expect(try await stage.application.call("DELETE", "/v2/apps/me/members/host").status == 204)
        #expect(try await ask("viewer", 1)["result"]?.integer == 0)
        for kind in 2...3 {
            let order = try await ask("viewer", kind)
            #expect(order["content_delete"]?.integer == 1 && order["result"]?.integer == 1)
        }
        #expect(try room.files("archive").isEmpty)
        await stage.server.stop()
    }

    // MARK: What goes wrong

    @Test func `a damaged recording is kept with its reason, and can be archived when it is repaired`() async throws {
        let room = try await EndedRoom([TestRecording(), TestRecording()])
        let whole = try Data(contentsOf: URL(filePath: room.recording(1)))
        // Neither the container nor a packet is left.
        try Data(repeating: 0x55, count: whole.count).write(to: URL(filePath: room.recording(1)))
        let stage = try await LiveStage(in: room.directory)
        let line = await stage.log.wait(for: "archive_failed")
        #expect(line["message"]?.string?.hasPrefix("Recording 2: ") == true, "\(line.text)")
        let (host, viewer) = (try await stage.member("host"), try await stage.member("viewer"))
        let json = try await host.room(Int(room.id))
        #expect(json["vodState"]?.string == "FAILED_ARCHIVING" && json["vodUrl"] == nil)
        #expect(json["vodReason"]?.string == line["message"]?.string)
        #expect(try await viewer.room(Int(room.id))["vodReason"] == nil)
        #expect(try room.files("recordings").count == 2 && room.files("archive").isEmpty)
        // Only the application's server may try again.
        let path = "/v2/apps/me/video-rooms/\(room.id)/archive"
        #expect(try await host.client.call("POST", path).status == 401)
        #expect(try await stage.application.call("GET", path).status == 405)
        for id in ["99", "x", ""] {
            let other = "/v2/apps/me/video-rooms/\(id)/archive"
            #expect(try await stage.application.call("POST", other).code == "VIDEO_ROOM_NOT_FOUND", "\(id)")
        }
        #expect(try await retry(stage, room).json["vodState"]?.string == "ARCHIVING")
        await stage.log.wait(for: "archive_failed", count: 2)
        try whole.write(to: URL(filePath: room.recording(1)))
        #expect(try await retry(stage, room).status == 202)
        await stage.log.wait(for: "archived")
        #expect(try await retry(stage, room).code == "VIDEO_ROOM_VOD_STATE_NOT_FAILED_ARCHIVING")
        #expect(try await host.room(Int(room.id))["vodReason"] == nil)
        #expect(try room.files("recordings").isEmpty)
        await stage.server.stop()
    }

    private static let unjoinable: [(String, [TestRecording], String)] = [
        ("other sizes", [TestRecording(), TestRecording(size: "320x180")], "Recording 2: "),
        ("no such file", [TestRecording()], "Recording 1: "),
    ]

    @Test(arguments: 0..<2)
    func `recordings that cannot be joined are kept, with the one at fault`(_ place: Int) async throws {
        let (name, recordings, prefix) = Self.unjoinable[place]
        let room = try await EndedRoom(recordings)
        if place == 1 { try Disk.delete(room.recording(0)) }
        let stage = try await LiveStage(in: room.directory)
        let line = await stage.log.wait(for: "archive_failed")
        #expect(line["message"]?.string?.hasPrefix(prefix) == true, "\(name): \(line.text)")
        #expect(try room.files("archive").isEmpty && room.files("recordings").count == (place == 1 ? 0 : 2))
        await stage.server.stop()
        // It stays so when the server comes again.
        let again = try await LiveStage(in: room.directory)
        let state = try await again.member("host").room(Int(room.id))["vodState"]
        #expect(state?.string == "FAILED_ARCHIVING" && again.log.events.isEmpty)
        await again.server.stop()
    }

    @Test func `a recording that was cut off gives what it has`() async throws {
        let room = try await EndedRoom([TestRecording(seconds: 4)])
        let bytes = try Data(contentsOf: URL(filePath: room.recording(0)))
        try bytes.prefix(bytes.count / 2).write(to: URL(filePath: room.recording(0)))
        let stage = try await LiveStage(in: room.directory)
        let length = await stage.log.wait(for: "archived")["durationMs"]?.integer ?? 0
        #expect((500..<3900).contains(length), "\(length)")
        await stage.server.stop()
    }

    @Test func `a process that is killed is started again, and after three times no more until it is asked for`()
        async throws
    {
        let room = try await EndedRoom([TestRecording()])
        let kills = Guarded(3)
        let stage = try await LiveStage(in: room.directory) { options in
            options.archives.joinStarted = { process in
                let isNext = kills.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if isNext { kill(process, SIGKILL) }
            }
        }
        let line = await stage.log.wait(for: "archive_failed")
        #expect(line["message"]?.string?.contains("3 times") == true)
        #expect(stage.log.events.filter { $0 == "archiving" }.count == 3)
        #expect(try room.files("archive").isEmpty && room.files("recordings").count == 1)
        kills.withLock { $0 = 2 }
        #expect(try await retry(stage, room).status == 202)
        await stage.log.wait(for: "archived")
        #expect(stage.log.events.filter { $0 == "archive_interrupted" }.count == 4)
        await stage.server.stop()
    }

    @Test func `a room that is deleted meanwhile leaves nothing, and the next one is archived`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let first = Guarded(true)
        let stage = try await LiveStage(in: room.directory) { options in
            options.archives.joinStarted = { process in
                let isFirst = first.withLock { first in
                    defer { first = false }
                    return first
                }
                if isFirst { kill(process, SIGSTOP) }
            }
        }
        await stage.log.wait(for: "archiving")
        let host = try await stage.member("host")
        #expect(try await host.client.call("DELETE", "/v2/members/me/video-rooms/\(room.id)").status == 204)
        #expect(try room.files("recordings").isEmpty && room.files("archive").isEmpty)
        await stage.server.stop()
        #expect(!stage.log.events.contains("archived") && !stage.log.events.contains("archive_failed"))
    }

    @Test func `a server that stops ends the process, and the next one makes the lecture`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let process = Guarded<Int32>(0)
        let stage = try await LiveStage(in: room.directory) { options in
            options.archives.joinStarted = { number in
                kill(number, SIGSTOP)
                process.withLock { $0 = number }
            }
        }
        await stage.log.wait(for: "archiving")
        await stage.server.stop()
        #expect(!ProcessList.isRunning(process.withLock(\.self)))
        #expect(try room.files("recordings").count == 1 && room.files("archive").isEmpty)
        let again = try await LiveStage(in: room.directory)
        await again.log.wait(for: "archived")
        #expect(try room.files("recordings").isEmpty)
        await again.server.stop()
    }

    @Test func `without space for the lecture the recordings are kept`() async throws {
        let room = try await EndedRoom([TestRecording(size: "320x180", isLarge: true)])
        // The shell's limit of the file size, in blocks of 512 bytes, is that of the process it becomes.
        let limited = try room.directory.write(
            "#!/bin/sh\nulimit -f 200\nexec \(Places.builtProduct("lecture-live-server")) \"$@\"\n", to: "limited")
        try Disk.permit(limited, 0o700)
        let stage = try await LiveStage(in: room.directory) { $0.archives.joinProgram = limited }
        let line = await stage.log.wait(for: "archive_failed")
        #expect(line["message"]?.string == "The media cannot be written.", "\(line.text)")
        #expect(try room.files("recordings").count == 1 && room.files("archive").isEmpty)
        await stage.server.stop()
        // With space again, and asked once more.
        let again = try await LiveStage(in: room.directory)
        #expect(try await retry(again, room).status == 202)
        await again.log.wait(for: "archived")
        await again.server.stop()
    }

    @Test func `a lecture that was changed, or is under another archive key, is reported and not sent`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let stage = try await LiveStage(in: room.directory)
        await stage.log.wait(for: "archived")
        let media = beside(try await link(try await stage.member("viewer"), room), "media.mp4")
        let whole = try Data(contentsOf: URL(filePath: room.sealed))
        var changed = whole
        changed[whole.count - 20] ^= 1
        try changed.write(to: URL(filePath: room.sealed))
        // The length is in the head already; the connection is cut.
        await #expect(throws: StageFailure.self) { try await CurlAnswer.get(media) }
        #expect(await stage.log.wait(for: "archive_unreadable")["code"]?.string == "damaged")
        try whole.dropLast().write(to: URL(filePath: room.sealed))
        #expect(try await CurlAnswer.get(media).status == 500)
        try whole.write(to: URL(filePath: room.sealed))
        #expect(try await CurlAnswer.get(media).status == 200)
        await stage.server.stop()
        try Disk.delete(room.directory.file("state/archive.key"))
        let again = try await LiveStage(in: room.directory)
        let other = beside(try await link(try await again.member("viewer"), room), "media.mp4")
        #expect(try await CurlAnswer.get(other).json["errorCode"]?.string == "INTERNAL_SERVER_ERROR")
        let line = await again.log.wait(for: "request_failed")
        #expect(line["code"]?.string == "damaged" && line["message"]?.string?.contains("another archive key") == true)
        let key = try String(contentsOfFile: room.directory.file("state/archive.key"), encoding: .utf8)
        #expect(!again.log.text.contains(key))
        await again.server.stop()
    }
}

/// Broadcasters of a test picture and a tone.
struct Publisher {
    private let stage: LiveStage

    init(_ stage: LiveStage) { self.stage = stage }

    /// Starts to publish with a member's key.
    func publish(_ member: StageMember) async throws -> ChildProcess {
        let json = try await member.client.call("GET", "/v2/members/me/stream-key").json
        guard let key = StreamKey(json) else { throw StageFailure(description: json.text) }
        return try ChildProcess(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc=size=160x90:rate=10", "-f", "lavfi",
                "-i", "sine", "-c:v", "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p", "-c:a",
                "aac", "-f", "flv", key.publishURL,
            ])
    }

    /// Starts or ends a room.
    func call(_ member: StageMember, _ word: String, _ room: Int = 1) async throws -> LiveAnswer {
        try await member.client.call("POST", "/v2/members/me/video-rooms/\(room)/\(word)")
    }
}
