import SandboxSecurity

/// How a play callback answers one request.
struct PlayManner: ServerManner {
    enum Flag: String, Sendable {
        case html
        case empty
        case notJSON = "not-json"
        case strings
        case noData = "no-data"
        case noUserKey = "no-user-key"
        case wrongSignature = "wrong-signature"
        case algorithmNone = "alg-none"
        case refused
        case expired
        case otherRequest = "other-request"
    }

    var flags: Set<Flag> = []
    var refusal: Refusal?
    var isOverLimit = false
    var isSilent = false
    var delayMilliseconds = 0

    static func effect(of word: inout BehaviourWord) throws -> Behaviour<Self>.Effect? { nil }
}

/// A provider's play callback, which permits plays of streams by policy, and its duplicate check, which permits a
/// learner one device at a time.
final class PlayCallback: Sendable {
    /// Its path; every path below it is another server with its own behaviours.
    static let path = "/play/callback"
    /// The path of the duplicate check; likewise.
    static let duplicatePath = "/play/duplicate"
    /// How long a play counts that is not registered again, in nanoseconds.
    private static let forgottenAfter: Int64 = 90_000_000_000

    private struct Play {
        let device: String
        let id: String
        let time: Int64
    }

    private struct State {
        var behaviours = Behaviours<PlayManner>()
        var policies = DRMPolicies()
        var lines: [String] = []
        /// By learner.
        var plays: [String: Play] = [:]
    }

    private let token: AnswerToken
    private let userKey: String
    private let state = Locked(State())

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - secret: signs the answers.
    ///   - userKey: goes into `X-KOLLUS-USERKEY`.
    init(secret: [UInt8], userKey: String) { (token, self.userKey) = (AnswerToken(secret: secret), userKey) }

    /// Whether it answers at this path.
    static func isPath(_ path: String) -> Bool {
        [Self.path, duplicatePath].contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    // MARK: Answers

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: a form.
    ///   - fault: an answer that replaces every other, if any.
    /// - Returns: the answer.
    func reply(to request: Request, fault: Reply?) -> Reply {
        let path = request.target.path
        let now = monotonicNanoseconds()
        let manner = state.withLock { $0.behaviours.meet(path, now: now) }
        let question: PlayForm
        do { question = try PlayForm(request) } catch {
            return .text(400, "\((error as? Problem)?.text ?? "\(error)")\n")
        }
        let data = question.state.isEmpty ? permission(question, manner) : registration(question, manner, now)
        let reply = fault ?? instead(manner) ?? answer(data, manner)
        let isPermitted = data.contains { $0.0 == "result" && $0.1.integer == 1 }
        state.withLock { $0.lines.append(question.line(path, status: reply.status, isPermitted: isPermitted)) }
        return reply
    }

    private func permission(_ question: PlayForm, _ manner: PlayManner) -> [(String, JSON)] {
        let now = nowMilliseconds() / 1000
        var data: [(String, JSON)] = [("result", .integer(1))]
        let policy = state.withLock {
            $0.policies.members(question["media_content_key"], kind: question.kind, now: now)
        }
        if question.kind == 3 { data.append(("content_expired", .integer(manner.has(.expired) ? 1 : 0))) }
        if manner.has(.refused) { data = [("result", .integer(0)), ("message", .string("This course is not yours."))] }
        for (name, value) in policy {
            data.removeAll { $0.0 == name }
            data.append((name, value))
        }
        return data
    }

    private func registration(_ question: PlayForm, _ manner: PlayManner, _ now: Int64) -> [(String, JSON)] {
        let (user, device, id) = (question["client_user_id"], question["player_id"], question["play_id"])
        let isPermitted = state.withLock { state in
            if question.state == "end" {
                if state.plays[user]?.id == id { state.plays[user] = nil }
                return true
            }
            if manner.has(.refused) { return false }
            if let play = state.plays[user], play.device != device, now - play.time < Self.forgottenAfter {
                return false
            }
            state.plays[user] = Play(device: device, id: id, time: now)
            return true
        }
        let request = manner.has(.otherRequest) ? "another" : question["request_id"]
        return [("result", .integer(isPermitted ? 1 : 0)), ("request_id", .string(request))]
            + (isPermitted ? [] : [("message", .string("You are watching elsewhere."))])
    }

    /// The answer that replaces a token, if a behaviour requires one.
    private func instead(_ manner: PlayManner) -> Reply? {
        var reply: Reply
        if let refusal = manner.refusal {
            reply = .text(refusal.status, "not now\n")
            reply.fields += refusal.fields
        } else if manner.isSilent {
            reply = .text(200, "")
            // Until the client disconnects.
            reply.delayMilliseconds = Int(Int32.max)
            return reply
        } else if manner.has(.html) {
            reply = .text(200, "<!DOCTYPE html><html><body>Back soon</body></html>\n", type: "text/html; charset=utf-8")
        } else if manner.has(.empty) {
            reply = .text(200, "")
        } else {
            return nil
        }
        reply.delayMilliseconds = manner.delayMilliseconds
        return reply
    }

    private func answer(_ data: [(String, JSON)], _ manner: PlayManner) -> Reply {
        var data = data
        if manner.has(.strings) { data = data.map { ($0.0, $0.1.integer.map { .string(String($0)) } ?? $0.1) } }
        var payload = JSON.object([(manner.has(.noData) ? "other" : "data", .object(data))]).text
        if manner.has(.notJSON) { payload.removeLast() }
        let fault: AnswerToken.Fault? =
            manner.has(.wrongSignature) ? .wrongSignature : manner.has(.algorithmNone) ? .algorithmNone : nil
        var reply = Reply.text(200, token.text(payload, fault))
        if !manner.has(.noUserKey) { reply.fields.append(("X-KOLLUS-USERKEY", userKey)) }
        reply.delayMilliseconds = manner.delayMilliseconds
        return reply
    }

    // MARK: Control

    /// Answers `/_play`.
    ///
    /// - Parameter request: a request for a control page; see docs/sandbox.md.
    /// - Returns: the answer; `nil` if it is another page.
    /// - Throws: ``Problem`` when an order is invalid.
    func control(_ request: Request) throws -> Reply? {
        switch (request.method, request.target.path) {
        case ("POST", "/_play"):
            try obey(StrictJSON.value(of: request.body))
            return Reply(status: 204)
        case ("GET", "/_play"):
            let lines = state.withLock { $0.lines }
            return .text(200, lines.joined(), type: "application/jsonl; charset=utf-8")
        default: return nil
        }
    }

    private func obey(_ order: JSON) throws {
        let known: Set = ["path", "habits", "content", "kind", "policy"]
        guard let members = order.members, members.allSatisfy({ known.contains($0.0) }) else {
            throw Problem.input("expected {\"habits\": …} or {\"content\": …, \"policy\": …}")
        }
        if let text = order["habits"]?.string {
            let list = try Behaviour<PlayManner>.list(text)
            state.withLock { $0.behaviours.set(order["path"]?.string ?? Self.path, list) }
        }
        guard let policy = order["policy"] else { return }
        if case .null = policy {} else if policy.members == nil { throw Problem.input("a policy is an object or null") }
        let kind = order["kind"]?.integer.map { Int($0) }
        let content = order["content"]?.string ?? "*"
        state.withLock { $0.policies.set(policy.members, content: content, kind: kind) }
    }

    /// Clears behaviours, policies, plays and the log.
    func reset() { state.withLock { $0 = State() } }
}

/// The form of a request to a play callback or a duplicate check, read strictly.
struct PlayForm: Sendable {
    private static let common = [
        "client_user_id", "player_id", "hardware_id", "device_name", "media_content_key", "uservalues", "localtime",
    ]
    private let fields: [String: String]
    /// 1 or 3; 0 at a duplicate check.
    let kind: Int
    /// `play` or `end` at a duplicate check; empty elsewhere.
    let state: String

