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
        case status(Refusal)
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
    /// Its text, and the requests it affects.
    let word: BehaviourWord

    /// Reads faults separated by commas, each `NAME[:ARGUMENT][;PARAMETER=VALUE]…`.
    ///
    /// - Parameter text: the list; empty for none.
    /// - Returns: the faults in their order.
    /// - Throws: ``Problem`` that names the invalid word.
    static func list(_ text: String) throws -> [Fault] {
        try text.split(separator: ",").map { try Fault(String($0)) }
    }

    private init(_ text: String) throws {
        var word = try BehaviourWord(text) { $0 != "redirect-to" }
        kind = try Self.kind(&word)
        try word.finish()
        self.word = word
    }

    private static func kind(_ word: inout BehaviourWord) throws -> Kind {
        let (name, argument) = (word.name, word.argument)
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
            return .changed(bytes: try word.takeNumber("bytes"), keepsValidator: word.takeFlag("keep-validator"))
        case "status": return .status(try word.takeRefusal(status: try number()))
        case "redirect-to": return .redirectTo(argument ?? "/")
        default:
            if let code = Int(name) { return .status(try word.takeRefusal(status: code)) }
            guard argument == nil, let kind = plainKinds[name] else {
                throw Problem.input("unknown fault '\(name)'")
            }
            return kind
        }
    }

    private static let plainKinds: [String: Kind] = [
        "wrong-range": .wrongRange, "unknown-total": .unknownTotal, "multipart": .multipart,
        "ignore-if-range": .ignoreIfRange, "html": .html, "gzip": .gzip, "no-range": .noRange, "no-length": .noLength,
        "weak-etag": .weakETag, "no-validator": .noValidator, "no-etag": .noETag, "digest": .digest(.repr),
        "old-digest": .digest(.old), "wrong-digest": .wrongDigest,
    ]
}

/// The faults of paths, and how often each was met.
struct FaultBoard {
    private var rules: [(path: String, fault: Fault)] = []
    private var counter = WordCounter()

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
        counter = WordCounter()
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
            fault.word.applies(toRequest: counter.next(path, fault.word.text))
        }
    }
}
