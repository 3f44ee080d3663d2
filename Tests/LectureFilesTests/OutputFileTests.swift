import Foundation
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

struct OutputFileTests {
    private static func names(_ directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    @Test func `a file has no name until it is complete`() throws {
        let directory = try TemporaryDirectory()
        let file = try OutputFile(directory.file("out"), mayReplace: false)
        try file.write(Array("one ".utf8))
        try file.write([])
        try file.write(Array("two".utf8))
        #expect(try !Self.names(directory).contains("out"))
        try file.finish()
        #expect(try Self.names(directory) == ["out"])
        #expect(try String(contentsOfFile: directory.file("out"), encoding: .utf8) == "one two")
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("out"))[.posixPermissions]
        #expect((mode as? Int) == 0o600)
    }

    @Test func `a file for all is readable by all, whatever stood there`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("old", to: "out")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.file("out"))
        let file = try OutputFile(directory.file("out"), mayReplace: true, readableByAll: true)
        try file.finish()
        let mode = try FileManager.default.attributesOfItem(atPath: directory.file("out"))[.posixPermissions]
        #expect((mode as? Int) == 0o644)
    }

    @Test func `an abandoned file leaves nothing`() throws {
        let directory = try TemporaryDirectory()
        do {
            let file = try OutputFile(directory.file("out"), mayReplace: true)
            try file.write([1, 2, 3])
        }
        #expect(try Self.names(directory).isEmpty)
    }

    @Test func `an existing file is replaced only if permitted`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("old", to: "out")
        #expect(throws: LectureError(.outputExists)) { try OutputFile(directory.file("out"), mayReplace: false) }
        do {
            let file = try OutputFile(directory.file("out"), mayReplace: true)
            try file.write(Array("new".utf8))
            #expect(try String(contentsOfFile: directory.file("out"), encoding: .utf8) == "old")
            try file.finish()
        }
        #expect(try String(contentsOfFile: directory.file("out"), encoding: .utf8) == "new")
        #expect(try Self.names(directory) == ["out"])
    }

    @Test func `a file that appeared meanwhile stays`() throws {
        let directory = try TemporaryDirectory()
        let file = try OutputFile(directory.file("out"), mayReplace: false)
        try file.write(Array("mine".utf8))
        try directory.write("theirs", to: "out")
        #expect(throws: LectureError(.outputExists)) { try file.finish() }
        #expect(try String(contentsOfFile: directory.file("out"), encoding: .utf8) == "theirs")
    }

    @Test func `only a regular file is replaced`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.file("d"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: directory.file("l"), withDestinationPath: "/dev/null")
        for name in ["d", "l"] {
            #expect(throws: LectureError(.outputRefused)) { try OutputFile(directory.file(name), mayReplace: true) }
        }
        #expect(throws: LectureError(.outputRefused)) { try OutputFile("/dev/null", mayReplace: true) }
    }

    @Test(arguments: ["", "/", "a/", "..", "a/.", "x\0y", "missing/out"])
    func `a name that is not valid for a file is refused`(name: String) throws {
        let directory = try TemporaryDirectory()
        let path = name.hasPrefix("/") || name.isEmpty ? name : directory.file(name)
        #expect(throws: LectureError(.outputRefused)) { try OutputFile(path, mayReplace: true) }
    }
}
