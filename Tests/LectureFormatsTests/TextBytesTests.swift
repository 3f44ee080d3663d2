import Foundation
import LectureFormats
import Testing

@Suite struct TextBytesTests {
    /// Each value of a byte, at each place of texts that are shorter and longer than a word, among the smallest and the
    /// largest neighbours.
    @Test(arguments: [UInt8(0x20), 0x7E])
    func `printable ASCII is from the space to the tilde, wherever a byte is`(neighbour: UInt8) {
        for length in 1...17 {
            for place in 0..<length {
                for value in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: neighbour, count: length)
                    bytes[place] = value
                    let isPrintable = (0x20...0x7E).contains(value)
                    // What is outside the range does not count.
                    let (before, behind): ([UInt8], [UInt8]) = ([0, 0xFF], [0x7F])
                    let range = before.count..<before.count + length
                    #expect(TextBytes.arePrintable(before + bytes + behind, range) == isPrintable)
                }
            }
        }
        #expect(TextBytes.arePrintable([0], 0..<0) && TextBytes.arePrintable([], 0..<0))
    }

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
