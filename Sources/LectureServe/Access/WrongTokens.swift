import LectureModel

/// Counts wrong tokens by the address that sends them. A token has 256 bits, so this is not what keeps guesses out: it
/// keeps them from costing much, and it shows a program with an old token what is wrong.
final class WrongTokens: Sendable {
    /// How many wrong ones an address may send in ``window``.
    static let most = 10
    /// What they are counted in.
    static let window = Duration.seconds(60)
    /// How many addresses are remembered; with more, those that are counted longest are forgotten.
    static let mostAddresses = 4096

    private struct Count {
        var since: Timestamp
        var wrong: Int
    }

    private let counts = Guarded<[String: Count]>([:])

    /// Counts a wrong token.
    ///
    /// - Parameters:
    ///   - address: where it came from.
    ///   - now: the time.
    /// - Returns: after how many seconds another one is looked at; nil as long as there are few.
    func add(_ address: String, now: Timestamp) -> Int? {
        counts.withLock { counts in
            if counts[address] == nil, counts.count >= Self.mostAddresses { Self.forget(&counts, now) }
            var count = counts[address] ?? Count(since: now, wrong: 0)
            // A clock that was set back begins again, too.
            if now >= count.since + Self.window || now < count.since { count = Count(since: now, wrong: 0) }
            count.wrong += 1
            counts[address] = count
            guard count.wrong > Self.most else { return nil }
            return max(1, Int((Self.window - (now - count.since)).milliseconds + 999) / 1000)
        }
    }

    /// How many addresses are counted.
    var addressCount: Int { counts.withLock(\.count) }

    private static func forget(_ counts: inout [String: Count], _ now: Timestamp) {
        counts = counts.filter { now < $0.value.since + window }
        guard counts.count >= mostAddresses else { return }
        let oldest = counts.sorted { $0.value.since < $1.value.since }.prefix(mostAddresses / 4)
        for entry in oldest { counts[entry.key] = nil }
    }
}
