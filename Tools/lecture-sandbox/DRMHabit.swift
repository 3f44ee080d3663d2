/// One habit of a DRM callback server, as written in `POST /_drm`.
///
/// docs/sandbox.md describes each.
struct DRMHabit: Sendable {
    /// A habit without an argument.
    enum Flag: String, CaseIterable, Sendable {
        case firstOnly = "first-only"
        case object
        case claims
        case message
        case noUserKey = "no-user-key"
        case badInput500 = "bad-input-500"
        case html
        case empty
        case strings
        case wrongSession = "wrong-session"
        case noSession = "no-session"
        case doubled
        case wrongSignature = "wrong-signature"
        case algorithmNone = "alg-none"
        case textBefore = "text-before"
        case textAfter = "text-after"
        case otherKind = "other-kind"
        case otherKey = "other-key"
    }

    /// An answer that replaces a grant.
    struct Refusal: Sendable {
        let status: Int
        var retryAfter: Int?
        var asDate = false
    }

    /// The kinds of habits.
    enum Kind: Sendable {
        case flag(Flag)
        case type(String)
        case status(Refusal)
        /// Refuses this percentage of requests.
        case busy(share: Int, Refusal)
        /// Refuses requests beyond this many per second.
        case limit(perSecond: Int, Refusal)
        case slow(milliseconds: Int)
        /// Never answers this percentage of requests.
        case timeout(share: Int)
        case huge(bytes: Int)
        /// Omits the answers of this percentage of items.
        case missing(share: Int)
        /// Refuses this percentage of lectures, always the same ones.
        case refuse(share: Int)
    }

    let kind: Kind
    /// Its text, and the requests it applies to.
    let word: HabitWord
    /// The habit as written; also the key of its counter.
    var text: String { word.text }

    /// Reads habits separated by commas, each `NAME[:ARGUMENT][;PARAMETER=VALUE]…`.
    ///
    /// - Parameter text: the list; empty for a server without habits.
    /// - Returns: the habits in their order.
    /// - Throws: ``Problem`` that names the invalid word.
    static func list(_ text: String) throws -> [DRMHabit] {
        try text.split(separator: ",").map { try DRMHabit(String($0)) }
    }

    private init(_ text: String) throws {
        (word, kind) = try HabitWord.read(text, as: Self.kind)
    }

    private static func kind(
        _ name: String, _ argument: String?, _ parameters: inout Fault.Parameters
    ) throws -> Kind {
        if let flag = Flag(rawValue: name) {
            guard argument == nil else { throw Problem.input("habit \(name) has no argument") }
            return .flag(flag)
        }
        if name == "type" { return .type(argument ?? "") }
        guard let number = argument.flatMap({ Int($0) }) else {
            throw Problem.input("unknown habit '\(name)', or it needs a number")
        }
        func share() throws -> Int {
            guard (0...100).contains(number) else { throw Problem.input("a share is 0 to 100") }
            return number
        }
        switch name {
        case "status": return .status(try refusal(number, &parameters))
        case "busy": return .busy(share: try share(), try refusal(nil, &parameters))
        case "limit": return .limit(perSecond: max(1, number), try refusal(nil, &parameters))
        // Bounded, so that a test that forgets it ends eventually.
        case "slow": return .slow(milliseconds: min(max(0, number), 60_000))
        case "timeout": return .timeout(share: try share())
        case "huge": return .huge(bytes: min(max(0, number), 1 << 30))
        case "missing": return .missing(share: try share())
        case "refuse": return .refuse(share: try share())
        default: throw Problem.input("unknown habit '\(name)'")
        }
    }

    private static func refusal(_ status: Int?, _ parameters: inout Fault.Parameters) throws -> Refusal {
        let code = try status ?? parameters.number("status") ?? 429
        guard (200...599).contains(code) else { throw Problem.input("a status is 200 to 599") }
        let seconds = try parameters.number("retry")
        let date = try parameters.number("retry-date")
        return Refusal(status: code, retryAfter: date ?? seconds, asDate: date != nil)
    }
}

/// The habits that apply to one request.
struct DRMManner: Sendable {
    var flags: Set<DRMHabit.Flag> = []
    var type = "text/plain; charset=utf-8"
    var refusal: DRMHabit.Refusal?
    /// Whether ``refusal`` applies because of too many requests.
    var isOverLimit = false
    var delayMilliseconds = 0
    var isSilent = false
    var hugeCount: Int?
    var missingShare = 0
    var refusedShare = 0

    func has(_ flag: DRMHabit.Flag) -> Bool { flags.contains(flag) }
}

/// The habits of every callback path, and their counters.
struct DRMHabits {
    private var habits: [String: [DRMHabit]] = [:]
    private var counts: [String: Int] = [:]
    /// When the requests of the last second were accepted, in nanoseconds, by habit.
    private var passed: [String: [Int64]] = [:]

    /// Sets the habits of a path; counters restart.
    mutating func set(_ path: String, _ list: [DRMHabit]) {
        habits[path] = list
        for key in counts.keys where key.hasPrefix(path + " ") { counts[key] = nil }
        for key in passed.keys where key.hasPrefix(path + " ") { passed[key] = nil }
    }

    /// Counts a request and returns how to answer it.
    ///
    /// - Parameters:
    ///   - path: the request's path.
    ///   - now: the monotonic clock, in nanoseconds.
    /// - Returns: the habits that apply.
    mutating func meet(_ path: String, now: Int64) -> DRMManner {
        var manner = DRMManner()
        for habit in habits[path] ?? [] {
            let key = path + " " + habit.text
            let number = count(key)
            guard habit.word.applies(toRequest: number) else { continue }
            switch habit.kind {
            case .flag(let flag): manner.flags.insert(flag)
            case .type(let type): manner.type = type
            case .status(let refusal): manner.refusal = refusal
            case .busy(let share, let refusal):
                if Self.isOne(of: share, number) { manner.refusal = manner.refusal ?? refusal }
            case .limit(let most, let refusal):
                if isBeyond(most, key, now) {
                    manner.refusal = refusal
                    manner.isOverLimit = true
                }
            case .slow(let milliseconds): manner.delayMilliseconds = milliseconds
            case .timeout(let share): if Self.isOne(of: share, number) { manner.isSilent = true }
            case .huge(let count): manner.hugeCount = count
            case .missing(let share): manner.missingShare = share
            case .refuse(let share): manner.refusedShare = share
            }
        }
        return manner
    }

    /// Whether the answer of the next item of a path is omitted.
    mutating func isMissing(_ path: String, share: Int) -> Bool {
        share > 0 && Self.isOne(of: share, count(path + " item"))
    }

    private mutating func count(_ key: String) -> Int {
        let number = counts[key, default: 0]
        counts[key] = number + 1
        return number
    }

    /// Spreads a percentage evenly: of any hundred requests in a row exactly this many are selected.
    private static func isOne(of share: Int, _ number: Int) -> Bool {
        (number % 100 + 1) * share / 100 > number % 100 * share / 100
    }

    /// Whether a request exceeds the limit for the last second; refused requests do not count.
    private mutating func isBeyond(_ limit: Int, _ key: String, _ now: Int64) -> Bool {
        var times = passed[key] ?? []
        passed[key] = nil
        defer { passed[key] = times }
        if let first = times.firstIndex(where: { $0 > now - 1_000_000_000 }) {
            times.removeFirst(first)
        } else {
            times.removeAll(keepingCapacity: true)
        }
        guard times.count < limit else { return true }
        times.append(now)
        return false
    }
}
