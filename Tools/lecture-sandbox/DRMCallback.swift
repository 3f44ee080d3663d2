import SandboxSecurity

/// A provider's DRM callback server: grants licences by policy, with the misbehaviour of real ones.
final class DRMCallback: Sendable {
    /// The key's id in the gateway's descriptors.
    static let keyID = "sandbox"
    /// Its path; every path below it is another server with its own behaviours.
    static let path = "/drm/callback"

    let log = DRMLog()
    private let secret: [UInt8]
    private let userKey: String
    private let behaviours = Locked(Behaviours<DRMManner>())
    private let policies = Locked(DRMPolicies())

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - secret: signs the answers.
    ///   - userKey: goes into `X-KOLLUS-USERKEY`.
    init(secret: [UInt8], userKey: String) { (self.secret, self.userKey) = (secret, userKey) }

    /// Whether a callback server answers at this path.
    static func isPath(_ path: String) -> Bool { path == Self.path || path.hasPrefix(Self.path + "/") }

    // MARK: Answers

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: a form with items.
    ///   - number: the number of its log entry.
    ///   - fault: an answer that replaces every other, if any.
    /// - Returns: the answer.
    func reply(to request: Request, logNumber number: Int, fault: Reply?) -> Reply {
        let path = request.target.path
        let (arrival, manner) = behaviours.withLock { behaviours in
            let now = monotonicNanoseconds()
            return (now, behaviours.meet(path, now: now))
        }
        let items: [DRMItem]
        do {
            guard request.method == "POST" else { throw Problem.input("POST only") }
            items = try DRMItem.all(in: request)
        } catch {
            let status = manner.has(.badInput500) ? 500 : 400
            log.note(number, at: arrival, path: path, [], status: status, isOverLimit: false)
            return .text(status, "\((error as? Problem)?.text ?? "\(error)")\n")
        }
        if let reply = fault ?? instead(of: items, manner) {
            log.note(
                number, at: arrival, path: path, items.map { ($0, .failed) }, status: reply.status,
                isOverLimit: manner.isOverLimit)
            return reply
        }
        let (reply, outcomes) = answer(items, manner, path)
        log.note(number, at: arrival, path: path, Array(zip(items, outcomes)), status: reply.status, isOverLimit: false)
        return reply
    }

    /// The answer that replaces a token, if a behaviour requires one.
    private func instead(of items: [DRMItem], _ manner: DRMManner) -> Reply? {
        var reply: Reply
        if let refusal = manner.refusal {
            reply = .text(refusal.status, "too much at once\n")
            reply.fields += refusal.fields
        } else if manner.isSilent {
            reply = .text(200, "")
            // Until the client disconnects.
            reply.delayMilliseconds = Int(Int32.max)
            return reply
        } else if manner.has(.html) {
            reply = .text(
                200, "<!DOCTYPE html><html><body><h1>We will be back soon</h1></body></html>\n",
                type: "text/html; charset=utf-8")
        } else if manner.has(.empty) {
            reply = .text(200, "", type: manner.type)
        } else if let count = manner.hugeCount {
            reply = Reply(status: 200, fields: [("Content-Type", manner.type)], body: Self.huge(count))
        } else {
            return nil
        }
        reply.delayMilliseconds = manner.delayMilliseconds
        return reply
    }

    /// A body that begins like a token and is very long.
    private static func huge(_ count: Int) -> Body {
        let piece = [UInt8](repeating: UInt8(ascii: "A"), count: 1 << 16)
        let begin = Array("eyJ".utf8)
        let whole = [Body.Piece](repeating: .bytes(piece), count: count / piece.count)
        return Body([.bytes(begin)] + whole + [.bytes(Array(piece.prefix(count % piece.count)))])
    }

    private func answer(
        _ items: [DRMItem], _ manner: DRMManner, _ path: String
    ) -> (reply: Reply, outcomes: [DRMLog.Outcome]) {
        let now = nowMilliseconds() / 1000
        var outcomes: [DRMLog.Outcome] = []
        var data: [JSON] = []
        for (index, item) in items.enumerated() {
            let isMissing = behaviours.withLock { $0.isNextItem(path, oneOf: manner.missingShare) }
            if isMissing || index > 0 && manner.has(.firstOnly) {
                outcomes.append(.missing)
                continue
            }
            let members = members(for: item, manner, now)
            let isGranted = members.contains { $0.0 == "result" && $0.1.integer == 1 }
            outcomes.append(Self.isSpoiled(manner) ? .spoiled : isGranted ? .granted : .refused)
            data += [JSON](repeating: .object(members), count: manner.has(.doubled) ? 2 : 1)
        }
        let isObject = manner.has(.object) && data.count == 1
        var claims: [(String, JSON)] = [("data", isObject ? data[0] : .array(data))]
        if manner.has(.claims) { claims += [("iat", .integer(now)), ("exp", .integer(now + 600))] }
        var text = token(claims, manner)
        if manner.has(.textBefore) { text = "Notice: undefined index in callback.php\n" + text }
        if manner.has(.textAfter) { text += "\n<!-- 3 ms -->\n" }
        var reply = Reply.text(200, text, type: manner.type)
        if !manner.has(.noUserKey) { reply.fields.append(("X-KOLLUS-USERKEY", userKey)) }
        reply.delayMilliseconds = manner.delayMilliseconds
        return (reply, outcomes)
    }

