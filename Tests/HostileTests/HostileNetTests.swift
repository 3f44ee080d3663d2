import HostileSuite
import LectureProgramSupport
import Testing

/// The built program meets every case, with and without a digest.
@Suite(.timeLimit(.minutes(10))) struct HostileNetTests {
    @Test(arguments: HostileCase.all.map(\.name), [true, false])
    func `whatever a server does, the bytes are right or the refusal is clear`(
        name: String, knowsDigest: Bool
    ) async throws {
        let hostileCase = try #require(HostileCase.all.first { $0.name == name })
        let meeting = Meeting(hostileCase, .lecturectl(), knowsDigest: knowsDigest)
        let evidence = try await Turnstile.shared.pass { try await meeting.hold() }
        let breaches = meeting.breaches(evidence)
        #expect(breaches == [], "\(evidence.words)\n\(evidence.story)")
        if evidence.verdict == .refused { #expect(evidence.words.contains("-"), "a refusal names its code") }
    }
}
