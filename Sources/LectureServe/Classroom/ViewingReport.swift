import LectureFormats
import LectureKit

/// What the script of a watch page reports: what was watched since its last report.
///
/// ```json
/// {"sequence":2,"state":"playing","duration":600.5,"played":[{"from":5,"to":9.8,"speed":1},{"from":60,"to":61}]}
/// ```
struct ViewingReport: Sendable, Hashable {
    /// What the player does now.
    enum State: String, Sendable, CaseIterable {
        case playing
        case paused
        /// The lecture has come to its end.
        case ended
        /// The page is closed.
        case closed
    }

    /// A stretch that was watched without a jump.
    struct Stretch: Sendable, Hashable {
        let from: Duration
        let to: Duration
        let speed: Double
    }

    /// The number of the report in its play, from 1. One that is sent twice has the same number.
    let sequence: Int64
    let state: State
    /// The length of the lecture as the player knows it; nil while it does not.
    let duration: Duration?
    /// In the order in which they were watched.
    let played: [Stretch]

    /// Stretches in one report. The script sends one every five seconds.
    static let mostStretches = 200
    /// The longest lecture: two days.
    static let longest = 172_800.0

    /// Reads a report. It is nil for what is none: a member that is missing or unknown, a number out of its range.
    ///
    /// - Parameter body: of the request.
    init?(_ body: [UInt8]) {
        guard body.count <= 1 << 16, let value = try? JSONScanner.scan(body, limits: .init(depth: 4, items: 2000)),
            let members = value.members,
            Set(members.map(\.name)).isSubset(of: ["sequence", "state", "duration", "played"]),
            let sequence = value["sequence"]?.integer, (1...1_000_000_000).contains(sequence),
            let state = value["state"]?.string.flatMap(State.init(rawValue:)),
            let elements = value["played"]?.elements, elements.count <= Self.mostStretches
        else { return nil }
        var played: [Stretch] = []
        for element in elements {
            guard let members = element.members, Set(members.map(\.name)).isSubset(of: ["from", "to", "speed"]),
                let from = element["from"]?.double, let to = element["to"]?.double, from >= 0, from < to,
                to <= Self.longest, Self.time(from) < Self.time(to)
            else { return nil }
            var speed = 1.0
            if let value = element["speed"] {
                guard let number = value.double, (0.0625...16).contains(number) else { return nil }
                speed = number
            }
            played.append(Stretch(from: Self.time(from), to: Self.time(to), speed: speed))
        }
        var duration: Duration?
        if let value = value["duration"], !value.isNull {
            guard let seconds = value.double, seconds > 0, seconds <= Self.longest else { return nil }
            duration = Self.time(seconds)
        }
        (self.sequence, self.state, self.duration, self.played) = (sequence, state, duration, played)
    }

    private static func time(_ seconds: Double) -> Duration { .milliseconds(Int64((seconds * 1000).rounded())) }
}

/// Judges the reports of one play, and turns them into intervals for the statistics.
///
/// A report that comes twice is dropped. What was watched lies within the lecture, and in all it is no more than four
/// times as long as the play has been open: nothing plays faster.
struct ViewingMeter: Sendable, Hashable {
    /// What a report adds.
    struct Addition: Sendable, Hashable {
        var intervals: [PlayedInterval] = []
        /// Whether the viewer has jumped.
        var hasJump = false
    }

    /// The length of the lecture; nil when it is not known.
    let duration: Duration?
    /// When the play was opened, by a clock that only runs forward.
    let openedAt: Duration
    /// The number of the last report.
    private(set) var sequence: Int64 = 0
    /// What was watched in all.
    private(set) var watched: Duration = .zero
    /// Where the last stretch ended; nil before the first one.
    private(set) var place: Duration?

    /// How much faster than the clock a lecture may play.
    static let fastest = 4
    /// What a player has buffered and rounded.
    static let slack: Duration = .seconds(2)

    /// Creates a meter.
    ///
    /// - Parameters:
    ///   - duration: the length of the lecture; nil when it is not known.
    ///   - openedAt: when the play was opened.
    init(duration: Duration?, openedAt: Duration) { (self.duration, self.openedAt) = (duration, openedAt) }

    /// Adds a report.
    ///
    /// - Parameters:
    ///   - report: the report.
    ///   - now: by the clock of `openedAt`.
    /// - Returns: what it adds; nil for one that was there already.
    /// - Throws: ``ClassroomRefusal/progress``; then nothing is added.
    mutating func add(_ report: ViewingReport, now: Duration) throws(ClassroomRefusal) -> Addition? {
        guard report.sequence > sequence else { return nil }
        // Where the store does not know the length, it is what the player says.
        let length = duration ?? report.duration
        var sum = watched
        for stretch in report.played {
            if let length, stretch.to > length + Self.slack { throw .progress }
            sum += stretch.to - stretch.from
        }
        guard sum <= (now - openedAt) * Self.fastest + Self.slack else { throw .progress }
        var addition = Addition()
        for stretch in report.played {
            let (from, to) = (min(stretch.from, length ?? stretch.from), min(stretch.to, length ?? stretch.to))
            // What a player has rounded beyond the end is nothing.
            guard from < to else { continue }
            if let place, from != place {
                addition.intervals.append(PlayedInterval(.seek, from: place, to: from, lasting: .zero))
                addition.hasJump = true
            }
            let lasting = (to - from) / stretch.speed
            addition.intervals.append(
                PlayedInterval(.play, from: from, to: to, speed: stretch.speed, lasting: lasting))
            place = to
        }
        (sequence, watched) = (report.sequence, sum)
        return addition
    }
}
