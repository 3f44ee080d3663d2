import LectureModel
import LectureTestSupport

/// Two clocks that only the world advances.
final class VirtualClock: LectureClock {
    private let times = Guarded(
        (started: Timestamp(milliseconds: 1_750_000_000_000), boot: BootInstant(nanoseconds: 0)))

    func now() -> Timestamp { times.withLock { $0.started + ($0.boot - BootInstant(nanoseconds: 0)) } }
    func boot() -> BootInstant { times.withLock { $0.boot } }
    func minuteOfWeek(_ time: Timestamp) -> Int { 0 }

    /// Time passes.
    func advance(to moment: BootInstant) { times.withLock { $0.boot = max($0.boot, moment) } }

    /// The wall clock is set from outside.
    func setWall(_ wall: Timestamp) { times.withLock { $0.started = wall + (BootInstant(nanoseconds: 0) - $0.boot) } }
}

/// Randomness from a seed.
final class SeededRandom: RandomSource {
    private let generator: Guarded<SeededGenerator>

    init(seed: UInt64) { generator = Guarded(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }

    /// A number of a range.
    func number(_ range: Range<Int>) -> Int { generator.withLock { Int.random(in: range, using: &$0) } }
}

/// Encodes bodies so that they cannot be mistaken for the plain form: every bit is flipped.
enum TurnedBits {
    static func turn(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }
}
