public import LectureModel

/// Judges tokens that come as lines of JSON. Whatever a line holds, it is answered by one line:
/// `{"id":…,"verdict":"accept|reject","reasons":[…]}`.
public struct LicenceBatch: Sendable {
    /// The longest line that is read, in bytes: a token of 1 MiB and much around it.
    public static let longestLine = 8 << 20
    /// A line may list many tokens that were seen.
    private static let limits = JSONScanner.Limits(depth: 32, items: 1_000_000)
    /// Reasons of the request itself.
    private static let badRequest = "bad_request"

    private let verifier: LicenceVerifier
    private let now: @Sendable () -> Timestamp

    /// Makes a judge.
    ///
    /// - Parameters:
    ///   - trust: what tokens are judged by.
    ///   - now: the time where a line does not say it.
    public init(trust: LicenceTrust, now: @escaping @Sendable () -> Timestamp) {
        verifier = LicenceVerifier(trust: trust)
        self.now = now
    }

    /// Answers a line.
    ///
    /// - Parameter line: without its end; nil for one that is longer than ``longestLine``.
    /// - Returns: the answer without a line end.
    public func answer(_ line: [UInt8]?) -> String {
        guard let line, let request = try? JSONScanner.value(of: line, limits: Self.limits), request.members != nil
        else { return Self.line(.null, [Self.badRequest]) }
        return Self.line(request["id"] ?? .null, reasons(request))
    }

    /// Nothing speaks against a token whose reasons are empty.
    private func reasons(_ request: JSONValue) -> [String] {
        guard let token = request["token"]?.string else { return [Self.badRequest, "token_missing"] }
        guard let kind = request["trust"]?.string.flatMap(LicenceTrust.Kind.init) else {
            return [Self.badRequest, "trust_unknown"]
        }
        guard let context = context(request["ctx"] ?? .null) else { return [Self.badRequest, "ctx_malformed"] }
        do throws(LectureError) {
            return try verifier.verify(token: token, trust: kind, context: context).reasonNames
        } catch {
            return ["not_judged"]
        }
    }

    /// Writes an answer.
    private static func line(_ identifier: JSONValue, _ reasons: [String]) -> String {
        JSONWriter.object { writer in
            writer.member("id", json: identifier)
            writer.member("verdict", reasons.isEmpty ? "accept" : "reject")
            writer.array("reasons") { writer in for reason in reasons { writer.element(reason) } }
        }
    }

    // MARK: The context

    /// The context of a line; nil when a member has a wrong type, since what was to be asked is then unknown. Members
    /// that are missing or null ask for nothing.
    private func context(_ value: JSONValue) -> LicenceFileContext? {
        var reader = ContextReader(value)
        var context = LicenceFileContext(now: reader.time("now") ?? now())
        context.device = reader.text("device")
        context.content = reader.text("content")
        context.user = reader.text("user")
        context.audience = reader.text("aud")
        context.issuer = reader.text("iss")
        context.purpose = reader.text("eku")
        context.lastSeen = reader.time("last_seen")
        context.serialFloor = reader.take("serial_floor", \.integer)
        context.countUsed = reader.take("used_count") { $0.integer.flatMap { $0 < 0 ? nil : $0 } } ?? 0
        context.playTimeUsed = reader.duration("used_playtime") ?? .zero
        context.seenTokens = reader.texts("seen_jti") ?? []
        return reader.isSound ? context : nil
    }
}

/// Reads the members of a context; remembers when one cannot be read.
private struct ContextReader {
    /// What a time may be, in seconds: twice the length that certificates can name.
    private static let seconds: ClosedRange<Double> = 0...500_000_000_000

    let value: JSONValue
    var isSound: Bool

    init(_ value: JSONValue) {
        self.value = value
        isSound = value.isNull || value.members != nil
    }

    mutating func take<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard let member = value[name], !member.isNull else { return nil }
        let read = read(member)
        if read == nil { isSound = false }
        return read
    }

    mutating func text(_ name: String) -> String? { take(name, \.string) }

    mutating func texts(_ name: String) -> [String]? {
        take(name) { member in
            guard let elements = member.elements else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        }
    }

    /// Seconds since 1970, a fraction permitted: a clock may have one, unlike a claim.
    mutating func time(_ name: String) -> Timestamp? {
        take(name) { member in
            if let whole = member.integer, Self.seconds.contains(Double(whole)) {
                return Timestamp(milliseconds: whole * 1000)
            }
            guard let seconds = member.double, Self.seconds.contains(seconds) else { return nil }
            return Timestamp(milliseconds: Int64((seconds * 1000).rounded(.down)))
        }
    }

    mutating func duration(_ name: String) -> Duration? {
        take(name) { member in
            guard let seconds = member.double, Self.seconds.contains(seconds) else { return nil }
            return .milliseconds(Int64((seconds * 1000).rounded(.down)))
        }
    }
}
