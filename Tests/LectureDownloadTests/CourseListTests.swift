import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureDownload

@Suite struct CourseListTests {
    private static let hex = String(repeating: "ab", count: 32)

    /// Reads a list in chunks of the given size.
    private func read(_ text: String, _ format: CourseListReader.Format, chunk: Int = 7) -> (
        [CourseEntry], [(Int, LectureError)]
    ) {
        read(Array(text.utf8), format, chunk: chunk)
    }

    private func read(
        _ bytes: [UInt8], _ format: CourseListReader.Format, chunk: Int = 7
    ) -> ([CourseEntry], [(Int, LectureError)]) {
        var reader = CourseListReader(format: format)
        var items: [CourseListReader.Item] = []
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            items += reader.read(bytes[start..<min(start + chunk, bytes.count)])
        }
        items += reader.finish()
        var entries: [CourseEntry] = []
        var issues: [(Int, LectureError)] = []
        for item in items {
            switch item {
            case .entry(let entry, _): entries.append(entry)
            case .issue(let error, let line): issues.append((line, error))
            case .unknown: continue
            }
        }
        return (entries, issues)
    }

    @Test func `Every member of a JSON line is used`() throws {
        let line = """
            {"url":"https://a/b.mp4","key":"k-1","title":"T","course":"C","teacher":"L",\
            "sha256":"\(Self.hex)","size":12,"folder":"x/y","priority":-5,"headers":{"X-A":"1","X-B":"2"},\
            "mirrors":["http://m/"],"file":"b.mp4","new":[1]}
            """
        let (entries, issues) = read(line, .jsonLines)
        #expect(issues.isEmpty)
        let entry = try #require(entries.first)
        #expect(entry.url == "https://a/b.mp4" && entry.key == "k-1" && entry.title == "T" && entry.course == "C")
        #expect(entry.teacher == "L" && entry.sha256 == Array(repeating: 0xAB, count: 32) && entry.size == 12)
        #expect(
            entry.folder == "x/y" && entry.priority == -5 && entry.mirrors == ["http://m/"] && entry.file == "b.mp4")
        #expect(entry.headers == [HeaderField(name: "X-A", value: "1"), HeaderField(name: "X-B", value: "2")])
    }

    @Test func `A null counts as missing and only the URL is needed`() {
        let (entries, issues) = read(
            "{\"url\":\"http://a/\",\"key\":null,\"size\":null}\r\n\n{\"url\":\"http://b/\"}", .jsonLines)
        #expect(entries.map(\.url) == ["http://a/", "http://b/"])
        #expect(entries.first?.key == nil && issues.isEmpty)
    }

    @Test(
        "A bad line is named by its number and the others are read",
        arguments: [
            "{", "[]", "7", "{}", "{\"url\":1}", "{\"url\":\"ftp://a/\"}", "{\"url\":\"x\"}",
            "{\"url\":\"http://a/\",\"size\":-1}",
            "{\"url\":\"http://a/\",\"size\":1.5}", "{\"url\":\"http://a/\",\"size\":\"1\"}",
            "{\"url\":\"http://a/\",\"sha256\":\"ab\"}",
            "{\"url\":\"http://a/\",\"priority\":101}", "{\"url\":\"http://a/\",\"file\":\"a/b\"}",
            "{\"url\":\"http://a/\",\"file\":\"..\"}",
            "{\"url\":\"http://a/\",\"file\":\"a\\u0000\"}", "{\"url\":\"http://a/\",\"key\":\"\"}",
            "{\"url\":\"http://a/\",\"folder\":\"/x\"}",
            "{\"url\":\"http://a/\",\"headers\":{\"X\":1}}", "{\"url\":\"http://a/\",\"headers\":{\"X\":\"a\\nb\"}}",
            "{\"url\":\"http://a/\",\"mirrors\":[1]}", "{\"url\":\"http://a/\",\"mirrors\":[\"file:///x\"]}",
            "{\"url\":\"http://a/\",\"url\":\"http://b/\"}", "\u{FEFF}{\"url\":\"http://a/\"}",
        ])
    func badLines(line: String) {
        let (entries, issues) = read("{\"url\":\"http://1/\"}\n\(line)\n{\"url\":\"http://3/\"}\n", .jsonLines)
        #expect(entries.map(\.url) == ["http://1/", "http://3/"])
        #expect(issues.map(\.0) == [2])
        #expect(issues.first?.1 == LectureError(.courseLine))
        #expect(issues.first?.1.detail.hasPrefix("line 2: ") == true)
    }

    @Test func `Plain lists have comments, blank lines, a byte order mark and any line end`() {
        let text = "\u{FEFF}http://a/\r\n# comment\n\n  # indented\n \thttp://b/#fragment \nnonsense\nhttp://c/"
        let (entries, issues) = read(text, .text)
        #expect(entries.map(\.url) == ["http://a/", "http://b/#fragment", "http://c/"])
        #expect(issues.map(\.0) == [6])
    }

    @Test func `CSV cells are read as in RFC 4180`() throws {
        let text =
            "\u{FEFF}URL, title ,size,mirrors,headers,extra\r\n"
            + "http://a/,\"One, \"\"two\"\"\nthree\",12,http://m/ http://n/,\"{\"\"X\"\":\"\"y\"\"}\",z\r\n"
            + "\"http://b/\",,,,,\r\n"
        let (entries, issues) = read(text, .csv)
        #expect(issues.isEmpty)
        #expect(entries.map(\.url) == ["http://a/", "http://b/"])
        let first = try #require(entries.first)
        #expect(
            first.title == "One, \"two\"\nthree" && first.size == 12 && first.mirrors == ["http://m/", "http://n/"])
        #expect(first.headers == [HeaderField(name: "X", value: "y")])
        #expect(entries.last?.title == nil)
    }

    @Test func `A bad CSV record spoils its own lines only`() {
        let text = """
            "url",title
            http://1/,5" disk
            http://2/,"two
            lines"
            http://3/
            http://4/,a,b
            http://5/,"x"y
            ftp://6/,
            http://7/,ok
            """
        let (entries, issues) = read(text, .csv)
        #expect(entries.map(\.url) == ["http://2/", "http://7/"])
        #expect(issues.map(\.0) == [2, 5, 6, 7, 8])
    }

    @Test(
        "A CSV list without a usable header row is refused as a whole, once",
        arguments: [("title,key\na,b\nc,d", 1), ("url,url\nhttp://a/,x", 1), ("", 1), ("\n\nkey\nx", 3)])
    func headerRow(text: String, line: Int) {
        let (entries, issues) = read(text, .csv)
        #expect(entries.isEmpty && issues.count == 1)
        #expect(issues.first?.1 == LectureError(.courseList) && issues.first?.0 == line)
    }

    @Test func `Of two faults in one record always the same one is reported`() {
        let list = "url,size,priority,headers\nhttp://a/,x,y,z\n"
        let words = (0..<64).map { _ in
            var reader = CourseListReader(format: .csv)
            return (reader.read(Array(list.utf8)[...]) + reader.finish()).map { item in
                guard case .issue(let error, _) = item else { return "an entry" }
                return error.message
            }
        }
        #expect(Set(words).count == 1)
    }

    @Test func `A quote that is never closed is an issue at the line where it opens`() {
        let (entries, issues) = read("url,title\nhttp://1/,a\nhttp://2/,\"b\nhttp://3/,c\n", .csv)
        #expect(entries.map(\.url) == ["http://1/"])
        #expect(issues.map(\.0) == [3])
    }

    @Test(arguments: CourseListReader.Format.allCases)
    func `A line above the limit is skipped and what follows is read`(format: CourseListReader.Format) {
        let long = String(repeating: "x", count: CourseListReader.lineLimit + 1)
        let (text, lines): (String, Int) =
            switch format {
            case .jsonLines: ("\(long)\n{\"url\":\"http://b/\"}\n", 1)
            case .csv: ("url\n\"\(long)\nhttp://b/\n", 2)
            case .text: ("\(long)\nhttp://b/\n", 1)
            }
        let (entries, issues) = read(text, format, chunk: 65_536)
        #expect(entries.map(\.url) == ["http://b/"])
        #expect(issues.map(\.0) == [lines])
    }

    @Test(arguments: CourseListReader.Format.allCases)
    func `Chunk boundaries do not matter, and no bytes trap the reader`(format: CourseListReader.Format) {
        var random = SeededGenerator(seed: 4180)
        let alphabet = Array("url,\"\n\r {}:#http://a/\u{FEFF}".utf8) + [0, 0xFF]
        for _ in 0..<300 {
            let bytes = Array("url,title\n".utf8) + (0..<120).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            let whole = read(bytes, format, chunk: 1000)
            let cut = read(bytes, format, chunk: Int.random(in: 1...9, using: &random))
            #expect(whole.0 == cut.0)
            #expect(whole.1.map(\.1.message) == cut.1.map(\.1.message))
        }
    }

    @Test func `Bytes that are not UTF-8 spoil their line only`() {
        let (entries, issues) = read(Array("http://a/\n".utf8) + [0xC3, 0x28, 0x0A] + Array("http://b/".utf8), .text)
        #expect(entries.count == 2 && issues.map(\.0) == [2])
    }

    @Test func `The extension names the format`() {
        #expect(CourseListReader.Format(path: "/x/a.JSONL") == .jsonLines)
        #expect(CourseListReader.Format(path: "a.csv") == .csv)
        #expect(CourseListReader.Format(path: "a.b.txt") == .text)
        #expect(CourseListReader.Format(path: "a.mp4") == nil)
        #expect(CourseListReader.Format(path: "-") == nil)
    }
}

