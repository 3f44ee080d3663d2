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
        let step = world.commit()
        let request = try #require(start(step.effects))
        #expect(step.effects == [.exchange(.send(request))])
        #expect(request.url == LicenceWorld.url && request.body != nil)
        #expect(world.server.requests.isEmpty, "nothing is performed")
        for effect in step.effects { world.engine.perform(effect) }
        #expect(world.server.requests.count == 1)
        world.clock.advance(to: try #require(world.server.network.nextDue))
        world.server.network.deliver()
        let answered = world.commit()
        guard case .keepAnchor(let anchor) = answered.effects.last else {
            Issue.record("\(answered.effects) keeps no anchor")
            return
        }
        #expect(answered.effects.count == 1)
        #expect(try world.anchors.anchor(of: world.settings.store) != anchor, "nothing is performed")
        world.engine.perform(.keepAnchor(anchor))
        #expect(try world.anchors.anchor(of: world.settings.store) == anchor)
        #expect("\(answered.effects)" == "[keep anchor \(anchor.revision)]")
    }

    /// A world in which a grant has just been asked for.
    private func asking() throws -> (world: LicenceWorld, request: ExchangeRequest) {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.settle()
        world.engine.grant(content, key: key)
        let started = world.commit()
        let request = try #require(start(started.effects))
        for effect in started.effects { world.engine.perform(effect) }
        return (world, request)
    }

    @Test func `a stop cancels what runs`() throws {
        let (world, request) = try asking()
        world.engine.stop()
        #expect(world.commit().effects.first == .exchange(.cancel([request.id])))
    }

    /// A world in which the answer to a grant has just arrived and cannot be stored.
    private func answered() throws -> (world: LicenceWorld, request: ExchangeRequest, store: Connection) {
        let (world, request) = try asking()
        let store = try Connection(path: "\(world.location.directory)/lecturekit.db", access: .readWrite)
        try store.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON licence_attempt BEGIN SELECT RAISE(ABORT, 'no'); END")
        world.clock.advance(to: try #require(world.server.network.nextDue))
        world.server.network.deliver()
        return (world, request, store)
    }

    private func isFailure(_ step: CommittedStep<LicenceEffect, LicenceNotice>) -> Bool {
        step.notices.contains { if case .failure = $0 { true } else { false } }
    }

    @Test func `an answer that cannot be stored waits until it can be`() throws {
        let (world, _, store) = try answered()
        let failed = world.commit()
        #expect(isFailure(failed) && failed.notices.count == 1)
        #expect(failed.effects == [], "no anchor of a row that is not there, and the exchange is over")
        #expect(world.commit().effects == [], "the next step waits")
        #expect(world.engine.isBusy)
        try store.execute("DROP TRIGGER broken")
        world.clock.advance(to: try #require(failed.next))
        let stored = world.commit()
        guard case .keepAnchor = stored.effects.last else {
            Issue.record("\(stored.effects) keeps no anchor")
            return
        }
        let outcomes = stored.notices.compactMap { if case .granted(let outcome) = $0 { outcome } else { nil } }
        #expect(outcomes.count == 1 && outcomes.first?.error == nil)
        #expect(stored.notices.contains(.event(.licenceGranted(try ContentKey("g")))))
        #expect(try world.record("g").form == .callback)
        #expect(world.server.requests.count == 1, "it is not asked for twice")
    }

    @Test func `after three failed steps those who wait are informed, and what runs is cancelled`() throws {
        let (world, _, store) = try answered()
        world.engine.grant(try #require(world.contents.ids[ContentKey("g")]), key: try ContentKey("g"))
        let other = try world.content("other")
        world.engine.check(other, within: .seconds(30))
        var step = world.commit()
        for _ in 0..<2 {
            #expect(isFailure(step) && step.notices.count == 1)
            world.clock.advance(to: try #require(step.next))
            step = world.commit()
        }
        #expect(isFailure(step))
        let unreachable = step.notices.contains {
            if case .checked(other, .unreachable) = $0 { true } else { false }
        }
        let grants = step.notices.compactMap { if case .granted(let outcome) = $0 { outcome } else { nil } }
        #expect(unreachable && grants.count == 1)
        #expect(grants.first?.error?.code == .storeFailed && grants.first?.isFinal == false)
        try store.execute("DROP TRIGGER broken")
        world.clock.advance(to: try #require(step.next))
        #expect(!isFailure(world.commit()))
        #expect(!world.engine.isBusy, "all of it was answered")
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
