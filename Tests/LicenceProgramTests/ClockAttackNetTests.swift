import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Clocks that are set, back and forward, by much and by little.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"))
struct ClockAttackNetTests {
    /// An account with a lecture that ends in an hour and one without any limit in time; the server no longer answers.
    private static func play(_ story: (LicenceScene, _ ending: String, _ free: String) async throws -> Void)
        async throws
    {
        try await LicenceScene.play { me in
            let ending = try await me.fetch("64K-1", .ending(in: 3600))
            let free = try await me.fetch("64K-2", LicenceLifeNetTests.policy { $0.expirationCount = 100 })
            try await me.goOffline()
            try await story(me, ending, free)
        }
    }

    private static func at(_ time: String, movesBoot: Bool = false) -> [String: String] {
        var environment = FakeClock.at(time)
        // Makes libfaketime shift the monotonic clocks, too.
        if movesBoot {
            for name in ["DONT_FAKE_MONOTONIC", "FAKETIME_DONT_FAKE_MONOTONIC"] { environment[name] = "0" }
        }
        return environment
    }

    private static let permitted = LicenceScene.Refusal(status: 0)
    private static let doubted = LicenceScene.Refusal(status: 77, code: -8664)
    private static let over = LicenceScene.Refusal(status: 77, code: -8643)

    @Test(arguments: ["-1h", "-1d", "-10y", "@1970-01-01 00:00:01", "@2000-01-01 00:00:00"])
    func `a clock that was set back is doubted until it is right`(time: String) async throws {
        try await Self.play { me, ending, free async throws in
            #expect(try await me.refusal(of: ending, environment: Self.at(time)) == Self.doubted)
            let shown = try await me.run(["licence", "show", "--json", ending], environment: Self.at(time))
            #expect(shown.text.contains(#""reasons":["clock_untrusted"]"#), "\(shown.text)")
            // A licence without a limit in time plays under any clock.
            #expect(try await me.refusal(of: free, environment: Self.at(time)) == Self.permitted)
            #expect(try await me.refusal(of: ending) == Self.permitted)
        }
    }

    @Test(arguments: ["+2h", "+1y", "@2038-01-19 03:14:08", "@2100-01-01 00:00:00"])
    func `a clock set forward expires licences, and setting it back is detected`(time: String) async throws {
        try await Self.play { me, ending, free async throws in
            // The granting server signed no time, so that there is no better source than the clock.
            #expect(try await me.refusal(of: ending, environment: Self.at(time)) == Self.over)
            #expect(try await me.refusal(of: free, environment: Self.at(time)) == Self.permitted)
            // After the clock was set back the end has been seen, and stays until the server resets it.
            #expect(try await me.refusal(of: ending).status == 77)
            #expect(try await me.licence(ending).reasons.contains("expired"))
            #expect(try await me.refusal(of: free) == Self.permitted)
        }
    }

    @Test(arguments: ["+2s", "-2s", "+90s", "-90s"])
    func `steps of a time server raise no alarm`(time: String) async throws {
        try await Self.play { me, ending, _ async throws in
            for environment in [Self.at(time), [:], Self.at(time)] {
                let refusal = try await me.refusal(of: ending, environment: environment)
                #expect(refusal == Self.permitted)
            }
        }
    }

    @Test func `time zones and daylight saving do not affect the clock`() async throws {
        try await Self.play { me, ending, _ async throws in
            for zone in ["Pacific/Kiritimati", "Pacific/Niue", "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"] {
                let refusal = try await me.refusal(of: ending, environment: ["TZ": zone])
                #expect(refusal == Self.permitted, "\(zone)")
            }
        }
    }

    @Test(arguments: ["-1h", "-10y", "+2h"])
    func `moving the boot clock gains nothing`(time: String) async throws {
        try await Self.play { me, ending, _ async throws in
            let moved = try await me.refusal(of: ending, environment: Self.at(time, movesBoot: true))
            #expect(moved.status == 77)
        }
    }

