import HostileSuite
import LectureProgramSupport
import Testing

/// The built program meets every case, with and without a digest.
// The time includes the wait at the turnstile.
@Suite(.timeLimit(.minutes(40))) struct HostileNetTests {
    @Test(arguments: HostileCase.all.map(\.name), [true, false])
    func `whatever a server does, the bytes are right or the refusal is clear`(
        name: String, knowsDigest: Bool
    ) async throws {
        let hostileCase = try #require(HostileCase.all.first { $0.name == name })
        let meeting = Meeting(hostileCase, .lecturectl(), knowsDigest: knowsDigest)
        let evidence = try await Turnstile.shared.pass { try await meeting.hold() }
        let breaches = meeting.breaches(evidence)
        #expect(breaches == [], "\(evidence.words)\n\(evidence.story)")
        guard evidence.verdict == .refused else { return }
        #expect(evidence.words.hasPrefix("lecturectl: "), "a refusal is a sentence")
        // At the deadline there may be no refusal yet.
        #expect(evidence.output.contains(#""code":-"#) || evidence.status == 75, "a refusal has a code")
    }
}
