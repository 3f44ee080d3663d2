import Foundation
import LectureFormats
import LectureKit
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveOffline

/// The chat that is kept with a lecture, from a real gateway.
@Suite(.timeLimit(.minutes(1)))
struct KeptChatNetTests {
    private static let log = ChatLog(entries: [
        ChatLog.Entry(
            id: 3, position: .seconds(12), sentAt: Timestamp(milliseconds: 1_764_320_400_000), origin: .member,
            userID: "kim", userName: "Kim", text: "What is a group?\n\n<b>Is that so?</b>"),
        ChatLog.Entry(
            id: 9, position: .seconds(75), sentAt: Timestamp(milliseconds: 1_764_320_500_000), origin: .app,
            text: "The room closes in five minutes."),
    ])

    /// Keeps a lecture whose gateway names these subtitles, and gives its chat.
    private func chat(_ subtitles: [(name: String, file: String, bytes: [UInt8])], seals: Bool) async throws -> ChatLog?
    {
        let (directory, web) = (try TemporaryDirectory(), try TemporaryDirectory())
        for subtitle in subtitles { try web.write(subtitle.bytes, to: subtitle.file) }
        let nginx = try await NginxOrigin.start(serving: web.path)
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        var writer = JSONWriter()
        writer.array { writer in
            for subtitle in subtitles {
                writer.object { writer in
                    writer.member("name", subtitle.name)
                    writer.member("language", "und")
                    writer.member("url", "\(nginx.http)/\(subtitle.file)")
                }
            }
        }
        let list = String(decoding: writer.bytes, as: UTF8.self)
        let query = try #require(list.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.reserveBytes = 1 << 20
        configuration.deviceDirectory = directory.file("device")
        if seals { configuration.seal = .always }
        let manager = try LectureManager(configuration)
        let link = try await sandbox.link(key: "bytes-64K-1")
        let key = try await manager.downloads.enqueue(DownloadRequest(url: "\(link)&json.subtitles=\(query)"))
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(50)))
        let content = try #require(try await manager.contents.list().first)
        #expect(content.state == .completed, "\(content) \(key)")
        do {
            let chat = try await manager.contents.chat(of: content.key)
            await manager.close()
            return chat
        } catch {
            await manager.close()
            throw error
        }
    }

    @Test(arguments: [false, true]) func `a chat is kept with its lecture, and read as it was`(seals: Bool) async throws
    {
        let korean = Array("WEBVTT\n\n00:01.000 --> 00:02.000\n안녕하세요\n".utf8)
        let kept = try await chat(
            [("한국어", "ko.vtt", korean), ("Chat", "chat.vtt", Array(Self.log.webVTT.utf8))], seals: seals)
        #expect(kept == Self.log)
        var replay = ChatReplay(try #require(kept))
        #expect(replay.moved(to: .seconds(20)).map(\.id) == [3] && replay.moved(to: .seconds(80)).map(\.id) == [9])
    }

    @Test func `subtitles of another name, and files that are no WebVTT, are no chat`() async throws {
        let cases: [[(String, String, [UInt8])]] = [
            [], [("chat", "a.vtt", Array(Self.log.webVTT.utf8))],
            [("Chat", "b.vtt", Array("1\n00:00:01,000 --> 00:00:02,000\nSubRip\n".utf8))],
            [("Chat", "c.vtt", Array("WEBVTT\n\n".utf8) + [0xFF, 0xFE])],
        ]
        for subtitles in cases {
            let kept = try await chat(subtitles.map { (name: $0.0, file: $0.1, bytes: $0.2) }, seals: false)
            #expect(kept == nil, "\(subtitles.map(\.1))")
        }
    }

    @Test func `a lecture that is not there has no chat`() async throws {
        let directory = try TemporaryDirectory()
        let manager = try LectureManager(LectureConfiguration(storeDirectory: directory.file("store")))
        let key = try ContentKey("none")
        await #expect(throws: LectureError(.unknownContent, detail: "none")) {
            try await manager.contents.chat(of: key)
        }
        await manager.close()
    }
}

/// Messages in time with a player that plays on, jumps and repeats.
struct ReplayWalkTests {
    @Test func `each message is shown once for each time that its place is passed`() {
        var random = SeededGenerator(seed: 6)
        let entries = (1...300).map { id in
            ChatLog.Entry(
                id: UInt64(id), position: .milliseconds(Int64.random(in: 0...600_000, using: &random)),
                sentAt: Timestamp(milliseconds: 1_764_320_400_000), origin: .member, text: "\(id)")
        }
        let log = ChatLog(entries: entries.shuffled(using: &random))
        #expect(log.entries.map(\.position) == entries.map(\.position).sorted())
        var (replay, place, shown) = (ChatReplay(log), Duration.zero, 0)
        var expected = log.entries.count { $0.position == .zero }
        shown += replay.moved(to: .zero).count
        for _ in 0..<2000 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                place = .milliseconds(Int64.random(in: 0...600_000, using: &random))
                replay.jumped(to: place)
            } else {
                let next = place + .milliseconds(Int64.random(in: 0...2_000, using: &random))
                let passed = replay.moved(to: next)
                expected += log.entries.count { $0.position > place && $0.position <= next }
                shown += passed.count
                #expect(passed.allSatisfy { $0.position > place && $0.position <= next })
                place = next
            }
            let before = replay.latest(5)
            #expect(before.allSatisfy { $0.position <= place } && before.count <= 5)
            #expect(before.last == log.entries.last { $0.position <= place })
        }
        #expect(shown == expected)
    }
}
