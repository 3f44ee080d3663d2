/// What happened between opening a player and closing it, summed up as it happens.
///
/// Every sum only grows, and a report holds them all, so the newest report of a session says what all older ones said.
/// The sums are kept as exact as the clocks and only rounded down in a report. Therefore it makes no difference into
/// how many intervals the same playing is cut.
///
/// | sum | of what |
/// | --- | --- |
/// | played | milliseconds of content, speed included, what is repeated counted again |
/// | seen | milliseconds of content, speed included, each counted once |
/// | shown | time in which the content ran, by the boot clock |
/// | open | time in which the player was open, by the boot clock |
package struct PlaySession: Hashable, Sendable {
    /// Sums stop here, instead of overflowing when they are multiplied for a percentage.
    private static let mostMilliseconds: Int64 = Int64.max / 1000

    /// Who watches, by the name the LMS knows.
    package let clientUserID: String
    /// When the session began, in seconds since the epoch. With the user it names the session, so it is never
    /// corrected.
    package let startAt: Int64
    /// The blocks of the content.
    package let grid: BlockGrid
    /// What was seen at least once.
    package private(set) var seen = SeenParts()
    /// What ran without a leap, in the order of watching, in milliseconds.
    package private(set) var stretches: [Range<Int64>] = []
    /// What the player does at the end of the newest interval.
    package private(set) var status: PlayStatus = .play

    private var playedMilliseconds: [Int64]
    private var shownNanoseconds: Int64 = 0
    private var openNanoseconds: Int64 = 0
    private var position: Int64 = 0

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - clientUserID: who watches, by the name the LMS knows.
    ///   - startAt: when it began, in seconds since the epoch.
    ///   - duration: the length of the content in milliseconds; 0 while unknown.
    ///   - blockCount: into how many equal parts reports divide the content.
    package init(clientUserID: String, startAt: Int64, duration: Int64, blockCount: Int) {
        self.clientUserID = clientUserID
        self.startAt = startAt
        grid = BlockGrid(duration: duration, count: blockCount)
        playedMilliseconds = Array(repeating: 0, count: grid.count)
    }

    /// Adds what happened next. The order is the order of the calls; no clock is asked for it.
    ///
    /// - Parameter interval: what happened.
    package mutating func add(_ interval: PlayInterval) {
        position = interval.to
        openNanoseconds = Self.sum(openNanoseconds, interval.nanoseconds, .max)
        switch interval.activity {
        case .play:
            status = .play
            shownNanoseconds = Self.sum(shownNanoseconds, interval.nanoseconds, .max)
            add(played: interval.played)
        case .pause: status = .pause
        case .stop: status = .stop
        // Whoever seeks while paused stays paused.
        case .seek: break
        }
    }

    /// What can be said so far.
    package var report: PlayReport {
        let played = playedMilliseconds.reduce(0) { Self.sum($0, $1, Self.mostMilliseconds) }
        return PlayReport(
            clientUserID: clientUserID, startAt: startAt, duration: grid.duration / 1000, status: status,
            playtime: played / 1000, realPlaytime: seen.total / 1000,
            playtimePercent: grid.duration == 0 ? 0 : played * 100 / grid.duration,
            showtime: shownNanoseconds / 1_000_000_000, runtime: openNanoseconds / 1_000_000_000,
            lastPlayAt: position / 1000, blocks: blocks, sessions: sessions, seen: seenSeconds)
    }

    private mutating func add(played part: Range<Int64>) {
        if part.isEmpty { return }
        seen.insert(part)
        for piece in grid.pieces(of: part) {
            let length = piece.range.upperBound - piece.range.lowerBound
            playedMilliseconds[piece.block] = Self.sum(
                playedMilliseconds[piece.block], length, Self.mostMilliseconds)
        }
        if let last = stretches.last, last.upperBound == part.lowerBound {
            stretches[stretches.count - 1] = last.lowerBound..<part.upperBound
        } else {
            stretches.append(part)
        }
    }

    private var blocks: [PlayReport.Block] {
        var seenMilliseconds = Array(repeating: Int64(0), count: grid.count)
        for piece in seen.ranges.flatMap(grid.pieces) {
            seenMilliseconds[piece.block] += piece.range.upperBound - piece.range.lowerBound
        }
        return (0..<grid.count).map { block in
            let length = Int64(grid.range(of: block).count)
            return PlayReport.Block(
                isPlayed: playedMilliseconds[block] > 0, seconds: playedMilliseconds[block] / 1000,
                percent: length == 0 ? 0 : min(100, seenMilliseconds[block] * 100 / length))
        }
    }

    private var sessions: [PlayReport.Stretch] {
        stretches.flatMap(grid.pieces).map { piece in
            // Both ends are rounded down, so that the pieces of a stretch add up to the stretch.
            let start = piece.range.lowerBound / 1000
            return PlayReport.Stretch(
                block: piece.block, startTime: start, playTime: piece.range.upperBound / 1000 - start)
        }
    }

    /// Rounded inwards: a second counts when all of it was seen.
    private var seenSeconds: [Range<Int64>] {
        seen.ranges.compactMap { range in
            let (start, end) = ((range.lowerBound + 999) / 1000, range.upperBound / 1000)
            return start < end ? start..<end : nil
        }
    }

    /// A sum of numbers that are not negative, which stays at its limit.
    private static func sum(_ left: Int64, _ right: Int64, _ limit: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? limit : min(sum, limit)
    }
}
