import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What `doctor` says of licences, of the device's key and of the clock, and what `-vv` says of requests for licences.
@Suite(.timeLimit(.minutes(3))) struct DoctorNetTests {
    struct Finding: Decodable {
        let subject: String
        let grade: String
        let name: String?
        let message: String
        let remedy: String?
        let error: String?
    }

    /// The findings, each as its schema describes it.
    static func doctor(_ me: LicenceScene, _ words: String...) async throws -> [Finding] {
        let ending = try await me.run(["doctor", "--json"] + words)
        let findings = try LicenceScene.lines(Finding.self, ending.text)
        #expect(ending.status == (findings.contains { $0.grade == "failed" } ? 1 : 0), "\(ending.errorText)")
        return findings
    }

    static func finding(_ subject: String, _ findings: [Finding]) throws -> Finding {
        try #require(findings.first { $0.subject == subject })
    }

    @Test func `the server of a licence is asked, and a licence that ends is renewed as advised`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 86_400))
            let findings = try await Self.doctor(me)
            let server = try Self.finding("server", findings)
            #expect(server.grade == "ok" && server.name == me.sandbox.http && server.message.contains("(1 licence)"))
            let due = try Self.finding("licences", findings)
            #expect(due.grade == "warning" && due.remedy?.contains("lecturectl licence renew --within 7d") == true)
            try await me.sandbox.set(policy: .ending(in: 90 * 86_400), for: [key])
            #expect(try await me("licence", "renew", "--within", "7d").status == 0)
            let renewed = try Self.finding("licences", try await Self.doctor(me))
            #expect(renewed.grade == "ok" && renewed.message.hasPrefix("1 granted, 0 ended"))
        }
    }

    @Test func `a store of another device is found, and its own device is not blamed`() async throws {
        try await LicenceScene.play { me in
            _ = try await me.fetch("64K-1", .ending(in: 90 * 86_400))
            #expect(try Self.finding("licences", try await Self.doctor(me, "--offline")).grade == "ok")
            let key = try await me.exportKey()
            var thief = try me.copy("thief", device: false)
            thief.device = me.home.file("thief-device")
            // A key of its own, made before the store was there.
            #expect(try await thief("device", "show").status == 0)
            let copied = try Self.finding("licences", try await Self.doctor(thief, "--offline"))
            #expect(copied.grade == "failed" && copied.error == "store_copied")
            #expect(try Self.finding("device_key", try await Self.doctor(thief, "--offline")).grade == "ok")
            #expect(try await thief.run(key + ["--replace"]).status == 0)
            let moved = try Self.finding("licences", try await Self.doctor(thief, "--offline"))
            #expect(moved.error != "store_copied")
        }
    }

    @Test func `an older copy of the store is found`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 9 })
            let before = me.home.file("before.db")
            #expect(try await me("store", "backup", before).status == 0)
            #expect(try await me.plays(key, atMost: 2) == 2)
            me.restoreDatabase(before)
            let old = try Self.finding("licences", try await Self.doctor(me, "--offline"))
            #expect(old.grade == "failed" && old.error == "store_rolled_back", "\(old)")
        }
    }

    @Test func `requests for licences are logged without what is secret in them`() async throws {
        try await LicenceScene.play { me in
            let link = try await me.link("bytes-64K-1")
            let fetched = try await me.run(["precache", "--log-format", "json", "-vv", link])
            #expect(fetched.status == 0)
            #expect(fetched.errorText.contains(#""method":"POST","milliseconds":"#))
            #expect(fetched.errorText.contains(#""url":"\#(me.sandbox.http)/drm/callback""#))
            #expect(fetched.errorText.contains("A licence was granted."))
            let renewed = try await me("licence", "renew", "--all", "-vv")
            #expect(renewed.status == 0 && renewed.errorText.contains("A licence was renewed. key=bytes-64K-1"))
        }
    }
}

/// `doctor` and a clock that was set back.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"))
struct DoctorClockNetTests {
    @Test func `a clock that was set back is found without a network`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 90 * 86_400))
            #expect(try await me.plays(key, atMost: 1) == 1)
            var back = me
            back.environment.merge(FakeClock.at("-2d")) { _, new in new }
            let clock = try DoctorNetTests.finding("clock", try await DoctorNetTests.doctor(back, "--offline"))
            #expect(clock.grade == "failed" && clock.message.contains("set back"), "\(clock)")
            let right = try DoctorNetTests.finding("clock", try await DoctorNetTests.doctor(me, "--offline"))
            #expect(right.grade == "note")
        }
    }
}
