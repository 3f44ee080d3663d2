import LectureFormats
import Testing

@Suite struct OriginTests {
    @Test(
        "Scheme, host and port are normalised (RFC 6454 section 4)",
        arguments: [
            ("http://example.org", "http://example.org", 80),
            ("HTTPS://Example.ORG:443/a?b#c", "https://example.org", 443),
            ("http://example.org:8080", "http://example.org:8080", 8080),
            ("http://example.org:", "http://example.org", 80),
            ("https://user:pass@example.org/", "https://example.org", 443),
            ("http://a@b@example.org/", "http://example.org", 80),
            ("http://[::1]/", "http://[::1]", 80), ("http://[2001:DB8::1]:81", "http://[2001:db8::1]:81", 81),
            ("http://127.0.0.1:0080?x", "http://127.0.0.1", 80), ("http://h#@evil/", "http://h", 80),
            ("http://h?@evil/", "http://h", 80),
            ("https://bücher.example/", "https://bücher.example", 443),
            ("https://\u{212A}.example/", "https://\u{212A}.example", 443),
        ] as [(String, String, UInt16)])
    func reads(url: String, text: String, port: UInt16) throws {
        let origin = try Origin(parsing: url)
        #expect(origin.text == text)
        #expect(origin.port == port)
    }

    @Test(
        "Only http and https have an origin",
        arguments: ["ftp://a/", "file:///etc/passwd", "data://x", "kollus://download?url=x"])
    func schemes(url: String) {
        #expect(violated { try Origin(parsing: url) } == .urlScheme)
    }

    @Test(
        "An unusable URL is refused",
        arguments: [
            "", "example.org", "//example.org", "http:/x", "http:x", "http://", "http:///path", "http://?x",
            "http://a b/", "http://a\n/",
            "http://a\0b", "http://a\\@b", "http://a:b/", "http://a:0/", "http://a:65536/", "http://a:-1/",
            "http://a:1:2/", "http://[::1",
            "http://[::1]x/", "http://[x]/", "http://[]/", "http://[fe80::1%25eth0]/", "http://a%2e/", "http://user@/",
            "1http://a",
            "http://a/\u{7F}", "http://a:\u{301}80/", "http://[\u{301}::1]/", "http://[::1\u{600}]/",
        ])
    func refuses(url: String) {
        #expect(violated { try Origin(parsing: url) } == .url)
    }

    @Test func `A URL of 100 KiB is refused before it is parsed`() {
        #expect(
            violated {
                try Origin(parsing: "http://a/" + String(repeating: "x", count: 102_400))
            } == .url)
        #expect(throws: Never.self) { try Origin(parsing: "http://a/" + String(repeating: "x", count: 8192 - 9)) }
    }

    @Test func `The parts of a URL are those of RFC 3986 appendix B`() throws {
        let parts = try URLParts(parsing: "HTTP://u@Host:1/a/b%20c?q=1?2#f#g")
        #expect(parts.scheme == "http")
        #expect(parts.authority == "u@Host:1")
        #expect(parts.path == "/a/b%20c")
        #expect(parts.query == "q=1?2")
        #expect(parts.fragment == "f#g")
        #expect(parts.lastPathPart == "b%20c")
        #expect(try URLParts(parsing: "http://h").lastPathPart == "")
        #expect(try URLParts(parsing: "http://h").query == nil)
    }
}
