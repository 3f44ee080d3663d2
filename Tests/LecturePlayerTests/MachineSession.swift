import LectureKit

@testable import LecturePlayer

/// A machine, the clock, and everything it has wanted.
struct MachineSession {
    var machine = PlayerMachine()
    var now: Duration = .zero
    var effects: [PlayerEffect] = []

    /// Handles an input; returns what is new.
    @discardableResult
    mutating func take(_ input: PlayerInput, after time: Duration = .zero) -> [PlayerEffect] {
        now += time
        let new = machine.handle(input, at: now)
        effects += new
        return new
    }

    /// Up to the moment at which it plays.
    mutating func plays(from start: Duration = .zero, limit: PlayLimit? = nil, period: Duration? = nil) {
        plays(PlayTerms(start: start, limit: limit), period: period)
    }

    mutating func plays(_ terms: PlayTerms, period: Duration? = nil) {
        take(.play)
        take(.permitted(terms))
        take(.engine(.ready(terms.start)))
        take(.counted(period: period))
        take(.engine(.paused(false)))
    }

    /// Plays on at normal speed.
    mutating func plays(from start: Int, to end: Int) {
        for second in start..<end { take(.engine(.position(.seconds(second + 1))), after: .seconds(1)) }
    }

    /// The intervals that were recorded.
    var recorded: [PlayedInterval] {
        effects.compactMap { effect in
            if case .record(let interval) = effect { interval } else { nil }
        }
    }

    var played: Duration {
        recorded.filter { $0.activity == .play }.reduce(.zero) { $0 + ($1.to - $1.from) }
    }
}
