import LectureKit
import LectureModel
import LectureUpkeep

/// Watches whether a running download will be done in time.
struct RunReadiness {
    /// By when it should be done.
    var time: Timestamp { watch.time }
    /// When it will be done by the last forecast; nil for never, and before the first one.
    private(set) var end: Timestamp?

    private let manager: LectureManager
    private var watch: ReadinessWatch
    private var speed = RunningSpeed()
    private var windows: [PaceWindow] = []
    /// What earlier runs were measured with, until this one has a speed of its own.
    private var before: Double?
    private var last: BootInstant?

    /// How often it is computed.
    private static let period = Duration.seconds(5)
    /// How far a forecast looks.
    private static let horizon = Duration.seconds(366 * 86_400)

    init(by time: Timestamp, _ manager: LectureManager) { (watch, self.manager) = (ReadinessWatch(by: time), manager) }

    /// Takes a count of the run.
    ///
    /// - Parameters:
    ///   - summary: the count.
    ///   - now: the wall clock.
    ///   - instant: now.
    /// - Returns: the new state when it is news.
    /// - Throws: `LectureError` when the store cannot be read.
    mutating func take(
        _ summary: FetchSummary, now: Timestamp, at instant: BootInstant
    ) async throws -> ReadinessWatch.State? {
        let bound = windows.first { $0.start <= now && now < $0.end }?.bytesPerSecond
        speed.take(bytes: summary.fetchedBytes, isRunning: bound != 0, at: instant)
        guard last.map({ instant - $0 >= Self.period }) ?? true else { return nil }
        if windows.isEmpty { before = ForecastSpeeds(try await manager.downloadSpeeds()).others }
        if windows.first.map({ now >= $0.end || now < $0.start }) ?? true {
            windows = try await manager.paceWindows(from: now, to: max(now, time) + Self.horizon)
        }
        let open = summary.counts.filter { ![.completed, .failed, .removing].contains($0.key) }.values.reduce(0, +)
        guard open > 0 else { return nil }
        let left = max(0, summary.totalBytes - summary.committedBytes)
        // Nothing is known before the first sizes are, and without any speed.
        guard left > 0, let rate = speed.bytesPerSecond ?? before, rate > 0 else { return nil }
        let forecast = Forecast(
            items: [ForecastItem(bytes: left)], speeds: ForecastSpeeds(others: rate), windows: windows, jobs: 1,
            now: now)
        (end, last) = (forecast.end, instant)
        return watch.take(end, now: now)
    }
}
