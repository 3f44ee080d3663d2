import LectureEngine
import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// An LMS that accepts, refuses, fails and drops answers, and records what it accepted.
private struct VirtualServer {
    struct Habits {
        var poison: Set<Int64> = []
        var sizeLimit = Int.max
        /// In percent of the requests.
        var faults = 0
    }

    let habits: Habits
    private(set) var requests = 0
    private(set) var faulty = 0
    private(set) var effects: [Int64] = []
    private var known: Set<Int64> = []
    private var bytesOfID: [String: [Int64]] = [:]
    private var acceptedIn: [Int64: String] = [:]
    private(set) var broken: [String] = []

    init(_ habits: Habits) { self.habits = habits }

    /// The client's view: nil for no answer.
    struct Answer {
        var status: Int?
        var body = ""
        var end = SendEnd.whole
        var retryAfter: Int?
    }

    mutating func take(_ id: String, _ reports: [Int64], bytes: Int, _ randomness: inout SeededGenerator) -> Answer {
        requests += 1
        let fault =
            Int.random(in: 0..<100, using: &randomness) < habits.faults
            ? Int.random(in: 0..<11, using: &randomness) : 99
        if fault != 99 { faulty += 1 }
        if fault == 0 { return Answer(status: nil, end: .unsent) }
        if bytesOfID.updateValue(reports, forKey: id) ?? reports != reports { broken.append("\(id) has other bytes") }
        switch fault {
        case 1: return Answer(status: nil, end: .cut)
        case 2: return Answer(status: 200, body: "<html>log in</html>")
        case 3: return Answer(status: 503, retryAfter: 7)
        case 4: return Answer(status: 500)
        case 5: return Answer(status: 429)
        case 6: return Answer(status: 302)
        default: break
        }
        let answer = work(id, reports, bytes, &randomness)
        switch fault {
        case 7: return Answer(status: nil, end: .cut)
        case 8: return Answer(status: 502)
        case 9: return Answer(status: answer.status, body: String(answer.body.prefix(3)), end: .cut)
        case 10: return Answer(status: 200, body: "<html>log in</html>")
        default: return answer
        }
    }

    private mutating func work(
        _ id: String, _ reports: [Int64], _ bytes: Int, _ randomness: inout SeededGenerator
    ) -> Answer {
        if bytes > habits.sizeLimit { return Answer(status: 413) }
        if !habits.poison.isDisjoint(with: reports) { return Answer(status: 422) }
        let isKnown = acceptedIn.values.contains(id)
        for report in reports {
            if let other = acceptedIn.updateValue(id, forKey: report), other != id {
                broken.append("\(report) was accepted in \(other) and in \(id)")
            }
            if known.insert(report).inserted { effects.append(report) }
        }
        return isKnown && Bool.random(using: &randomness)
            ? Answer(status: 409) : Answer(status: 200, body: "{\"ok\":true}")
    }
}

/// An outbox in memory, maintained only by the rules under test.
private struct VirtualOutbox {
    struct Row {
        var machine = OutboxMachine()
        let queue: SessionQueue
        let sequence: Int64
        let bytes: Int
        let isCumulative: Bool
    }

    struct InFlightBatch {
        var batch: Bisection<OutboxID>
        /// Stored with the bytes when a request body is sent for the first time.
        var sealed: (number: Int, id: String)?
        var tries = 0
        var wait: RetryWait?
    }

    private(set) var rows: [OutboxID: Row] = [:]
    private(set) var counts = OutboxCounts()
    private(set) var deaths: [OutboxID: DeadReason] = [:]
    private(set) var crashes = 0
    private(set) var now = Timestamp(milliseconds: 1_750_000_000_000)
    private(set) var broken: [String] = []
    private var inFlightBatches: [InFlightBatch] = []
    private static let rules: OriginPacer.Rules = {
        var rules = OriginPacer.Rules.reports
        (rules.window, rules.rate) = (.fixed(3), .fixed(100, burst: 4))
        return rules
    }()
    private var pacer = OriginPacer(Self.rules)
    private var transfers: UInt64 = 0
    private var limits = BatchLimits(count: 40, bytes: 4000, overhead: 10)
    private var ids = 0
    private var boot = BootInstant(nanoseconds: 0)

    mutating func add(_ row: Row) {
        rows[OutboxID(Int64(rows.count))] = row
        counts.add()
    }

    var isSettled: Bool { inFlightBatches.isEmpty && counts[.pending] + counts[.leased] == 0 }

    private mutating func handle(_ id: OutboxID, _ event: OutboxMachine.Event) {
        if let change = rows[id]?.machine.handle(event) { counts.apply(change) }
        if !counts.isConserved { broken.append("the invariant at \(id) and \(event)") }
    }

