import LectureLicence
import LectureModel
import LectureStore
import LectureTestSupport
import Testing

/// What an answer writes into a licence besides its bounds, and what it leaves unchanged.
struct EngineAnswerTests {
    private func permitting(_ members: String) -> @Sendable (ServerRequest, inout SeededGenerator) -> ServerAction {
        { request, _ in .payload(FakeServer.permit(request.items, members)) }
    }

    @Test func `a completion does not replace the token that granted`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("d") { entry in
            entry.record?.policy.expiresAt = nil
            (entry.token, entry.tokenID) = ("the.granting.token", "first")
        }
        try world.change { try $0.completed(key, now: world.clock.now(), in: $1) }
        world.server.behave(permitting(#""x":1"#))
        #expect(world.run { world in (try? world.ledger.pendingCallbacks(limit: 9).isEmpty) == true })
        #expect(world.server.requests.map(\.kind) == [2])
        let entry = try world.entry("d")
        #expect(entry.token == "the.granting.token" && entry.tokenID == "first" && entry.checked != nil)
    }

    @Test func `a check does not replace the answer that a strict server owes`() throws {
        let world = try LicenceWorld { $0.isStrict = true }
        try world.licensed(["d"]) { entry, _ in entry.owesCompletion = true }
        #expect(try world.renew().renewed == 1)
        #expect(try world.entry("d").owesCompletion)
        #expect(try world.engine.judge(ContentKey(stored: "d"), forPlay: true).reasons == [.checkDue])
    }

    @Test func `a licence permitted unchanged is stored with its new proof`() throws {
        let world = try LicenceWorld()
        try world.licensed(["d"]) { entry, _ in entry.token = "old" }
        let before = try world.entry("d")
        world.server.behave(permitting(#""x":1"#))
        #expect(try world.renew().renewed == 1)
        let after = try world.entry("d")
        #expect(after.record == before.record)
        #expect(after.token != "old" && after.checked != nil)
        #expect(try world.ledger.inspect(against: world.anchors.anchor(of: world.settings.store)).isIntact)
    }

    @Test func `a permission clears the traces of failed attempts`() throws {
        let world = try LicenceWorld()
        try world.licensed(["d"]) { entry, _ in
            (entry.attempts, entry.error) = (3, LectureError(.answerMissing))
        }
        #expect(try world.renew().renewed == 1)
        let entry = try world.entry("d")
        #expect(entry.attempts == 0 && entry.error == nil && entry.nextAttempt == nil && entry.waitSet == nil)
    }
}
