import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// The life of a report, and the invariant that none disappears.
struct OutboxMachineTests {
    @Test func `the stored numbers and the names of states are frozen`() {
        #expect(ReportState.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(
            ReportState.allCases.map(\.name) == ["pending", "leased", "delivered", "dead", "superseded", "expired"])
        #expect(ReportState.allCases.allSatisfy { ReportState(name: $0.name) == $0 })
        #expect(ReportState(name: "Pending") == nil)
        #expect(ReportState.allCases.filter(\.holdsSession) == [.pending, .leased])
        #expect(KeepReason.allCases.map(\.rawValue) == Array(1...9))
        #expect(DeadReason.allCases.map(\.rawValue) == Array(1...4))
        #expect(SuspendReason.allCases.map(\.rawValue) == Array(1...3))
    }

    /// The table of the doc comment, a second copy.
    private static let table: [OutboxMachine.Event: [ReportState: ReportState]] = [
        .lease: [.pending: .leased],
        .release: [.leased: .pending],
        .accept: [
            .pending: .delivered, .leased: .delivered, .dead: .delivered, .superseded: .delivered,
            .expired: .delivered,
        ],
        .refuse: [.leased: .dead],
        .revive: [.dead: .pending],
        .supersede: [.pending: .superseded],
        .restore: [.superseded: .pending],
        .expire: [.pending: .expired, .dead: .expired],
    ]

    @Test(arguments: OutboxMachine.Event.allCases, ReportState.allCases)
    func `every cell of the table`(event: OutboxMachine.Event, state: ReportState) {
        let expected = Self.table[event]?[state]
        #expect(OutboxMachine.next(state, event) == expected)
        var machine = OutboxMachine(state: state)
        let change = machine.handle(event)
        #expect(change == expected.map { OutboxCounts.Change(from: state, to: $0) })
        #expect(machine.state == expected ?? state)
        #expect(machine.attempts == (event == .lease && state == .pending ? 1 : 0))
    }

    @Test func `a report that may have been delivered is not dropped for a newer one`() {
        var machine = OutboxMachine()
        machine.seal()
        #expect(!machine.isSealed, "nothing goes out without a lease")
        _ = machine.handle(.lease)
        machine.seal()
        _ = machine.handle(.release)
        #expect(machine.isSealed && machine.handle(.supersede) == nil && machine.handle(.expire) == nil)
        #expect(machine.state == .pending)
        machine.unseal()
        #expect(machine.handle(.supersede) != nil && machine.state == .superseded)
    }

    @Test func `what is delivered stays delivered`() {
        for event in OutboxMachine.Event.allCases {
            var machine = OutboxMachine(state: .delivered)
            #expect(machine.handle(event) == nil && machine.state == .delivered)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `no sequence of events makes a report disappear`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        var machines: [OutboxMachine] = []
        var counts = OutboxCounts()
        for step in 0..<4000 {
            if machines.isEmpty || Int.random(in: 0..<8, using: &randomness) == 0 {
                machines.append(OutboxMachine())
                counts.add()
            }
            let index = Int.random(in: 0..<machines.count, using: &randomness)
            let dice = Int.random(in: 0..<100, using: &randomness)
            if dice == 0 {
                counts.erase(machines.remove(at: index).state)
            } else if dice < 6 {
                let state = machines[index].state
                let isOver = [.delivered, .superseded, .expired].contains(state)
                #expect(counts.prune(state) == isOver)
                if isOver { machines.remove(at: index) }
            } else {
                if dice < 30 { machines[index].seal() }
                guard let event = OutboxMachine.Event.allCases.randomElement(using: &randomness) else { continue }
                if let change = machines[index].handle(event) { counts.apply(change) }
            }
            #expect(counts.isConserved, "step \(step)")
        }
        for state in ReportState.allCases {
            #expect(counts[state] == machines.count { $0.state == state })
        }
        #expect(counts.created == machines.count + counts.pruned + counts.erased)
        #expect(counts.pruned > 0 && counts.erased > 0)
    }

    @Test func `an uncounted change visibly breaks the invariant`() {
        var counts = OutboxCounts()
        counts.add()
        counts.apply(.init(from: .leased, to: .delivered))
        #expect(!counts.isConserved)
    }
}
