package import LectureModel

/// Two clocks that only the test advances.
package final class VirtualClock: LectureClock {
    /// Stored separately, so that no fraction of a millisecond is lost.
    private struct Times {
        /// What the wall clock showed, or would have shown, when the boot clock was zero, in milliseconds.
        var wallAtBoot: Int64
        /// Nanoseconds.
        var boot: Int64
    }

    private let times: Guarded<Times>

    /// Creates clocks of a machine that has just started, or some time ago.
    ///
    /// - Parameters:
    ///   - wall: what the wall clock shows.
    ///   - boot: what the boot clock shows.
    package init(
        wall: Timestamp = Timestamp(milliseconds: 1_750_000_000_000), boot: BootInstant = BootInstant(nanoseconds: 0)
    ) {
        times = Guarded(
            Times(wallAtBoot: wall.milliseconds - boot.nanoseconds / 1_000_000, boot: boot.nanoseconds))
    }

    /// The wall clock.
    package func now() -> Timestamp {
        times.withLock { Timestamp(milliseconds: $0.wallAtBoot + $0.boot / 1_000_000) }
    }
    /// The boot clock.
    package func boot() -> BootInstant { times.withLock { BootInstant(nanoseconds: $0.boot) } }
    /// The week starts with the epoch, in UTC.
    package func minuteOfWeek(_ time: Timestamp) -> Int {
        Int((time.milliseconds / 60_000 % 10_080 + 10_080) % 10_080)
    }

    /// Time passes.
    package func advance(to moment: BootInstant) { times.withLock { $0.boot = max($0.boot, moment.nanoseconds) } }

    /// The wall clock is set from outside.
    package func setWall(_ wall: Timestamp) {
        times.withLock { $0.wallAtBoot = wall.milliseconds - $0.boot / 1_000_000 }
    }

    /// What the wall clock would have shown at boot, in milliseconds; to set it is to set the wall clock.
    package var wallAtBoot: Int64 {
        get { times.withLock { $0.wallAtBoot } }
        set { times.withLock { $0.wallAtBoot = newValue } }
    }
}

/// What happens at a time, the earliest first; what happens at the same time, in the order in which it was added.
package struct TimedQueue<Element> {
    private var entries: [(at: BootInstant, element: Element)] = []

    /// Creates an empty queue.
    package init() {}

    /// The time of the first element.
    package var next: BootInstant? { entries.first?.at }

    /// Adds an element.
    package mutating func add(_ element: Element, at time: BootInstant) {
        // From the end, where nearly every element belongs.
        var place = entries.count
        while place > 0, entries[place - 1].at > time { place -= 1 }
        entries.insert((time, element), at: place)
    }

    /// Removes the first element, if its time has come.
    package mutating func popFirst(until now: BootInstant) -> (at: BootInstant, element: Element)? {
        guard let first = entries.first, first.at <= now else { return nil }
        return entries.removeFirst()
    }

    /// Removes elements.
    ///
    /// - Parameter isRemoved: decides about each.
    /// - Returns: the removed ones, in their order.
    @discardableResult
    package mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        let removed = entries.map(\.element).filter(isRemoved)
        if !removed.isEmpty { entries.removeAll { isRemoved($0.element) } }
        return removed
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
