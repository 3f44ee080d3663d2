import LectureEngine
import LectureFormats
import LectureModel
import LectureSQLite
import LectureStatistics
import LectureStore
import LectureTestSupport
import Testing

/// A program with an engine on a store.
final class SendProcess {
    let index: SQLiteDownloadIndex
    let outbox: SQLiteOutbox
    /// Lets its steps fail.
    let faults: StoreFaults
    let loop: Loop
    let runner: Runner<ReportMachine>
    let performer: ExchangePerformer
    let owner: OwnerID
    fileprivate let isWoken: Guarded<Bool>
    /// When its next step is due.
    fileprivate(set) var next: BootInstant?
    /// The notices, in order.
    fileprivate(set) var notices: [ReportNotice] = []

    fileprivate init(
        _ index: SQLiteDownloadIndex, _ outbox: SQLiteOutbox, _ faults: StoreFaults, _ loop: Loop,
        _ runner: Runner<ReportMachine>, _ performer: ExchangePerformer, _ owner: OwnerID, _ isWoken: Guarded<Bool>
    ) {
        (self.index, self.outbox, self.faults, self.loop, self.runner) = (index, outbox, faults, loop, runner)
        (self.performer, self.owner, self.isWoken) = (performer, owner, isWoken)
    }

    /// Handles the waiting events, which may fail as its ``faults`` say, and performs nothing: the effects are the
    /// caller's to perform.
    func commit() -> CommittedStep<ExchangeEffect, ReportNotice> {
        faults.use { _ = loop.commit() }
        return runner.take()
    }

    /// What applications are informed of, in order.
    var events: [LectureEvent] { notices.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    var ends: [ReportSendResult] { notices.compactMap { if case .ended(_, let result) = $0 { result } else { nil } } }
    var isStopped: Bool { notices.contains(.stopped) }
    var refused: [String: DeadReason] {
        events.reduce(into: [:]) { if case .reportRefused(let id, let reason, _) = $1 { $0[id] = reason } }
    }
    var exchanges: [ReportExchange] {
        events.compactMap { if case .reportExchange(let exchange) = $0 { exchange } else { nil } }
    }
    var failures: Int { notices.count { if case .failure = $0 { true } else { false } } }
}

/// A store with reports, programs that send them, and the LMSes they go to, in virtual time.
final class SendWorld {
    static let url = "https://lms.example/in"

    let directory: TemporaryDirectory
    let location: StoreLocation
    let clock = VirtualClock()
    let lms: VirtualLMS
    let randomness: SeededRandom
    var settings: StatisticsSettings
    /// The observed program; others may run beside it.
    private(set) var process: SendProcess
    private var processes: [SendProcess] = []
    private let ids = Guarded(0)
    /// Whether exchanges are observed; the same for all programs.
    let listens = Guarded(false)
    private var sequences: [String: Int64] = [:]
    private var orders = 0
    let target: ReportRecord.Target

    init(
        seed: UInt64 = 1, target: ReportRecord.Target = .init(url: SendWorld.url, format: .json),
        _ configure: @escaping @Sendable (inout TargetSettings) -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory.inMemory()
        location = StoreLocation(directory: directory.file("store"))
        try StoreTemplate.copy(to: location.directory, StoreLocation.databaseName) { place in
            _ = try SQLiteDownloadIndex(opening: StoreLocation(directory: place), now: StoreTemplate.created)
        }
        lms = VirtualLMS(clock: clock, seed: seed)
        randomness = SeededRandom(seed: seed &* 31)
        settings = StatisticsSettings(bootID: "boot")
        settings.target = { address in
            var settings = TargetSettings(address.format)
            (settings.pace.window, settings.pace.rate) = (.fixed(4), .fixed(100, burst: 4))
            configure(&settings)
            return settings
        }
        self.target = target
        process = try Self.process(location, clock, lms, randomness, settings, (ids, listens), seed: seed)
        processes = [process]
    }

    private static func process(
        _ location: StoreLocation, _ clock: VirtualClock, _ lms: VirtualLMS, _ randomness: SeededRandom,
        _ settings: StatisticsSettings, _ shared: (ids: Guarded<Int>, listens: Guarded<Bool>), seed: UInt64
    ) throws -> SendProcess {
        let connection = try StoreDatabase.openWriter(location, now: clock.now()).connection
        let index = SQLiteDownloadIndex(connection: connection)
        let outbox = SQLiteOutbox(index: index)
        let owner = try index.owners.registerOwner(pid: 1, bootID: "boot", command: "test", now: clock.now())
        let woken = Guarded(false)
        let functions = ReportFunctions(
            newID: { [ids = shared.ids] in "request-\(Self.next(ids))" },
            compress: { _, bytes in TurnedBits.turn(bytes) },
            wantsExchanges: { [listens = shared.listens] in listens.withLock(\.self) })
        let inbox = Inbox<ReportEvent>(wake: { woken.withLock { $0 = true } })
        let loop = Loop(
            Loop.Ports(
                clock: clock, random: randomness, numbers: TransferNumbers(),
                transaction: { try index.transaction($0) }))
        let runner = Runner(
            ReportMachine(settings, functions, hash: { Self.hash($0) }, owner: owner), environment: (),
            inbox: inbox)
        loop.add(runner)
        let performer = ExchangePerformer(lms, clock: clock) { inbox.post(.answered($0, $1)) }
        return SendProcess(
            index, outbox, StoreFaults(connection, seed: seed), loop, runner, performer, owner, woken)
    }

    private static func next(_ numbers: Guarded<Int>) -> Int {
        numbers.withLock { number in
            number += 1
            return number
        }
    }

