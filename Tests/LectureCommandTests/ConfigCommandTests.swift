import Foundation
import LectureCommand
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `config show` and `config check`: the built program, with files on the disk.
@Suite(.timeLimit(.minutes(2))) struct ConfigCommandTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func run(_ words: String..., variables: [String: String] = [:]) async throws -> ChildProcess.Ending {
        let environment = ["HOME": scratch.url.path].merging(variables) { $1 }
        return try await ChildProcess(BuiltProgram.url.path, ["config"] + words, environment: environment).ending()
    }

    private struct Line: Decodable, Hashable {
        let record: String
        let name: String
        let value: String
        let origin: String
        var source: String?
    }

    @Test func `every setting is shown with the place of its value`() async throws {
        let text = """
            {"network":{"retries":7,"proxy":"http://u:secret@proxy.example"},"drm":{"unverified":true},
             "lms":{"keep_days":9,"home_page":"https://academy.example"}}
            """
        let file = try scratch.write("config.json", text)
        let variables = [
            "LECTURE_JOBS": "8", "LECTURE_DEVICE": "/keys", "LECTURE_QUOTA": "2K", "LECTURE_CONFIG": file,
            "LECTURE_LMS_URL": "https://lms.example/r",
        ]
        let ending = try await run(
            "show", "--json", "--timeout", "45s", "--netrc", "--reserve", "1K", variables: variables)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(!ending.text.contains("secret"))
        var found: [String: Line] = [:]
        for line in ending.text.split(separator: "\n").map({ Data($0.utf8) }) {
            #expect(try JSONSchema(named: "record-setting").faults(in: line) == [])
            let setting = try JSONDecoder().decode(Line.self, from: line)
            #expect((setting.origin == "default") == (setting.source == nil), "\(setting)")
            found[setting.name] = setting
        }
        let expected: [(name: String, value: String, origin: String, source: String?)] = [
            ("config", file, "environment", "LECTURE_CONFIG"), ("network.retries", "7", "file", file),
            ("network.proxy", "http://…@proxy.example", "file", file), ("lms.keep_days", "9", "file", file),
            ("lms.url", "https://lms.example/r", "environment", "LECTURE_LMS_URL"),
            ("lms.format", "json", "environment", "LECTURE_LMS_URL"), ("lms.expire_days", "", "default", nil),
            ("drm.unverified", "true", "file", file), ("drm.strict", "false", "default", nil),
            ("application.expires", "", "default", nil),
            ("network.jobs", "8", "environment", "LECTURE_JOBS"), ("network.per_host", "16", "default", nil),
            ("storage.device_dir", "/keys", "environment", "LECTURE_DEVICE"),
            ("storage.quota_bytes", "2048", "environment", "LECTURE_QUOTA"),
            ("storage.reserve_bytes", "1024", "option", "--reserve"),
            ("network.timeout_s", "45", "option", "--timeout"),
            ("network.netrc_file", "\(scratch.url.path)/.netrc", "option", "--netrc"),
        ]
        for (name, value, origin, source) in expected {
            let line = Line(record: "setting", name: name, value: value, origin: origin, source: source)
            #expect(found[name] == line)
        }
        // Every key of the file that is one value has a line.
        let keys = ConfigurationKeys.all.filter { key in
            ConfigurationKeys.members(of: key).isEmpty
                && !["drm.keys.", "lms.targets.", "webhooks."].contains { key.hasPrefix($0) }
        }
        // The key itself is a secret; the other two are only for a format.
        #expect(Set(keys).subtracting(found.keys) == ["application.key", "lms.method", "lms.parameters"])
    }

    @Test func `the text names places on request only`() async throws {
        let variables = ["LECTURE_GROUP": "users", "LECTURE_LMS_URL": "https://lms.example/r"]
        let plain = try await run("show", variables: variables)
        #expect(plain.status == 0 && !plain.text.contains("("), "\(plain.text)")
        let lines = try await run("show", "--origin", variables: variables).text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("network.jobs ") && $0.hasSuffix(" 4  (default)") })
        #expect(
            lines.contains { $0.hasPrefix("storage.group ") && $0.hasSuffix(" users  (environment LECTURE_GROUP)") })
        #expect(lines.contains { $0.hasPrefix("lms.url ") && $0.hasSuffix("  (environment LECTURE_LMS_URL)") })
        #expect(!FileManager.default.fileExists(atPath: scratch.url.appending(path: ".local").path))
    }

    @Test func `a file that can be used has no mistakes, and no file is none`() async throws {
        let none = try await run("check")
        #expect(none.status == 0 && none.errorText.contains("the defaults apply"), "\(none.errorText)")
        try FileManager.default.createDirectory(
            at: scratch.url.appending(path: ".config/lecturekit"), withIntermediateDirectories: true)
        let file = try scratch.write(".config/lecturekit/config.json", #"{"network":{"jobs":3}}"#)
        let used = try await run("check")
        #expect(used.status == 0 && used.errorText == "lecturectl: \(file) has no mistakes.\n", "\(used.errorText)")
        #expect(try await run("check", "--quiet", file).errorText.isEmpty)
        #expect(try await run("check", scratch.url.appending(path: "missing").path).status == 78)
    }

    @Test func `every mistake is an error with the nearest name`() async throws {
        _ = try scratch.write("servers.json", "[]")
        _ = try scratch.write("roots.pem", "no certificate")
        _ = try scratch.write("keys.json", "{}")
        for name in ["servers.json", "keys.json"] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: scratch.url.appending(path: name).path)
        }
        let file = try scratch.write(
            "config.json",
            """
            {"netwrok": {"jobs": 3},
             "network": {"jbos": 3, "credentials_file": "servers.json", "ca_file": "roots.pem"},
             "storage": {"group": "no-such-group"}, "drm": {"keys": [{"jwks_file": "keys.json"}]}}
            """)
        let ending = try await run("check", file, "--json")
        #expect(ending.status == 78)
        let lines = ending.text.split(separator: "\n").map(String.init)
        for line in lines { #expect(try JSONSchema(named: "event-error").faults(in: Data(line.utf8)) == []) }
        let expected: [String] = [
            "config.json:1: the configuration cannot be used (unknown setting 'netwrok' (did you mean 'network'?))",
            "config.json:2: the configuration", "(unknown setting 'network.jbos' (did you mean 'network.jobs'?))",
            "servers.json", "roots.pem", "keys.json", "no-such-group",
        ]
        #expect(lines.count == 6, "\(ending.text)")
        let said = ending.errorText
        for text in expected { #expect(said.contains(text), "\(text): \(said)") }
        // What cannot be read at all is one mistake.
        let torn = try scratch.write("torn.json", #"{"network": {"jobs": 0}, "netwrok": 1}"#)
        let refused = try await run("check", torn)
        #expect(refused.status == 78 && refused.errorText.contains("network.jobs must be a whole number"))
        #expect(refused.errorText.split(separator: "\n").count == 1)
    }
}
