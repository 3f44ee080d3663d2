import LectureModel
import Testing

@Suite struct SafeNameTests {
    @Test(
        "Names that could leave their directory are refused",
        arguments: ["", ".", "..", "a/b", "/", "a\0", "a\nb", "\u{7F}", "\u{9B}2J", String(repeating: "é", count: 128)])
    func names(name: String) {
        #expect(throws: LectureError(.nameRefused)) { try SafeName.check(name) }
    }

    @Test func `Ordinary names, folders and keys pass`() throws {
        try SafeName.check("…Lecture 1: Grüße.mp4")
        try SafeName.check(String(repeating: "x", count: 255))
        try SafeName.check(folder: "a/b/c")
        try SafeName.check(key: "a/b-c.d")
        for folder in ["", "/a", "a/", "a//b", "a/../b", String(repeating: "a/", count: 600)] {
            #expect(throws: LectureError(.nameRefused)) { try SafeName.check(folder: folder) }
        }
        for key in ["", "a\u{0}", String(repeating: "k", count: 256)] {
            #expect(throws: LectureError(.nameRefused)) { try SafeName.check(key: key) }
        }
    }
}
