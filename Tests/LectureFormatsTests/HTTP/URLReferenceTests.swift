import LectureFormats
import Testing

@Suite struct URLReferenceTests {
    /// RFC 3986 section 5.4, both tables whole except for the schemes that are refused; the base is its own.
    private static let examples: [(reference: String, target: String)] = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
    ]

    @Test("The examples of RFC 3986 section 5.4", arguments: examples)
    func resolves(reference: String, target: String) throws {
        #expect(try URLParts(parsing: "http://a/b/c/d;p?q").resolving(reference).text == target)
    }

    @Test(
        "Other bases and references",
        arguments: [
            ("https://a", "g", "https://a/g"), ("https://a", "", "https://a"), ("https://a?x", "?", "https://a?"),
            ("https://a", "..", "https://a/"), ("https://u@a:1/b", "c/../..//d", "https://u@a:1//d"),
            ("https://a/b/", "//c/./d/..", "https://c/"), ("https://a/b/../c/d", "e", "https://a/c/e"),
            ("http://a/", "HTTPS://B/../c#f", "https://B/c#f"), ("http://a/x#old", "", "http://a/x"),
            ("http://a/b", " my part 1.ts ", "http://a/my%20part%201.ts"),
            ("http://a/b", "10:30.ts", "http://a/10:30.ts"),
            ("http://a/b", "ä/../ö", "http://a/ö"), ("http://a/b", "./x:y", "http://a/x:y"),
            ("http://a/b", "\u{301}c", "http://a/\u{301}c"), ("http://a/b", "%2e%2e/c", "http://a/%2e%2e/c"),
        ])
    func bases(base: String, reference: String, target: String) throws {
        #expect(try URLParts(parsing: base).resolving(reference).text.utf8.elementsEqual(target.utf8))
    }

    @Test(
        "Other schemes are refused by name, unusable references as such",
        arguments: [
            ("g:h", .urlScheme), ("file:///etc/passwd", .urlScheme), ("data:text/plain,x", .urlScheme),
            ("skd://key", .urlScheme), ("FTP://a/", .urlScheme), ("javascript:x", .urlScheme),
            ("http:g", .url), ("https:", .url), ("a\nb", .url), ("a\0b", .url), ("..\\b", .url), ("a\u{7F}", .url),
            (String(repeating: "x", count: 8193), .url), (String(repeating: "x", count: 8190), .url),
            (String(repeating: " ", count: 3000) + "x" + String(repeating: " y", count: 3000), .url),
        ] as [(String, FormatError.Kind)])
    func refuses(reference: String, kind: FormatError.Kind) throws {
        let base = try URLParts(parsing: "http://a/b/c/d;p?q")
        #expect(violated { try base.resolving(reference) } == kind)
    }

    @Test func `A base of another scheme makes no URL of relative references`() throws {
        let base = try URLParts(parsing: "ftp://a/b")
        #expect(violated { try base.resolving("c") } == .urlScheme)
        #expect(try base.resolving("http://c/d").text == "http://c/d")
    }
}
