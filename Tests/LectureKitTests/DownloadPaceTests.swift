import Foundation
import LectureKit
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// What the manager says of speeds and of what may be used when.
@Suite(.timeLimit(.minutes(2))) struct DownloadPaceTests {
    private static let now = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
    private static let day = 86_400.0

    /// A store whose only lecture has attempts: origin, days ago, milliseconds, bytes.
    private func store(_ attempts: [(String, Double, Int, Int)]) async throws -> Site {
        let (site, manager, _) = try await ContentUseTests.waiting(["a"])
        await manager.close()
        let database = try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite)
        for (origin, days, length, bytes) in attempts {
            try database.execute(
                """
                INSERT INTO attempt(content_id, at_ms, duration_ms, curl_code, bytes, origin, range_first, decision,
                    detail)
                SELECT id, ?, ?, 0, ?, ?, 0, 'done', '' FROM content
                """, Self.now + .seconds(-days * Self.day), length, bytes, origin)
        }
        return site
    }

    /// What a manager with these settings measures.
    private func speeds(
        _ site: Site, _ change: (inout LectureConfiguration) -> Void = { _ in }
    ) async throws -> [MeasuredSpeed] {
        let manager = try site.manager(change)
        let speeds = try await manager.downloadSpeeds()
        await manager.close()
        return speeds
    }

    @Test func `too little, too short and too old is left out, and servers are in the order of their names`()
        async throws
    {
        let enough = 256 << 10
        let site = try await store([
            ("http://z", 1, 1000, enough), ("http://b", 29.9, 2000, enough * 2), ("http://less", 1, 1000, enough - 1),
            ("http://brief", 1, 50, enough), ("http://old", 30.1, 1000, enough * 9), ("http://none", 1, 1000, 0),
            ("http://a", 1, 51, enough), ("http://sum", 2, 1000, enough - 1), ("http://sum", 3, 1000, 1),
        ])
        let found = try await speeds(site)
        #expect(found.map(\.origin) == ["http://a", "http://b", "http://sum", "http://z"])
        #expect(found.map(\.bytes) == [enough, enough * 2, enough, enough].map(Int64.init))
        #expect(found.map(\.busy) == [.milliseconds(51), .seconds(2), .seconds(2), .seconds(1)])
        #expect(found.allSatisfy { $0.bound == nil })
        #expect(found[1].bytesPerSecond == Double(enough) && found[2].bytesPerSecond == Double(enough) / 2)
        let empty = try await store([])
        #expect(try await speeds(empty).isEmpty)
    }

    @Test(
        arguments: [
            (nil, nil, nil), (nil, 700, 700), ("else=2M", nil, 2 << 20), ("else=2M", 700, 700),
            ("else=2M", 3 << 20, 2 << 20), ("else=off", nil, nil), ("else=off", 700, 700), ("else=full", 9, 9),
        ] as [(String?, Int?, Int64?)])
    func `the limit of now is the bound of what was measured`(
        timetable: String?, limit: Int?, bound: Int64?
    ) async throws {
        let site = try await store([("http://a", 1, 1000, 1 << 20)])
        let found = try await speeds(site) { ($0.timetable, $0.rateLimit) = (timetable, limit) }
        #expect(found == [MeasuredSpeed(origin: "http://a", bytes: 1 << 20, busy: .seconds(1), bound: bound)])
    }

    @Test func `a measurement without a length is no speed`() {
        #expect(MeasuredSpeed(origin: "", bytes: 9, busy: .zero).bytesPerSecond == 0)
        #expect(MeasuredSpeed(origin: "", bytes: 9, busy: .milliseconds(500)).bytesPerSecond == 18)
    }

    @Test(
        arguments: [
            (nil, nil, [nil]), (nil, 5, [5]), ("else=off", nil, [0]), ("else=off", 5, [0]), ("else=1M", 5, [5]),
            ("else=1M", nil, [1 << 20]), ("else=1M", 1 << 21, [1 << 20]), ("else=full", nil, [nil]),
            ("else=full", 5, [5]),
        ] as [(String?, Int?, [Int64?])])
    func `windows are what the manager's settings allow`(
        timetable: String?, limit: Int?, bounds: [Int64?]
    ) async throws {
        let site = try Site()
        let manager = try site.manager { ($0.timetable, $0.rateLimit) = (timetable, limit) }
        let start = Timestamp(milliseconds: 1_768_176_000_123)
        let windows = try await manager.paceWindows(from: start, to: start + .seconds(3 * Self.day))
        #expect(windows.map(\.bytesPerSecond) == bounds)
        #expect(windows.first?.start == start && windows.last?.end == start + .seconds(3 * Self.day))
        #expect(try await manager.paceWindows(from: start, to: start).isEmpty)
        #expect(try await manager.paceWindows(from: start, to: start + .seconds(-1)).isEmpty)
        let long = try await manager.paceWindows(from: start, to: start + .seconds(500 * Self.day))
        #expect(long.last?.end == start + .seconds(400 * Self.day), "no further than 400 days")
        await manager.close()
    }

    @Test func `nights of a week follow one another`() async throws {
        let site = try Site()
        let manager = try site.manager { $0.timetable = "02:00-06:00=full, else=off" }
        // A week of January, in which no zone changes its clock.
        let start = Timestamp(milliseconds: 1_768_176_000_000)
        let end = start + .seconds(7 * Self.day)
        let windows = try await manager.paceWindows(from: start, to: end)
        #expect(windows.first?.start == start && windows.last?.end == end)
        for (one, next) in zip(windows, windows.dropFirst()) {
            #expect(one.end == next.start && one.bytesPerSecond != next.bytesPerSecond && one.start < one.end)
        }
        let open = windows.filter { $0.bytesPerSecond == nil }
        #expect(open.reduce(Duration.zero) { $0 + ($1.end - $1.start) } == .seconds(28 * 3600))
        #expect(windows.allSatisfy { $0.bytesPerSecond == nil || $0.bytesPerSecond == 0 })
        // Another timetable counts at once.
        var other = LectureConfiguration(storeDirectory: site.store)
        other.timetable = "else=3M"
        _ = try await manager.reconfigure(other)
        #expect(try await manager.paceWindows(from: start, to: end).map(\.bytesPerSecond) == [3 << 20])
        await manager.close()
    }
}

