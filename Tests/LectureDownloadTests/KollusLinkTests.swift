import LectureDownload
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

/// Links that open an application.
@Suite struct KollusLinkTests {
    @Test func `a download link holds one or more URLs, each with its folder`() throws {
        let link = try KollusLink(
            "kollus://download?url=https%3A%2F%2Fg%2Fsi%3Fjwt%3Da.b%26x%3D1&folder=%EA%B0%95/b&url=http://b/?q=1+2")
        #expect(
            link
                == .download([
                    .init(url: "https://g/si?jwt=a.b&x=1", folder: "강/b"), .init(url: "http://b/?q=1+2", folder: nil),
                ]))
        #expect(KollusLink.isLink("KOLLUS://x") && !KollusLink.isLink("http://x"))
    }

    @Test(
        arguments: [
            ("kollus://path?url=http%3A%2F%2Fa%2F", .play(.init(url: "http://a/", folder: nil))),
            ("kollus://path/?url=http://a/&folder=b%2Fc", .play(.init(url: "http://a/", folder: "b/c"))),
            ("Kollus://download_play?url=http://a/", .downloadAndPlay(url: "http://a/")),
            ("kollus://list", .list(folder: nil)), ("kollus://list/", .list(folder: nil)),
            ("kollus://list?folder=%EA%B0%95%2Fb", .list(folder: "강/b")),
        ] as [(String, KollusLink)])
    func `other actions are distinguished`(text: String, link: KollusLink) throws {
        #expect(try KollusLink(text) == link)
    }

    @Test(
        "A link that is not well formed is refused",
        arguments: [
            ("kollus://download", .urlInvalid), ("kollus://download?", .urlInvalid),
            ("kollus://download?url", .urlInvalid), ("kollus://", .urlInvalid),
            ("kollus:download?url=http://a/", .urlInvalid),
            ("kollus://play?url=http://a/", .urlInvalid), ("kollus://download/x?url=http://a/", .urlInvalid),
            ("kollus://download?folder=a&url=http://a/", .urlInvalid),
            ("kollus://download?url=http://a/&folder=a&folder=b", .urlInvalid),
            ("kollus://download?url=http://a/&x=1", .urlInvalid), ("kollus://download?url=http://a/&", .urlInvalid),
            ("kollus://download?url=http%3A//a/%2", .urlInvalid), ("kollus://download?url=http%3A//a/%FF", .urlInvalid),
            ("kollus://download?url=http://a/%0A", .urlInvalid), ("kollus://download?url=http://a/#x", .urlInvalid),
            ("kollus://download?url=file:///etc/passwd", .urlScheme), ("kollus://download?url=", .urlInvalid),
            ("kollus://download?url=http://a/&folder=../x", .nameRefused),
            ("kollus://download?url=http://a/&folder=", .nameRefused),
            ("kollus://download_play?url=http://a/&url=http://b/", .urlInvalid),
            ("kollus://download_play", .urlInvalid),
            ("kollus://download_play?url=http://a/&folder=b", .urlInvalid),
            ("kollus://download_play?url=ftp://a/", .urlScheme), ("kollus://path?folder=a", .urlInvalid),
            ("kollus://path?url=http://a/&url=http://b/", .urlInvalid), ("kollus://path", .urlInvalid),
            ("kollus://list?", .urlInvalid), ("kollus://list?url=http://a/", .urlInvalid),
            ("kollus://list?folder=a&folder=b", .urlInvalid), ("kollus://list?folder=", .nameRefused),
            ("kollus://list?folder=a%2F..%2Fb", .nameRefused), ("kollus://list?folder=a#b", .urlInvalid),
            ("kollus://LIST", .urlInvalid), ("http://list", .urlInvalid),
        ] as [(String, LectureError.Code)])
    func refuses(link: String, code: LectureError.Code) {
        #expect(throws: LectureError(code)) { try KollusLink(link) }
    }

    // MARK: Properties

    private static let letters = Array("aZ09-_. +&=?%/#강é中\u{1F393}")

    private func word(_ random: inout SeededGenerator) -> String {
        let length = Int.random(in: 1...12, using: &random)
        return String((0..<length).compactMap { _ in Self.letters.randomElement(using: &random) })
    }

    private func encoded(_ text: String, _ random: inout SeededGenerator) -> String {
        text.utf8.map { byte in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            if isPlain, Bool.random(using: &random) { return String(decoding: [byte], as: UTF8.self) }
            let digits = Hexadecimal.text([byte])
            return "%" + (Bool.random(using: &random) ? digits : digits.uppercased())
        }.joined()
    }

    /// A link, written with any mixture of encodings, reads as its original parts.
    @Test func `written links are read back`() throws {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<2000 {
            let url = "https://host\(Int.random(in: 0...9, using: &random))/\(encoded(word(&random), &random))?jwt=a.b"
            var name = word(&random)
            if (try? SafeName.check(folder: name)) == nil { name = "week 1/강" }
            let folder = Bool.random(using: &random) ? name : nil
            let place = folder.map { "&folder=" + encoded($0, &random) } ?? ""
            let item = KollusLink.Item(url: url, folder: folder)
            let value = encoded(url, &random)
            #expect(try KollusLink("kollus://path?url=\(value)\(place)") == .play(item))
            #expect(try KollusLink("kollus://download_play?url=\(value)") == .downloadAndPlay(url: url))
            let many = Array(repeating: "url=\(value)\(place)", count: Int.random(in: 1...4, using: &random))
            let link = try KollusLink("kollus://download?" + many.joined(separator: "&"))
            #expect(link == .download(Array(repeating: item, count: many.count)))
            #expect(try KollusLink("kollus://list?folder=" + encoded(name, &random)) == .list(folder: name))
        }
    }

    /// Whatever a byte is changed into, the reader refuses with a named error or returns something safe to use.
    @Test func `a damaged link is refused with its own code or harmless`() throws {
        var random = SeededGenerator(seed: 9)
        let links = [
            "kollus://download?url=https%3A%2F%2Fg%2Fsi&folder=a%2Fb", "kollus://list?folder=a%2Fb",
            "kollus://path?url=http://a/", "kollus://download_play?url=http://a/",
        ]
        for number in 0..<4000 {
            var bytes = Array(links[number % links.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...127, using: &random)
            }
            do throws(LectureError) {
                switch try KollusLink(String(decoding: bytes, as: UTF8.self)) {
                case .download(let items): for item in items { try check(item.url, item.folder) }
                case .play(let item): try check(item.url, item.folder)
                case .downloadAndPlay(let url): try check(url, nil)
                case .list(let folder): try check(nil, folder)
                }
            } catch {
                #expect([.urlInvalid, .urlScheme, .nameRefused].contains(error.code), "\(error)")
            }
        }
    }

    private func check(_ url: String?, _ folder: String?) throws(LectureError) {
        if let url { _ = try Origin(url: url) }
        if let folder { try SafeName.check(folder: folder) }
    }
}

