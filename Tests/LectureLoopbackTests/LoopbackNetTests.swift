import Foundation
import LectureKit
import LectureServedMedia
import LectureTestSupport
import Testing

@testable import LectureHTTP
@testable import LectureLoopback

/// The loopback server with curl as the player.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct LoopbackNetTests {
    private static func counted(_ count: Int) -> CallbackPolicy {
        var policy = CallbackPolicy()
        policy.expirationCount = count
        return policy
    }

    @Test(arguments: [true, false])
    func `ranges of a sealed and of a plain lecture are its bytes`(isSealed: Bool) async throws {
        let theatre = try await Theatre(isSealed ? Self.counted(5) : nil, key: "bytes-5M-7")
        let play = try await theatre.open()
        let media = theatre.media
        #expect(media.count == 5 << 20)
        let whole = try await Curl.get(play.url)
        #expect(whole.status == 200 && whole.body == media)
        #expect(whole.head["content-length"] == "\(media.count)" && whole.head["accept-ranges"] == "bytes")
        #expect(whole.head["cache-control"] == "no-store" && whole.head["x-content-type-options"] == "nosniff")
        #expect(whole.head["cross-origin-resource-policy"] == "same-origin")
        #expect(whole.head["access-control-allow-origin"] == nil && whole.head["content-type"] != nil)
        let ranges: [(String, Range<Int>)] = [
            ("0-0", 0..<1), ("0-99", 0..<100), ("65535-65536", 65535..<65537),
            ("1000000-4000000", 1_000_000..<4_000_001),
            ("5242879-", 5_242_879..<5_242_880), ("-500", 5_242_380..<5_242_880),
            ("5000000-9999999", 5_000_000..<5_242_880),
        ]
        for (text, range) in ranges {
            let part = try await Curl.get(play.url, "-r", text)
            #expect(part.status == 206 && part.body == media[range], "\(text)")
            let bounds = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(media.count)"
            #expect(part.head["content-range"] == bounds, "\(text)")
        }
        let beyond = try await Curl.get(play.url, "-r", "5242880-")
        #expect(beyond.status == 416 && beyond.head["content-range"] == "bytes */5242880")
        let head = try await Curl.get(play.url, "-I")
        #expect(head.status == 200 && head.body.isEmpty && head.head["content-length"] == "5242880")
        await theatre.end()
    }

    @Test func `a play is counted once, before its first byte and by nothing else`() async throws {
        let theatre = try await Theatre(Self.counted(2))
        let play = try await theatre.open()
        #expect(play.key == theatre.key)
        _ = try await Curl.get(play.url, "-I")
        _ = try await Curl.get(play.url, "-r", "99999999-")
        _ = try await Curl.get(play.url, "-H", "Host: evil.example")
        #expect(try await theatre.status?.countLeft == 2)
        let first = try await Curl.get(play.url, "-r", "0-0")
        #expect(first.status == 206 && first.head["content-type"] == "video/mp4")
        #expect(try await theatre.status?.countLeft == 1)
        for _ in 0..<3 { #expect(try await Curl.get(play.url).body == theatre.media) }
        #expect(try await theatre.status?.countLeft == 1)
        await play.close()
        #expect(await play.ending() == .closed)
        // One that no player reads costs nothing.
        let unread = try await theatre.open()
        await unread.close()
        #expect(try await theatre.status?.countLeft == 1)
        let second = try await theatre.open()
        #expect(try await Curl.get(second.url).status == 200)
        #expect(try await theatre.status?.countLeft == 0)
        await second.close()
        let refused = await #expect(throws: LectureError.self) { try await theatre.open() }
        #expect(refused?.code == .countUsedUp)
        #expect(try await theatre.status?.countUsed == 2)
        #expect(try await theatre.manager.reports.list().rows.isEmpty)
        #expect(try await theatre.manager.contents.details(of: theatre.key)?.resumePoint == .zero)
        await theatre.end()
    }

    @Test func `two plays that were opened with one count left are one play`() async throws {
        let theatre = try await Theatre(Self.counted(1))
        let plays = [try await theatre.open(), try await theatre.open()]
        #expect(try await Curl.get(plays[0].url).status == 200)
        let refused = try await Curl.get(plays[1].url)
        #expect(refused.status == 403 && refused.text.contains("count_used_up"), "\(refused.text)")
        #expect(await plays[1].ending() == .failed(LectureError(.countUsedUp, detail: theatre.key.text)))
        #expect(try await theatre.status?.countUsed == 1)
        await theatre.end()
    }

    @Test func `foreign hosts, foreign origins, guessed tokens and other methods are refused`() async throws {
        let theatre = try await Theatre(Self.counted(1)) { $0.origins = ["https://lms.example"] }
        let play = try await theatre.open()
        let port = "\(theatre.server.port)"
        let refusals: [([String], Int)] = [
            (["-H", "Host: evil.example:\(port)"], 421), (["-H", "Host:"], 421),
            (["-H", "Origin: https://evil.example"], 403), (["-H", "Origin: null"], 403),
            (["-H", "Sec-Fetch-Site: cross-site"], 403), (["-X", "POST", "-d", "x"], 405), (["-X", "DELETE"], 405),
        ]
        for (words, status) in refusals {
            let ending = try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", "-i"] + words + [play.url])
            let response = try Curl.response(ending)
            #expect(response.status == status, "\(words): \(response.text)")
            #expect(response.head["access-control-allow-origin"] == nil)
        }
        let last = play.url.last == "A" ? "B" : "A"
        for url in ["\(play.url.dropLast())\(last)", "\(play.url)x", "\(play.url)/x", "http://127.0.0.1:\(port)/"] {
            #expect(try await Curl.get(url).status == 404, "\(url)")
        }
        #expect(try await theatre.status?.countLeft == 1)
        let page = try await Curl.get(play.url, "-H", "Origin: https://lms.example", "-r", "0-9")
        #expect(page.status == 206 && page.head["access-control-allow-origin"] == "https://lms.example")
        #expect(page.head["cross-origin-resource-policy"] == "cross-origin" && page.head["vary"] == "Origin")
        let named = try await Curl.get(play.url.replacingOccurrences(of: "127.0.0.1", with: "localhost"), "-4")
        #expect(named.status == 200 && named.body == theatre.media)
        await theatre.end()
    }

    @Test func `another program is refused while the first one has the play`() async throws {
        let theatre = try await Theatre(Self.counted(1), key: "bytes-32M-3")
        let play = try await theatre.open()
        var events = play.events.makeAsyncIterator()
        let first = try Curl.start("--limit-rate", "100k", play.url)
        try await first.wait(for: .output) { $0.count > 10_000 }
        #expect(await events.next() == .started)
        let second = try await Curl.get(play.url, "-r", "0-9")
        #expect(second.status == 403 && second.text.contains("other_program"), "\(second.text)")
        #expect(await events.next() == .refused(.otherProgram))
        // Once it has ended, another one may go on with the same play.
        first.send(SIGKILL)
        _ = await first.ending()
        #expect(try await Curl.get(play.url, "-r", "0-9").body == theatre.media.prefix(10))
        #expect(try await theatre.status?.countUsed == 1)
        await theatre.end()
    }

    @Test func `one connection serves several requests, also after a refusal`() async throws {
        let theatre = try await Theatre(key: "bytes-5M-7")
        let play = try await theatre.open()
        let head = ["-q", "-s", "-w", "%{stderr}%{http_code} %{num_connects}\n"]
        let words =
            head + ["-r", "0-9", play.url, "--next"] + head + [play.url, "--next"] + head
            + ["-r", "9999999-", "-o", "/dev/null", play.url, "--next"] + head + ["-r", "-5", play.url]
        let all = try await ChildProcess.run("/usr/bin/curl", words)
        #expect(all.errorText == "206 1\n200 0\n416 0\n206 0\n")
        #expect(all.output == theatre.media.prefix(10) + theatre.media + theatre.media.suffix(5))
        await theatre.end()
    }

    @Test func `another user of the machine is refused`() async throws {
        // Only root can run a program of another user.
        if geteuid() != 0 { return }
        let theatre = try await Theatre(Self.counted(1))
        let play = try await theatre.open()
        let words = ["--reuid", "65534", "--clear-groups", "/usr/bin/curl", "-q", "-s", "-i", play.url]
        let other = try Curl.response(try await ChildProcess.run("/usr/bin/setpriv", words))
        #expect(other.status == 403 && other.text.contains("other_user"), "\(other.text)")
        #expect(try await theatre.status?.countUsed == 0)
        #expect(try await Curl.get(play.url).status == 200)
        await theatre.end()
    }

    @Test func `one program may read several parts at once, but not without a limit`() async throws {
        let theatre = try await Theatre(key: "bytes-32M-3")
        let play = try await theatre.open()
        // One process with twelve connections, of which each stays open.
        let words = (0..<12).flatMap { ["-o", theatre.directory.file("part-\($0)"), play.url] }
        let many = try ChildProcess(
            "/usr/bin/curl",
            ["-q", "-s", "-Z", "--parallel-immediate", "--limit-rate", "50k", "-w", "%{stderr}=%{http_code}\n"]
                + words)
        // Those beyond the limit are answered at once; curl's meter is beside them.
        let output = try await many.wait(for: .errors) { output in
            String(decoding: output, as: UTF8.self).ranges(of: "=429").count >= 12 - ServedPlay.mostAnswers
        }
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.ranges(of: "=429").count == 12 - ServedPlay.mostAnswers && !text.contains("=200"), "\(text)")
        await play.close()
        _ = await many.ending()
        await theatre.end()
    }

    @Test func `a licence that ends while it plays ends the answers within two seconds`() async throws {
        var policy = CallbackPolicy()
        policy.expirationDate = Int64(Date().timeIntervalSince1970) + 6
        let theatre = try await Theatre(policy, key: "bytes-96M-3")
        let play = try await theatre.open()
        let player = try Curl.start("--limit-rate", "2M", play.url)
        try await player.wait(for: .output) { $0.count > 10_000 }
        #expect(await play.ending() == .failed(LectureError(.licenceExpired, detail: theatre.key.text)))
        let late = Date().timeIntervalSince1970 - Double(policy.expirationDate ?? 0)
        #expect((-0.5...2).contains(late), "\(late) s after the end")
        let ending = await player.ending()
        // What the system had for it before.
        #expect(ending.status != 0 && ending.output.count < theatre.media.count, "\(ending.output.count)")
        #expect(try await Curl.get(play.url).status == 404)
        let next = await #expect(throws: LectureError.self) { try await theatre.open() }
        #expect(next?.code == .licenceExpired)
        await theatre.end()
    }

    @Test func `play time is charged by the bytes, and ends the play when it is used up`() async throws {
        var policy = CallbackPolicy()
        (policy.expirationPlaytime, policy.expirationPlaytimeType) = (60, 0)
        let theatre = try await Theatre(policy, key: "bytes-32M-3")
        let before = try #require(try await theatre.status?.playTimeLeft)
        let head = try await theatre.open()
        // A MiB and a half of 32, of which the server has read a little more.
        _ = try await Curl.get(head.url, "-r", "0-1572863")
        await head.close()
        let left = try #require(try await theatre.status?.playTimeLeft)
        #expect(before == .seconds(60) && left < before, "\(left)")
        let play = try await theatre.open()
        let player = try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", play.url])
        #expect(player.status != 0 && player.output.count < theatre.media.count)
        #expect(theatre.media.starts(with: player.output))
        #expect(await play.ending() == .failed(LectureError(.playTimeUsedUp, detail: theatre.key.text)))
        #expect(try await theatre.status?.playTimeLeft == .zero)
        await theatre.end()
    }

    @Test func `a URL is dead after the play, and so is what was being sent`() async throws {
        let theatre = try await Theatre(key: "bytes-32M-3")
        let play = try await theatre.open()
        let player = try Curl.start("--limit-rate", "100k", play.url)
        try await player.wait(for: .output) { $0.count > 10_000 }
        await play.close()
        #expect(await player.ending().status != 0)
        let dead = try await Curl.get(play.url)
        #expect(dead.status == 404 && dead.text.contains("unknown_play"))
        // A play that is released is over as well.
        var released: LoopbackPlay? = try await theatre.open()
        let url = try #require(released?.url)
        let events = try #require(released?.events)
        released = nil
        for await _ in events {}
        #expect(try await Curl.get(url).status == 404)
        await theatre.end()
    }

    @Test func `a play that is not read ends after a time`() async throws {
        let theatre = try await Theatre { $0.idleLimit = .milliseconds(1500) }
        let play = try await theatre.open()
        #expect(try await Curl.get(play.url, "-r", "0-9").status == 206)
        #expect(await play.ending() == .closed)
        #expect(try await Curl.get(play.url).status == 404)
        await theatre.end()
    }

    @Test func `ten plays at once are ten plays`() async throws {
        let theatre = try await Theatre(Self.counted(20), key: "bytes-5M-7")
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let play = try await theatre.open()
                    let body = try await Curl.get(play.url).body
                    await play.close()
                    return body
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies.count == 10 && bodies.allSatisfy { $0 == theatre.media })
        #expect(try await theatre.status?.countUsed == 10)
        await theatre.end()
    }

    @Test func `a stream is served, and registers nothing`() async throws {
        let theatre = try await Theatre()
        let url = "\(theatre.sandbox.http)/media/ranges-and-resuming.mp4"
        let play = try await theatre.server.open(.stream(url))
        let whole = try await Curl.get(play.url)
        let path = "\(Places.repository())/Tools/lecture-sandbox/Fixtures/ranges-and-resuming.mp4"
        let film = try Data(contentsOf: URL(filePath: path))
        #expect(whole.status == 200 && whole.body == film)
        #expect(try await theatre.manager.contents.list().map(\.key) == [theatre.key])
        let missing = await #expect(throws: LectureError.self) {
            try await theatre.server.open(.stream("\(theatre.sandbox.http)/media/nothing.mp4"))
        }
        #expect(missing?.code == .status(404))
        await theatre.end()
    }

    @Test func `rules and watermarks of a gateway exclude other players`() async throws {
        let theatre = try await Theatre()
        let web = theatre.directory.file("web")
        try FileManager.default.createDirectory(atPath: "\(web)/i", withIntermediateDirectories: true)
        var options = NginxOrigin.Options()
        options.directives = "default_type application/vnd.lecturekit.descriptor+json;"
        let gateway = try await NginxOrigin.start(serving: web, options)
        let film = "\(theatre.sandbox.http)/media/ranges-and-resuming.mp4"
        let descriptors: [(key: String, more: String, isFree: Bool)] = [
            ("seek", #""playback":{"seekable":false}"#, false),
            ("end", #""playback":{"seekable":false,"seekable_end":9}"#, false),
            ("rate", #""playback":{"disable_playrate":true}"#, false),
            ("part", #""playback":{"play_section":{"start_time":1,"end_time":3}}"#, false),
            ("limit", #""playback":{"limit":{"duration":3,"message":"A preview."}}"#, false),
            ("mark", #""watermark":{"text":"kim"}"#, false), ("resume", #""playback":{"ignore_zero":true}"#, true),
        ]
        let permitted = try await theatre.sandbox.link(key: "durable-on-the-disk", query: "play")
        await #expect(throws: LectureError(.playerNotPermitted, detail: "durable-on-the-disk")) {
            try await theatre.server.open(.stream(permitted))
        }
        for (key, more, isFree) in descriptors {
            let text = #"{"version":1,"media_content_key":"\#(key)","media":{"url":"\#(film)"},\#(more)}"#
            try Data(text.utf8).write(to: URL(filePath: "\(web)/i/\(key)"))
            try await theatre.manager.downloads.enqueue(DownloadRequest(url: "\(gateway.http)/i/\(key)"))
            #expect(try await theatre.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            for media in [LoopbackMedia.lecture(try ContentKey(key)), .stream("\(gateway.http)/i/\(key)")] {
                do {
                    let play = try await theatre.server.open(media)
                    #expect(isFree, "\(key)")
                    await play.close()
                } catch let error as LectureError {
                    #expect(!isFree && error.code == .playerNotPermitted, "\(key): \(error.message)")
                }
            }
        }
        await gateway.stop()
        await theatre.end()
    }

    @Test func `damage ends a play with its code, and one that cannot begin costs nothing`() async throws {
        let theatre = try await Theatre(Self.counted(5), key: "bytes-32M-3")
        let path = try theatre.sealedFile()
        func damage(at offset: UInt64) throws {
            let file = try FileHandle(forUpdating: URL(filePath: path))
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(repeating: 0, count: 1000))
            try file.close()
        }
        try damage(at: 30 << 20)
        let play = try await theatre.open()
        // What is wanted first cannot be read.
        let late = try await Curl.get(play.url, "-r", "31457280-31457289")
        #expect(late.status == 500 && late.text.contains("damaged"), "\(late.text)")
        #expect(await play.ending() == .failed(LectureError(.damaged, detail: theatre.key.text)))
        #expect(try await theatre.status?.countUsed == 0)
        let second = try await theatre.open()
        let player = try await ChildProcess.run("/usr/bin/curl", ["-q", "-s", second.url])
        #expect(player.status != 0 && theatre.media.starts(with: player.output))
        #expect(await second.ending() == .failed(LectureError(.damaged, detail: theatre.key.text)))
        #expect(try await theatre.status?.countUsed == 1)
        try damage(at: 10)
        let refused = await #expect(throws: LectureError.self) { try await theatre.open() }
        #expect(refused?.code == .damaged)
        #expect(try await theatre.status?.countUsed == 1)
        await theatre.end()
    }

    @Test func `a server stops while players read, wait and stall`() async throws {
        let theatre = try await Theatre(key: "bytes-32M-3")
        for _ in 0..<5 {
            let server = try LoopbackServer(theatre.manager)
            let plays = try await withThrowingTaskGroup(of: LoopbackPlay.self) { group in
                for _ in 0..<4 { group.addTask { try await server.open(.lecture(theatre.key)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let players = try plays.map { try Curl.start("--limit-rate", "500k", $0.url) }
            for player in players.dropFirst() { try await player.wait(for: .output) { $0.count > 1000 } }
            // The first one may still wait for its answer.
            await server.stop()
            for player in players.dropFirst() { #expect(await player.ending().status != 0) }
            #expect(await players[0].ending().output.count < theatre.media.count)
            for play in plays { #expect(await play.ending() == .closed) }
            let refused = await #expect(throws: LectureError.self) { try await server.open(.lecture(theatre.key)) }
            #expect(refused?.code == .closing)
        }
        await theatre.end()
    }

    @Test func `players that leave at any moment leave a server that serves`() async throws {
        let theatre = try await Theatre(Self.counted(200), key: "bytes-5M-7")
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let play = try await theatre.open()
                    let time = "\(Double(number % 20) / 500 + 0.001)"
                    let words = ["-q", "-s", "-o", "/dev/null", "--limit-rate", "20M", "--max-time", time, play.url]
                    let left = try await ChildProcess.run("/usr/bin/curl", words)
                    await play.close()
                    return left.status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // 28 is curl's own time limit.
        #expect(statuses.contains(28) && Set(statuses).subtracting([0, 28]).isEmpty, "\(statuses)")
        let used = try #require(try await theatre.status?.countUsed)
        #expect(used <= 60)
        let play = try await theatre.open()
        #expect(try await Curl.get(play.url).body == theatre.media)
        #expect(try await theatre.status?.countUsed == used + 1)
        await theatre.end()
    }

    @Test func `what is no request is refused or closed, and the server goes on`() async throws {
        let theatre = try await Theatre(Self.counted(2))
        let play = try await theatre.open()
        let port = "\(theatre.server.port)"
        let path = try #require(play.url.split(separator: "/").last)
        let script = """
            import socket, sys
            port, path = int(sys.argv[1]), sys.argv[2]
            host = f"Host: 127.0.0.1:{port}\\r\\n"
            get = f"GET /{path} HTTP/1.1\\r\\n"
            for text in ["\\0" * 100 + "\\r\\n\\r\\n", "GET\\r\\n\\r\\n",
                         get + "a: b\\r\\n" * 9000 + host + "\\r\\n",
                         f"GET /{'a' * 40000} HTTP/1.1\\r\\n{host}\\r\\n", get + host + host + "\\r\\n",
                         get + host + "Content-Length: -5\\r\\n\\r\\n",
                         get + host + "Content-Length: 5\\r\\n\\r\\nhello",
                         f"GET http://evil.example/{path} HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n",
                         get + host + "Transfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\n0\\r\\n\\r\\n"]:
                with socket.create_connection(("127.0.0.1", port), 20) as peer:
                    try:
                        peer.sendall(text.encode())
                        peer.shutdown(socket.SHUT_WR)
                        print(peer.recv(4096).split(b"\\r\\n")[0].decode() or "closed")
                    except OSError:
                        print("closed")
            """
        let sent = try await ChildProcess.run("/usr/bin/python3", ["-c", script, port, String(path)])
        let answers = sent.text.split(separator: "\n")
        #expect(answers.count == 9, "\(sent.errorText)")
        #expect(answers.allSatisfy { $0 == "closed" || $0.hasPrefix("HTTP/1.1 4") }, "\(answers)")
        #expect(try await theatre.status?.countUsed == 0)
        #expect(try await Curl.get(play.url).body == theatre.media)
        await theatre.end()
    }

    @Test func `a machine without libmicrohttpd gets one sentence`() async throws {
        let missing = #expect(throws: LectureError.self) { try MicroHTTPLibrary("libmicrohttpd.so.0") }
        #expect(missing?.code == .loopbackMissing)
        #expect(missing?.cause.contains("libmicrohttpd.so.0") == true)
        #expect(missing?.message.contains("apt-get install libmicrohttpd12") == true)
        // Another library of this name.
        let other = #expect(throws: LectureError.self) { try MicroHTTPLibrary("libm.so.6") }
        #expect(other?.code == .loopbackMissing && other?.cause.contains("MHD_start_daemon") == true)
    }

    @Test func `a port that is in use is refused, and another one works`() async throws {
        let theatre = try await Theatre()
        var options = LoopbackOptions()
        options.port = theatre.server.port
        let refused = #expect(throws: LectureError.self) { try LoopbackServer(theatre.manager, options: options) }
        #expect(refused?.code == .loopbackFailed && refused?.detail == "127.0.0.1:\(options.port)")
        options.port = 0
        let other = try LoopbackServer(theatre.manager, options: options)
        #expect(other.port != theatre.server.port)
        await other.stop()
        // The port is free again at once.
        let port = theatre.server.port
        await theatre.server.stop()
        options.port = port
        let again = try LoopbackServer(theatre.manager, options: options)
        #expect(again.port == port)
        await again.stop()
        await theatre.end()
    }

    @Test func `only this machine reaches the server`() async throws {
        let theatre = try await Theatre()
        let port = String(theatre.server.port, radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: 4 - port.count) + port
        var listening: [String] = []
        for table in ["tcp", "tcp6"] {
            for line in try String(contentsOfFile: "/proc/net/\(table)", encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                if words.count > 3, words[1].hasSuffix(":\(padded)"), words[3] == "0A" { listening.append(words[1]) }
            }
        }
        #expect(listening == ["0100007F:\(padded)"])
        await theatre.end()
    }
}