    /// The process dies: leases are lost, and bodies that were never sent are discarded.
    mutating func crash() {
        crashes += 1
        for (id, row) in rows where row.machine.state == .leased { handle(id, .release) }
        inFlightBatches = inFlightBatches.compactMap { inFlightBatch in
            guard let piece = inFlightBatch.batch.current, let sealed = inFlightBatch.sealed,
                sealed.number == piece.number
            else {
                return nil
            }
            return InFlightBatch(
                batch: Bisection(piece.reports), sealed: (0, sealed.id), tries: inFlightBatch.tries,
                wait: inFlightBatch.wait)
        }
        for id in inFlightBatches.flatMap(\.batch.remaining) { handle(id, .lease) }
        let (openings, wait) = (pacer.openings, pacer.storedWait)
        pacer = OriginPacer(Self.rules)
        pacer.restore(openings: openings, wait: wait, now: now, boot: boot)
    }

    mutating func step(_ server: inout VirtualServer, _ randomness: inout SeededGenerator) {
        (now, boot) = (now + .milliseconds(500), boot + .milliseconds(500))
        plan()
        for index in inFlightBatches.indices.shuffled(using: &randomness) {
            if let wait = inFlightBatches[index].wait, wait.remaining(at: now) > .zero { continue }
            guard pacer.admission(at: boot) == .yes else { break }
            send(index, &server, &randomness)
        }
        inFlightBatches.removeAll { $0.batch.current == nil }
    }

    private var planRows: [PlanRow] {
        rows.map { id, row in
            PlanRow(
                id: id, queue: row.queue, sequence: row.sequence, bytes: row.bytes, state: row.machine.state,
                isSealed: row.machine.isSealed, isCumulative: row.isCumulative)
        }
    }

    private mutating func plan() {
        let plan = BatchPlan(planRows, limits: [TargetID(1): limits], slots: max(0, 4 - inFlightBatches.count))
        for pair in plan.superseded { handle(pair.report, .supersede) }
        for batch in plan.batches {
            for report in batch.reports { handle(report, .lease) }
            inFlightBatches.append(InFlightBatch(batch: Bisection(batch.reports)))
        }
    }

    private mutating func send(_ index: Int, _ server: inout VirtualServer, _ randomness: inout SeededGenerator) {
        guard let piece = inFlightBatches[index].batch.current else { return }
        if inFlightBatches[index].sealed?.number != piece.number {
            ids += 1
            (inFlightBatches[index].sealed, inFlightBatches[index].tries) = ((piece.number, "id-\(ids)"), 0)
            for report in piece.reports { rows[report]?.machine.seal() }
        }
        let id = inFlightBatches[index].sealed?.id ?? ""
        let bytes = limits.bodyBytes(piece.reports.map { rows[$0]?.bytes ?? 0 })
        transfers += 1
        let transfer = TransferID(transfers)
        pacer.started(transfer, at: boot)
        let answer = server.take(id, piece.reports.map(\.value), bytes: bytes, &randomness)
        inFlightBatches[index].tries += 1
        let fields = HeaderFields(answer.retryAfter.map { [HeaderField(name: "Retry-After", value: "\($0)")] } ?? [])
        let head = answer.status.map { ResponseHead(status: $0, fields: fields, receivedAt: now) }
        let verdict = AnswerJudge.judge(
            head, body: Array(answer.body.utf8), end: answer.end,
            expectation: SendExpectation(form: .ok, count: piece.reports.count, url: "https://a.example/", id: id))
        pacer.ended(transfer, verdict, now: now, boot: boot, random: randomness.next())
        if verdict == .split { limits = limits.lowered(refused: bytes) }
        if case .keep(let reason, let wait) = verdict, !reason.isOfTarget {
            inFlightBatches[index].wait = RetryWait(
                asked: wait, tries: inFlightBatches[index].tries, backoff: Backoff(), now: now,
                random: randomness.next())
        }
        write(inFlightBatches[index].batch.take(verdict))
    }

    private mutating func write(_ step: Bisection<OutboxID>.Step) {
        switch step {
        case .delivered(let reports): for report in reports { handle(report, .accept) }
        case .dead(let reports, let reason):
            for report in reports {
                handle(report, .refuse)
                deaths[report] = reason
            }
            for report in BatchPlan.uncovered(planRows) { handle(report, .restore) }
        case .divided(let reports): for report in reports { rows[report]?.machine.unseal() }
        case .kept: break
        }
    }

}

/// Random backlogs against random servers.
struct SendingCampaignTests {
    private struct Scenario {
        var server: VirtualServer
        var outbox = VirtualOutbox()
        var crashes = false
        /// Reports that are made while others are sent.
        var later: [VirtualOutbox.Row] = []
    }

