/// Whether the next turn waits a moment, because there are few bytes in each.
///
/// A turn looks at every connection, and a server that is far sends a packet at a time: most turns would be for the
/// bytes of one packet. A moment later there are more of them, on more connections.
struct TurnPace {
    /// How long a turn waits. The buffers of the connections hold what arrives meanwhile: at 10 Gbit/s about 1 MB, on
    /// all of them.
    static let pause = Duration.milliseconds(1)
    /// Turns with more bytes than this do not wait.
    static let enough = 32.0 * 1024
    /// Fewer exchanges do not wait: they may be the steps of one task, each of which waits for the one before.
    static let manyExchanges = 4

    /// The bytes of a turn that had any, a mean of the last ones.
    private var mean = Self.enough

    /// A turn is over.
    ///
    /// - Parameters:
    ///   - bytes: how many arrived in it.
    ///   - running: how many exchanges there are.
    /// - Returns: whether to wait before the connections are looked at again.
    mutating func waits(after bytes: Int, running: Int) -> Bool {
        guard bytes > 0 else { return false }
        mean += (Double(bytes) - mean) / 16
        return mean < Self.enough && running >= Self.manyExchanges
    }
}
