/// How a habit of a server is written, `NAME[:ARGUMENT][;PARAMETER=VALUE]…`, and at which of its requests it shows.
struct HabitWord: Sendable {
    /// As it was written.
    let text: String
    private let after: Int
    private let times: Int?

    /// Whether it shows at this request.
    ///
    /// - Parameter number: how many requests were counted before this one.
    /// - Returns: whether it is among the ``times`` that follow the first ``after``.
    func applies(toRequest number: Int) -> Bool {
        number >= after && (times.map { number < after + $0 } ?? true)
    }

    /// Reads a habit.
    ///
    /// - Parameters:
    ///   - text: the habit.
    ///   - kind: reads its name, its argument, and the parameters that are its own.
    /// - Returns: how it was written, and what it is.
    /// - Throws: ``Problem`` that names what is not understood.
    static func read<Kind>(
        _ text: String, as kind: (String, String?, inout Fault.Parameters) throws -> Kind
    ) throws -> (HabitWord, Kind) {
        let words = text.split(separator: ";", omittingEmptySubsequences: false)
        let head = (words.first ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var parameters = try Fault.Parameters(words.dropFirst(), of: text)
        let word = HabitWord(
            text: text, after: try parameters.number("after") ?? 0, times: try parameters.number("times"))
        let read = try kind(String(head.first ?? ""), head.count > 1 ? String(head[1]) : nil, &parameters)
        try parameters.finish()
        return (word, read)
    }
}
