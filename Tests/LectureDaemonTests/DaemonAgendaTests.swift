import LectureDaemon
import LectureModel
import LectureTestSupport
import Testing

/// What a daemon does next, event by event.
struct DaemonAgendaTests {
    typealias File = DaemonAgenda.ListFile
    typealias Action = DaemonAgenda.Action

    enum Event: Sendable {
        case scanned([String])
        case read(String)
        case planned(Int64?, at: Int64)
        case renewed(Bool, at: Int64)
        case changed
        case network(at: Int64)
        case time(at: Int64)
        case reload
        case end
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var before: [Event] = []
        let event: Event
        let actions: [Action]
        var testDescription: String { name }
    }

    private static let hour: Int64 = 3600
    private static func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    /// `path` or `path=identity`.
    private static func file(_ text: String) -> File {
        let parts = text.split(separator: "=").map(String.init)
        return File(path: parts[0], identity: parts.count > 1 ? parts[1] : "1")
    }

    private static func apply(_ event: Event, to agenda: inout DaemonAgenda) -> [Action] {
        switch event {
        case .scanned(let files): return agenda.scanned(files.map(file))
        case .read(let path): return agenda.read(path)
        case .planned(let end, let now): return agenda.planned(end.map(moment), at: moment(now))
        case .renewed(let isComplete, let now): return agenda.renewed(isComplete: isComplete, at: moment(now))
        case .changed: return agenda.licencesChanged()
        case .network(let now): return agenda.networkChanged(at: moment(now))
        case .time(let now): return agenda.timeCame(at: moment(now))
        case .reload: agenda.reload()
        case .end: agenda.end()
        }
        return []
    }

    private static let ready: [Event] = [.scanned([])]
    private static let following: [Event] = [.scanned(["a"]), .read("a")]
    private static let resting: [Event] = ready + [.planned(nil, at: 0)]
    private static let renewing: [Event] = ready + [.planned(10 * hour, at: 8 * hour)]

    static let rows: [Row] = [
        Row(name: "no list: it is ready at once", event: .scanned([]), actions: [.ready, .plan]),
        Row(name: "lists are read one at a time", event: .scanned(["b", "a"]), actions: [.read("a")]),
        Row(name: "the next one", before: [.scanned(["b", "a"])], event: .read("a"), actions: [.read("b")]),
        Row(
            name: "ready after the last one", before: [.scanned(["b", "a"]), .read("a")], event: .read("b"),
            actions: [.ready, .plan]),
        Row(name: "an answer about another list", before: [.scanned(["a"])], event: .read("b"), actions: []),
        Row(name: "nothing new", before: following, event: .scanned(["a"]), actions: []),
        Row(name: "a new list", before: following, event: .scanned(["a", "b"]), actions: [.read("b")]),
        Row(name: "ready only once", before: following + [.scanned(["a", "b"])], event: .read("b"), actions: []),
        Row(name: "a changed list", before: following, event: .scanned(["a=2"]), actions: [.read("a")]),
        Row(name: "a list that is gone", before: following, event: .scanned([]), actions: [.forget("a")]),
        Row(
            name: "and back", before: following + [.scanned([])], event: .scanned(["a"]), actions: [.read("a")]),
        Row(
            name: "one that changes while it is read", before: [.scanned(["a"]), .scanned(["a=2"])],
            event: .read("a"), actions: [.read("a")]),
        Row(
            name: "one that is gone before its turn", before: [.scanned(["a", "b"]), .scanned(["a"])],
            event: .read("a"), actions: [.ready, .plan]),
        Row(
            name: "everything again", before: following + [.reload], event: .scanned(["a"]), actions: [.read("a")]),
        Row(
            name: "ready again", before: resting + [.reload, .scanned(["a"])], event: .read("a"),
            actions: [.ready, .plan]),
        Row(name: "no licence", before: ready, event: .planned(nil, at: 0), actions: [.wake(nil)]),
        Row(
            name: "a licence that ends later", before: ready, event: .planned(10 * hour, at: 0),
            actions: [.wake(moment(7 * hour))]),
        Row(
            name: "one that ends soon", before: ready, event: .planned(10 * hour, at: 8 * hour),
            actions: [.wake(nil), .renew]),
        Row(
            name: "its time has come", before: ready + [.planned(10 * hour, at: 0)], event: .time(at: 7 * hour),
            actions: [.wake(nil), .renew]),
        Row(
            name: "the timer is early", before: ready + [.planned(10 * hour, at: 0)], event: .time(at: 6 * hour),
            actions: [.wake(moment(7 * hour))]),
        Row(name: "renewed", before: renewing, event: .renewed(true, at: 8 * hour), actions: [.plan]),
        Row(
            name: "always shorter than the window: six hours later",
            before: renewing + [.renewed(true, at: 8 * hour)], event: .planned(20 * hour, at: 8 * hour),
            actions: [.wake(moment(17 * hour))]),
        Row(
            name: "much shorter: at half of its time", before: renewing + [.renewed(true, at: 8 * hour)],
            event: .planned(10 * hour, at: 8 * hour), actions: [.wake(moment(9 * hour))]),
        Row(
            name: "a minute: a quarter of an hour", before: renewing + [.renewed(true, at: 8 * hour)],
            event: .planned(8 * hour + 60, at: 8 * hour), actions: [.wake(moment(8 * hour + 900))]),
        Row(
            name: "some had to wait", before: renewing, event: .renewed(false, at: 9 * hour),
            actions: [.wake(moment(9 * hour + 900))]),
        Row(
            name: "the network is back", before: renewing + [.renewed(false, at: 9 * hour)],
            event: .network(at: 9 * hour + 1), actions: [.wake(nil), .renew]),
        Row(name: "the network, and nothing waits for it", before: resting, event: .network(at: 1), actions: []),
        Row(name: "licences before it is ready", event: .changed, actions: []),
        Row(name: "licences after", before: resting, event: .changed, actions: [.plan]),
        Row(
            name: "licences during a plan", before: ready + [.changed], event: .planned(nil, at: 0),
            actions: [.plan]),
        Row(
            name: "licences while one is tried again", before: renewing + [.renewed(false, at: 9 * hour)],
            event: .changed, actions: []),
        Row(name: "nothing after the end", before: following + [.end], event: .scanned(["a", "b"]), actions: []),
        Row(name: "no renewal after the end", before: resting + [.end], event: .network(at: 1), actions: []),
        Row(name: "no list after the end", before: [.scanned(["a", "b"]), .end], event: .read("a"), actions: []),
    ]

