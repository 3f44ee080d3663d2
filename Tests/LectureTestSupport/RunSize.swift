import Foundation

/// The size of a run, and its seed. `Tools/soak` asks for more; a seed from a report reproduces the same moments.
package enum RunSize {
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether `Tools/soak` runs, which has hours.
    package static let isSoak = environment["LECTUREKIT_SOAK"] == "1"

    /// The seed of `LECTUREKIT_SEED`, or a new one each time.
    package static var seed: UInt64 {
        environment["LECTUREKIT_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    }

    /// A number of repetitions; `LECTUREKIT_COUNT` overrides both.
    ///
    /// - Parameters:
    ///   - few: for every change.
    ///   - many: for `Tools/soak`.
    /// - Returns: the number.
    package static func count(_ few: Int, soak many: Int) -> Int {
        environment["LECTUREKIT_COUNT"].flatMap { Int($0) } ?? (isSoak ? many : few)
    }

    /// The seeds of a scenario that is repeated.
    ///
    /// - Parameters:
    ///   - few: how many in `Tools/test`.
    ///   - many: in `Tools/soak`.
    /// - Returns: from 1.
    package static func seeds(_ few: Int, soak many: Int) -> ClosedRange<UInt64> {
        1...UInt64(max(1, count(few, soak: many)))
    }

    /// Prints the figures of a part; `Tools/soak` searches for this prefix.
    ///
    /// - Parameter figures: a line of text.
    package static func report(_ figures: String) { print("figures: \(figures)") }
}
