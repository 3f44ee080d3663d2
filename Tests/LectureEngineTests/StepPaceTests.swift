import LectureFormats
import Testing

@testable import LectureEngine

/// How soon a step follows an event.
struct StepPaceTests {
    private static let start = BootInstant(nanoseconds: 1_000_000_000)

    /// The pace after some steps of so many events, the last of which begins at ``start``.
    private static func pace(_ counts: [Int]) -> StepPace {
        var pace = StepPace()
        for count in counts { pace.began(at: start, events: count) }
        return pace
    }

    @Test(arguments: [
        // (milliseconds since the last step began, exchanges, milliseconds to wait)
        (0, 8, 8), (1, 8, 7), (1, StepPace.manyExchanges, 7), (1, StepPace.manyExchanges - 1, 0), (8, 64, 0),
        (60_000, 8, 0),
    ])
    func `steps with few events of many exchanges begin some time apart`(passed: Int, exchanges: Int, wait: Int) {
        let now = Self.start + .milliseconds(passed)
        #expect(StepPace.interval == .milliseconds(8))
        #expect(Self.pace([1]).wait(at: now, exchanges: exchanges) == .milliseconds(wait))
    }

    @Test func `no step waits before the first one, or where each has many events`() {
        func waits(_ pace: StepPace) -> Bool { pace.wait(at: Self.start, exchanges: 8) > .zero }
        #expect(!waits(StepPace()))
        #expect(!waits(Self.pace([Int(StepPace.few)])) && !waits(Self.pace([100])))
        // One burst among single events ends the waits for as long as it weighs in the mean.
        #expect(!waits(Self.pace([1, 1, 1, 100])) && waits(Self.pace([1, 1, 1, 12] + Array(repeating: 1, count: 8))))
        // A step that the timer asked for has none, and says nothing.
        #expect(waits(Self.pace([1, 0, 0])) && !waits(Self.pace([100, 0, 0])))
    }
}