    @Test(arguments: rows)
    func `each event leads to its actions`(row: Row) {
        var agenda = DaemonAgenda(renewingWithin: .seconds(3 * Self.hour))
        for event in row.before { _ = Self.apply(event, to: &agenda) }
        #expect(Self.apply(row.event, to: &agenda) == row.actions)
    }

    @Test
    func `attempts that leave something are ever further apart, up to six hours`() {
        var agenda = DaemonAgenda(renewingWithin: .seconds(3 * Self.hour))
        for event in Self.renewing { _ = Self.apply(event, to: &agenda) }
        var (now, pauses): (Int64, [Int64]) = (8 * Self.hour, [])
        for _ in 0..<7 {
            guard case .wake(let until?)? = Self.apply(.renewed(false, at: now), to: &agenda).first else {
                Issue.record("it does not wait")
                return
            }
            pauses.append(until.milliseconds / 1000 - now)
            now = until.milliseconds / 1000
            #expect(Self.apply(.time(at: now), to: &agenda) == [.wake(nil), .renew])
        }
        #expect(pauses == [900, 1800, 3600, 7200, 14_400, 21_600, 21_600])
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `whatever happens, one list is read at a time, and one renewal or plan is under way`(seed: UInt64) {
        var (agenda, random) = (DaemonAgenda(renewingWithin: .seconds(100)), SeededGenerator(seed: seed))
        var (reading, task, now): (String?, Action?, Int64) = (nil, nil, 0)
        func choose(_ texts: [String]) -> [String] { texts.filter { _ in random.next() % 2 == 0 } }
        for _ in 0..<5000 {
            now += Int64(random.next() % 500)
            let event: Event =
                switch random.next() % 8 {
                case 0, 1: .scanned(choose(["a=\(random.next() % 3)", "b", "c"]))
                case 2, 3: .read(reading ?? "a")
                case 4: task == .plan ? .planned(random.next() % 2 == 0 ? nil : now + 150, at: now) : .changed
                case 5: task == .renew ? .renewed(random.next() % 2 == 0, at: now) : .network(at: now)
                case 6: .time(at: now)
                default: random.next() % 20 == 0 ? .reload : .changed
                }
            if case .read = event { reading = nil }
            if case .planned = event { task = nil }
            if case .renewed = event { task = nil }
            for action in Self.apply(event, to: &agenda) {
                switch action {
                case .read(let path):
                    #expect(reading == nil)
                    reading = path
                case .plan, .renew:
                    #expect(task == nil)
                    task = action
                case .forget(let path): #expect(!agenda.lists.contains(path))
                case .ready, .wake: break
                }
            }
        }
    }
}
