import Foundation
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureFiles

/// Files with one secret line, which are made when they are missing.
struct SecretLineTests {
    @Test func `a missing file is made once, for its owner only`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key")
        var made = 0
        for _ in 0..<3 {
            let text = try SecretFile.line(path, limit: 64) { () throws(LectureError) in
                made += 1
                return "secret-\(made)"
            }
            #expect(text == "secret-1")
        }
        #expect(made == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["key"])
    }

    @Test(arguments: [
        ("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("", ""), ("\n", ""), ("a b ", "a b "),
    ])
    func `one line end of an editor is left out`(written: String, text: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(written, to: "key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try SecretFile.line(path, limit: 64) { "other" } == text)
    }

    @Test func `what others may read, what is too long and what is no text is refused, and stays`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key")
        let cases: [(Data, Int, LectureError.Code)] = [
            (Data("secret".utf8), 0o644, .secretReadable), (Data(repeating: 0x61, count: 65), 0o600, .readFile),
            (Data([0xFF, 0x00]), 0o600, .configuration),
        ]
        for (data, mode, code) in cases {
            try data.write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect { try SecretFile.line(path, limit: 64) { "other" } } throws: { ($0 as? LectureError)?.code == code }
            #expect(try Data(contentsOf: URL(filePath: path)) == data)
        }
    }

    @Test(arguments: [
        ("/a/b", "/a"), ("/a", "/"), ("a/b/c", "a/b"), ("a", "."), ("", "."), ("/", "/"), ("./a", "."), ("../a", ".."),
    ])
    func `a file is in a directory`(path: String, directory: String) {
        #expect(PathText.directory(of: path) == directory)
    }
}
