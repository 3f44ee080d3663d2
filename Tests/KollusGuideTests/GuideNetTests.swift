import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The chapters of the vendor's guide, as a program against real servers: what each promises, and the message when
/// that is impossible.
@Suite(.timeLimit(.minutes(3))) struct GuideNetTests {
    // MARK: Preparation

    @Test func `Preparation opens the storage and sets the player`() async throws {
        let scene = try await GuideScene.make()
        let first = try await scene("preparation")
        #expect(first.status == 0, "\(first.all)")
        let player = try #require(first.lines.first { $0.hasPrefix("player ") })
        #expect(player.count > 20)
        #expect(first.lines.contains("path \(scene.home.file("store"))"))
        // The player is the same in the next run.
        #expect(try await scene("preparation").lines.contains(player))
        await scene.sandbox.stop()
    }

    @Test(arguments: [
        ("KOLLUS_KEY", "", -2107), ("KOLLUS_EXPIRES", "", -2107), ("KOLLUS_BUNDLE_ID", "com.example.other", -2103),
        ("KOLLUS_EXPIRES", "2099/12/31", -2105), ("KOLLUS_KEY", "no.such.key", -2106), ("LECTURE_TRUST", "", -2106),
    ])
    func `Values that do not match the issued key open nothing`(name: String, value: String, code: Int) async throws {
        let scene = try await GuideScene.make()
        let ending = try await scene.run(["preparation"], [name: value])
        #expect(ending.status == 1)
        #expect(ending.text.hasPrefix("error \(code): "), "\(ending.all)")
        #expect(!FileManager.default.fileExists(atPath: scene.home.file("store")))
        await scene.sandbox.stop()
    }

    @Test func `A program without a bundle id looks it up in the documented order`() async throws {
        let scene = try await GuideScene.make()
        let unnamed = ["KOLLUS_BUNDLE_ID": "", "LECTURE_BUNDLE_ID": ""]
        // `Bundle.main.bundleIdentifier` is nil here: the sentence says what to do.
        let refused = try await scene.run(["preparation"], unnamed)
        #expect(refused.status == 1 && refused.text.contains("error -2107"), "\(refused.all)")
        for word in ["Bundle.main.bundleIdentifier", "Info.plist", "applicationBundleID"] {
            #expect(refused.text.contains(word), "\(refused.text)")
        }
        let named = try await scene.run(
            ["preparation"], ["KOLLUS_BUNDLE_ID": "", "LECTURE_BUNDLE_ID": "com.example.academy"])
        #expect(named.status == 0, "\(named.all)")
        // The application's setting overrides the environment.
        #expect(try await scene.run(["preparation"], ["LECTURE_BUNDLE_ID": "com.example.other"]).status == 0)
        // An Info.plist beside the program, as the message says; the environment overrides it.
        let program = scene.home.file("kollus-guide")
        // By another program: a file that is open for writing here is so in every process that starts meanwhile, and
        // cannot be run as long as one of them has it.
        let copied = try await ChildProcess.run("/bin/cp", [Places.builtProduct("kollus-guide"), program])
        #expect(copied.status == 0, "\(copied.all)")
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["CFBundleIdentifier": "com.example.academy"], format: .xml, options: 0)
        try list.write(to: URL(filePath: scene.home.file("Info.plist")))
        let beside = try await scene.run(["preparation"], unnamed, program: program)
        #expect(beside.status == 0, "\(beside.all)")
        let other = try await scene.run(
            ["preparation"], ["KOLLUS_BUNDLE_ID": "", "LECTURE_BUNDLE_ID": "com.example.other"], program: program)
        #expect(other.status == 1 && other.text.contains("error -2103"), "\(other.all)")
        try Data("no list".utf8).write(to: URL(filePath: scene.home.file("Info.plist")))
        #expect(try await scene.run(["preparation"], unnamed, program: program).text.contains("error -2107"))
        await scene.sandbox.stop()
    }

    @Test func `An expired key opens nothing`() async throws {
        let scene = try await GuideScene.make()
        let order = #"{"app":"com.example.academy","app_expires_in":-172800}"#
        let key = try await scene.sandbox.issue(order).trimmingCharacters(in: .whitespacesAndNewlines)
        let date = String(Date(timeIntervalSinceNow: -172_800).ISO8601Format().prefix(10)).replacing("-", with: "/")
        let ending = try await scene.run(["preparation"], ["KOLLUS_KEY": key, "KOLLUS_EXPIRES": date])
        #expect(ending.status == 1)
        #expect(ending.text.hasPrefix("error -2104: "), "\(ending.all)")
        await scene.sandbox.stop()
    }

    @Test(.enabled(if: FakeClock.isPossible))
    func `Setting the clock back revives no key where licences have a trusted time`() async throws {
        let scene = try await GuideScene.make()
        // Issued ten days ago, by a key without a certificate that would begin later, and expired two days ago; the
        // clock shows four days ago.
        let (issued, end) = (Date(timeIntervalSinceNow: -864_000), Date(timeIntervalSinceNow: -172_800))
        let claims = #"{"iat":\#(Int(issued.timeIntervalSince1970))}"#
        let order = #"{"app":"com.example.academy","app_expires_in":-172800,"by":"kid","claims":\#(claims)}"#
        let old = [
            "KOLLUS_KEY": try await scene.sandbox.issue(order).trimmingCharacters(in: .whitespacesAndNewlines),
            "KOLLUS_EXPIRES": String(end.ISO8601Format().prefix(10)).replacing("-", with: "/"),
        ]
        let past = old.merging(FakeClock.at("-4d")) { $1 }
        // Without licences there is no better time source than the clock.
        let free = try await scene.run(["preparation"], past)
        #expect(free.status == 0, "\(free.all)")
        let link = try await scene.sandbox.link(key: "bytes-64K-21", query: "licensed")
        #expect(try await scene("download", link).status == 0)
        for time in [past, old] {
            let ending = try await scene.run(["preparation"], time)
            #expect(ending.status == 1)
            #expect(ending.text.hasPrefix("error -2104: "), "\(ending.all)")
        }
        // The key that has not expired still works.
        #expect(try await scene("preparation").status == 0)
        await scene.sandbox.stop()
    }

    @Test(
        .enabled(if: FakeClock.isPossible),
        arguments: [("+30d", -2104, "clock"), ("@2001-01-01 00:00:00", -2106, "clock")])
    func `A wrong clock opens nothing, and is named`(time: String, code: Int, word: String) async throws {
        let scene = try await GuideScene.make()
        let wrong = FakeClock.at(time)
        let ending = try await scene.run(["preparation"], wrong)
        #expect(ending.status == 1)
        #expect(ending.text.hasPrefix("error \(code): "), "\(ending.all)")
        #expect(ending.text.contains(word), "\(ending.all)")
        await scene.sandbox.stop()
    }

    // MARK: Download

    @Test func `Downloads come one after the other and are complete`() async throws {
        let scene = try await GuideScene.make()
        let link = try await scene.sandbox.link(key: "bytes-2M-1")
        let ending = try await scene("download", link, "\(scene.sandbox.http)/media/bytes-1M-2.mp4")
        #expect(ending.status == 0, "\(ending.all)")
        #expect(ending.lines.filter { $0.contains(": complete, ") }.count == 2)
        #expect(ending.lines.contains("bytes-2M-1: complete, \(2 << 20) bytes"))
        // A second request reports that it is complete already.
        let again = try await scene("download", link)
        #expect(again.status == 0 && again.text == "bytes-2M-1: complete already\n", "\(again.all)")
        await scene.sandbox.stop()
    }

    @Test func `A cancelled download resumes after the bytes that were kept`() async throws {
        let scene = try await GuideScene.make()
        let fault = "media-fault=slow:4000000"
        let link = try await scene.sandbox.link(key: "bytes-16M-3", query: fault)
        let ending = try await scene("download", "--cancel-at", "30", link)
        #expect(ending.status == 0, "\(ending.all)")
        let lines = ending.lines
        let cancel = try #require(lines.firstIndex { $0.contains("cancelled at") }, "\(ending.all)")
        #expect(lines.last == "bytes-16M-3: complete, \(16 << 20) bytes")
        #expect(cancel < lines.count - 1)
        // Bytes in flight may be fetched twice, verified ones are not.
        #expect(try await scene.bytes(of: "bytes-16M-3") < 22 << 20)
        await scene.sandbox.stop()
    }

    @Test func `A broken link fails alone`() async throws {
        let scene = try await GuideScene.make()
        let good = "\(scene.sandbox.http)/media/bytes-1M-4.mp4"
        let ending = try await scene("download", "\(scene.sandbox.http)/media/none.mp4", good, "ftp://a/b.mp4")
        #expect(ending.status == 1)
        #expect(ending.lines.contains { $0.contains("none.mp4: error -8404: ") }, "\(ending.all)")
        #expect(ending.lines.contains { $0.hasPrefix("ftp://a/b.mp4: error -8637: ") }, "\(ending.all)")
        #expect(ending.lines.contains { $0.hasSuffix(": complete, \(1 << 20) bytes") }, "\(ending.all)")
        await scene.sandbox.stop()
    }

    // MARK: Lists

    @Test func `Lists show complete and unfinished lectures, and courses as folders`() async throws {
        let scene = try await GuideScene.make()
        let gateway = scene.sandbox.http
        let done = try await scene("download", "\(gateway)/i/bytes-1M-5?set.course=Algebra", "\(gateway)/i/bytes-1M-6")
        #expect(done.status == 0, "\(done.all)")
        // Stops before it is complete.
        let broken = "\(gateway)/i/bytes-1M-7?media-fault=404"
        #expect(try await scene("download", broken).status == 1)

        #expect(try await scene("list").lines.count == 3)
        let completed = try await scene("list", "completed")
        #expect(completed.lines.count == 2 && completed.lines.allSatisfy { $0.contains(" 100 % plays ") })
        #expect(try await scene("list", "recent").lines.count == 2)
        let others = try await scene("list", "in-progress")
        #expect(others.lines.count == 1 && others.text.hasPrefix("bytes-1M-7 0 % waits "), "\(others.all)")
        let rows = try await scene("list", "folders")
        #expect(rows.lines == ["Algebra/ 1", "Long recordings/ 2"], "\(rows.all)")
        await scene.sandbox.stop()
    }

    @Test func `Without a start there is no list`() async throws {
        let scene = try await GuideScene.make()
        let ending = try await scene.run(["list"], ["KOLLUS_KEY": "no.such.key"])
        #expect(ending.status == 1 && ending.text.hasPrefix("error -2106: "), "\(ending.all)")
        #expect(try await scene("list", "newest").status == 1)
        await scene.sandbox.stop()
    }

    // MARK: Renewal

    @Test func `Renewal renews each licence and reports each`() async throws {
        let scene = try await GuideScene.make()
        try await scene.sandbox.set(policy: .ending(in: 3600))
        var links: [String] = []
        for seed in 1...3 {
            links.append(try await scene.sandbox.link(key: "bytes-64K-\(seed)", query: "licensed"))
        }
        #expect(try await scene.run(["download"] + links).status == 0)
        // Nothing has ended, so there is nothing to do.
        #expect(try await scene("renewal").status == 0)
        #expect(try await scene.sandbox.callbackItems().allSatisfy { $0.kind != 3 })

        let ending = try await scene("renewal", "--all")
        #expect(ending.status == 0, "\(ending.all)")
        #expect(ending.lines.prefix(3) == ["1 of 3: renewed", "2 of 3: renewed", "3 of 3: renewed"])
        #expect(ending.lines.filter { $0.contains(": until 20") }.count == 3)
        #expect(try await scene.sandbox.callbackItems().filter { $0.kind == 3 && $0.resetReq == 1 }.count == 3)
        await scene.sandbox.stop()
    }

    @Test func `A renewal that a server refuses leaves everything as it is`() async throws {
        let scene = try await GuideScene.make()
        let link = try await scene.sandbox.link(key: "bytes-64K-4", query: "licensed")
        #expect(try await scene("download", link).status == 0)
        try await scene.sandbox.set(policy: .refusal("Ask in room 12."), kind: 3)
        let ending = try await scene("renewal", "--all")
        #expect(ending.status == 1)
        #expect(ending.lines.first == "1 of 1: error -8657: Ask in room 12.", "\(ending.all)")
        #expect(try await scene("list", "completed").lines.count == 1)
        await scene.sandbox.stop()
    }

    @Test func `What a server orders deleted is gone when the application is notified`() async throws {
        let scene = try await GuideScene.make()
        let link = try await scene.sandbox.link(key: "bytes-64K-5", query: "licensed")
        #expect(try await scene("download", link).status == 0)
        // The completion callback is answered by the same policy, at the next start at the latest.
        #expect(try await scene.command("licence", "debts", "--pay").status == 0)
        var order = CallbackPolicy()
        order.contentDelete = 1
        try await scene.sandbox.set(policy: order)
        let ending = try await scene("renewal", "--all")
        #expect(ending.lines.contains("bytes-64K-5: deleted by the server"), "\(ending.all)")
        #expect(try await scene("list").text.isEmpty)
        await scene.sandbox.stop()
    }

    // MARK: Deletion

    @Test func `Deletion removes one lecture, then the others, and never a sample`() async throws {
        let scene = try await GuideScene.make()
        let gateway = "\(scene.sandbox.http)/i"
        let sample = "\(gateway)/bytes-1M-10?set.content_type=sample"
        let done = try await scene("download", "\(gateway)/bytes-1M-8", "\(gateway)/bytes-1M-9", sample)
        #expect(done.status == 0, "\(done.all)")
        let one = try await scene("deletion", "bytes-1M-8", "never-heard-of")
        #expect(one.status == 0 && one.text.hasPrefix("2 contents, \(2 << 20) bytes"), "\(one.all)")
        let refused = try await scene("deletion", "bytes-1M-10")
        #expect(refused.status == 1 && refused.text.hasPrefix("error -8648: "), "\(refused.all)")
        let all = try await scene("deletion", "--all")
        #expect(all.status == 0 && all.text.hasPrefix("1 contents, \(1 << 20) bytes"), "\(all.all)")
        let cache = try await scene("deletion", "--cache")
        #expect(cache.status == 0, "\(cache.all)")
        await scene.sandbox.stop()
    }

    // MARK: Events

    @Test func `Events report the end of each download once, the licence server, and the reports`() async throws {
        let scene = try await GuideScene.make(["--lms"])
        let licensed = try await scene.sandbox.link(key: "bytes-64K-11", query: "licensed")
        let plain = "\(scene.sandbox.http)/media/bytes-64K-12.mp4"
        try await scene.report(1, to: "/lms/json")
        let ending = try await scene("events", licensed, plain, "\(scene.sandbox.http)/media/none.mp4")
        #expect(ending.status == 1)
        #expect(ending.lines.filter { $0.hasPrefix("download ") }.count == 3, "\(ending.all)")
        #expect(ending.lines.filter { $0.hasSuffix(": complete") }.count == 2)
        #expect(ending.lines.contains { $0.hasSuffix("none.mp4: error -8404") })
        #expect(ending.lines.contains("licence server: kind 1, result 1"))
        #expect(ending.lines.contains { $0.hasPrefix("report: ") && $0.hasSuffix("answer JSON") }, "\(ending.all)")
        // It goes out by itself, unless the call comes first; either way once.
        let last = try #require(ending.lines.last)
        #expect(["reports: 1 sent, 0 not", "reports: 0 sent, 0 not"].contains(last))
        #expect(try await scene.sandbox.lmsSummary().once == 1)
        await scene.sandbox.stop()
    }

    @Test func `Reports that no server accepts stay stored`() async throws {
        let scene = try await GuideScene.make(["--lms"])
        try await scene.sandbox.setLMS(habits: "status:503")
        try await scene.report(1, to: "/lms/json")
        let ending = try await scene("events")
        #expect(ending.status == 1)
        #expect(ending.lines.last == "reports: 0 sent, 1 not", "\(ending.all)")
        try await scene.sandbox.setLMS(habits: "")
        #expect(try await scene.command("lms", "retry", "--all").status != 64)
        await scene.sandbox.stop()
    }

    @Test func `Downloads of a killed program continue on request`() async throws {
        let scene = try await GuideScene.make()
        let links = (18...19).map { "\(scene.sandbox.http)/i/bytes-16M-\($0)" }
        // Neither can complete, however late the signal comes.
        try await scene.sandbox.set(fault: "stall:6000000", on: "/media/*")
        let program = try scene.start(["events"] + links)
        try await scene.untilBytesCame(4 << 20, of: "bytes-16M-18", "bytes-16M-19")
        program.send(SIGKILL)
        _ = await program.ending()
        try await scene.sandbox.set(fault: "", on: "/media/*")
        let ending = try await scene.run(["events"] + links)
        #expect(ending.status == 0, "\(ending.all)")
        #expect(ending.lines.filter { $0.hasSuffix(": complete") }.count == 2, "\(ending.all)")
        await scene.sandbox.stop()
    }

    // MARK: Errors

    @Test func `Errors have a message and advice`() async throws {
        let scene = try await GuideScene.make()
        let port = try Places.freePort()
        let gateway = "\(scene.sandbox.http)/i"
        for (url, code, advice) in [
            ("\(gateway)/bytes-64K-13?media-fault=404", -8404, "ask the provider"),
            ("http://127.0.0.1:\(port)/a.mp4", -8007, "try again when there is a network"),
            ("not an address", -8637, "ask the provider"),
            ("\(gateway)/bytes-64K-14?set.downloadable=maybe", -8633, "ask the provider"),
        ] {
            let ending = try await scene("errors", url)
            // No message on standard error either: the delegate's only method is found.
            #expect(ending.status == 1 && ending.errorText.isEmpty, "\(ending.all)")
            #expect(ending.lines.first?.hasPrefix("error \(code): ") == true, "\(url): \(ending.all)")
            #expect(ending.lines.dropFirst().first == "advice: \(advice)", "\(url): \(ending.all)")
        }
        let old = try await scene.sandbox.link(key: "bytes-64K-14", expiresIn: -60)
        let expired = try await scene("errors", old)
        #expect(expired.lines.first?.hasPrefix("error -4085: ") == true, "\(expired.all)")
        #expect(expired.lines.last == "advice: ask for a new link")
        let good = "\(gateway)/bytes-64K-15"
        #expect(try await scene("errors", good).text == "bytes-64K-15: complete\n")
        let again = try await scene("errors", good)
        #expect(again.lines.last == "advice: play it: it is complete", "\(again.all)")
        await scene.sandbox.stop()
    }

    @Test func `A licence server's own message replaces ours`() async throws {
        let scene = try await GuideScene.make()
        try await scene.sandbox.set(policy: .refusal("This course has not begun."))
        let link = try await scene.sandbox.link(key: "bytes-64K-16", query: "licensed")
        let ending = try await scene("errors", link)
        #expect(ending.status == 1)
        #expect(ending.lines.first == "error -8655: This course has not begun.", "\(ending.all)")
        await scene.sandbox.stop()
    }

    // MARK: In short

    @Test func `The example of the README fetches a lecture or says why it did not`() async throws {
        let scene = try await GuideScene.make()
        let good = try await scene("short", "\(scene.sandbox.http)/i/bytes-1M-17")
        #expect(good.status == 0 && good.lines.last == "bytes-1M-17: 100 %", "\(good.all)")
        let bad = try await scene("short", "\(scene.sandbox.http)/i/none")
        #expect(bad.status == 1 && bad.text.hasPrefix("error -4012: "), "\(bad.all)")
        await scene.sandbox.stop()
    }

    @Test(arguments: [[], ["play"], ["download"], ["errors", "a", "b"], ["short"], ["deletion"]])
    func `Unknown arguments are answered with the usage`(words: [String]) async throws {
        let ending = try await ChildProcess.run(Places.builtProduct("kollus-guide"), words)
        #expect(ending.status == 64 && ending.text.hasPrefix("usage: kollus-guide "))
    }
}
