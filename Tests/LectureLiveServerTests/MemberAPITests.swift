import Foundation
import LectureFormats
import LectureLive
import LectureLiveServer
import LectureModel
import LectureTestSupport
import Testing

/// The member API and the application's, without a feed.
struct MemberAPITests {
    @Test func `requests of the application need the key and its secret`() async throws {
        let stage = try await LiveStage()
        let body = #"{"appUserId":"kim"}"#
        let cases: [(String?, Int, String?)] = [
            (nil, 401, "EMPTY_APP_CREDENTIALS"), ("Bearer x", 401, "INVALID_APP_CREDENTIALS"),
            ("Basic !!", 401, "INVALID_APP_CREDENTIALS"),
            (LiveStage.basic("academy:wrong"), 401, "INVALID_APP_CREDENTIALS"),
            (LiveStage.basic(LiveStage.credentials), 200, nil),
        ]
        for (field, status, code) in cases {
            let client = LiveClient(port: Int(stage.server.port), authorization: field)
            let answer = try await client.call("POST", "/v2/apps/me/members/login", body)
            #expect((answer.status, answer.code) == (status, code), "\(field ?? "none")")
        }
        await stage.server.stop()
    }

    @Test func `a login says what is wrong with it`() async throws {
        let stage = try await LiveStage()
        let long = String(repeating: "x", count: 51)
        let many = (0..<11).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
        let cases: [(String, Int, String?)] = [
            ("", 400, "EMPTY_APP_USER_ID"), ("{}", 400, "EMPTY_APP_USER_ID"),
            (#"{"appUserId":""}"#, 400, "EMPTY_APP_USER_ID"),
            (#"{"appUserId":"a b"}"#, 400, "INVALID_APP_USER_ID_FORMAT"),
            (#"{"appUserId":"\#(long)"}"#, 400, "INVALID_APP_USER_ID_FORMAT"),
            (#"{"appUserId":".."}"#, 400, "INVALID_APP_USER_ID_FORMAT"),
            (#"{"appUserId":7}"#, 400, "INVALID_HTTP_MESSAGE_BODY"), ("[1]", 400, "INVALID_HTTP_MESSAGE_BODY"),
            (#"{"appUserId":"#, 400, "INVALID_HTTP_MESSAGE_BODY"),
            (#"{"appUserId":"a","customType":"\#(long)"}"#, 400, "INVALID_CUSTOM_DATA"),
            (#"{"appUserId":"a","customData":{\#(many)}}"#, 400, "INVALID_CUSTOM_DATA"),
            (#"{"appUserId":"a","customData":{"k":"\#(long)"}}"#, 400, "INVALID_CUSTOM_DATA"),
            (#"{"appUserId":"a-1.b_c@d","customData":{"k":"v"},"email":"a@b.example"}"#, 200, nil),
            (#"{"appUserId":"\#(String(repeating: "x", count: 70_000))"}"#, 413, "BODY_TOO_LONG"),
        ]
        for (body, status, code) in cases {
            let answer = try await stage.application.call("POST", "/v2/apps/me/members/login", body)
            #expect((answer.status, answer.code) == (status, code), "\(body.prefix(80))")
        }
        await stage.server.stop()
    }

    @Test func `paths, methods and numbers that do not exist are refused`() async throws {
        let stage = try await LiveStage()
        let kim = try await stage.member("kim")
        _ = try await kim.createRoom()
        let cases: [(String, String, Int, String)] = [
            ("GET", "/", 404, "NOT_FOUND"), ("GET", "/v2/members/me/nothing", 404, "NOT_FOUND"),
            ("GET", "/v2/members/me/video-rooms/9", 404, "VIDEO_ROOM_NOT_FOUND"),
            ("GET", "/v2/members/me/video-rooms/x", 404, "VIDEO_ROOM_NOT_FOUND"),
            ("GET", "/v2/members/me/video-rooms/-1", 404, "VIDEO_ROOM_NOT_FOUND"),
            ("GET", "/v2/members/me/video-rooms/99999999999999999999", 404, "VIDEO_ROOM_NOT_FOUND"),
            ("PUT", "/v2/members/me/video-rooms/1", 405, "UNSUPPORTED_HTTP_METHOD"),
            ("DELETE", "/v2/members/me/stream-key", 405, "UNSUPPORTED_HTTP_METHOD"),
            ("POST", "/v2/members/me/video-rooms", 400, "VIDEO_ROOM_TYPE_NOT_BROADCAST_RTMP"),
            ("POST", "/v2/members/me/video-rooms/9/end", 404, "VIDEO_ROOM_NOT_FOUND"),
            ("GET", "/v2/members/me/video-rooms?page=-1", 400, "INVALID_PARAMETER"),
            ("GET", "/v2/members/me/video-rooms?pageSize=101", 400, "INVALID_PARAMETER"),
            ("GET", "/v2/members/me/video-rooms?sortBy=TITLE;DROP", 400, "INVALID_PARAMETER"),
            ("GET", "/v2/members/me/event-sources", 400, "CHANNEL_NOT_JOINED"),
            ("GET", "/v2/members/me/channels/9/messages", 404, "CHANNEL_NOT_FOUND"),
            ("GET", "/live/1/1/1/9999999999/x/index.m3u8", 403, "INVALID_PLAYBACK_LINK"),
            ("POST", "/hooks/guess/publish", 404, "NOT_FOUND"),
        ]
        for (method, path, status, code) in cases {
            let answer = try await kim.client.call(method, path)
            #expect((answer.status, answer.code) == (status, code), "\(method) \(path)")
        }
        for token in ["", "x", kim.streamingToken, kim.token + "x", String(kim.token.dropLast())] {
            let answer = try await stage.application.bearing(token).call("GET", "/v2/members/me/stream-key")
            #expect((answer.status, answer.code) == (401, "INVALID_ACCESS_TOKEN"), "a token of \(token.count)")
        }
        await stage.server.stop()
    }

    @Test func `an access token ends after its lifetime, and with its member`() async throws {
        let stage = try await LiveStage { $0.tokenLifetime = .seconds(60) }
        let (kim, lee) = (try await stage.member("kim"), try await stage.member("lee"))
        func status(_ member: StageMember) async throws -> Int {
            try await member.client.call("GET", "/v2/members/me/stream-key").status
        }
        stage.clock.advance(.seconds(59))
        #expect(try await status(kim) == 200)
        #expect(try await stage.application.call("DELETE", "/v2/apps/me/members/lee").status == 204)
        #expect(try await status(lee) == 401)
        #expect(try await stage.application.call("DELETE", "/v2/apps/me/members/lee").code == "MEMBER_NOT_FOUND")
        stage.clock.advance(.seconds(1))
        #expect(try await status(kim) == 401)
        #expect(try await status(stage.member("kim")) == 200)
        await stage.server.stop()
    }

    @Test func `rooms are made, listed, renamed and deleted`() async throws {
        let stage = try await LiveStage()
        let (kim, lee) = (try await stage.member("kim"), try await stage.member("lee"))
        for number in 1...5 {
            let id = try await kim.createRoom("Lecture \(number)")
            #expect(id == number)
            stage.clock.advance(.seconds(1))
            // One broadcast at a time.
            let again = #"{"type":"BROADCAST_RTMP"}"#
            let second = try await kim.client.call("POST", "/v2/members/me/video-rooms", again)
            #expect((second.status, second.code) == (400, "VIDEO_ROOM_ALREADY_OPEN"))
            #expect(try await lee.client.call("DELETE", "/v2/members/me/video-rooms/\(id)").status == 404)
            if number == 5 { break }
            let deleted = try await stage.application.call(
                "POST", "/v2/apps/me/members/kim/stream-key/force-terminate")
            #expect(deleted.status == 204)
        }
        func titles(_ query: String) async throws -> [String] {
            let page = try await kim.client.call("GET", "/v2/members/me/video-rooms\(query)").json
            return page["content"]?.elements?.compactMap { $0["title"]?.string } ?? []
        }
        #expect(try await titles("?sortBy=CREATED_AT_ASC&pageSize=2&page=1") == ["Lecture 3", "Lecture 4"])
        #expect(try await titles("?pageSize=2") == ["Lecture 5", "Lecture 4"])
        #expect(try await titles("?videoRoomState=SCHEDULED") == ["Lecture 5"])
        #expect(try await titles("?videoRoomState=CANCELLED").count == 4)
        let page = try await kim.client.call("GET", "/v2/members/me/video-rooms?pageSize=2&page=2").json
        #expect(page["totalElements"]?.integer == 5 && page["totalPages"]?.integer == 3)
        #expect(page["last"]?.bool == true && page["first"]?.bool == false && page["number"]?.integer == 2)
        let path = "/v2/members/me/video-rooms/5"
        #expect(try await lee.client.call("PATCH", path, #"{"title":"x"}"#).status == 404)
        let renamed = try await kim.client.call("PATCH", path, #"{"title":"대수학 <b>"}"#)
        #expect(renamed.json["title"]?.string == "대수학 <b>")
        #expect(try await titles("?sortBy=LAST_MODIFIED_AT_DESC&pageSize=1") == ["대수학 <b>"])
        let uuid = try #require(renamed.json["uuid"]?.string)
        let same = try await lee.client.call("GET", "/v2/members/me/video-rooms/uuid/\(uuid)")
        #expect(same.json["id"]?.integer == 5)
        #expect(try await kim.client.call("DELETE", path).status == 204)
        #expect(try await kim.client.call("GET", path).status == 404)
        #expect(try await titles("?videoRoomState=SCHEDULED").isEmpty)
        #expect(try await lee.client.call("GET", "/v2/members/me/video-rooms").json["empty"]?.bool == true)
        await stage.server.stop()
    }

    @Test func `a second server of the same store, and a store of a newer program, are refused`() async throws {
        let stage = try await LiveStage()
        var options = LiveOptions(
            stateDirectory: stage.directory.file("state"),
            credentials: try #require(LiveCredentials(LiveStage.credentials)))
        options.rtmpPort = nil
        let refused = await #expect(throws: LectureError.self) { try await LiveServer.start(options) }
        #expect(refused?.code == .storeBusy)
        await stage.server.stop()
        let store = stage.directory.file("state/live.sqlite")
        let newer = try await ChildProcess.run(
            Places.command("sqlite3"),
            [
                store,
                "INSERT INTO migration VALUES ('0009_of_tomorrow', '\(String(repeating: "0", count: 64))', 1); "
                    + "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE);",
            ])
        #expect(newer.status == 0, "\(newer.errorText)")
        let before = try Data(contentsOf: URL(filePath: store))
        let later = await #expect(throws: LectureError.self) { try await LiveServer.start(options) }
        #expect(later?.code == .storeNewer)
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
    }

    @Test func `no secret is in the store, and only its owner may read it`() async throws {
        let stage = try await LiveStage()
        let kim = try await stage.member("kim")
        let key = try await kim.client.call("GET", "/v2/members/me/stream-key")
        #expect(key.json["streamKeyState"]?.string == "INACTIVE" && key.json["streamKey"]?.string?.count == 43)
        await stage.server.stop()
        let state = stage.directory.file("state")
        for name in try FileManager.default.contentsOfDirectory(atPath: state) {
            let facts = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")
            let mode = try #require(facts[.posixPermissions] as? NSNumber).intValue
            #expect(mode & 0o077 == 0, "\(name) \(String(mode, radix: 8))")
            guard let bytes = try? Data(contentsOf: URL(filePath: "\(state)/\(name)")) else { continue }
            for secret in [kim.token, kim.streamingToken, LiveStage.credentials] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