/// The sections `retention` and `daemon` of `config.json`.
@Suite struct UpkeepConfigurationTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    @Test func `rules are applied as they were written, and stay where the file has none`() throws {
        var configuration = LectureConfiguration(storeDirectory: "/s")
        #expect(configuration.retentionRules.isEmpty)
        let rules = ["keep 30d after play", "NEVER  below 20 GiB", "keep 1d after play for course '가'", "no rule"]
        let text = rules.map { "\"\($0)\"" }.joined(separator: ",")
        let file = try place.write(#"{"retention": {"rules": [\#(text)]}}"#, to: "config.json")
        #expect(try configuration.apply(file: file).isEmpty)
        #expect(configuration.retentionRules == rules, "the library reads no rule")
        for text in ["{}", #"{"retention": {}}"#, #"{"retention": {"rule": ["x"]}}"#] {
            let warnings = try configuration.apply(file: try place.write(text, to: "config.json"))
            #expect(configuration.retentionRules == rules, "\(text)")
            #expect(warnings.count == (text.contains("rule") ? 1 : 0), "\(warnings)")
        }
        _ = try configuration.apply(file: try place.write(#"{"retention": {"rules": []}}"#, to: "config.json"))
        #expect(configuration.retentionRules.isEmpty, "an empty list takes the place of the others")
    }

    static let wrong: [(text: String, cause: String)] = [
        (#"{"retention": {"rules": "keep"}}"#, "retention.rules must be an array of texts that are not empty"),
        (#"{"retention": {"rules": [1]}}"#, "retention.rules must be an array of texts that are not empty"),
        (#"{"retention": {"rules": ["a", ""]}}"#, "retention.rules must be an array of texts that are not empty"),
        (#"{"retention": {"rules": null}}"#, "retention.rules must be an array of texts that are not empty"),
        (#"{"retention": ["keep"]}"#, "retention"), (#"{"daemon": 1}"#, "daemon"),
        (#"{"daemon": {"courses": "c"}}"#, "daemon.courses must be an array of texts that are not empty"),
        (#"{"daemon": {"courses": ["c", ""]}}"#, "daemon.courses must be an array of texts that are not empty"),
        (#"{"daemon": {"courses": [["c"]]}}"#, "daemon.courses must be an array of texts that are not empty"),
        (#"{"daemon": {"renew_within_s": -1}}"#, "daemon.renew_within_s"),
        (#"{"daemon": {"renew_within_s": 31622401}}"#, "daemon.renew_within_s"),
        (#"{"daemon": {"renew_within_s": 1.5}}"#, "daemon.renew_within_s"),
        (#"{"daemon": {"renew_within_s": "3d"}}"#, "daemon.renew_within_s"),
    ]

    @Test(arguments: wrong) func `a value of the wrong kind is one mistake`(text: String, cause: String) throws {
        let file = try place.write(text, to: "config.json")
        let mistakes = LectureConfiguration.mistakes(inFile: file)
        #expect(mistakes.map(\.code) == [.configuration])
        let message = try #require(mistakes.first).message
        #expect(message.contains(cause) && message.contains("config.json"), "\(message)")
        var configuration = LectureConfiguration(storeDirectory: "/s")
        configuration.retentionRules = ["own"]
        #expect(throws: LectureError(.configuration)) { try configuration.apply(file: file) }
        #expect(configuration.retentionRules == ["own"])
    }

    @Test func `unknown settings of both sections are named with their line and the nearest name`() throws {
        let file = try place.write(
            """
            {"retentoin": {},
             "retention": {"rule": ["x"]},
             "daemon": {"course": [],
             "renew_within": 5, "courses": ["c"], "renew_within_s": 31622400}}
            """, to: "config.json")
        let messages = LectureConfiguration.mistakes(inFile: file).map(\.message)
        let expected = [
            "config.json:1: the configuration cannot be used (unknown setting 'retentoin' (did you mean 'retention'?))",
            "config.json:2: the configuration cannot be used (unknown setting 'retention.rule' "
                + "(did you mean 'retention.rules'?))",
            "config.json:3: the configuration cannot be used (unknown setting 'daemon.course' "
                + "(did you mean 'daemon.courses'?))",
            "config.json:4: the configuration cannot be used (unknown setting 'daemon.renew_within' "
                + "(did you mean 'daemon.renew_within_s'?))",
        ]
        #expect(messages.count == expected.count, "\(messages)")
        for (message, text) in zip(messages, expected) { #expect(message.contains(text), "\(message)") }
        var configuration = LectureConfiguration(storeDirectory: "/s")
        #expect(try configuration.apply(file: file).count == 4)
        let fine = try place.write(
            #"{"retention": {"rules": ["keep 1d after play"]}, "daemon": {"courses": [], "renew_within_s": 0}}"#,
            to: "fine.json")
        #expect(LectureConfiguration.mistakes(inFile: fine).isEmpty)
    }
}
