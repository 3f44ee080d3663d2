import LectureHTTP
import LectureKit
import LectureServedMedia
import Testing

@testable import LectureLoopback

/// Which requests are answered, as a value.
struct RequestRulesTests {
    private func head(_ fields: [(String, String)] = [], method: String = "GET", path: String = "/a") -> HTTPRequestHead
    {
        HTTPRequestHead(method: method, path: path, fields: fields.map { HTTPField(name: $0.0, value: $0.1) })
    }

    private let rules = RequestRules(port: 8080, origins: ["https://lms.example"])
    private let host = ("Host", "127.0.0.1:8080")

    private func refusal(_ head: HTTPRequestHead, _ rules: RequestRules? = nil) -> LoopbackRefusal? {
        guard case .failure(let refused) = (rules ?? self.rules).judge(head) else { return nil }
        return refused.refusal
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
    func `this server's names are answered`(name: String) {
        #expect(refusal(head([("host", name)])) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.1:8080.evil.example",
        "[::1]:8080", "localhost.:8080", "0.0.0.0:8080", "",
    ])
    func `another name is refused`(name: String) {
        #expect(refusal(head([("Host", name)])) == .foreignHost)
    }

    @Test func `a request has one Host`() {
        #expect(refusal(head([])) == .foreignHost)
        #expect(refusal(head([host, ("Host", "evil.example")])) == .foreignHost)
        #expect(refusal(head([host, host])) == .foreignHost)
        #expect(refusal(head([("Host", "localhost")]), RequestRules(port: 80)) == nil)
    }

    @Test(arguments: [
        ("https://evil.example", LoopbackRefusal.foreignOrigin), ("null", .foreignOrigin),
        ("https://lms.example.evil", .foreignOrigin), ("http://lms.example", .foreignOrigin),
        ("http://127.0.0.1:8081", .foreignOrigin), ("https://127.0.0.1:8080", .foreignOrigin),
        ("https://lms.example", nil), ("http://127.0.0.1:8080", nil), ("http://localhost:8080", nil),
    ])
    func `pages of other origins are refused`(origin: String, expected: LoopbackRefusal?) {
        #expect(refusal(head([host, ("Origin", origin)])) == expected)
        #expect(refusal(head([host, ("Origin", origin), ("Origin", origin)])) == (expected ?? .foreignOrigin))
    }

