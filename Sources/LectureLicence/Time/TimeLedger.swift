package import LectureModel

/// What is remembered of the time: the newest row of the time ledger, and the rules by which the next one follows.
///
/// Two times are kept. `proven` comes from servers and never runs backwards. `estimate` also believes the wall clock
/// where nothing speaks against it, is never before `proven`, and goes back only where a server says so. The wall clock
/// may be wrong by any constant: what counts is how it moves.
///
/// | the wall clock, against what was expected | same run of the machine | after a restart |
/// | --- | --- | --- |
/// | about right | the boot clock counts | nothing passed |
/// | later | with a server's time in this run: ignored; else taken | taken: the machine was off |
/// | earlier | with a server's time in this run: ignored; else a doubt | a doubt |
///
/// A doubt about the clock ends when the clock is where it is expected again, or with the next server's time.
package struct TimeLedger: Hashable, Sendable {
    /// How far the wall clock may stray without anybody wondering: NTP steps, a leap second, a slow oscillator.
    package static let tolerance: Duration = .seconds(120)
    /// No clock that was ever set shows an earlier time: 2024-01-01.
    package static let earliest = Timestamp(milliseconds: 1_704_067_200_000)

    /// All that a row holds.
    package typealias Row = TimeRow

    /// The newest row.
    package private(set) var row: Row

    /// The first row of a store.
    ///
    /// - Parameter reading: the clocks now.
    package init(first reading: ClockReading) {
        row = Row(reading: reading)
        look(at: reading)
    }

    /// Goes on from a row as it was stored.
    ///
    /// - Parameter row: the newest one.
    package init(_ row: Row) { self.row = row }

    /// What time it is.
    package var time: TrustedTime {
        if let doubt = row.doubt { return .doubtful(noEarlierThan: row.estimate, doubt) }
        return row.estimate.map { .known($0) } ?? .doubtful(noEarlierThan: nil, .neverSet)
    }

    /// The row that follows from a look at the clocks.
    ///
    /// - Parameter now: the clocks now.
    package mutating func look(at now: ClockReading) {
        let isSameRun = now.bootID == row.reading.bootID
        let passed = isSameRun ? max(.zero, now.boot - row.reading.boot) : .zero
        row.reading = now
        if !isSameRun { row.isAnchored = false }
        row.proven = row.proven.map { $0 + passed }
        guard let estimate = row.estimate.map({ $0 + passed }) else { return begin(now) }
        row.estimate = estimate
        let strays = now.wall + row.offset - estimate
        if row.isAnchored || strays.magnitude <= Self.tolerance {
            row.offset -= strays
            endClockDoubt()
        } else if strays > .zero {
            row.estimate = estimate + strays
            row.hasLeapt = row.hasLeapt || isSameRun && row.doubt == nil
            endClockDoubt()
        } else if row.doubt == nil {
            let wasNeverSet = !isSameRun && now.wall < Self.earliest
            row.doubt = wasNeverSet ? .neverSet : row.hasLeapt ? .forwardThenBack : .setBack
        }
    }

    /// The row that follows from the time of a server that has just answered over a connection that was verified. Ends
    /// every doubt about the clock.
    ///
    /// - Parameters:
    ///   - server: its time.
    ///   - now: the clocks when it came.
    package mutating func hear(_ server: Timestamp, at now: ClockReading) {
        look(at: now)
        let time = max(server, row.proven ?? server)
        (row.proven, row.estimate, row.offset) = (time, time, time - now.wall)
        (row.isAnchored, row.hasLeapt) = (true, false)
        endClockDoubt()
    }

    /// The row that follows from a time that somebody has signed at some time, for instance when a licence was issued:
    /// it is at least as late.
    ///
    /// - Parameters:
    ///   - signed: the time that was signed.
    ///   - now: the clocks when it was read.
    package mutating func believe(signed: Timestamp, at now: ClockReading) {
        look(at: now)
        row.proven = max(signed, row.proven ?? signed)
        guard row.estimate.map({ $0 < signed }) ?? true else { return }
        row.estimate = signed
        row.offset = signed - now.wall
        endClockDoubt()
    }

    /// The row that follows from times that were known before the store was found to be another one than this device
    /// last wrote: it is at least as late. The finding itself is in each licence and not in the clock: what the wall
    /// clock shows is believed as after a restart, neither more nor less.
    ///
    /// - Parameters:
    ///   - proven: the newest time a server has vouched for.
    ///   - estimate: the best guess.
    ///   - now: the clocks now.
    package mutating func rise(proven: Timestamp?, estimate: Timestamp?, at now: ClockReading) {
        row.proven = [row.proven, proven].compactMap(\.self).max()
        guard let floor = [row.estimate, estimate, proven].compactMap(\.self).max() else { return look(at: now) }
        (row.estimate, row.reading, row.isAnchored, row.hasLeapt) = (floor, now, false, false)
        row.offset = .zero
        endClockDoubt()
        look(at: now)
        row.hasLeapt = false
    }

    private mutating func begin(_ now: ClockReading) {
        if now.wall < Self.earliest {
            row.doubt = row.doubt ?? .neverSet
        } else {
            row.estimate = now.wall
            row.offset = .zero
            endClockDoubt()
        }
    }

    private mutating func endClockDoubt() {
        row.doubt = nil
    }
}

extension Duration {
    /// Without its sign.
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
