import LectureFormats
import LectureModel

/// What is known of the ways to servers: from a far one that answers at once, many small files take hardly longer than
/// one, since nearly all of the time is the way there and back.
///
///     unknown ──── far, and an answer at once ────▶ far ──── its files take longer than the way explains ────▶ not far
///                                                    ▲                                                          │
///                                                    └──────────────── they do not any more ────────────────────┘
///
/// Only the way counts, which TCP shows when it connects: a server that is near and takes long to answer is busy, and
/// asking it for more would only make it busier.
///
/// Transfers that share a connection (HTTP/2) wait for each other: a header comes after the data of the others that the
/// server sent before it. The connection's window doubles with each round trip (RFC 5681 section 3.1), so that twice as
/// many transfers explain one more round trip.
struct FarServers: Sendable, Hashable {
    /// A server from here on is far: at less, a round trip is not much longer than what a file costs here.
    static let farAway = Duration.milliseconds(20)
    /// An answer that begins within so many round trips comes at once.
    static let promptAnswer = 2.0
    /// A small file takes at most so many round trips: three for 64 KiB on a new connection (RFC 6928, a window of ten
    /// segments that doubles), and about as many again when packets are lost. Where the files take longer, the link has
    /// no more to give.
    static let shortTransfer = 6.0
    /// The largest file that is small.
    static let smallFile: UInt64 = 1 << 20
    /// How much of the mean one transfer is.
    private static let weight = 1.0 / 8

    /// How many of the round trips that a transfer took are not explained by those that share its connection.
    private static func alone(_ roundTrips: Double, sharing count: Int) -> Double {
        let doublings = Int.bitWidth - 1 - max(1, count).leadingZeroBitCount
        return max(min(roundTrips, 1), roundTrips - Double(doublings))
    }

    private struct Way: Hashable {
        /// The shortest time in which TCP has connected.
        var roundTrip: Duration
        /// How many round trips an answer takes to begin.
        var delay = Mean()
        /// How many a transfer takes in all.
        var length = Mean()
        /// Whether the last answer was that of a small file.
        var isSmall = false

        var isFar: Bool {
            roundTrip >= FarServers.farAway && isSmall && delay.isAtMost(FarServers.promptAnswer)
                && length.value ?? 0 <= FarServers.shortTransfer
        }
    }

    /// A mean of the last ones.
    private struct Mean: Hashable {
        private(set) var value: Double?

        mutating func add(_ one: Double) { value = value.map { $0 + (one - $0) * FarServers.weight } ?? one }

        func isAtMost(_ limit: Double) -> Bool { value.map { $0 <= limit } ?? false }
    }

    private var ways: [Origin: Way] = [:]

    /// Nothing is known.
    init() {}

    /// Whether one more request at once is worth it.
    func isFar(_ origin: Origin) -> Bool { ways[origin]?.isFar ?? false }

    /// Servers that are far.
    var far: some Sequence<Origin> { ways.lazy.filter(\.value.isFar).map(\.key) }

    /// An answer has begun.
    ///
    /// - Parameters:
    ///   - origin: which server's.
    ///   - distance: how long TCP needed to connect; nil when a connection was used again.
    ///   - delay: how long the answer took to begin; nil when that is not known.
    ///   - total: the length of the file in bytes; nil when that is not known.
    ///   - count: how many transfers share the connection, with this one.
    mutating func answered(
        _ origin: Origin, distance: Duration?, delay: Duration?, total: UInt64?, sharing count: Int = 1
    ) {
        let known = ways[origin]?.roundTrip
        guard let roundTrip = [known, distance].compactMap(\.self).min(), roundTrip > .zero, let delay else { return }
        var way = ways[origin] ?? Way(roundTrip: roundTrip)
        way.roundTrip = roundTrip
        way.delay.add(Self.alone(delay / roundTrip, sharing: count))
        way.isSmall = total.map { $0 <= Self.smallFile } ?? false
        ways[origin] = way
    }

    /// A transfer of a small file is over.
    ///
    /// - Parameters:
    ///   - origin: from which server.
    ///   - time: since the request was sent; nil when that is not known.
    ///   - count: as in ``answered(_:distance:delay:total:sharing:)``.
    mutating func ended(_ origin: Origin, after time: Duration?, sharing count: Int = 1) {
        guard let time, let roundTrip = ways[origin]?.roundTrip else { return }
        ways[origin]?.length.add(Self.alone(time / roundTrip, sharing: count))
    }

    /// A transfer has failed: the server gets no more at once until others were as short as before.
    mutating func failed(_ origin: Origin) {
        for _ in 0..<8 { ways[origin]?.length.add(Self.shortTransfer * 4) }
    }

    /// The network is another one: the ways are, too.
    mutating func forget() { ways = [:] }
}
