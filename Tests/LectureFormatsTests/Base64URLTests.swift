import Foundation
import LectureFormats
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
}
