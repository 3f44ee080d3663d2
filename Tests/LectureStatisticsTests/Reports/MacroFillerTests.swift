import LectureFormats
import LectureModel
import LectureStatistics
import Testing

/// 45 s of a lecture of 100 s in four blocks, 5 s of them for the second time.
private func example() -> PlayReport {
    var world = PlayWorld()
    var session = PlaySession(duration: 100_000, blocks: 4)
    session.add(world.next(.play, to: 30_000, took: .seconds(30)))
    session.add(world.next(.pause, took: .seconds(7)))
    session.add(world.next(.seek, to: 80_000))
    session.add(world.next(.play, to: 90_000, took: .seconds(5)))
    session.add(world.next(.seek, to: 85_000))
    session.add(world.next(.play, to: 90_000, took: .seconds(5)))
    session.add(world.next(.pause))
    return session.report
}

private func source() -> ReportSource {
    var source = ReportSource()
    source.contentProviderKey = "acme"
    source.playerID = "p-1"
    source.hardwareID = "h-1"
    source.hostName = "v.example.com"
    source.device = "Linux \"6\""
    source.encodingProfile = "acme-pc1-high"
    source.mediaContentKey = "Abc123"
    source.channelKey = "ch"
    source.userValues = ["uservalue0": "가 & {JSON_DATA}", "uservalue12": "z", "Course": "math"]
    return source
}

private let blockInfo = """
    {"block_count":4,"blocks":{"b0":1,"b1":1,"b2":0,"b3":1,"t0":25,"t1":5,"t2":0,"t3":15,\
    "p0":100,"p1":20,"p2":0,"p3":40},"sessions":[{"block":0,"start_time":0,"play_time":25},\
    {"block":1,"start_time":25,"play_time":5},{"block":3,"start_time":80,"play_time":10},\
    {"block":3,"start_time":85,"play_time":5}]}
    """

private let userValues = #"{"Course":"math","uservalue0":"가 & {JSON_DATA}","uservalue12":"z"}"#

private let wholeJSON = """
    {"user_info":{"content_provider_key":"acme","client_user_id":"kim","player_id":"p-1","hardware_id":"h-1",\
    "host_name":"v.example.com","device":"Linux \\"6\\""},\
    "content_info":{"duration":100,"encoding_profile":"acme-pc1-high","media_content_key":"Abc123",\
    "channel_key":"ch","playtime":45,"real_playtime":40,"playtime_percent":45,"start_at":1700000000,\
    "last_play_at":90,"runtime":47,"showtime":40},"block_info":\(blockInfo),"uservalues":\(userValues)}
    """

@Suite struct PlayReportJSONTests {
    @Test func `a report is the object that receivers read`() throws {
        let json = example().json(from: source())
        #expect(json == wholeJSON)
        // Parsed strictly: no duplicate names, integers as integers.
        let value = try JSONScanner.value(of: json)
        #expect(value["content_info"]?["playtime"] == .integer(45))
        #expect(value["block_info"]?["blocks"]?["b0"] == .integer(1))
        #expect(value["uservalues"]?["uservalue0"]?.string == "가 & {JSON_DATA}")
    }

    @Test func `unknown values are empty, not missing`() throws {
        let json = PlaySession(duration: 0, blocks: 1).report.json(from: ReportSource())
        #expect(
            json == """
                {"user_info":{"content_provider_key":"","client_user_id":"kim","player_id":"","hardware_id":"",\
                "host_name":"","device":""},"content_info":{"duration":0,"encoding_profile":"",\
                "media_content_key":"","channel_key":"","playtime":0,"real_playtime":0,"playtime_percent":0,\
                "start_at":1700000000,"last_play_at":0,"runtime":0,"showtime":0},"block_info":{"block_count":1,\
                "blocks":{"b0":0,"t0":0,"p0":0},"sessions":[]},"uservalues":{}}
                """)
    }
}

@Suite struct MacroFillerTests {
    private let filler = MacroFiller(report: example(), source: source())

    @Test(arguments: [
        ("{CLIENT_USER_ID}", "kim"), ("{START_AT}", "1700000000"), ("{BLOCK_CNT}", "4"), ("{PLAY_TIME}", "45"),
        ("{REAL_PLAYTIME}", "40"), ("{PLAYTIME_PERCENT}", "45"), ("{DURATION}", "100"),
        ("{MEDIA_CONTENT_KEY}", "Abc123"), ("{ENCODING_PROFILE_KEY}", "acme-pc1-high"),
        ("{PLAY_BLOCK_JSON}", blockInfo), ("{JSON_DATA}", wholeJSON), ("{PLAY_STATUS}", "pause"),
        ("{RUN_TIME}", "47"), ("{DEVICE}", "Linux \"6\""), ("{TIMEMAP_DATA}", "[[0,30],[80,90]]"),
        ("{USERVALUES}", userValues),
    ])
    func `every macro has its value`(macro: String, value: String) {
        let filled = filler.fill(macro)
        #expect(filled.value == value)
        #expect(filled.unknownMacros.isEmpty)
    }

    @Test func `blocks are counted from one, and a missing block was not played`() {
        let flags = filler.fill("{BLOCK_PLAY_1}{BLOCK_PLAY_2}{BLOCK_PLAY_3}{BLOCK_PLAY_4}{BLOCK_PLAY_5}")
        #expect(flags.value == "11010")
        let times = filler.fill("{BLOCK_TIME_1},{BLOCK_TIME_2},{BLOCK_TIME_3},{BLOCK_TIME_4},{BLOCK_TIME_10000}")
        #expect(times.value == "25,5,0,15,0")
        #expect(flags.unknownMacros.isEmpty)
        #expect(times.unknownMacros.isEmpty)
    }