@Suite struct ContentDescriptorTests {
    private func descriptor(_ text: String) throws -> ContentDescriptor { try ContentDescriptor(Array(text.utf8)) }

    @Test func `Every known member is read and the rest is kept`() throws {
        let hex = String(repeating: "0f", count: 32)
        let value = try descriptor(
            """
            {"version":1,"media_content_key":"k","title":"AC/DC","company":"Co","course":"C","teacher":"T",
            "synopsis":"S","duration":61.5,"width":1920,"height":1080,"content_type":"downloading","downloadable":true,
            "media":{"url":"https://m/a","size":9,"sha256":"\(hex)","etag":"\\"e\\"","mirrors":["http://n/"]},
            "snapshot_url":"https://s/","thumbnail_url":null,
            "subtitles":[{"name":"en.vtt","language":"en","url":"https://t/","ai":true}],
            "drm":{"callback_url":"https://d/"},"future":{"x":1}}
            """)
        #expect(value.key == "k" && value.title == "AC/DC" && value.durationSeconds == 61.5 && value.width == 1920)
        #expect(value.contentType == .downloading && value.isDownloadable)
        #expect(value.licence?.callbackURL == "https://d/")
        #expect(value.snapshotURL == "https://s/" && value.thumbnailURL == nil)
        #expect(
            value.media
                == .file(
                    .init(
                        url: "https://m/a", size: 9, sha256: Array(repeating: 15, count: 32), etag: "\"e\"",
                        mirrors: ["http://n/"])))
        #expect(value.subtitles == [.init(name: "en.vtt", language: "en", url: "https://t/", isMachineMade: true)])
        #expect(value.source["future"]?["x"] == .integer(1))
    }

    @Test func `Missing members are tolerated`() throws {
        let value = try descriptor("{\"version\":1}")
        #expect(value.media == nil && value.isDownloadable && value.licence == nil && value.subtitles.isEmpty)
        #expect(try descriptor("{\"version\":1,\"downloadable\":false}").isDownloadable == false)
        #expect(
            try descriptor("{\"version\":1,\"media\":{\"playlist\":\"http://p/\"}}").media
                == .playlist(url: "http://p/"))
    }

    @Test(
        "A lecture that cannot be stored is refused with the reason",
        arguments: [
            (#""content_type":"streaming""#, .notDownloadable),
            (#""content_type":"adaptiveStreaming""#, .notDownloadable),
            (#""downloadable":false"#, .notDownloadable), (#""intro":true"#, .introNotDownloadable),
            (#""intro":true,"downloadable":false"#, .introNotDownloadable), (#""intro":false"#, nil),
            (#""content_type":"downloading""#, nil), (#""content_type":"sample""#, nil),
        ] as [(String, LectureError.Code?)])
    func refusal(members: String, code: LectureError.Code?) throws {
        let value = try descriptor(#"{"version":1,"media":{"url":"https://m/a"},\#(members)}"#)
        #expect(value.refusal == code)
        #expect(code == nil || code?.number == -8650 || code?.number == -8803)
    }

    @Test("An empty description is recognised", arguments: ["", " \n", "{}", "null"])
    func empty(text: String) {
        #expect(throws: LectureError(.descriptorEmpty)) { try descriptor(text) }
    }

    @Test(
        "A body that is not a valid description is refused",
        arguments: [
            "<html>", "[]", "{\"title\":\"x\"}", "{\"version\":2}", "{\"version\":\"1\"}", "{\"version\":1.0}",
            "{\"version\":1,\"title\":5}",
            "{\"version\":1,\"duration\":-1}", "{\"version\":1,\"duration\":1e300}",
            "{\"version\":1,\"duration\":3153600001}", "{\"version\":1,\"width\":-1}", "{\"version\":1,\"width\":1.5}",
            "{\"version\":1,\"downloadable\":\"yes\"}", "{\"version\":1,\"content_type\":\"Streaming\"}",
            "{\"version\":1,\"intro\":1}",
            "{\"version\":1,\"drm\":true}",
            "{\"version\":1,\"media\":{}}", "{\"version\":1,\"media\":\"http://a/\"}",
            "{\"version\":1,\"media\":{\"url\":\"file:///etc\"}}",
            "{\"version\":1,\"media\":{\"url\":\"http://a/\",\"size\":-1}}",
            "{\"version\":1,\"media\":{\"url\":\"http://a/\",\"sha256\":\"xy\"}}",
            "{\"version\":1,\"media\":{\"url\":\"http://a/\",\"playlist\":\"http://p/\"}}",
            "{\"version\":1,\"media\":{\"url\":\"http://a/\",\"mirrors\":[\"ftp://m/\"]}}",
            "{\"version\":1,\"media\":{\"url\":\"http://a/\",\"size\":9223372036854775808}}",
            "{\"version\":1,\"snapshot_url\":\"/rel\"}",
            "{\"version\":1,\"subtitles\":{}}", "{\"version\":1,\"subtitles\":[{}]}", "{\"version\":1,\"version\":1}",
        ])
    func refuses(text: String) {
        #expect(throws: LectureError(.descriptorUnreadable)) { try descriptor(text) }
    }

    @Test(
        "A name that could leave its directory is refused with its own code",
        arguments: [
            #"{"version":1,"media_content_key":"a\u0000b"}"#, #"{"version":1,"media_content_key":""}"#,
            #"{"version":1,"subtitles":[{"name":"../x","url":"http://a/"}]}"#,
            #"{"version":1,"subtitles":[{"name":"a\u0000","url":"http://a/"}]}"#,
        ])
    func names(text: String) {
        #expect(throws: LectureError(.nameRefused)) { try descriptor(text) }
    }
}

@Suite struct ContentKeysTests {
    /// Not SHA-256, but sufficient to distinguish inputs.
    private func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<32).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 % 8 * 8)) }
    }

    private func key(_ url: String) throws -> String { try ContentKeys.derivedKey(fromURL: url, digest: digest) }

    @Test(
        "The slug is made of the last part of the path",
        arguments: [
            ("http://a/b/Lecture%201.mp4?t=1", "Lecture-1-mp4"), ("http://a/", "lecture"), ("http://a", "lecture"),
            ("http://a/%EA%B0%95", "lecture"), ("http://a/--x--y--", "x-y"), ("http://a/%zz", "zz"),
            ("http://a/" + String(repeating: "x", count: 60), String(repeating: "x", count: 40)),
        ])
    func slugs(url: String, slug: String) throws {
        let parts = try key(url).split(separator: "-")
        #expect(parts.dropLast().joined(separator: "-") == slug)
        #expect(parts.last?.count == 16)
    }

    @Test func `A signed URL keeps its key when only the signature changes`() throws {
        #expect(try key("https://A.example:443/v.mp4?sig=1") == key("https://a.example/v.mp4?sig=2#t=5"))
        #expect(try key("https://user@a.example/v.mp4") == key("https://a.example/v.mp4"))
        #expect(try key("https://a.example/v.mp4") != key("https://a.example:444/v.mp4"))
        #expect(try key("https://a.example/v.mp4") != key("https://a.example/w.mp4"))
        #expect(try key("http://a") == key("http://a/"))
    }

    @Test func `An identity holds the derived key, the whole digest and the kind of link`() throws {
        let identity = try ContentKeys.identity(ofURL: "https://g/si?jwt=secret") { self.digest($0) }
        #expect(identity.key.text == (try key("https://g/si?jwt=secret")))
        #expect(identity.bytes.count == 32 && identity.isGateway)
        #expect(try !ContentKeys.identity(ofURL: "https://g/v.mp4") { self.digest($0) }.isGateway)
        #expect(throws: LectureError(.damaged)) {
            try ContentKeys.identity(ofURL: "https://g/") { _ in throw LectureError(.damaged) }
        }
    }

    @Test("A gateway link is recognised by its query", arguments: ["/s", "/si", "/x/si", "/i/KEY", "/x/i/KEY"])
    func gateway(path: String) throws {
        #expect(try key("https://g\(path)?jwt=1") != key("https://g\(path)?jwt=2"))
        #expect(try key("https://g\(path)?jwt=1#a") == key("https://g\(path)?jwt=1#b"))
    }

    @Test("Other paths are not a gateway's", arguments: ["/", "/s/", "/sit", "/i", "/i/", "/i/a/b", "/x.mp4"])
    func notGateway(path: String) throws {
        #expect(try !ContentKeys.isGatewayLink(URLParts("https://g\(path)?jwt=1")))
    }

    @Test func `A text that is not a URL has no key`() {
        #expect(throws: LectureError(.urlScheme)) { try key("ftp://a/") }
        #expect(throws: LectureError(.urlInvalid)) { try key("a") }
    }
}

