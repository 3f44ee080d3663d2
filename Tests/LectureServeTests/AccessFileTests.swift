import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

@Suite struct AccessFileTests {
    @Test func `a person who is added is in the file with a digest, and one who is removed is not`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a/b/access")
        let token = try AccessFile.add(.init(name: "ada", role: "operator"), to: path)
        let other = try AccessFile.add(.init(name: "bo", role: "viewer"), to: path)
        #expect(token.utf8.count == 43 && token != other)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains(token) && text.contains("operator ada sha256:"))
        #expect(try AccessFile.people(path).map(\.name) == ["ada", "bo"])
        try AccessFile.remove("ada", from: path)
        #expect(try AccessFile.people(path) == [.init(name: "bo", role: "viewer")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("a/b")) == ["access"])
    }

    @Test func `comments and lines that a person wrote stay`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("access")
        let digest = String(repeating: "0a", count: 32)
        try directory.write("# school\nviewer  eve\tsha256:\(digest) # guest\n\n# end", to: "access")
        _ = unsafe chmod(path, 0o600)
        _ = try AccessFile.add(.init(name: "ada", role: "peer"), to: path)
        try AccessFile.remove("ada", from: path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == "# school\nviewer  eve\tsha256:\(digest) # guest\n\n# end\n")
        try AccessFile.remove("eve", from: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "# school\n\n# end\n")
    }

    @Test(arguments: ["", "a b", "a:b", "a#b", "a\nb", "a\u{7F}", String(repeating: "a", count: 65), "a\u{2028}b"])
    func `a name that no line can have is refused`(name: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("access")
        #expect(throws: LectureError.self) { try AccessFile.add(.init(name: name, role: "viewer"), to: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `what cannot be used is refused and stays as it is`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("access")
        _ = try AccessFile.add(.init(name: "ada", role: "viewer"), to: path)
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(throws: LectureError.self) { try AccessFile.add(.init(name: "ada", role: "peer"), to: path) }
        #expect(throws: LectureError.self) { try AccessFile.add(.init(name: "bo", role: "root"), to: path) }
        #expect(throws: LectureError.self) { try AccessFile.remove("bo", from: path) }
        #expect(throws: LectureError.self) { try AccessFile.remove("bo", from: directory.file("none")) }
        _ = unsafe chmod(path, 0o644)
        #expect {
            try AccessFile.add(.init(name: "bo", role: "viewer"), to: path)
        } throws: { ($0 as? LectureError)?.code == .secretReadable }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        try directory.write("viewer ada\n", to: "broken")
        _ = unsafe chmod(directory.file("broken"), 0o600)
        #expect {
            try AccessFile.people(directory.file("broken"))
        } throws: { error in
            let error = error as? LectureError
            return error?.code == .configuration && error?.detail.hasSuffix("broken, line 1") == true
        }
    }

    @Test func `programs that add at the same time lose nothing`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("access")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { _ = try AccessFile.add(.init(name: "p\(number)", role: "viewer"), to: path) }
            }
            try await group.waitForAll()
        }
        #expect(try Set(AccessFile.people(path).map(\.name)).count == 20)
    }
}

@Suite struct WrongTokensTests {
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    @Test func `ten in a minute are looked at, and more wait for its end`() {
        let wrong = WrongTokens()
        for _ in 0..<10 { #expect(wrong.add("a", now: Self.time(0)) == nil) }
        #expect(wrong.add("a", now: Self.time(1)) == 59)
        #expect(wrong.add("b", now: Self.time(1)) == nil, "another address")
        #expect(wrong.add("a", now: Timestamp(milliseconds: 59_999)) == 1)
        #expect(wrong.add("a", now: Self.time(60)) == nil)
        #expect(wrong.add("a", now: Self.time(0)) == nil, "a clock that was set back")
    }

    @Test func `what is remembered is bounded`() {
        let wrong = WrongTokens()
        for number in 0..<20_000 { _ = wrong.add("\(number)", now: Self.time(Int64(number % 50))) }
        #expect(wrong.addressCount <= WrongTokens.mostAddresses)
        for _ in 0..<11 { _ = wrong.add("last", now: Self.time(50)) }
        #expect(wrong.add("last", now: Self.time(50)) == 60)
    }
}

@Suite
struct AccessFileLineTests {
    private static let digest = String(repeating: "0a", count: 32)

    /// An access file with a text.
    private static func file(_ text: String, mode: Int = 0o600) throws -> (TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        let path = try directory.write(text, to: "access")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return (directory, path)
    }

    @Test func `lines of another editor's kind are read, and one is removed alone`() throws {
        let text = "# people\r\nviewer bo sha256:\(Self.digest)\r\npeer hq sha256:\(Self.digest)\r\n"
        let (directory, path) = try Self.file(text)
        #expect(try AccessFile.people(path).map(\.name) == ["bo", "hq"])
        try AccessFile.remove("bo", from: path)
        #expect(try AccessFile.people(path) == [AccessFile.Person(name: "hq", role: "peer")])
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("# people\n"))
        _ = try AccessFile.add(AccessFile.Person(name: "kim", role: "viewer"), to: path)
        #expect(try AccessFile.people(path).map(\.name) == ["hq", "kim"])
        _ = directory
    }

    @Test(arguments: [0o640, 0o604, 0o644, 0o660, 0o777])
    func `a file that others may read or write is refused, and stays`(mode: Int) throws {
        let (directory, path) = try Self.file("viewer bo sha256:\(Self.digest)\n", mode: mode)
        #expect { try AccessFile.people(path) } throws: { ($0 as? LectureError)?.code == .secretReadable }
        let person = AccessFile.Person(name: "kim", role: "viewer")
        #expect { try AccessFile.add(person, to: path) } throws: { ($0 as? LectureError)?.code == .secretReadable }
        #expect { try AccessFile.remove("bo", from: path) } throws: { ($0 as? LectureError)?.code == .secretReadable }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "viewer bo sha256:\(Self.digest)\n")
        _ = directory
    }

    @Test func `each token is another one, and only its digest is kept`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("deep/below/access")
        var tokens: Set<String> = []
        for number in 1...20 {
            tokens.insert(try AccessFile.add(AccessFile.Person(name: "p\(number)", role: "viewer"), to: path))
        }
        #expect(tokens.count == 20 && tokens.allSatisfy { $0.utf8.count == 43 })
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for token in tokens { #expect(!text.contains(token)) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let folder = try FileManager.default.attributesOfItem(atPath: directory.file("deep/below"))
        #expect(folder[.posixPermissions] as? Int == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("deep/below")) == ["access"])
    }

    @Test(arguments: ["viewers", "Viewer", "", "operator ", "root"])
    func `a role that there is not is refused with those that there are`(role: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("access")
        #expect {
            try AccessFile.add(AccessFile.Person(name: "kim", role: role), to: path)
        } throws: { error in
            let error = error as? LectureError
            return error?.code == .parameter && AccessFile.roles.allSatisfy { error?.detail.contains($0) == true }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a text that is not UTF-8 or too long is refused`() throws {
        let (directory, path) = try Self.file("")
        let contents: [(Data, LectureError.Code)] = [
            (Data([0xFF, 0xFE, 0x00]), .configuration), (Data(repeating: 0x20, count: (1 << 20) + 1), .readFile),
        ]
        for (data, code) in contents {
            try data.write(to: URL(filePath: path))
            #expect { try AccessFile.people(path) } throws: { ($0 as? LectureError)?.code == code }
        }
        #expect(throws: LectureError.self) { try AccessFile.people(directory.path) }
        #expect(throws: LectureError.self) { try AccessFile.people(directory.file("missing")) }
    }
}
