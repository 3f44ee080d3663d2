package import LectureModel

/// Two clocks that only the test advances.
package final class VirtualClock: LectureClock {
    /// The wall clock when the boot clock was zero; stored separately, so that no fraction of a millisecond is lost.
    private let times = Guarded(
        (started: Timestamp(milliseconds: 1_750_000_000_000), boot: BootInstant(nanoseconds: 0)))

    /// Creates clocks of a machine that was just started.
    package init() {}

    /// The wall clock.
    package func now() -> Timestamp { times.withLock { $0.started + ($0.boot - BootInstant(nanoseconds: 0)) } }
    /// The boot clock.
    package func boot() -> BootInstant { times.withLock { $0.boot } }
    /// Always the beginning of a week.
    package func minuteOfWeek(_ time: Timestamp) -> Int { 0 }

    /// Time passes.
    package func advance(to moment: BootInstant) { times.withLock { $0.boot = max($0.boot, moment) } }

    /// The wall clock is set from outside.
    package func setWall(_ wall: Timestamp) {
        times.withLock { $0.started = wall + (BootInstant(nanoseconds: 0) - $0.boot) }
    }
}

/// Randomness from a seed.
package final class SeededRandom: RandomSource {
    private let generator: Guarded<SeededGenerator>

    /// Starts a sequence.
    ///
    /// - Parameter seed: the same one brings the same numbers.
    package init(seed: UInt64) { generator = Guarded(SeededGenerator(seed: seed)) }

    /// 64 random bits.
    package func next() -> UInt64 { generator.withLock { $0.next() } }

    /// A number of a range.
    package func number(_ range: Range<Int>) -> Int { generator.withLock { Int.random(in: range, using: &$0) } }
}