    /// Whether clients must reject the answer.
    private static func isSpoiled(_ manner: DRMManner) -> Bool {
        let spoilers: [DRMManner.Flag] = [
            .strings, .wrongSignature, .algorithmNone, .textBefore, .textAfter, .otherKind, .otherKey,
        ]
        return spoilers.contains { manner.has($0) }
    }

    /// The members of one answer.
    private func members(for item: DRMItem, _ manner: DRMManner, _ now: Int64) -> [(String, JSON)] {
        let kind = manner.has(.otherKind) ? item.kind % 3 + 1 : item.kind
        var members: [(String, JSON)] = [
            ("kind", .integer(Int64(kind))),
            ("media_content_key", .string(manner.has(.otherKey) ? "other-" + item.key : item.key)),
            ("result", .integer(1)),
        ]
        if item.kind == 3 {
            if !manner.has(.noSession) {
                let session = manner.has(.wrongSession) ? "other-" + item.sessionKey : item.sessionKey
                members.append(("session_key", .string(session)))
            }
            if let startAt = item.startAt { members.append(("start_at", startAt)) }
        }
        if manner.has(.message) { members.append(("message", .string("Have a good day."))) }
        var policy = policies.withLock { $0.members(item.key, kind: item.kind, now: now) }
        if Self.isRefused(item.key, manner.refusedShare) {
            policy = [("result", .integer(0)), ("message", .string("This course is not yours."))]
        }
        for (name, value) in policy {
            members.removeAll { $0.0 == name }
            members.append((name, value))
        }
        guard manner.has(.strings) else { return members }
        return members.map { name, value in (name, value.integer.map { .string(String($0)) } ?? value) }
    }

    /// Always selects the same lectures, whatever the order: by a digest of the key (FNV-1a).
    private static func isRefused(_ key: String, _ share: Int) -> Bool {
        let digest = key.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (digest >> 16) % 100 < UInt64(share)
    }

    private func token(_ claims: [(String, JSON)], _ manner: DRMManner) -> String {
        let fault: AnswerToken.Fault? =
            manner.has(.algorithmNone) ? .algorithmNone : manner.has(.wrongSignature) ? .wrongSignature : nil
        return AnswerToken(secret: secret).text(JSON.object(claims).text, fault)
    }

    // MARK: Control

    /// Answers `/_drm` and the paths below it.
    ///
    /// - Parameter request: a request for a control page; see docs/sandbox.md.
    /// - Returns: the answer; `nil` if there is no such page.
    /// - Throws: ``Problem`` when an order is invalid.
    func control(_ request: Request) throws -> Reply? {
        let type = "application/jsonl; charset=utf-8"
        switch (request.method, request.target.path) {
        case ("POST", "/_drm"):
            try obey(StrictJSON.value(of: request.body))
            return Reply(status: 204)
        case ("GET", "/_drm"): return .json(200, log.sums)
        case ("GET", "/_drm/items"):
            let number = request.target.query("after").flatMap { Int($0) } ?? 0
            return .text(200, log.lines(after: number), type: type)
        case ("GET", "/_drm/contents"): return .text(200, log.contentLines, type: type)
        case ("GET", "/_drm/rates"): return .text(200, log.rateLines, type: type)
        default: return nil
        }
    }

    private func obey(_ order: JSON) throws {
        let known: Set = ["path", "habits", "content", "kind", "policy"]
        guard let members = order.members, members.allSatisfy({ known.contains($0.0) }) else {
            throw Problem.input("expected {\"habits\": …} or {\"content\": …, \"policy\": …}")
        }
        if let text = order["habits"]?.string {
            let list = try Behaviour<DRMManner>.list(text)
            behaviours.withLock { $0.set(order["path"]?.string ?? Self.path, list) }
        }
        guard let policy = order["policy"] else { return }
        let kind = order["kind"]?.integer.map { Int($0) }
        let content = order["content"] ?? .string("*")
        let contents = (content.elements ?? [content]).compactMap(\.string)
        if case .null = policy {} else if policy.members == nil { throw Problem.input("a policy is an object or null") }
        policies.withLock { board in
            for content in contents { board.set(policy.members, content: content, kind: kind) }
        }
    }

    /// Clears behaviours, policies and the log.
    func reset() {
        behaviours.withLock { $0 = Behaviours() }
        policies.withLock { $0 = DRMPolicies() }
        log.reset()
    }
}
