import LectureFormats
import Testing

@Suite struct HeaderFieldsTests {
    @Test func `Names are compared without regard to case and values keep their order`() {
        let fields: HeaderFields = ["ETag": "\"a\"", "Accept": "x", "eTAG": "\"b\""]
        #expect(fields["etag"] == "\"a\"")
        #expect(fields.values(of: "ETAG") == ["\"a\"", "\"b\""])
        #expect(fields["Missing"] == nil)
        #expect(fields.elements.map(\.name) == ["ETag", "Accept", "eTAG"])
    }

    @Test func `A list over several lines is one list and quoted commas do not separate`() {
        let fields: HeaderFields = ["X": " a , \"b,c\" ,, ", "x": "\"d\\\",e\",f"]
        #expect(fields.list(of: "x") == ["a", "\"b,c\"", "\"d\\\",e\"", "f"])
    }

    @Test(
        "A header that may be sent is accepted (RFC 9110 sections 5.1 and 5.5)",
        arguments: [
            ("Authorization: Bearer a.b", "Authorization", "Bearer a.b"), ("X:y", "X", "y"), ("X: \t y \t", "X", "y"),
            ("X:", "X", ""), ("a!#$%&'*+-.^_`|~9: v", "a!#$%&'*+-.^_`|~9", "v"),
            ("Cookie: a=b; c:d", "Cookie", "a=b; c:d"),
            ("X: grüße\tdu", "X", "grüße\tdu"),
        ])
    func takes(line: String, name: String, value: String) throws {
        #expect(try HeaderField(parsing: line) == HeaderField(name: name, value: value))
    }

    @Test(
        "A header that could end early or mean another one is refused",
        arguments: [
            "", "no colon", ": value", "Na me: v", "Name : v", " Name: v", "Name: a\r\nInjected: b", "Name: a\nb",
            "Name: a\rb",
            "Name: a\0b", "Name: \u{7F}", "Näme: v", "Na\u{301}me: v", "(x): v", "X: \u{1B}[2J",
        ])
    func refuses(line: String) {
        #expect(violated { try HeaderField(parsing: line) } == .header)
    }

    @Test(
        "A header that belongs to the transfer is refused",
        arguments: [
            "Content-Length", "transfer-encoding", "HOST", "Connection", "If-None-Match", "if-range", "Range", "Expect",
            "TE",
            "Trailer", "Upgrade", "Keep-Alive", "Proxy-Connection",
        ])
    func reserves(name: String) {
        #expect(violated { try HeaderField(parsing: "\(name): 1") } == .headerReserved)
    }

    @Test func `A refusal does not repeat the value, and an oversized one is refused`() {
        let secret = "Authorization: hunter2\n"
        let error = #expect(throws: FormatError.self) { try HeaderField(parsing: secret) }
        #expect(error?.detail.contains("hunter2") == false)
        #expect(
            violated {
                try HeaderField(parsing: "X: " + String(repeating: "y", count: 8192))
            } == .header)
    }

    @Test func `An empty value keeps its field on libcurl's line`() {
        #expect(HeaderField(name: "X", value: "").line == "X;")
        #expect(HeaderField(name: "X", value: "y").line == "X: y")
    }
}

@Suite struct EntityTagTests {
    @Test(
        "Tags of RFC 9110 section 8.8.3 are read",
        arguments: [
            ("\"xyzzy\"", .strong("xyzzy")), ("W/\"xyzzy\"", .weak("xyzzy")), ("\"\"", .strong("")),
            ("W/\"\"", .weak("")),
            ("\"a\\b\"", .strong("a\\b")), ("\"é\"", .strong("é")),
        ] as [(String, EntityTag)])
    func reads(value: String, tag: EntityTag) {
        #expect(EntityTag(value) == tag)
        #expect(EntityTag(value)?.headerValue == value)
        #expect(tag.isStrong == !value.hasPrefix("W"))
    }

    @Test(
        "An invalid tag counts as missing",
        arguments: [
            "", "\"", "xyzzy", "w/\"a\"", "W/", "W/a", "\"a", "a\"", "\"a b\"", "\"a\"b\"", "\"a\u{7F}\"", "\"a\0\"",
            " \"a\"",
        ])
    func refuses(value: String) {
        #expect(EntityTag(value) == nil)
    }
}

@Suite struct ContentLengthTests {
    @Test(
        "Lengths of RFC 9110 section 8.6 are read and equal ones count once",
        arguments: [
            ([], .absent), (["0"], .known(0)), (["42"], .known(42)), (["42", "42"], .known(42)),
            (["42, 42"], .known(42)),
            (["042", "42"], .known(42)), (["9223372036854775807"], .known(9_223_372_036_854_775_807)),
        ] as [([String], ContentLength)])
    func reads(values: [String], length: ContentLength) throws {
        #expect(try ContentLength(values) == length)
    }

