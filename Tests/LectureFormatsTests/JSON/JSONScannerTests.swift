import LectureFormats
import LectureTestSupport
import Testing

@Suite struct JSONScannerTests {
    @Test(
        "Values of every kind are read (RFC 8259 section 3)",
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false ", .bool(false)), ("\"\"", .string("")),
            ("0", .integer(0)),
            ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("[]", .array([])), ("{}", .object([])), ("\t\r\n[ 1 , 2 ]", .array([.integer(1), .integer(2)])),
            ("{\"a\":{\"b\":[null]}}", .object([JSONMember("a", .object([JSONMember("b", .array([.null]))]))])),
        ] as [(String, JSONValue)])
    func reads(text: String, value: JSONValue) throws {
        #expect(try JSONScanner.scan(text) == value)
    }

    @Test(
        "Numbers that are not 64-bit integers keep their text",
        arguments: [
            ("-0", 0.0), ("1.50", 1.5), ("1e3", 1000), ("1E+3", 1000), ("1e-3", 0.001),
            ("9223372036854775808", 9.223372036854775808e18),
            ("-9223372036854775809", -9.223372036854775809e18), ("1.0", 1),
            ("123456789012345678901234567890", 1.2345678901234568e29),
        ])
    func numbers(text: String, value: Double) throws {
        guard case .number(let number) = try JSONScanner.scan(text) else {
            Issue.record("not a number")
            return
        }
        #expect(number.text == text)
        #expect(number.value == value)
    }

    @Test(
        "Escapes are resolved (section 7)",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
            (#""\uD834\uDD1E""#, "𝄞"),
            (#""a\u0000b""#, "a\0b"), ("\"é𝄞\"", "é𝄞"), ("\"\u{7F}\"", "\u{7F}"), (#""\uFFFF""#, "\u{FFFF}"),
        ])
    func strings(text: String, value: String) throws {
        #expect(try JSONScanner.scan(text).string == value)
    }

    @Test(
        "What RFC 8259 forbids is refused with its byte offset",
        arguments: [
            ("", 0), ("   ", 3), ("nul", 0), ("True", 0), ("truex", 4), ("1 2", 2), ("{} {}", 3), ("[1,]", 3),
            ("[,1]", 1), ("[1 2]", 3),
            ("[1", 2), ("[", 1), ("{", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1),
            ("{'a':1}", 1), ("{\"a\" 1}", 5),
            ("{\"a\":1 \"b\":2}", 7), ("01", 0), ("-01", 0), ("-", 1), ("+1", 0), (".5", 0), ("1.", 2), ("1.e3", 2),
            ("1e", 2), ("1e+", 3),
            ("0x10", 1), ("1_0", 1), ("NaN", 0), ("Infinity", 0), ("1e999", 0), ("\"a", 0), ("\"a\nb\"", 2),
            ("\"\u{1F}\"", 1),
            (#""\x""#, 1), (#""\u12""#, 1), (#""\u12G4""#, 1), (#""\uD834""#, 1), (#""\uDD1E""#, 1),
            (#""\uD834\uD834""#, 1),
            (#""\uDD1E\uD834""#, 1), (#""\uD834x""#, 1), (#""\"#, 2), ("// x\n1", 0), ("\u{FEFF}1", 0), ("\u{A0}1", 0),
            ("\u{C}1", 0),
            ("{\"a\":1,\"a\":2}", 7), (#"{"a":1,"\u0061":2}"#, 7), ("[1]]", 3), ("}", 0),
        ])
    func refuses(text: String, offset: Int) {
        let error = #expect(throws: FormatError.self) { try JSONScanner.scan(text) }
        #expect(error?.kind == .json)
        #expect(error?.detail.hasPrefix("byte \(offset): ") == true, "\(error?.detail ?? "")")
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [
            [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0x5C, 0x6E, 0xFF, 0x22], [0xEF, 0xBB, 0xBF, 0x31], [0x31, 0x00], [0x00, 0x31],
            [0xFF, 0xFE, 0x31, 0x00],
        ] as [[UInt8]])
    func refusesBytes(bytes: [UInt8]) {
        #expect(violated { try JSONScanner.scan(bytes) } == .json)
    }

    @Test func `Two normalisations of one letter are two names`() throws {
        let value = try JSONScanner.scan("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"] == .integer(1))
        #expect(value["e\u{301}"] == .integer(2))
    }

    @Test(arguments: [2, 11, 12, 13, 14, 100])
    func `A duplicate is found however many members there are`(count: Int) throws {
        let members = (0..<count).map { "\"m\($0)\":\($0)" }
        #expect(try JSONScanner.scan("{\(members.joined(separator: ","))}").members?.count == count)
        for index in [0, count - 1] {
            let doubled = (members + ["\"m\(index)\":0"]).joined(separator: ",")
            #expect(violated { try JSONScanner.scan("{\(doubled)}") } == .json)
        }
    }

    @Test func `Depth and items are limited exactly`() throws {
        let nested = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(throws: Never.self) { try JSONScanner.scan(nested) }
        #expect(violated { try JSONScanner.scan("[\(nested)]") } == .json)
        #expect(violated { try JSONScanner.scan(String(repeating: "[", count: 1_000_000)) } == .json)
        let limits = JSONScanner.Limits(depth: 1, items: 3)
        #expect(throws: Never.self) { try JSONScanner.scan("[1,2,3]", limits: limits) }
        #expect(violated { try JSONScanner.scan("[1,2,3,4]", limits: limits) } == .json)
        #expect(violated { try JSONScanner.scan("[[]]", limits: limits) } == .json)
    }

    @Test func `A refusal does not repeat the text`() {
        let error = #expect(throws: FormatError.self) { try JSONScanner.scan("{\"token\":\"hunter2\" x}") }
        #expect(error?.detail.contains("hunter2") == false)
    }

    @Test func `Every value is read back from its own text`() throws {
        var random = SeededGenerator(seed: 8259)
        for _ in 0..<500 {
            let value = Self.value(&random, depth: 0)
            var writer = JSONWriter()
            writer.element(json: value)
            #expect(try JSONScanner.scan(writer.bytes) == value)
            #expect(value.text == writer.text)
            #expect(!writer.bytes.contains(0x0A))
        }
    }

    @Test func `Damaged texts are refused or read, and never trap`() {
        var random = SeededGenerator(seed: 8260)
        let text = Array(#"{"a":[1,-2.5e3,"x\u00e9\n",true,null],"b":{"c":"€"}}"#.utf8)
        for _ in 0..<5000 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? JSONScanner.scan(Array(damaged.prefix(Int.random(in: 0...damaged.count, using: &random))))
        }
    }

    // MARK: Strings, eight bytes at a time

    /// What a string with one other byte in it is: a text, or nothing.
    private static func text(_ byte: UInt8, in plain: [UInt8], at place: Int) -> String? {
        switch byte {
        case 0..<0x20, UInt8(ascii: "\\"), 0x80...: nil
        // The string ends there, and text after it is refused.
        case UInt8(ascii: "\""): nil
        default: String(decoding: plain[..<place] + [byte] + plain[place...], as: UTF8.self)
        }
    }

    @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 31, 40])
    func `Every byte is seen at every place of a string of any length`(count: Int) {
        // Beside a byte that ends a text the next larger one must not be taken for such a byte.
        let plain = (0..<count).map { [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F][$0 % 6] as UInt8 }
        for place in 0...count {
            for byte in UInt8.min...UInt8.max {
                let text = [0x22] + plain[..<place] + [byte] + plain[place...] + [0x22]
                #expect((try? JSONScanner.scan(Array(text)))?.string == Self.text(byte, in: plain, at: place))
            }
        }
    }

    @Test(arguments: [1, 6, 7, 8, 9, 23, 64])
    func `A string that is not ASCII is checked, and one that does not end is refused`(count: Int) throws {
        let plain = [UInt8](repeating: 0x61, count: count)
        for place in 0...count {
            let (first, rest) = (Array(plain[..<place]), Array(plain[place...]))
            let euro = [0x22] + first + [0xE2, 0x82, 0xAC] + rest + [0x22]
            #expect(try JSONScanner.scan(euro).string?.utf8.count == count + 3)
            #expect(throws: FormatError(.json, "byte 0: not UTF-8")) {
                try JSONScanner.scan([0x22] + first + [0xE2, 0x82] + rest + [0x22])
            }
            #expect(throws: FormatError(.json, "byte 0: a string does not end")) {
                try JSONScanner.scan([0x22] + first)
            }
            #expect(throws: FormatError(.json, "byte \(place + 1): a control character in a string")) {
                try JSONScanner.scan([0x22] + first + [0x1F] + rest + [0x22])
            }
        }
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth < 4 ? 6 : 4), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return JSONNumber("\(Double.random(in: -1e6...1e6, using: &random))").map { .number($0) } ?? .null
        case 4: return .string(string(&random))
        case 5: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                (0..<Int.random(in: 0...4, using: &random)).map {
                    JSONMember("\($0)\(string(&random))", value(&random, depth: depth + 1))
                })
        }
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            guard
                let scalar = Unicode.Scalar(
                    UInt32.random(in: 0...0x10_FFFF, using: &random) >> UInt32.random(in: 0...16, using: &random))
            else { continue }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}

