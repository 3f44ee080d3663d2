public import LectureKit
import LectureModel

/// What is left to download of one lecture.
public struct ForecastItem: Sendable, Hashable {
    /// Bytes that are left.
    public var bytes: Int64
    /// Scheme, host and port of its server; empty when unknown.
    public var origin: String
    /// No byte before this time; nil for none.
    public var notBefore: Timestamp?

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - bytes: bytes that are left; 0 for a complete lecture.
    ///   - origin: scheme, host and port of its server; empty when unknown.
    ///   - notBefore: no byte before this time.
    public init(bytes: Int64, origin: String = "", notBefore: Timestamp? = nil) {
        (self.bytes, self.origin, self.notBefore) = (bytes, origin, notBefore)
    }
}

/// How fast servers are.
public struct ForecastSpeeds: Sendable, Hashable {
    /// Bytes a second by server, all its transfers together.
    public var byOrigin: [String: Double]
    /// Bytes a second of servers that were not measured; nil when nothing was.
    public var others: Double?

    /// Creates the same speed for every server.
    ///
    /// - Parameter others: bytes a second; nil for an unknown one.
    public init(others: Double? = nil) { (byOrigin, self.others) = ([:], others) }

    /// Takes what was measured. A server that was not measured is as fast as all others in the mean. Where a limit was
    /// reached, it was the limit that was measured: alone, each of the servers that shared it may reach it.
    ///
    /// - Parameter measured: one element for each server.
    public init(_ measured: [MeasuredSpeed]) {
        let shared = measured.filter { $0.bound != nil }.reduce(0) { $0 + $1.bytesPerSecond }
        byOrigin = Dictionary(
            measured.map { speed in
                let bound = speed.bound.map(Double.init) ?? 0
                return (speed.origin, shared >= 0.95 * bound ? max(speed.bytesPerSecond, bound) : speed.bytesPerSecond)
            }, uniquingKeysWith: { first, _ in first })
        let seconds = measured.reduce(0) { $0 + Double($1.busy.milliseconds) / 1000 }
        others = seconds > 0 ? measured.reduce(0) { $0 + Double($1.bytes) } / seconds : nil
    }

    func speed(of origin: String) -> Double? { byOrigin[origin] ?? others }
}

/// When downloads will be done: a value, computed without a clock, a store or a server.
///
/// Bytes flow like water. Lectures begin in their order, as many at once as there are jobs. The transfers of one server
/// share its speed equally; all together stay below the bound of the window of the timetable, which is shared equally
/// among those that could use more.
public struct Forecast: Sendable, Hashable {
    /// When each lecture is complete, in the order of the items; nil: not within the windows, or at no known speed.
    public private(set) var completions: [Timestamp?]
    /// When the last one is complete; nil when one never is.
    public var end: Timestamp? {
        let known = completions.compactMap(\.self)
        return known.count == completions.count ? known.max() ?? began : nil
    }

    private let began: Timestamp

    /// Computes it.
    ///
    /// - Parameters:
    ///   - items: what is left, in the order in which it is downloaded.
    ///   - speeds: how fast the servers are.
    ///   - windows: what may be used when; they follow one another and cover `now`. Nothing is known after the last.
    ///   - jobs: lectures at once, at least 1.
    ///   - now: when the downloads begin.
    public init(items: [ForecastItem], speeds: ForecastSpeeds, windows: [PaceWindow], jobs: Int, now: Timestamp) {
        began = now
        completions = items.map { $0.bytes <= 0 ? now : nil }
        var flow = Flow(items, speeds, jobs: max(1, jobs), now: now)
        for window in windows where window.end > now && !flow.isDone {
            flow.run(until: window.end, bound: window.bytesPerSecond.map(Double.init)) { completions[$0] = $1 }
        }
    }

    /// How many items are complete at a time.
    ///
    /// - Parameter time: the time.
    /// - Returns: the number.
    public func complete(by time: Timestamp) -> Int { completions.count { $0.map { $0 <= time } ?? false } }
}

/// The state of a forecast between two changes.
private struct Flow {
    private struct Active {
        let place: Int
        let speed: Double
        let origin: String
        var left: Double
        var rate = 0.0
    }

    private let items: [ForecastItem]
    private let speeds: ForecastSpeeds
    private let jobs: Int
    /// Seconds since the beginning.
    private var time = 0.0
    private let began: Timestamp
    /// Items that have not begun, the next one first.
    private var waiting: [Int]
    private var active: [Active] = []

    /// An item of unknown speed never ends.
    var isDone: Bool { active.isEmpty && waiting.isEmpty }

    init(_ items: [ForecastItem], _ speeds: ForecastSpeeds, jobs: Int, now: Timestamp) {
        (self.items, self.speeds, self.jobs, began) = (items, speeds, jobs, now)
        waiting = items.indices.filter { items[$0].bytes > 0 && (speeds.speed(of: items[$0].origin) ?? 0) > 0 }
    }

    private func seconds(_ stamp: Timestamp) -> Double { Double((stamp - began).milliseconds) / 1000 }

    /// Runs to the end of a window.
    mutating func run(until stamp: Timestamp, bound: Double?, _ complete: (Int, Timestamp) -> Void) {
        let end = seconds(stamp)
        while time < end, !isDone {
            begin()
            share(bound)
            let ends = active.compactMap { $0.rate > 0 ? $0.left / $0.rate : nil }
            let step = min(end - time, ends.min() ?? .infinity, nextBeginning - time)
            time += step
            for place in active.indices { active[place].left -= active[place].rate * step }
            // Less than a byte is left by rounding.
            for done in active where done.left < 0.5 { complete(done.place, began + .milliseconds(Int64(time * 1000))) }
            active.removeAll { $0.left < 0.5 }
        }
    }

    /// When a free job gets its next item, in seconds; infinity when none waits for a time.
    private var nextBeginning: Double {
        guard active.count < jobs else { return .infinity }
        return waiting.compactMap { items[$0].notBefore.map(seconds) }.filter { $0 > time }.min() ?? .infinity
    }

    private mutating func begin() {
        guard active.count < jobs, !waiting.isEmpty else { return }
        var left: [Int] = []
        for (order, place) in waiting.enumerated() {
            if active.count == jobs {
                left += waiting[order...]
                break
            }
            let item = items[place]
            if let start = item.notBefore, seconds(start) > time {
                left.append(place)
                continue
            }
            let speed = speeds.speed(of: item.origin) ?? 0
            active.append(Active(place: place, speed: speed, origin: item.origin, left: Double(item.bytes)))
        }
        waiting = left
    }

    /// Gives each transfer its share of its server, and all together no more than the bound.
    private mutating func share(_ bound: Double?) {
        let counts = Dictionary(active.map { ($0.origin, 1.0) }, uniquingKeysWith: +)
        for place in active.indices { active[place].rate = active[place].speed / (counts[active[place].origin] ?? 1) }
        guard var rest = bound else { return }
        // Those that want least first: what they leave is for the others.
        var others = active.count
        for place in active.indices.sorted(by: { active[$0].rate < active[$1].rate }) {
            active[place].rate = min(active[place].rate, rest / Double(others))
            rest -= active[place].rate
            others -= 1
        }
    }
}
