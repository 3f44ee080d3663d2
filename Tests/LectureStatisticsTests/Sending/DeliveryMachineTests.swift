import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// When reports are sent by themselves: the table of ``DeliveryMachine``, and what it may never do.
struct DeliveryMachineTests {
    typealias Machine = DeliveryMachine

    /// A row: what happened before, what happens now, what follows.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var before: [Event] = []
        let event: Event
        let action: Machine.Action
        var testDescription: String { name }
    }

    enum Event: Sendable {
        case looked(Machine.Outlook, at: Int64 = 0)
        case network(Machine.Outlook, at: Int64 = 0)
        case time(Machine.Outlook, at: Int64 = 0)
        case ended(Machine.Outlook, settled: Bool, at: Int64 = 0)
        case close
    }

    private static func boot(_ seconds: Int64) -> BootInstant { BootInstant(nanoseconds: seconds * 1_000_000_000) }

    private static func apply(_ event: Event, to machine: inout Machine) -> Machine.Action {
        switch event {
        case .looked(let outlook, let now): return machine.looked(outlook, at: boot(now))
        case .network(let outlook, let now): return machine.networkChanged(outlook, at: boot(now))
        case .time(let outlook, let now): return machine.timeCame(outlook, at: boot(now))
        case .ended(let outlook, let settled, let now):
            return machine.ended(outlook, hasSettled: settled, at: boot(now))
        case .close:
            machine.close()
            return .nothing
        }
    }

    private static let none = Machine.Outlook()
    private static let due = Machine.Outlook(next: .zero)
    private static let held = Machine.Outlook(isHeldElsewhere: true)
    private static func later(_ seconds: Int64) -> Machine.Outlook { Machine.Outlook(next: .seconds(seconds)) }

    private static let waiting: [Event] = [.looked(later(60))]
    private static let sending: [Event] = [.looked(due)]
    /// A target was tried and did not answer.
    private static let failed = sending + [.ended(later(8), settled: false)]

    static let rows: [Row] = [
        Row(name: "nothing waits", event: .looked(none), action: .rest),
        Row(name: "a report is due", event: .looked(due), action: .send(.nothing)),
        Row(name: "its target waits", event: .looked(later(60), at: 5), action: .wait(until: boot(65))),
        Row(name: "another program sends it", event: .looked(held), action: .wait(until: boot(1))),
        Row(name: "the network changes for nothing", event: .network(none), action: .rest),
        Row(name: "the network is back", before: waiting, event: .network(later(60)), action: .send(.waits)),
        Row(
            name: "the network is back after a failure", before: failed, event: .network(later(8)),
            action: .send(.waits)),
        Row(name: "a report for another target", before: failed, event: .looked(due, at: 1), action: .send(.nothing)),
        Row(
            name: "a report for the same", before: failed, event: .looked(later(7), at: 1),
            action: .wait(until: boot(8))),
        Row(name: "its targets were suspended", before: waiting, event: .looked(none), action: .rest),
        Row(name: "the time has come", before: waiting, event: .time(due, at: 60), action: .send(.nothing)),
        Row(name: "the timer is early", before: waiting, event: .time(due, at: 59), action: .wait(until: boot(60))),
        Row(name: "it was sent meanwhile", before: waiting, event: .time(none, at: 60), action: .rest),
        Row(
            name: "the wait is longer now", before: waiting, event: .time(later(30), at: 60),
            action: .wait(until: boot(90))),
        Row(
            name: "who holds it may be dead", before: [.looked(held)], event: .time(held, at: 1),
            action: .send(.nothing)),
        Row(name: "a timer without a wait", event: .time(due), action: .nothing),
        Row(name: "an end without a run", event: .ended(due, settled: true), action: .nothing),
        Row(name: "one run at a time", before: sending, event: .looked(due), action: .nothing),
        Row(name: "all sent", before: sending, event: .ended(none, settled: true), action: .rest),
        Row(
            name: "a target asks to wait", before: sending, event: .ended(later(120), settled: true, at: 3),
            action: .wait(until: boot(123))),
        Row(name: "more is due", before: sending, event: .ended(due, settled: true), action: .send(.nothing)),
        Row(
            name: "due, but not settled", before: sending, event: .ended(due, settled: false, at: 3),
            action: .wait(until: boot(4))),
        Row(
            name: "not settled again", before: sending + [.ended(due, settled: false), .time(due, at: 1)],
            event: .ended(due, settled: false, at: 1), action: .wait(until: boot(3))),
        Row(
            name: "a report came during the run", before: sending + [.looked(due)],
            event: .ended(due, settled: false), action: .send(.nothing)),
        Row(
            name: "the network came back during the run", before: sending + [.network(due)],
            event: .ended(later(8), settled: false), action: .send(.waits)),
        Row(
            name: "both", before: sending + [.network(due), .looked(due)], event: .ended(none, settled: false),
            action: .rest),
        Row(name: "closed", before: [.close], event: .looked(due), action: .nothing),
        Row(name: "closed while waiting", before: waiting + [.close], event: .time(due, at: 60), action: .nothing),
        Row(
            name: "closed during a run", before: sending + [.close], event: .ended(due, settled: true), action: .nothing
        ),
        Row(name: "closed without a network", before: waiting + [.close], event: .network(due), action: .nothing),
    ]

    @Test(arguments: rows)
    func `each event leads to its action`(row: Row) {
        var machine = Machine()
        for event in row.before { _ = Self.apply(event, to: &machine) }
        #expect(Self.apply(row.event, to: &machine) == row.action)
    }

    @Test
    func `runs that settle nothing are ever further apart, up to a quarter of an hour`() {
        var machine = Machine()
        #expect(Self.apply(.looked(Self.due), to: &machine) == .send(.nothing))
        var (now, pauses): (Int64, [Int64]) = (0, [])
        for _ in 0..<14 {
            guard case .wait(let until) = Self.apply(.ended(Self.due, settled: false, at: now), to: &machine) else {
                Issue.record("it did not wait")
                return
            }
            let next = until.nanoseconds / 1_000_000_000
            pauses.append(next - now)
            now = next
            #expect(Self.apply(.time(Self.due, at: now), to: &machine) == .send(.nothing))
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900])
        // Progress forgets it.
        #expect(Self.apply(.ended(Self.due, settled: true, at: now), to: &machine) == .send(.nothing))
        #expect(Self.apply(.ended(Self.due, settled: false, at: now), to: &machine) == .wait(until: Self.boot(now + 1)))
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `whatever happens, one run is under way at most, nothing waits without a timer, and no two runs spin`(
        seed: UInt64
    ) {
        var (machine, random) = (Machine(), SeededGenerator(seed: seed))
        let outlooks = [Self.none, Self.due, Self.held, Self.later(3), Self.later(600)]
        var (isRunning, timer, now, fruitlessAt): (Bool, BootInstant?, Int64, Int64?) = (false, nil, 0, nil)
        for _ in 0..<5000 {
            now += Int64(random.next() % 4)
            let outlook = outlooks[Int(random.next() % 5)]
            let isTimer = timer.map { $0 <= Self.boot(now) } ?? false
            let event: Event =
                switch random.next() % 6 {
                case 0: .looked(outlook, at: now)
                case 1: .network(outlook, at: now)
                case 2, 3:
                    isRunning ? .ended(outlook, settled: random.next() % 2 == 0, at: now) : .looked(outlook, at: now)
                default: isTimer ? .time(outlook, at: now) : .looked(Self.none, at: now)
                }
            let action = Self.apply(event, to: &machine)
            var isFruitless = false
            if case .ended(_, let settled, _) = event { (isRunning, isFruitless) = (false, !settled) }
            switch action {
            case .nothing: break
            case .rest: timer = nil
            case .wait(let until):
                #expect(until > Self.boot(now) || until == timer)
                timer = until
            case .send:
                #expect(!isRunning)
                (isRunning, timer) = (true, nil)
            }
            switch machine.state {
            case .sending: #expect(isRunning)
            case .waiting(let until): #expect(!isRunning && timer == until)
            case .resting: #expect(!isRunning && timer == nil)
            case .closed: Issue.record("it was never closed")
            }
            if isFruitless { fruitlessAt = now }
        }
        #expect(fruitlessAt != nil)
    }
}
