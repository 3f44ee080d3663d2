/// One habit of an LMS, as written in `POST /_lms`.
///
/// docs/sandbox.md describes each.
struct LMSHabit: Sendable {
    /// A habit without an argument.
    enum Flag: String, CaseIterable, Sendable {
        case html
        case noContent = "204"
        case empty
        case half
        case utf16
        case latin1
        case mark
        case text
        case php
        case notOK = "not-ok"
        case otherID = "other-id"
        case redirect
        case gzip
        case conflictKnown = "conflict-known"
        case conflictOther = "conflict-other"
    }

    /// The kinds of habits.
    enum Kind: Sendable {
        case flag(Flag)
        /// Accepts the reports of this percentage of requests and closes the connection without an answer.
        case lose(share: Int)
        /// Accepts them and never answers.
        case hang(share: Int)
        /// Accepts them and answers as if it had not.
        case late(share: Int, DRMHabit.Refusal)
        /// Never answers, and accepts nothing.
        case timeout(share: Int)
        /// Closes the connection, and accepts nothing.
        case drop(share: Int)
        case status(DRMHabit.Refusal)
        case busy(share: Int, DRMHabit.Refusal)
        case limit(perSecond: Int, DRMHabit.Refusal)
        case slow(milliseconds: Int)
        case bodyLimit(bytes: Int, status: Int)
        case countLimit(reports: Int, status: Int)
        /// Refuses requests with one of these ids.
        case poison(ids: Set<String>, status: Int)
        /// Requires this `Authorization`.
        case authorization(String, status: Int)
        case redirectTo(String, status: Int)
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
    static func list(_ text: String) throws -> [LMSHabit] {
        try text.split(separator: ",").map { try LMSHabit(String($0)) }
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
        switch name {
        case "poison":
            let ids = (argument ?? "").split(separator: "|").map(String.init)
            return .poison(ids: Set(ids), status: try parameters.number("status") ?? 400)
        case "authorization": return .authorization(argument ?? "", status: try parameters.number("status") ?? 401)
        case "redirect-to": return .redirectTo(argument ?? "/", status: try parameters.number("status") ?? 307)
        default: break
        }
        guard let number = argument.flatMap({ Int($0) }) else {
            throw Problem.input("unknown habit '\(name)', or it needs a number")
        }
        func share() throws -> Int {
            guard (0...100).contains(number) else { throw Problem.input("a share is 0 to 100") }
            return number
        }
        switch name {
        case "lose": return .lose(share: try share())
        case "hang": return .hang(share: try share())
        case "late": return .late(share: try share(), try refusal(nil, 502, &parameters))
        case "timeout": return .timeout(share: try share())
        case "drop": return .drop(share: try share())
        case "status": return .status(try refusal(number, 503, &parameters))
        case "busy": return .busy(share: try share(), try refusal(nil, 429, &parameters))
        case "limit": return .limit(perSecond: max(1, number), try refusal(nil, 429, &parameters))
        // Bounded, so that a test that forgets it ends eventually.
        case "slow": return .slow(milliseconds: min(max(0, number), 60_000))
        case "body-limit": return .bodyLimit(bytes: number, status: try parameters.number("status") ?? 413)
        case "count-limit": return .countLimit(reports: number, status: try parameters.number("status") ?? 413)
        default: throw Problem.input("unknown habit '\(name)'")
        }
    }

    private static func refusal(
        _ status: Int?, _ fallback: Int, _ parameters: inout Fault.Parameters
    ) throws -> DRMHabit.Refusal {
        let code = try status ?? parameters.number("status") ?? fallback
        guard (200...599).contains(code) else { throw Problem.input("a status is 200 to 599") }
        let seconds = try parameters.number("retry")
        let date = try parameters.number("retry-date")
        return DRMHabit.Refusal(status: code, retryAfter: date ?? seconds, asDate: date != nil)
    }
}

/// The habits that apply to one request.
struct LMSManner: Sendable {
    /// The answer to a request whose reports were accepted.
    enum Acknowledgement: Sendable {
        case sent
        case lost
        case held
        case replaced(DRMHabit.Refusal)
    }

    var flags: Set<LMSHabit.Flag> = []
    var acknowledgement = Acknowledgement.sent
    /// The answer that is sent without reading the reports.
    var refusal: DRMHabit.Refusal?
    var isSilent = false
    var isDropped = false
    var delayMilliseconds = 0
    var bodyLimit: (bytes: Int, status: Int)?
    var countLimit: (reports: Int, status: Int)?
    var poison: (ids: Set<String>, status: Int)?
    var authorization: (value: String, status: Int)?
    var redirect: (location: String, status: Int)?

    func has(_ flag: LMSHabit.Flag) -> Bool { flags.contains(flag) }
}

/// The habits of every LMS, and their counters.
struct LMSHabits {
    private var habits: [String: [LMSHabit]] = [:]
    private var counts: [String: Int] = [:]
    /// When the requests of the last second were accepted, in nanoseconds, by habit.
    private var passed: [String: [Int64]] = [:]

    /// Sets the habits of a path; counters restart.
    mutating func set(_ path: String, _ list: [LMSHabit]) {
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
    mutating func meet(_ path: String, now: Int64) -> LMSManner {
        var manner = LMSManner()
        for habit in habits[path] ?? [] {
            let key = path + " " + habit.text
            let number = counts[key, default: 0]
            counts[key] = number + 1
            guard habit.word.applies(toRequest: number) else { continue }
            switch habit.kind {
            case .flag(let flag): manner.flags.insert(flag)
            case .lose(let share): if Self.isOne(of: share, number) { manner.acknowledgement = .lost }
            case .hang(let share): if Self.isOne(of: share, number) { manner.acknowledgement = .held }
            case .late(let share, let refusal):
                if Self.isOne(of: share, number) { manner.acknowledgement = .replaced(refusal) }
            case .timeout(let share): if Self.isOne(of: share, number) { manner.isSilent = true }
            case .drop(let share): if Self.isOne(of: share, number) { manner.isDropped = true }
            case .status(let refusal): manner.refusal = refusal
            case .busy(let share, let refusal):
                if Self.isOne(of: share, number) { manner.refusal = manner.refusal ?? refusal }
            case .limit(let most, let refusal): if isBeyond(most, key, now) { manner.refusal = refusal }
            case .slow(let milliseconds): manner.delayMilliseconds = milliseconds
            case .bodyLimit(let bytes, let status): manner.bodyLimit = (bytes, status)
            case .countLimit(let reports, let status): manner.countLimit = (reports, status)
            case .poison(let ids, let status): manner.poison = (ids, status)
            case .authorization(let value, let status): manner.authorization = (value, status)
            case .redirectTo(let location, let status): manner.redirect = (location, status)
            }
        }
        return manner
    }

    /// Spreads a percentage evenly: of any hundred requests in a row exactly this many are selected.
    private static func isOne(of share: Int, _ number: Int) -> Bool {
        (number % 100 + 1) * share / 100 > number % 100 * share / 100
    }

    /// Whether a request exceeds the limit for the last second; refused requests do not count.
    private mutating func isBeyond(_ limit: Int, _ key: String, _ now: Int64) -> Bool {
        var times = passed.removeValue(forKey: key) ?? []
        defer { passed[key] = times }
        times.removeAll { $0 <= now - 1_000_000_000 }
        guard times.count < limit else { return true }
        times.append(now)
        return false
    }
}
