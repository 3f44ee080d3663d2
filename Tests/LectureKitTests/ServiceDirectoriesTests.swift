import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What a service of systemd finds in its own directories.
@Suite struct ServiceDirectoriesTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    @Test(arguments: [
        ("/var/lib/a", "/var/lib/a"), ("/var/lib/a:/var/lib/b", "/var/lib/a"), ("", nil), ("a", nil), ("a:/b", nil),
        (":", nil), ("/", "/"),
    ])
    func `The first directory counts, if it is absolute`(value: String, expected: String?) {
        for name in ["STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY"] {
            let found = ServiceDirectories([name: value])
            let others = ["STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY"].filter { $0 != name }
            let all = [
                "STATE_DIRECTORY": found.state, "CONFIGURATION_DIRECTORY": found.configuration,
                "CREDENTIALS_DIRECTORY": found.credentials,
            ]
            #expect(all[name] == expected)
            for other in others { #expect(all[other] == .some(nil), "\(name) is not \(other)") }
        }
        #expect(ServiceDirectories([:]).store == nil && ServiceDirectories([:]).device == nil)
    }

    @Test func `A credential is a file in the directory, and never a path`() throws {
        for name in ["token", "directory/token"] { _ = try place.write("x", to: name) }
        let services = ServiceDirectories(["CREDENTIALS_DIRECTORY": place.file("directory")])
        #expect(services.credential("token") == place.file("directory/token"))
        for name in ["", ".", "..", "../token", "/token", "other", place.file("token")] {
            #expect(services.credential(name) == nil, "\(name)")
        }
        #expect(ServiceDirectories([:]).credential("token") == nil)
        let loop = place.file("directory/loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(services.credential("loop") == loop, "what cannot be looked at is not missing")
    }

    @Test func `The device's key is with the service's state, unless a variable names its directory`() {
        let environment = ["STATE_DIRECTORY": "/s:/t", "XDG_DATA_HOME": "/x", "HOME": "/h"]
        #expect(DeviceHome.directory(in: environment) == "/s/device")
        #expect(DeviceHome.directory(in: environment.merging(["LECTURE_DEVICE": "/d"]) { $1 }) == "/d")
        #expect(DeviceHome.directory(in: ["STATE_DIRECTORY": "s", "HOME": "/h"])?.hasPrefix("/h/") == true)
    }

    @Test func `The service's configuration file comes before the user's, and after a named one`() throws {
        let home = try place.write("{}", to: "home/.config/lecturekit/config.json")
        var environment = ["HOME": place.file("home"), "CONFIGURATION_DIRECTORY": "\(place.file("etc")):/etc/other"]
        #expect(LectureConfiguration.file(in: environment) == home, "there is none yet")
        let own = try place.write("{}", to: "etc/config.json")
        #expect(LectureConfiguration.file(in: environment) == own)
        environment["LECTURE_CONFIG"] = "/named.json"
        #expect(LectureConfiguration.file(in: environment) == "/named.json")
    }

    @Test(.enabled(if: geteuid() == 0)) func `Such a file is read as a secret, and no device's key is one`() throws {
        let path = try place.write("Authorization: Bearer x", to: "headers")
        for (mode, isRead) in [(0o440, true), (0o400, true), (0o640, false), (0o444, false)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let read = Result { try CredentialFiles.headers(path).count }
            let expected: Result<Int, LectureError> = isRead ? .success(1) : .failure(LectureError(.secretReadable))
            let matches = read.code == expected.code && (try? read.get()) == (try? expected.get())
            #expect(matches, "\(String(mode, radix: 8))")
        }
        let home = DeviceHome(directory: place.file("device"))
        _ = try home.identity()
        let key = place.file("device/device.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: key)
        #expect(throws: LectureError(.deviceKeyRefused)) { try home.identity() }
    }

    @Test func `A credential authorizes the reports' own target, and no other one`() {
        var statistics = StatisticsConfiguration()
        statistics.authorize(file: "/token")
        #expect(statistics.rules.isEmpty, "no target, nothing to authorize")
        statistics.target = ReportTarget(url: "https://lms.example/reports", format: .json)
        var wide = StatisticsConfiguration.Rule(url: "https://lms.example")
        (wide.batch, wide.isCumulative) = (7, true)
        statistics.rules = [wide]
        statistics.authorize(file: "/token")
        var own = wide
        (own.url, own.authorizationFile) = ("https://lms.example/reports", "/token")
        #expect(statistics.rules == [wide, own], "what the wider rule says is kept")
        statistics.authorize(file: "/second")
        #expect(statistics.rules == [wide, own], "a file that is named stays")
        own.authorizationFile = nil
        statistics.rules = [own]
        statistics.authorize(file: "/token")
        own.authorizationFile = "/token"
        #expect(statistics.rules == [own], "one rule for one URL")
    }
}

extension Result {
    fileprivate var code: LectureError.Code? {
        guard case .failure(let error) = self else { return nil }
        return (error as? LectureError)?.code
    }
}
