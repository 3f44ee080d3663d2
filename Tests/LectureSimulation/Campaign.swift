import Foundation
import LectureModel

/// Many scenarios on a few threads.
package enum Campaign {
    /// The result of many scenarios.
    package struct Summary: Sendable {
        /// Scenarios that were run.
        package var scenarios = 0
        /// Those with a finding.
        package var failed = 0
        /// Programs that ran in them.
        package var programs = 0
        /// Requests for media.
        package var requests = 0
        /// Steps of engines.
        package var steps = 0
        /// Actions of programs.
        package var actions = 0
        /// Virtual seconds.
        package var virtualSeconds = 0
    }

    private struct State {
        var next: UInt64
        var isOver = false
        var enough = Int.max
        var summary = Summary()
        var running: Int
    }

    /// Runs the scenarios of a range of seeds and waits for the last. Uses its own threads: a run never suspends, and a
    /// pool of threads is shared with other work.
    ///
    /// - Parameters:
    ///   - seeds: the seeds.
    ///   - jobs: how many threads.
    ///   - isTwice: whether each is run twice; a difference is a finding.
    ///   - isWhole: whether licences and reports run in the same loops.
    ///   - enough: after so many scenarios with findings no more are started.
    ///   - report: gets each seed with findings, on any of the threads, one call at a time.
    /// - Returns: sums.
    package static func run(
        seeds: ClosedRange<UInt64>, jobs: Int, isTwice: Bool = false, isWhole: Bool = false, enough: Int = .max,
        report: @escaping @Sendable (UInt64, [String]) -> Void
    ) -> Summary {
        let done = DispatchSemaphore(value: 0)
        let state = begin(seeds: seeds, jobs: jobs, isTwice: isTwice, isWhole: isWhole, report: report) {
            done.signal()
        } before: { state in
            state.withLock { $0.enough = enough }
        }
        done.wait()
        return state.withLock { $0.summary }
    }

    /// As above, for callers that must not block a thread.
    ///
    /// - Parameters:
    ///   - seeds: the seeds.
    ///   - jobs: how many threads.
    ///   - isTwice: whether each is run twice; a difference is a finding.
    ///   - isWhole: whether licences and reports run in the same loops.
    ///   - report: gets each seed with findings, on any of the threads, one call at a time.
    /// - Returns: sums.
    package static func run(
        seeds: ClosedRange<UInt64>, jobs: Int, isTwice: Bool = false, isWhole: Bool = false,
        report: @escaping @Sendable (UInt64, [String]) -> Void
    ) async -> Summary {
        await withCheckedContinuation { continuation in
            let box = Guarded<Guarded<State>?>(nil)
            let state = begin(seeds: seeds, jobs: jobs, isTwice: isTwice, isWhole: isWhole, report: report) {
                let summary = box.withLock { $0?.withLock { $0.summary } }
                continuation.resume(returning: summary ?? Summary())
            } before: { state in
                box.withLock { $0 = state }
            }
            _ = state
        }
    }

    private static func begin(
        seeds: ClosedRange<UInt64>, jobs: Int, isTwice: Bool, isWhole: Bool,
        report: @escaping @Sendable (UInt64, [String]) -> Void,
        whenDone: @escaping @Sendable () -> Void, before: (Guarded<State>) -> Void = { _ in }
    ) -> Guarded<State> {
        let state = Guarded(State(next: seeds.lowerBound, running: max(1, jobs)))
        before(state)
        let reports = NSLock()
        for _ in 0..<max(1, jobs) {
            let thread = Thread {
                while let seed = next(state, seeds) {
                    let (outcome, findings) = run(seed, isTwice: isTwice, isWhole: isWhole)
                    state.withLock { $0.summary.add(outcome, failed: !findings.isEmpty) }
                    if !findings.isEmpty { reports.withLock { report(seed, findings) } }
                }
                let isLast = state.withLock { state in
                    state.running -= 1
                    return state.running == 0
                }
                if isLast { whenDone() }
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        return state
    }

    private static func next(_ state: Guarded<State>, _ seeds: ClosedRange<UInt64>) -> UInt64? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            let seed = state.next
            if seed == seeds.upperBound || state.summary.failed >= state.enough {
                state.isOver = true
            } else {
                state.next += 1
            }
            return seed
        }
    }

    /// Runs one scenario.
    private static func run(_ seed: UInt64, isTwice: Bool, isWhole: Bool) -> (Simulation.Outcome?, [String]) {
        do {
            let scenario = isWhole ? Scenario(seed: seed).whole : Scenario(seed: seed)
            let outcome = try Simulation(scenario).run()
            guard isTwice else { return (outcome, outcome.findings) }
            let again = try Simulation(scenario).run()
            let differs = again.fingerprint != outcome.fingerprint
            return (outcome, outcome.findings + (differs ? ["the same seed ran differently"] : []))
        } catch {
            return (nil, ["the scenario could not be run: \(error)"])
        }
    }
}

extension Campaign.Summary {
    fileprivate mutating func add(_ outcome: Simulation.Outcome?, failed hasFailed: Bool) {
        scenarios += 1
        if hasFailed { failed += 1 }
        programs += outcome?.programs ?? 0
        requests += outcome?.requests ?? 0
        steps += outcome?.steps ?? 0
        actions += outcome?.actions ?? 0
        virtualSeconds += outcome?.seconds ?? 0
    }
}
