import LectureModel
import LectureTransport
import Testing

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
