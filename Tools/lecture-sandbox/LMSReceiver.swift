import SandboxSecurity

/// The learning management systems: they accept reports, record them, and misbehave like real ones.
final class LMSReceiver: Sendable {
    private let behaviours = Locked(Behaviours<LMSManner>())
    private let books = Locked<[String: Locked<LMSBook>]>([:])

    /// The largest body that is read at all.
    static let bodyLimit = 64 << 20

    /// The format that a path accepts; nil when there is no LMS.
    ///
    /// `/lms`, `/lms/json` and `/xAPI/statements`, each of them with a name: `/lms/NAME`, `/lms/json/NAME` and
    /// `/xAPI/NAME/statements` are separate servers.
    static func form(_ path: String) -> LMSForm? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        switch parts.first {
        case "lms" where parts.dropFirst().first == "json": return parts.count <= 3 ? .json : nil
        case "lms": return parts.count <= 2 ? .kollus : nil
        case "xAPI": return parts.last == "statements" && (2...3).contains(parts.count) ? .xapi : nil
        default: return nil
        }
    }

    // MARK: Answers

    /// Answers a request with reports.
    ///
    /// - Parameters:
    ///   - request: a request for a path with a ``form(_:)``.
    ///   - form: the path's format.
    /// - Returns: the answer.
    func reply(to request: Request, _ form: LMSForm) -> Reply {
        let path = request.target.path
        let isXAPI = form == .xapi
        if isXAPI && request.method == "GET" { return statement(request) }
        let manner = behaviours.withLock { $0.meet(path, now: monotonicNanoseconds()) }
        let key = request.fields["idempotency-key"]
        let reader = LMSReader(request: request, form: form, key: key)
        // Outside the lock, because reading is slow.
        let reports = Result { try reader.reports() }
        let digest = Self.digest(of: request)
        return book(path).withLock { book in
            // Checked even when the request is refused: what was sent under a key must never change.
            let known = key.map { book.known($0, digest) } ?? false
            if let reply = Self.instead(of: request, manner, count: (try? reports.get().count) ?? 0) {
                book.note(request, key: key, reports: 0, reply: reply, outcome: .refused)
                return reply
            }
            let (reply, outcome) = Self.taken(reports, key: key, known: known, form, manner, in: &book)
            book.note(request, key: key, reports: (try? reports.get().count) ?? 0, reply: reply, outcome: outcome)
            return reply
        }
    }

    /// What must be the same under one key. The URL is not included, because redirects change it.
    private static func digest(of request: Request) -> LMSDigest {
        let names = ["content-type", "content-encoding"].map { request.fields[$0] ?? "" }.joined(separator: "\n")
        let query = request.target.raw.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let items = query.split(separator: "&").filter { !$0.hasPrefix("redirected=") }.joined(separator: "&")
        return LMSDigest(Array("\(request.method)\n\(names)\n\(items)\n".utf8), request.body)
    }

    /// The answer that is sent without reading the reports.
    private static func instead(of request: Request, _ manner: LMSManner, count: Int) -> Reply? {
        var reply: Reply
        if manner.isDropped {
            reply = Reply(status: 200)
            reply.ending = .unanswered
        } else if manner.isSilent {
            reply = Reply(status: 200)
            reply.delayMilliseconds = Int(Int32.max)
            return reply
        } else if let refusal = manner.refusal {
            reply = Self.refusal(refusal)
        } else if let due = manner.authorization, request.fields["authorization"] != due.value {
            reply = .json(due.status, .object([("error", .string("not for you"))]))
            if due.status == 401 { reply.fields.append(("WWW-Authenticate", "Basic realm=\"lms\"")) }
        } else if let redirect = manner.redirect {
            reply = Reply(status: redirect.status, fields: [("Location", redirect.location)])
        } else if manner.has(.redirect), request.target.query("redirected") == nil {
            let location = request.base + request.target.replacing("redirected", with: 1)
            reply = Reply(status: 307, fields: [("Location", location)])
        } else if let limit = manner.bodyLimit, request.body.count > limit.bytes {
            reply = .text(limit.status, "at most \(limit.bytes) bytes\n")
        } else if let limit = manner.countLimit, count > limit.reports {
            reply = .text(limit.status, "at most \(limit.reports) reports\n")
        } else if request.fields["content-encoding"] != nil, !manner.has(.gzip) {
            reply = .text(415, "no Content-Encoding, please\n")
        } else if manner.has(.html) {
            reply = .text(
                200, "<!DOCTYPE html><html><body><h1>Welcome to the campus network</h1></body></html>\n",
                type: "text/html; charset=utf-8")
        } else if manner.has(.notOK) {
            reply = .json(200, .object([("ok", .boolean(false)), ("message", .string("not today"))]))
        } else if manner.has(.conflictOther) {
            reply = .json(409, .object([("batch_id", .string("another")), ("event_id", .string("another"))]))
        } else {
            return nil
        }
        reply.delayMilliseconds = max(reply.delayMilliseconds, manner.delayMilliseconds)
        return reply
    }

    private static func refusal(_ refusal: Refusal) -> Reply {
        var reply =
            refusal.status == 204
            ? Reply(status: 204) : Reply.json(refusal.status, .object([("ok", .boolean(false))]))
        reply.fields += refusal.fields
        return reply
    }

    /// Applies the reports, and answers as the behaviours require.
    private static func taken(
        _ reports: Result<[LMSReport], any Error>, key: String?, known: Bool?, _ form: LMSForm,
        _ manner: LMSManner, in book: inout LMSBook
    ) -> (Reply, LMSBook.Outcome) {
        let all: [LMSReport]
        switch reports {
        case .success(let list): all = list
        case .failure(let error): return (.text(400, "\((error as? Problem)?.text ?? "\(error)")\n"), .bad)
        }
        book.came(all)
        if let poison = manner.poison, let report = all.first(where: { poison.ids.contains($0.id) }) {
            return (.json(poison.status, .object([("error", .string("\(report.id) is poison"))])), .refused)
        }
        guard let isReplay = known else {
            return (.json(422, .object([("error", .string("this key came with other bytes"))])), .conflict)
        }
        if isReplay && manner.has(.conflictKnown) { return (acknowledged(.text(409, ""), manner), .replayed) }
        if !isReplay || form == .xapi {
            let others = book.take(all, key: key, isByID: form == .xapi || key == nil)
            if !others.isEmpty {
                return (.json(409, .object([("error", .string("\(others[0]) is known"))])), .conflict)
            }
        }
        return (acknowledged(answer(all, key, form, manner), manner), isReplay ? .replayed : .taken)
    }

    /// An LMS's answer when it has accepted the reports.
    private static func answer(_ reports: [LMSReport], _ key: String?, _ form: LMSForm, _ manner: LMSManner) -> Reply {
        if manner.has(.noContent) { return Reply(status: 204) }
        if manner.has(.empty) { return .text(200, "", type: "text/html") }
        if manner.has(.text) { return .text(200, "OK\n") }
        let other = "01890000-0000-7000-8000-000000000000"
        let value: JSON =
            switch form {
            case .xapi: .array(reports.map { .string(manner.has(.otherID) ? other : $0.id) })
            case .json:
                .object([("ok", .boolean(true)), ("batch_id", .string(manner.has(.otherID) ? other : key ?? ""))])
            case .kollus: .object([("error", .integer(0)), ("result", .string("success"))])
            }
        let text = manner.has(.latin1) ? #"{"ok":true,"message":"reçu"}"# : value.text
        let type = manner.has(.php) ? "text/html; charset=euc-kr" : "application/json"
        if manner.has(.latin1) {
            let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            return Reply(status: 200, fields: [("Content-Type", type)], body: Body([.bytes(bytes)]))
        }
        if manner.has(.utf16) {
            let bytes = text.utf16.reduce(into: [UInt8]([0xFF, 0xFE])) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] }
            return Reply(status: 200, fields: [("Content-Type", type)], body: Body([.bytes(bytes)]))
        }
        return .text(200, (manner.has(.mark) ? "\u{FEFF}" : "") + text + "\n", type: type)
    }

    /// How the answer is sent once the reports were accepted.
    private static func acknowledged(_ reply: Reply, _ manner: LMSManner) -> Reply {
        var reply = reply
        reply.delayMilliseconds = manner.delayMilliseconds
        switch manner.acknowledgement {
        case .sent: break
        case .lost: reply.ending = .unanswered
        case .held: reply.delayMilliseconds = Int(Int32.max)
        case .replaced(let refusal): return Self.refusal(refusal)
        }
        if manner.has(.half), let length = reply.announcedLength {
            reply.announcedLength = length + 100
            reply.ending = .closed(after: length)
        }
        return reply
    }

    /// `GET …/statements?statementId=ID` (xAPI 1.0.3, communication, 2.1.3).
    private func statement(_ request: Request) -> Reply {
        guard let id = request.target.query("statementId") else { return .text(400, "statementId is missing\n") }
        guard let text = book(request.target.path).withLock({ $0.statement(id) }) else {
            return .text(404, "no such statement\n")
        }
        var reply = Reply.text(200, text, type: "application/json")
        reply.fields.append(("X-Experience-API-Version", "1.0.3"))
        return reply
    }

    private func book(_ path: String) -> Locked<LMSBook> {
        books.withLock { books in
            if let book = books[path] { return book }
            let book = Locked(LMSBook())
            books[path] = book
            return book
        }
    }

    // MARK: Control

    /// Answers `/_lms` and the paths below it.
    ///
    /// - Parameter request: a request for a control page; see docs/sandbox.md.
    /// - Returns: the answer; `nil` if there is no such page.
    /// - Throws: ``Problem`` when an order is invalid.
    func control(_ request: Request) throws -> Reply? {
        let type = "application/jsonl; charset=utf-8"
        let path = request.target.query("path") ?? "/lms/json"
        switch (request.method, request.target.path) {
        case ("POST", "/_lms"):
            let order = try StrictJSON.value(of: request.body)
            guard let members = order.members, members.allSatisfy({ ["path", "habits"].contains($0.0) }),
                let text = order["habits"]?.string
            else { throw Problem.input("expected {\"path\": …, \"habits\": …}") }
            let list = try Behaviour<LMSManner>.list(text)
            let named = order["path"]?.string ?? "/lms/json"
            guard Self.form(named) != nil else { throw Problem.input("there is no LMS at \(named)") }
            behaviours.withLock { $0.set(named, list) }
            return Reply(status: 204)
        case ("GET", "/_lms"): return .text(200, book(path).withLock { $0.eventLines }, type: type)
        case ("GET", "/_lms/requests"): return .text(200, book(path).withLock { $0.visitLines }, type: type)
        case ("GET", "/_lms/summary"): return .json(200, book(path).withLock { $0.sums })
        default: return nil
        }
    }

    /// Clears behaviours and books.
    func reset() {
        behaviours.withLock { $0 = Behaviours() }
        books.withLock { $0 = [:] }
    }
}
