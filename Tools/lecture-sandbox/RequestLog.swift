/// Requests and what was sent for them, in order; also while it is being sent.
final class RequestLog: Sendable {
    /// One request.
    struct Entry: Sendable {
        let number: Int
        let connection: Int
        let startedAt: Int64
        let method: String
        let scheme: String
        let target: String
        let range: String?
        let ifRange: String?
        var status = 0
        var byteCount = 0
        var isDone = false
        var faults = ""

        var line: String {
            let members: [(String, JSON)] = [
                ("number", .integer(Int64(number))), ("time_ms", .integer(startedAt)),
                ("connection", .integer(Int64(connection))), ("scheme", .string(scheme)), ("method", .string(method)),
                ("target", .string(target)),
                ("path", .string(String(target.prefix { $0 != "?" }))), ("range", .optional(range)),
                ("if_range", .optional(ifRange)), ("status", .integer(Int64(status))),
                ("bytes", .integer(Int64(byteCount))), ("done", .boolean(isDone)), ("fault", .string(faults)),
            ]
            return JSON.object(members).text
        }
    }

    private struct State {
        var entries: [Entry] = []
        var dropped = 0
        var nextNumber = 1
    }

    /// Older entries are dropped, so that a long run stays small.
    private static let limit = 100_000
    private let state = Locked(State())

    /// Begins an entry.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - connection: the connection's number.
    /// - Returns: the entry's number, for the other methods.
    func begin(_ request: Request, connection: Int) -> Int {
        state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.entries.append(
                Entry(
                    number: number, connection: connection, startedAt: nowMilliseconds(), method: request.method,
                    scheme: request.scheme, target: request.target.raw, range: request.fields["range"],
                    ifRange: request.fields["if-range"]))
            if state.entries.count > Self.limit {
                let surplus = Self.limit / 10
                state.entries.removeFirst(surplus)
                state.dropped += surplus
            }
            return number
        }
    }

    /// Changes an entry, if it is still there.
    func update(_ number: Int, _ change: (inout Entry) -> Void) {
        state.withLock { state in
            guard let first = state.entries.first?.number, number >= first, number - first < state.entries.count else {
                return
            }
            change(&state.entries[number - first])
        }
    }

    /// Clears the log; numbers continue.
    func reset() { state.withLock { $0.entries.removeAll() } }

    /// The entries as JSON lines.
    ///
    /// - Parameter path: only requests for this path, if given.
    /// - Returns: one line per entry, oldest first.
    func lines(path: String?) -> String {
        let entries = state.withLock { $0.entries }
        return entries.filter { entry in path.map { entry.target.prefix { $0 != "?" } == $0 } ?? true }
            .map { $0.line + "\n" }.joined()
    }

    /// Totals of the whole log: requests, and bytes of bodies below `/media/`.
    var sums: JSON {
        let (entries, dropped) = state.withLock { ($0.entries, $0.dropped) }
        let media = entries.filter { $0.target.prefix { $0 != "?" }.contains("/media/") }
        return .object([
            ("requests", .integer(Int64(entries.count))), ("dropped", .integer(Int64(dropped))),
            ("media_requests", .integer(Int64(media.count))),
            ("media_bytes", .integer(Int64(media.reduce(0) { $0 + $1.byteCount }))),
            ("active", .integer(Int64(entries.count { !$0.isDone }))),
        ])
    }
}
