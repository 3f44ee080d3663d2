import LectureDownload
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import LectureUpkeep

/// Downloads in virtual time, chunk by chunk: what then happens, beside what was forecast.
///
/// It shares no rule with the forecast. Time goes in steps of a second. Each server has a capacity that varies, which
/// is handed out to its connections in quanta, in turn, as long as the bucket of all downloads has tokens; the bucket
/// is filled by the timetable of that second. A transfer that breaks loses its chunk and waits as ``Backoff`` says. A
/// lecture costs a round trip or more at its beginning, and after each break.
struct SimulatedDownloads {
    /// What a seed brings.
    struct Scenario {
        var sizes: [Int64] = []
        var servers: [Int] = []
        /// Bytes a second in the mean.
        var capacities: [Double] = []
        /// How much a capacity varies: its standard deviation, as a share.
        var jitter = 0.0
        /// From when on the first server has another capacity, as a share of the bytes, and by which factor.
        var step: (share: Double, factor: Double)?
        /// The probability that a chunk breaks.
        var failure = 0.0
        var jobs = 4
        var timetable: Timetable?
        var limit: Int64?
        var start = Timestamp(milliseconds: 0)
    }

    static let chunk = 1 << 20
    private static let quantum = 262_144.0

    private struct Transfer {
        let place: Int
        var left: Double
        /// Bytes of the chunk that is being received.
        var partial = 0.0
        var latency: Double
    }

    let scenario: Scenario
    private var random: SeededGenerator
    private(set) var time = 0.0
    private var waiting: [(place: Int, left: Double)]
    private var active: [Transfer] = []
    private var failures: [Int: Int] = [:]
    private var deviation: [Double]
    private var tokens = 0.0
    private let bounds: [Double?]
    private var isClosed = false
    /// Bytes that are safe.
    private(set) var done = 0.0
    private var safe: [Double]
    /// When the first server got another capacity.
    private(set) var stepped: Double?
    private var sinceStep: [Int]
    /// Whether everything that is measured is newer than the change.
    var isSettled: Bool {
        scenario.step == nil || sinceStep[0] >= Self.memory + 60
            || stepped != nil && !items.contains { $0.origin == "o0" }
    }
    /// Whether anything is known of each server that is needed.
    var isKnown: Bool {
        let known = Set(measured.map(\.origin))
        return items.allSatisfy { known.contains($0.origin) }
    }
    /// Over how many seconds a speed is measured.
    static let memory = 1800
    /// What became safe in each of the last seconds in which something of a server was under way and no bound applied.
    private var free: [[Double]]
    /// The same while a bound applied.
    private var bounded: [[(bytes: Double, bound: Double)]]
    let total: Double

    /// Begins.
    ///
    /// - Parameters:
    ///   - scenario: what is downloaded.
    ///   - seed: for what varies.
    ///   - past: an earlier run, whose measurements are kept.
    init(_ scenario: Scenario, seed: UInt64, past: SimulatedDownloads? = nil) {
        self.scenario = scenario
        random = SeededGenerator(seed: seed ^ 0xD0_7700)
        waiting = scenario.sizes.enumerated().map { ($0.offset, Double($0.element)) }
        bounds = Self.bounds(scenario)
        deviation = scenario.capacities.map { _ in 0 }
        sinceStep = scenario.capacities.map { _ in 0 }
        safe = scenario.capacities.map { _ in 0 }
        free = past?.free ?? scenario.capacities.map { _ in [] }
        bounded = scenario.capacities.map { _ in [] }
        total = scenario.sizes.reduce(0) { $0 + Double($1) }
    }

    var isDone: Bool { waiting.isEmpty && active.isEmpty }
    var now: Timestamp { scenario.start + .milliseconds(Int64(time * 1000)) }

    /// What is left of each lecture, in the order in which it goes on.
    var items: [ForecastItem] {
        let rest = active.map { ($0.place, $0.left) } + waiting.map { ($0.place, $0.left) }
        return rest.map { ForecastItem(bytes: Int64($0.1), origin: "o\(scenario.servers[$0.0])") }
    }

    /// The speed of each server as a program sees it.
    var measured: [MeasuredSpeed] {
        free.indices.compactMap { server in
            let isFree = !free[server].isEmpty
            let seconds = isFree ? free[server] : bounded[server].map(\.bytes)
            let bytes = Int64(seconds.reduce(0, +))
            guard bytes >= 256 << 10 else { return nil }
            let bound = isFree ? nil : bounded[server].map(\.bound).max().map { Int64($0) }
            return MeasuredSpeed(origin: "o\(server)", bytes: bytes, busy: .seconds(seconds.count), bound: bound)
        }
    }

    /// The bound of each minute of the week; nil for none.
    private static func bounds(_ scenario: Scenario) -> [Double?] {
        let limit = scenario.limit.map(Double.init)
        return (0..<10_080).map { minute in
            switch scenario.timetable?.rate(atMinuteOfWeek: minute) {
            case nil, .full: limit
            case .off: 0
            case .limited(let bytes): min(Double(bytes), limit ?? .infinity)
            }
        }
    }

    private func capacity(_ server: Int) -> Double {
        var capacity = scenario.capacities[server] * max(0.05, 1 + deviation[server])
        if server == 0, let step = scenario.step, done >= step.share * total { capacity *= step.factor }
        return capacity
    }