@Suite struct ExplanationsTests {
    private func check(_ text: String) {
        #expect(text.hasSuffix(".") && text.count > 5 && text.first?.isUppercase == true, "\(text)")
    }

    @Test("Every code of the catalogue is explained", arguments: LectureError.Code.all)
    func codes(code: LectureError.Code) {
        #expect(Explanations.isMapped(code), "\(code.name)")
        check(Explanations.reason(of: code))
    }

    @Test func `Every member of a family is explained by the row that decides about it`() {
        for curl in 1...99 {
            #expect(Explanations.reason(of: .transfer(curl)) == RetryTable.entry(transfer: curl).reason)
            check(Explanations.reason(of: .transfer(curl)))
        }
        for status in 300...599 { check(Explanations.reason(of: .status(status))) }
        let servers: [[LectureError.Code]] = [
            [.transfer(7), .callbackTransfer(7), .playCallbackTransfer(7)],
            [.status(503), .callbackStatus(503), .playCallbackStatus(503)],
        ]
        for codes in servers {
            #expect(codes.allSatisfy(Explanations.isMapped))
            #expect(Set(codes.map(Explanations.reason)).count == 1)
        }
        for number in LectureError.Code.gatewayNumbers {
            #expect(Explanations.isMapped(.gateway(number)))
            check(Explanations.reason(of: .gateway(number)))
        }
    }

    @Test func `A code of a newer version is explained as unknown`() {
        #expect(!Explanations.isMapped(.stored(-29_999)))
        check(Explanations.reason(of: .stored(-29_999)))
    }
}