/// Why a gateway refuses a link.
@Suite struct GatewayRefusalTests {
    private func code(_ text: String) -> Int? { GatewayRefusal.code(in: Array(text.utf8))?.number }

    @Test func `the gateway's numbers are read`() {
        #expect(code(#"{"error":4085}"#) == -4085)
        #expect(code(#" {"error": 4007, "message": "malformed"} "#) == -4007)
        #expect(code(#"{"message":"x","error":4050}"#) == -4050)
    }

    @Test(arguments: [
        "", "x", "[4085]", "{}", #"{"error":"4085"}"#, #"{"error":4085.0}"#, #"{"error":true}"#, #"{"error":4000}"#,
        #"{"error":4102}"#, #"{"error":-4085}"#, #"{"error":9223372036854775807}"#, #"{"error":4085"#,
        #"{"error":4085,"error":4007}"#, "<html>4085</html>",
    ])
    func `other bodies have no number`(text: String) {
        #expect(code(text) == nil)
        let error = GatewayRefusal.error(.status(403), body: Array(text.utf8), host: "h")
        #expect(error.code == .status(403) && error.detail == "h")
    }

    @Test func `a long body has no number`() {
        let text = #"{"error":4085,"x":""# + String(repeating: "x", count: GatewayRefusal.bodyLimit) + #""}"#
        #expect(code(text) == nil)
    }

    @Test func `only final refusals are read, so HTTP rules stay as they are`() {
        #expect(GatewayRefusal.mayBeReported(.renewLease(status: 403)))
        #expect(GatewayRefusal.mayBeReported(.refuse(.status(451))))
        #expect(
            !GatewayRefusal.mayBeReported(.refuse(.notMedia)) && !GatewayRefusal.mayBeReported(.retry(.status(500))))
        #expect(
            !GatewayRefusal.mayBeReported(.wait(nil, status: 503)) && !GatewayRefusal.mayBeReported(.redirect(to: "x")))
    }

    @Test func `every number has its own code, which is found again when stored`() {
        for number in LectureError.Code.gatewayNumbers {
            let code = LectureError.Code.gateway(number)
            #expect(code.number == -number && code.name.hasPrefix("gateway_"))
            let stored = LectureError.Code.stored(-number)
            #expect(stored.name == code.name && stored.summary == code.summary)
            #expect(RetryTable.entry(code: code).decision == .final)
        }
        let names = LectureError.Code.namedGatewayNumbers.map { LectureError.Code.gateway($0).name }
        #expect(Set(names).count == names.count && names.count == 31)
    }
}