    /// One second.
    mutating func tick() {
        let bound = bounds[minuteOfWeek(now)]
        // Nothing moves in a closed minute.
        if bound == 0, active.allSatisfy({ $0.partial == 0 }) || isClosed {
            (isClosed, time, tokens) = (true, time + 60 - Double(now.milliseconds % 60_000) / 1000, 0)
            return
        }
        isClosed = bound == 0
        for server in deviation.indices {
            // A speed is about the same for ten seconds.
            let noise = (Double.random(in: -1...1, using: &random) + Double.random(in: -1...1, using: &random)) * 1.22
            deviation[server] = deviation[server] * 0.9 + noise * scenario.jitter * 0.436
        }
        if bound != 0 { fill() }
        tokens = bound.map { min($0, tokens + $0) } ?? .infinity
        var rooms = scenario.capacities.indices.map { capacity($0) }
        let before = safe
        var isMoving = bound != 0
        while isMoving {
            isMoving = false
            for place in active.indices where active[place].latency <= 0 && active[place].left > 0 {
                let server = scenario.servers[active[place].place]
                let bytes = min(Self.quantum, rooms[server], tokens, active[place].left)
                guard bytes > 0 else { continue }
                (rooms[server], tokens) = (rooms[server] - bytes, tokens - bytes)
                (active[place].left, active[place].partial) = (
                    active[place].left - bytes, active[place].partial + bytes
                )
                isMoving = true
            }
        }
        let busy = Set(active.map { scenario.servers[$0.place] })
        settle()
        time += 1
        if stepped == nil, let step = scenario.step, done >= step.share * total { stepped = time }
        guard bound != 0 else { return }
        for server in busy {
            let bytes = safe[server] - before[server]
            if let bound { bounded[server].append((bytes, bound)) } else { free[server].append(bytes) }
            // What is measured under a bound counts only without anything else.
            if stepped != nil, bound == nil || free[server].isEmpty { sinceStep[server] += 1 }
            if free[server].count > Self.memory { free[server].removeFirst(60) }
            if bounded[server].count > Self.memory { bounded[server].removeFirst(60) }
        }
    }

    private mutating func fill() {
        while active.count < scenario.jobs, !waiting.isEmpty {
            let item = waiting.removeFirst()
            let latency = Double.random(in: 0.1...0.6, using: &random)
            active.append(Transfer(place: item.place, left: item.left, latency: latency))
        }
        for place in active.indices { active[place].latency -= 1 }
    }

    /// Whole chunks are safe, unless the transfer breaks.
    private mutating func settle() {
        var open: [Transfer] = []
        for var transfer in active {
            let chunk = Double(Self.chunk)
            var isBroken = false
            while !isBroken, transfer.partial >= chunk || transfer.left <= 0 && transfer.partial > 0 {
                let bytes = min(chunk, transfer.partial)
                if Double.random(in: 0..<1, using: &random) < scenario.failure {
                    isBroken = true
                } else {
                    (transfer.partial, done) = (transfer.partial - bytes, done + bytes)
                    safe[scenario.servers[transfer.place]] += bytes
                    failures[transfer.place] = nil
                }
            }
            if isBroken {
                let count = (failures[transfer.place] ?? 0) + 1
                failures[transfer.place] = count
                let ceiling = Double(Backoff().ceiling(failures: count).milliseconds) / 1000
                let wait = Double.random(in: 0...ceiling, using: &random)
                (transfer.left, transfer.partial) = (transfer.left + transfer.partial, 0)
                transfer.latency = wait + Double.random(in: 0.1...0.6, using: &random)
                open.append(transfer)
            } else if transfer.left > 0 || transfer.partial > 0 {
                open.append(transfer)
            }
        }
        active = open
    }
}

extension SimulatedDownloads.Scenario {
    /// Makes a scenario.
    ///
    /// - Parameter seed: the same one brings the same scenario.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 7919 &+ 1)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        start = monday(Double(Int.random(in: 0..<7 * 86_400, using: &random)))
        capacities = (0..<Int.random(in: 1...3, using: &random)).map { _ in number(0.5...3) * 1_000_000 }
        jitter = [0, 0.05, 0.1][Int.random(in: 0...2, using: &random)]
        failure = [0, 0, 0.002, 0.01][Int.random(in: 0...3, using: &random)]
        jobs = [1, 2, 4, 8][Int.random(in: 0...3, using: &random)]
        let hours = number(0.7...2)
        let count = Int.random(in: 8...60, using: &random)
        let mean = capacities.reduce(0, +) / Double(capacities.count) * hours * 3600 / Double(count)
        for _ in 0..<count {
            sizes.append(Int64(mean * number(0.2...1.8)))
            servers.append(Int.random(in: capacities.indices, using: &random))
        }
        if seed % 4 == 0 { step = (number(0.2...0.5), [0.5, 0.7, 1.6][Int.random(in: 0...2, using: &random)]) }
        let texts: [String?] = [
            nil, nil, "22:00-06:00=full, else=800K", "02:00-06:00=full, else=off", "Mon-Fri 18:00-07:00=full, else=1M",
            "12:00-13:00=off, 00:00-06:00=2M, else=full", "Sat-Sun 00:00-24:00=full, 09:00-17:00=300K, else=off",
            "else=1500K",
        ]
        timetable = texts[Int.random(in: 0..<texts.count, using: &random)].flatMap { try? Timetable($0) }
        limit = Int.random(in: 0...4, using: &random) == 0 ? Int64(number(0.5...3) * 1_000_000) : nil
    }
}