    @Test(arguments: [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true), ("x", false)])
    func `a browser says where a request comes from`(site: String, isAnswered: Bool) {
        #expect((refusal(head([host, ("Sec-Fetch-Site", site)])) == nil) == isAnswered)
    }

    @Test func `only the head and the media are given`() {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get"] {
            #expect(refusal(head([host], method: method)) == .method, "\(method)")
        }
        #expect(refusal(head([host, ("Content-Length", "3")])) == .body)
        #expect(refusal(head([host, ("Content-Length", "x")])) == .body)
        #expect(refusal(head([host, ("Transfer-Encoding", "chunked")])) == .body)
        #expect(refusal(head([host, ("Content-Length", "0")])) == nil)
    }

    @Test(arguments: ["", "/", "a", "/a/b/c", "/a/", "//a", "/a//", "//", "*"])
    func `a path names a play, or a file of it, and nothing else`(path: String) {
        #expect(refusal(head([host], path: path)) == .unknownPlay)
    }

    @Test func `what is asked for is understood`() {
        for (path, name) in [("/token", nil), ("/token/12.ts", "12.ts")] as [(String, String?)] {
            let page = head([host, ("Origin", "https://lms.example")], method: "HEAD", path: path)
            let wanted = RequestRules.Wanted(token: "token", name: name, isHead: true, origin: "https://lms.example")
            #expect(rules.judge(page) == .success(wanted))
        }
    }

    @Test func `files of streams have their media types`() {
        let types = [
            "1.ts": "video/mp2t", "2.m4s": "video/mp4", "3.m4a": "audio/mp4", "4.vtt": "text/vtt", "5.aac": "audio/aac",
        ]
        for (name, type) in types { #expect(ServedPart.type(ofFile: name) == type, "\(name)") }
        for name in ["6.key", "7.x", ""] { #expect(ServedPart.type(ofFile: name) == "application/octet-stream") }
    }

    @Test(arguments: [
        ("bytes=0-0", WantedBytes.part(0..<1)), ("bytes=0-99", .part(0..<100)), ("bytes=10-", .part(10..<100)),
        ("bytes=99-1000", .part(99..<100)), ("bytes=-1", .part(99..<100)), ("bytes=-1000", .part(0..<100)),
        ("BYTES=5-6", .part(5..<7)), ("bytes=0-99999999999999999999", .part(0..<100)),
        ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=5-4", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=0-1,5-6", .whole),
        ("items=0-1", .whole),
        ("bytes= 0-1", .whole), ("bytes=+1-2", .whole), ("bytes=0x1-2", .whole), ("bytes=1-2-3", .whole),
    ])
    func `ranges are those of the RFC`(text: String, expected: WantedBytes) {
        #expect(WantedBytes(head([("Range", text)]), byteCount: 100) == expected)
        #expect(WantedBytes(head([("Range", text), ("If-Range", #""v""#)]), byteCount: 100) == .whole)
        #expect(WantedBytes(head([("Range", text), ("Range", text)]), byteCount: 100) == .whole)
    }

    @Test func `nothing is asked of nothing`() {
        #expect(WantedBytes(head([("Range", "bytes=0-0")]), byteCount: 0) == .unsatisfiable)
        #expect(WantedBytes(head([("Range", "bytes=-1")]), byteCount: 0) == .unsatisfiable)
        #expect(WantedBytes(head(), byteCount: 0) == .whole)
    }

    @Test func `tokens are long, differ, and are compared whole`() {
        let tokens = (0..<100).map { _ in PlayToken.make() }
        #expect(Set(tokens).count == 100)
        // 32 bytes in Base64.
        #expect(
            tokens.allSatisfy {
                $0.count == 43 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
            })
        #expect(PlayToken.isSame(tokens[0], tokens[0]) && !PlayToken.isSame(tokens[0], tokens[1]))
        #expect(!PlayToken.isSame(tokens[0], String(tokens[0].dropLast())) && !PlayToken.isSame(tokens[0], ""))
    }

    @Test(
        arguments: [
            ([0, 0, 0, 32] + Array("ftypisom".utf8), "video/mp4"),
            ([0, 0, 0, 32] + Array("ftypM4A ".utf8), "audio/mp4"),
            ([0, 0, 0, 20] + Array("ftypqt  ".utf8), "video/quicktime"),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x42, 0x82, 0x84] + Array("webm".utf8), "video/webm"),
            ([0x1A, 0x45, 0xDF, 0xA3, 0x42, 0x82, 0x88] + Array("matroska".utf8), "video/x-matroska"),
            (Array("RIFF....WAVE".utf8), "audio/wav"), (Array("RIFF....AVI ".utf8), "video/x-msvideo"),
            (Array("OggS".utf8), "application/ogg"), (Array("fLaC".utf8), "audio/flac"),
            (Array("ID3".utf8), "audio/mpeg"),
            ([0xFF, 0xFB, 0x90], "audio/mpeg"), (Array("FLV".utf8), "video/x-flv"),
            ([0x47] + Array(repeating: 0, count: 187) + [0x47], "video/mp2t"),
            (Array("<html>".utf8), "application/octet-stream"), ([], "application/octet-stream"),
        ] as [([UInt8], String)])
    func `media types are those of the containers`(bytes: [UInt8], type: String) {
        #expect(MediaKind.type(of: bytes) == type)
    }

    @Test func `a socket is found among those of the machine`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0
               1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0 20 4
               2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0 20 4
            """
        let ends = ["0100007F:C350", "0100007F:1F90"]
        #expect(PeerSocket.find(ends, in: table) == PeerSocket(user: 1000, inode: 13))
        #expect(PeerSocket.find(ends.reversed(), in: table) == PeerSocket(user: 0, inode: 12))
        #expect(PeerSocket.find(["0100007F:C351", "0100007F:1F90"], in: table) == nil)
    }

    @Test func `a program is its process, else its name`() {
        let (one, two) = (PeerProgram(process: 1, agent: "a"), PeerProgram(process: 2, agent: "a"))
        #expect(!one.isSame(as: two) && one.isSame(as: PeerProgram(process: 1, agent: "b")))
        let (unseen, other) = (PeerProgram(process: nil, agent: "a"), PeerProgram(process: nil, agent: "b"))
        #expect(unseen.isSame(as: one) && !unseen.isSame(as: other) && unseen.isRunning)
        #expect(!PeerProgram(process: .max, agent: "").isRunning)
    }
}