    /// Waits until a licence of some seconds has ended, and a second more: answers name whole seconds.
    private static func waitForEnd(of seconds: Int, since start: Date) async {
        while Date.now.timeIntervalSince(start) < Double(seconds + 2) { await Task.yield() }
    }

    /// Boot clocks that run backwards, and one that shows less time than has passed.
    @Test(arguments: [-100, -5, -3])
    func `a time namespace gains nothing`(offset: Int) async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 2))
            let start = Date.now
            try await me.goOffline()
            // The end is not seen before the attack.
            await Self.waitForEnd(of: 2, since: start)
            let ending = try await me.withMounts(
                #"exec unshare --time --boottime \#(offset) "$0" "$@""#, "cat", "--json", key, isMedia: true)
            #expect(ending.status == 77, "status \(ending.status): \(ending.errorText)")
            #expect(!ending.text.contains("\0"))
            #expect(try await me.refusal(of: key) == Self.over)
        }
    }

    @Test func `another boot id at every look gains nothing`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 4))
            let start = Date.now
            try await me.goOffline()
            let script = LicenceScene.anotherBoot + #"exec "$0" "$@""#
            var looks = 0
            while Date.now.timeIntervalSince(start) < 3 {
                if try await me.withMounts(script, "cat", key, isMedia: true).status == 0 { looks += 1 }
            }
            #expect(looks > 0)
            await Self.waitForEnd(of: 4, since: start)
            #expect(try await me.withMounts(script, "cat", key, isMedia: true).status == 77)
            #expect(try await me.refusal(of: key) == Self.over)
        }
    }

    @Test func `a new store does not start before the times of the others`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 3600))
            // A new store on a clock that was set back, and a server over http that teaches no time.
            try FileManager.default.removeItem(atPath: me.store)
            var back = me
            back.environment = Self.at("-2h")
            try await back.fetch("64K-1")
            try await me.goOffline()
            #expect(try await back.refusal(of: key) == Self.doubted)
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }

    @Test func `a server's time repairs the effects of a wrong clock`() async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let callback = "licensed=\(me.sandbox.https)/drm/callback"
            let key = try await me.fetch("64K-1", .ending(in: 3600), query: callback)
            try await me.goOffline()
            // A server's time was observed during this boot: the wall clock no longer matters.
            for time in ["-1d", "+1y", "-10y"] {
                let refusal = try await me.refusal(of: key, environment: Self.at(time))
                #expect(refusal == Self.permitted, "\(time)")
            }
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }

    @Test func `a server's time ends the doubt and the end that a wrong clock had passed`() async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let key = try await me.fetch("64K-1", .ending(in: 3600))
            // Its callback uses http and names no time, so there is no better source than the clock.
            #expect(try await me.refusal(of: key, environment: Self.at("+2h")) == Self.over)
            #expect(try await me.refusal(of: key) == Self.over)
            let callback = "licensed=\(me.sandbox.https)/drm/callback"
            _ = try await me.fetch("64K-2", .ending(in: 3600), query: callback)
            // The time is known again, and by it the licence has not ended.
            try await me.goOffline()
            #expect(try await me.refusal(of: key) == Self.permitted)
            #expect(
                try await me.refusal(of: key, environment: Self.at("+2h")) == Self.permitted, "only the boot counts")
        }
    }

    @Test func `a renewal over http ends the doubt by its signed answer`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 3600))
            try await me.goOffline()
            #expect(try await me.refusal(of: key, environment: Self.at("+2h")) == Self.over)
            #expect(try await me.refusal(of: key) == Self.doubted)
            // Answers with `iat`, which is optional, and the session key of the request.
            try await me.sandbox.set(habits: "claims")
            let renewal = try await me("licence", "renew", "--all")
            #expect(renewal.status == 0, "\(renewal.errorText)")
            try await me.goOffline()
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }
}
