import Foundation
import LectureKit
import LectureModel
import LectureUpkeep
import Testing

/// Forecasts beside what then happens, in virtual time.
@Suite(.timeLimit(.minutes(10))) struct ForecastSimulationTests {
    /// A forecast that was made on the way.
    struct Sample {
        let seed: UInt64
        /// Seconds from the forecast to the end.
        let rest: Double
        /// The difference of both ends in seconds.
        let error: Double
        /// The same in seconds in which the timetable allows anything.
        let open: Double
        let share: Double
        var relative: Double { error / rest }
    }

    /// Runs a scenario, and forecasts its end at its beginning and at each quarter of its bytes.
    static func samples(_ seed: UInt64) throws -> [Sample] {
        let scenario = SimulatedDownloads.Scenario(seed: seed)
        // The run before, whose attempts the store has: half an hour of the same servers, at any hour.
        var before = scenario
        (before.timetable, before.step, before.limit) = (nil, nil, nil)
        var past = SimulatedDownloads(before, seed: seed &+ 99)
        for _ in 0..<SimulatedDownloads.memory where !past.isDone { past.tick() }
        var run = SimulatedDownloads(scenario, seed: seed, past: past)
        let windows = PaceWindow.windows(
            from: scenario.start, to: scenario.start + .seconds(40 * 86_400), timetable: scenario.timetable,
            limit: scenario.limit, minuteOfWeek: minuteOfWeek)
        func open(_ from: Timestamp, _ to: Timestamp) -> Double {
            windows.filter { $0.bytesPerSecond != 0 }.reduce(0) { sum, window in
                sum + max(0, Double((min(window.end, to) - max(window.start, from)).milliseconds) / 1000)
            }
        }
        var made: [(share: Double, at: Timestamp, end: Timestamp?, isSettled: Bool)] = []
        var shares = [0, 0.25, 0.5, 0.75][...]
        while !run.isDone {
            if let share = shares.first, run.done >= share * run.total {
                shares.removeFirst()
                let forecast = Forecast(
                    items: run.items, speeds: ForecastSpeeds(run.measured), windows: windows, jobs: scenario.jobs,
                    now: run.now)
                // A change that is still to come is not foreseen, nor one that is not measured yet, nor the speed of a
                // server that was never used, as the answer says.
                made.append((share, run.now, forecast.end, run.isSettled && run.isKnown))
            }
            run.tick()
        }
        let end = run.now
        return made.compactMap { share, at, forecast, isSettled in
            let rest = Double((end - at).milliseconds) / 1000
            // The last minutes are a matter of single chunks.
            guard isSettled, rest >= 600 else { return nil }
            let known = forecast ?? Timestamp(milliseconds: .max)
            let error = abs(Double((known - end).milliseconds) / 1000)
            return Sample(
                seed: seed, rest: rest, error: error, open: open(min(known, end), max(known, end)), share: share)
        }
    }

    @Test func `the end is forecast to a twentieth of the time that is left`() async throws {
        let count = ProcessInfo.processInfo.environment["FORECAST_SEEDS"].flatMap(UInt64.init) ?? 120
        let seeds = (1...count).map { UInt64($0) }
        let samples = try await withThrowingTaskGroup(of: [Sample].self) { group in
            for seed in seeds { group.addTask { try Self.samples(seed) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(count < 120 || Set(samples.map(\.seed)).count >= 90, "\(Set(samples.map(\.seed)).count)")
        // A second before a window closes decides about the hours until it opens again. There the error is what is
        // missing in open time.
        let errors = samples.map { min($0.relative, $0.open / $0.rest) }.sorted()
        let cliffs = samples.filter { $0.relative > 0.05 && $0.open / $0.rest <= 0.05 }
        let bad = samples.filter { min($0.relative, $0.open / $0.rest) > 0.05 }
        let (median, most) = (errors[errors.count / 2], errors[errors.count * 95 / 100])
        let summary =
            "\(samples.count) forecasts: median \(median), 95 % \(most), \(bad.count) above 5 %, "
            + "largest \(errors.last ?? 0); \(cliffs.count) at a closing window"
        print(summary)
        for sample in bad { print("seed \(sample.seed) at \(sample.share): \(sample.error) of \(sample.rest) s") }
        // Where a bound is about as fast as a server, and where transfers break, chance is larger.
        #expect(bad.count * 50 <= samples.count && median <= 0.01, "\(summary)")
        #expect(cliffs.count <= samples.count / 33, "\(summary)")
    }
}
