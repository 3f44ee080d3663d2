import Foundation
import LectureDownload
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// `config.json` for programs that embed the library.
@Suite struct ConfigurationLoadingTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    @Test func `The environment names the file, and the default is used only if it exists`() throws {
        let file = { LectureConfiguration.file(in: $0) }
        #expect(file(["LECTURE_CONFIG": "c.json", "HOME": place.path]) == "c.json")
        #expect(file(["HOME": place.path]) == nil && file([:]) == nil && file(["HOME": "h"]) == nil)
        let manager = FileManager.default
        for directory in ["x/lecturekit", ".config/lecturekit"] {
            try manager.createDirectory(atPath: place.file(directory), withIntermediateDirectories: true)
        }
        let home = try place.write("{}", to: ".config/lecturekit/config.json")
        #expect(file(["LECTURE_CONFIG": "", "HOME": place.path]) == home)
        #expect(file(["XDG_CONFIG_HOME": "x", "HOME": place.path]) == home)
        #expect(file(["XDG_CONFIG_HOME": place.file("x"), "HOME": place.path]) == nil)
        let other = try place.write("{}", to: "x/lecturekit/config.json")
        #expect(file(["XDG_CONFIG_HOME": place.file("x"), "HOME": place.path]) == other)
    }

    @Test func `Values of the file are applied, and the rest stays`() throws {
        let secret = try place.write("a secret of more than thirty-two bytes", to: "hs.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let path = try place.write(
            """
            {"application": {"trust_dir": "trust"}, "drm": {"keys": [{"id": "a", "secret_file": "hs.key"}]},
             "network": {"timeout_s": 7, "retries": 2, "jobs": 3, "ca_file": "ca.pem", "speed": 1},
             "storage": {"reserve_bytes": 5, "seal": "always", "device_dir": "device"},
             "lms": {"targets": [{"url": "https://lms.example/b"}]}}
            """, to: "config.json")
        var configuration = LectureConfiguration(storeDirectory: "/s")
        configuration.connectionsPerHost = 9
        configuration.quotaBytes = 8
        configuration.rights.isStrict = true
        configuration.rights.keys = [.init(id: "a", place: .keySet("/own.json"))]
        configuration.application = .init(key: "k", bundleID: "b", expires: "e")
        configuration.statistics.rules = [.init(url: "https://lms.example/a")]
        configuration.statistics.keepDays = 4
        let warnings = try configuration.apply(file: path)
        #expect(warnings.count == 1 && warnings[0].contains("network.speed"))
        #expect(configuration.stallTimeout == .seconds(7) && configuration.maxAttempts == 3)
        #expect(configuration.jobs == 3 && configuration.caFile == place.file("ca.pem"))
        #expect(configuration.reserveBytes == 5 && configuration.seal == .always)
        #expect(configuration.deviceDirectory == place.file("device"))
        #expect(configuration.rights.keys == [.init(id: "a", place: .secret(secret))])
        #expect(
            configuration.application
                == .init(key: "k", bundleID: "b", expires: "e", trustDirectory: place.file("trust")))
        #expect(configuration.statistics.rules.map(\.url) == ["https://lms.example/b"])
        // Settings that it lacks.
        #expect(configuration.connectionsPerHost == 9 && configuration.quotaBytes == 8 && configuration.proxy == nil)
        #expect(configuration.rights.isStrict && configuration.statistics.keepDays == 4)
    }

    /// Only a number that was set is a bound for servers that are far.
    @Test func `Numbers that were set are distinguished from the defaults`() throws {
        var configuration = LectureConfiguration(storeDirectory: "/s")
        var settings = try configuration.downloadSettings()
        #expect(settings.exceedsJobs && settings.exceedsPerHost)
        #expect(configuration.mostConnectionsPerHost == 64)
        configuration.jobs = 4
        settings = try configuration.downloadSettings()
        #expect(!settings.exceedsJobs && settings.exceedsPerHost && settings.jobs == 4)
        configuration.connectionsPerHost = 16
        settings = try configuration.downloadSettings()
        #expect(!settings.exceedsJobs && !settings.exceedsPerHost && settings.connectionsPerHost == 16)
        #expect(configuration.mostConnectionsPerHost == 16)
        var other = LectureConfiguration(storeDirectory: "/s")
        configuration.chosenPerHost = other.chosenPerHost
        #expect(try configuration.downloadSettings().exceedsPerHost)
        let path = try place.write(#"{"network": {"jobs": 4, "per_host": 16}}"#, to: "numbers.json")
        _ = try other.apply(file: path)
        #expect(other.chosenJobs == 4 && other.chosenPerHost == 16)
    }

    @Test(arguments: [
        "[]", "{", #"{"network": {"jobs": 0}}"#, #"{"drm": {"keys": [{"id": "a"}]}}"#,
        #"{"application": {"trust_dir": ""}}"#, #"{"application": {"password": "x"}}"#,
        #"{"network": {"jobs": 2}, "storage": {"seal": "no"}}"#,
    ])
    func `An unusable file changes nothing`(text: String) throws {
        let path = try place.write(text, to: "config.json")
        var configuration = LectureConfiguration(storeDirectory: "/s")
        #expect(throws: LectureError(.configuration)) { try configuration.apply(file: path) }
        #expect(configuration.jobs == 4)
        #expect(throws: LectureError(.configuration)) { try configuration.apply(file: place.file("none")) }
    }

    @Test func `A secret that other users may read is refused`() throws {
        let secret = try place.write("a secret of more than thirty-two bytes", to: "hs.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: secret)
        let path = try place.write(#"{"drm": {"keys": [{"id": "a", "secret_file": "hs.key"}]}}"#, to: "config.json")
        var configuration = LectureConfiguration(storeDirectory: "/s")
        #expect(throws: LectureError(.secretReadable)) { try configuration.apply(file: path) }
        #expect(configuration.rights.keys.isEmpty)
    }
}
