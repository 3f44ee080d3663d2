import Foundation
import LectureCommand
import LectureKit
import LectureModel
import Testing

/// What the command takes from the directories that systemd gives a service, and what comes before them.
@Suite struct ServiceConfigurationTests {
    private let scratch: ScratchDirectory
    private let environment: [String: String]

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["etc", "credentials", "home"] {
            try FileManager.default.createDirectory(
                at: scratch.url.appending(path: name), withIntermediateDirectories: true)
        }
        let home = scratch.url.path
        environment = [
            "HOME": "\(home)/home", "XDG_DATA_HOME": "\(home)/data", "STATE_DIRECTORY": "\(home)/state:/var/lib/other",
            "CONFIGURATION_DIRECTORY": "\(home)/etc", "CREDENTIALS_DIRECTORY": "\(home)/credentials",
        ]
    }

    private func load(_ words: [String] = [], _ more: [String: String] = [:]) throws -> Configuration {
        let environment = environment.merging(more) { $1 }
        let command = try ArgumentParser.parse(["precache"] + words, environment: environment)
        return try Configuration.load(command, environment: environment)
    }

    private func path(_ name: String) -> String { "\(scratch.url.path)/\(name)" }

    @Test func `the store comes from the option, the variable, the service, and then the user`() throws {
        #expect(try load(["--store", "/o"], ["LECTURE_STORE": "/e"]).storeDirectory == Setting("/o", .option))
        #expect(try load([], ["LECTURE_STORE": "/e"]).storeDirectory == Setting("/e", .environment))
        #expect(try load().storeDirectory == Setting(path("state/store"), .default))
        for value in ["", "relative"] {
            #expect(try load([], ["STATE_DIRECTORY": value]).storeDirectory.value == path("data/lecturekit"))
        }
        let command = try ArgumentParser.parse(["list"], environment: [:])
        let alone = try Configuration.load(command, environment: ["STATE_DIRECTORY": "/var/lib/lecturekit"])
        #expect(alone.storeDirectory.value == "/var/lib/lecturekit/store", "a service needs no HOME")
        #expect(alone.deviceDirectory.value == "/var/lib/lecturekit/device")
    }

    @Test func `the device's directory comes from the variable, the file, the service, and then the user`() throws {
        #expect(try load().deviceDirectory == Setting(path("state/device"), .default))
        #expect(try load([], ["STATE_DIRECTORY": ""]).deviceDirectory.value == path("data/lecturekit-device"))
        _ = try scratch.write("etc/config.json", #"{"storage":{"device_dir":"keys"}}"#)
        #expect(try load().deviceDirectory == Setting(path("etc/keys"), .file))
        #expect(try load([], ["LECTURE_DEVICE": "/d"]).deviceDirectory == Setting("/d", .environment))
    }

    @Test func `the file comes from the option, the variable, the service, and then the user`() throws {
        #expect(try load().file.value == nil)
        _ = try scratch.write("etc/config.json", #"{"network":{"jobs":5}}"#)
        let named = try scratch.write("named.json", #"{"network":{"jobs":6}}"#)
        let settings = try load()
        #expect(settings.file == Setting(path("etc/config.json"), .default))
        #expect(settings.jobs == Setting(5, .file))
        #expect(try load([], ["LECTURE_CONFIG": named]).jobs.value == 6)
        #expect(try load(["--config", named], ["LECTURE_CONFIG": "/nowhere"]).jobs.value == 6)
        #expect(try load([], ["CONFIGURATION_DIRECTORY": path("nowhere")]).file.value == nil)
    }

    @Test func `credentials of known names are used where nothing else names a file`() throws {
        let none = try load().credentials
        #expect([none.file, none.netrc, none.certificate, none.key].allSatisfy { $0 == Setting(nil, .default) })
        for name in ["credentials", "netrc", "client-cert", "client-key", "own", "etc/own"] {
            _ = try scratch.write(name.contains("/") ? name : "credentials/\(name)", "x", mode: 0o600)
        }
        let found = try load().credentials
        #expect(found.file == Setting(path("credentials/credentials"), .default))
        #expect(found.netrc.value == path("credentials/netrc"))
        #expect(found.certificate.value == path("credentials/client-cert"))
        #expect(found.key.value == path("credentials/client-key"))
        let options = ["--credentials-file", "/c", "--client-cert", "/cert"]
        let given = try load(options, ["LECTURE_NETRC_FILE": "/n", "LECTURE_CREDENTIALS_FILE": "/e"]).credentials
        #expect(given.file == Setting("/c", .option) && given.netrc == Setting("/n", .environment))
        #expect(given.certificate.value == "/cert" && given.key.value == nil, "a key belongs to its certificate")
        #expect(try load(["--netrc"]).credentials.netrc.value == path("home/.netrc"))
        _ = try scratch.write("etc/config.json", #"{"network":{"netrc_file":"/f","credentials_file":"own"}}"#)
        #expect(throws: LectureError(.configuration)) { try load() }
        _ = try scratch.write("etc/config.json", #"{"network":{"credentials_file":"own"}}"#)
        #expect(try load().credentials.file == Setting(path("credentials/own"), .file))
        #expect(try load([], ["CREDENTIALS_DIRECTORY": ""]).credentials.file == Setting(path("etc/own"), .file))
    }

    @Test func `secrets that the file names without a directory are the service's credentials`() throws {
        _ = try scratch.write(
            "etc/config.json",
            """
            {"drm":{"keys":[{"id":"a","secret_file":"academy"}]},"network":{"client_cert":"pair","client_key":"./pair"},
            "lms":{"targets":[{"url":"https://h","authorization_file":"lms"}]}}
            """)
        _ = try scratch.write("etc/pair", "x", mode: 0o600)
        #expect(throws: LectureError(.configuration), "there is no such credential, and no such file") { try load() }
        for name in ["academy", "lms", "pair"] { _ = try scratch.write("credentials/\(name)", "x", mode: 0o400) }
        let settings = try load()
        #expect(settings.rights.value.keys == [.init(id: "a", place: .secret(path("credentials/academy")))])
        #expect(settings.statistics.value.rules.map(\.authorizationFile) == [path("credentials/lms")])
        #expect(settings.credentials.certificate.value == path("credentials/pair"))
        #expect(settings.credentials.key.value == path("etc/./pair"), "a path is a path")
        _ = try scratch.write("credentials/academy", "x", mode: 0o644)
        #expect(throws: LectureError(.secretReadable)) { try load() }
    }

    @Test func `the token for the LMS is for the configured target`() throws {
        _ = try scratch.write("credentials/lms-token", "Bearer s3cret", mode: 0o400)
        #expect(try load().statistics == Setting(StatisticsConfiguration(), .default), "there is no target")
        _ = try scratch.write("etc/config.json", #"{"lms":{"url":"https://lms.example/r"}}"#)
        var rule = StatisticsConfiguration.Rule(url: "https://lms.example/r")
        rule.authorizationFile = path("credentials/lms-token")
        #expect(try load().statistics.value.rules == [rule])
        let shown = try load().descriptions.map(\.value).joined(separator: "\n")
        #expect(shown.contains("lms-token") && !shown.contains("s3cret"))
        rule.url = "https://env.example"
        let other = try load([], ["LECTURE_LMS_URL": "https://env.example"]).statistics
        #expect(other.value.rules == [rule] && other.origin == .environment)
    }
}
