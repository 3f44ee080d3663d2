import Foundation
import LectureEngine
import LectureModel
import LectureSQLite
import LectureStore
import LectureTestSupport
import Testing

@testable import LectureLicence

/// What a step of the licence engine leads to, as values in their order, and the words of its decisions.
struct EngineEffectTests {
    private func start(_ effects: [LicenceEffect]) -> ExchangeRequest? {
        for case .exchange(.send(let request)) in effects { return request }
        return nil
    }

    @Test func `a grant is requested after the commit, and its answer is anchored`() throws {
        let world = try LicenceWorld()
        world.settle()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let step = world.engine.commit()
        let request = try #require(start(step.effects))
        #expect(step.effects == [.exchange(.send(request))])
        #expect(request.url == LicenceWorld.url && request.body != nil)
        #expect(world.server.requests.isEmpty, "nothing is performed")
        for effect in step.effects { effect.perform(for: world.engine) }
        #expect(world.server.requests.count == 1)
        world.clock.advance(to: try #require(world.server.nextDue))
        world.server.deliver()
        let answered = world.engine.commit()
        guard case .keepAnchor(let anchor) = answered.effects.last else {
            Issue.record("\(answered.effects) keeps no anchor")
            return
        }
        #expect(answered.effects.count == 1)
        #expect(try world.anchors.anchor(of: world.settings.store) != anchor, "nothing is performed")
        LicenceEffect.keepAnchor(anchor).perform(for: world.engine)
        #expect(try world.anchors.anchor(of: world.settings.store) == anchor)
        #expect("\(answered.effects)" == "[keep anchor \(anchor.revision)]")
    }

    /// A world in which a grant has just been asked for.
    private func asking() throws -> (world: LicenceWorld, request: ExchangeRequest) {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let started = world.engine.commit()
        let request = try #require(start(started.effects))
        for effect in started.effects { effect.perform(for: world.engine) }
        return (world, request)
    }

    @Test func `a stop cancels what runs`() throws {
        let (world, request) = try asking()
        world.engine.stop()
        #expect(world.engine.commit().effects.first == .exchange(.cancel([request.id])))
    }

    @Test func `a failed commit performs none of its effects`() throws {
        let (world, request) = try asking()
        let store = try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite)
        try store.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON licence_attempt BEGIN SELECT RAISE(ABORT, 'no'); END")
        world.clock.advance(to: try #require(world.server.nextDue))
        world.server.deliver()
        let failed = world.engine.commit()
        #expect(failed.notices.contains { if case .failure = $0 { true } else { false } })
        #expect(failed.effects == [.exchange(.cancel([request.id]))], "no anchor of a row that is not there")
        #expect(world.engine.commit().effects == [], "the next step waits")
    }

    // MARK: Words

    private static let words = ["permitted", "reset", "refused", "ended", "deleted", "missing", "failed"]

    @Test func `every decision has its own word, which is documented`() throws {
        #expect(CallbackDecision.allCases.map(\.rawValue) == Self.words)
        let text = try String(contentsOfFile: "\(Places.repository())/docs/schema.md", encoding: .utf8)
        let section = try #require(text.components(separatedBy: "### `licence_attempt`").dropFirst().first)
        let sentence = try #require(section.components(separatedBy: "The words of `outcome`:").dropFirst().first)
        let list = try #require(sentence.components(separatedBy: ".").first)
        let documented = list.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(documented == Self.words)
    }

    @Test func `an answer is deleted before ended before refused before reset`() {
        var outcome = CallbackRules.Outcome()
        #expect(CallbackDecision(outcome, replacing: nil) == .permitted)
        outcome.wasReset = true
        #expect(CallbackDecision(outcome, replacing: nil) == .reset)
        outcome.refusal = LectureError(.licenceMissing)
        #expect(CallbackDecision(outcome, replacing: nil) == .refused)
        var ended = LicenceRecord(form: .callback, policy: LicencePolicy(), isVerified: true)
        ended.isForceExpired = true
        outcome.licence = ended
        #expect(CallbackDecision(outcome, replacing: nil) == .ended)
        #expect(CallbackDecision(outcome, replacing: ended) == .refused, "it had ended before")
        outcome.deletes = true
        #expect(CallbackDecision(outcome, replacing: nil) == .deleted)
    }
}
