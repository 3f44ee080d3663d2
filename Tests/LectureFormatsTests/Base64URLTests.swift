import Foundation
import LectureFormats
import LectureTestSupport
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 section 10 without the padding, and RFC 7515 appendix C.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `Published examples encode and decode`(text: String, digits: String) {
        #expect(Base64URL.text(Array(text.utf8)) == digits)
        #expect(Base64URL.bytes(digits) == Array(text.utf8))
    }

    @Test func `The alphabet is that for URLs`() {
        #expect(Base64URL.text([3, 236, 255, 224, 193]) == "A-z_4ME")
        #expect(Base64URL.bytes("A-z_4ME") == [3, 236, 255, 224, 193])
        #expect(Base64.text([3, 236, 255, 224, 193]) == "A+z/4ME=")
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg=", "Zg==", "Zh", "Zm9", "Zm9w=", "A+AA", "A/AA", "Zm 9v", "Zm9v\n", " Zm9v", "Zm9v.", "é",
        "Zm9v\0",
    ])
    func `Any other spelling is refused`(text: String) {
        #expect(Base64URL.bytes(text) == nil)
    }

    @Test func `Every sequence of bytes has one spelling, and Foundation agrees`() {
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
            let due = Data(bytes).base64EncodedString()
            #expect(Base64.text(bytes) == due)
            #expect(Base64.bytes(due) == bytes)
            let digits = Base64URL.text(bytes)
            #expect(digits == due.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
            #expect(Base64URL.bytes(digits) == bytes)
        }
    }

    @Test func `Of all texts of two digits exactly those that encode one byte are accepted`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        var read: Set<[UInt8]> = []
        for first in alphabet {
            for second in alphabet {
                if let bytes = Base64URL.bytes("\(first)\(second)") { #expect(read.insert(bytes).inserted) }
            }
        }
        #expect(read.count == 256)
    }

    // MARK: One digit after the other

    /// What four digits at a time must give: the bits in order, eight for each byte.
    private static func bytes(_ digits: ArraySlice<UInt8>, plus: Character, slash: Character) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(plus)\(slash)".utf8)
        var bits: [UInt8] = []
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits += (0..<6).map { UInt8(value >> (5 - $0) & 1) }
        }
        let rest = bits.suffix(bits.count % 8)
        guard rest.count < 6, !rest.contains(1) else { return nil }
        return stride(from: 0, to: bits.count - rest.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
        }
    }

    @Test func `Digits, also changed ones, read as one after the other does`() {
        var random = SeededGenerator(seed: 4648)
        var (read, refused) = (0, 0)
        for length in 0..<400 {
            let bytes = (0..<length % 67).map { _ in UInt8.random(in: 0...255, using: &random) }
            var digits = Array(Base64URL.text(bytes).utf8)
            for change in 0..<6 {
                let due = Self.bytes(digits[...], plus: "-", slash: "_")
                #expect(Base64URL.bytes(digits[...]) == due)
                if due == nil { refused += 1 } else { read += 1 }
                // A slice that does not begin with its array.
                #expect(Base64URL.bytes(([0x2E, 0x41] + digits + [0x2E])[2..<digits.count + 2]) == due)
                guard !digits.isEmpty else { continue }
                let place = Int.random(in: digits.indices, using: &random)
                switch change % 3 {
                case 0: digits[place] = UInt8.random(in: 0x20...0x7F, using: &random)
                case 1: digits[place] = UInt8.random(in: 0...255, using: &random)
                default: digits.removeLast()
                }
            }
        }
        #expect(read > 400 && refused > 400)
    }

    @Test func `Every byte is a digit of its alphabet or none, at every place`() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<7 {
                var digits = Array("AAAAAAA".utf8)
                digits[place] = byte
                #expect(Base64URL.bytes(digits[...]) == Self.bytes(digits[...], plus: "-", slash: "_"))
                guard byte < 0x80, byte != UInt8(ascii: "=") else { continue }
                let due = Self.bytes(digits[...], plus: "+", slash: "/")
                #expect(Base64.bytes(String(decoding: digits, as: UTF8.self) + "=") == due)
            }
        }
    }
}
