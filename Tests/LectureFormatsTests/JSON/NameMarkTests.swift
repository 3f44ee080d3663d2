import Foundation
import LectureTestSupport
import Testing

@testable import LectureFormats

@Suite struct NameMarkTests {
    /// Names of every length around that of a word, with neighbours that differ in one byte or in their length.
    private static let names: [String] = {
        var names = [
            "", "\u{0}", "\u{0}\u{0}", "caf\u{E9}", "cafe\u{301}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}", "\u{1F600}",
        ]
        for count in [1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 24, 40] {
            let plain = [UInt8](repeating: 0x61, count: count)
            names.append(String(decoding: plain, as: UTF8.self))
            for place in [0, count / 2, count - 1] {
                var other = plain
                other[place] = 0x62
                let name = String(decoding: other, as: UTF8.self)
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }()

    @Test(arguments: names)
    func `A name has one mark, however it is stored`(name: String) {
        let mark = NameMark(name)
        #expect(mark == NameMark(String(decoding: Array(name.utf8), as: UTF8.self)))
        #expect(mark == NameMark(String("<\(name)>".dropFirst().dropLast())))
        #expect(mark == NameMark(NSString(string: name) as String))
        #expect(mark.isWhole == (name.utf8.count < 8))
    }

    @Test(arguments: names)
    func `Names that differ have different marks where a mark is whole`(name: String) {
        for other in Self.names where !name.utf8.elementsEqual(other.utf8) {
            let (mark, another) = (NameMark(name), NameMark(other))
            if mark.isWhole || another.isWhole { #expect(mark != another, "\(name), \(other)") }
        }
    }

    @Test func `The names of claims have different marks`() {
        let claims = [
            "expiration_date", "expiration_count", "expiration_playtime", "expiration_playtime_type",
            "expiration_refresh_popup", "check_expiration_date", "check_abuse", "content_delete", "content_expired",
            "content_key", "offline_bookmark", "bundle_id", "serial_floor", "used_count", "used_playtime", "last_seen",
        ]
        #expect(Set(claims.map { NameMark($0) }).count == claims.count)
    }

    @Test(arguments: names)
    func `A member is found among all others by its bytes`(name: String) {
        let members = Self.names.enumerated().map { JSONMember($1, .integer(Int64($0))) }
        let place = Self.names.firstIndex { $0.utf8.elementsEqual(name.utf8) }
        #expect(members.place(of: name, NameMark(name)) == place)
        #expect(JSONValue.object(members)[name] == place.map { .integer(Int64($0)) })
        let others = members.filter { !$0.name.utf8.elementsEqual(name.utf8) }
        #expect(others.place(of: name, NameMark(name)) == nil)
        #expect(JSONValue.object(others)[name] == nil)
    }

    @Test func `Two long names with one mark stay two names`() {
        // The middle of a name of more than sixteen bytes is in no mark.
        let (one, other) = ("beginnin-1-the-end..", "beginnin-2-the-end..")
        #expect(NameMark(one) == NameMark(other))
        let members = [JSONMember(one, .integer(1)), JSONMember(other, .integer(2))]
        #expect(members.place(of: other, NameMark(other)) == 1)
        #expect(JSONValue.object([members[0]])[other] == nil)
    }

    @Test(arguments: names, [0, 3, 11, 12, 13, 30])
    func `A name is read once in an object, escaped or not`(name: String, count: Int) throws {
        func text(_ name: String) -> String {
            String(JSONValue.object([JSONMember(name, .null)]).text.dropFirst().dropLast(":null}".count))
        }
        let others = (0..<count).map { "\"other\($0)\":0," }.joined()
        let escaped = name.utf16.map { String(format: "\\u%04x", $0) }.joined()
        let object = try JSONScanner.scan("{\(others)\(text(name)):1}")
        #expect(object[name] == .integer(1))
        #expect(try JSONScanner.scan("{\(others)\"\(escaped)\":1}") == object)
        for twice in [
            "\(text(name)):1,\(text(name)):2", "\"\(escaped)\":1,\(text(name)):2", "\(text(name)):1,\"\(escaped)\":2",
        ] {
            #expect(throws: FormatError.self) { try JSONScanner.scan("{\(others)\(twice)}") }
        }
    }
}
