/// A behaviour or a fault as written, `NAME[:ARGUMENT][;PARAMETER=VALUE]…`, and the requests it applies to.
struct BehaviourWord: Sendable {
    /// As written; also the key of its counter.
    let text: String
    let name: String
    let argument: String?
    private let after: Int
    private let times: Int?
    /// The parameters that were not read yet.
    private var parameters: [String: String] = [:]

    /// Reads a word.
    ///
    /// - Parameters:
    ///   - text: the word.
    ///   - mayStartWithParameter: whether `changed:after=3` means `changed;after=3`.
    /// - Throws: ``Problem`` that names what is invalid.
    init(_ text: String, mayStartWithParameter: (_ name: Substring) -> Bool = { _ in false }) throws {
        var words = text.split(separator: ";", omittingEmptySubsequences: false)[...]
        let head = (words.popFirst() ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = head.first ?? ""
        var argument = head.count > 1 ? head[1] : nil
        if let first = argument, first.contains("="), mayStartWithParameter(name) {
            words.insert(first, at: words.startIndex)
            argument = nil
        }
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        (self.text, self.name, self.argument) = (text, String(name), argument.map(String.init))
        after = try Self.number("after", &parameters, of: text) ?? 0
        times = try Self.number("times", &parameters, of: text)
    }

    /// Whether it applies to this request.
    ///
    /// - Parameter number: how many requests were counted before this one.
    /// - Returns: whether it is among the `times` that follow the first `after`.
    func applies(toRequest number: Int) -> Bool {
        number >= after && (times.map { number < after + $0 } ?? true)
    }

    // MARK: Parameters

    /// Takes a parameter that is a number; nil if it is not there.
    mutating func takeNumber(_ name: String) throws -> Int? { try Self.number(name, &parameters, of: text) }

    /// Takes a parameter whose value does not matter.
    mutating func takeFlag(_ name: String) -> Bool { parameters.removeValue(forKey: name) != nil }

    /// Takes the parameters of a refusal.
    ///
    /// - Parameters:
    ///   - status: the status, if it is not a parameter.
    ///   - fallback: the status without the parameter.
    /// - Returns: the refusal.
    /// - Throws: ``Problem`` that names what is invalid.
    mutating func takeRefusal(status: Int? = nil, or fallback: Int = 429) throws -> Refusal {
        let status = try status ?? takeNumber("status") ?? fallback
        guard (200...599).contains(status) else { throw Problem.input("a status is 200 to 599") }
        let seconds = try takeNumber("retry")
        let date = try takeNumber("retry-date")
        return Refusal(status: status, retryAfter: date ?? seconds, asDate: date != nil)
    }

    /// Checks that every parameter was taken.
    func finish() throws {
        guard let left = parameters.keys.min() else { return }
        throw Problem.input("'\(text)' does not know '\(left)'")
    }

    private static func number(_ name: String, _ values: inout [String: String], of text: String) throws -> Int? {
        guard let value = values.removeValue(forKey: name) else { return nil }
        guard let number = Int(value) else { throw Problem.input("\(name) in '\(text)' needs a number") }
        return number
    }
}

/// An answer that replaces the usual one.
struct Refusal: Sendable {
    let status: Int
    var retryAfter: Int?
    var asDate = false

    /// Its `Retry-After`; empty if it has none.
    var fields: [(name: String, value: String)] {
        guard let seconds = retryAfter else { return [] }
        let later = nowMilliseconds() / 1000 + Int64(seconds)
        return [("Retry-After", asDate ? HTTPDate.text(later) : String(seconds))]
    }
}

/// How many requests of each path each word has met.
struct WordCounter {
    private var counts: [String: Int] = [:]

    /// Counts a request; returns how many were counted before it.
    mutating func next(_ path: String, _ text: String) -> Int {
        let key = path + " " + text
        let number = counts[key, default: 0]
        counts[key] = number + 1
        return number
    }

    /// Starts again with a path.
    mutating func restart(_ path: String) {
        for key in counts.keys where key.hasPrefix(path + " ") { counts[key] = nil }
    }
}
