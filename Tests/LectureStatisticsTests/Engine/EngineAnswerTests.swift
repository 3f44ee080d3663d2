import LectureEngine
import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// The effect of an answer on a single report and on its target, row by row of ``AnswerJudge``.
struct AnswerRow: Sendable, CustomTestStringConvertible {
    let name: String
    let action: LMSAction
    var state = ReportState.pending
    var code: LectureError.Code?
    var dead: DeadReason?
    var suspension: SuspendReason?
    /// Whether the whole target waits, with all its reports.
    var isOfTarget = false
    var reason: KeepReason?

    var testDescription: String { name }

    static let page = "<!DOCTYPE html><title>Sign in</title>"

    static let all: [AnswerRow] = [
        .init(name: "200 ok", action: .good, state: .delivered),
        .init(name: "200 empty", action: .answer(200), state: .delivered),
        .init(name: "204", action: .answer(204), state: .delivered),
        .init(name: "205", action: .answer(205), state: .delivered),
        .init(
            name: "200 page", action: .answer(200, page), code: .reportAnswerUnexpected, isOfTarget: true,
            reason: .portal),
        .init(
            name: "200 other", action: .answer(200, #"{"ok":false}"#, takesEffect: false),
            code: .reportAnswerUnexpected, reason: .otherAnswer),
        .init(
            name: "half of 200", action: .half(200, #"{"ok":true"#, takesEffect: true), code: .transfer(18),
            isOfTarget: true, reason: .noAnswer),
        .init(
            name: "301 elsewhere", action: .answer(301, headers: [("Location", "https://evil.example/in")]),
            code: .reportAnswerUnexpected, isOfTarget: true, reason: .redirected),
        .init(
            name: "302 to plain http", action: .answer(302, headers: [("Location", "http://lms.example/in")]),
            code: .reportAnswerUnexpected, isOfTarget: true, reason: .redirected),
        .init(
            name: "307 to itself for ever", action: .answer(307, headers: [("Location", SendWorld.url)]),
            code: .reportAnswerUnexpected, isOfTarget: true, reason: .redirected),
        .init(
            name: "304", action: .answer(304), code: .reportAnswerUnexpected, isOfTarget: true, reason: .redirected),
        .init(name: "400", action: .answer(400, "bad"), state: .dead, dead: .refused),
        .init(name: "401", action: .answer(401), code: .reportTargetRefuses, suspension: .unauthorized),
        .init(name: "403", action: .answer(403), code: .reportTargetRefuses, suspension: .forbidden),
        .init(name: "404", action: .answer(404), state: .dead, dead: .refused),
        .init(name: "407", action: .answer(407), code: .reportTargetRefuses, suspension: .proxy),
        .init(name: "408", action: .answer(408), code: .reportTargetWaits, reason: .again),
        .init(name: "409 known", action: .answer(409), state: .delivered),
        .init(
            name: "409 of another id", action: .answer(409, #"{"batch_id":"other"}"#), state: .dead, dead: .conflict),
        .init(
            name: "409 of this id", action: .answer(409, #"{"batch_id":"a"}"#), state: .delivered),
        .init(
            name: "409 later", action: .answer(409, headers: [("Retry-After", "1")]), code: .reportTargetWaits,
            reason: .again),
        .init(name: "413", action: .answer(413), state: .dead, dead: .tooLarge),
        .init(name: "414", action: .answer(414), state: .dead, dead: .tooLarge),
        .init(name: "415", action: .answer(415), state: .dead, dead: .refused),
        .init(name: "422", action: .answer(422), state: .dead, dead: .refused),
        .init(name: "425", action: .answer(425), code: .reportTargetWaits, reason: .again),
        .init(name: "429", action: .answer(429), code: .reportTargetWaits, isOfTarget: true, reason: .busy),
        .init(name: "431", action: .answer(431), state: .dead, dead: .tooLarge),
        .init(name: "500", action: .answer(500), code: .reportTargetWaits, reason: .serverFailed),
        .init(name: "501", action: .answer(501), state: .dead, dead: .unsupported),
        .init(name: "502", action: .answer(502), code: .reportTargetWaits, reason: .serverFailed),
        .init(name: "503", action: .answer(503), code: .reportTargetWaits, isOfTarget: true, reason: .busy),
        .init(name: "504", action: .answer(504), code: .reportTargetWaits, reason: .serverFailed),
        .init(name: "505", action: .answer(505), state: .dead, dead: .unsupported),
        .init(name: "511", action: .answer(511), state: .dead, dead: .unsupported),
        .init(name: "no name", action: .failure(6), code: .transfer(6), isOfTarget: true, reason: .unreachable),
        .init(name: "no connection", action: .failure(7), code: .transfer(7), isOfTarget: true, reason: .unreachable),
        .init(name: "no TLS", action: .failure(35), code: .transfer(35), isOfTarget: true, reason: .unreachable),
        .init(name: "silence", action: .failure(28), code: .transfer(28), isOfTarget: true, reason: .noAnswer),
        .init(name: "broken", action: .failure(56), code: .transfer(56), isOfTarget: true, reason: .noAnswer),
    ]
}

struct EngineAnswerTests {
    @Test(arguments: AnswerRow.all)
    func `every answer has its outcome, and no id is sent with other bytes`(row: AnswerRow) throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.behave { _, _ in row.action }
        let summary = try world.send()
        #expect(try world.state("a") == row.state)
        #expect(summary.delivered == (row.state == .delivered ? 1 : 0))
        #expect(summary.refused == (row.state == .dead ? 1 : 0))
        #expect(summary.left == (row.state == .pending ? 1 : 0))
        #expect(summary.requests == world.lms.requests.count)
        #expect(summary.obstacles.first?.error.code == row.code)
        #expect((summary.obstacles.first?.again == nil) == (row.suspension != nil || row.code == nil))
        #expect(world.process.refused["a"] == row.dead)
        let condition = try world.entry().condition
        #expect(condition.suspension == row.suspension)
        #expect((condition.failures > 0) == row.isOfTarget)
        #expect((condition.wait != nil) == row.isOfTarget)
        if let reason = row.reason { #expect(condition.lastFailure?.reason == reason) }
        // An assigned id stays: after any answer, the same bytes were sent under the report's own id.
        #expect(Set(world.lms.requests.map(\.id)) == ["a"])
        #expect(try world.lms.breaches.isEmpty && world.isConserved())
        #expect(try world.inFlightBatches() == (row.state == .pending ? 1 : 0))
        if row.state == .pending {
            // Nothing is lost: once the target accepts, the same request is delivered.
            world.lms.behave { _, _ in .good }
            world.wait(.seconds(900))
            #expect(try world.send().delivered == 1)
            #expect(world.lms.effects == ["a"] && world.lms.breaches.isEmpty)
            #expect(try world.entry().condition.failures == 0)
            #expect(try world.inFlightBatches() == 0)
        }
    }

    @Test func `501 is accepted as final at the fifth time`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.answer(501)
        try world.send()
        #expect(world.lms.requests.count == 5)
    }

    @Test func `nothing to send ends at once`() throws {
        let world = try SendWorld()
        #expect(try world.send() == ReportSendResult())
        try world.add("a")
        try world.send()
        #expect(try world.send().requests == 0)
        #expect(world.process.runner.machine.isIdle)
    }

    @Test func `one poison report among 500 costs at most 2 log2 n + 1 requests and takes no other with it`() throws {
        for poison in [0, 1, 249, 250, 498, 499] {
            let world = try SendWorld { $0.limits.count = 500 }
            try world.add(500)
            let bad = "r\(poison)"
            world.lms.behave { request, _ in request.events.contains(bad) ? .answer(422, "no") : .good }
            let summary = try world.send()
            #expect(summary.delivered == 499 && summary.refused == 1 && summary.left == 0)
            #expect(world.lms.requests.count <= 19)
            #expect(world.process.refused == [bad: .refused])
            #expect(try world.state(bad) == .dead && world.isConserved())
            #expect(world.lms.effects.count == 499 && world.disorder().isEmpty && world.lms.breaches.isEmpty)
        }
    }

    @Test func `a body that is too large is halved, and no larger one is built again`() throws {
        let world = try SendWorld()
        try world.add(400, padding: 100)
        try world.add("big", values: .object([JSONMember("text", .string(String(repeating: "x", count: 9000)))]))
        world.lms.behave { request, _ in request.wire.count > 6000 ? .answer(413) : .good }
        let summary = try world.send()
        #expect(summary.delivered == 400 && summary.refused == 1)
        #expect(world.process.refused == ["big": .tooLarge])
        let limit = try #require(try world.entry().condition.bytesLimit)
        #expect(limit <= 12_000 && limit > 1000)
        #expect(world.disorder().isEmpty && world.lms.breaches.isEmpty)
        // The wait is persisted.
        world.lms.forget()
        try world.restart()
        try world.add(100, prefix: "s", padding: 100)
        #expect(try world.send().delivered == 100)
        #expect(world.lms.requests.allSatisfy { $0.wire.count <= limit })
    }

    @Test func `Retry-After outlives the program, and other waits do not block a manual run`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.answer(503, headers: [("Retry-After", "600")])
        let first = try world.send()
        #expect(first.requests == 1 && first.left == 1)
        let again = try #require(first.obstacles.first?.again)
        #expect(again - world.clock.now() > .seconds(590))
        world.lms.behave { _, _ in .good }
        try world.restart()
        let early = try world.send()
        #expect(early.requests == 0 && early.left == 1 && early.obstacles.first?.error.code == .reportTargetWaits)
        #expect(early.obstacles.first?.again == again)
        // A longer patience waits for it.
        let patient = try world.send { $0.longestWait = .seconds(700) }
        #expect(patient.delivered == 1 && world.clock.now() >= again)

        try world.add("b")
        world.lms.behave { _, _ in .failure(7) }
        let failed = try world.send { $0.longestWait = .zero }
        #expect(failed.left == 1 && failed.obstacles.first?.error.code == .transfer(7))
        world.lms.behave { _, _ in .good }
        #expect(try world.send { $0.longestWait = .zero }.delivered == 1)
    }

    @Test func `a server that asked others to wait gets no reports either`() throws {
        let world = try SendWorld()
        try world.add("a")
        let others = Runner(OtherTraffic(), environment: (), inbox: Inbox(wake: {}), rank: 9)
        world.process.loop.add(others)
        var (share, budgets) = (OriginShare(), OriginBudgets())
        share.waitUntil = world.clock.boot() + .seconds(600)
        budgets.add(share, at: try Origin(url: SendWorld.url))
        others.inbox.post(budgets)
        world.run(for: .seconds(1)) { _ in false }
        let early = try world.send()
        let again = try #require(early.obstacles.first?.again)
        #expect(early.requests == 0 && early.obstacles.first?.error.code == .reportTargetWaits)
        #expect(again - world.clock.now() > .seconds(590))
        #expect(try world.entry().condition.wait == nil, "it is not the target's own")
        let patient = try world.send { $0.longestWait = .seconds(700) }
        #expect(patient.delivered == 1 && world.clock.now() >= again)
    }

    @Test func `setting the wall clock back does not lengthen a wait`() throws {
        let world = try SendWorld()
        try world.add("a")
        world.lms.answer(429, headers: [("Retry-After", "60")])
        try world.send()
        world.clock.setWall(Timestamp(milliseconds: 1_000_000_000_000))
        try world.restart()
        world.lms.behave { _, _ in .good }
        let started = world.clock.boot()
        #expect(try world.send { $0.longestWait = .seconds(61) }.delivered == 1)
        #expect(world.clock.boot() - started <= .seconds(61))
    }

    @Test func `a refusing target gets nothing more until a new request`() throws {
        let world = try SendWorld { $0.limits.count = 1 }
        try world.add(50)
        world.lms.answer(401)
        let summary = try world.send()
        #expect(summary.requests <= 4 && summary.left == 50)
        #expect(try world.entry().condition.suspension == .unauthorized)
        try world.restart()
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 50)
        #expect(try world.entry().condition.suspension == nil && world.lms.breaches.isEmpty)
    }

    @Test func `a captive portal accepts nothing and ends the run after some tries`() throws {
        let world = try SendWorld()
        try world.add(1000)
        world.lms.behave { _, _ in .answer(200, AnswerRow.page) }
        let summary = try world.send()
        #expect(summary.left == 1000 && summary.delivered == 0 && summary.requests <= 12)
        world.lms.behave { _, _ in .good }
        #expect(try world.send().delivered == 1000)
        #expect(world.lms.effects.count == 1000 && world.lms.breaches.isEmpty && world.disorder().isEmpty)
    }

    @Test func `one batch that makes the server fail does not block others`() throws {
        let world = try SendWorld { $0.limits.count = 10 }
        try world.add(500)
        world.lms.behave { request, _ in request.events.contains("r5") ? .answer(500) : .good }
        let summary = try world.send()
        #expect(summary.delivered == 490 && summary.left == 10)
        #expect(summary.obstacles.first?.error.code == .reportTargetWaits)
        #expect(try world.inFlightBatches() == 1)
    }

    @Test func `half of the answers failing keeps little in memory and delivers the rest`() throws {
        let world = try SendWorld { $0.limits.count = 1 }
        try world.add(400)
        world.lms.behave { request, _ in (Int(request.id.dropFirst()) ?? 0) / 10 % 2 == 0 ? .answer(500) : .good }
        let summary = try world.send { $0.attempts = 3 }
        #expect(summary.delivered == 200 && summary.left == 200)
        #expect(try world.isConserved())
    }
}

/// A machine that only has traffic.
private struct OtherTraffic: StateMachine {
    enum Notice: StateMachineNotice {
        case failure(LectureError)
        case stopped
    }

    typealias Effect = Never

    static func store(_: Void, in _: any StoreTransaction) {}

    var traffic = OriginBudgets()
    var isIdle: Bool { true }

    mutating func handle(_ event: OriginBudgets, _ step: inout Step<Self>) throws { traffic = event }
    mutating func reconcile(_ step: inout Step<Self>) throws {}

    mutating func recover(
        losing events: [OriginBudgets], after error: LectureError, at boot: BootInstant
    ) -> (effects: [Never], notices: [Notice]) { ([], []) }

    mutating func abandon() -> [Notice] { [] }
}
