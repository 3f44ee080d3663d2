/// Whether the next turn waits a moment, because there are few bytes in each.
///
/// A server that is far sends a packet at a time: most turns would be for the bytes of one packet, and each costs
/// system calls. A moment later there are more of them, on more connections. Where the servers are near, a wait would
/// cost more than it saves: they have nothing to send before the next request.
struct TurnPace {
    /// The longest wait. The buffers of the connections hold what arrives meanwhile: at 10 Gbit/s about 2 MB, on all of
    /// them.
    static let longest = Duration.milliseconds(2)
    /// The shortest wait.
    static let shortest = Duration.milliseconds(1)
    /// A wait takes at most this share of the time in which the servers answer.
    static let share = 10
    /// Turns with more bytes than this do not wait.
    static let enough = 128.0 * 1024
    /// Fewer exchanges do not wait: they may be the steps of one task, each of which waits for the one before.
    static let manyExchanges = 4

    /// The bytes of a turn that had any, a mean of the last ones.
    private var bytes = Self.enough
    /// How far the servers are: how long the fastest answer took. It rises slowly, since one slow answer says nothing
    /// about the distance.
    private var answer: Duration?

    /// A server has begun to answer.
    ///
    /// - Parameter time: since the request was sent.
    mutating func answered(after time: Duration) {
        answer = answer.map { min(time, $0 + (time - $0) / 64) } ?? time
    }

    /// A turn is over.
    ///
    /// - Parameters:
    ///   - count: how many bytes arrived in it.
    ///   - running: how many exchanges there are.
    /// - Returns: how long to wait before the connections are looked at again; nil for not at all.
    mutating func wait(after count: Int, running: Int) -> Duration? {
        guard count > 0 else { return nil }
        bytes += (Double(count) - bytes) / 16
        guard bytes < Self.enough, running >= Self.manyExchanges, let answer else { return nil }
        let wait = min(answer / Self.share, Self.longest)
        return wait < Self.shortest ? nil : wait
    }
}
