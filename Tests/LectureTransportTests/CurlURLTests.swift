import LectureModel
import LectureTestSupport
import Testing

@testable import LectureTransport

struct CurlURLTests {
    @Test(arguments: [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("http://example.com/a/./b/../c?x=../y#part", "http://example.com/a/c?x=../y"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com/%41%2F", "http://example.com/%41%2F"),
        ("http://example.com/강의", "http://example.com/%ea%b0%95%ec%9d%98"),
        ("http://bücher.example/x", "http://xn--bcher-kva.example/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://\u{FE0F}1/x", "http://0.0.0.1/x"), ("http://１２７.1/x", "http://127.0.0.1/x"),
        ("http://1%2e2/x", "http://1.0.0.2/x"),
        ("http://user:word@example.com/x", "http://user:word@example.com/x"),
    ])
    func `an absolute URL has one form`(text: String, form: String) throws {
        let url = try CurlURL.normalise(text)
        #expect(url == form)
        #expect(try CurlURL.normalise(url) == form)
    }

    // MARK: Without libcurl

    @Test(arguments: [
        "http://a/", "https://media.example.org/a/b.mp4", "http://127.0.0.1:8080/x?y=1&z=/?", "http://h:443/",
        "https://h:80/", "http://h/...", "http://h/.a/..b/c.", "http://h/a//b/", "http://0.1.22.255/",
        "http://a1-b.c2d/~",
        "http://h/!$&'()*+,;=:@-._~", "http://h:1/?a", "http://h/a?b@c:d", "http://9a.b/", "http://h/x?..",
    ])
    func `a URL in its normal form is recognised, and libcurl agrees`(text: String) throws {
        #expect(NormalURL.isNormal(text))
        #expect(try CurlURL.normaliseWithLibcurl(text) == text)
    }

    @Test(arguments: [
        "HTTP://h/", "http://H/", "http://h", "http://h:80/", "https://h:443/", "http://h:/", "http://h:080/",
        "http://h:0/", "http://h:65536/", "http://h:99999999999999999999/", "http://h/a/./b", "http://h/..",
        "http://h/.",
        "http://h/../x", "http://h/a%2fb", "http://h/a b", "http://h/강", "http://h/x#y", "http://h/x?", "http://u@h/",
        "http://h/x?a b", "http://h/x?a%20b", "http://xn--a/", "http://a--b/", "http://-a/", "http://a-/",
        "http://a..b/",
        "http://a./", "http://.a/", "http:///x", "http://1/", "http://1.2.3/", "http://01.2.3.4/", "http://256.1.1.1/",
        "http://1.0x7f/", "http://0x7f000001/", "http://1.2.3.4.5/", "http://[::1]/", "http://a_b/", "http://a\\b/",
        "http://h/a\\b", "http://h/a\"b", "http://h/<a>", "http://h/{a}", "http://h/|", "http://h/^", "http://h/`",
        "http://h/[", "ftp://h/", "http:/h/", "http//h/", "", "http://", "http://h\n/", "http://h/\0",
        "http://h/\u{7F}",
    ])
    func `whatever may be read in two ways is left to libcurl`(text: String) { #expect(!NormalURL.isNormal(text)) }

    /// Texts of the characters that matter, many of them URLs: what is recognised is what libcurl makes of it.
    @Test(arguments: 0..<8)
    func `what is recognised is a fixed point of libcurl`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "http://", "https://", "http:", "a", "b.c", "h.example", "127.0.0.1", "1", "0x7f", "xn--", "-", ".", "..",
            "/",
            "//", ":", "80", "443", "8080", "0", "?", "#", "@", "%", "%41", "=", "&", "~", "A", " ", "\\", "'", "강",
            "\u{7F}",
        ]
        var recognised = 0
        for _ in 0..<5000 {
            var text = random.next() % 8 == 0 ? "" : random.next() % 2 == 0 ? "http://h.example" : "https://1.2.3.4"
            for _ in 0..<random.next() % 7 { text += pieces[Int(random.next() % UInt64(pieces.count))] }
            guard NormalURL.isNormal(text) else { continue }
            recognised += 1
            #expect(try CurlURL.normaliseWithLibcurl(text) == text)
            #expect(try CurlURL.normalise(text) == text)
        }
        #expect(recognised > 100)
    }

    @Test func `the longest URL is recognised, and no longer one`() {
        let fits = "http://h/" + String(repeating: "a", count: 8192 - 9)
        #expect(NormalURL.isNormal(fits) && !NormalURL.isNormal(fits + "a"))
        let label = String(repeating: "a", count: 63)
        #expect(NormalURL.isNormal("http://\(label)/") && !NormalURL.isNormal("http://\(label)a/"))
        let host = [label, label, label, String(label.dropLast(2))].joined(separator: ".")
        #expect(NormalURL.isNormal("http://\(host)/") && !NormalURL.isNormal("http://\(host)a/"))
    }

    @Test(arguments: [
        "ftp://example.com/x", "file:///etc/passwd", "kollus://download?url=x", "javascript://x/%0aalert",
    ])
    func `another scheme is refused with its own code`(text: String) {
        #expect(throws: LectureError(.urlScheme)) { try CurlURL.normalise(text) }
    }

    @Test(arguments: [
        "", "http://", "http://example.com:99999/", "http://exa mple.com/", "http://example.com/a\nb",
        "http://example.com/\0", "http://[::1/",
    ])
    func `a text that is not a URL is refused`(text: String) {
        #expect(throws: LectureError.self) { try CurlURL.normalise(text) }
    }

    @Test
    func `a URL beyond 8192 bytes is refused`() throws {
        let fits = "http://example.com/" + String(repeating: "a", count: 8192 - 19)
        #expect(try CurlURL.normalise(fits) == fits)
        #expect(throws: LectureError(.urlInvalid)) { try CurlURL.normalise(fits + "a") }
        #expect(throws: LectureError(.urlInvalid)) {
            try CurlURL.normalise("http://example.com/" + String(repeating: "a", count: 102_400))
        }
        // Encoding makes it longer.
        #expect(throws: LectureError(.urlInvalid)) {
            try CurlURL.normalise("http://example.com/" + String(repeating: "강", count: 2000))
        }
    }

    /// RFC 3986 section 5.4.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("g;x", "http://a/b/c/g;x"),
        ("../g", "http://a/b/g"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("https://h/x", "https://h/x"), ("#s", "http://a/b/c/d;p?q"),
    ])
    func `a reference is resolved`(reference: String, target: String) throws {
        #expect(try CurlURL.resolve(reference, against: "http://a/b/c/d;p?q") == target)
    }

    @Test
    func `a reference may lead to any scheme, which callers judge`() throws {
        #expect(try CurlURL.resolve("ftp://h/x", against: "http://a/b") == "ftp://h/x")
    }
}
