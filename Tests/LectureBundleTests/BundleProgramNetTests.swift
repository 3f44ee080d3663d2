import Foundation
import LectureBundle
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl bundle` with the built program, a real server, and other programs that read the archive.
@Suite(.timeLimit(.minutes(5))) struct BundleProgramNetTests {
    private static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    @Test func `lectures arrive as they were, without a network, whatever is sealed`() async throws {
        for (mine, yours) in [("licensed", "licensed"), ("always", "licensed"), ("licensed", "always")] {
            let scene = try await BundleScene()
            for (person, policy) in [(scene.sender, mine), (scene.receiver, yours)] {
                _ = try person.home.write(
                    #"{"storage":{"seal":"\#(policy)"}}"#, to: ".config/lecturekit/config.json")
            }
            try await scene.fetch("3M-1", key: "plain", "--title", "강의")
            let link = try await scene.sandbox.link(key: "ranges-and-resuming", extras: true)
            #expect(try await scene.sender("precache", "-q", link).status == 0)
            try await scene.create()
            await scene.sandbox.stop()
            let ending = try await scene.take("--acks")
            #expect(ending.status == 0, "\(ending.errorText)")
            #expect(Set(ending.text.split(separator: "\n")) == ["ACK plain", "ACK ranges-and-resuming"])
            for key in ["plain", "ranges-and-resuming"] {
                #expect(try await scene.sha256(scene.sender, key) == (try await scene.sha256(scene.receiver, key)))
                for words in [["show", key], ["bookmark", "list", key, "--user", "learner"]] {
                    let (mine, yours) = (try await scene.sender.run(words), try await scene.receiver.run(words))
                    // Times, paths, chunks and the digest that an import computes are each one's own.
                    let own = ["Added", "Completed", "Path", "Last played", "Ranges", "SHA-256"]
                    func lines(_ text: String) -> [Substring] {
                        text.split(separator: "\n").filter { line in !own.contains { line.hasPrefix($0) } }
                    }
                    #expect(
                        lines(mine.text) == lines(yours.text) && mine.status == yours.status,
                        "\(words) \(mine.text) \(yours.text)")
                }
            }
            let files = try await scene.receiver("verify", "--all", "--json")
            #expect(files.status == 0 && files.text.contains(#""damaged":[]"#), "\(files.text)")
            // Pictures and subtitles, too.
            let roles = try await ChildProcess.run(
                try Places.command("python3"),
                [
                    "-c",
                    "import sqlite3, sys; print(sorted(sqlite3.connect(sys.argv[1]).execute("
                        + "'SELECT role, state, seal > 0 FROM resource').fetchall()))",
                    "\(scene.receiver.store)/lecturekit.db",
                ])
            let sealed = yours == "always" ? 1 : 0
            let expected =
                "[(0, 3, \(sealed)), (0, 3, \(sealed)), (5, 3, \(sealed)), (5, 3, \(sealed)), (6, 3, 0), (7, 3, 0)]\n"
            #expect(roles.text == expected, "\(roles.text)\(roles.errorText)")
            // Again: nothing is done, and it is said so.
            let again = try await scene.take("--json")
            #expect(again.status == 0, "\(again.errorText)")
            let summary = try Line.summary(again.text)
            #expect(summary.skipped == 2 && summary.completed == 0 && summary.bytesFetched == 0)
            #expect(try await scene.take("-n").text.isEmpty)
        }
    }

    @Test func `tar lists and extracts it, and another program verifies and opens it by the page alone`() async throws {
        let scene = try await BundleScene()
        try await scene.fetch("2M-7", key: "film")
        let script = Places.repository() + "/Tests/LectureBundleTests/open_bundle.py"
        let python = try Places.command("python3")
        let key = scene.sender.home.file("device.pem")
        let made = try await ChildProcess.run(python, [script, "key", key])
        try #require(made.status == 0, "\(made.errorText)")
        let jwk = try scene.sender.home.write(Array(made.output), to: "device.jwk")
        try await scene.create("--for", jwk)
        let listed = try await ChildProcess.run("/bin/tar", ["tf", scene.file])
        #expect(listed.status == 0 && listed.errors.isEmpty)
        let names = listed.text.split(separator: "\n").map(String.init)
        #expect(names.allSatisfy { BundleName($0) != nil } && names.last == "lecturekit-bundle/manifest.jws")
        let opened = try await ChildProcess.run(
            python, [script, "open", scene.file, key, scene.sender.home.file("out")])
        #expect(opened.status == 0, "\(opened.errorText)")
        let sum = try await ChildProcess.run("/usr/bin/sha256sum", [scene.sender.home.file("out/film.media")])
        #expect(sum.text.prefix(64) == (try await scene.sha256(scene.sender, "film")), "\(sum.text)\(sum.errorText)")
        // No byte of it is in clear, and no address.
        let archive = try Self.bytes(scene.file)
        let media = try Self.bytes(scene.sender.home.file("out/film.media"))
        #expect(archive.firstRange(of: Array(media[1_000_000..<1_000_032])) == nil)
        #expect(archive.firstRange(of: Array("127.0.0.1".utf8)) == nil)
    }

    @Test func `only what the other device does not have is written`() async throws {
        let scene = try await BundleScene()
        for name in ["a", "b"] { try await scene.fetch("300K-\(name.utf8.first ?? 0)", key: name) }
        try await scene.create("a")
        #expect(try await scene.take("-q").status == 0)
        _ = try scene.sender.home.write(Array(try await scene.receiver("list", "--json").output), to: "have.jsonl")
        let have = scene.sender.home.file("have.jsonl")
        let words = ["bundle", "create", scene.file, "--for", scene.receiverKey, "--have", have, "--json"]
        // The file is not replaced by accident.
        let taken = try await scene.sender.run(words)
        #expect(taken.status == 73 && taken.errorText.contains("b.tar"), "\(taken.errorText)")
        #expect(taken.errorText.contains("or add --force to replace it"), "\(taken.errorText)")
        // Nor is a bundle without a lecture written because a name is wrong.
        let other = scene.sender.home.file("other.tar")
        let unknown = try await scene.sender.run(
            ["bundle", "create", other, "--for", scene.receiverKey, "--course", "Geometry"])
        #expect(unknown.status == 1 && unknown.errorText.contains("'Geometry': no lecture belongs to this course"))
        #expect(!FileManager.default.fileExists(atPath: other), "\(unknown.errorText)")
        for flags in [["--dry-run"], ["--force"]] {
            let delta = try await scene.sender.run(words + flags)
            #expect(delta.status == 0, "\(delta.errorText)")
            #expect(try Line.all(delta.text).compactMap(\.key) == ["b"], "\(flags)")
            #expect(delta.text.contains(#""present":1"#))
        }
        let dry = try await scene.take("-n", "--json")
        #expect(try Line.all(dry.text).compactMap(\.key) == ["b"])
        #expect(try await scene.take("-q").status == 0)
        #expect(try await scene.receiver.list().compactMap(\.key).sorted() == ["a", "b"])
        _ = try scene.sender.home.write("no json\n", to: "have.jsonl")
        #expect(try await scene.sender.run(words + ["--force"]).status == 65)
    }

    @Test func `a damaged chunk is named, the other lectures arrive, and a good copy completes the rest`() async throws
    {
        let scene = try await BundleScene()
        for name in ["a", "b"] { try await scene.fetch("4M-\(name.utf8.first ?? 0)", key: name) }
        try await scene.create()
        let good = try Self.bytes(scene.file)
        var bad = good
        // In the third chunk of the first media file.
        let start = 512 + 512 + 512
        bad[start + (2 << 20) + 77] ^= 1
        _ = try Data(bad).write(to: URL(filePath: scene.file))
        let verified = try await scene.sender("bundle", "verify", scene.file, "--json")
        let lines = try Line.all(verified.text)
        #expect(verified.status == 65 && lines.compactMap(\.name) == ["bundle_damaged"], "\(verified.errorText)")
        #expect(verified.errorText.contains("chunk 2: lecturekit-bundle/000001/01.000 from byte 2097152 on"))
        let ending = try await scene.take("--acks")
        #expect(ending.status == 1 && ending.text == "ACK b\n", "\(ending.errorText)")
        #expect(ending.errorText.contains("chunk 2: lecturekit-bundle/000001/01.000"), "\(ending.errorText)")
        #expect(try await scene.receiver.list().first { $0.key == "a" }?.state == "failed")
        #expect(try await scene.receiver("cat", "a").status != 0)
        _ = try Data(good).write(to: URL(filePath: scene.file))
        let again = try await scene.take("--json")
        #expect(again.status == 0, "\(again.errorText)")
        #expect(try Line.summary(again.text).completed == 1)
        #expect(try await scene.sha256(scene.receiver, "a") == (try await scene.sha256(scene.sender, "a")))
    }

    @Test func `a licensed lecture asks its licence server, and waits where there is none`() async throws {
        let scene = try await BundleScene(["--licensed"])
        let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(scene.sandbox.drmKeyFile)"}"#
        for person in [scene.sender, scene.receiver] {
            _ = try person.home.write(#"{"drm":{"keys":[\#(server)]}}"#, to: ".config/lecturekit/config.json")
        }
        let link = try await scene.sandbox.link(key: "bytes-2M-3", licensed: "")
        #expect(try await scene.sender("precache", "-q", link).status == 0)
        try await scene.create()
        #expect(try await scene.sender("bundle", "list", scene.file, "--json").text.contains(#""licensed":true"#))
        // The server says no: nothing is kept.
        try await scene.sandbox.set(habits: "busy:100;retry=60")
        let waiting = try await scene.take("--deadline", "3s", "--acks")
        #expect(waiting.status != 0 && waiting.text.isEmpty, "\(waiting.errorText)")
        #expect(try await scene.receiver("cat", "bytes-2M-3").status != 0)
        try await scene.sandbox.set(habits: "")
        let asked = try await scene.sandbox.callbackItems().count
        let ending = try await scene.take("--acks")
        #expect(ending.status == 0 && ending.text == "ACK bytes-2M-3\n", "\(ending.errorText)")
        #expect(try await scene.sandbox.callbackItems().count > asked)
        #expect(
            try await scene.sha256(scene.receiver, "bytes-2M-3") == (try await scene.sha256(scene.sender, "bytes-2M-3"))
        )
        #expect(try await scene.receiver("licence", "list").text.contains("bytes-2M-3"))
        // No media came from the server.
        let media = try await scene.sandbox.requests(for: "/media/bytes-2M-3.mp4")
        #expect(media.allSatisfy { $0.connection <= 4 } && !media.isEmpty)
        // What may not be played here is not carried.
        try await scene.sandbox.set(policyJSON: #"{"content_expired":1}"#)
        _ = try await scene.sender("licence", "renew", "--all")
        let refused = try await scene.sender.run(
            ["bundle", "create", scene.file, "--force", "--for", scene.receiverKey])
        #expect(refused.status == 1 && refused.errorText.contains("bytes-2M-3"), "\(refused.errorText)")
    }

    @Test func `whom it is from and whom it is for is checked first`() async throws {
        let scene = try await BundleScene()
        try await scene.fetch("64K-1", key: "film")
        let aimless = try await scene.sender("bundle", "create", scene.file)
        #expect(aimless.status == 64 && aimless.errorText.contains("--for"), "\(aimless.errorText)")
        try await scene.create()
        let untrusted = try await scene.receiver("bundle", "import", scene.file)
        let name = try #require(try await scene.sender("device", "show").text.split(separator: " ").dropFirst(2).first)
        #expect(untrusted.status == 77 && untrusted.errorText.contains("--trust"), "\(untrusted.errorText)")
        #expect(untrusted.errorText.contains(name.prefix(43)))
        // It is trusted where it was made, and not for that device.
        let own = try await scene.sender("bundle", "import", scene.file)
        #expect(own.status == 77 && own.errorText.contains("not for this device"), "\(own.errorText)")
        let wrong = try await scene.receiver.run(
            ["bundle", "list", scene.file, "--trust", scene.receiverKey])
        #expect(wrong.status == 77, "\(wrong.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.receiver.store), "nothing is made before")
        let unknown = try await scene.take("other")
        #expect(unknown.status == 1 && unknown.errorText.contains("does not have it"), "\(unknown.errorText)")
        // Who only looks needs no key, and gets none.
        let visitor = try BadDay()
        for words in [["list"], ["verify"]] {
            #expect(try await visitor.run(["bundle"] + words + [scene.file]).status == 0)
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: visitor.home.path).isEmpty)
        for words in [["list"], ["verify"], ["list", "--json"], ["verify", "--json"]] {
            let ending = try await scene.receiver.run(["bundle"] + words.prefix(1) + [scene.file] + words.dropFirst())
            #expect(ending.status == 0, "\(ending.errorText)")
            if words.count > 1 {
                _ = try Line.all(ending.text)
            } else {
                #expect(ending.errorText.contains("not trusted"))
            }
        }
    }

    @Test func `what cannot be carried is named, and the rest is`() async throws {
        let streams = try await TestStreams.shared.value
        let scene = try await BundleScene()
        let nginx = try await NginxOrigin.start(serving: streams.directory.path)
        try await scene.fetch("64K-1", key: "film")
        #expect(try await scene.sender("precache", "-q", "--key", "stream", "\(nginx.http)/ts/main.m3u8").status == 0)
        let ending = try await scene.sender.run(
            ["bundle", "create", scene.file, "--for", scene.receiverKey, "--json", "film", "stream", "nothing"])
        let lines = try Line.all(ending.text)
        #expect(ending.status == 1, "\(ending.errorText)")
        #expect(lines.compactMap(\.name) == ["bundle_unsuitable", "unknown_content"])
        #expect(lines.filter { $0.event == "bundled" }.compactMap(\.key) == ["film"])
        let none = try await scene.sender.run(
            ["bundle", "create", scene.sender.home.file("c.tar"), "--for", scene.receiverKey, "stream"])
        #expect(none.status == 1 && !FileManager.default.fileExists(atPath: scene.sender.home.file("c.tar")))
        await nginx.stop()
    }
}
