import Dispatch
import Glibc
import LectureModel
import LectureSimulation

/// Runs scenarios by seed and lists those that violate an invariant.
@main
struct Simulate {
    private struct Options {
        var seeds: ClosedRange<UInt64> = 1...1000
        var jobs = 2
        var printsTrace = false
        var describes = false
        var file: String?
        var isTwice = false
        var isWhole = false

        func scenario(_ seed: UInt64) -> Scenario { isWhole ? Scenario(seed: seed).whole : Scenario(seed: seed) }
        var enough = Int.max
    }

    private static let usage = """
        usage: lecture-simulate [--seeds A-B] [--scenario FILE] [--jobs N] [--trace] [--describe] [--twice]
                               [--whole] [--enough N]

          --seeds A-B      the scenarios of these seeds; A alone is one (default 1-1000)
          --scenario FILE  a scenario as printed by --describe, possibly edited
          --jobs N         threads (default 2)
          --trace          print every step of the run, on one thread
          --describe       print the scenarios as JSON without running them
          --enough N       start no more after N scenarios with findings
          --twice          run each twice and compare the two runs
          --whole          with licences and reports in the loop of each program

        One line for each scenario with a finding; the exit status is then 1.
        """

    static func main() {
        guard let options = parse(Array(CommandLine.arguments.dropFirst())) else {
            print(usage)
            exit(64)
        }
        do {
            exit(try run(options) ? 0 : 1)
        } catch {
            print("lecture-simulate: \(error)")
            exit(70)
        }
    }

    private static func parse(_ words: [String]) -> Options? {
        var options = Options()
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--trace": options.printsTrace = true
            case "--describe": options.describes = true
            case "--twice": options.isTwice = true
            case "--whole": options.isWhole = true
            case "--enough":
                guard let enough = rest.popFirst().flatMap({ Int($0) }), enough > 0 else { return nil }
                options.enough = enough
            case "--jobs":
                guard let jobs = rest.popFirst().flatMap({ Int($0) }), jobs > 0 else { return nil }
                options.jobs = jobs
            case "--scenario":
                guard let file = rest.popFirst() else { return nil }
                options.file = file
            case "--seeds":
                let bounds = rest.popFirst()?.split(separator: "-").map { UInt64($0) } ?? []
                guard let first = bounds.first ?? nil, let last = bounds.last ?? nil, bounds.count <= 2, first <= last
                else { return nil }
                options.seeds = first...last
            default: return nil
            }
        }
        return options
    }

    /// Runs the scenarios and returns whether there were no findings.
    private static func run(_ options: Options) throws -> Bool {
        if let file = options.file { return try run(try Scenario(contentsOf: file), "scenario", options) }
        if options.describes {
            for seed in options.seeds { print(try options.scenario(seed).json) }
            return true
        }
        if options.printsTrace {
            var isWell = true
            for seed in options.seeds where try !run(options.scenario(seed), "seed \(seed)", options) { isWell = false }
            return isWell
        }
        let began = DispatchTime.now().uptimeNanoseconds
        let summary = Campaign.run(
            seeds: options.seeds, jobs: options.jobs, isTwice: options.isTwice, isWhole: options.isWhole,
            enough: options.enough
        ) {
            seed, findings in
            print("seed \(seed): \(findings.joined(separator: "; "))")
            fflush(nil)
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        let (tenths, perSecond) = (Int(seconds * 10), Int(Double(summary.scenarios) / max(0.001, seconds)))
        print(
            "\(summary.scenarios) scenarios, \(summary.failed) with findings, \(summary.programs) programs, "
                + "\(summary.requests) requests, \(summary.steps) steps, \(summary.actions) actions, "
                + "\(summary.virtualSeconds / 3600) virtual hours in \(tenths / 10).\(tenths % 10) s, "
                + "\(perSecond) per second")
        return summary.failed == 0
    }

    private static func run(_ scenario: Scenario, _ name: String, _ options: Options) throws -> Bool {
        if options.printsTrace { print("\(name)\n\(try scenario.json)") }
        let simulation = try Simulation(scenario, story: options.printsTrace ? { print($0) } : nil)
        let outcome = try simulation.run()
        for finding in outcome.findings { print("\(name): \(finding)") }
        if options.printsTrace { print("\(name): fingerprint \(outcome.fingerprint)") }
        return outcome.findings.isEmpty
    }
}
