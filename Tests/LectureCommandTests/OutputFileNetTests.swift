import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Files outside the store: which are replaced and which are kept.
@Suite(.timeLimit(.minutes(3))) struct OutputFileNetTests {
    private func read(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    @Test func `an existing file is kept, and nothing is downloaded for it`() async throws {
        let shelf = try await Shelf()
        let film = try shelf.put("a.mp4", seed: 1)
        let thesis = try shelf.me.home.write("thesis", to: "out/thesis.txt")
        let list = try shelf.list(["url": shelf.url("a.mp4"), "key": "a", "file": "thesis.txt"])
        let out = shelf.me.home.file("out")
        for words in [[list, "--output-dir", out], [shelf.url("a.mp4"), "--output", thesis]] {
            let refused = try await shelf.me.run(["precache", "--json"] + words)
            #expect(refused.status == 73, "\(refused.errorText)")
            #expect(refused.text.contains(#""code":-20079,"name":"output_exists""#), "\(refused.text)")
            #expect(refused.errorText.contains("--force"), "\(refused.errorText)")
            let planned = try await shelf.me.run(["precache", "-n"] + words)
            #expect(planned.errorText.contains("another file has this name"), "\(planned.errorText)")
        }
        #expect(try read(thesis) == Data("thesis".utf8))
        #expect(try await shelf.nginx.requests(atLeast: 0).isEmpty)

        let forced = try await shelf.me("precache", list, "--output-dir", out, "--force")
        #expect(forced.status == 0, "\(forced.errorText)")
        #expect(try read(thesis) == film)
        let alone = try await shelf.me("precache", list, "--force")
        #expect(alone.status == 64, "\(alone.errorText)")
    }

    @Test func `a lecture that is complete replaces no other file either`() async throws {
        let shelf = try await Shelf()
        let film = try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        let thesis = try shelf.me.home.write("thesis", to: "thesis.txt")
        let refused = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--output", thesis)
        #expect(refused.status == 73, "\(refused.errorText)")
        #expect(try read(thesis) == Data("thesis".utf8))
        // A refused place is not remembered.
        #expect(try await shelf.me("precache").status == 0)
        let forced = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--output", thesis, "--force")
        #expect(forced.status == 0, "\(forced.errorText)")
        #expect(try read(thesis) == film)
    }

    @Test func `a new version replaces the file of the old one, and a repeat changes nothing`() async throws {
        let shelf = try await Shelf()
        let out = shelf.me.home.file("out")
        let list = try shelf.list(["url": shelf.url("a.mp4"), "key": "a"])
        func precache(_ more: String...) async throws -> ChildProcess.Ending {
            try await shelf.me.run(["precache", list, "--output-dir", out, "--check", "head"] + more)
        }
        let first = try shelf.put("a.mp4", seed: 1)
        for _ in 0..<2 {
            let ending = try await precache()
            #expect(ending.status == 0, "\(ending.errorText)")
            #expect(try read("\(out)/a.mp4") == first)
        }
        let second = try shelf.put("a.mp4", seed: 2)
        let replaced = try await precache()
        #expect(replaced.status == 0, "\(replaced.errorText)")
        #expect(try read("\(out)/a.mp4") == second)

        // Also after the lecture was removed: the file is still the one that was written for it.
        #expect(try await shelf.me("remove", "a").status == 0)
        let third = try shelf.put("a.mp4", seed: 3)
        let again = try await precache()
        #expect(again.status == 0, "\(again.errorText)")
        #expect(try read("\(out)/a.mp4") == third)

        // A file that was changed since is kept.
        try FileManager.default.removeItem(atPath: "\(out)/a.mp4")
        try shelf.me.home.write("notes", to: "out/a.mp4")
        try shelf.put("a.mp4", seed: 4)
        let kept = try await precache()
        #expect(kept.status == 73, "\(kept.errorText)")
        #expect(kept.errorText.contains("another file has this name"), "\(kept.errorText)")
        #expect(try read("\(out)/a.mp4") == Data("notes".utf8))
        try await shelf.me.expectSound()
    }

    @Test func `another lecture does not replace it`() async throws {
        let shelf = try await Shelf()
        let first = try shelf.put("a.mp4", seed: 1)
        try shelf.put("b.mp4", seed: 2)
        let out = shelf.me.home.file("x.mp4")
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--output", out).status == 0)
        let refused = try await shelf.me("precache", shelf.url("b.mp4"), "--key", "b", "--output", out)
        #expect(refused.status == 73, "\(refused.errorText)")
        #expect(try read(out) == first)
    }

    @Test(arguments: [#""file":".bashrc""#, #""key":"a""#])
    func `names with a leading dot from a list or a URL are refused`(member: String) async throws {
        let shelf = try await Shelf()
        let film = try shelf.put(".profile", seed: 1)
        let list = try shelf.me.home.write(#"{"url":"\#(shelf.url(".profile"))",\#(member)}"#, to: "c.jsonl")
        let bashrc = try shelf.me.home.write("mine", to: ".bashrc")
        for more in [[], ["--force"]] {
            let ending = try await shelf.me.run(["precache", list, "--output-dir", shelf.me.home.path] + more)
            #expect(ending.status == 65, "\(ending.errorText)")
            #expect(ending.errorText.contains("it begins with a dot"), "\(ending.errorText)")
        }
        #expect(try read(bashrc) == Data("mine".utf8))
        #expect(!FileManager.default.fileExists(atPath: shelf.me.home.file(".profile")))
        #expect(try await shelf.nginx.requests(atLeast: 0).isEmpty)
        // The user's own choice.
        let ending = try await shelf.me("precache", shelf.url(".profile"), "--output", ".mine")
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try read(shelf.me.home.file(".mine")) == film)
    }

    @Test func `the store, devices and FIFOs are refused, also with --force`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a").status == 0)
        let home = shelf.me.home
        try FileManager.default.createSymbolicLink(
            atPath: home.file("link"), withDestinationPath: shelf.me.store + "/media")
        let status = unsafe mkfifo(home.file("fifo"), 0o600)
        #expect(status == 0)
        let outputs = [
            shelf.me.store + "/lecturekit.db", "store/new.mp4", "link/../lecturekit.db", "link/x.mp4", "fifo",
            "/dev/null",
        ]
        for output in outputs {
            for key in ["a", "b"] {
                let ending = try await shelf.me(
                    "precache", shelf.url("a.mp4"), "--key", key, "--output", output, "--force")
                #expect(ending.status == 73, "\(output): \(ending.errorText)")
                #expect(ending.errorText.contains("the finished file cannot be put there"), "\(ending.errorText)")
            }
        }
        #expect(try await shelf.me.list().map(\.key) == ["a"])
        try await shelf.me.expectSound()
    }
}
