/// How an LMS answers one request.
struct LMSManner: ServerManner {
    enum Flag: String, Sendable {
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

    /// The answer to a request whose reports were accepted.
    enum Acknowledgement: Sendable {
        case sent
        /// The connection is closed without an answer.
        case lost
        /// There is never an answer.
        case held
        /// The answer says that they were not accepted.
        case replaced(Refusal)
    }

    var flags: Set<Flag> = []
    /// The answer that is sent without reading the reports.
    var refusal: Refusal?
    var isOverLimit = false
    var isSilent = false
    var delayMilliseconds = 0
    var acknowledgement = Acknowledgement.sent
    /// Whether the connection is closed, and nothing accepted.
    var isDropped = false
    var bodyLimit: (bytes: Int, status: Int)?
    var countLimit: (reports: Int, status: Int)?
    /// Requests with one of these ids are refused.
    var poison: (ids: Set<String>, status: Int)?
    /// The required `Authorization`.
    var authorization: (value: String, status: Int)?
    var redirect: (location: String, status: Int)?

    static func effect(of word: inout BehaviourWord) throws -> Behaviour<Self>.Effect? {
        let argument = word.argument
        switch word.name {
        case "lose": return .init(.share(try word.percentage())) { $0.acknowledgement = .lost }
        case "hang": return .init(.share(try word.percentage())) { $0.acknowledgement = .held }
        case "late":
            let (share, refusal) = (try word.percentage(), try word.takeRefusal(or: 502))
            return .init(.share(share)) { $0.acknowledgement = .replaced(refusal) }
        case "drop": return .init(.share(try word.percentage())) { $0.isDropped = true }
        case "body-limit":
            let (bytes, status) = (try word.number(), try word.takeNumber("status") ?? 413)
            return .init { $0.bodyLimit = (bytes, status) }
        case "count-limit":
            let (reports, status) = (try word.number(), try word.takeNumber("status") ?? 413)
            return .init { $0.countLimit = (reports, status) }
        case "poison":
            let ids = Set((argument ?? "").split(separator: "|").map(String.init))
            let status = try word.takeNumber("status") ?? 400
            return .init { $0.poison = (ids, status) }
        case "authorization":
            let status = try word.takeNumber("status") ?? 401
            return .init { $0.authorization = (argument ?? "", status) }
        case "redirect-to":
            let status = try word.takeNumber("status") ?? 307
            return .init { $0.redirect = (argument ?? "/", status) }
        default: return nil
        }
    }
}
