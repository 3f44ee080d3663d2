import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The built program with many clients at once that want nothing, or want it slowly.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct CrowdServeNetTests {
    /// Lets this process have as many sockets as the system permits.
    private static let mostPeers: Int = {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 200 }
        limit.rlim_cur = min(limit.rlim_max, 20_000)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(limit.rlim_cur) - 200
    }()

    /// How many files a process has open, and the most memory that it had.
    private static func usage(of process: ChildProcess) -> (files: Int, memory: String) {
        let place = "/proc/\(process.identifier)"
        let status = (try? String(contentsOfFile: "\(place)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(place)/fd").count) ?? 0
        return (files, line.map { $0.dropFirst(6).trimmingCharacters(in: .whitespaces) } ?? "")
    }

    @Test func `requests whose rest does not come are ended, and keep no other client waiting`() async throws {
        let served = try await ServedStore(try BadDay())
        let host = "Host: 127.0.0.1:\(served.port)\r\n"
        let authority = "\(host)Authorization: Bearer \(served.token)\r\n"
        let beginnings = [
            "", "G", "GET /healthz HTTP/1.1\r\n", "GET /healthz HTTP/1.1\r\n\(host)X: ",
            "POST /sign-in HTTP/1.1\r\n\(host)Content-Length: 100\r\n\r\n",
            "POST /sign-in HTTP/1.1\r\n\(host)Content-Length: 100\r\n\r\ntoken=",
            "POST /reports/retry HTTP/1.1\r\n\(authority)Transfer-Encoding: chunked\r\n\r\n",
            "POST /reports/retry HTTP/1.1\r\n\(authority)Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            "POST /reports/retry HTTP/1.1\r\n\(authority)Expect: 100-continue\r\nContent-Length: 10\r\n\r\n",
        ]
        let peers = try (0..<90).map { number in
            let peer = try #require(RawPeer(port: served.port))
            peer.send(beginnings[number % beginnings.count])
            return peer
        }
        for _ in 0..<20 { #expect(try await served.ask("/healthz").text == "ok\n") }
        for peer in peers {
            // Ends when the server closes; a client that waits for 100 (Continue) may have got that.
            let answer = peer.read()
            #expect(
                answer.isEmpty || answer.hasPrefix("HTTP/1.1 100 ") || answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
        }
        #expect(try await served.ask("/readyz").status == 200)
        await served.stop()
    }

    @Test func `more idle connections than there may be keep no client away`() async throws {
        let served = try await ServedStore(try BadDay())
        var idle: [RawPeer] = []
        let count = min(RunSize.count(1500, soak: 10_000), Self.mostPeers)
        for number in 0..<count {
            idle.append(try #require(RawPeer(port: served.port)))
            if number % 250 == 249 {
                let answer = try await served.ask("/healthz", "--max-time", "10")
                #expect(answer.text == "ok\n", "with \(number): \(answer.errors)")
            }
        }
        for path in ["/healthz", "/readyz", "/metrics", "/lectures"] {
            #expect(try await served.ask(path, "--max-time", "10").status == 200, "\(path)")
        }
        // Those that were there first have gone, since all of them are of one address.
        if count > 1000 { #expect(idle[0].read().isEmpty) }
        let (files, memory) = Self.usage(of: served.process)
        RunSize.report("\(count) idle connections, and every request answered; \(files) files, \(memory) at most")
        for peer in idle { peer.end() }
        await served.stop()
    }

    @Test func `who opens many connections loses their own, and no one else's`() async throws {
        let served = try await ServedStore(try BadDay())
        let request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\n\r\n"
        let honest = try (0..<5).map { _ in try #require(RawPeer(port: served.port)) }
        for peer in honest {
            peer.send(request)
            #expect(peer.read(until: "ok\n").hasPrefix("HTTP/1.1 200 "))
        }
        let greedy = (0..<min(1300, Self.mostPeers)).compactMap { _ in
            RawPeer(port: served.port, from: "127.0.0.9")
        }
        #expect(try await served.ask("/healthz", "--max-time", "10").text == "ok\n")
        for peer in honest {
            peer.send(request)
            #expect(peer.read(until: "ok\n").hasPrefix("HTTP/1.1 200 "), "a connection that was kept")
        }
        for peer in greedy { peer.end() }
        await served.stop()
    }

    // MARK: Too much

    @Test func `what is too long has a status of its own`() async throws {
        let served = try await ServedStore(try BadDay())
        let host = "Host: 127.0.0.1:\(served.port)\r\n"
        let long = String(repeating: "x", count: 40_000)
        let many = (0..<4000).map { "X\($0): y\r\n" }.joined()
        let cases: [(String, [Int])] = [
            ("GET /healthz HTTP/1.1\r\n\(host)X: \(long)\r\n\r\n", [431, 413]),
            ("GET /healthz HTTP/1.1\r\n\(host)\(many)\r\n", [431, 413]),
            ("GET /healthz HTTP/1.1\r\n\(host)Cookie: \(long)\r\n\r\n", [431, 413]),
            ("GET /\(long) HTTP/1.1\r\n\(host)\r\n", [414, 431]),
            ("GET /healthz?\(long) HTTP/1.1\r\n\(host)\r\n", [414, 431]),
            ("POST /sign-in HTTP/1.1\r\n\(host)Content-Length: 1048577\r\n\r\n", [413]),
            ("POST /sign-in HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999\r\n\r\n", [413]),
        ]
        for (text, statuses) in cases {
            let peer = try #require(RawPeer(port: served.port))
            peer.send(text)
            let answer = peer.read(until: "\r\n")
            let status = Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0
            #expect(statuses.contains(status), "\(text.prefix(50)): \(answer.prefix(60))")
            #expect(try await served.ask("/healthz").status == 200)
        }
        await served.stop()
    }

    @Test func `a body without end is refused when it is too long`() async throws {
        let served = try await ServedStore(try BadDay())
        let peer = try #require(RawPeer(port: served.port))
        peer.send(
            "POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nTransfer-Encoding: chunked\r\n\r\n")
        let piece = "8000\r\n\(String(repeating: "x", count: 0x8000))\r\n"
        // Two mebibytes, of which one is permitted; what follows is not waited for.
        var sent = 0
        while sent < 64, peer.send(piece) { sent += 1 }
        peer.send("0\r\n\r\n")
        #expect(peer.read(until: "\r\n").hasPrefix("HTTP/1.1 413 "), "after \(sent)")
        #expect(try await served.ask("/healthz").status == 200)
        await served.stop()
    }

    // MARK: Event streams

    private static func page(_ served: ServedStore, _ path: String = "/live") throws -> RawPeer {
        let peer = try #require(RawPeer(port: served.port))
        peer.send(
            """
            GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nAuthorization: Bearer \(served.token)\r\n\r\n
            """)
        return peer
    }

    /// The place of a client that has left is another one's. That it is gone is seen when there is something to send.
    ///
    /// - Parameters:
    ///   - served: the server.
    ///   - path: of the stream.
    ///   - event: what is sent when the store changes.
    ///   - other: a client that stays.
    /// - Throws: when the store cannot be changed.
    private static func expectFreePlace(
        _ served: ServedStore, _ path: String, event: String, seenBy other: RawPeer
    ) async throws {
        for name in ["one", "two", "three"] {
            let adding = try served.me.start("precache", "--quiet", "http://127.0.0.1:9/\(name).mp4")
            #expect(other.read(until: "event: \(event)").contains("event: \(event)"))
            _ = await adding.terminate()
        }
        var answer = ""
        for _ in 0..<500 where !answer.hasPrefix("HTTP/1.1 200 ") {
            let client = try page(served, path)
            answer = client.read(until: "\r\n\r\n")
            client.end()
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a hundred open pages get a change, with others that do not read`() async throws {
        let served = try await ServedStore(try BadDay())
        let deaf = try (0..<20).map { _ in try Self.page(served) }
        let pages = try (0..<100).map { _ in try Self.page(served) }
        for page in pages { #expect(page.read(until: "event: hello").hasPrefix("HTTP/1.1 200 ")) }
        // Another process changes the store.
        let adding = try served.me.start("precache", "--quiet", "http://127.0.0.1:9/none.mp4")
        for page in pages { #expect(page.read(until: "event: change").contains("event: change")) }
        _ = await adding.terminate()
        #expect(try await served.ask("/lectures", "--max-time", "20").status == 200)
        for page in pages + deaf { page.end() }
        let again = try Self.page(served)
        #expect(again.read(until: "event: hello").hasPrefix("HTTP/1.1 200 "))
        await served.stop()
    }

    @Test func `more pages than get the changes have a status, and a place when one is free`() async throws {
        let served = try await ServedStore(try BadDay())
        let pages = try (0..<400).map { _ in try Self.page(served) }
        for page in pages { #expect(page.read(until: "event: hello").hasPrefix("HTTP/1.1 200 ")) }
        let refused = try await served.ask("/live", "--max-time", "10")
        #expect(refused.status == 503 && refused.name == "many_pages" && refused.field("retry-after") == "10")
        #expect(try await served.ask("/").status == 200, "the page itself is shown")
        pages[7].end()
        try await Self.expectFreePlace(served, "/live", event: "change", seenBy: pages[0])
        await served.stop()
    }

    @Test func `more programs than get the events have a problem, and a place when one is free`() async throws {
        let served = try await ServedStore(try BadDay())
        let programs = try (0..<400).map { _ in try Self.page(served, "/api/v1/events") }
        for program in programs { #expect(program.read(until: "\nid: ").hasPrefix("HTTP/1.1 200 ")) }
        let refused = try await served.ask("/api/v1/events", "--max-time", "10")
        #expect(refused.status == 503 && refused.name == "many_events" && refused.field("retry-after") == "10")
        #expect(refused.field("content-type") == "application/problem+json")
        #expect(try await served.ask("/api/v1/status").status == 200, "everything else is answered")
        // Pages have places of their own.
        let page = try Self.page(served)
        #expect(page.read(until: "event: hello").hasPrefix("HTTP/1.1 200 "))
        programs[7].end()
        try await Self.expectFreePlace(served, "/api/v1/events", event: "status", seenBy: programs[0])
        await served.stop()
    }
}

/// Health of stores that cannot be written: each on a small disk that only the test's processes see.
@Suite(.timeLimit(.minutes(3)), .enabled(if: BadDay.mayMount, "only root may mount a small disk"))
struct UnwritableStoreNetTests {
    /// Serves the store at /mnt/store, and defines `ask`, which prints the status and the body of a path.
    private static let serve = #"""
        export LECTURE_STORE=/mnt/store
        serve() {
            rm -f line; mkfifo line
            "$0" serve --json --listen 127.0.0.1:0 > line 2> err &
            server=$!
            read -r first < line || { cat err; exit 9; }
            url=$(printf %s "$first" | sed 's/.*"url":"\([^"]*\)".*/\1/')
        }
        ask() { curl -q -s --max-time 20 -w ' %{http_code}\n' "$url$1"; }
        until_status() {
            for try in $(seq 1000); do answer=$(ask /readyz); case $answer in *" $1") break;; esac; done
            printf '%s\n' "$answer"
        }

        """#

    @Test func `a full disk makes the server not ready, and says why`() async throws {
        let me = try BadDay()
        #expect(try await me("access", "add", "ada", "--role", "operator").status == 0)
        let script =
            "mount -t tmpfs -o size=20m none /mnt\n" + Self.serve + #"""
                serve
                until_status 200
                dd if=/dev/zero of=/mnt/full bs=1k status=none 2> /dev/null || true
                until_status 503
                ask /healthz
                rm /mnt/full
                until_status 200
                kill $server; wait $server; echo "ended $?"
                """#
        let ending = try await me.withMounts(script)
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 6, "\(ending.text) \(ending.errorText)")
        #expect(lines[0] == #"{"ready":true,"reasons":[]} 200"# && lines[4] == lines[0])
        #expect(lines[1] == #"{"ready":false,"reasons":["storage_full"]} 503"#, "\(lines)")
        #expect(lines[2] == "ok" && lines[3] == " 200" && lines[5] == "ended 0", "\(lines)")
    }

    @Test func `a store that can only be read is not served, and the reason is named`() async throws {
        let me = try BadDay()
        #expect(try await me("access", "add", "ada", "--role", "operator").status == 0)
        let script =
            "mount -t tmpfs -o size=20m none /mnt\n" + Self.serve + #"""
                serve
                until_status 200
                kill $server; wait $server
                mount -o remount,ro /mnt
                "$0" serve --json --listen 127.0.0.1:0 || echo "ended $?"
                mount -o remount,rw /mnt
                serve
                until_status 200
                kill $server; wait $server; echo "ended $?"
                """#
        let ending = try await me.withMounts(script)
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(ending.text) \(ending.errorText)")
        #expect(lines[1].contains(#""name":"store_read_only""#) && lines[1].contains("Mount it writable"), "\(lines)")
        // What the message advises helps.
        #expect(lines[2] == "ended 74" && lines[3].hasSuffix(" 200") && lines[4] == "ended 0", "\(lines)")
    }
}