    @Test(
        "Two lengths, no number and a number of more than 63 bits are distinguished",
        arguments: [
            (["1", "2"], .conflict), (["1,2"], .conflict), (["-1"], .malformed), (["+1"], .malformed),
            ([""], .malformed),
            (["1,"], .malformed), (["abc"], .malformed), (["0x10"], .malformed), (["1 2"], .malformed),
            (["1.5"], .malformed),
            (["9223372036854775808"], .overflow), (["18446744073709551616"], .overflow),
            (["99999999999999999999999"], .overflow),
        ] as [([String], ContentLength.Fault)])
    func refuses(values: [String], fault: ContentLength.Fault) {
        #expect(throws: fault) { try ContentLength(values) }
    }
}

@Suite struct MediaTypeTests {
    @Test(
        "Type and subtype are lower-cased and parameters dropped",
        arguments: [
            ("text/html", "text/html"), ("Text/HTML; Charset=utf-8", "text/html"), ("video/mp4 ;x", "video/mp4"),
            (" application/vnd.lecturekit.descriptor+json", "application/vnd.lecturekit.descriptor+json"),
        ])
    func reads(value: String, essence: String) {
        #expect(MediaType(value)?.essence == essence)
    }

    @Test(
        "An invalid media type counts as missing",
        arguments: ["", ";", "text", "/", "text/", "/html", "a/b/c", "te xt/html", "text /html"])
    func refuses(value: String) {
        #expect(MediaType(value) == nil)
    }

    @Test func `The kinds a download needs are known`() throws {
        #expect(try #require(MediaType("application/vnd.lecturekit.descriptor+json")).isDescriptor)
        for text in ["application/vnd.apple.mpegurl", "application/x-mpegURL", "audio/mpegurl"] {
            #expect(try #require(MediaType(text)).isPlaylist)
        }
        #expect(try #require(MediaType("application/xhtml+xml")).isPage)
        #expect(try #require(MediaType("multipart/byteranges; boundary=x")).isMultipartRanges)
        #expect(try !#require(MediaType("text/plain")).isPage)
    }
}

@Suite struct DigestFieldsTests {
    static let empty = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    static let emptyHex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(
        "A well-formed digest is found",
        arguments: [
            ("Repr-Digest", "sha-256=:\(empty):"), ("repr-digest", "sha-512=:AA==:, sha-256=:\(empty):"),
            ("Repr-Digest", "sha-256=:AAAA:, sha-256=:\(empty):"), ("Repr-Digest", "sha-256=:\(empty):;x=1"),
            ("Digest", "SHA-256=\(empty)"), ("digest", "md5=AAAA, sha-256=\(empty)"),
            ("Digest", "Sha-256=\(empty),unixsum=1"),
        ])
    func finds(name: String, value: String) throws {
        let fields = HeaderFields([HeaderField(name: name, value: value)])
        #expect(DigestFields.sha256(in: fields).map { Hexadecimal.text($0) } == Self.emptyHex)
    }

    @Test(
        "A malformed digest, another algorithm and a digest of the part are ignored",
        arguments: [
            ("Repr-Digest", "sha-256=\(empty)"), ("Repr-Digest", "SHA-256=:\(empty):"),
            ("Repr-Digest", "sha-256=:AAAA:"),
            ("Repr-Digest", "sha-256"), ("Repr-Digest", "sha-256=:\(empty)"), ("Repr-Digest", "sha-256=::"),
            ("Repr-Digest", "sha-256=:\(empty.dropLast()):"), ("Digest", "SHA-512=\(empty)"),
            ("Digest", "SHA-256=:\(empty):"),
            ("Content-Digest", "sha-256=:\(empty):"),
            ("Digest", "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU="),
        ])
    func passes(name: String, value: String) {
        #expect(DigestFields.sha256(in: HeaderFields([HeaderField(name: name, value: value)])) == nil)
    }

    @Test func `The newer field is preferred`() {
        let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let fields: HeaderFields = ["Digest": "SHA-256=\(other)", "Repr-Digest": "sha-256=:\(Self.empty):"]
        #expect(DigestFields.sha256(in: fields)?.first == 0xE3)
    }
}

@Suite struct BinaryTextTests {
    @Test(
        "The vectors of RFC 4648 section 10 are read",
        arguments: [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ])
    func base64(text: String, bytes: String) {
        #expect(Base64.bytes(text) == Array(bytes.utf8))
    }

    @Test(
        "Every other spelling is refused",
        arguments: ["Zg", "Zg=", "Zg===", "====", "Zh==", "Zm9=", "Z g=", "Zm9v\n", "Zm9vYg=a", "=m9v", "Zm-_"])
    func strictBase64(text: String) {
        #expect(Base64.bytes(text) == nil)
    }

    @Test func `Hexadecimal digits encode and decode`() {
        #expect(Hexadecimal.bytes("00fF7a") == [0, 255, 0x7A])
        #expect(Hexadecimal.text([0, 255, 0x7A] as [UInt8]) == "00ff7a")
        #expect(Hexadecimal.bytes("abc") == nil)
        #expect(Hexadecimal.bytes("0g") == nil)
        #expect(Hexadecimal.bytes(" 00") == nil)
    }
}
