import Foundation
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureLoopback

/// Adaptive lectures for players that are not ours.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct AdaptiveNetTests {
    /// A store, and a server of streams.
    private struct Hall {
        let directory: TemporaryDirectory
        let streams: TestStreams
        let sandbox: SandboxOrigin?
        let origin: NginxOrigin
        let manager: LectureManager
        let server: LoopbackServer

        init(_ policy: CallbackPolicy? = nil, seal: SealPolicy = .licensed, serving path: String? = nil) async throws {
            (directory, streams) = (try TemporaryDirectory(), try await TestStreams.shared.value)
            origin = try await streams.serve(path)
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            (configuration.reserveBytes, configuration.maxAttempts, configuration.seal) = (1 << 20, 1, seal)
            configuration.deviceDirectory = directory.file("device")
            if let policy {
                let sandbox = try await SandboxOrigin.start(["--no-https", "--licensed"])
                try await sandbox.set(policy: policy)
                configuration.rights.keys = [.init(id: sandbox.drmKeyID, place: .secret(sandbox.drmKeyFile))]
                configuration.rights.userKey = sandbox.drmKeyID
                self.sandbox = sandbox
            } else {
                sandbox = nil
            }
            manager = try LectureManager(configuration)
            server = try LoopbackServer(manager)
        }

        /// Downloads a lecture; under a licence where the server has a policy.
        func keep(_ name: String, _ change: (inout StreamSelection) -> Void = { _ in }) async throws -> ContentKey {
            var url = "\(origin.http)/\(name)/main.m3u8"
            if let sandbox {
                let licence = #"{"callback_url":"\#(sandbox.drmCallback)","key_id":"\#(sandbox.drmKeyID)"}"#
                let text = #"{"version":1,"media_content_key":"\#(name)","media":{"url":"\#(url)"},"drm":\#(licence)}"#
                let place = streams.directory.file("i")
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                _ = try streams.directory.write(text, to: "i/\(name)")
                url = "\(origin.http)/i/\(name)"
            }
            var request = DownloadRequest(url: url)
            request.key = try ContentKey(name)
            var selection = StreamSelection()
            change(&selection)
            request.selection = selection
            let key = try await manager.downloads.enqueue(request)
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            return key
        }

        func end() async {
            await server.stop()
            await manager.close()
            await origin.stop()
            await sandbox?.stop()
        }
    }

    private static func beside(_ url: String, _ name: String) -> String {
        "\(url.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))/\(name)"
    }

    @Test(arguments: [SealPolicy.licensed, .always])
    func `frames are those of the source, whatever it is made of`(seal: SealPolicy) async throws {
        let hall = try await Hall(seal: seal)
        for kind in TestStreams.Kind.allCases {
            let key = try await hall.keep(kind.rawValue) { $0.subtitleLanguages = kind == .subtitles ? ["en"] : [] }
            #expect(try await hall.manager.contents.find(key)?.state == .completed, "\(kind)")
            let play = try await hall.server.open(.lecture(key))
            #expect(play.url.hasSuffix("/main.m3u8"))
            let (shown, meant) = (
                try await TestStreams.frames(play.url),
                try await TestStreams.frames("\(hall.origin.http)/\(kind)/main.m3u8")
            )
            #expect(shown == meant && shown.split(separator: "\n").count > 150, "\(kind)")
            await play.close()
        }
        await hall.end()
    }

    @Test func `playlists, segments and keys are answered like media`() async throws {
        let hall = try await Hall()
        let play = try await hall.server.open(.lecture(try await hall.keep("aes")))
        let list = try await Curl.get(play.url)
        #expect(list.status == 200 && list.head["content-type"] == "application/vnd.apple.mpegurl")
        #expect(list.head["cache-control"] == "no-store" && list.text.hasPrefix("#EXTM3U"))
        let names = list.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        let segment = Self.beside(play.url, names[1])
        let source = try Data(contentsOf: URL(filePath: hall.streams.directory.file("aes/main1.ts")))
        let whole = try await Curl.get(segment)
        #expect(whole.body == source && whole.head["content-type"] == "video/mp2t" && names.count == 5)
        for (text, range) in [("0-9", 0..<10), ("-16", source.count - 16..<source.count)] {
            let part = try await Curl.get(segment, "-r", text)
            #expect(part.status == 206 && part.body == source[range], "\(text)")
        }
        let beyond = try await Curl.get(segment, "-r", "\(source.count)-")
        #expect(beyond.status == 416 && beyond.head["content-range"] == "bytes */\(source.count)")
        let head = try await Curl.get(segment, "-I")
        #expect(head.status == 200 && head.body.isEmpty && head.head["content-length"] == "\(source.count)")
        let key = try #require(list.text.split(separator: "\"").first { $0.hasSuffix(".key") }.map(String.init))
        let secret = try await Curl.get(Self.beside(play.url, key))
        #expect(Array(secret.body) == TestStreams.key && secret.head["content-type"] == "application/octet-stream")
        let token = play.url.split(separator: "/")[2]
        let base = "http://127.0.0.1:\(hall.server.port)"
        for url in ["\(base)/\(token)", "\(base)/\(token)/", "\(base)/\(token)/99.ts", "\(base)/\(token)/1.m3u8"]
            + ["\(base)/\(token)/main.m3u8/x", "\(base)/\(token)/%2e%2e/main.m3u8", "\(base)/x/main.m3u8"]
        {
            #expect(try await Curl.get(url, "--path-as-is").status == 404, "\(url)")
        }
        #expect(try await Curl.get(segment, "-H", "Host: evil.example").status == 421)
        #expect(try await Curl.get(segment, "-H", "Origin: https://evil.example").status == 403)
        await play.close()
        #expect(try await Curl.get(segment).status == 404)
        await hall.end()
    }

    @Test func `a licensed lecture is counted once, with its first segment, and for one program`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let hall = try await Hall(policy)
        let key = try await hall.keep("audio")
        func left() async throws -> Int? { try await hall.manager.licences.status(of: key)?.countLeft }
        let play = try await hall.server.open(.lecture(key))
        for name in ["main.m3u8", "1.m3u8", "2.m3u8"] {
            #expect(try await Curl.get(Self.beside(play.url, name)).status == 200)
        }
        let list = try await Curl.get(Self.beside(play.url, "1.m3u8")).text
        let name = try #require(list.split(separator: "\n").first { !$0.hasPrefix("#") }.map(String.init))
        let segment = Self.beside(play.url, name)
        #expect(try await Curl.get(segment, "-I").status == 200)
        #expect(try await left() == 2, "neither playlists nor heads are a play")
        let source = try Data(contentsOf: URL(filePath: hall.streams.directory.file("audio/s00.ts")))
        #expect(try await Curl.get(segment).body == source)
        #expect(try await left() == 1)
        let reading = try Curl.start("--limit-rate", "1k", segment)
        try await reading.wait(for: .output) { $0.count > 500 }
        #expect(try await Curl.get(Self.beside(play.url, "main.m3u8")).status == 403, "another program")
        reading.send(SIGKILL)
        _ = await reading.ending()
        #expect(try await left() == 1)
        await play.close()
        // Nothing of it lies on the disk in clear.
        await #expect(throws: LectureError(.isSealed)) { try await hall.manager.contents.path(of: key) }
        await #expect(throws: LectureError(.isSealed)) { try await hall.manager.contents.requireUnsealed(key) }
        let clear = try await ChildProcess.run("/bin/grep", ["-rlaF", "Lavf", hall.directory.file("store/media")])
        #expect(clear.status == 1, "\(clear.text)")
        await hall.end()
    }

    @Test func `what is still to come ends the playlists, and what is missing is a gap`() async throws {
        let place = try TemporaryDirectory()
        let streams = try await TestStreams.shared.value
        try FileManager.default.copyItem(atPath: streams.directory.file("ts"), toPath: place.file("ts"))
        try FileManager.default.moveItem(atPath: place.file("ts/main2.ts"), toPath: place.file("later"))
        let hall = try await Hall(serving: place.path)
        let key = try await hall.keep("ts")
        #expect(try await hall.manager.contents.find(key)?.state == .failed)
        let play = try await hall.server.open(.lecture(key))
        let before = try await Curl.get(play.url).text
        #expect(before.contains("TYPE:EVENT") && !before.contains("ENDLIST"))
        #expect(before.split(separator: "\n").count { !$0.hasPrefix("#") } == 2)
        await #expect(throws: LectureError(.notComplete)) { try await hall.manager.contents.read(key) { _ in } }
        // Kept without it.
        _ = try await hall.keep("ts") { $0.allowsGaps = true }
        #expect(try await hall.manager.contents.find(key)?.state == .completed)
        let gaps = try await Curl.get(play.url).text
        #expect(gaps.contains("#EXT-X-GAP") && gaps.contains("ENDLIST") && !gaps.contains("TYPE:EVENT"))
        let names = gaps.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        #expect(names.count == 5)
        for (index, name) in names.enumerated() {
            #expect(try await Curl.get(Self.beside(play.url, name)).status == (index == 2 ? 404 : 200), "\(name)")
        }
        await play.close()
        await hall.end()
    }

    @Test func `damage ends a play with its reason`() async throws {
        let hall = try await Hall()
        let key = try await hall.keep("fmp4")
        let play = try await hall.server.open(.lecture(key))
        let files = try FileManager.default.subpathsOfDirectory(atPath: hall.directory.file("store/media"))
        let file = URL(
            filePath: hall.directory.file("store/media/\(try #require(files.first { $0.hasSuffix(".m4s") }))"))
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let list = try await Curl.get(play.url).text
        for name in list.split(separator: "\n").filter({ $0.hasSuffix(".m4s") }) {
            _ = try await Curl.get(Self.beside(play.url, String(name)))
        }
        #expect(await play.ending() == .failed(LectureError(.damaged, detail: key.text)))
        await hall.end()
    }
}
