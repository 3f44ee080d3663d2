import Foundation
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

struct ByteSearchTests {
    private static let kim = Array("kim7".utf8)

    @Test func `a text is found anywhere, also across two reads`() throws {
        let directory = try TemporaryDirectory()
        let piece = 1 << 20
        for place in [0, 1, 999, piece - 4, piece - 3, piece - 1, piece, piece + 1, 2 * piece - 2, 2 * piece + 96] {
            var bytes = [UInt8](repeating: 0x6B, count: 2 * piece + 100)
            bytes.replaceSubrange(place..<place + 4, with: Self.kim)
            let path = try directory.write(bytes, to: "file")
            #expect(try ByteSearch.count(of: [Self.kim], in: path) == 1, "at \(place)")
            #expect(ByteSearch.count(of: [Self.kim], in: bytes) == 1)
        }
    }

    @Test func `every match counts once, and texts longer than the file do not match`() throws {
        let directory = try TemporaryDirectory()
        let bytes = Array("aaaa kim7kim7 a%20b".utf8)
        let path = try directory.write(bytes, to: "file")
        func count(_ texts: String...) throws -> Int? {
            let texts = texts.map { Array($0.utf8) }
            #expect(ByteSearch.count(of: texts, in: bytes) == (try ByteSearch.count(of: texts, in: path)))
            return try ByteSearch.count(of: texts, in: path)
        }
        #expect(try count("kim7") == 2)
        #expect(try count("aa") == 3)
        #expect(try count("kim7", "a%20b") == 3)
        #expect(try count("") == 0)
        #expect(try count(String(repeating: "k", count: 100)) == 0)
        #expect(try count() == 0)
    }

    @Test func `a missing file is distinguished from an unreadable one`() throws {
        let directory = try TemporaryDirectory()
        #expect(try ByteSearch.count(of: [Self.kim], in: directory.file("missing")) == nil)
        #expect(throws: LectureError(.readFile)) { try ByteSearch.count(of: [Self.kim], in: directory.path) }
        #expect(try ByteSearch.count(of: [Self.kim], in: try directory.write("", to: "empty")) == 0)
    }
}
