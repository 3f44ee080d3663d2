package import LectureModel

/// What is recorded about the time: the newest row of the time ledger, and the rules for the next one.
///
/// Two times are kept. `proven` comes from servers and never runs backwards. `estimate` also follows the wall clock
/// while nothing contradicts it, is never before `proven`, and goes back only when a server says so. The wall clock may
/// be wrong by any constant: only its movement matters.
///
/// | the wall clock, compared with the expected time | same boot | after a restart |
/// | --- | --- | --- |
/// | later | with a server's time in this boot: ignored; else accepted | accepted: the machine was off |
/// | earlier by up to ``tolerance`` | the boot clock counts | nothing passed |
/// | earlier by more | with a server's time in this boot: ignored; else a doubt | a doubt |
///
/// So without a server's time the clock that says more counts: neither a wall clock nor a boot clock that runs slowly
/// gains time.
///
/// A doubt about the clock ends when the clock is where it is expected again, or with the next server's time. A boot
/// clock that runs backwards within a boot is a doubt as long as it does: only a changed clock does that.
package struct TimeLedger: Hashable, Sendable {
    /// How far the wall clock may fall behind without a doubt: NTP steps, a leap second, a slow oscillator.
    package static let tolerance: Duration = .seconds(120)
    /// How far it may stay behind and be expected where it was: a clock that two programs set in turn moves the time
    /// forward once. What exceeds it is forgotten, so that a clock that drifts for months raises no doubt.
    package static let swing: Duration = .seconds(60)
    /// No clock that was ever set shows an earlier time: 2024-01-01.
    package static let earliest = Timestamp(milliseconds: 1_704_067_200_000)

    /// The fields of a row.
    package typealias Row = TimeRow

    /// The newest row.
    package private(set) var row: Row

    /// The first row of a store.
    ///
    /// - Parameters:
    ///   - reading: the clocks now.
    ///   - times: what other stores of the device have recorded. A new store does not make time run backwards.
    package init(first reading: ClockReading, noEarlierThan times: AnchoredTimes = AnchoredTimes()) {
        row = Row(reading: reading)
        update(at: reading)
        if times != AnchoredTimes() { rise(proven: times.proven, estimate: times.estimate, at: reading) }
    }

    /// Continues from a stored row.
    ///
    /// - Parameter row: the newest one.
    package init(_ row: Row) { self.row = row }

    /// The time.
    package var time: TrustedTime {
        if let doubt = row.doubt { return .doubtful(noEarlierThan: row.estimate, doubt) }
        return row.estimate.map { .known($0) } ?? .doubtful(noEarlierThan: nil, .neverSet)
    }

    /// The row that follows from reading the clocks.
    ///
    /// - Parameter now: the clocks now.
    package mutating func update(at now: ClockReading) {
        let isSameRun = now.bootID == row.reading.bootID
        if isSameRun, now.boot < row.reading.boot {
            // The older reading stays, so that a true clock is compared with it again.
            row.doubt = row.doubt ?? .setBack
            return
        }
        let passed = isSameRun ? now.boot - row.reading.boot : .zero
        row.reading = now
        if !isSameRun { row.isAnchored = false }
        row.proven = row.proven.map { $0 + passed }
        guard let estimate = row.estimate.map({ $0 + passed }) else { return begin(now) }
        row.estimate = estimate
        let strays = now.wall + row.offset - estimate
        if row.isAnchored {
            row.offset -= strays
            endClockDoubt()
        } else if strays >= .zero - Self.tolerance {
            row.estimate = estimate + max(.zero, strays)
            row.offset += max(.zero, .zero - strays - Self.swing)
            row.hasLeapt = row.hasLeapt || isSameRun && row.doubt == nil && strays > Self.tolerance
            endClockDoubt()
        } else if row.doubt == nil {
            let wasNeverSet = !isSameRun && now.wall < Self.earliest
            row.doubt = wasNeverSet ? .neverSet : row.hasLeapt ? .forwardThenBack : .setBack
        }
    }

    /// The row that follows from the time of a server that has just answered over a verified connection. Ends every
    /// doubt about the clock.
    ///
    /// - Parameters:
    ///   - server: its time.
    ///   - now: the clocks when it was received.
    package mutating func observe(_ server: Timestamp, at now: ClockReading) {
        update(at: now)
        let time = max(server, row.proven ?? server)
        (row.proven, row.estimate, row.offset) = (time, time, time - now.wall)
        (row.isAnchored, row.hasLeapt, row.reading) = (true, false, now)
        endClockDoubt()
    }

    /// The row that follows from a signed time, for instance of a licence's issue: it is at least as late.
    ///
    /// - Parameters:
    ///   - signed: the time that was signed.
    ///   - now: the clocks when it was read.
    package mutating func believe(signed: Timestamp, at now: ClockReading) {
        update(at: now)
        row.proven = max(signed, row.proven ?? signed)
        guard row.estimate.map({ $0 < signed }) ?? true else { return }
        row.estimate = signed
        (row.offset, row.reading) = (signed - now.wall, now)
        endClockDoubt()
    }

    /// The row that follows from the time of a server that grants no licences, over a verified connection: a second
    /// opinion about the wall clock. Where both agree, the boot clock counts from then on, and a doubt ends. The time
    /// then goes back to the wall clock, but never before a time that a licence server has proven; without one it does
    /// not go back at all. Where they do not agree, nothing changes.
    ///
    /// - Parameters:
    ///   - server: its time.
    ///   - now: the clocks when it was received.
    package mutating func witness(_ server: Timestamp, at now: ClockReading) {
        if runsBackwards(now) { return update(at: now) }
        update(at: now)
        guard let estimate = row.estimate else { return }
        let expected = row.doubt == nil ? estimate : now.wall
        guard (server - expected).magnitude <= Self.tolerance else { return }
        if row.doubt == nil {
            row.proven = max(row.proven ?? .distantPast, min(server, estimate))
        } else {
            row.estimate = row.proven.map { max($0, now.wall) } ?? estimate
            row.offset = (row.estimate ?? estimate) - now.wall
        }
        (row.isAnchored, row.hasLeapt, row.reading) = (true, false, now)
        endClockDoubt()
    }

    /// The row that follows from a signed time that is newer than everything proven, for instance of a new licence: it
    /// confirms a wall clock that is doubted, and that shows a later time. A time that was signed before proves nothing
    /// of that kind, so that no copy of an old token can turn the time back.
    ///
    /// - Parameters:
    ///   - signed: the time that was signed.
    ///   - limit: how much later the clock may be; nil for any time.
    ///   - now: the clocks when it was read.
    /// - Returns: whether a doubt was ended; otherwise nothing but the clocks was read.
    package mutating func confirm(signed: Timestamp, within limit: Duration?, at now: ClockReading) -> Bool {
        let isBackwards = runsBackwards(now)
        update(at: now)
        guard row.doubt != nil, !isBackwards, signed > row.proven ?? .distantPast else { return false }
        let lead = now.wall - signed
        guard lead >= .zero - Self.tolerance, limit.map({ lead <= $0 }) ?? true else { return false }
        let time = max(now.wall, signed)
        (row.proven, row.estimate, row.offset) = (signed, time, time - now.wall)
        (row.isAnchored, row.hasLeapt, row.reading) = (false, false, now)
        endClockDoubt()
        return true
    }

    /// The row that follows from a fresh answer of a licence server that names no time. A doubt ends at the estimate,
    /// which is never too early: the wall clock is taken to be wrong by a constant.
    ///
    /// - Parameter now: the clocks when it was received.
    package mutating func resume(at now: ClockReading) {
        let isBackwards = runsBackwards(now)
        update(at: now)
        guard row.doubt != nil, !isBackwards, let estimate = row.estimate else { return }
        (row.offset, row.hasLeapt, row.reading) = (estimate - now.wall, false, now)
        endClockDoubt()
    }

    private func runsBackwards(_ now: ClockReading) -> Bool {
        now.bootID == row.reading.bootID && now.boot < row.reading.boot
    }

    /// The row that follows from times that were known before the store was found to differ from the one this device
    /// last wrote: it is at least as late. The finding itself is recorded in each licence, not in the clock: the wall
    /// clock is trusted exactly as after a restart.
    ///
    /// - Parameters:
    ///   - proven: the newest time a server has vouched for.
    ///   - estimate: the best guess.
    ///   - now: the clocks now.
    package mutating func rise(proven: Timestamp?, estimate: Timestamp?, at now: ClockReading) {
        row.proven = [row.proven, proven].compactMap(\.self).max()
        guard let floor = [row.estimate, estimate, proven].compactMap(\.self).max() else { return update(at: now) }
        (row.estimate, row.reading, row.isAnchored, row.hasLeapt) = (floor, now, false, false)
        row.offset = .zero
        endClockDoubt()
        update(at: now)
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

extension Timestamp {
    /// Before every time.
    fileprivate static let distantPast = Timestamp(milliseconds: .min)
}

extension Duration {
    /// Without its sign.
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
