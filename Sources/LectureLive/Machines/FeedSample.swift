/// What a feed was like for one second: what alarms and bitrates are decided by.
public struct FeedSample: Hashable, Sendable {
    /// How much media waits to be sent.
    public var queue: Duration
    /// What was sent in this second, in bits.
    public var sentBits: Int

    /// Creates a sample.
    ///
    /// - Parameters:
    ///   - queue: how much media waits to be sent.
    ///   - sentBits: what was sent in this second, in bits.
    public init(queue: Duration, sentBits: Int) { (self.queue, self.sentBits) = (queue, sentBits) }
}

/// Whether the queue of a feed grows steadily: three samples in a row, each above the one before, the last at 200 ms or
/// more. It is how a link that became too narrow shows first.
package struct QueueTrend: Hashable, Sendable {
    /// A queue below this is none.
    package static let floor = Duration.milliseconds(200)
    private var last: Duration?
    private var rises = 0

    /// Creates a trend without samples.
    package init() {}

    /// Takes a sample.
    ///
    /// - Parameter queue: how much waits.
    /// - Returns: whether the queue grows steadily.
    package mutating func grows(_ queue: Duration) -> Bool {
        rises = last.map { queue > $0 } == true ? rises + 1 : 0
        last = queue
        return rises >= 3 && queue >= Self.floor
    }
}

/// How good the link of a broadcaster is, sampled once a second.
///
/// | level | queue | or |
/// |---|---|---|
/// | normal | below 250 ms | |
/// | alert 1 | from 250 ms | it grows steadily (``QueueTrend``) |
/// | alert 2 | from 700 ms | |
/// | alert 3 | from 2 s | nothing was sent for 2 s, or the link is lost |
///
/// It rises at once, over several levels too; it falls after three samples in a row that are better, to the worst of
/// them.
///
/// ```
/// normal ──▶ alert 1 ──▶ alert 2 ──▶ alert 3      at once, also over several
///    ▲──────────┴───────────┴───────────┘         after three better samples
/// ```
package struct AlarmMachine: Hashable, Sendable {
    /// The levels, the higher the worse.
    package enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
        case normal, alert1, alert2, alert3

        /// The better one is smaller.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// So many better samples in a row lower the level.
    package static let calmSamples = 3

    /// The level.
    package private(set) var level = Level.normal
    private var trend = QueueTrend()
    private var better: [Level] = []
    private var silentSeconds = 0

    /// Creates a link that is good.
    package init() {}

    /// The level of a queue alone.
    ///
    /// - Parameter queue: how much waits.
    /// - Returns: its level.
    package static func level(of queue: Duration) -> Level {
        switch queue {
        case .seconds(2)...: .alert3
        case .milliseconds(700)...: .alert2
        case .milliseconds(250)...: .alert1
        default: .normal
        }
    }

    /// Takes the sample of a second.
    ///
    /// - Parameters:
    ///   - sample: the second.
    ///   - isReconnecting: whether the link is lost.
    /// - Returns: the level, if it has changed.
    package mutating func take(_ sample: FeedSample, isReconnecting: Bool = false) -> Level? {
        silentSeconds = sample.sentBits > 0 ? 0 : silentSeconds + 1
        var seen = Self.level(of: sample.queue)
        if trend.grows(sample.queue) { seen = max(seen, .alert1) }
        if isReconnecting || silentSeconds >= 2 { seen = .alert3 }
        if seen >= level {
            better = []
            return change(to: seen)
        }
        better.append(seen)
        guard better.count == Self.calmSamples, let worst = better.max() else { return nil }
        better = []
        return change(to: worst)
    }

    private mutating func change(to new: Level) -> Level? {
        guard new != level else { return nil }
        level = new
        return new
    }
}

/// The video bitrate that a link can carry, decided once a second.
///
/// Where the queue grows steadily, or jumps to 700 ms, the bitrate goes down to 85 % of what was sent beside the
/// sound, at least to a tenth of the highest. After four calm seconds (a queue below 100 ms) it goes up by a tenth of
/// the highest. A queue above 1.5 s drains too slowly: it is dropped up to the next key frame, also where the bitrate
/// stays.
///
/// ```
/// highest ──grows──▶ 0.85 · (sent − sound) ──4 calm s──▶ + highest/10 ──4 calm s──▶ … ──▶ highest
/// ```
package struct BitrateMachine: Hashable, Sendable {
    /// What has to be done.
    package enum Effect: Hashable, Sendable {
        case setBitrate(Int)
        case dropToKeyFrame
    }

    /// The highest bitrate, in bits a second.
    package let highest: Int
    /// The bitrate of the sound, in bits a second.
    package let audio: Int
    /// Whether the bitrate follows the link.
    package var isAdaptive: Bool
    /// The bitrate now.
    package private(set) var current: Int
    private var trend = QueueTrend()
    private var last = Duration.zero
    private var calmSeconds = 0

    /// Creates one at the highest bitrate.
    ///
    /// - Parameters:
    ///   - highest: of the video, in bits a second.
    ///   - audio: of the sound, in bits a second.
    ///   - isAdaptive: whether the bitrate follows the link.
    package init(highest: Int, audio: Int, isAdaptive: Bool) {
        (self.highest, self.audio, self.isAdaptive) = (max(highest, 1), max(audio, 0), isAdaptive)
        current = max(highest, 1)
    }

    /// The lowest bitrate.
    package var floor: Int { max(highest / 10, 1) }

    /// Sets the bitrate by hand.
    ///
    /// - Parameter bitrate: in bits a second; outside the bounds it is the nearest one.
    /// - Returns: what has to be done.
    package mutating func set(_ bitrate: Int) -> [Effect] { change(to: bitrate) }

    /// Takes the sample of a second.
    ///
    /// - Parameter sample: the second.
    /// - Returns: what has to be done.
    package mutating func take(_ sample: FeedSample) -> [Effect] {
        let jumped = sample.queue >= .milliseconds(700) && last < .milliseconds(700)
        let isTooMuch = trend.grows(sample.queue) || jumped
        last = sample.queue
        var effects: [Effect] = []
        if isTooMuch {
            calmSeconds = 0
            // In whole numbers, so that no rounding differs.
            let usable = max(sample.sentBits - audio, 0) / 100 * 85
            if isAdaptive, usable < current { effects = change(to: usable) }
        } else if sample.queue < .milliseconds(100) {
            calmSeconds += 1
            if isAdaptive, calmSeconds == 4 {
                calmSeconds = 0
                effects = change(to: current + highest / 10)
            }
        } else {
            calmSeconds = 0
        }
        if sample.queue > .milliseconds(1500) { effects.append(.dropToKeyFrame) }
        return effects
    }

    private mutating func change(to bitrate: Int) -> [Effect] {
        let new = min(max(bitrate, floor), highest)
        guard new != current else { return [] }
        current = new
        return [.setBitrate(new)]
    }
}
