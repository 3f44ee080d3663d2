import LectureBundle
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// One content has one text.
@Suite struct CanonicalJSONTests {
    private static func refuses(_ bytes: [UInt8]) -> Bool {
        do throws(LectureError) {
            _ = try CanonicalJSON.object(bytes, "it")
            return false
        } catch { return error.code == .bundleRefused && error.cause.hasPrefix("it is no") }
    }

    @Test(arguments: [
        "{}", #"{"":""}"#, #"{"a":[]}"#, #"{"a":{}}"#, #"{"a":null,"b":true,"c":false}"#, #"{"a":0,"b":-1}"#,
        #"{"a":9223372036854775807,"b":-9223372036854775808}"#, #"{"A":1,"Z":1,"_":1,"a":1,"aa":1,"ab":1,"b":1}"#,
        #"{"a":"\"\\/\n\r\t\u0000\u0008\u000c\u001f\u007f"}"#, #"{"a":"é가😀","é":1,"가":2,"😀":3}"#,
        #"{"a":[{"a":1,"b":2},[],[[1]],"",{}]}"#, #"{"\n":1," ":2,"\"":3}"#, "{\"e\u{301}\":1,\"\u{E9}\":2}",
    ])
    func `the one form is read, and written again the same`(text: String) throws {
        let value = try CanonicalJSON.object(Array(text.utf8), "it")
        #expect(CanonicalJSON.bytes(value) == Array(text.utf8))
    }

    @Test(arguments: [
        // No object, no text, more than one text.
        "", " ", "null", "true", "0", #""""#, "[]", "[{}]", "{}{}", "{},", "{", "}", "{]", "{}\u{0}", "\u{FEFF}{}",
        // Blanks, wherever JSON permits them.
        " {}", "{} ", "{}\n", "{ }", "\t{}", "\r{}", #"{ "a":1}"#, #"{"a" :1}"#, #"{"a": 1}"#, #"{"a":1 }"#,
        #"{"a":1, "b":2}"#, #"{"a":1 ,"b":2}"#, #"{"a":[ ]}"#, #"{"a":[1, 2]}"#, #"{"a":[1 ,2]}"#, "{\"a\":\n1}",
        // Order, at each level, by bytes.
        #"{"b":1,"a":2}"#, #"{"a":1,"B":2}"#, #"{"aa":1,"a":2}"#, #"{"a":{"b":1,"a":2}}"#, #"{"a":[{"b":1,"a":2}]}"#,
        "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"😀":1,"가":2}"#, #"{"b":1,"":2}"#,
        // A member twice, also by another spelling.
        #"{"a":1,"a":1}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":1}"#, #"{"a":{"b":1,"b":1}}"#,
        #"{"a":[{"b":1,"b":1}]}"#,
        // Escapes that are not needed, or in another spelling.
        #"{"a":"\u0061"}"#, #"{"a":"\/"}"#, #"{"a":"\u00e9"}"#, #"{"a":"\u000a"}"#, #"{"a":"\u000A"}"#,
        #"{"a":"\u000d"}"#, #"{"a":"\u0009"}"#, #"{"a":"\b"}"#, #"{"a":"\f"}"#, #"{"a":"\u001F"}"#, #"{"a":"\u005c"}"#,
        #"{"a":"\u0022"}"#, #"{"a":"\u007F"}"#, "{\"a\":\"\u{7F}\"}", #"{"a":"\ud83d\ude00"}"#, #"{"\u0061":1}"#,
        // What is no string.
        #"{"a":"\ud83d"}"#, #"{"a":"\ude00"}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}",
        #"{"a":"b}"#, "{'a':1}", "{a:1}", "{1:1}",
        // What is no number.
        #"{"a":01}"#, #"{"a":00}"#, #"{"a":-01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":-}"#, #"{"a":1e}"#,
        #"{"a":1e+}"#, #"{"a":0x1}"#, #"{"a":1_0}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":1e999}"#, #"{"a":１}"#,
        // What is no other value, or no structure.
        #"{"a":True}"#, #"{"a":nul}"#, #"{"a":truee}"#, #"{"a":undefined}"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":[1,]}"#,
        #"{"a":[,1]}"#, #"{"a":}"#, #"{"a"}"#, #"{"a"=1}"#, #"{"a":1;"b":2}"#, #"{"a":1}//"#, #"{"a":/**/1}"#,
    ])
    func `every other form is refused`(text: String) {
        #expect(Self.refuses(Array(text.utf8)), "\(text.debugDescription)")
    }

