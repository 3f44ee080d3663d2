import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What is refused or settled before a transfer: header fields, exposed stores, lines that occur twice.
@Suite(.timeLimit(.minutes(3))) struct RefusalNetTests {
    @Test(arguments: ["Content-Length: 5", "host: example.org", "If-None-Match: *", "Transfer-Encoding: chunked"])
    func `a header of the transfer itself is refused in options, files and lists`(header: String) async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let name = String(header.prefix { $0 != ":" })
        let file = try shelf.me.home.write(header + "\n", to: "headers")
        let credentials = try shelf.me.home.write(
            #"{"\#(shelf.nginx.http)":{"headers":{"\#(name)":"5"}}}"#, to: "credentials.json")
        for path in [file, credentials] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        let url = shelf.url("a.mp4")
        for words in [["--header", header], ["--header", "@\(file)"], ["--credentials-file", credentials]] {
            let ending = try await shelf.me.run(["precache", "--json", url] + words)
            #expect(ending.status == 64, "\(words): \(ending.errorText)")
            #expect(ending.text.contains(#""code":-20080,"name":"header_reserved""#), "\(ending.text)")
            #expect(ending.errorText.contains("LectureKit sets this header field itself"), "\(ending.errorText)")
            #expect(ending.errorText.contains(name))
        }
        let list = try shelf.list(["url": url, "key": "a", "headers": [name: "5"]])
        let table = try shelf.me.home.write("url,headers\n\(url),\"{\"\"\(name)\"\":\"\"5\"\"}\"\n", to: "list.csv")
        for list in [list, table] {
            let ending = try await shelf.me("precache", "--json", list)
            #expect(ending.status == 65, "\(ending.errorText)")
            #expect(ending.text.contains(#""name":"header_reserved""#), "\(ending.text)")
            #expect(ending.errorText.contains("line "), "\(ending.errorText)")
        }
        #expect(try await shelf.nginx.requests(atLeast: 0).isEmpty)
        #expect(try await shelf.me("precache", url).status == 0)
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777, 0o2775])
    func `a store directory that others may write is refused and untouched`(mode: Int) async throws {
        let me = try BadDay()
        try FileManager.default.createDirectory(atPath: me.store, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: me.store)
        for words in [["lms", "add", "--id", "r"], ["precache", "http://127.0.0.1:1/a.mp4"]] {
            let ending = try await me.run(["--json"] + words)
            #expect(ending.status == 77, "\(ending.errorText)")
            #expect(ending.text.contains(#""code":-20078,"name":"store_exposed""#), "\(ending.text)")
            #expect(ending.errorText.contains("its mode is 0\(String(mode, radix: 8))"), "\(ending.errorText)")
            #expect(ending.errorText.contains("chmod go-w"), "\(ending.errorText)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: me.store).isEmpty)
        // The remedy that the message names.
        #expect(try await ChildProcess.run("/bin/chmod", ["go-w", me.store]).status == 0)
        #expect(try await me("lms", "add", "--id", "r").status == 0)
        // Also for those who only read.
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: me.store)
        #expect(try await me("lms", "list").status == 77)
    }

    @Test func `the same line twice is one lecture, with an output directory too`() async throws {
        let shelf = try await Shelf()
        let film = try shelf.put("a.mp4", seed: 1)
        for members in [["key": "a"], [:], ["file": "b.mp4"], ["title": "T"]] {
            var line = members
            line["url"] = shelf.url("a.mp4")
            let list = try shelf.list([line, line])
            let out = shelf.me.home.file("out-\(members.keys.first ?? "")")
            for _ in 0..<2 {
                let ending = try await shelf.me("precache", list, "--output-dir", out)
                #expect(ending.status == 0, "\(members): \(ending.errorText)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: out)
            #expect(names == [members["file"] ?? "a.mp4"])
            #expect(try Data(contentsOf: URL(filePath: "\(out)/\(names[0])")) == film)
        }
    }
}
