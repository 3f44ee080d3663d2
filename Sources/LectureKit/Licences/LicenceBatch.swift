import LectureFormats
public import LectureModel

/// Verifies tokens read as lines of JSON. Every line, whatever it holds, is answered by one line:
/// `{"id":…,"verdict":"accept|reject","reasons":[…]}`.
public struct LicenceBatch: Sendable {
    /// The longest line that is read, in bytes: a token of 1 MiB and its context.
    public static let longestLine = 8 << 20
    /// A line may list many used tokens.
    private static let limits = JSONScanner.Limits(depth: 32, items: 1_000_000)
    /// The reason for a bad request.
    private static let badRequest = "bad_request"

    private let verifier: LicenceVerifier
    private let now: @Sendable () -> Timestamp

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - trust: what tokens are verified with.
    ///   - now: the time where a line has none.
    public init(trust: LicenceTrust, now: @escaping @Sendable () -> Timestamp) {
        verifier = LicenceVerifier(trust: trust)
        self.now = now
    }

    /// Answers a line.
    ///
    /// - Parameter line: without its end; nil for one that is longer than ``longestLine``.
    /// - Returns: the answer without a line end.
    public func answer(_ line: [UInt8]?) -> String {
        var writer = JSONWriter()
        write(answerTo: line, &writer)
        return writer.text
    }

    /// Answers lines.
    ///
    /// - Parameter lines: each as for ``answer(_:)``.
    /// - Returns: the answers, each with its line end.
    package func answers(_ lines: [[UInt8]?]) -> [UInt8] {
        var writer = JSONWriter(reserving: 64 * lines.count)
        for line in lines {
            write(answerTo: line, &writer)
            writer.endLine()
        }
        return writer.bytes
    }

    private func write(answerTo line: [UInt8]?, _ writer: inout JSONWriter) {
        guard let line, let request = try? JSONScanner.value(of: line, limits: Self.limits), request.members != nil
        else { return Self.write(.null, [Self.badRequest], &writer) }
        Self.write(request["id"] ?? .null, reasons(request), &writer)
    }

    /// The reasons against a token; empty when it is accepted.
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
    private static func write(_ identifier: JSONValue, _ reasons: [String], _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", json: identifier)
            writer.member("verdict", reasons.isEmpty ? "accept" : "reject")
            writer.array("reasons") { writer in for reason in reasons { writer.element(reason) } }
        }
    }

    // MARK: The context

    /// The context of a line; nil when a member has a wrong type, since the intended check is then unknown. Missing or
    /// null members check nothing.
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

/// Reads the members of a context; records when one cannot be read.
private struct ContextReader {
    /// The permitted times, in seconds: twice the range that certificates can express.
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

    /// Seconds since 1970, fractions permitted: a clock may have one, unlike a claim.
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
