import Foundation
import LectureFormats
import LectureTestSupport
import Testing

@testable import LectureXML

struct XMLReaderTests {
    private static func read(_ bytes: [UInt8], _ limits: XMLLimits = XMLLimits()) throws(XMLError) -> XMLElement {
        try LibXMLReader().element(of: bytes, limits: limits)
    }

    private static func read(_ text: String, _ limits: XMLLimits = XMLLimits()) throws(XMLError) -> XMLElement {
        try read(Array(text.utf8), limits)
    }

    private static func refusal(_ bytes: [UInt8], _ limits: XMLLimits = XMLLimits()) -> XMLError? {
        do throws(XMLError) { _ = try read(bytes, limits) } catch { return error }
        return nil
    }

    private static func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { unit in
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? pair : pair.reversed()
        }
    }

    @Test func `Names, namespaces, attributes in order, text and children are read`() throws {
        let root = try Self.read(
            """
            <?xml version="1.0" encoding="utf-8"?>
            <!-- a > comment with <tags> and "quotes' --><?pi a="?"?>
            <MPD xmlns="urn:a" xmlns:x="urn:b" two="&lt;&#x41;&quot;" one='a > "b"' x:href="h">
              x<x:Inner/>y<![CDATA[<z>&amp;]]>&amp;<Empty a=""></Empty>
            </MPD>
            <!-- end -->
            """)
        let inner = XMLElement("Inner", namespace: "urn:b")
        let empty = XMLElement("Empty", namespace: "urn:a", attributes: [.init("a", "")])
        #expect(
            root
                == XMLElement(
                    "MPD", namespace: "urn:a",
                    attributes: [
                        .init("two", "<A\""), .init("one", "a > \"b\""), .init("href", "h", namespace: "urn:b"),
                    ],
                    children: [inner, empty], text: "\n  xy<z>&amp;&\n"))
        #expect(root["two"] == "<A\"" && root["href"] == nil && root.attribute("href", namespace: "urn:b") == "h")
        #expect(root.all("Empty") == [empty] && root.first("Inner") == nil)
    }

    @Test func `UTF-8 and UTF-16 are read, with and without a mark`() throws {
        let body = "<a t=\"ä€𐍈\">한국어</a>"
        let expected = XMLElement("a", attributes: [.init("t", "ä€𐍈")], text: "한국어")
        let declared = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\(body)"
        let cases: [[UInt8]] = [
            Array(body.utf8), [0xEF, 0xBB, 0xBF] + Array(body.utf8),
            [0xFE, 0xFF] + Self.utf16(body, isBigEndian: true),
            [0xFF, 0xFE] + Self.utf16(body, isBigEndian: false), Self.utf16(declared, isBigEndian: true),
            [0xFF, 0xFE] + Self.utf16(declared, isBigEndian: false),
            Array("<?xml version='1.0' encoding='US-ASCII'?><!-->-->\(body)<!-- - -->".utf8),
        ]
        for bytes in cases { #expect(try Self.read(bytes) == expected, "\(bytes.prefix(4))") }
    }

    @Test func `What is no document is refused, by the kind of fault`() {
        let refused: [(String, XMLError.Kind, String)] = [
            ("", .malformed, "empty"), ("   ", .malformed, ""), ("text", .malformed, ""),
            ("<a>", .malformed, "cut off"),
            ("<a", .malformed, "inside a tag"), ("<a b=\"", .malformed, "inside a tag"), ("<!-- ", .malformed, "'-->'"),
            ("<a><![CDATA[x]]", .malformed, "']]>'"), ("<a/><b/>", .malformed, "line 1"),
            ("</a>", .malformed, "end tag"),
            ("<a></b>", .malformed, "line 1"), ("<a b=\"1\" b=\"2\"/>", .malformed, ""),
            ("<a>&nbsp;</a>", .malformed, ""),
            ("<a>\n\n<b c=1/></a>", .malformed, "line 3"), ("<a>\u{1}</a>", .malformed, ""),
            ("<a>&#0;</a>", .malformed, ""),
            ("<x:a/>", .malformed, "prefix"), ("<a x:b=''/>", .malformed, "prefix"), ("<a>\u{0}</a>", .malformed, ""),
            ("<?xml version='1.0' encoding='ISO-8859-1'?><a/>", .encoding, "declares"),
            ("<?xml version='1.0' encoding='UTF-7'?><a/>", .encoding, "declares"),
            ("<!DOCTYPE a><a/>", .documentType, ""), ("<a/><!DOCTYPE a>", .documentType, ""),
            ("<!ENTITY b 'c'><a/>", .documentType, ""),
        ]
        for (text, kind, words) in refused {
            let error = Self.refusal(Array(text.utf8))
            #expect(error?.kind == kind, "\(text): \(String(describing: error))")
            #expect(words.isEmpty || error?.detail.contains(words) == true, "\(text): \(String(describing: error))")
        }
        let encodings: [[UInt8]] = [
            [0x3C, 0x61, 0xFF, 0x3E], Array("<a>".utf8) + [0xC3] + Array("</a>".utf8), [0xFE, 0xFF, 0x00],
            [0xFE, 0xFF, 0xD8, 0x00, 0x00, 0x3C], [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0], [0x4C, 0x6F, 0xA7, 0x94],
        ]
        for bytes in encodings { #expect(Self.refusal(bytes)?.kind == .encoding, "\(bytes)") }
    }

    @Test func `Every beginning of a document is refused and nothing else`() throws {
        let bytes = Array("<?xml version='1.0'?><a b='c'><!-- d --><e>f</e><![CDATA[g]]><h/></a>".utf8)
        for count in 0..<bytes.count { #expect(Self.refusal(Array(bytes.prefix(count))) != nil, "\(count)") }
        #expect(try Self.read(bytes).children.map(\.name) == ["e", "h"])
    }

    @Test func `Entities are never expanded and no file is opened`() throws {
        let directory = try TemporaryDirectory()
        let secret = try directory.write(Array("SECRET".utf8), to: "secret")
        let laughs = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
        let attacks = [
            "<!DOCTYPE a [<!ENTITY l0 \"lol\">\(laughs)]><a>&l9;</a>",
            "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://\(secret)\">]><a>&x;</a>",
            "<!DOCTYPE a [<!ENTITY % x SYSTEM \"file://\(secret)\">%x;]><a/>",
            "<!DOCTYPE a SYSTEM \"file://\(secret)\"><a/>", "<!DOCTYPE a PUBLIC \"x\" \"http://127.0.0.1:9/x\"><a/>",
        ]
        for attack in attacks + attacks.map({ "<?xml version='1.0'?><!-- '>' -->\($0)" }) {
            #expect(Self.refusal(Array(attack.utf8))?.kind == .documentType, "\(attack.prefix(60))")
            #expect(Self.refusal(Self.utf16(attack, isBigEndian: true))?.kind == .documentType)
        }
        let include =
            "<a xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"\(secret)\" parse=\"text\"/></a>"
        #expect(try Self.read(include).children.first?.text == "")
    }

    @Test func `Limits are exact, and large documents cost no more than their length`() throws {
        var limits = XMLLimits(bytes: 1000, depth: 3, elements: 5, attributes: 2, tagBytes: 40)
        let kept = [
            "<a><b><c/></b></a>", "<a><b/><b/><b/><b/></a>", "<a b='' c=''/>",
            "<a b='\(String(repeating: "x", count: 31))'/>",
        ]
        for text in kept { #expect(throws: Never.self, "\(text)") { try Self.read(text, limits) } }
        let refused = [
            "<a><b><c><d/></c></b></a>", "<a><b/><b/><b/><b/><b/></a>", "<a b='' c='' d=''/>",
            "<a b='\(String(repeating: "x", count: 33))'/>", "<a>\(String(repeating: "x", count: 994))</a>",
        ]
        for text in refused { #expect(Self.refusal(Array(text.utf8), limits)?.kind == .limit, "\(text.prefix(60))") }
        limits = XMLLimits()
        let bombs = [
            String(repeating: "<a>", count: 1_000_000), String(repeating: "<a><b/></a>", count: 1_000_000),
            "<a" + (0..<1_000_000).map { " b\($0)=''" }.joined() + "/>",
            "<a b='" + String(repeating: ">", count: 9_000_000),
            "<" + String(repeating: "a", count: 9_000_000),
            "<a>" + String(repeating: "<b/>", count: 1_000_000) + "</a>",
            "<a>" + String(repeating: " ", count: 17_000_000) + "</a>",
        ]
        for bomb in bombs { #expect(Self.refusal(Array(bomb.utf8))?.kind == .limit, "\(bomb.prefix(20))") }
        let deepest = String(repeating: "<a>", count: 64) + String(repeating: "</a>", count: 64)
        #expect(try Self.read(deepest).children.count == 1)
    }

    @Test func `Threads read at the same time and get their own documents`() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let count = number % 7 + 1
                    let text = "<a>\(String(repeating: "<b c='\(number)'/>", count: count))</a>"
                    let broken = Self.refusal(Array("<a>\(number)<b></a>".utf8))
                    let root = try Self.read(text)
                    return broken?.kind == .malformed && root.children.allSatisfy { $0["c"] == "\(number)" }
                        && root.children.count == count
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func `A machine without libxml2 gets an error that names the package`() throws {
        for name in ["liblecture-no-such-xml.so.2", "libc.so.6"] {
            let opened = Result { () throws(XMLError) in try XMLLibrary(name) }
            let error = #expect(throws: XMLError.self) {
                try LibXMLReader(opened).element(of: Array("<a/>".utf8))
            }
            #expect(error?.kind == .libraryMissing && error?.detail.contains("Debian package libxml2:") == true)
            #expect(error?.detail.contains(name == "libc.so.6" ? "xmlInitParser" : name) == true)
        }
        _ = try XMLLibrary.shared.get()
    }

    @Test func `The shim declares what the headers of libxml2 declare`() async throws {
        let shim = try String(contentsOfFile: "\(Places.repository())/Sources/CXML2/shim.h", encoding: .utf8)
        let names = shim.matches(of: /\(\*cxml2_(\w+)\)\(/).map { String($0.output.1) }.filter { $0 != "error_handler" }
        #expect(names.count == 14)
        let directory = try TemporaryDirectory()
        let checks = names.map {
            "_Static_assert(__builtin_types_compatible_p(cxml2_\($0), __typeof__(&\($0))), \"\($0)\");"
        }
        let options = [("NOERROR", 5), ("NOWARNING", 6), ("NONET", 11), ("IGNORE_ENC", 21)].map {
            "_Static_assert(XML_PARSE_\($0.0) == 1 << \($0.1), \"\($0.0)\");"
        }
        let kinds = [
            ("ELEMENT", 1), ("TEXT", 3), ("CDATA", 4), ("PROCESSING_INSTRUCTION", 7), ("COMMENT", 8),
            ("DOCUMENT_TYPE", 10), ("WHITESPACE", 13), ("SIGNIFICANT_WHITESPACE", 14), ("END_ELEMENT", 15),
        ].map { "_Static_assert(XML_READER_TYPE_\($0.0) == \($0.1), \"\($0.0)\");" }
        let lines = ["#include <libxml/xmlreader.h>", "#include <libxml/globals.h>", shim] + checks + options + kinds
        let file = try directory.write(Array(lines.joined(separator: "\n").utf8), to: "check.c")
        let compiler = try Places.command("clang")
        let ending = try await ChildProcess.run(compiler, ["-fsyntax-only", "-I/usr/include/libxml2", file])
        #expect(ending.status == 0, "\(String(decoding: ending.errors, as: UTF8.self))")
        let wrong = try directory.write(
            Array(lines.joined(separator: "\n").replacing("int size", with: "long size").utf8), to: "wrong.c")
        #expect(try await ChildProcess.run(compiler, ["-fsyntax-only", "-I/usr/include/libxml2", wrong]).status != 0)
    }
}
