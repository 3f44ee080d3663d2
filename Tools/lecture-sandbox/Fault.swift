/// One way to misbehave, as written in `?fault=`, `--fault` and `POST /_control`.
///
/// docs/sandbox.md describes each.
struct Fault: Sendable {
    /// What goes wrong.
    enum Kind: Sendable {
        case drop(after: Int)
        case reset(after: Int)
        case stall(after: Int)
        case slow(bytesPerSecond: Int)
        case delay(milliseconds: Int)
        case wrongRange
        case shift(Int)
        case short(Int)
        case unknownTotal
        case multipart
        case changed(bytes: Int?, keepsValidator: Bool)
        case ignoreIfRange
        case status(Int, retryAfter: Int?, asDate: Bool)
        case html
        case gzip
        case noRange
        case noLength
        case length(Int)
        case weakETag
        case noValidator
        case noETag
        case redirect(hops: Int)
        case redirectTo(String)
        case digest(DigestHeaders)
        case wrongDigest
    }

    let kind: Kind
    /// The fault as written; also the key of its counter.
    let text: String
    /// How many requests are unaffected before it starts.
    var after = 0
    /// How many requests it affects; `nil` for all that follow.
    var times: Int?

    /// Whether it affects this request.
    ///
    /// - Parameter number: how many requests were counted before this one.
    /// - Returns: whether it is among the ``times`` that follow the first ``after``.
    func applies(toRequest number: Int) -> Bool {
        number >= after && (times.map { number < after + $0 } ?? true)
    }

    /// Reads faults separated by commas, each `NAME[:ARGUMENT][;PARAMETER=VALUE]…`.
    ///
    /// - Parameter text: the list; empty for none.
    /// - Returns: the faults in their order.
    /// - Throws: ``Problem`` that names the invalid word.
    static func list(_ text: String) throws -> [Fault] {
        try text.split(separator: ",").map { try Fault(String($0)) }
    }

    private init(_ text: String) throws {
        self.text = text
        var words = text.split(separator: ";", omittingEmptySubsequences: false)[...]
        let head = words.popFirst() ?? ""
        let colon = head.firstIndex(of: ":")
        let name = String(head[..<(colon ?? head.endIndex)])
        // `changed:after=3` and `changed;after=3` mean the same.
        var argument = colon.map { head[head.index(after: $0)...] }
        if let first = argument, first.contains("="), name != "redirect-to" {
            words.insert(first, at: words.startIndex)
            argument = nil
        }
        var parameters = try Parameters(words, of: text)
        after = try parameters.number("after") ?? 0
        times = try parameters.number("times")
        kind = try Self.kind(name, argument.map(String.init), &parameters)
        try parameters.finish()
    }

    private static func kind(_ name: String, _ argument: String?, _ parameters: inout Parameters) throws -> Kind {
        func number(or fallback: Int? = nil) throws -> Int {
            if argument == nil, let fallback { return fallback }
            guard let number = argument.flatMap({ Int($0) }) else {
                throw Problem.input("fault \(name) needs a number")
            }
            return number
        }
        switch name {
        case "drop": return .drop(after: try number(or: 0))
        case "rst": return .reset(after: try number(or: 0))
        case "stall": return .stall(after: try number(or: 0))
        case "slow": return .slow(bytesPerSecond: max(1, try number()))
        case "delay": return .delay(milliseconds: try number())
        case "shift": return .shift(try number())
        case "short": return .short(max(1, try number()))
        case "length": return .length(try number())
        case "redirect": return .redirect(hops: try number(or: 1))
        case "changed":
            return .changed(bytes: try parameters.number("bytes"), keepsValidator: parameters.flag("keep-validator"))
        case "status": return try status(try number(), &parameters)
        case "redirect-to": return .redirectTo(argument ?? "/")
        default:
            if let code = Int(name) { return try status(code, &parameters) }
            guard argument == nil, let kind = plainKinds[name] else {
                throw Problem.input("unknown fault '\(name)'")
            }
            return kind
        }
    }

    private static func status(_ code: Int, _ parameters: inout Parameters) throws -> Kind {
        guard (200...599).contains(code) else { throw Problem.input("a status is 200 to 599") }
        let seconds = try parameters.number("retry")
        let date = try parameters.number("retry-date")
        return .status(code, retryAfter: date ?? seconds, asDate: date != nil)
    }

    private static let plainKinds: [String: Kind] = [
        "wrong-range": .wrongRange, "unknown-total": .unknownTotal, "multipart": .multipart,
        "ignore-if-range": .ignoreIfRange, "html": .html, "gzip": .gzip, "no-range": .noRange, "no-length": .noLength,
        "weak-etag": .weakETag, "no-validator": .noValidator, "no-etag": .noETag, "digest": .digest(.repr),
        "old-digest": .digest(.old), "wrong-digest": .wrongDigest,
    ]

    /// The `NAME=VALUE` words after a fault; an unused word is an error.
    struct Parameters {
        private var values: [String: String] = [:]
        private let fault: String

        init(_ words: ArraySlice<Substring>, of fault: String) throws {
            self.fault = fault
            for word in words {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                values[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            }
        }

        mutating func number(_ name: String) throws -> Int? {
            guard let text = values.removeValue(forKey: name) else { return nil }
            guard let number = Int(text) else { throw Problem.input("\(name) in '\(fault)' needs a number") }
            return number
        }

        mutating func flag(_ name: String) -> Bool { values.removeValue(forKey: name) != nil }

        func finish() throws {
            guard let left = values.keys.min() else { return }
            throw Problem.input("'\(fault)' does not know '\(left)'")
        }
    }
}

/// The faults of paths, and how often each was met.
struct FaultBoard {
    private var rules: [(path: String, fault: Fault)] = []
    private var counts: [String: Int] = [:]

    /// Sets the faults of a path; an empty list removes them.
    ///
    /// - Parameters:
    ///   - path: a whole path, or a prefix followed by `*`.
    ///   - faults: in their order.
    mutating func set(_ path: String, _ faults: [Fault]) {
        rules.removeAll { $0.path == path }
        rules += faults.map { (path, $0) }
    }

    /// Clears all rules and counters.
    mutating func reset() {
        rules = []
        counts = [:]
    }

    /// Counts a request and returns its faults.
    ///
    /// - Parameters:
    ///   - path: the request's path.
    ///   - own: the faults in its own query.
    /// - Returns: the kinds that apply, rules first.
    mutating func meet(_ path: String, own: [Fault]) -> [Fault] {
        let matching = rules.filter { rule in
            rule.path.hasSuffix("*") ? path.hasPrefix(rule.path.dropLast()) : rule.path == path
        }
        return (matching.map(\.fault) + own).filter { fault in
            let key = path + " " + fault.text
            let number = counts[key, default: 0]
            counts[key] = number + 1
            return fault.applies(toRequest: number)
        }
    }
}