    @Test(arguments: [
        ("{USERVALUE0}", "가 & {JSON_DATA}"), ("{uservalue0}", "가 & {JSON_DATA}"), ("{USERVALUE12}", "z"),
        ("{uservalue1}", ""), ("{USERVALUE99}", ""), ("{COURSE}", "math"), ("{Course}", "math"),
    ])
    func `values of the user are macros too`(macro: String, value: String) {
        #expect(filler.fill(macro) == MacroFiller.Filled(text: value))
    }

    @Test(arguments: [
        "{NOPE}", "{play_time}", "{BLOCK_PLAY_0}", "{BLOCK_PLAY_01}", "{BLOCK_PLAY_10001}", "{BLOCK_PLAY_}",
        "{BLOCK_TIME_x}", "{BLOCK_TIME_99999999999999999999}", "{USERVALUE100}", "{USERVALUE00}", "{USERVALUE}",
        "{USERVALUE_1}", "{BLOCK_PLAY}",
    ])
    func `unknown macros stay as they are and are named`(macro: String) {
        let filled = filler.fill("a" + macro + "b{PLAY_TIME}" + macro)
        #expect(filled.value == "a" + macro + "b45" + macro)
        #expect(filled.unknownMacros == [String(macro.dropFirst().dropLast())])
    }

    @Test(arguments: [
        "", "plain", "{", "}", "{}", "{{}}", "{ PLAY_TIME }", "{PLAY TIME}", "{PLAY_TIME", "PLAY_TIME}", "{한글}",
        #"{"a":1}"#, "{PLAY-TIME}", "가{",
    ])
    func `braces around anything else are text`(text: String) {
        #expect(filler.fill(text) == MacroFiller.Filled(text: text))
    }

    @Test func `macros are found next to other braces and other letters`() {
        let filled = filler.fill(#"{{PLAY_TIME}} 시간{DURATION}초 {"p":{PLAY_TIME},{BLOCK_CNT}{DURATION}"#)
        #expect(filled.value == #"{45} 시간100초 {"p":45,4100"#)
        #expect(filled.unknownMacros.isEmpty)
    }

    @Test func `inserted values are not expanded again`() {
        var source = source()
        source.mediaContentKey = "{PLAY_TIME}"
        source.device = "{NOPE}"
        let filled = MacroFiller(report: example(), source: source).fill("{MEDIA_CONTENT_KEY}{DEVICE}{")
        #expect(filled == MacroFiller.Filled(text: "{PLAY_TIME}{NOPE}{"))
    }

    @Test func `a value of the user cannot take the place of a macro`() {
        var source = source()
        source.userValues = ["PLAY_TIME": "9999", "BLOCK_PLAY_3": "1", "play_status": "stop"]
        let filled = MacroFiller(report: example(), source: source).fill("{PLAY_TIME}{BLOCK_PLAY_3}{PLAY_STATUS}")
        #expect(filled.value == "450pause")
    }

    @Test func `names that differ only in case are each found, and otherwise always the same one`() {
        var source = source()
        source.userValues = ["tag": "low", "TAG": "high", "Tag": "mixed", "aB": "1", "Ab": "2"]
        let filler = MacroFiller(report: example(), source: source)
        #expect(filler.fill("{tag} {TAG} {Tag} {tAG} {AB}").value == "low high mixed low 2")
    }

    @Test func `parameters keep their names and their order`() {
        let filled = filler.fill([
            ReportParameter("{PLAY_TIME}", "{PLAY_TIME}"), ReportParameter("x", "{B}{A}{B}"),
            ReportParameter("x", "{A}"),
        ])
        #expect(
            filled.value == [
                ReportParameter("{PLAY_TIME}", "45"), ReportParameter("x", "{B}{A}{B}"), ReportParameter("x", "{A}"),
            ])
        #expect(filled.unknownMacros == ["B", "A"])
    }
}

extension MacroFiller.Filled where Value == String {
    /// A text in which every macro is known.
    fileprivate init(text: String) { self.init(value: text, unknownMacros: []) }
}

@Suite struct FormTextTests {
    @Test(arguments: [
        ("", ""), ("aZ09*-._", "aZ09*-._"), ("a b", "a+b"), ("a+b", "a%2Bb"), ("=&?#%/~", "%3D%26%3F%23%25%2F%7E"),
        ("가", "%EA%B0%80"), ("\u{1F600}", "%F0%9F%98%80"), ("\r\n\0", "%0D%0A%00"), (#"{"a":1}"#, "%7B%22a%22%3A1%7D"),
    ])
    func `text is encoded as a form`(text: String, encoded: String) {
        #expect(FormText.encode([ReportParameter("n", text)]) == "n=" + encoded)
        #expect(FormText.encode([ReportParameter(text, "v")]) == encoded + "=v")
    }

    @Test func `parameters follow each other`() {
        #expect(FormText.encode([]) == "")
        let parameters = [ReportParameter("a", "1"), ReportParameter("a", ""), ReportParameter("b c", "2")]
        #expect(FormText.encode(parameters) == "a=1&a=&b+c=2")
        #expect(FormText.encode([ReportParameter("", ""), ReportParameter("a", "")]) == "=&a=")
    }
}
