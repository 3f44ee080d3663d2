/// How a DRM callback answers one request.
struct DRMManner: ServerManner {
    enum Flag: String, Sendable {
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

    var flags: Set<Flag> = []
    var refusal: Refusal?
    var isOverLimit = false
    var isSilent = false
    var delayMilliseconds = 0
    var type = "text/plain; charset=utf-8"
    var hugeCount: Int?
    /// The percentage of the items whose answers are omitted.
    var missingShare = 0
    /// The percentage of the lectures that are refused, always the same ones.
    var refusedShare = 0

    static func effect(of word: inout BehaviourWord) throws -> Behaviour<Self>.Effect? {
        switch word.name {
        case "type":
            let type = word.argument ?? ""
            return .init { $0.type = type }
        case "huge":
            let count = min(max(0, try word.number()), 1 << 30)
            return .init { $0.hugeCount = count }
        case "missing":
            let share = try word.percentage()
            return .init { $0.missingShare = share }
        case "refuse":
            let share = try word.percentage()
            return .init { $0.refusedShare = share }
        default: return nil
        }
    }
}
