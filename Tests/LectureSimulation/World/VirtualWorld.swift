import LectureFormats
package import LectureModel
package import LectureTestSupport

/// Virtual time, randomness from a seed, and all events outside the engine, one after the other.
///
/// A world has one disk, one network and one store; programs (`Program`) come and go in it. Nothing sleeps: time jumps
/// to the next event, so that hours take milliseconds and a seed determines the whole run.
///
/// `@unchecked Sendable`: a world and all that belongs to it is used by the one thread of its test.
package final class VirtualWorld: @unchecked Sendable {
    /// A scheduled event.
    private struct Happening {
        var program: Int?
        var what: () -> String
        var work: () -> Void
    }

    /// The clocks of the machine.
    package let clock = VirtualClock(
        wall: Timestamp(milliseconds: 1_700_000_001_000), boot: BootInstant(nanoseconds: 1_000_000_000))
    /// The randomness of everything outside the engine, from the seed.
    package var chance: SeededGenerator
    /// The randomness of the engine.
    var engineRandomness: SeededGenerator
    /// The longest delay of one disk operation.
    package var diskDelay: Duration = .milliseconds(2)
    /// Violated invariants, as sentences.
    package private(set) var findings: [String] = []
    /// Receives the trace line by line; nil for no trace.
    package var story: ((String) -> Void)?
    /// The programs whose actions are counted, by number.
    private(set) var lives: [Int: Life] = [:]

    private var happenings = TimedQueue<Happening>()

    /// Makes a world without events.
    ///
    /// - Parameter seed: the same one brings the same world.
    package init(seed: UInt64 = 1) {
        chance = SeededGenerator(seed: seed)
        engineRandomness = SeededGenerator(seed: seed &+ 0x5EED)
    }

    /// What the wall clock shows.
    package var now: Timestamp { clock.now() }
    /// Nanoseconds since boot.
    package var boot: Int64 { clock.boot().nanoseconds }

    // MARK: Time

    /// Schedules an event; with `program` only while that program lives, as one of its actions.
    ///
    /// - Parameters:
    ///   - delay: from now.
    ///   - program: whose action it is.
    ///   - what: for the trace.
    ///   - work: what happens.
    package func after(
        _ delay: Duration, program: Int? = nil, _ what: @autoclosure @escaping () -> String = "",
        _ work: @escaping () -> Void
    ) {
        happenings.add(Happening(program: program, what: what, work: work), at: clock.boot() + max(.zero, delay))
    }

    /// The time of the next event.
    package var nextHappening: Int64? { happenings.next?.nanoseconds }

    /// Advances time up to a moment, and executes every event due until then.
    package func pass(to moment: Int64) {
        let moment = BootInstant(nanoseconds: moment)
        while let (at, next) = happenings.popFirst(until: moment) {
            clock.advance(to: at)
            act(next.program, next.what(), next.work)
        }
        clock.advance(to: moment)
    }

    /// A program is killed: none of its scheduled events is executed.
    package func forget(program: Int) { happenings.removeAll { $0.program == program } }

    // MARK: Actions

    /// A program starts its life, perhaps with a scheduled death.
    func begin(_ life: Life) { lives[life.program] = life }

    /// Whether a program has not died.
    func isAlive(_ program: Int?) -> Bool { program.map { lives[$0]?.isDead != true } ?? true }

    /// Executes an action of a program: not at all when it is dead or dies before it.
    ///
    /// - Parameters:
    ///   - program: whose action it is; nil for events of the world.
    ///   - what: for the trace.
    ///   - work: the action.
    /// - Returns: whether the program lives on.
    @discardableResult
    func act(_ program: Int?, _ what: @autoclosure () -> String, _ work: () -> Void) -> Bool {
        guard beginAction(program, what()) else { return false }
        work()
        return endAction(program)
    }

    /// An action starts; the program may die before it.
    ///
    /// - Returns: whether the action takes place.
    func beginAction(_ program: Int?, _ what: @autoclosure () -> String) -> Bool {
        guard let program, let life = lives[program] else {
            record(what())
            return true
        }
        guard !life.isDead else { return false }
        life.actions += 1
        if life.actions == life.doom?.action, life.doom?.isAfter == false { return die(life, "before \(what())") }
        record("\(program)#\(life.actions) \(what())")
        return true
    }

    /// An action is done; the program may die after it.
    ///
    /// - Returns: whether the program lives on.
    @discardableResult
    func endAction(_ program: Int?) -> Bool {
        guard let program, let life = lives[program] else { return true }
        guard !life.isDead else { return false }
        return life.actions == life.doom?.action ? die(life, "after it") : true
    }

    private func die(_ life: Life, _ why: @autoclosure () -> String) -> Bool {
        record("\(life.program)#\(life.actions) DIES \(why())")
        life.isDead = true
        forget(program: life.program)
        return false
    }

    /// Ends a program's life from outside.
    func kill(program: Int) {
        if let life = lives[program], !life.isDead { _ = die(life, "by the power") }
    }

    // MARK: Trace

    /// Records a finding: a sentence about a violated invariant.
    package func found(_ finding: String) {
        record("FOUND \(finding)")
        // One cause often repeats at every step.
        if findings.count < 20, !findings.contains(finding) { findings.append(finding) }
    }

    /// One line of the trace.
    func record(_ line: @autoclosure () -> String) {
        guard let story else { return }
        let text = line()
        if text.isEmpty { return }
        let milliseconds = (boot - 1_000_000_000) / 1_000_000
        let digits = String(milliseconds)
        story(String(repeating: " ", count: max(0, 9 - digits.count)) + "\(digits) ms  \(text)")
    }

    /// True with a probability in per cent.
    package func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &chance) < percent }

    /// A random number.
    package func some(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &chance) }
}

/// The life of one program: how many actions it has done, and at which one it dies.
///
/// An action is a call of a port, the start or the end of a transaction, or a delivery to the program.
final class Life {
    /// The end of a life.
    struct Doom {
        /// The number of the action, from 1.
        var action: Int
        /// Whether the action still takes place.
        var isAfter: Bool
    }

    let program: Int
    let doom: Doom?
    /// The death that comes at its end.
    var death: Death?
    var isDead = false
    var actions = 0

    init(program: Int, doom: Doom? = nil) {
        self.program = program
        self.doom = doom
    }
}

/// The world's randomness, as the engine uses it.
struct WorldRandom: RandomSource {
    let world: VirtualWorld

    func next() -> UInt64 { world.engineRandomness.next() }
}