    @Test func `what is not UTF-8 is refused, in names and in values`() {
        let sequences: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ]
        for bytes in sequences {
            #expect(Self.refuses(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)), "\(bytes) in a value")
            #expect(Self.refuses(Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8)), "\(bytes) in a name")
            #expect(
                Self.refuses(bytes + Array("{}".utf8)) && Self.refuses(Array("{}".utf8) + bytes), "\(bytes) outside")
        }
    }

    @Test func `eight levels and ten thousand items are the most`() {
        func nested(_ levels: Int, _ open: String, _ close: String) -> [UInt8] {
            let inner = String(repeating: open, count: levels - 1) + "1" + String(repeating: close, count: levels - 1)
            return Array(#"{"a":\#(inner)}"#.utf8)
        }
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            for levels in 1...8 { #expect(!Self.refuses(nested(levels, open, close)), "\(levels) levels") }
            for levels in [9, 10, 100, 100_000] {
                #expect(Self.refuses(nested(levels, open, close)), "\(levels) levels")
            }
        }
        func long(_ items: Int) -> [UInt8] {
            Array(#"{"a":["#.utf8) + [UInt8]("0".utf8) + (1..<items - 1).flatMap { _ in ",0".utf8 } + Array("]}".utf8)
        }
        #expect(!Self.refuses(long(10_000)) && Self.refuses(long(10_001)))
    }

    // MARK: Random documents

    private static func text(_ random: inout SeededGenerator) -> String {
        let letters: [Character] = [
            "a", "b", "Z", "0", " ", "\"", "\\", "/", "\n", "\r", "\t", "\u{0}", "\u{8}", "\u{1F}", "\u{7F}", "\u{80}",
            "\u{E9}", "\u{301}", "가", "\u{2028}", "\u{FEFF}", "\u{FFFF}", "😀", "\u{10FFFF}",
        ]
        let count = Int.random(in: 0...6, using: &random)
        return String((0..<count).map { _ in letters[Int.random(in: letters.indices, using: &random)] })
    }

    private static func value(_ levels: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0...(levels > 0 ? 7 : 4), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        case 3: return .integer(.random(in: -10...10, using: &random))
        case 4: return .string(text(&random))
        case 5: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(levels - 1, &random) })
        default: return object(levels, &random)
        }
    }

    private static func object(_ levels: Int, _ random: inout SeededGenerator) -> JSONValue {
        var names: Set<[UInt8]> = []
        var members: [JSONMember] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let name = text(&random)
            if names.insert(Array(name.utf8)).inserted { members.append(JSONMember(name, value(levels - 1, &random))) }
        }
        return .object(members)
    }

    /// The same content, with the members of all objects in another order.
    private static func shuffled(_ value: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { shuffled($0, &random) })
        case .object(let members):
            let inner = members.map { JSONMember($0.name, shuffled($0.value, &random)) }
            return .object(inner.shuffled(using: &random))
        default: return value
        }
    }

    @Test func `random documents have one form, whatever the order of their members`() throws {
        var random = SeededGenerator(seed: 1847)
        var (reordered, spaced) = (0, 0)
        for number in 0..<2000 {
            let document = Self.object(5, &random)
            let bytes = CanonicalJSON.bytes(document)
            let read = try CanonicalJSON.object(bytes, "document \(number)")
            #expect(CanonicalJSON.bytes(read) == bytes, "document \(number)")
            let other = Self.shuffled(document, &random)
            #expect(CanonicalJSON.bytes(other) == bytes, "document \(number), in another order")
            let loose = Array(other.text.utf8)
            #expect(Self.refuses(loose) == (loose != bytes), "document \(number), as it came")
            if loose != bytes { reordered += 1 }
            // A blank more: a part of a string changes the content, and nothing else passes.
            let place = Int.random(in: 0...bytes.count, using: &random)
            var blank = bytes
            blank.insert(0x20, at: place)
            if let changed = try? CanonicalJSON.object(blank, "it") {
                #expect(CanonicalJSON.bytes(changed) == blank && changed != read, "document \(number) at \(place)")
            } else {
                spaced += 1
            }
            // A text that is cut off is none.
            let cut = Int.random(in: 0..<bytes.count, using: &random)
            #expect(Self.refuses(Array(bytes[..<cut])), "document \(number) up to \(cut)")
        }
        #expect(reordered > 500 && spaced > 500)
    }

    @Test(arguments: ["1.0", "1e0", "1E0", "10e-1", "0.1e1", "-0", "1.5", "1e3", "18446744073709551616"])
    func `a number in another spelling is no number of any document`(number: String) throws {
        let (manifest, line) = (BundleDocumentTests.manifest, BundleDocumentTests.line)
        for (old, name) in [
            (#""bundle":1"#, "bundle"), (#""bytes":9"#, "bytes"), (#""created_ms":5"#, "created_ms"),
            (#""lectures":1"#, "lectures"), (#""part_bytes":4294967296"#, "part_bytes"),
        ] {
            let bytes = try BundleDocumentTests.replaced(manifest, old, #""\#(name)":\#(number)"#)
            #expect(throws: LectureError(.bundleRefused), "\(name)") { try BundleManifest(bytes) }
        }
        for old in [#""bytes":5"#, #""bytes":7"#] {
            let bytes = try BundleDocumentTests.replaced(line, old, #""bytes":\#(number)"#)
            #expect(throws: LectureError(.bundleRefused), "\(old)") { try BundledLecture(line: bytes) }
        }
    }
}
