import LectureModel
import Testing

@testable import LectureLicence

/// What steps lead to, as values: events for applications, and answers for those who wait.
struct EngineEventTests {
    @Test func `a renewal publishes its start, its exchange and its end, and answers who waits for it`() throws {
        let world = try LicenceWorld()
        try world.licensed(["a", "b"])
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        let report = try world.renew()
        let runs = world.notices.compactMap { if case .renewalEnded(let run, _) = $0 { run } else { nil } }
        let run = try #require(runs.first)
        #expect((report.total, report.renewed, report.failed, report.waiting) == (2, 2, 0, 0))
        #expect(
            world.notices == [
                .renewalStarted(run, isContinued: false), .event(.renewalBegan(total: 2, done: 0)),
                .event(.licenceExchange(try #require(world.exchanges.first))), .event(.renewalEnded(report)),
                .renewalEnded(run, report),
            ])
        #expect(world.progress.map(\.key.text).sorted() == ["a", "b"] && world.progress.map(\.current) == [1, 2])
    }

    @Test func `a grant is published before the download continues, and a failed one is not`() throws {
        let world = try LicenceWorld()
        let (content, key) = try world.waiting("g")
        world.server.behave { _, _ in .failure(curl: 7) }
        world.engine.grant(content, key: key)
        #expect(world.run { $0.grants.count == 1 })
        #expect(world.events == [.licenceExchange(try #require(world.exchanges.first))])
        #expect(world.grants.first?.error?.code.number == -9007)
        world.forget()
        world.server.behave { request, _ in .payload(FakeServer.permit(request.items)) }
        world.engine.grant(content, key: key)
        #expect(world.run { $0.grants.count == 1 })
        #expect(
            world.notices == [
                .event(.licenceExchange(try #require(world.exchanges.first))), .event(.licenceGranted(key)),
                .granted(GrantOutcome(content: content, key: key)),
            ])
    }
}
