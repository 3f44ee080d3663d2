import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Clocks that are set, back and forward, by much and by little.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"))
struct ClockAttackNetTests {
    /// An account with a lecture that ends in an hour and one without any bound in time; nobody answers any more.
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
        var environment = FakeClock.environment.merging(["FAKETIME": time]) { first, _ in first }
        // Then libfaketime moves the clocks that count from the start, too.
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
            // What has no bound in time plays under any clock.
            #expect(try await me.refusal(of: free, environment: Self.at(time)) == Self.permitted)
            #expect(try await me.refusal(of: ending) == Self.permitted)
        }
    }

    @Test(arguments: ["+2h", "+1y", "@2038-01-19 03:14:08", "@2100-01-01 00:00:00"])
    func `a clock that was set forward ends what ends, and its way back is seen`(time: String) async throws {
        try await Self.play { me, ending, free async throws in
            // The server that granted has signed no time, so that nobody knows better than the clock.
            #expect(try await me.refusal(of: ending, environment: Self.at(time)) == Self.over)
            #expect(try await me.refusal(of: free, environment: Self.at(time)) == Self.permitted)
            // Back again the end was seen, and stays so until the server says otherwise.
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

    @Test func `zones and daylight saving are no matter of the clock`() async throws {
        try await Self.play { me, ending, _ async throws in
            for zone in ["Pacific/Kiritimati", "Pacific/Niue", "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"] {
                let refusal = try await me.refusal(of: ending, environment: ["TZ": zone])
                #expect(refusal == Self.permitted, "\(zone)")
            }
        }
    }

    @Test(arguments: ["-1h", "-10y", "+2h"])
    func `moving the clock that counts from the start gains nothing`(time: String) async throws {
        try await Self.play { me, ending, _ async throws in
            let moved = try await me.refusal(of: ending, environment: Self.at(time, movesBoot: true))
            #expect(moved.status == 77)
        }
    }

    @Test func `the time of a server puts right what a clock has spoilt`() async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let callback = "licensed=\(me.sandbox.https)/drm/callback"
            let key = try await me.fetch("64K-1", .ending(in: 3600), query: callback)
            try await me.goOffline()
            // A server's time was heard in this run of the machine: the wall clock does not matter any more.
            for time in ["-1d", "+1y", "-10y"] {
                let refusal = try await me.refusal(of: key, environment: Self.at(time))
                #expect(refusal == Self.permitted, "\(time)")
            }
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }

    @Test func `a server's time ends the doubt, and its reset the end that a wrong clock has shown`() async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let key = try await me.fetch("64K-1", .ending(in: 3600))
            // Its callback is asked over http, so nobody knows better than the clock.
            #expect(try await me.refusal(of: key, environment: Self.at("+2h")) == Self.over)
            #expect(try await me.refusal(of: key) == Self.doubted)
            let callback = "licensed=\(me.sandbox.https)/drm/callback"
            _ = try await me.fetch("64K-2", .ending(in: 3600), query: callback)
            // What time it is, is known again. What was once seen past its end stays ended until its server says so.
            #expect(try await me.refusal(of: key) == Self.over)
            let reset = LicenceLifeNetTests.policy { ($0.expirationIn, $0.contentExpireReset) = (3600, 1) }
            try await me.sandbox.set(policy: reset, for: [key])
            #expect(try await me("licence", "renew", "--expired").status == 0)
            try await me.goOffline()
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }
}