    private func scenario(_ randomness: inout SeededGenerator, superseding: Bool = false) -> Scenario {
        let count = Int64.random(in: 1...90, using: &randomness)
        var habits = VirtualServer.Habits()
        let poisons = superseding ? Int(count) / 4 : Int.random(in: 0...2, using: &randomness)
        for _ in 0..<poisons { habits.poison.insert(Int64.random(in: 0..<count, using: &randomness)) }
        habits.sizeLimit = Bool.random(using: &randomness) ? .max : Int.random(in: 300...3000, using: &randomness)
        habits.faults = Bool.random(using: &randomness) ? 0 : Int.random(in: 1...60, using: &randomness)
        var scenario = Scenario(server: VirtualServer(habits))
        scenario.crashes = Bool.random(using: &randomness)
        let sessions = Int.random(in: 1...12, using: &randomness)
        for number in 0..<count {
            let queue = SessionQueue(
                target: TargetID(1), user: "\(Int.random(in: 0..<sessions, using: &randomness))", session: "5")
            scenario.later.append(
                .init(
                    queue: queue, sequence: number, bytes: Int.random(in: 20...280, using: &randomness),
                    isCumulative: superseding && Int.random(in: 0..<4, using: &randomness) > 0))
        }
        let early = Int.random(in: 0...scenario.later.count, using: &randomness)
        for row in scenario.later.prefix(early) { scenario.outbox.add(row) }
        scenario.later = scenario.later.dropFirst(early).reversed()
        return scenario
    }

    private func run(_ scenario: inout Scenario, _ randomness: inout SeededGenerator) {
        var steps = 0
        while !(scenario.outbox.isSettled && scenario.later.isEmpty), steps < 100_000 {
            if Int.random(in: 0..<3, using: &randomness) == 0, let row = scenario.later.popLast() {
                scenario.outbox.add(row)
            }
            scenario.outbox.step(&scenario.server, &randomness)
            if scenario.crashes, Int.random(in: 0..<20, using: &randomness) == 0 { scenario.outbox.crash() }
            steps += 1
        }
        #expect(scenario.outbox.isSettled, "every report has a final state")
        #expect(scenario.outbox.broken.isEmpty && scenario.server.broken.isEmpty)
    }

    @Test(arguments: (1...24).map(UInt64.init))
    func `each report is once in effect and in order, or a dead letter`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<5 {
            var scenario = scenario(&randomness)
            run(&scenario, &randomness)
            let (outbox, server) = (scenario.outbox, scenario.server)
            let poison = server.habits.poison
            #expect(Set(outbox.deaths.keys.map(\.value)) == poison)
            #expect(outbox.deaths.values.allSatisfy { $0 == .refused })
            #expect(server.effects.count == outbox.rows.count - poison.count)
            #expect(Set(server.effects).count == server.effects.count)
            #expect(outbox.counts[.delivered] == server.effects.count && outbox.counts[.dead] == poison.count)
            for (_, effects) in Dictionary(grouping: server.effects, by: { outbox.rows[OutboxID($0)]?.queue }) {
                #expect(effects == effects.sorted(), "the order of the session")
            }
            // A binary tree over each batch; a crash loses at most one path in each of four batches.
            let bound = 2 * outbox.rows.count + outbox.crashes * 4 * 12
            #expect(server.requests - server.faulty <= bound)
        }
    }

    @Test(arguments: (1...16).map(UInt64.init))
    func `superseding leaves the newest good report of each session`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed &+ 1000)
        for _ in 0..<5 {
            var scenario = scenario(&randomness, superseding: true)
            run(&scenario, &randomness)
            let (outbox, server) = (scenario.outbox, scenario.server)
            #expect(Set(server.effects).count == server.effects.count)
            #expect(outbox.counts[.delivered] == server.effects.count)
            #expect(
                outbox.counts[.delivered] + outbox.counts[.dead] + outbox.counts[.superseded] == outbox.rows.count)
            for (id, row) in outbox.rows where row.machine.state == .superseded {
                let isCovered = outbox.rows.values.contains {
                    $0.queue == row.queue && $0.sequence > row.sequence && $0.isCumulative
                        && $0.machine.state == .delivered
                }
                #expect(isCovered, "a newer one says what \(id) said")
                #expect(row.isCumulative, "nothing else is superseded")
            }
        }
    }

    @Test func `a report larger than the server accepts becomes a dead letter alone`() {
        var randomness = SeededGenerator(seed: 5)
        var habits = VirtualServer.Habits()
        habits.sizeLimit = 150
        var scenario = Scenario(server: VirtualServer(habits))
        for number in 0..<30 {
            let queue = SessionQueue(target: TargetID(1), user: "\(number % 3)", session: "5")
            let bytes = number == 11 ? 900 : 60
            scenario.outbox.add(.init(queue: queue, sequence: Int64(number), bytes: bytes, isCumulative: false))
        }
        run(&scenario, &randomness)
        #expect(scenario.outbox.deaths == [OutboxID(11): .tooLarge])
        #expect(scenario.server.effects.count == 29 && scenario.server.requests <= 60)
    }
}