    /// 32 bytes that differ for different names.
    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var generator = SeededGenerator(
            seed: bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
        return (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    /// The program is killed and another starts on the same store; answers to the dead one are lost.
    func restart() throws {
        lms.network.hangUp()
        try process.index.owners.dismissOwner(process.owner, now: clock.now())
        processes.removeAll { $0 === process }
        process = try Self.process(
            location, clock, lms, randomness, settings, (ids, listens), seed: UInt64(randomness.number(0..<9999)))
        processes.append(process)
    }

    /// A second program on the same store.
    func another() throws -> SendProcess {
        let other = try Self.process(location, clock, lms, randomness, settings, (ids, listens), seed: 7)
        processes.append(other)
        return other
    }

    /// That second program is killed.
    func kill(_ other: SendProcess) throws {
        lms.network.hangUp()
        try other.index.owners.dismissOwner(other.owner, now: clock.now())
        processes.removeAll { $0 === other }
    }

    // MARK: Reports

    /// Stores a report.
    @discardableResult
    func add(
        _ id: String, user: String = "kim", session: String = "s", isCumulative: Bool = false,
        values: JSONValue = .object([JSONMember("n", .integer(1))]), change: (inout ReportRecord) -> Void = { _ in }
    ) throws -> String {
        let queue = "\(user)\u{0}\(session)"
        sequences[queue, default: 0] += 1
        var record = ReportRecord(
            id: id, content: "c", user: user, session: session, sequence: sequences[queue] ?? 1, wall: clock.now(),
            values: values)
        (record.target, record.boot, record.bootID) = (target, clock.boot(), "boot")
        change(&record)
        var report = NewReport(record)
        report.isCumulative = isCumulative
        _ = try process.outbox.add(report, now: clock.now())
        return id
    }

    /// Stores many in one commit, `perSession` each.
    @discardableResult
    func add(_ count: Int, perSession: Int = 10, prefix: String = "r", padding: Int = 0) throws -> [String] {
        let text = String(repeating: "x", count: padding)
        return try process.index.transaction { _ in
            try (0..<count).map { number in
                try add(
                    "\(prefix)\(number)", user: "u\(number / perSession)",
                    values: .object([JSONMember("text", .string(text))]))
            }
        }
    }

    /// A column of the store, numbers only.
    func numbers(_ columns: String) throws -> [Int64] {
        try Connection(path: "\(location.directory)/lecturekit.db", access: .readWrite)
            .query("SELECT \(columns)") { $0.int64(0) }
    }

    /// How many reports are in a state.
    func count(_ state: ReportState) throws -> Int {
        Int(try numbers("count(*) FROM report WHERE state = \(state.rawValue)").first ?? -1)
    }

    /// The state of a report.
    func state(_ id: String) throws -> ReportState? {
        try numbers("state FROM report WHERE uuid = '\(id)'").first.flatMap { ReportState(rawValue: Int($0)) }
    }

    /// created = rows + pruned + erased, and every queue's count is right.
    func isConserved() throws -> Bool {
        let account = try numbers("created = (SELECT count(*) FROM report) + pruned + erased FROM lms_account")
        let queues = try numbers(
            """
            count(*) FROM lms_lane
            WHERE open <> (SELECT count(*) FROM report WHERE lane_id = lms_lane.id AND state < 2)
            """)
        return account == [1] && queues == [0]
    }

    /// How many requests are stored.
    func inFlightBatches() throws -> Int { Int(try numbers("count(*) FROM lms_flight").first ?? -1) }

    /// The stored target.
    func entry() throws -> TargetEntry {
        try #require(try process.outbox.targets().first { $0.address == target })
    }

    /// Violations of the order in which the reports of each session took effect.
    func disorder() -> [String] {
        var last: [String: Int] = [:]
        return lms.effects.filter { id in
            guard let number = Int(id.drop { !$0.isNumber }) else { return false }
            let queue = "\(number / 10)"
            defer { last[queue] = number }
            return number < last[queue] ?? -1
        }
    }

    // MARK: Time

    /// Steps and advances time until a condition is true.
    ///
    /// - Returns: whether it became true.
    @discardableResult
    func run(for limit: Duration = .seconds(7200), until isOver: (SendWorld) throws -> Bool) rethrows -> Bool {
        let end = try lms.network.run(for: limit) {
            for process in processes {
                process.isWoken.withLock { $0 = false }
                let step = process.commit()
                for effect in step.effects { process.performer.perform(effect) }
                process.notices += step.notices
                process.next = step.next
            }
            let now = clock.boot()
            let isDue = processes.contains { $0.isWoken.withLock(\.self) && ($0.next ?? now) <= now }
            return (processes.compactMap(\.next).min(), isDue)
        } until: {
            try isOver(self)
        }
        if end == .spinning { Issue.record("the engine spins without any work") }
        return end == .reached
    }

    /// Starts an order without waiting for its end.
    func begin(_ process: SendProcess? = nil, _ change: (inout SendOrder) -> Void = { _ in }) {
        orders += 1
        var order = SendOrder(id: orders)
        change(&order)
        (process ?? self.process).runner.inbox.post(.send(order))
    }

    /// Sends until the order has ended.
    @discardableResult
    func send(_ change: (inout SendOrder) -> Void = { _ in }) throws -> ReportSendResult {
        begin(nil, change)
        let id = orders
        let process = process
        func end() -> ReportSendResult? {
            for case .ended(let order, let result) in process.notices where order == id { return result }
            return nil
        }
        #expect(run { _ in end() != nil })
        return try #require(end())
    }

    /// Only advances time.
    func wait(_ duration: Duration) { clock.advance(to: clock.boot() + duration) }
}
