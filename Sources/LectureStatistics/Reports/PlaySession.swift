/// What happened between opening a player and closing it, summed up as it happens.
///
/// Every sum only grows, and a report contains them all, so the newest report of a session includes all older ones. The
/// sums are as exact as the clocks and only rounded down in a report. So the number of intervals into which the same
/// playing is divided makes no difference.
///
/// | sum | of what |
/// | --- | --- |
/// | played | milliseconds of media time, repeats counted again |
/// | seen | milliseconds of media time, each counted once |
/// | shown | time in which the lecture was playing, by the boot clock |
/// | open | time in which the player was open, by the boot clock |
package struct PlaySession: Hashable, Sendable {
    /// Sums are capped here, so that multiplying them for a percentage does not overflow.
    private static let mostMilliseconds: Int64 = Int64.max / 1000

    /// The learner, by the id in the LMS.
    package let clientUserID: String
    /// When the session started, in seconds since the epoch. With the user it identifies the session, so it is never
    /// corrected.
    package let startAt: Int64
    /// The blocks of the lecture.
    package let grid: BlockGrid
    /// What was seen at least once.
    package private(set) var seen = SeenParts()
    /// What was played without a jump, in the order of watching, in milliseconds.
    package private(set) var stretches: [Range<Int64>] = []
    /// The state of the player at the end of the newest interval.
    package private(set) var status: PlayStatus = .play

    private var playedMilliseconds: [Int64]
    private var shownNanoseconds: Int64 = 0
    private var openNanoseconds: Int64 = 0
    private var position: Int64 = 0

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - clientUserID: the learner, by the id in the LMS.
    ///   - startAt: when it started, in seconds since the epoch.
    ///   - duration: the length of the lecture in milliseconds; 0 while unknown.
    ///   - blockCount: into how many equal parts reports divide the lecture.
    package init(clientUserID: String, startAt: Int64, duration: Int64, blockCount: Int) {
        self.clientUserID = clientUserID
        self.startAt = startAt
        grid = BlockGrid(duration: duration, count: blockCount)
        playedMilliseconds = Array(repeating: 0, count: grid.count)
    }

    /// Adds what happened next. The order is the order of the calls; clocks do not matter.
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
        // A seek does not change the state: a paused player stays paused.
        case .seek: break
        }
    }

    /// Ends the session where it is.
    package mutating func stop() { status = .stop }

    /// The report so far.
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

    /// A sum of non-negative numbers, capped at a limit.
    private static func sum(_ left: Int64, _ right: Int64, _ limit: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? limit : min(sum, limit)
    }
}
