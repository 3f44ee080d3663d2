import LectureFormats
package import LectureModel

/// What a play has cost, and what must be charged before more bytes are returned. A value: it has no clock and no
/// store, and its owner reports what was charged.
///
/// Bytes are admitted only where ``charged(_:)`` covers them, so a process that ends at any moment has never returned
/// an uncharged byte. Times are whole milliseconds, rounded up.
///
/// docs/licences.md has the rules and their reasons.
package struct PlayMeter: Sendable {
    /// How much is charged ahead: a process that is killed loses it. Where only reports count, they come each second.
    package var step: Duration { counting == .reported ? .seconds(2) : .seconds(10) }
    /// The most that is admitted at once.
    private static let piece: UInt64 = 1000
    /// A piece is not shorter than this many bytes.
    private static let leastPiece: UInt64 = 4096
    /// A piece counts at most this many times its playing time while it is consumed: players go down to half speed.
    private static let slowest: UInt64 = 2
    /// Where counting stops: no licence lasts a fraction of it.
    private static let most = UInt64(Int64.max / 1024)

    private let unit: LicencePolicy.PlayTimeUnit
    private let counting: PlayTimeCounting
    private let total: UInt64
    /// The playing time of all bytes, in milliseconds.
    private let length: UInt64
    /// How many bytes were admitted.
    private var bytes: UInt64 = 0
    /// The time in which they were consumed, in nanoseconds.
    private var running: UInt64 = 0
    /// What the application has reported, in nanoseconds.
    private var reported: UInt64?
    /// What was charged.
    private var paid: UInt64 = 0
    /// The last look at the clock, and how much of the time since then counts at most, in nanoseconds.
    private var last: (at: BootInstant, counts: UInt64)?

    /// Creates the meter of a play.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the media in bytes.
    ///   - duration: its playing time.
    ///   - unit: how the licence counts.
    ///   - counting: what counts.
    package init(
        byteCount: UInt64, duration: Duration, unit: LicencePolicy.PlayTimeUnit, counting: PlayTimeCounting = .reading
    ) {
        (self.unit, self.counting) = (unit, counting)
        total = max(1, byteCount)
        length = min(Self.most, UInt64(max(1, duration.milliseconds)))
    }

    // MARK: Reading

    /// Admits bytes that are charged.
    ///
    /// - Parameters:
    ///   - count: how many are wanted; more than 0.
    ///   - now: the boot clock.
    /// - Returns: how many may be returned now, at most `count`; 0 when ``due(_:rest:)`` must be charged first.
    package mutating func admit(_ count: Int, at now: BootInstant) -> Int {
        update(at: now)
        let wanted = min(UInt64(max(0, count)), piece)
        let covered: UInt64
        switch counting {
        case .reading: covered = clock > paid ? 0 : min(wanted, Self.less(payable, bytes))
        case .reported: covered = paid > milliseconds(reported) ? wanted : 0
        }
        guard covered > 0 else { return 0 }
        let before = time(of: bytes)
        bytes = Self.sum(bytes, covered)
        let counts = Self.product(max(1, time(of: bytes) - before), Self.slowest * 1_000_000)
        last = (now, counts)
        return Int(covered)
    }

    /// What to charge before bytes are admitted: a step, or what the rest of the reading costs if that is less.
    ///
    /// - Parameters:
    ///   - count: how many bytes are wanted.
    ///   - rest: how many will be read in the whole play from here on; nil where that is not known.
    /// - Returns: more than zero when ``admit(_:at:)`` has just admitted none.
    package func due(_ count: Int, rest: UInt64? = nil) -> Duration {
        let step = UInt64(step.milliseconds)
        let target: UInt64
        switch counting {
        case .reading:
            let next = Self.sum(bytes, min(UInt64(max(0, count)), piece))
            let least = max(time(of: next), clock)
            let end = rest.map { time(of: Self.sum(bytes, $0)) } ?? Self.most
            target = max(least, min(Self.sum(paid, step), end))
        case .reported: target = Self.sum(milliseconds(reported), step)
        }
        return .milliseconds(Int64(Self.less(target, paid)))
    }

    /// Records what the ledger has charged.
    ///
    /// - Parameter time: what was granted of ``due(_:rest:)``, ``overdue`` or ``settlement(at:)``.
    package mutating func charged(_ time: Duration) { paid = Self.sum(paid, UInt64(max(0, time.milliseconds))) }

    // MARK: Reports

    /// Adds what the application has played.
    ///
    /// - Parameters:
    ///   - media: how much of the lecture.
    ///   - running: how long that took.
    package mutating func report(media: Duration, running: Duration) {
        let time = unit == .media ? media : running
        reported = Self.sum(reported ?? 0, UInt64(max(0, time.nanosecondCount)))
    }

    /// What was reported beyond what is charged.
    package var overdue: Duration { .milliseconds(Int64(Self.less(milliseconds(reported), paid))) }

    // MARK: The end

    /// What the play has cost so far.
    package var used: Duration {
        let read = max(time(of: bytes), clock)
        switch counting {
        case .reading: return .milliseconds(Int64(max(read, milliseconds(reported))))
        case .reported: return .milliseconds(Int64(reported == nil ? read : milliseconds(reported)))
        }
    }

    /// The difference at the end of the play between what it has cost and what was charged.
    ///
    /// - Parameter now: the boot clock.
    /// - Returns: more than zero for what is still to be charged, less for what is to be given back.
    package mutating func settlement(at now: BootInstant) -> Duration {
        update(at: now)
        last = nil
        return used - .milliseconds(Int64(paid))
    }

    /// Records what the ledger has given back.
    ///
    /// - Parameter time: how much.
    package mutating func gaveBack(_ time: Duration) { paid = Self.less(paid, UInt64(max(0, time.milliseconds))) }

    // MARK: Parts

    /// How many bytes are admitted at once: a second of the lecture.
    private var piece: UInt64 {
        max(Self.leastPiece, Self.clamped(UInt128(total) * UInt128(Self.piece) / UInt128(length)))
    }

    /// How many bytes are covered by what was charged.
    private var payable: UInt64 { Self.clamped(UInt128(paid) * UInt128(total) / UInt128(length)) }

    /// The playing time of bytes, in milliseconds.
    private func time(of bytes: UInt64) -> UInt64 {
        Self.clamped((UInt128(bytes) * UInt128(length) + UInt128(total - 1)) / UInt128(total))
    }

    /// The time in which bytes were consumed, where it counts, in milliseconds.
    private var clock: UInt64 { unit == .running ? milliseconds(running) : 0 }

    private func milliseconds(_ nanoseconds: UInt64?) -> UInt64 {
        nanoseconds.map { min(Self.most, ($0 + 999_999) / 1_000_000) } ?? 0
    }

    /// Adds the time that has passed since the last piece, up to what counts of it.
    private mutating func update(at now: BootInstant) {
        guard let (at, counts) = last else { return }
        let passed = min(counts, UInt64(max(0, now.nanoseconds.subtractingReportingOverflow(at.nanoseconds).0)))
        running = Self.sum(running, passed)
        last = (max(at, now), counts - passed)
    }

    private static func clamped(_ number: UInt128) -> UInt64 { UInt64(min(number, UInt128(most))) }
    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 { min(most, min(most, left) + min(most, right)) }
    private static func less(_ left: UInt64, _ right: UInt64) -> UInt64 { left > right ? left - right : 0 }
    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 { clamped(UInt128(left) * UInt128(right)) }
}
