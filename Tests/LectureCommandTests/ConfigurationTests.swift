import Foundation
import LectureCommand
import LectureKit
import LectureModel
import Testing

@Suite struct ConfigurationTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func load(_ words: [String] = [], environment: [String: String] = ["HOME": "/users/l"]) throws
        -> Configuration
    {
        let command = try ArgumentParser.parse(["precache"] + words, environment: environment)
        return try Configuration.load(command, environment: environment)
    }

    private func load(file text: String) throws -> Configuration {
        try load(["--config", try scratch.write("config.json", text)])
    }

    private func code(file text: String) -> LectureError.Code? {
        do {
            _ = try load(file: text)
            return nil
        } catch {
            return (error as? LectureError)?.code
        }
    }

    @Test func `without any configuration the defaults hold`() throws {
        let settings = try load()
        #expect(settings.storeDirectory.value == "/users/l/.local/share/lecturekit")
        #expect(settings.file.value == nil)
        #expect(settings.timeout.value == .seconds(30))
        #expect(settings.retries.value == 3)
        #expect(settings.reserveBytes.value == 157_286_400)
        #expect(settings.quotaBytes.value == nil)
        #expect(settings.seal.value == .licensed)
        #expect(settings.descriptions.allSatisfy { $0.origin == .default })
    }

    @Test func `the defaults are those that help names`() throws {
        let settings = try load()
        let names = Dictionary(
            uniqueKeysWithValues: CommandTable.leaves[0].spec.options.map { ($0.long, $0.defaultText) })
        // Help goes on with what far servers get.
        #expect(names["jobs"]?.hasPrefix("\(settings.jobs.value), ") == true)
        #expect(names["per-host"]?.hasPrefix("\(settings.perHost.value), ") == true)
        #expect(names["retries"] == "\(settings.retries.value)")
        #expect(names["timeout"].flatMap(Quantity.duration) == settings.timeout.value)
        #expect(names["reserve"].flatMap(Quantity.byteCount) == settings.reserveBytes.value)
    }

    @Test func `option beats environment beats file beats default`() throws {
        let file = try scratch.write("config.json", #"{"network":{"jobs":5,"per_host":6,"timeout_s":7,"retries":0}}"#)
        let environment = ["HOME": "/h", "LECTURE_JOBS": "8", "LECTURE_PER_HOST": "9", "LECTURE_CONFIG": file]
        let settings = try load(["--jobs", "10"], environment: environment)
        #expect(settings.file.origin == .environment)
        #expect(settings.jobs.value == 10 && settings.jobs.origin == .option)
        #expect(settings.perHost.value == 9 && settings.perHost.origin == .environment)
        #expect(settings.timeout.value == .seconds(7) && settings.timeout.origin == .file)
        #expect(settings.retries.value == 0 && settings.retries.origin == .file)
        #expect(settings.reserveBytes.origin == .default)
    }

    @Test func `the rate limit of the file holds until an option overrides it`() throws {
        let file = try scratch.write(
            "config.json", #"{"network":{"limit_rate":500000,"timetable":"02:00-06:00=full, else=2M"}}"#)
        let environment = ["HOME": "/h", "LECTURE_CONFIG": file]
        let settings = try load(environment: environment)
        #expect(settings.pace.rate.value == 500_000 && settings.pace.rate.origin == .file)
        #expect(settings.pace.timetable.value == "02:00-06:00=full, else=2M")
        let named = try load(["--limit-rate", "1K", "--timetable", "else=1M"], environment: environment)
        #expect(named.pace.rate.value == 1024 && named.pace.rate.origin == .option)
        #expect(named.pace.timetable.value == "else=1M")
        #expect(try load().pace.rate.value == nil)
    }

    @Test func `total attempts are one more than retries`() throws {
        #expect(try load(["--max-attempts", "5"]).retries.value == 4)
        #expect(try load(["--no-seal"]).seal.value == .never)
    }

    @Test func `XDG directories are used when they are absolute`() throws {
        let home = scratch.url.path
        try FileManager.default.createDirectory(
            at: scratch.url.appending(path: "lecturekit"), withIntermediateDirectories: true)
        _ = try scratch.write("lecturekit/config.json", #"{"storage":{"quota_bytes":77}}"#)
        let settings = try load(environment: ["XDG_CONFIG_HOME": home, "XDG_DATA_HOME": "/data"])
        #expect(settings.storeDirectory.value == "/data/lecturekit")
        #expect(settings.quotaBytes.value == 77)
        #expect(
            try load(environment: ["HOME": "/h", "XDG_DATA_HOME": "relative"]).storeDirectory.value
                == "/h/.local/share/lecturekit")
        #expect(try load(environment: ["LECTURE_STORE": "here"]).storeDirectory.value == "here")
        #expect(throws: LectureError(.parameter)) { try load(environment: [:]) }
    }

    @Test func `paths in the file are relative to its directory`() throws {
        let settings = try load(file: #"{"network":{"ca_file":"roots.pem"}}"#)
        #expect(settings.caFile.value == scratch.url.appending(path: "roots.pem").path)
        #expect(try load(file: #"{"network":{"ca_file":"/r.pem"}}"#).caFile.value == "/r.pem")
    }

    @Test func `unknown members are named and ignored`() throws {
        let settings = try load(file: #"{"netwrok":{},"network":{"jbos":1,"jobs":2},"lms":{"anything":[1]}}"#)
        #expect(settings.jobs.value == 2)
        #expect(settings.warnings.count == 3)
        #expect(settings.warnings[2].contains("'lms.anything'"))
        #expect(settings.warnings[0].contains("'netwrok'"))
        #expect(settings.warnings[1].contains("'network.jbos'"))
    }

    @Test(arguments: [
        "", "[]", "{", #"{"network":[]}"#, #"{"network":{"jobs":0}}"#, #"{"network":{"jobs":"4"}}"#,
        #"{"network":{"timeout_s":1.5}}"#, #"{"network":{"proxy":""}}"#, #"{"storage":{"quota_bytes":-1}}"#,
        #"{"storage":{"seal":"sometimes"}}"#, #"{"drm":{"keys":[{"id":"a"}]}}"#, #"{"drm":{"unverified":"yes"}}"#,
        #"{"drm":{"keys":{}}}"#,
        #"{"drm":{"strict":1}}"#, #"{"drm":{"keys":[{"secret":"abc"}]}}"#, #"{"lms":1}"#,
        #"{"lms":{"url":"ftp://h/x"}}"#, #"{"lms":{"url":"https://u:p@h/x"}}"#, #"{"lms":{"format":"json"}}"#,
        #"{"lms":{"url":"https://h","format":"soap"}}"#, #"{"lms":{"url":"https://h","format":"json","method":"GET"}}"#,
        #"{"lms":{"url":"https://h","format":"kollus","parameters":{"a":1}}}"#, #"{"lms":{"keep_days":-1}}"#,
        #"{"lms":{"expire_days":0}}"#, #"{"lms":{"home_page":"here"}}"#, #"{"lms":{"targets":{}}}"#,
        #"{"lms":{"targets":[{}]}}"#, #"{"lms":{"targets":[{"url":"https://h","answer":"yes"}]}}"#,
        #"{"lms":{"targets":[{"url":"https://h","batch":0}]}}"#,
        #"{"lms":{"targets":[{"url":"https://h"},{"url":"https://h"}]}}"#,
        #"{"lms":{"targets":[{"url":"https://h","authorization_file":"nowhere"}]}}"#,
        #"{"lms":{"targets":[{"url":"https://h","compression":"br"}]}}"#, #"{"lms":{"token":"x"}}"#,
        #"{"drm":{"keys":[{"secret_file":"nowhere"}]}}"#, #"{"application":{"password":"x"}}"#,
        #"{"network":{"jobs":1,"jobs":2}}"#, #"{"network":{"limit_rate":0}}"#, #"{"network":{"timetable":"noon"}}"#,
        #"{"network":{"credentials_file":"nowhere"}}"#, #"{"network":{"client_key":"nowhere"}}"#,
    ])
    func `unusable values are refused`(text: String) { #expect(code(file: text) == .configuration) }

    @Test func `a named file must exist and be small`() throws {
        #expect(throws: LectureError(.configuration)) { try load(["--config", "/nowhere/config.json"]) }
        #expect(throws: LectureError(.configuration)) { try load(["--config", scratch.url.path]) }
        #expect(code(file: String(repeating: " ", count: 2 << 20)) == .configuration)
    }

    @Test func `options and the file determine what is sealed`() throws {
        #expect(try load(file: #"{"storage":{"seal":"always"}}"#).seal == Setting(.always, .file))
        #expect(try load(["--seal"]).seal == Setting(.always, .option))
        #expect(try load(["--no-seal"]).seal == Setting(.never, .option))
        #expect(throws: UsageError.self) { try load(["--seal", "--no-seal"]) }
    }

    @Test func `keys of licence servers are read, and shown without their values`() throws {
        _ = try scratch.write("key", "0123456789abcdef", mode: 0o600)
        let settings = try load(
            file: """
                {"drm":{"keys":[{"id":"k","algorithm":"HS256","secret_file":"key","legacy":true},
                {"id":"j","jwks_file":"/j.json"},{"id":"c","ca_file":"ca.pem"}],"user_key":"uk-77","strict":true},
                "application":{"key":"a.b.c","bundle_id":"org.example","expires":"2029/01/01",
                "trust_dir":"trust"}}
                """)
        let home = scratch.url.path
        #expect(
            settings.rights.value.keys == [
                .init(id: "k", place: .secret("\(home)/key"), algorithm: "HS256", isLegacy: true),
                .init(id: "j", place: .keySet("/j.json")), .init(id: "c", place: .roots("\(home)/ca.pem")),
            ])
        #expect(settings.rights.value.userKey == "uk-77")
        #expect(settings.rights.value.isStrict && !settings.rights.value.permitsUnverified)
        #expect(settings.application.value?.bundleID == "org.example")
        #expect(settings.application.value?.trustDirectory == "\(home)/trust")
        let shown = settings.descriptions.map(\.value).joined(separator: "\n")
        #expect(shown.contains("k HS256 legacy secret, j /j.json"))
        for secret in ["uk-77", "0123456789abcdef", "a.b.c"] { #expect(!shown.contains(secret)) }
        #expect(
            code(file: #"{"drm":{"keys":[{"id":"a","jwks_file":"x"},{"id":"a","ca_file":"y"}]}}"#) == .configuration)
        #expect(code(file: #"{"drm":{"keys":[{"id":"a","jwks_file":"x","ca_file":"y"}]}}"#) == .configuration)
    }

    @Test func `the device's directory comes from the environment, the file, or XDG`() throws {
        #expect(try load().deviceDirectory == Setting("/users/l/.local/share/lecturekit-device", .default))
        let settings = try load(environment: ["HOME": "/h", "LECTURE_DEVICE": "/d"])
        #expect(settings.deviceDirectory == Setting("/d", .environment))
        #expect(try load(environment: ["XDG_DATA_HOME": "/x"]).deviceDirectory.value == "/x/lecturekit-device")
        let text = #"{"storage":{"device_dir":"keys"}}"#
        #expect(try load(file: text).deviceDirectory == Setting(scratch.url.appending(path: "keys").path, .file))
    }

    @Test func `a secret that other users may read is refused`() throws {
        let text = #"{"drm":{"keys":[{"id":"k","algorithm":"HS256","secret_file":"key"}],"strict":true}}"#
        _ = try scratch.write("key", "s", mode: 0o600)
        #expect(code(file: text) == nil)
        for mode in [0o640, 0o604, 0o620, 0o660] {
            _ = try scratch.write("key", "s", mode: mode)
            #expect(code(file: text) == .secretReadable)
        }
    }

    @Test func `report targets are read, and shown without secrets`() throws {
        _ = try scratch.write("lms.token", "Bearer s3cret\n")
        let settings = try load(
            file: """
                {"lms":{"url":"https://lms.example/r","format":"kollus","method":"GET","parameters":{"d":"{JSON_DATA}"},
                "keep_days":7,"expire_days":90,"home_page":"https://id.example/","activity_prefix":"https://c.example/",
                "targets":[{"url":"https://lms.example","answer":"text","batch":20,"batch_bytes":65536,"rate":50,
                "concurrency":2,"compression":"gzip","authorization_file":"lms.token","cumulative":true}]}}
                """)
        #expect(settings.warnings.isEmpty)
        let lms = settings.statistics.value
        #expect(
            lms.target
                == ReportTarget(
                    url: "https://lms.example/r", format: .kollus, method: "GET",
                    parameters: [.init("d", "{JSON_DATA}")]))
        #expect(lms.keepDays == 7 && lms.expireDays == 90)
        #expect(lms.homePage == "https://id.example/" && lms.activityPrefix == "https://c.example/")
        var rule = StatisticsConfiguration.Rule(url: "https://lms.example")
        (rule.answer, rule.batch, rule.batchBytes, rule.rate, rule.concurrency) = (.text, 20, 65_536, 50, 2)
        (rule.isCompressed, rule.isCumulative) = (true, true)
        rule.authorizationFile = scratch.url.appending(path: "lms.token").path
        #expect(lms.rules == [rule])
        let shown = settings.descriptions.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
        #expect(shown.contains("lms.url=https://lms.example/r") && shown.contains("lms.keep_days=7"))
        #expect(!shown.contains("s3cret"))
    }

    @Test func `the environment overrides the report targets of the file`() throws {
        let text = #"{"lms":{"url":"https://file.example","format":"xapi","keep_days":3}}"#
        _ = try scratch.write("config.json", text)
        let path = scratch.url.appending(path: "config.json").path
        let environment = ["HOME": "/h", "LECTURE_LMS_URL": "https://env.example", "LECTURE_LMS_FORMAT": "kollus"]
        let settings = try load(["--config", path], environment: environment)
        #expect(settings.statistics.value.target == ReportTarget(url: "https://env.example", format: .kollus))
        #expect(settings.statistics.value.keepDays == 3 && settings.statistics.origin == .environment)
        for (name, value) in [("LECTURE_LMS_URL", "nonsense"), ("LECTURE_LMS_FORMAT", "soap")] {
            var wrong = environment
            wrong[name] = value
            #expect(throws: LectureError(.configuration)) { try load(environment: wrong) }
        }
    }

    @Test func `credentials for an LMS that other users may read are refused`() throws {
        let text = #"{"lms":{"targets":[{"url":"https://h","authorization_file":"t"}]}}"#
        _ = try scratch.write("t", "Bearer x", mode: 0o600)
        #expect(code(file: text) == nil)
        _ = try scratch.write("t", "Bearer x", mode: 0o644)
        #expect(code(file: text) == .secretReadable)
    }

    @Test func `passwords are not shown`() throws {
        let settings = try load(["--proxy", "http://user:pa:ss@proxy.example:3128/x@y"])
        #expect(settings.proxy.value == "http://user:pa:ss@proxy.example:3128/x@y")
        let shown = settings.descriptions.first { $0.name == "network.proxy" }?.value
        #expect(shown == "http://…@proxy.example:3128/x@y")
    }
}
