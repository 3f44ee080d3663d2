import LectureDownload
import LectureFormats
import LectureModel
import LectureSimulation
import LectureTestSupport
import Testing

@testable import LectureStore

/// Live streams that are captured, in a world with virtual time: the server's window slides while programs work.
struct CaptureScenarios {
    private static let home = "http://live.example/course/"

    /// A broadcast: segment n of each track is there from n times four seconds on, for as long as the window says.
    private final class Broadcast {
        static let seconds: Int64 = 4
        let scene: Scene
        /// The segments of the whole broadcast.
        var count = 60
        /// How many segments are listed.
        var window = 5
        var tracks = ["v"]
        /// Added to each number: the server has begun anew.
        var restart: (at: Int, first: Int)?
        /// Nothing is listed behind this segment.
        var stopsAt = Int.max
        /// Changes the text of a list.
        var change: (_ name: String, _ text: String) -> String = { _, text in text }
        /// Changes an answer.
        var script: (_ name: String, _ answer: Answer) -> Answer = { _, answer in answer }
        private let start: Int64

        init(seed: UInt64 = 1, window: Int = 5) throws {
            scene = try Scene(seed: seed)
            start = scene.world.boot
            self.window = window
            scene.network.script = { [unowned self] request, _, _ in answer(to: request) }
        }

        /// How many segments there are by now.
        var known: Int { min(count, Int((scene.world.boot - start) / 1_000_000_000 / Self.seconds) + 1) }

        static func segment(_ track: String, _ number: Int) -> [UInt8] {
            Array("\(track) \(number) ".utf8) + lectureBytes(20_000 + number)
        }

        /// The names of the broadcast's segments from first to last, and of each the number at the server.
        private func list(_ track: String) -> String {
            let end = min(known, stopsAt)
            var first = max(0, end - window)
            var number = first
            if let restart, end > restart.at {
                first = max(first, restart.at)
                number = first - restart.at + restart.first
            }
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(Self.seconds)\n#EXT-X-MEDIA-SEQUENCE:\(number)\n"
            for segment in first..<end { text += "#EXTINF:\(Self.seconds),\n\(track)/\(segment).ts?at=\(known)\n" }
            if known == count, stopsAt > count { text += "#EXT-X-ENDLIST\n" }
            return change(track, text)
        }

        private func answer(to request: TransferRequest) -> Answer {
            let path = request.url.dropFirst(home.count).prefix { $0 != "?" }
            let name = String(path)
            let type = "application/vnd.apple.mpegurl"
            if name == "main.m3u8" {
                var text = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"s\",DEFAULT=YES,URI=\"s.m3u8\"\n"
                text += "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n"
                return script(name, .document(text, type: type))
            }
            if name.hasSuffix(".m3u8") {
                return script(name, .document(list(String(name.dropLast(5))), type: type))
            }
            let parts = name.dropLast(3).split(separator: "/")
            guard parts.count == 2, let number = Int(parts[1]), number < known, number >= known - 2 * window else {
                return script(name, Answer(404))
            }
            return script(name, ServedFile(Self.segment(String(parts[0]), number)).answer(to: request))
        }

        func want(
            _ name: String = "v.m3u8", _ capture: StreamSelection.Capture? = .untilEnd, gaps: Bool = false
        ) throws -> ContentKey {
            try scene.want(home + name) { request in
                var selection = StreamSelection()
                (selection.capture, selection.allowsGaps) = (capture, gaps)
                request.selection = selection
            }
        }

        /// What is kept: the lines of a playlist with names of files replaced by the numbers of their segments.
        func kept(_ key: ContentKey, _ track: String = "v", playlist: Int = 0) throws -> [String] {
            let item = try #require(try scene.index.contents.item(key))
            let version = try #require(try scene.index.versions.building(item.id)?.version ?? item.currentVersion)
            var files: [String: [UInt8]] = [:]
            for record in try scene.index.connection.resources(of: version) where record.role.isOfStream {
                files[record.name] = record.state == .finalized ? scene.disk.files[record.path] : []
            }
            let numbers = Dictionary(uniqueKeysWithValues: (0..<count).map { (Self.segment(track, $0), "\($0)") })
            let lines = try scene.index.adaptive.playlists(version)[playlist].split(separator: "\n").map(String.init)
            return lines.filter { !$0.hasPrefix("#EXTINF") && !$0.hasPrefix("#EXT-X-GAP") }.compactMap { line in
                if line == "#EXT-X-DISCONTINUITY" { return "cut" }
                if line.hasPrefix("#") { return line == "#EXT-X-ENDLIST" ? "end" : nil }
                return files[line].map { $0.isEmpty ? "?" : numbers[$0] ?? "other" } ?? "gap"
            }
        }

