/// A habit of a server as written, `NAME[:ARGUMENT][;PARAMETER=VALUE]…`, and the requests it applies to.
struct HabitWord: Sendable {
    /// As written.
    let text: String
    private let after: Int
    private let times: Int?

    /// Whether it applies to this request.
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
    ///   - kind: reads its name, its argument, and its own parameters.
    /// - Returns: the word and the habit.
    /// - Throws: ``Problem`` that names what is invalid.
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
