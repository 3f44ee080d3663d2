import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A site of small films that change, and an account that keeps them.
struct Shelf {
    let me: BadDay
    let nginx: NginxOrigin

    init(_ options: NginxOrigin.Options = .init()) async throws {
        me = try BadDay()
        try me.home.write([], to: "site/.keep")
        nginx = try await NginxOrigin.start(serving: me.home.file("site"), options)
    }

    /// Puts a film on the site, or replaces it.
    @discardableResult
    func put(_ name: String, seed: UInt64, count: Int = 300_000, modified: Date? = nil) throws -> Data {
        let bytes = MediaBeginning.replacing(SampleBytes.make(count, seed: seed))
        let path = try me.home.write(bytes, to: "site/\(name)")
        // The entity tag is made from the date; two versions that are made in one second must differ in it.
        let date = modified ?? Date(timeIntervalSince1970: 1_600_000_000 + Double(seed) * 1000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        return Data(bytes)
    }

    func url(_ name: String) -> String { "\(nginx.http)/\(name)" }

    func sha256(_ name: String) async throws -> String {
        String(try await ChildProcess.run("/usr/bin/sha256sum", [me.home.file("site/\(name)")]).text.prefix(64))
    }

    /// Writes a course list of one line.
    func list(_ members: [String: Any], to name: String = "list.jsonl") throws -> String {
        try list([members], to: name)
    }

    /// Writes a course list of several lines.
    func list(_ lines: [[String: Any]], to name: String = "list.jsonl") throws -> String {
        let text = try lines.map { members in
            let line = try JSONSerialization.data(
                withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: line, as: UTF8.self)
        }
        return try me.home.write(text.joined(separator: "\n"), to: name)
    }

    /// The bytes that `path` names.
    func bytes(_ key: String) async throws -> Data {
        let ending = try await me("path", key)
        try #require(ending.status == 0, "\(ending.errorText)")
        return try Data(contentsOf: URL(filePath: ending.text.trimmingCharacters(in: .newlines)))
    }

    func path(_ key: String) async throws -> String {
        try await me("path", key).text.trimmingCharacters(in: .newlines)
    }

    /// Requests that carried bytes of a film.
    func downloads(atLeast count: Int) async throws -> [NginxOrigin.Request] {
        try await nginx.requests(atLeast: count).filter { $0.bytes > 0 && $0.status < 300 }
    }

    func member(_ key: String, _ name: String) async throws -> Any? {
        let text = try await me("show", key, "--json").text
        return try (JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?[name]
    }
}

/// What "complete" means: the requested lecture is on the disk.
@Suite(.timeLimit(.minutes(3))) struct CompleteNetTests {
    // MARK: Another digest, size or source

    @Test func `a list with another digest gets the new version, and the old one plays until then`()
        async throws
    {
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 400_000
        let shelf = try await Shelf(options)
        let old = try shelf.put("l.mp4", seed: 1)
        let first = try shelf.list(["url": shelf.url("l.mp4"), "key": "l", "sha256": try await shelf.sha256("l.mp4")])
        #expect(try await shelf.me("precache", first).errorText.contains("1 downloaded (292 KiB)."))
        #expect(try await shelf.me("precache", first).errorText.contains("0 downloaded, 1 already complete (0 B)."))

        let new = try shelf.put("l.mp4", seed: 2, count: 900_000)
        let second = try shelf.list(["url": shelf.url("l.mp4"), "key": "l", "sha256": try await shelf.sha256("l.mp4")])
        let run = try shelf.me.start("precache", "--json", second)
        try await run.wait(forOutput: #""event":"progress""#)
        #expect(try await shelf.bytes("l") == old, "the old version plays meanwhile")
        #expect(try await shelf.me("list", "--json", "--state", "outdated").text.contains(#""outdated":true"#))
        #expect(try await shelf.me("cat", "l", "--range", "0-99").output == old.prefix(100))
        let ending = await run.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(ending.text.contains(#""event":"outdated","key":"l""#))
        let summary = try Line.summary(ending.text)
        #expect(summary.completed == 1 && summary.skipped == 0)
        #expect(try await shelf.bytes("l") == new)
        #expect(try await shelf.me("list", "--state", "outdated").text.isEmpty)
        #expect(try await shelf.me("precache", second).errorText.contains("0 downloaded, 1 already complete (0 B)."))
        try await shelf.me.expectSound()
    }

    @Test func `a digest that the server cannot match leaves the old version playable`() async throws {
        let shelf = try await Shelf()
        let bytes = try shelf.put("l.mp4", seed: 1)
        let right = try await shelf.sha256("l.mp4")
        #expect(try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l", "--sha256", right).status == 0)
        let wrong = String(repeating: "ab", count: 32)
        let ending = try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l", "--sha256", wrong)
        #expect(ending.status == 1)
        #expect(ending.errorText.contains("the bytes do not have the expected digest"))
        #expect(try await shelf.bytes("l") == bytes)
        #expect(try await shelf.member("l", "playable") as? Bool == true)
        #expect(try await shelf.member("l", "outdated") as? Bool == true)
        let why = try await shelf.me("why", "l").text
        #expect(why.contains("An older version is complete and stays playable"), "\(why)")
        // A request with the file's actual digest.
        let back = try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l", "--sha256", right)
        #expect(back.status == 0 && back.errorText.contains("1 already complete (0 B)"), "\(back.errorText)")
        #expect(try await shelf.me.list().map(\.state) == ["completed"])
    }

    @Test func `another size is another version`() async throws {
        let shelf = try await Shelf()
        try shelf.put("l.mp4", seed: 1)
        let url = shelf.url("l.mp4")
        #expect(try await shelf.me("precache", try shelf.list(["url": url, "key": "l", "size": 300_000])).status == 0)
        let new = try shelf.put("l.mp4", seed: 2, count: 300_001)
        let ending = try await shelf.me("precache", try shelf.list(["url": url, "key": "l", "size": 300_001]))
        #expect(ending.errorText.contains("1 downloaded"), "\(ending.errorText)")
        #expect(try await shelf.bytes("l") == new)
    }

    @Test func `a digest given for the first time is computed and kept`() async throws {
        let shelf = try await Shelf()
        let bytes = try shelf.put("l.mp4", seed: 1, count: 2_500_000)
        #expect(try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l").status == 0)
        #expect(try await shelf.member("l", "sha256") == nil)
        let digest = try await shelf.sha256("l.mp4")
        let list = try shelf.list(["url": shelf.url("l.mp4"), "key": "l", "sha256": digest])
        let ending = try await shelf.me("precache", list)
        #expect(ending.status == 0 && ending.errorText.contains("0 downloaded, 1 already complete (0 B)."))
        #expect(try await shelf.member("l", "sha256") as? String == digest)
        #expect(try await shelf.nginx.requests().count == 1, "nothing was asked again")
        // And a digest that the file does not have is noticed at once.
        let new = try shelf.put("l.mp4", seed: 2)
        let other = try shelf.list(["url": shelf.url("l.mp4"), "key": "l", "sha256": try await shelf.sha256("l.mp4")])
        #expect(try await shelf.me("precache", other).errorText.contains("1 downloaded"))
        #expect(try await shelf.bytes("l") == new && new != bytes)
    }

    @Test func `another URL under the same key is checked, and a missing source changes nothing`()
        async throws
    {
        let shelf = try await Shelf()
        let bytes = try shelf.put("l.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l").status == 0)

        let missing = try await shelf.me("precache", shelf.url("other.mp4"), "--key", "l")
        #expect(missing.status == 1)
        #expect(missing.errorText.contains("not checked: l:") && missing.errorText.contains("HTTP 404"))
        #expect(try await shelf.me("show", "l").text.contains("/l.mp4"), "the source is where the bytes came from")
        #expect(try await shelf.me.list().map(\.state) == ["completed"])

        // A copy with the same validators is the same lecture; its bytes did not come from there.
        try shelf.put("copy.mp4", seed: 1)
        let copy = try await shelf.me("precache", shelf.url("copy.mp4"), "--key", "l")
        #expect(copy.errorText.contains("0 downloaded, 1 already complete (0 B)."), "\(copy.errorText)")
        #expect(try await shelf.me("show", "l").text.contains("/l.mp4"))

        let other = try shelf.put("other.mp4", seed: 2)
        let changed = try await shelf.me("precache", shelf.url("other.mp4"), "--key", "l")
        #expect(changed.status == 0 && changed.errorText.contains("1 downloaded"), "\(changed.errorText)")
        #expect(try await shelf.bytes("l") == other && other != bytes)
        #expect(try await shelf.me("show", "l").text.contains("/other.mp4"))
    }

    @Test func `the same digest under another URL is the same lecture, without a request`() async throws {
        let shelf = try await Shelf()
        try shelf.put("l.mp4", seed: 1)
        let digest = try await shelf.sha256("l.mp4")
        #expect(try await shelf.me("precache", shelf.url("l.mp4"), "--key", "l", "--sha256", digest).status == 0)
        let moved = try await shelf.me("precache", shelf.url("moved.mp4"), "--key", "l", "--sha256", digest)
        #expect(moved.status == 0 && moved.errorText.contains("1 already complete"), "\(moved.errorText)")
        #expect(try await shelf.nginx.requests().count == 1)
    }

    // MARK: Revalidation

    @Test func `--check head asks once, downloads changed lectures, and checks nothing else`() async throws {
        let shelf = try await Shelf()
        try shelf.put("l.mp4", seed: 1)
        let url = shelf.url("l.mp4")
        let twice = try shelf.me.home.write("\(url)\n\(url)\n", to: "twice.txt")
        #expect(try await shelf.me("precache", twice).status == 0)
        let same = try await shelf.me("precache", "--check", "head", twice)
        #expect(same.status == 0 && same.errorText.contains("0 downloaded, 1 already complete (0 B)."))
        let asked = try await shelf.nginx.requests(atLeast: 2)
        #expect(asked.map(\.status) == [200, 304], "one conditional request per lecture and run")

        let new = try shelf.put("l.mp4", seed: 2)
        #expect(try await shelf.me("precache", "--check", "list", twice).errorText.contains("1 already complete"))
        #expect(try await shelf.nginx.requests().count == 2, "the list says nothing new")
        let changed = try await shelf.me("precache", "--check", "head", twice)
        #expect(changed.status == 0 && changed.errorText.contains("1 downloaded"), "\(changed.errorText)")
        #expect(try await shelf.bytes(try #require(try await shelf.me.list().first?.key)) == new)

        let digest = String(repeating: "cd", count: 32)
        let never = try await shelf.me("precache", "--check", "never", url, "--sha256", digest)
        #expect(never.status == 0 && never.errorText.contains("1 already complete"))
    }

    @Test func `an unreachable server leaves complete lectures as they are and delays not every one`() async throws {
        let shelf = try await Shelf()
        let names = (0..<12).map { "l\($0).mp4" }
        for (number, name) in names.enumerated() { try shelf.put(name, seed: UInt64(number), count: 20_000) }
        let list = try shelf.me.home.write(names.map(shelf.url).joined(separator: "\n"), to: "list.txt")
        #expect(try await shelf.me("precache", list).status == 0)
        await shelf.nginx.stop()
        let ending = try await shelf.me("precache", "--json", "--check", "head", list)
        #expect(ending.status == 69, "\(ending.errorText)")
        #expect(ending.text.components(separatedBy: #""event":"check_failed""#).count == 13)
        #expect(ending.errorText.contains("12 already complete, 12 not checked"))
        #expect(try await shelf.me.list().allSatisfy { $0.state == "completed" })
    }

    // MARK: Files that are gone

    @Test(arguments: ["gone", "short"])
    func `a missing or short file is noticed by every command and downloaded again`(what: String) async throws {
        let shelf = try await Shelf()
        let bytes = try shelf.put("a.mp4", seed: 1, count: 1_500_000)
        try shelf.put("b.mp4", seed: 2)
        let list = try shelf.me.home.write(
            "{\"url\":\"\(shelf.url("a.mp4"))\",\"key\":\"a\"}\n{\"url\":\"\(shelf.url("b.mp4"))\",\"key\":\"b\"}\n",
            to: "list.jsonl")
        #expect(try await shelf.me("precache", list).status == 0)
        let file = try await shelf.path("a")
        if what == "gone" {
            try FileManager.default.removeItem(atPath: file)
        } else {
            try FileHandle(forUpdating: URL(filePath: file)).truncate(atOffset: 1_000_000)
        }
        let lines = try await shelf.me.list()
        #expect(lines.compactMap(\.state).sorted() == ["completed", "failed"])
        #expect(lines.first { $0.key == "a" }?.name == "media_missing")
        // Its row still says that it is complete: only what asks for a state corrects that.
        let text = try await shelf.me("list").text
        #expect(text.contains("a\tfailed\t0%\t") && text.contains("missing or was cut short"), "\(text)")
        #expect(try await shelf.me("list", "--state", "completed").text.hasPrefix("b\t"))
        #expect(try await shelf.me("list", "--state", "damaged").text.hasPrefix("a\tfailed"))
        #expect(try await shelf.me("show", "a", "--json").text.contains(#""playable":false"#))
        #expect(try await shelf.me("why", "a").text.contains("is missing or was cut short"))
        #expect(try await shelf.me("status", "--json").text.contains(#""failed":1"#))
        for command in ["path", "cat"] {
            let ending = try await shelf.me(command, "a")
            #expect(
                ending.status == 65 && ending.output.isEmpty && ending.errorText.contains("missing or was cut short"))
        }
        let check = try await shelf.me("store", "check")
        #expect(check.status == 65 && check.errorText.contains(what == "gone" ? "is missing" : "is too short"))
        let verify = try await shelf.me("verify", "a")
        #expect(verify.status == 65)
        #expect(
            verify.errorText.components(separatedBy: "\n").count { $0.contains("a: ") } == 1, "one line, not one a MiB")

        let again = try await shelf.me("precache", list)
        #expect(again.status == 0 && again.errorText.contains("1 downloaded, 1 already complete (1.43 MiB)."))
        #expect(try await shelf.bytes("a") == bytes)
        try await shelf.me.expectSound()
        // Files without a source are found missing as well.
        try FileManager.default.removeItem(atPath: try await shelf.path("a"))
        #expect(try await shelf.me("precache").errorText.contains("1 downloaded"))
        #expect(try await shelf.bytes("a") == bytes)
    }

    @Test func `a file that returns is complete again, and an unmounted disk fetches nothing`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        let media = shelf.me.store + "/media"
        try FileManager.default.moveItem(atPath: media, toPath: media + "-elsewhere")
        #expect(try await shelf.me.list().map(\.name) == ["media_missing"])
        for words in [["precache"], ["precache", shelf.url("a.mp4"), "--key", "a"]] {
            let refused = try await shelf.me.run(words)
            #expect(
                refused.status == 65 && refused.errorText.contains("is a disk not mounted?"), "\(refused.errorText)")
        }
        #expect(try await shelf.nginx.requests().count == 1)
        try FileManager.default.removeItem(atPath: media)
        try FileManager.default.moveItem(atPath: media + "-elsewhere", toPath: media)
        #expect(try await shelf.me.list().map(\.state) == ["completed"])
        #expect(
            try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").errorText.contains("1 already complete"))

        // The remedy that the message names.
        try FileManager.default.removeItem(atPath: media)
        let repaired = try await shelf.me("verify", "--all", "--repair")
        #expect(repaired.status == 0 && repaired.errorText.contains("1 repaired"), "\(repaired.errorText)")
        #expect(try await shelf.me.list().map(\.state) == ["completed"])
        #expect(try await shelf.me("verify", "a").status == 0)
    }

