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
