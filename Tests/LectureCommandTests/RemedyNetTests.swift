import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Errors that can be triggered: following the message resolves each.
@Suite(.timeLimit(.minutes(2))) struct RemedyNetTests {
    @Test func `a missing file is downloaded again by precache`() async throws {
        let shelf = try await Shelf()
        let film = try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        try FileManager.default.removeItem(atPath: try await shelf.path("a"))
        let refused = try await shelf.me("cat", "a")
        #expect(refused.status == 65 && refused.errorText.contains("'lecturectl precache'"), "\(refused.errorText)")
        #expect(try await shelf.me("precache").status == 0)
        let played = try await shelf.me("cat", "a")
        #expect(played.status == 0 && played.output == film, "\(played.errorText)")
    }

    @Test func `damage is repaired by verify --all --repair`() async throws {
        let shelf = try await Shelf()
        let film = try shelf.put("a.mp4", seed: 1, count: 3 << 20)
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        let handle = try FileHandle(forUpdating: URL(filePath: try await shelf.path("a")))
        try handle.seek(toOffset: 2_000_000)
        try handle.write(contentsOf: Data([film[2_000_000] ^ 1]))
        try handle.close()
        let refused = try await shelf.me("cat", "a")
        #expect(refused.status == 65, "\(refused.errorText)")
        #expect(refused.errorText.contains("'lecturectl verify --all --repair'"), "\(refused.errorText)")
        #expect(try await shelf.me("verify", "--all", "--repair").status == 0)
        #expect(try await shelf.me("cat", "a").output == film)
    }

    @Test func `incomplete lectures are completed by precache`() async throws {
        let shelf = try await Shelf()
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 1)
        let refused = try await shelf.me("path", "a")
        #expect(refused.errorText.contains("the lecture is not complete"), "\(refused.errorText)")
        #expect(refused.errorText.contains("'lecturectl precache'"), "\(refused.errorText)")
        try shelf.put("a.mp4", seed: 1)
        let again = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a")
        #expect(again.status == 0, "\(again.errorText)")
        #expect(try await shelf.me("path", "a").status == 0)
    }

    @Test func `an exhausted quota is resolved by removing lectures`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        try shelf.put("b.mp4", seed: 2)
        let quota = ["--quota", "500000"]
        #expect(try await shelf.me.run(["precache", shelf.url("a.mp4"), "--key", "a"] + quota).status == 0)
        let refused = try await shelf.me.run(["precache", shelf.url("b.mp4"), "--key", "b"] + quota)
        #expect(refused.status == 75 && refused.errorText.contains("Remove lectures"), "\(refused.errorText)")
        #expect(try await shelf.me("remove", "a").status == 0)
        let again = try await shelf.me.run(["precache"] + quota)
        #expect(again.status == 0, "\(again.errorText)")
        #expect(try await shelf.me("path", "b").status == 0)
    }

    @Test func `a full disk is resolved by free space and another run`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let refused = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--reserve", "100000G")
        #expect(refused.status == 75 && refused.errorText.contains("Free some space"), "\(refused.errorText)")
        #expect(try await shelf.me("precache").status == 0)
        #expect(try await shelf.me("path", "a").status == 0)
    }

    @Test func `a web page in place of a film is resolved by the film or --accept-any`() async throws {
        let shelf = try await Shelf()
        try shelf.me.home.write(Array("Please sign in".utf8), to: "site/a.mp4")
        let refused = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a")
        #expect(refused.status != 0 && refused.errorText.contains("--accept-any"), "\(refused.errorText)")
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--accept-any").status == 0)
    }

    @Test func `a missing store is created by precache`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let refused = try await shelf.me("show", "a")
        #expect(refused.status == 74, "\(refused.errorText)")
        #expect(refused.errorText.contains("lecturectl precache"), "\(refused.errorText)")
        #expect(!FileManager.default.fileExists(atPath: shelf.me.store))
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        #expect(try await shelf.me("show", "a").status == 0)
    }

    @Test func `an unknown key is resolved by one that list shows`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("a.mp4")).status == 0)
        let refused = try await shelf.me("show", "a")
        #expect(refused.status == 1 && refused.errorText.contains("'lecturectl list'"), "\(refused.errorText)")
        let key = try #require(try await shelf.me("list").text.split(separator: "\t").first)
        #expect(try await shelf.me("show", String(key)).status == 0)
    }

    @Test func `a cancelled download is continued by resume and precache`() async throws {
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 400_000
        let shelf = try await Shelf(options)
        let film = try shelf.put("a.mp4", seed: 1, count: 5 << 20)
        let run = try shelf.me.start("precache", "--json", "--connections", "1", shelf.url("a.mp4"), "--key", "a")
        try await run.wait(forOutput: #""event":"progress""#)
        #expect(try await shelf.me("cancel", "a").status == 0)
        _ = await run.ending()
        let why = try await shelf.me("why", "a").text
        #expect(why.contains("'lecturectl resume a'"), "\(why)")
        #expect(try await shelf.me("resume", "a").status == 0)
        #expect(try await shelf.me("precache").status == 0)
        #expect(try await shelf.bytes("a") == film)
    }

    @Test func `an unknown authority is refused until --ca-file names it`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start())
        let url = "\(sandbox.https)/media/bytes-64K-1.mp4"
        let refused = try await me("precache", "--json", "--max-attempts", "1", "--key", "a", url)
        #expect(refused.status != 0 && refused.text.contains(#""name":"tls""#), "\(refused.text)")
        #expect(try await me("precache", "--ca-file", sandbox.authorityFile, "--key", "a", url).status == 0)
    }
}