        func requests(_ name: String) -> Int {
            scene.network.requests.count { $0.url.hasPrefix(home + name) }
        }
    }

    private func texts(_ numbers: Range<Int>) -> [String] { numbers.map { "\($0)" } }

    @Test func `a broadcast is kept until its end, each segment once, and loads wait for the target duration`() throws {
        let live = try Broadcast()
        let key = try live.want()
        live.scene.work(for: .seconds(61))
        let loads = live.requests("v.m3u8")
        #expect((15...18).contains(loads), "one each four seconds: \(loads)")
        let building = try #require(try live.scene.content(key))
        #expect(building.state == .downloading && building.type == .adaptiveDownload)
        #expect(try live.kept(key).prefix(15) == texts(0..<15)[...] && live.kept(key).last != "end")
        try live.scene.rest()
        let content = try #require(try live.scene.content(key))
        #expect(content.state == .completed && content.duration == .seconds(240))
        #expect(try live.kept(key) == texts(0..<60) + ["end"])
        #expect(live.requests("v/") == 60)
        #expect(try live.scene.contradictions() == [])
        // What is complete is not captured again, for whatever time.
        _ = try live.want("v.m3u8", .duration(.seconds(900)))
        try live.scene.rest()
        #expect(live.requests("v/") == 60)
    }

    @Test func `tracks are captured together, until what is kept plays as long as was asked for`() throws {
        let live = try Broadcast()
        live.scene.work(for: .seconds(21))
        let key = try live.want("main.m3u8", .duration(.seconds(42)))
        try live.scene.rest()
        let content = try #require(try live.scene.content(key))
        #expect(content.state == .completed && content.duration == .seconds(44))
        #expect(try live.kept(key, "v", playlist: 1) == texts(1..<12) + ["end"])
        #expect(try live.kept(key, "s", playlist: 2) == texts(1..<12) + ["end"])
        #expect(live.scene.world.boot < 60_000_000_000, "nothing is loaded behind it")
        #expect(try live.scene.contradictions() == [])
    }

