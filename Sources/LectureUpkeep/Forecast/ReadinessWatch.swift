public import LectureModel

/// Watches whether a run will be done in time: a value, fed with a forecast now and then.
///
/// ```
/// unknown ──▶ in time ◀──▶ late
/// ```
///
/// A forecast has to be beyond the other side of a margin twice in a row before the state changes, so that a speed that
/// varies does not make it change to and fro. The margin is a minute, or a fiftieth of what is left.
public struct ReadinessWatch: Sendable, Hashable {
    /// Whether it will be in time.
    public enum State: String, Sendable {
        /// Nothing was forecast yet.
        case unknown
        /// It will.
        case inTime
        /// It will not.
        case late
    }

    /// By when it has to be done.
    public let time: Timestamp
    /// The state.
    public private(set) var state = State.unknown
    private var opposed = 0
    private var hasBeenLate = false

    /// Creates a watch.
    ///
    /// - Parameter time: by when it has to be done.
    public init(by time: Timestamp) { self.time = time }

    /// Takes a forecast.
    ///
    /// - Parameters:
    ///   - end: when it will be done; nil for never.
    ///   - now: the wall clock.
    /// - Returns: the new state when it has changed, except for the first one in time, which is no news.
    public mutating func take(_ end: Timestamp?, now: Timestamp) -> State? {
        let rest: Duration = end.map { $0 - now } ?? .zero
        let margin: Duration = max(.seconds(60), rest / 50)
        let isLate = end.map { $0 > time } ?? true
        // What has passed needs no second look.
        let isSure = now > time || (end.map { isLate ? $0 - time >= margin : time - $0 >= margin } ?? true)
        let seen: State = isLate ? .late : .inTime
        guard seen != state else {
            opposed = 0
            return nil
        }
        guard state == .unknown || isSure else {
            opposed = 0
            return nil
        }
        opposed += 1
        guard opposed >= 2 || now > time else { return nil }
        (opposed, state) = (0, seen)
        let isNews = seen == .late || hasBeenLate
        hasBeenLate = hasBeenLate || seen == .late
        return isNews ? seen : nil
    }
}

/// The speed of a run that is going on: the mean of the last minutes, in which later bytes count more.
public struct RunningSpeed: Sendable {
    /// After this much time in which something ran, an earlier measurement counts a third.
    private static let memory = 60.0
    private var last: (time: BootInstant, bytes: Int64)?
    private var weightedBytes = 0.0
    private var weight = 0.0

    /// Starts without a measurement.
    public init() {}

    /// Bytes a second; nil within the first two seconds.
    public var bytesPerSecond: Double? { weight >= 2 ? weightedBytes / weight : nil }

    /// Takes a count.
    ///
    /// - Parameters:
    ///   - bytes: everything that was received in the run.
    ///   - isRunning: whether the timetable allowed anything since the last count; other time does not count.
    ///   - time: now.
    public mutating func take(bytes: Int64, isRunning: Bool, at time: BootInstant) {
        defer { last = (time, bytes) }
        guard let last, isRunning else { return }
        let seconds = Double((time - last.time).milliseconds) / 1000
        guard seconds > 0 else { return }
        let kept = max(0, 1 - seconds / Self.memory)
        weightedBytes = weightedBytes * kept + Double(max(0, bytes - last.bytes))
        weight = weight * kept + seconds
    }
}
