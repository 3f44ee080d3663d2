package import LectureModel
package import LectureTestSupport

/// Virtual time, chance from a seed, and everything that happens outside the engine, one thing after the other.
///
/// A world has one disk, one network and one store; programs (`Program`) come and go in it. Nothing sleeps: time jumps
/// to the next thing that happens, so that hours take milliseconds and a seed tells the whole story.
///
/// `@unchecked Sendable`: a world and all that belongs to it is used by the one thread of its test.
package final class VirtualWorld: @unchecked Sendable {
    private struct Happening {
        var at: Int64
        var order: Int
        var program: Int?
        var work: () -> Void
    }

    /// Nanoseconds since the machine started.
    package private(set) var boot: Int64 = 1_000_000_000
    /// The wall clock at boot time zero; a test may set the clock.
    package var wallAtBoot: Int64 = 1_700_000_000_000
    /// The chance of everything outside the engine, from the seed.
    package var chance: SeededGenerator
    /// Longest delay of one thing on the disk.
    package var diskDelay: Duration = .milliseconds(2)
    /// What must never happen, as sentences.
    package private(set) var findings: [String] = []

    private var happenings: [Happening] = []
    private var made = 0

    /// Makes a world in which nothing happens yet.
    ///
    /// - Parameter seed: the same one brings the same world.
    package init(seed: UInt64 = 1) { chance = SeededGenerator(seed: seed) }

    /// What the wall clock shows.
    package var now: Timestamp { Timestamp(milliseconds: wallAtBoot + boot / 1_000_000) }

    /// Lets something happen later; with `program` only while that program lives.
    package func after(_ delay: Duration, program: Int? = nil, _ work: @escaping () -> Void) {
        made += 1
        let new = Happening(at: boot + max(0, delay.nanosecondCount), order: made, program: program, work: work)
        let place = happenings.lastIndex { $0.at <= new.at }.map { $0 + 1 } ?? 0
        happenings.insert(new, at: place)
    }

    /// The moment of the next thing that happens.
    package var nextHappening: Int64? { happenings.first?.at }

    /// Lets time pass up to a moment, and everything happen that is due until then.
    package func pass(to moment: Int64) {
        while let next = happenings.first, next.at <= moment {
            happenings.removeFirst()
            boot = max(boot, next.at)
            next.work()
        }
        boot = max(boot, moment)
    }

    /// A program is killed: nothing that it had begun goes on.
    package func forget(program: Int) { happenings.removeAll { $0.program == program } }

    /// Keeps a finding: a sentence about what must never happen.
    package func found(_ finding: String) { findings.append(finding) }

    /// Whether something happens that happens so many times in a hundred.
    package func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &chance) < percent }

    /// A number by chance.
    package func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }
}

/// The world's clocks.
struct WorldClock: LectureClock {
    let world: VirtualWorld

    func now() -> Timestamp { world.now }
    func boot() -> BootInstant { BootInstant(nanoseconds: world.boot) }
    /// Day and night begin with the epoch, in UTC.
    func minuteOfWeek(_ time: Timestamp) -> Int { Int(time.milliseconds / 60_000 % 10_080) }
}

/// The world's chance, as the engine draws on it.
struct WorldRandom: RandomSource {
    let world: VirtualWorld

    func next() -> UInt64 { world.chance.next() }
}
