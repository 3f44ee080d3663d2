import SandboxSecurity

/// The claims of a licence file or an application key, and how to sign it.
struct LicenceOrder: Sendable {
    /// The algorithm, by its name in `alg`.
    enum Algorithm: String, Sendable, CaseIterable {
        case es256 = "ES256"
        case edDSA = "EdDSA"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case hs256 = "HS256"

        /// The kept key that it needs.
        var keyName: String {
            switch self {
            case .es256, .hs256: "es256"
            case .edDSA: "ed25519"
            case .rs256, .ps256: "rsa"
            }
        }

        /// The `kid` of the key in the set of public keys.
        var keyIdentifier: String { self == .edDSA ? "ed25519" : rawValue.lowercased() }

        /// The kind of a new key for it.
        var newKey: Identity.Plan.Key {
            switch self {
            case .es256, .hs256: .ec
            case .edDSA: .ed25519
            case .rs256, .ps256: .rsa(2048)
            }
        }
    }

    /// How a verifier finds the key.
    enum Proof: String, Sendable, CaseIterable {
        case x5c, kid
        case secret
    }

    /// The certificate that signs.
    enum Leaf: String, Sendable, CaseIterable {
        case good, expired, early, revoked, authority, namesake, rsa1024
        case otherPurpose = "other-purpose"
        case anyPurpose = "any-purpose"
        case noPurpose = "no-purpose"
        case otherIssuer = "other-issuer"
        case selfSigned = "self-signed"
        /// Good, but the certificate between it and the root is omitted.
        case noChain = "no-chain"
    }

    /// What is made invalid.
    enum Spoiling: String, Sendable, CaseIterable {
        case none, signature, unsigned
    }

    private static let known: Set = [
        "alg", "by", "leaf", "spoil", "mck", "user", "iss", "aud", "jti", "device", "expires_in", "begins_in", "serial",
        "policy", "app", "app_expires_in", "new_keys", "claims", "header",
    ]

    let algorithm: Algorithm
    let proof: Proof
    let leaf: Leaf
    let spoiling: Spoiling
    /// Added to the header; null removes a member.
    let header: [(String, JSON)]
    let claims: [(String, JSON)]

    /// Reads an order.
    ///
    /// - Parameters:
    ///   - order: an object; docs/sandbox.md names its members.
    ///   - now: seconds since the epoch.
    /// - Throws: ``Problem`` that names the invalid member.
    init(_ order: JSON, now: Int64) throws {
        guard let members = order.members else { throw Problem.input("an order is an object") }
        if let other = members.first(where: { !Self.known.contains($0.0) }) {
            throw Problem.input("an order has no member '\(other.0)'")
        }
        algorithm = try Self.word("alg", order, .es256)
        proof = try Self.word("by", order, algorithm == .hs256 ? .secret : .x5c)
        guard (algorithm == .hs256) == (proof == .secret) else { throw Problem.input("only HS256 is by secret") }
        leaf = try Self.word("leaf", order, .good)
        guard leaf != .revoked || algorithm == .es256 else { throw Problem.input("the revoked leaf is for ES256") }
        guard leaf != .rsa1024 || ["RS256", "PS256"].contains(algorithm.rawValue) else {
            throw Problem.input("the leaf rsa1024 is for RS256 and PS256")
        }
        spoiling = try Self.word("spoil", order, .none)
        // A null stays: it removes a member that is added later.
        let given = try Self.object("header", order) ?? []
        let isStatement = try Self.newKeys(order) != nil && !given.contains { $0.0 == "typ" }
        header = (isStatement ? [("typ", JSON.string("lecturekit-rekey+jwt"))] : []) + given
        claims = Self.merged(try Self.claims(order, now), try Self.object("claims", order) ?? [])
    }

    /// The thumbprints that a statement about new keys names; nil for a licence.
    private static func newKeys(_ order: JSON) throws -> [JSON]? {
        guard let member = order["new_keys"] else { return nil }
        if member.string != nil { return [member] }
        guard let names = member.elements else { throw Problem.input("new_keys is not an array") }
        return names
    }