    /// A field of the form; empty without it.
    subscript(_ name: String) -> String { fields[name] ?? "" }

    /// Reads the form of a request.
    ///
    /// - Parameter request: a POST with the fields of docs/sandbox.md.
    /// - Throws: ``Problem`` that names the deviation.
    init(_ request: Request) throws {
        guard request.method == "POST" else { throw Problem.input("POST only") }
        let type = request.fields["content-type"]?.lowercased() ?? ""
        guard type.split(separator: ";").first == "application/x-www-form-urlencoded" else {
            throw Problem.input("the type is not application/x-www-form-urlencoded")
        }
        var fields: [String: String] = [:]
        for field in try Text.form(request.body) {
            guard fields.updateValue(String(decoding: field.value, as: UTF8.self), forKey: field.name) == nil else {
                throw Problem.input("\(field.name) is there twice")
            }
        }
        let isCheck = request.target.path.hasPrefix(PlayCallback.duplicatePath)
        let due = Self.common + (isCheck ? ["state", "play_id", "request_id"] : ["kind"])
        guard Set(fields.keys).subtracting(["extra_drm_param"]) == Set(due) else {
            throw Problem.input("expected the fields \(due.joined(separator: ", "))")
        }
        kind = isCheck ? 0 : Int(fields["kind"] ?? "") ?? 0
        state = fields["state"] ?? ""
        guard isCheck ? ["play", "end"].contains(state) : kind == 1 || kind == 3 else {
            throw Problem.input(isCheck ? "state is neither play nor end" : "kind is not 1 or 3")
        }
        let values = try StrictJSON.value(of: Array((fields["uservalues"] ?? "").utf8))
        guard let members = values.members, members.allSatisfy({ $0.1.string != nil }) else {
            throw Problem.input("uservalues is not an object of strings")
        }
        guard Int64(fields["localtime"] ?? "").map({ (0...4_102_444_800).contains($0) }) == true,
            fields["media_content_key"]?.isEmpty == false, fields["player_id"]?.isEmpty == false
        else { throw Problem.input("localtime, media_content_key or player_id is not usable") }
        self.fields = fields
    }

    /// A line of the log.
    func line(_ path: String, status: Int, isPermitted: Bool) -> String {
        JSON.object(
            [
                ("path", .string(path)), ("kind", .integer(Int64(kind))), ("status", .integer(Int64(status))),
                ("permitted", .boolean(isPermitted)), ("time_ms", .integer(nowMilliseconds())),
            ] + fields.sorted { $0.key < $1.key }.filter { $0.key != "kind" }.map { ($0.key, .string($0.value)) }
        ).text + "\n"
    }
}