    @Test(arguments: [true, false])
    func `findings of verify are kept, and the next run fetches just those`(namesList: Bool) async throws {
        let shelf = try await Shelf()
        let bytes = try shelf.put("a.mp4", seed: 1, count: 5 << 20)
        let list = try shelf.me.home.write("\(shelf.url("a.mp4"))\n", to: "list.txt")
        #expect(try await shelf.me("precache", list).status == 0)
        let key = try #require(try await shelf.me.list().first?.key)
        let file = try FileHandle(forUpdating: URL(filePath: try await shelf.path(key)))
        try file.seek(toOffset: 3_500_000)
        try file.write(contentsOf: [bytes[3_500_000] ^ 1])
        try file.close()
        let verify = try await shelf.me("verify", key)
        #expect(verify.status == 65)
        #expect(
            verify.errorText.contains("media file damaged at 3.00–4.00 MiB (bytes 3145728–4194303)"),
            "\(verify.errorText)")
        let line = try #require(try await shelf.me.list().first)
        #expect(line.state == "failed" && line.name == "damaged")
        let why = try await shelf.me("why", key).text
        #expect(why.contains("the stored file is damaged") && why.contains("precache"), "\(why)")
        #expect(try await shelf.me("path", key).status == 65)
        #expect(
            try await shelf.me("cat", key, "--range", "0-1023").output == bytes.prefix(1024), "the rest is readable")

        let repaired = try await shelf.me.run(["precache", "--json"] + (namesList ? [list] : []))
        #expect(repaired.status == 0, "\(repaired.errorText)")
        #expect(try Line.summary(repaired.text).bytesFetched == 1 << 20)
        #expect(try await shelf.bytes(key) == bytes)
    }

    // MARK: Not a lecture

    @Test func `--accept-any accepts data that is not recognised as a lecture`() async throws {
        let shelf = try await Shelf()
        try shelf.me.home.write("Please sign in.\n", to: "site/text.mp4")
        try shelf.me.home.write([], to: "site/empty.mp4")
        for name in ["text.mp4", "empty.mp4"] {
            let refused = try await shelf.me("precache", shelf.url(name))
            #expect(refused.status == 1 && refused.errorText.contains("add --accept-any"), "\(refused.errorText)")
            let taken = try await shelf.me("precache", "--accept-any", shelf.url(name))
            #expect(taken.status == 0 && taken.errorText.contains("1 downloaded"), "\(taken.errorText)")
        }
        #expect(try await shelf.me("verify", "--all").status == 0)
    }

    @Test func `a range of an empty lecture is empty, and of an unfinished one an error`()
        async throws
    {
        let shelf = try await Shelf()
        try shelf.me.home.write([], to: "site/empty.mp4")
        #expect(try await shelf.me("precache", "--accept-any", "--key", "e", shelf.url("empty.mp4")).status == 0)
        for range in ["0-", "0-1023", "-500"] {
            let cat = try await shelf.me("cat", "--range", range, "e")
            #expect(cat.status == 0 && cat.output.isEmpty, "\(range): \(cat.errorText)")
        }
        let behind = try await shelf.me("cat", "--range", "1-", "e")
        #expect(behind.status == 64)
        #expect(behind.errorText.contains("--range begins after the last byte: the lecture has 0 bytes"))
        #expect(try await shelf.me("precache", "--key", "n", shelf.url("none.mp4")).status == 1)
        let unfinished = try await shelf.me("cat", "--range", "0-9", "n")
        let whole = try await shelf.me("cat", "n")
        #expect(unfinished.status == whole.status && unfinished.status != 64, "\(unfinished.errorText)")
        #expect(unfinished.errorText == whole.errorText)
        #expect(try await shelf.me("cat", "--range", "0-9", "no-such-key").errorText.contains("no-such-key"))
    }

    // MARK: Space

    @Test(arguments: [["--reserve", "100000G"], ["--quota", "1M"]])
    func `a lecture that cannot fit is not read`(bound: [String]) async throws {
        let shelf = try await Shelf()
        try shelf.put("big.mp4", seed: 1, count: 12 << 20)
        let ending = try await shelf.me.run(["precache", "--json", shelf.url("big.mp4")] + bound)
        #expect(ending.status == 75, "\(ending.errorText)")
        let summary = try Line.summary(ending.text)
        #expect(summary.bytesFetched == 0 && summary.stopped == 1)
        // With the size in the list no request is sent.
        let asked = try await shelf.nginx.requests(atLeast: 1).count
        let list = try shelf.list(["url": shelf.url("other.mp4"), "size": 12 << 20])
        try shelf.put("other.mp4", seed: 2, count: 12 << 20)
        #expect(try await shelf.me.run(["precache", list] + bound).status == 75)
        #expect(try await shelf.nginx.requests().count == asked)
    }

    // MARK: Servers that name no version

    @Test(arguments: [true, false])
    func `without validators and digest an interrupted download starts over`(trusts: Bool) async throws {
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 3 << 19
        options.directives = "etag off; if_modified_since off; add_header Last-Modified \"\";"
        let shelf = try await Shelf(options)
        let old = try shelf.put("a.mp4", seed: 1, count: 9 << 20)
        let process = try shelf.me.start("precache", "--json", shelf.url("a.mp4"))
        // Bytes are counted here once they are durable.
        while try await shelf.me.list().first?.bytes ?? 0 < 2 << 20 {}
        process.send(SIGKILL)
        _ = await process.ending()
        let new = try shelf.put("a.mp4", seed: 2, count: 9 << 20)
        let ending = try await shelf.me.run(
            ["precache", "--json", shelf.url("a.mp4")] + (trusts ? ["--trust-length"] : []))
        #expect(ending.status == 0, "\(ending.errorText)")
        let summary = try Line.summary(ending.text)
        let bytes = try await shelf.me.bytes()
        if trusts {
            #expect(summary.bytesReused ?? 0 > 0)
            #expect(bytes.count == new.count && bytes != new && bytes != old, "this is what --trust-length risks")
        } else {
            #expect(bytes == new, "one version, as a whole")
            #expect(summary.bytesReused == 0)
        }
    }
}
