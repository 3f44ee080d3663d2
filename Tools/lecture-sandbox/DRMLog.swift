/// Requests to a DRM callback and its answers, by item, by second and by lecture.
final class DRMLog: Sendable {
    /// How an item was answered.
    enum Outcome: String {
        /// `result` 1 in a good answer.
        case granted
        /// `result` 0 in a good answer.
        case refused
        /// Omitted from a good answer.
        case missing
        /// In an answer that clients must reject.
        case spoiled
        /// Not answered: another status, another page, nothing at all.
        case failed
    }

    private struct Entry {
        let number: Int
        let request: Int
        let time: Int64
        let path: String
        let item: DRMItem
        let session: String
        let status: Int
        let outcome: Outcome

        var line: String {
            let extra = item.extra.map { [("extra", JSON.string($0))] } ?? []
            return JSON.object(
                [
                    ("number", .integer(Int64(number))), ("request", .integer(Int64(request))),
                    ("time_ms", .integer(time)),
                    ("path", .string(path)), ("kind", .integer(Int64(item.kind))), ("key", .string(item.key)),
                    ("session", .string(session)), ("reset_req", .integer(item.isRenewal ? 1 : 0)),
                    ("user", .string(item.user)), ("player", .string(item.player)), ("status", .integer(Int64(status))),
                    ("outcome", .string(outcome.rawValue)),
                ] + extra
            ).text
        }
    }

    private struct Content: Hashable {
        let key: String
        let kind: Int
    }

    private struct Count {
        var asked = 0
        var outcomes: [Outcome: Int] = [:]
        var sessions: Set<String> = []
    }

    private struct Rate {
        var requests = 0
        var items = 0
        var limited = 0
        var bad = 0
    }

    private struct State {
        var entries: [Entry] = []
        var nextNumber = 1
        var contents: [Content: Count] = [:]
        var rates: [Int64: Rate] = [:]
    }

    /// Older entries are dropped, so that a long run stays small; the counts are kept.
    private static let limit = 500_000
    private let state = Locked(State())
    /// Added to the monotonic clock it gives the time since the epoch: the same reading limits a rate and is logged, so
    /// that the log never shows more than a limit allowed.
    private let epoch = nowMilliseconds() * 1_000_000 - monotonicNanoseconds()

    /// Records a request.
    ///
    /// - Parameters:
    ///   - request: its number in the request log.
    ///   - arrival: the monotonic clock, in nanoseconds.
    ///   - path: the callback's path.
    ///   - items: the items with their outcomes; empty when they could not be read.
    ///   - status: the answer's status.
    ///   - isOverLimit: whether it exceeded the limit.
    func note(
        _ request: Int, at arrival: Int64, path: String, _ items: [(DRMItem, Outcome)], status: Int, isOverLimit: Bool
    ) {
        let digests = items.map(\.0.sessionDigest)
        let now = (epoch + arrival) / 1_000_000
        state.withLock { state in
            var rate = state.rates.removeValue(forKey: now / 1000) ?? Rate()
            rate.requests += 1
            rate.items += items.count
            rate.limited += isOverLimit ? 1 : 0
            rate.bad += items.isEmpty ? 1 : 0
            state.rates[now / 1000] = rate
            for ((item, outcome), session) in zip(items, digests) {
                state.entries.append(
                    Entry(
                        number: state.nextNumber, request: request, time: now, path: path, item: item, session: session,
                        status: status, outcome: outcome))
                state.nextNumber += 1
                let content = Content(key: item.key, kind: item.kind)
                var count = state.contents.removeValue(forKey: content) ?? Count()
                count.asked += 1
                count.outcomes[outcome, default: 0] += 1
                if !session.isEmpty { count.sessions.insert(session) }
                state.contents[content] = count
            }
            if state.entries.count > Self.limit { state.entries.removeFirst(Self.limit / 10) }
        }
    }

    /// Clears the log; numbers continue.
    func reset() {
        state.withLock { state in
            state.entries = []
            state.contents = [:]
            state.rates = [:]
        }
    }

    /// One JSON line per item, oldest first.
    ///
    /// - Parameter number: only those after this one.
    /// - Returns: the lines.
    func lines(after number: Int) -> String {
        let entries = state.withLock { $0.entries }
        return entries.filter { $0.number > number }.map { $0.line + "\n" }.joined()
    }

    /// One JSON line per lecture and kind, in the order of the keys.
    var contentLines: String {
        let contents = state.withLock { $0.contents }
        let sorted = contents.sorted { ($0.key.key, $0.key.kind) < ($1.key.key, $1.key.kind) }
        return sorted.map { content, count in
            func number(_ outcome: Outcome) -> (String, JSON) {
                (outcome.rawValue, .integer(Int64(count.outcomes[outcome, default: 0])))
            }
            return JSON.object([
                ("key", .string(content.key)), ("kind", .integer(Int64(content.kind))),
                ("asked", .integer(Int64(count.asked))), ("sessions", .integer(Int64(count.sessions.count))),
                number(.granted), number(.refused), number(.missing), number(.spoiled), number(.failed),
            ]).text + "\n"
        }.joined()
    }

    /// One JSON line per second with requests.
    var rateLines: String {
        let rates = state.withLock { $0.rates }
        return rates.sorted { $0.key < $1.key }.map { second, rate in
            JSON.object([
                ("second", .integer(second)), ("requests", .integer(Int64(rate.requests))),
                ("items", .integer(Int64(rate.items))), ("limited", .integer(Int64(rate.limited))),
                ("bad", .integer(Int64(rate.bad))),
            ]).text + "\n"
        }.joined()
    }

    /// Totals in one object: enough to see what was renewed, duplicated and lost.
    var sums: JSON {
        let (contents, rates) = state.withLock { ($0.contents, $0.rates) }
        func total(_ outcome: Outcome) -> Int64 {
            contents.values.reduce(0) { $0 + Int64($1.outcomes[outcome, default: 0]) }
        }
        func contentCount(_ test: (Int) -> Bool) -> Int64 {
            Int64(contents.values.count { test($0.outcomes[.granted, default: 0]) })
        }
        return .object([
            ("requests", .integer(rates.values.reduce(0) { $0 + Int64($1.requests) })),
            ("limited", .integer(rates.values.reduce(0) { $0 + Int64($1.limited) })),
            ("bad", .integer(rates.values.reduce(0) { $0 + Int64($1.bad) })),
            ("peak_per_second", .integer(Int64(rates.values.map(\.requests).max() ?? 0))),
            ("items", .integer(contents.values.reduce(0) { $0 + Int64($1.asked) })),
            ("granted", .integer(total(.granted))), ("refused", .integer(total(.refused))),
            ("missing", .integer(total(.missing))), ("spoiled", .integer(total(.spoiled))),
            ("failed", .integer(total(.failed))), ("contents", .integer(Int64(contents.count))),
            ("contents_granted", .integer(contentCount { $0 >= 1 })),
            ("contents_granted_again", .integer(contentCount { $0 > 1 })),
            ("contents_never_granted", .integer(contentCount { $0 == 0 })),
        ])
    }
}
