/// The counters shared by all exchanges of a transport. Confined to the transport's thread.
///
/// Silence of a server is measured in *running time*: time in which the thread could read. The time a sink blocks the
/// thread, because the disk is slow, and the time in which a rate limit forbids reading do not count, so that no server
/// is blamed for them.
final class Meter {
    /// Under a limit of all exchanges together, how many bytes of body each may take in one turn, so that all get the
    /// same; nil without such a limit.
    var share: Int?
    /// Exchanges that were paused by a limit and wait to resume.
    var paused: [Exchange] = []
    /// How the turns follow each other.
    var pace = TurnPace()
    /// The number of the current turn.
    private(set) var turn = 0
    private var bytes = 0
    /// Bytes of heads and bodies since the start.
    private(set) var totalBytes: Int64 = 0
    private var lost = Duration.zero
    private let startedAt = SuspendingClock.now
    /// The earliest running time at which some exchange may have stalled.
    var nextCheck = Duration.seconds(3600)

    /// The running time.
    ///
    /// - Parameter now: the time.
    /// - Returns: since the start.
    func running(now: SuspendingClock.Instant) -> Duration { startedAt.duration(to: now) - lost }

    /// Runs something that keeps the thread from reading.
    ///
    /// - Parameter body: a call of a sink, or a wait.
    /// - Returns: what `body` returns.
    func withoutRunning<Result>(_ body: () -> Result) -> Result {
        let begin = SuspendingClock.now
        defer { lost += begin.duration(to: SuspendingClock.now) }
        return body()
    }

    /// Counts received bytes.
    func add(_ count: Int) {
        bytes += count
        totalBytes += Int64(count)
    }

    /// Ends a turn.
    ///
    /// - Returns: the bytes counted in it.
    func endTurn() -> Int {
        defer { bytes = 0 }
        turn += 1
        return bytes
    }
}
