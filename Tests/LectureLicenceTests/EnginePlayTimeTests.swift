import LectureLicence
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

/// Play time in the ledger: charged ahead, anchored, given back.
struct EnginePlayTimeTests {
    private func world(limit: Int64? = 60, _ name: String = "a") throws -> (LicenceWorld, ContentKey) {
        let world = try LicenceWorld()
        let key = try world.licensed(name) { entry in
            entry.record?.policy.expiresAt = nil
            entry.record?.policy.playTimeLimit = limit.map { .seconds($0) }
        }
        return (world, key)
    }

    private func anchored(_ world: LicenceWorld) throws -> LedgerAnchor? {
        try world.anchors.anchor(of: world.settings.store)
    }

    @Test func `play time is charged until nothing is left`() throws {
        let (world, key) = try world()
        _ = try world.engine.takePlay(key)
        let first = try #require(try world.engine.chargePlayTime(key, .seconds(50)))
        #expect(first.granted == .seconds(50) && first.left == .seconds(10))
        let second = try #require(try world.engine.chargePlayTime(key, .seconds(50)))
        #expect(second.granted == .seconds(10) && second.left == .zero)
        #expect(throws: LectureError(.playTimeUsedUp)) { try world.engine.chargePlayTime(key, .seconds(1)) }
        #expect(try world.record("a").playTimeUsed == .seconds(60))
        #expect(throws: LectureError(.playTimeUsedUp)) { try world.engine.takePlay(key) }
    }

    @Test func `a licence without a limit is not charged, and nothing is written`() throws {
        let (world, key) = try world(limit: nil)
        let before = try world.ledger.newestTime()
        #expect(try world.engine.chargePlayTime(key, .seconds(50)) == nil)
        #expect(try world.ledger.newestTime() == before && world.record("a").playTimeUsed == .zero)
    }

    @Test func `a charge is anchored before it counts, and given back where it cannot be`() throws {
        let (world, key) = try world()
        _ = try world.engine.chargePlayTime(key, .seconds(10))
        let anchor = try #require(try anchored(world))
        // A copy of the store from before the charge, with the anchor of after it.
        try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite).run(
            script: "UPDATE licence SET play_time_used_ms = 0;")
        #expect(try !world.ledger.inspect(against: anchor).isIntact)

        let (other, lecture) = try self.world()
        other.anchors.refuse(true)
        #expect(throws: LectureError(.anchorUnwritable)) { try other.engine.chargePlayTime(lecture, .seconds(10)) }
        #expect(try other.record("a").playTimeUsed == .zero)
        other.anchors.refuse(false)
        other.anchors.obstruct(LectureError(.createFile))
        #expect(throws: LectureError(.anchorUnwritable)) { try other.engine.chargePlayTime(lecture, .seconds(10)) }
        #expect(try other.record("a").playTimeUsed == .zero)
        other.anchors.obstruct(nil)
        #expect(try other.engine.chargePlayTime(lecture, .seconds(10))?.left == .seconds(50))
        #expect(try other.ledger.inspect(against: self.anchored(other)).isIntact)
    }

    @Test func `what was not used is given back, but not to a later grant`() throws {
        let (world, key) = try world()
        let charge = try #require(try world.engine.chargePlayTime(key, .seconds(10)))
        try world.engine.refundPlayTime(key, .seconds(4), of: charge.grant)
        #expect(try world.record("a").playTimeUsed == .seconds(6))
        try world.engine.refundPlayTime(key, .seconds(400), of: charge.grant)
        #expect(try world.record("a").playTimeUsed == .zero, "never less than nothing")
        let held = try #require(try world.engine.chargePlayTime(key, .seconds(30)))
        // The server starts the count anew, and another reader uses it.
        world.server.behave { request, _ in
            .payload(FakeServer.permit(request.items, #""content_expire_reset":1"#))
        }
        #expect(try world.renew().renewed == 1)
        #expect(try world.record("a").playTimeUsed == .zero)
        _ = try world.engine.chargePlayTime(key, .seconds(20))
        try world.engine.refundPlayTime(key, .seconds(30), of: held.grant)
        #expect(try world.record("a").playTimeUsed == .seconds(20))
    }

    @Test func `a row that was edited during a play stops it, and is not made good by giving back`() throws {
        let (world, key) = try world()
        let charge = try #require(try world.engine.chargePlayTime(key, .seconds(50)))
        try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite).run(
            script: "UPDATE licence SET play_time_used_ms = 0;")
        #expect(throws: LectureError(.ledgerForged)) { try world.engine.chargePlayTime(key, .seconds(10)) }
        try world.engine.refundPlayTime(key, .seconds(50), of: charge.grant)
        #expect(try world.entry("a").suspicion == .forged)
        #expect(throws: LectureError(.ledgerForged)) { try world.engine.takePlay(key) }
    }

    @Test func `a started play goes on past the end and the count of its licence`() throws {
        let world = try LicenceWorld()
        let key = try world.licensed("a") { entry in
            entry.record?.policy.expiresAt = world.clock.now() + .seconds(10)
            entry.record?.policy.countLimit = 1
            entry.record?.policy.playTimeLimit = .seconds(60)
        }
        _ = try world.engine.takePlay(key)
        world.clock.advance(to: BootInstant(nanoseconds: 60_000_000_000))
        #expect(try world.engine.chargePlayTime(key, .seconds(10))?.left == .seconds(50))
        #expect(throws: LectureError.self) { try world.engine.takePlay(key) }
    }

    @Test func `two processes share the time, and a killed one keeps what it had charged`() throws {
        let (world, key) = try world()
        let other = try world.another()
        var sum = Duration.zero
        for round in 0..<10 {
            let engine = round % 2 == 0 ? world.engine : other.engine
            sum += (try? engine.chargePlayTime(key, .seconds(7)))??.granted ?? .zero
        }
        #expect(sum == .seconds(60))
        try world.restart()
        #expect(try world.record("a").playTimeUsed == .seconds(60))
        #expect(try world.ledger.inspect(against: anchored(world)).isIntact)
    }
}