    @Test func `a live stream is refused without being asked to capture it`() throws {
        let live = try Broadcast()
        let key = try live.want("v.m3u8", nil)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.error?.code == .streamLive)
    }

    @Test(arguments: [true, false])
    func `what left the window meanwhile is a gap, which can be accepted`(powerCut: Bool) throws {
        let live = try Broadcast()
        let key = try live.want()
        live.scene.work(for: .seconds(41))
        // Nothing runs for a minute: segments 11 to 20 are gone.
        live.scene.world.pass(to: live.scene.world.boot + 60_000_000_000)
        try live.scene.crash(powerCut: powerCut)
        try live.scene.rest()
        let failed = try #require(try live.scene.content(key))
        #expect(failed.state == .failed && failed.error?.code == .captureGaps)
        let kept = try live.kept(key)
        let gaps = kept.count { $0 == "gap" }
        #expect(kept.count == 61 && (9...11).contains(gaps))
        #expect(kept.enumerated().allSatisfy { $1 == "gap" || $1 == "end" || $1 == "\($0)" }, "\(kept)")
        let cause = failed.error?.cause ?? ""
        #expect(cause.hasPrefix("1 gap of \(gaps) segments: 0:00:4"), "\(cause)")
        let before = live.scene.network.requests.count
        _ = try live.want(gaps: true)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.state == .completed)
        #expect(live.scene.network.requests.count == before, "what was captured is enough")
        #expect(try live.scene.contradictions() == [])
    }

    @Test func `a server that stops ends the capture, which goes on later or ends with what there is`() throws {
        let live = try Broadcast()
        live.stopsAt = 9
        let key = try live.want()
        try live.scene.rest()
        let failed = try #require(try live.scene.content(key))
        #expect(failed.state == .failed && failed.error?.code == .captureStalled)
        #expect((70...80).contains(live.scene.world.boot / 1_000_000_000), "ten times four seconds behind 32")
        #expect(try live.kept(key) == texts(0..<9))
        // The server goes on, and so does the capture.
        live.stopsAt = 30
        _ = try live.want()
        live.scene.work(for: .seconds(9))
        #expect(try live.kept(key).count > 12)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.error?.code == .captureStalled)
        // Or it ends there.
        _ = try live.want("v.m3u8", nil, gaps: true)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.state == .completed)
        #expect(try live.kept(key).last == "end")
        #expect(try live.scene.contradictions() == [])
    }

    @Test func `a server that begins anew, sends pages and older copies costs nothing but what it did not list`() throws
    {
        let live = try Broadcast()
        live.restart = (at: 20, first: 0)
        var loads = 0
        live.change = { _, text in
            loads += 1
            // A page, and a text that was cut.
            if loads % 7 == 3 { return "<html>busy</html>" }
            return loads % 7 == 5 ? text.dropLast(9) + "\n#EXTINF:x" : text
        }
        let key = try live.want(gaps: true)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.state == .completed)
        let kept = try live.kept(key)
        #expect(kept == texts(0..<20) + ["gap", "cut"] + texts(20..<60) + ["end"], "\(kept)")
        #expect(try live.scene.contradictions() == [])
    }

    @Test func `a segment that is refused twice is missing, and a new token is used`() throws {
        let live = try Broadcast()
        var refused: [String: Int] = [:]
        live.script = { name, answer in
            guard ["v/7.ts", "v/30.ts"].contains(name) else { return answer }
            refused[name, default: 0] += 1
            return name == "v/7.ts" || refused[name] == 1 ? Answer(403) : answer
        }
        let key = try live.want()
        try live.scene.rest()
        let failed = try #require(try live.scene.content(key))
        #expect(failed.error?.code == .captureGaps && failed.error?.cause == "1 gap of 1 segment: 0:00:28–0:00:32")
        var due = texts(0..<60)
        due[7] = "?"
        #expect(try live.kept(key) == due + ["end"])
        #expect(refused == ["v/7.ts": 2, "v/30.ts": 2])
        let urls = live.scene.network.requests.map(\.url).filter { $0.contains("v/30.ts") }
        #expect(Set(urls).count == 2, "\(urls)")
    }

    @Test(arguments: RunSize.seeds(3, soak: 200))
    func `kills cost what was in flight`(seed: UInt64) throws {
        let live = try Broadcast(seed: seed, window: 8)
        live.script = { _, answer in
            var slow = answer
            slow.pace = 4_000
            return slow
        }
        let key = try live.want("main.m3u8")
        for kill in 0..<12 {
            live.scene.work(for: .milliseconds(700 + 900 * Int64((UInt64(kill) &+ seed) % 5)))
            try live.scene.crash(powerCut: kill % 3 == 0)
        }
        try live.scene.rest()
        #expect(try live.scene.content(key)?.state == .completed)
        for (place, track) in ["v", "s"].enumerated() {
            #expect(try live.kept(key, track, playlist: place + 1) == texts(0..<60) + ["end"])
        }
        #expect(live.requests("v/") + live.requests("s/") <= 120 + 12 * 16)
        #expect(try live.scene.contradictions() == [])
    }

    @Test func `files of a complete capture that are gone do not cost the others`() throws {
        let live = try Broadcast()
        let key = try live.want("v.m3u8", .duration(.seconds(40)))
        try live.scene.rest()
        let item = try #require(try live.scene.index.contents.item(key))
        let file = try live.scene.index.adaptive.kept(try #require(item.currentVersion))[3]
        try live.scene.disk.delete(path: file.path)
        live.scene.world.pass(to: live.scene.world.boot + 600_000_000_000)
        _ = try live.scene.index.versions.markMissing(
            item.id, LectureError(.mediaMissing), isQueued: true, now: live.scene.world.now)
        try live.scene.rest()
        #expect(try live.scene.content(key)?.error?.code == .captureGaps)
        var due = texts(0..<10)
        due[3] = "?"
        #expect(try live.kept(key) == due + ["end"], "the server has other segments now")
    }

    @Test func `encrypted segments are inspected with each list, not only with the first`() throws {
        let live = try Broadcast()
        live.count = 12
        let secret = "0123456789abcdef"
        live.change = { _, text in "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n" + text.dropFirst(8) }
        live.script = { name, answer in
            if name == "k" { return .document(secret, type: "application/octet-stream") }
            guard name.hasPrefix("v/"), answer.status < 300, let number = UInt8(name.dropFirst(2).dropLast(3)) else {
                return answer
            }
            // The ninth segment is under another key.
            let key = number == 8 ? Array("another key here".utf8) : Array(secret.utf8)
            let vector = [UInt8](repeating: 0, count: 15) + [number]
            let bytes = try? SegmentEncryption.encrypted(
                Broadcast.segment("v", Int(number)), key: key, vector: vector)
            guard let bytes else { return Answer(500) }
            var encrypted = Answer(200, ["Content-Type": "video/mp2t", "Content-Length": "\(bytes.count)"])
            encrypted.body = bytes[...]
            return encrypted
        }
        let key = try live.want()
        try live.scene.rest()
        let failed = try #require(try live.scene.content(key))
        #expect(failed.error?.code == .captureGaps && failed.error?.cause == "1 gap of 1 segment: 0:00:32–0:00:36")
        var due = [String](repeating: "other", count: 12)
        due[8] = "?"
        #expect(try live.kept(key) == due + ["end"])
        #expect(live.requests("v/") == 12 && live.requests("k") == 1)
        #expect(try live.scene.contradictions() == [])
    }
}
