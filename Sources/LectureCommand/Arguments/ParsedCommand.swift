import LectureFormats

/// A parsed command line: the command, its options and its arguments, all checked against the table.
package struct ParsedCommand: Sendable, Equatable {
    /// Where an option's value came from.
    package enum Origin: String, Sendable {
        /// From the command line.
        case option
        /// From an environment variable.
        case environment
    }

    /// The program.
    package let program: ProgramTable
    /// The command's words; empty when only the program itself was called.
    package internal(set) var path: [String] = []
    /// The positional arguments.
    package internal(set) var arguments: [String] = []
    var flags: [String: Bool] = [:]
    /// How often each flag was given since it was last unset.
    var counts: [String: Int] = [:]
    var values: [String: [String]] = [:]
    var fromEnvironment: [String: String] = [:]

    /// The command in the table.
    package var spec: CommandSpec { program.spec(at: path) ?? program.root }

    init(of program: ProgramTable = .lecturectl) { self.program = program }

    /// Whether a flag was given and not unset.
    ///
    /// - Parameter long: the flag's name without dashes.
    /// - Returns: true when it is set.
    package func flag(_ long: String) -> Bool { flags[long] ?? false }

    /// Whether a flag was unset: `--no-follow`.
    ///
    /// - Parameter long: the flag's name without dashes.
    /// - Returns: false when it was not given at all.
    package func isUnset(_ long: String) -> Bool { flags[long] == false }

    /// How often a flag was given: 2 for `-vv`.
    ///
    /// - Parameter long: the flag's name without dashes.
    /// - Returns: 0 when it was not given, or unset.
    package func count(_ long: String) -> Int { counts[long] ?? 0 }

    /// Sets a flag once more.
    mutating func set(_ long: String) {
        flags[long] = true
        counts[long, default: 0] += 1
    }

    /// Unsets a flag.
    mutating func unset(_ long: String) {
        flags[long] = false
        counts[long] = nil
    }

    /// The value of an option.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: the last value given, else the environment's, else nil.
    package func text(_ long: String) -> String? { values[long]?.last ?? fromEnvironment[long] }

    /// All values of an option.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: the values in the order given.
    package func texts(_ long: String) -> [String] { values[long] ?? fromEnvironment[long].map { [$0] } ?? [] }

    /// Where an option's value came from.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: nil when it was not given at all.
    package func origin(_ long: String) -> Origin? {
        if values[long] != nil { return .option }
        return fromEnvironment[long] == nil ? nil : .environment
    }

    /// The value of an option of grammar `integer`, or of `integerOrAuto` when it is a number.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: the number, or nil when it was not given.
    package func integer(_ long: String) -> Int? { text(long).flatMap { Int($0) } }

    /// The value of an option of grammar `duration`.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: the length of time, or nil when it was not given.
    package func duration(_ long: String) -> Duration? { text(long).flatMap(Quantity.duration) }

    /// The value of an option of grammar `rate`.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: bytes per second, or nil when it was not given.
    package func rate(_ long: String) -> Int64? { text(long).flatMap(Quantity.rate) }

    /// The value of an option of grammar `byteCount`.
    ///
    /// - Parameter long: the option's name without dashes.
    /// - Returns: bytes, or nil when it was not given.
    package func byteCount(_ long: String) -> Int64? { text(long).flatMap(Quantity.byteCount) }
}