    private static func claims(_ order: JSON, _ now: Int64) throws -> [(String, JSON)] {
        let application = try text("app", order)
        var claims: [(String, JSON)] = [
            ("iss", .string(try text("iss", order) ?? "lecture-sandbox")),
            ("aud", .string(try text("aud", order) ?? (application == nil ? "lecturekit" : "lecturekit-app"))),
            ("sub", .string(try text("user", order) ?? "learner")), ("iat", .integer(now)),
            ("jti", .string(try text("jti", order) ?? Text.hex(randomBytes(16)))),
        ]
        if let seconds = try integer("begins_in", order) { claims.append(("nbf", .integer(now + seconds))) }
        if let seconds = try integer("expires_in", order) { claims.append(("exp", .integer(now + seconds))) }
        if let device = try text("device", order) { claims.append(("cnf", .object([("jkt", .string(device))]))) }
        if let serial = try integer("serial", order) { claims.append(("serial", .integer(serial))) }
        if let key = try text("mck", order) { claims.append(("mck", .string(key))) }
        if let keys = try newKeys(order) {
            claims.append(("new_keys", .array(keys)))
        } else if let application {
            let end = now + (try integer("app_expires_in", order) ?? 365 * 86_400)
            claims.append(("app", .object([("bundle_id", .string(application)), ("exp", .integer(end))])))
        } else {
            claims.append(("policy", .object(try policy(order, now))))
        }
        return claims
    }

    /// The policy with the callback's names; `expiration_in` and `check_expiration_in` count from now.
    private static func policy(_ order: JSON, _ now: Int64) throws -> [(String, JSON)] {
        var policies = DRMPolicies()
        policies.set(try object("policy", order) ?? [], content: "*", kind: 0)
        return policies.members("*", kind: 0, now: now)
    }

    /// Members with others replaced or appended; null removes one.
    ///
    /// - Parameters:
    ///   - members: the existing members.
    ///   - others: the members to set.
    /// - Returns: the members.
    static func merged(_ members: [(String, JSON)], _ others: [(String, JSON)]) -> [(String, JSON)] {
        var result = members
        for (name, value) in others {
            let place = result.firstIndex { $0.0 == name }
            if case .null = value {
                if let place { result.remove(at: place) }
            } else if let place {
                result[place].1 = value
            } else {
                result.append((name, value))
            }
        }
        return result
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, _ order: JSON, _ usual: Word
    ) throws -> Word where Word.RawValue == String {
        guard let text = try text(name, order) else { return usual }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.input("\(name) is one of \(words)")
        }
        return word
    }

    private static func text(_ name: String, _ order: JSON) throws -> String? {
        guard let member = order[name] else { return nil }
        guard let text = member.string else { throw Problem.input("\(name) is not a string") }
        return text
    }

    private static func integer(_ name: String, _ order: JSON) throws -> Int64? {
        guard let member = order[name] else { return nil }
        guard let number = member.integer else { throw Problem.input("\(name) is not an integer") }
        return number
    }

    private static func object(_ name: String, _ order: JSON) throws -> [(String, JSON)]? {
        guard let member = order[name] else { return nil }
        guard let members = member.members else { throw Problem.input("\(name) is not an object") }
        return members
    }
}

/// The options of `issue`.
struct IssueOptions {
    private(set) var directory = ""
    private(set) var isBatch = false
    /// The order; `nil` when only the directory is to be created.
    private(set) var order: JSON?

    /// Reads the options.
    ///
    /// - Parameter arguments: the words after the command.
    /// - Throws: ``Problem`` for an invalid word or value.
    init(_ arguments: [String]) throws {
        var words = Arguments(arguments)
        var members: [(String, JSON)] = []
        let texts = [
            "--key": "mck", "--alg": "alg", "--by": "by", "--leaf": "leaf", "--spoil": "spoil", "--user": "user",
            "--iss": "iss", "--aud": "aud", "--jti": "jti", "--device": "device", "--app": "app",
            "--new-key": "new_keys",
        ]
        let numbers = [
            "--expires-in": "expires_in", "--begins-in": "begins_in", "--serial": "serial",
            "--app-expires-in": "app_expires_in",
        ]
        let objects = ["--policy": "policy", "--claims": "claims", "--header": "header"]
        while let word = words.next() {
            if word == "--dir" {
                directory = try words.value(of: word)
            } else if word == "--batch" {
                isBatch = true
            } else if let name = texts[word] {
                members.append((name, .string(try words.value(of: word))))
            } else if let name = numbers[word] {
                let range = -10_000_000_000...10_000_000_000
                members.append((name, .integer(Int64(try words.number(of: word, in: range)))))
            } else if let name = objects[word] {
                members.append((name, try StrictJSON.value(of: Array(try words.value(of: word).utf8))))
            } else {
                throw Problem.usage("unknown word '\(word)'")
            }
        }
        guard !directory.isEmpty else { throw Problem.usage("issue needs --dir DIR") }
        if !members.isEmpty { order = .object(members) }
    }
}
