/// How a server answers one request, after the behaviours that apply to it.
protocol ServerManner: Sendable {
    /// A behaviour without an argument.
    associatedtype Flag: RawRepresentable<String>, Hashable, Sendable

    /// The usual manner.
    init()

    var flags: Set<Flag> { get set }
    /// The answer that replaces the usual one.
    var refusal: Refusal? { get set }
    /// Whether ``refusal`` applies because of too many requests.
    var isOverLimit: Bool { get set }
    /// Whether no answer is ever sent.
    var isSilent: Bool { get set }
    var delayMilliseconds: Int { get set }

    /// Reads a behaviour that only this kind of server has.
    ///
    /// - Parameter word: the behaviour; its parameters are taken.
    /// - Returns: what it does; nil if the word is none of these.
    /// - Throws: ``Problem`` that names what is invalid.
    static func effect(of word: inout BehaviourWord) throws -> Behaviour<Self>.Effect?
}

extension ServerManner {
    func has(_ flag: Flag) -> Bool { flags.contains(flag) }
}

/// One behaviour of a server, as written in `POST /_drm` and `POST /_lms`.
///
/// docs/sandbox.md describes each. Flags, `status`, `busy`, `limit`, `slow` and `timeout` are the same for all servers.
struct Behaviour<Manner: ServerManner>: Sendable {
    /// Which of the requests that the word applies to are affected.
    enum Condition: Sendable {
        /// This percentage, spread evenly.
        case share(Int)
        /// Those beyond this many within any second; refused requests do not count.
        case limit(perSecond: Int)
    }

    /// What it does.
    struct Effect: Sendable {
        var condition = Condition.share(100)
        let change: @Sendable (inout Manner) -> Void

        init(_ condition: Condition = .share(100), _ change: @escaping @Sendable (inout Manner) -> Void) {
            (self.condition, self.change) = (condition, change)
        }
    }

    let effect: Effect
    /// Its text, and the requests it applies to.
    let word: BehaviourWord

    /// Reads behaviours separated by commas, each `NAME[:ARGUMENT][;PARAMETER=VALUE]…`.
    ///
    /// - Parameter text: the list; empty for a server that behaves well.
    /// - Returns: the behaviours in their order.
    /// - Throws: ``Problem`` that names the invalid word.
    static func list(_ text: String) throws -> [Behaviour] {
        try text.split(separator: ",").map { try Behaviour(String($0)) }
    }

    private init(_ text: String) throws {
        var word = try BehaviourWord(text)
        effect = try Self.effect(of: &word)
        try word.finish()
        self.word = word
    }

    private static func effect(of word: inout BehaviourWord) throws -> Effect {
        if let flag = Manner.Flag(rawValue: word.name) {
            guard word.argument == nil else { throw Problem.input("habit \(word.name) has no argument") }
            return Effect { $0.flags.insert(flag) }
        }
        if let effect = try Manner.effect(of: &word) { return effect }
        let number = try word.number()
        switch word.name {
        case "status":
            let refusal = try word.takeRefusal(status: number)
            return Effect { $0.refusal = refusal }
        case "busy":
            let (share, refusal) = (try word.percentage(), try word.takeRefusal())
            return Effect(.share(share)) { $0.refusal = $0.refusal ?? refusal }
        case "limit":
            let refusal = try word.takeRefusal()
            return Effect(.limit(perSecond: max(1, number))) { ($0.refusal, $0.isOverLimit) = (refusal, true) }
        case "slow":
            // Bounded, so that a test that forgets it ends eventually.
            return Effect { $0.delayMilliseconds = min(max(0, number), 60_000) }
        case "timeout": return Effect(.share(try word.percentage())) { $0.isSilent = true }
        default: throw Problem.input("unknown habit '\(word.name)'")
        }
    }
}

extension BehaviourWord {
    /// The argument of a behaviour that has a number.
    func number() throws -> Int {
        guard let number = argument.flatMap({ Int($0) }) else {
            throw Problem.input("unknown habit '\(name)', or it needs a number")
        }
        return number
    }

    /// The argument of a behaviour that has a percentage.
    func percentage() throws -> Int {
        let number = try number()
        guard (0...100).contains(number) else { throw Problem.input("a share is 0 to 100") }
        return number
    }
}

/// The behaviours of the servers of one kind, by path, and their counters.
struct Behaviours<Manner: ServerManner> {
    private var behaviours: [String: [Behaviour<Manner>]] = [:]
    private var counter = WordCounter()
    /// When the requests of the last second were accepted, in nanoseconds, by path and behaviour.
    private var accepted: [String: [String: [Int64]]] = [:]

    /// Sets the behaviours of a path; counters restart.
    mutating func set(_ path: String, _ list: [Behaviour<Manner>]) {
        behaviours[path] = list
        counter.restart(path)
        accepted[path] = nil
    }

    /// Counts a request and returns how to answer it.
    ///
    /// - Parameters:
    ///   - path: the request's path.
    ///   - now: the monotonic clock, in nanoseconds.
    /// - Returns: the manner, after the behaviours that apply.
    mutating func meet(_ path: String, now: Int64) -> Manner {
        var manner = Manner()
        for behaviour in behaviours[path] ?? [] {
            let number = counter.next(path, behaviour.word.text)
            guard behaviour.word.applies(toRequest: number) else { continue }
            let isAffected =
                switch behaviour.effect.condition {
                case .share(let share): Self.isOne(of: share, number)
                case .limit(let limit): isBeyond(limit, path, behaviour.word.text, now)
                }
            if isAffected { behaviour.effect.change(&manner) }
        }
        return manner
    }

    /// Counts an item of a path's requests, and returns whether it belongs to a percentage of them.
    mutating func isNextItem(_ path: String, oneOf share: Int) -> Bool {
        share > 0 && Self.isOne(of: share, counter.next(path, "item"))
    }

    /// Spreads a percentage evenly: of any hundred requests in a row exactly this many are selected.
    private static func isOne(of share: Int, _ number: Int) -> Bool {
        (number % 100 + 1) * share / 100 > number % 100 * share / 100
    }

    /// Whether a request exceeds the limit for the last second; refused requests do not count.
    private mutating func isBeyond(_ limit: Int, _ path: String, _ text: String, _ now: Int64) -> Bool {
        // Taken out, so that the array is changed in place.
        var times = accepted[path, default: [:]].removeValue(forKey: text) ?? []
        defer { accepted[path, default: [:]][text] = times }
        times.removeAll { $0 <= now - 1_000_000_000 }
        guard times.count < limit else { return true }
        times.append(now)
        return false
    }
}