@Suite struct JSONWriterTests {
    @Test func `Members keep their order and nil ones are left out`() {
        let text = JSONWriter.object { writer in
            writer.member("event", "progress")
            writer.member("bytes", 12)
            writer.member("total", nil as UInt64?)
            writer.member("key", nil as String?)
            writer.member("ratio", 0.5)
            writer.member("done", false)
            writer.member("none", json: .null)
        }
        #expect(text == #"{"event":"progress","bytes":12,"ratio":0.5,"done":false,"none":null}"#)
    }

    @Test func `Containers nest and commas stand only between items`() {
        let text = JSONWriter.object { writer in
            writer.array("empty") { _ in }
            writer.array("list") { list in
                list.element(1)
                list.object { $0.member("a", UInt64.max) }
                list.array { $0.element("x") }
                list.object { _ in }
            }
            writer.object("inner") { $0.member("b", Int64.min) }
        }
        #expect(
            text == #"{"empty":[],"list":[1,{"a":18446744073709551615},["x"],{}],"inner":{"b":-9223372036854775808}}"#)
    }

    @Test func `Quotes, backslashes and control characters are escaped`() {
        var writer = JSONWriter()
        writer.element("\"\\\n\r\t\0\u{1B}\u{7F}é/")
        #expect(writer.text == #""\"\\\n\r\t\u0000\u001b\u007fé/""#)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `A number that JSON cannot represent is null`(value: Double) {
        #expect(JSONWriter.object { $0.member("x", value) } == #"{"x":null}"#)
    }

    @Test(arguments: [0.1, 1e300, -2.5, 1e16, 0.000_01, 1])
    func `A number reads back as itself`(value: Double) throws {
        let text = JSONWriter.object { $0.member("x", value) }
        #expect(try JSONScanner.scan(text)["x"]?.double == value)
    }

    @Test func `One writer makes many lines`() {
        var writer = JSONWriter()
        for number in 1...2 {
            writer.object { $0.member("n", number) }
            writer.endLine()
        }
        #expect(writer.text == "{\"n\":1}\n{\"n\":2}\n")
        writer.removeAll()
        writer.element(true)
        #expect(writer.text == "true")
    }
}
