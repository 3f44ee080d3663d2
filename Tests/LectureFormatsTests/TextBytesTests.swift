import Foundation
import LectureFormats
import Testing

@Suite struct TextBytesTests {
    private static let texts = [
        "", "a", "b", "iss", "isS", "exp", "fifteen bytes..", "sixteen bytes...", "sixteen bytes..!", "caf\u{E9}",
        "cafe\u{301}", "\u{1112}\u{1161}\u{11AB}", "\u{D55C}", "\u{0}", "\u{0}\u{0}", "\u{212B}", "\u{C5}",
        String(repeating: "x", count: 400), String(repeating: "x", count: 399) + "y",
    ]

    @Test(arguments: texts)
    func `Texts are equal that have the same bytes, and no others`(one: String) {
        for other in Self.texts {
            #expect(TextBytes.areEqual(one, other) == one.utf8.elementsEqual(other.utf8), "\(one), \(other)")
        }
        // The same text in memory of its own, and as a slice of another one.
        #expect(TextBytes.areEqual(one, String(decoding: Array(one.utf8), as: UTF8.self)))
        #expect(TextBytes.areEqual(one, String("<\(one)>".dropFirst().dropLast())))
        #expect(TextBytes.areEqual(one, NSString(string: one) as String))
    }

    @Test func `Two normalisations of one letter are two members`() {
        let object = JSONValue.object([JSONMember("caf\u{E9}", .integer(1)), JSONMember("cafe\u{301}", .integer(2))])
        #expect(object["caf\u{E9}"] == .integer(1))
        #expect(object["cafe\u{301}"] == .integer(2))
        #expect(object["cafe"] == nil)
        #expect(JSONValue.array([object])["cafe\u{301}"] == nil)
    }
}
