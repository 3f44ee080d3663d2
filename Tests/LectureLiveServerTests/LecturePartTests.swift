import Foundation
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// The parts of archives without a server: links, ranges, the descriptor, licences, orders, keys, the log.
struct LecturePartTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func key(_ byte: UInt8 = 7) throws -> SecretBytes {
        try SecretBytes(copying: [UInt8](repeating: byte, count: 32))
    }

    // MARK: Links

    @Test func `a link works for its member and its lecture until its time, and for no other`() throws {
        let links = LectureLinks(key: try key(), base: "https://live.example", lifetime: .seconds(100))
        let url = try links.url(uuid: "u-1", member: 5, archivedAt: Self.start, now: Self.start)
        let words = url.split(separator: "/").map(String.init)
        #expect(url.hasPrefix("https://live.example/lectures/u-1/5/1800000100/") && url.hasSuffix("/si"))
        let path = Array(words[3...6])[...]
        #expect(
            try links.claim(path, now: Self.start) == LectureLinks.Claim(uuid: "u-1", member: 5, expiry: 1_800_000_100))
        // The same for half the lifetime, and never for less than half of it.
        let times: [(Int64, Int64)] = [(0, 100), (49, 100), (50, 150), (99, 150), (100, 200), (-5, 100)]
        for (passed, expiry) in times {
            let now = Self.start + .seconds(passed)
            let later = try links.url(uuid: "u-1", member: 5, archivedAt: Self.start, now: now)
            #expect(later.contains("/\(1_800_000_000 + expiry)/"), "\(passed)")
        }
        #expect(try links.claim(path, now: Self.start + .milliseconds(99_999)) != nil)
        #expect(try links.claim(path, now: Self.start + .seconds(100)) == nil)
        let signature = words[6]
        let changes = [
            ["u-2", "5", "1800000100", signature], ["u-1", "6", "1800000100", signature],
            ["u-1", "5", "1800000101", signature], ["u-1", "5", "1800000100", signature + "A"],
            ["u-1", "+5", "1800000100", signature], ["u-1", "5", "01800000100", signature],
            ["u-1", "5", "1800000100"], ["u-1", "5", "9223372036854775807", signature], [],
        ]
        for changed in changes { #expect(try links.claim(changed[...], now: Self.start) == nil, "\(changed)") }
        let other = LectureLinks(key: try key(8), base: "", lifetime: .seconds(100))
        #expect(try other.claim(path, now: Self.start) == nil)
    }

    @Test func `a playback link is no lecture link`() throws {
        let playback = PlaybackLinks(key: try key(), base: "", lifetime: .seconds(100))
        let lectures = LectureLinks(key: try key(), base: "", lifetime: .seconds(100))
        let url = try playback.url(room: 1, session: 2, member: 3, playableAt: Self.start, now: Self.start)
        let words = url.split(separator: "/").map(String.init)
        // The same four words in the other's order, with the other's signature.
        #expect(try lectures.claim(["1", words[3], words[4], words[5]][...], now: Self.start) == nil)
    }

    // MARK: Ranges

    private static let ranges: [(String?, String?, WantedBytes)] = [
        (nil, nil, .whole), ("bytes=0-", nil, .part(0..<100)), ("bytes=5-9", nil, .part(5..<10)),
        ("BYTES=5-9", nil, .part(5..<10)), ("bytes=99-", nil, .part(99..<100)), ("bytes=0-1000", nil, .part(0..<100)),
        ("bytes=-10", nil, .part(90..<100)), ("bytes=-1000", nil, .part(0..<100)), ("bytes=-0", nil, .unsatisfiable),
        ("bytes=100-", nil, .unsatisfiable), ("bytes=99999999999999999999-", nil, .unsatisfiable),
        ("bytes=5-99999999999999999999", nil, .part(5..<100)), ("bytes=9-5", nil, .whole), ("bytes=-", nil, .whole),
        ("bytes=a-b", nil, .whole), ("bytes=1-2,4-5", nil, .whole), ("items=1-2", nil, .whole),
        ("bytes=+1-2", nil, .whole), ("bytes=", nil, .whole), ("bytes=5-9", "\"tag\"", .part(5..<10)),
        ("bytes=5-9", "\"other\"", .whole), ("bytes=5-9", "W/\"tag\"", .whole), ("bytes=5-9", "tag", .whole),
        ("bytes=5-9", "Sat, 28 Nov 2026 00:00:00 GMT", .whole), ("bytes=200-", "\"other\"", .whole),
    ]

    @Test func `ranges are those of RFC 9110`() {
        for (range, condition, expected) in Self.ranges {
            var fields: [HTTPField] = []
            if let range { fields.append(HTTPField(name: "Range", value: range)) }
            if let condition { fields.append(HTTPField(name: "If-Range", value: condition)) }
            let head = HTTPRequestHead(method: "GET", path: "/", fields: fields)
            let found = WantedBytes(head, byteCount: 100, tag: .strong("tag"))
            #expect(found == expected, "\(range ?? "") \(condition ?? "")")
        }
        let field = HTTPField(name: "Range", value: "bytes=1-2")
        let twice = HTTPRequestHead(method: "GET", path: "/", fields: [field, field])
        #expect(WantedBytes(twice, byteCount: 100, tag: .strong("tag")) == .whole)
    }

    // MARK: The descriptor

    @Test func `a descriptor has what a player needs, and leaves out what there is not`() throws {
        var descriptor = LectureDescriptor(
            key: "live-1", mediaURL: "http://x/media.mp4", byteCount: 9, sha256: [UInt8](repeating: 0xAB, count: 32),
            tag: "\"t\"", userID: "kim", callbackURL: "http://x/callback")
        let least = try JSONScanner.scan(Array(descriptor.text.utf8))
        #expect(least["version"]?.integer == 1 && least["media_content_key"]?.string == "live-1")
        #expect(least["content_type"]?.string == "downloading" && least["downloadable"]?.bool == true)
        #expect(least["media"]?["url"]?.string == "http://x/media.mp4" && least["media"]?["size"]?.integer == 9)
        #expect(least["media"]?["sha256"]?.string == String(repeating: "ab", count: 32))
        #expect(least["media"]?["etag"]?.string == "\"t\"" && least["client_user_id"]?.string == "kim")
        let drm = least["drm"]
        #expect(drm?["callback_url"]?.string == "http://x/callback" && drm?["key_id"]?.string == "live")
        for name in ["title", "teacher", "synopsis", "subtitles", "lms"] { #expect(least[name] == nil, "\(name)") }
        let plain = descriptor
        (descriptor.title, descriptor.teacher, descriptor.synopsis) = ("수학 \"1\"", "Kim", "Groups")
        (descriptor.duration, descriptor.size) = (.milliseconds(61_500), (640, 360))
        (descriptor.chatURL, descriptor.lmsURL) = ("http://x/chat.vtt", "http://lms")
        #expect(descriptor != plain && Set([descriptor, plain, descriptor]).count == 2)
        let whole = try JSONScanner.scan(Array(descriptor.text.utf8))
        #expect(whole["title"]?.string == "수학 \"1\"" && whole["teacher"]?.string == "Kim")
        #expect(whole["synopsis"]?.string == "Groups" && whole["duration"]?.text == "61.5")
        #expect(whole["width"]?.integer == 640 && whole["height"]?.integer == 360)
        let subtitle = whole["subtitles"]?.elements?.first
        #expect(subtitle?["name"]?.string == "Chat" && subtitle?["url"]?.string == "http://x/chat.vtt")
        let lms = whole["lms"]?.elements?.first
        #expect(lms?["url"]?.string == "http://lms" && lms?["parameters"]?["json_data"]?.string == "{JSON_DATA}")
    }

    // MARK: Licences

    private static let formType = "application/x-www-form-urlencoded"

    private func request(_ items: String, type: String? = formType, more: String = "") throws -> LicenceCallback {
        try LicenceCallback(type: type, Array("items=\(Self.encoded(items))\(more)".utf8))
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    @Test func `licences are granted as the callback's form has them`() throws {
        let items = """
            [{"kind":1,"media_content_key":"k","client_user_id":"u","localtime":5,"uservalues":{"uservalue0":"x"}},
             {"kind":2,"media_content_key":"k"},{"kind":3,"media_content_key":"k","session_key":"s","start_at":77},
             {"kind":3,"media_content_key":"k","session_key":"t","content_expired":1,"reset_req":1}]
            """
        let request = try request(items, more: "&extra_drm_param=any")
        #expect(request.items.map(\.kind) == [1, 2, 3, 3] && request.items[0].userID == "u")
        let type = "Application/x-www-form-urlencoded; charset=UTF-8"
        let typed = try LicenceCallback(type: type, Array("items=\(Self.encoded(items))".utf8))
        #expect(typed.items == request.items)
        var answers: [LicenceCallback.Standing: [String]] = [:]
        for standing in LicenceCallback.Standing.allCases {
            let text = request.payload(now: Self.start, lifetime: .seconds(86_400)) { _ in standing }
            let json = try JSONScanner.scan(Array(text.utf8))
            #expect(json.members?.count == 1)
            answers[standing] = json["data"]?.elements?.map(\.text)
        }
        let end = #""expiration_date":1800086400"#
        let three = #""media_content_key":"k","result":1,"session_key":"s","start_at":77"#
        #expect(
            answers[.permitted] == [
                #"{"kind":1,"media_content_key":"k","result":1,\#(end)}"#,
                #"{"kind":2,"media_content_key":"k","result":1}"#, "{\"kind\":3,\(three),\(end)}",
                #"{"kind":3,"media_content_key":"k","result":1,"session_key":"t",\#(end),"content_expire_reset":1}"#,
            ])
        #expect(
            answers[.deleted] == [
                #"{"kind":1,"media_content_key":"k","result":0,"message":"The lecture was deleted."}"#,
                #"{"kind":2,"media_content_key":"k","result":1,"message":"The lecture was deleted.","#
                    + #""content_delete":1}"#,
                "{\"kind\":3,\(three),\"message\":\"The lecture was deleted.\",\"content_delete\":1}",
                #"{"kind":3,"media_content_key":"k","result":1,"session_key":"t","message":"The lecture was deleted.","#
                    + #""content_delete":1}"#,
            ])
        for standing in [LicenceCallback.Standing.banned, .noMember, .noLecture] {
            let texts = try #require(answers[standing])
            #expect(texts.allSatisfy { $0.contains(#""result":0"#) && $0.contains(#""message":"#) }, "\(standing)")
            #expect(texts.allSatisfy { !$0.contains("expiration_date") && !$0.contains("content_delete") })
        }
        // The form knows no later end.
        let late = request.payload(now: Self.start, lifetime: .seconds(86_400 * 3650)) { _ in .permitted }
        #expect(late.contains("\"expiration_date\":1893455999"))
    }

    private static let hostile: [(String?, String)] = [
        (nil, "items=[]"), ("application/json", "[]"), (formType, ""), (formType, "items="), (formType, "items=[]"),
        (formType, "items={}"), (formType, "items=[1]"), (formType, "items=[{}]"), (formType, "other=[]"),
        (formType, #"items=[{"kind":1,"media_content_key":"k"}]&items=[]"#),
        (formType, #"items=[{"kind":1,"media_content_key":"k"}]&more=1"#),
        (formType, #"items=[{"kind":1,"media_content_key":"k"}]&extra_drm_param=1&extra_drm_param=2"#),
        (formType, #"items=[{"kind":0,"media_content_key":"k"}]"#),
        (formType, #"items=[{"kind":4,"media_content_key":"k"}]"#),
        (formType, #"items=[{"kind":"1","media_content_key":"k"}]"#), (formType, #"items=[{"kind":1}]"#),
        (formType, #"items=[{"kind":1,"media_content_key":""}]"#),
        (formType, #"items=[{"kind":1,"media_content_key":7}]"#),
        (formType, #"items=[{"kind":1,"media_content_key":"k","client_user_id":7}]"#),
        (formType, #"items=[{"kind":3,"media_content_key":"k"}]"#),
        (formType, #"items=[{"kind":3,"media_content_key":"k","session_key":"s","start_at":-1}]"#),
        (formType, #"items=[{"kind":3,"media_content_key":"k","session_key":"s","start_at":{"a":1}}]"#),
        (formType, #"items=[{"kind":3,"media_content_key":"k","session_key":"s","content_expired":2}]"#),
        (formType, #"items=[{"kind":3,"media_content_key":"k","session_key":"s","content_expired":true}]"#),
        (formType, "items=" + String(repeating: "[", count: 5000)), (formType, "items=%ff%fe"),
        (formType, "items=[\(eleven)]"),
    ]
    private static let eleven = [String](repeating: #"{"kind":1,"media_content_key":"k"}"#, count: 11)
        .joined(separator: ",")

    @Test func `requests for licences that are none are refused with a sentence`() {
        for (type, body) in Self.hostile {
            let refusal = #expect(throws: LiveRefusal.self, "\(body.prefix(80))") {
                try LicenceCallback(type: type, Array(body.utf8))
            }
            #expect(refusal?.status == 400 && refusal?.code == "INVALID_LICENCE_REQUEST")
        }
    }

    // MARK: The process that joins

    @Test func `an order and a report are read as they were written, and only whole`() throws {
        let order = JoinOrder(
            content: "live-1", directory: "/a b", name: "1.sealed", inputs: ["/x/\"1\".flv", "/x/2.flv"], key: try key()
        )
        let bytes = try order.encoded().exposed()
        let read = try #require(try JoinOrder(bytes))
        #expect((read.content, read.directory, read.name) == ("live-1", "/a b", "1.sealed"))
        #expect(read.inputs == order.inputs && read.key.isEqual(to: order.key))
        for count in 0..<bytes.count { #expect(try JoinOrder(Array(bytes.prefix(count))) == nil, "\(count)") }
        let empty = Array(#"{"content":"a","directory":"b","name":"c","inputs":[]}"#.utf8)
        #expect(try JoinOrder(Array(bytes.prefix(32)) + empty) == nil)
        let lecture = JoinedLecture(
            frames: 3, duration: .milliseconds(1500), byteCount: 9, sha256: [UInt8](repeating: 1, count: 32),
            size: (4, 2), parts: [.init(skipped: .milliseconds(5), duration: .milliseconds(1500))])
        for report in [JoinReport.joined(lecture), .failed("Recording 2: \"no\".")] {
            let line = Array(report.line.utf8)
            #expect(JoinReport(line) == report && line.last == 0x0A)
            for count in 0..<line.count { #expect(JoinReport(Array(line.prefix(count))) == nil) }
        }
        let line = JoinReport.joined(lecture).line
        let changes = [
            (#""frames":3"#, #""frames":0"#), (#""size":9"#, #""size":-9"#), (#""width":4"#, #""width":"4""#),
            (#""durationMs":1500,"size""#, #""durationMs":-1,"size""#), ("skippedMs\":5", "skippedMs\":-5"),
            ("AQEB", "AQ"), (#""joined""#, #""other""#),
        ]
        for (old, new) in changes {
            #expect(line.contains(old) && JoinReport(Array(line.replacing(old, with: new).utf8)) == nil, "\(new)")
        }
        let long = JoinOrder(
            content: "", directory: "", name: "", inputs: [String](repeating: "x", count: 400_000), key: try key())
        #expect(throws: LectureError(.parameter)) { try long.encoded() }
    }

    // MARK: Keys

    @Test func `key files are made once for their owner, and refused when others can read them`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let credentials = try #require(LiveCredentials(LiveStage.credentials))
        var options = LiveOptions(stateDirectory: directory.path, credentials: credentials)
        let first = try LiveKeys(options)
        for name in ["archive.key", "licence.key"] {
            let mode = try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
        let again = try LiveKeys(options)
        #expect(first.wrapping.isEqual(to: again.wrapping))
        let secret = Array(try String(contentsOfFile: directory.file("licence.key"), encoding: .utf8).utf8)
        #expect(secret.count == 43)
        #expect(try again.licence.sign([1]) == SigningKey(secret: SecretBytes(copying: secret)).sign([1]))
        // A line end, as an editor leaves it, is no part of either.
        for name in ["archive.key", "licence.key"] {
            let text = try String(contentsOfFile: directory.file(name), encoding: .utf8)
            try directory.write(text + "\r\n", to: name)
            try Disk.permit(directory.file(name), 0o600)
        }
        let ended = try LiveKeys(options)
        #expect(ended.wrapping.isEqual(to: first.wrapping))
        #expect(try ended.licence.sign([1]) == first.licence.sign([1]))
        let cases: [(String, Int, LectureError.Code)] = [
            (Base64URL.text([UInt8](repeating: 1, count: 32)), 0o640, .secretReadable),
            ("short", 0o600, .configuration),
            ("", 0o600, .configuration), (String(repeating: "=", count: 43), 0o600, .configuration),
        ]
        for (text, mode, code) in cases {
            let file = try directory.write(text, to: "key")
            try Disk.permit(file, mode)
            options.archives.keyFile = file
            #expect(throws: LectureError(code), "\(text)") { try LiveKeys(options) }
        }
        options.archives.keyFile = nil
        options.archives.licenceKeyFile = try directory.write(String(repeating: "k", count: 31), to: "short")
        try Disk.permit(directory.file("short"), 0o600)
        #expect(throws: LectureError(.configuration)) { try LiveKeys(options) }
        options.archives.licenceKeyFile = directory.file("none/key")
        #expect(throws: LectureError(.createFile)) { try LiveKeys(options) }
    }

    // MARK: The log

    @Test func `a failure is one line of JSON, and names only the type of what is not known`() throws {
        struct Foreign: Error { let secret = "hidden" }
        let lines = Guarded<[String]>([])
        let log = LiveLog { line in lines.withLock { $0.append(line) } }
        log.failure("one", LectureError(.storageFull, detail: "/a\n\"b\""))
        log.failure("two", LiveRefusal.fault)
        log.failure("three", Foreign())
        log.note("four") { $0.member("room", 1) }
        let found = lines.withLock(\.self)
        #expect(found.count == 4 && found.allSatisfy { $0.hasSuffix("}\n") && $0.count { $0 == "\n" } == 1 })
        let values = try found.map { try JSONScanner.scan(Array($0.utf8)) }
        #expect(values.map { $0["event"]?.string } == ["one", "two", "three", "four"])
        #expect(values[0]["code"]?.string == "storage_full" && values[0]["message"]?.string?.contains("/a") == true)
        #expect(values[1]["code"]?.string == "internal_server_error")
        #expect(values[2]["code"]?.string == "unexpected" && !found[2].contains("hidden"))
        #expect(values[3]["room"]?.integer == 1)
    }
}
