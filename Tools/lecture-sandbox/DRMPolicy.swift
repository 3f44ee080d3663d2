import SandboxSecurity

/// What a DRM callback server grants, by lecture and kind.
///
/// A policy is an object with the callback's own names, sent unchanged, whatever the types; only
/// `expiration_in` and `check_expiration_in` are seconds from the moment of the answer.
struct DRMPolicies {
    /// Fields that only some kinds have; others are sent with every kind.
    private static let kinds: [String: Set<Int>] = [
        "expiration_date": [1, 3], "expiration_count": [1, 3], "expiration_playtime": [1, 3],
        "expiration_playtime_type": [1, 3], "expiration_refresh_popup": [1], "vmcheck": [1], "check_abuse": [1, 3],
        "offline_bookmark": [1], "content_delete": [2, 3], "check_expiration_date": [2, 3], "content_expired": [3],
        "content_expire_reset": [3],
    ]
    private static let relative = ["expiration_in": "expiration_date", "check_expiration_in": "check_expiration_date"]

    private struct Place: Hashable {
        let content: String
        let kind: Int?
    }

    private var policies: [Place: [(String, JSON)]] = [:]

    /// Sets a policy.
    ///
    /// - Parameters:
    ///   - members: the policy; `nil` removes it.
    ///   - content: the media content key, or `*` for all without their own policy.
    ///   - kind: the kind it is for; `nil` for all, each with the fields that it has.
    mutating func set(_ members: [(String, JSON)]?, content: String, kind: Int?) {
        policies[Place(content: content, kind: kind)] = members
    }

    /// The granted policy: the members of an answer besides those copied from the request.
    ///
    /// - Parameters:
    ///   - content: the media content key.
    ///   - kind: the request's kind.
    ///   - now: seconds since the epoch.
    /// - Returns: the policy of the lecture and kind, of the lecture, of the kind, or of all; empty without one.
    func members(_ content: String, kind: Int, now: Int64) -> [(String, JSON)] {
        for place in [
            Place(content: content, kind: kind), Place(content: content, kind: nil), Place(content: "*", kind: kind),
        ] {
            if let members = policies[place] { return Self.sent(members, place.kind == nil ? kind : nil, now) }
        }
        return Self.sent(policies[Place(content: "*", kind: nil)] ?? [], kind, now)
    }

    /// The members as sent, without those that the kind does not have.
    private static func sent(_ members: [(String, JSON)], _ kind: Int?, _ now: Int64) -> [(String, JSON)] {
        members.compactMap { name, value in
            let name =
                relative[name].map { ($0, value.integer.map { JSON.integer(now + $0) } ?? value) } ?? (name, value)
            guard let kind, let known = kinds[name.0], !known.contains(kind) else { return name }
            return nil
        }
    }
}

/// An item of a request to a DRM callback, read strictly.
struct DRMItem: Sendable {
    /// The most items a player sends at once.
    static let limit = 10
    let kind: Int
    let key: String
    let sessionKey: String
    let user: String
    let player: String
    let isRenewal: Bool
    /// As received: it is sent back unchanged.
    let startAt: JSON?
    /// The request's `extra_drm_param`; nil without one.
    let extra: String?

    /// Reads the form of a request.
    ///
    /// - Parameter request: with a field `items`, a JSON array of 1 to 10 objects, and at most one
    ///   `extra_drm_param`, any text.
    /// - Returns: the items in their order.
    /// - Throws: ``Problem`` that names the deviation from the callback's documents.
    static func all(in request: Request) throws -> [DRMItem] {
        let type = request.fields["content-type"]?.lowercased() ?? ""
        guard type.split(separator: ";").first == "application/x-www-form-urlencoded" else {
            throw Problem.input("the type is not application/x-www-form-urlencoded")
        }
        let fields = try Text.form(request.body)
        let (items, extras) = (fields.filter { $0.name == "items" }, fields.filter { $0.name == "extra_drm_param" })
        guard items.count == 1, extras.count <= 1, items.count + extras.count == fields.count else {
            throw Problem.input("expected one field 'items' and at most one 'extra_drm_param'")
        }
        guard let elements = try StrictJSON.value(of: items[0].value).elements else {
            throw Problem.input("items is not an array")
        }
        guard (1...limit).contains(elements.count) else { throw Problem.input("expected 1 to \(limit) items") }
        return try elements.map {
            try DRMItem($0, extra: extras.first.map { String(decoding: $0.value, as: UTF8.self) })
        }
    }

    private init(_ value: JSON, extra: String?) throws {
        self.extra = extra
        guard value.members != nil else { throw Problem.input("an item is not an object") }
        guard let kind = value["kind"]?.integer, (1...3).contains(kind) else {
            throw Problem.input("kind is not 1, 2 or 3")
        }
        func text(_ name: String) throws -> String {
            guard let member = value[name] else { return "" }
            guard let text = member.string else { throw Problem.input("\(name) is not a string") }
            return text
        }
        func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
            guard let member = value[name] else { return nil }
            guard let number = member.integer, range.contains(number) else {
                throw Problem.input("\(name) is not an integer in its range")
            }
            return number
        }
        self.kind = Int(kind)
        key = try text("media_content_key")
        sessionKey = try text("session_key")
        user = try text("client_user_id")
        player = try text("player_id")
        for name in ["hardware_id", "device_name"] { _ = try text(name) }
        guard !key.isEmpty else { throw Problem.input("media_content_key is missing") }
        guard kind != 3 || !sessionKey.isEmpty else { throw Problem.input("kind 3 needs a session_key") }
        if let values = value["uservalues"] {
            guard let members = values.members, members.allSatisfy({ $0.1.string != nil }) else {
                throw Problem.input("uservalues is not an object of strings")
            }
        }
        let time: ClosedRange<Int64> = 0...4_102_444_800
        for name in ["localtime", "expiration_date"] { _ = try integer(name, in: time) }
        for name in ["content_expired", "check_expired"] { _ = try integer(name, in: 0...1) }
        startAt = value["start_at"]
        if let startAt, !time.contains(startAt.integer ?? startAt.string.flatMap { Int64($0) } ?? -1) {
            throw Problem.input("start_at is not a time")
        }
        isRenewal = try integer("reset_req", in: 0...1) == 1
    }

    /// A short digest of the session key: enough to distinguish two.
    var sessionDigest: String {
        if sessionKey.isEmpty { return "" }
        var hasher = SHA256Hasher()
        let bytes = Array(sessionKey.utf8)
        unsafe bytes.withUnsafeBytes { unsafe hasher.update($0) }
        return Text.hex(Array(hasher.finish().prefix(8)))
    }
}
