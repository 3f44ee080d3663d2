import Foundation
import LectureHTTP
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

@testable import LectureLiveServer

/// What nginx makes files of, however long this program takes to answer its hooks.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct RecordingStartTests {
    /// Answers the hooks of nginx; the one that asks about players' application only on request.
    private final class Hooks: HTTPHandler {
        let calls: AsyncStream<String>
        private let report: AsyncStream<String>.Continuation
        private let target: String
        private let held = Guarded<[HTTPExchange]>([])

        init(target: String) {
            (calls, report) = AsyncStream.makeStream(of: String.self)
            self.target = target
        }

        func handle(_ exchange: HTTPExchange) {
            let call = exchange.head.path.split(separator: "/").last.map(String.init) ?? ""
            switch call {
            case "publish": exchange.answer(HTTPAnswer(302, [("Location", target)]))
            case "egress": held.withLock { $0.append(exchange) }
            default: exchange.answer(HTTPAnswer(200))
            }
            report.yield(call)
        }

        /// Permits what was held.
        func permit() {
            for exchange in held.withLock({ $0 }) { exchange.answer(HTTPAnswer(200)) }
        }
    }

    /// The times of the pictures in a file, from the first one, in milliseconds.
    private func times(_ path: String) async throws -> [Int] {
        let words = ["-v", "error", "-select_streams", "v", "-show_entries", "packet=dts_time", "-of", "csv=p=0", path]
        let ending = try await ChildProcess.run(Places.command("ffprobe"), words)
        let times = ending.text.split(whereSeparator: \.isWhitespace).compactMap { word in
            Double(word.split(separator: ",").first ?? "").map { Int(($0 * 1000).rounded()) }
        }
        return times.map { $0 - (times.first ?? 0) }
    }

    @Test func `a recording begins with the first fragment, also while a hook is not answered`() async throws {
        let directory = try TemporaryDirectory.inMemory()
        for name in ["run", "hls", "recordings"] {
            try FileManager.default.createDirectory(
                atPath: directory.file(name), withIntermediateDirectories: false)
        }
        let port = try FreePort.find("127.0.0.1")
        let hooks = Hooks(target: "rtmp://127.0.0.1:\(port)/files-secret/name")
        let http = try HTTPServer(HTTPServerOptions())
        try http.serve(by: hooks)
        let setup = NginxServer.Setup(
            program: try Places.command("nginx"), modules: "/usr/lib/nginx/modules", directory: directory.file("run"),
            fragments: directory.file("hls"), recordings: directory.file("recordings"), address: "127.0.0.1",
            port: port, hooks: "http://127.0.0.1:\(http.port)/hooks", filesApplication: "files-secret",
            fragmentMilliseconds: 500)
        let nginx = NginxServer(setup) {}
        try await nginx.start()
        let feed = try LiveFeed.publish("rtmp://127.0.0.1:\(port)/live/key")
        var calls = hooks.calls.makeAsyncIterator()
        while let call = await calls.next(), call != "egress" {}
        let playlist = directory.file("hls/name/index.m3u8")
        try await Conditions.wait(for: "fragments") { fragments(playlist) >= 3 }
        hooks.permit()
        try await Conditions.wait(for: "more fragments") { fragments(playlist) >= 5 }
        await LiveFeed.end(feed)
        var expected: Set = ["recorded", "files-done"]
        while !expected.isEmpty, let call = await calls.next() { expected.remove(call) }
        let list = (0..<fragments(playlist)).map { directory.file("hls/name/\($0).ts") }
        let seen = try await times("concat:" + list.joined(separator: "|"))
        let recorded = try await times(directory.file("recordings/name.flv"))
        #expect(seen.count >= 25, "\(seen)")
        #expect(recorded == seen)
        await nginx.stop()
        await http.stop()
    }

    private func fragments(_ playlist: String) -> Int {
        guard let text = try? String(contentsOfFile: playlist, encoding: .utf8) else { return 0 }
        return text.components(separatedBy: "#EXTINF").count - 1
    }

    @Test func `files are made where publishing has no hook, under a name that is a secret`() throws {
        var setup = NginxServer.Setup(
            program: "nginx", modules: "m", directory: "/r", fragments: "/f", recordings: "/rec", address: "127.0.0.1",
            port: 1, hooks: "http://h", filesApplication: "files-x", fragmentMilliseconds: 500)
        let blocks = try applications(setup)
        #expect(Set(blocks.keys) == ["live", "files-x", "egress"])
        for (name, lines) in blocks {
            let makesFiles = name == "files-x"
            #expect(lines.contains("hls on;") == makesFiles && lines.contains("record all;") == makesFiles, "\(name)")
            #expect(lines.contains { $0.hasPrefix("on_publish ") } == !makesFiles, "\(name)")
            #expect(lines.contains("deny play all;") == (name != "egress"), "\(name)")
            #expect(lines.contains("deny publish all;") == (name != "live"), "\(name)")
            #expect(lines.contains("drop_idle_publisher 5s;"), "\(name)")
        }
        #expect(blocks["files-x"]?.contains("push rtmp://127.0.0.1:1/egress;") == true)
        setup.recordings = nil
        #expect(try applications(setup)["files-x"]?.contains { $0.hasPrefix("record") } == false)
    }

    /// The lines of each application.
    private func applications(_ setup: NginxServer.Setup) throws -> [String: [String]] {
        var (blocks, name) = ([String: [String]](), "")
        for line in NginxServer(setup, died: {}).configuration.split(separator: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("application ") { name = String(text.split(separator: " ")[1]) }
            if text == "}" { name = "" }
            if !name.isEmpty { blocks[name, default: []].append(text) }
        }
        return blocks
    }

    @Test func `the name of the application is that of the secret of the hooks`() {
        #expect(LiveService.filesApplication("secret") == "files-secret")
    }
}
