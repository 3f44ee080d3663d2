/// What one LMS received and accepted: how often each report arrived and how often it took effect.
struct LMSBook {
    /// The outcome of a request.
    enum Outcome: String {
        /// Its reports took effect, those that had not before.
        case taken
        /// The key is known with these bytes: nothing took effect again.
        case replayed
        /// The key, or a statement's id, is known with other bytes.
        case conflict
        /// Refused, with a status or a page.
        case refused
        /// Cannot be read.
        case bad
    }

    private struct Record {
        var came: UInt32 = 0
        /// By the keys alone: what a server that ignores ids of events would have recorded.
        var effects: UInt32 = 0
        var digest: LMSDigest
    }

    /// One request.
    struct Visit {
        let number: Int
        let method: String
        let key: String
        let reports: Int
        let bytes: Int
        let encoding: String
        let isAuthorized: Bool
        let status: Int
        let isAcknowledged: Bool
        let outcome: Outcome

        var line: String {
            JSON.object([
                ("number", .integer(Int64(number))), ("method", .string(method)), ("key", .string(key)),
                ("reports", .integer(Int64(reports))), ("bytes", .integer(Int64(bytes))),
                ("encoding", .string(encoding)), ("authorized", .boolean(isAuthorized)),
                ("status", .integer(Int64(status))), ("acknowledged", .boolean(isAcknowledged)),
                ("outcome", .string(outcome.rawValue)),
            ]).text
        }
    }

    private struct Lane: Hashable {
        let user: String
        let session: String
    }

    /// Older requests are dropped, so that a long run stays small; the counts are kept.
    private static let visitLimit = 100_000
    /// Only the last statements can be requested.
    private static let textLimit = 20_000

    private var keys: [String: (digest: LMSDigest, isTaken: Bool)] = [:]
    private var index: [String: Int] = [:]
    private var ids: [String] = []
    private var records: [Record] = []
    private var lanes: [Lane: Int64] = [:]
    private var texts: [String: String] = [:]
    private var textOrder: [String] = []
    private var visits: [Visit] = []
    private var requests = 0
    private var statuses: [Int: Int] = [:]
    private var outcomes: [Outcome: Int] = [:]
    private var lost = 0
    private var outOfOrder = 0
    private var keyViolations = 0
    private var contentViolations = 0
    private var largest = 0

    // MARK: Requests

    /// Checks whether a key arrived with other bytes before, and records a violation if so.
    ///
    /// - Parameters:
    ///   - key: `Idempotency-Key`.
    ///   - digest: the digest of the request's bytes.
    /// - Returns: whether this request arrived before and took effect; nil when its bytes differ.
    mutating func known(_ key: String, _ digest: LMSDigest) -> Bool? {
        guard let entry = keys[key] else {
            keys[key] = (digest, false)
            return false
        }
        if entry.digest == digest { return entry.isTaken }
        keyViolations += 1
        return nil
    }

    /// Counts received reports, whatever their outcome.
    mutating func came(_ reports: [LMSReport]) {
        for report in reports { records[place(of: report)].came += 1 }
    }

    /// Reports take effect.
    ///
    /// - Parameters:
    ///   - reports: the reports of one request.
    ///   - key: the request's key.
    ///   - isByID: whether the reports' own ids decide, as in xAPI, and not the key.
    /// - Returns: the reports whose id is known with a different body; nothing takes effect when there are any.
    mutating func take(_ reports: [LMSReport], key: String?, isByID: Bool) -> [String] {
        let others = reports.filter { report in
            let record = records[place(of: report)]
            return record.effects > 0 && record.digest != report.digest
        }
        if !others.isEmpty {
            contentViolations += others.count
            return others.map(\.id)
        }
        for report in reports {
            let place = place(of: report)
            let isFirst = records[place].effects == 0
            if isFirst {
                records[place].digest = report.digest
                note(report)
            }
            if isFirst || !isByID { records[place].effects += 1 }
        }
        if let key { keys[key]?.isTaken = true }
        return []
    }

    private mutating func note(_ report: LMSReport) {
        if let sequence = report.sequence {
            let lane = Lane(user: report.user, session: report.session)
            if let last = lanes[lane], sequence < last { outOfOrder += 1 }
            lanes[lane] = max(sequence, lanes[lane] ?? sequence)
        }
        guard let text = report.text else { return }
        texts[report.id] = text
        textOrder.append(report.id)
        guard textOrder.count > Self.textLimit else { return }
        for id in textOrder.prefix(Self.textLimit / 10) { texts[id] = nil }
        textOrder.removeFirst(Self.textLimit / 10)
    }

    private mutating func place(of report: LMSReport) -> Int {
        if let place = index[report.id] { return place }
        index[report.id] = ids.count
        ids.append(report.id)
        records.append(Record(digest: report.digest))
        return ids.count - 1
    }

    /// Records a request with its outcome.
    mutating func note(_ request: Request, key: String?, reports: Int, reply: Reply, outcome: Outcome) {
        requests += 1
        let isAcknowledged = if case .whole = reply.ending { reply.delayMilliseconds < Int(Int32.max) } else { false }
        if !isAcknowledged && (outcome == .taken || outcome == .replayed) { lost += 1 }
        statuses[reply.status, default: 0] += 1
        outcomes[outcome, default: 0] += 1
        largest = max(largest, request.body.count)
        visits.append(
            Visit(
                number: requests, method: request.method, key: key ?? "", reports: reports, bytes: request.body.count,
                encoding: request.fields["content-encoding"] ?? "",
                isAuthorized: request.fields["authorization"] != nil, status: reply.status,
                isAcknowledged: isAcknowledged, outcome: outcome))
        if visits.count > Self.visitLimit { visits.removeFirst(Self.visitLimit / 10) }
    }

    // MARK: Queries

    /// A statement that took effect recently.
    func statement(_ id: String) -> String? { texts[id] }

    /// A JSON line for each id, in the order of their first arrival.
    var eventLines: String {
        var text = ""
        for (id, record) in zip(ids, records) {
            text +=
                JSON.object([
                    ("id", .string(id)), ("came", .integer(Int64(record.came))),
                    ("effects", .integer(Int64(record.effects))),
                ]).text
            text += "\n"
        }
        return text
    }

    /// A JSON line for each request, the last ones.
    var visitLines: String { visits.map { $0.line + "\n" }.joined() }

    /// Totals in one object.
    var sums: JSON {
        func number(_ name: String, _ count: Int) -> (String, JSON) { (name, .integer(Int64(count))) }
        let codes = statuses.sorted { $0.key < $1.key }.map { number("\($0.key)", $0.value) }
        return .object([
            number("requests", requests), number("taken", outcomes[.taken] ?? 0),
            number("replayed", outcomes[.replayed] ?? 0), number("conflicts", outcomes[.conflict] ?? 0),
            number("refused", outcomes[.refused] ?? 0), number("bad", outcomes[.bad] ?? 0), number("lost", lost),
            number("keys", keys.count), number("events", ids.count), number("once", records.count { $0.effects == 1 }),
            number("more", records.count { $0.effects > 1 }), number("never", records.count { $0.effects == 0 }),
            number("came", records.reduce(0) { $0 + Int($1.came) }), number("lanes", lanes.count),
            number("out_of_order", outOfOrder), number("key_violations", keyViolations),
            number("content_violations", contentViolations), number("largest", largest),
            ("statuses", .object(codes)),
        ])
    }
}
