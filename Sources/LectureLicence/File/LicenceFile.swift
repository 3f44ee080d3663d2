package import LectureFormats
package import LectureModel

/// The claims of a licence file (RFC 7519 with `mck`, `cnf`, `serial`, `policy`, `content_key`), read strictly: a claim
/// of a wrong type or out of range is recorded and refuses the file; unknown claims are ignored.
package struct LicenceFile: Hashable, Sendable {
    /// The latest moment a claim may name, in seconds: 9999-12-31T23:59:59Z.
    static let latestSecond: Int64 = 253_402_300_799

    /// `iss`.
    package private(set) var issuer: String?
    /// `aud`; one string is an array of one.
    package private(set) var audience: [String]?
    /// `sub`: the learner.
    package private(set) var user: String?
    /// `iat`, in seconds.
    package private(set) var issued: Int64?
    /// `nbf`, in seconds.
    package private(set) var notBefore: Int64?
    /// `exp`, in seconds.
    package private(set) var expires: Int64?
    /// `jti`.
    package private(set) var identity: String?
    /// `mck`.
    package private(set) var content: String?
    /// `cnf.jkt` (RFC 9449 section 6.1): the thumbprint of the device's key as base64url.
    package private(set) var thumbprint: String?
    /// `cnf.jwk` (RFC 7800 section 3.2): the device's key.
    package private(set) var deviceKey: JSONValue?
    /// `serial`: counts the licences of one lecture for one learner.
    package private(set) var serial: Int64?
    /// `policy`, including `nbf` and the earlier of `exp` and `expiration_date`.
    package private(set) var policy = LicencePolicy()
    /// `expiration_date` of the policy alone.
    package private(set) var policyEnd: Timestamp?
    /// `result` of the policy, 1 when it is missing.
    package private(set) var isPermitted = true
    /// `content_delete` of the policy.
    package private(set) var isDeleted = false
    /// `content_expired` of the policy.
    package private(set) var isForceExpired = false
    /// `app.bundle_id` of an application's key, which is for a bundle and not for a lecture.
    package private(set) var bundleID: String?
    /// `content_key`: the key of sealed media, encrypted for the device (RFC 7516).
    package private(set) var contentKey: String?
    /// What was malformed.
    package private(set) var faults: [LicenceFileReason] = []

    /// Reads claims.
    ///
    /// - Parameter payload: an object; in any other value every claim is missing.
    package init(_ payload: JSONValue) {
        var claims = ClaimReader(payload)
        issuer = claims.text("iss")
        audience = claims.audience()
        user = claims.text("sub")
        issued = claims.second("iat")
        notBefore = claims.second("nbf")
        expires = claims.second("exp")
        identity = claims.text("jti")
        content = claims.text("mck")
        serial = claims.integer("serial", in: 0...Int64.max)
        contentKey = claims.text("content_key")
        readBinding(&claims)
        if payload["mck"] == nil { readApplication(&claims) }
        faults = claims.malformed.map { .claimMalformed($0) }
        readPolicy(payload)
        policy.startsAt = notBefore.map { Timestamp(milliseconds: $0 * 1000) }
        policy.expiresAt = [expires.map { Timestamp(milliseconds: $0 * 1000) }, policyEnd].compactMap(\.self).min()
    }

    /// `cnf`: at least one of the two ways to name a device must be present, since any other way is unknown here.
    private mutating func readBinding(_ claims: inout ClaimReader) {
        guard let binding = claims.object("cnf") else { return }
        var reader = ClaimReader(binding)
        thumbprint = reader.text("jkt")
        deviceKey = reader.object("jwk")
        if !reader.malformed.isEmpty || thumbprint == nil && deviceKey == nil { claims.refuse("cnf") }
    }

    /// `app`: the bundle that an application's key is for, and its end, which counts like `exp`.
    private mutating func readApplication(_ claims: inout ClaimReader) {
        guard let application = claims.object("app") else { return }
        var reader = ClaimReader(application)
        bundleID = reader.text("bundle_id")
        let end = reader.second("exp")
        expires = [expires, end].compactMap(\.self).min()
        if bundleID == nil || !reader.malformed.isEmpty { claims.refuse("app") }
    }

    private mutating func readPolicy(_ payload: JSONValue) {
        guard let value = payload["policy"] else { return }
        guard value.members != nil else { return faults.append(.policyMalformed("policy")) }
        var reader = ClaimReader(value)
        policyEnd = reader.date("expiration_date")
        policy.countLimit = reader.integer("expiration_count", in: 0...1000).flatMap { $0 == 0 ? nil : Int($0) }
        if let seconds = reader.integer("expiration_playtime", in: 0...604_800), seconds > 0 {
            if seconds < 60 { reader.refuse("expiration_playtime") }
            policy.playTimeLimit = .seconds(seconds)
        }
        if reader.flag("expiration_playtime_type") == true { policy.playTimeUnit = .running }
        policy.checkAt = reader.date("check_expiration_date")
        policy.checksEveryPlay = reader.flag("check_abuse") ?? false
        policy.asksBeforeRenewal = reader.flag("expiration_refresh_popup") ?? false
        _ = reader.flag("vmcheck")
        if let bookmark = reader.object("offline_bookmark") {
            var inner = ClaimReader(bookmark)
            let scope = inner.integer("download", in: 0...2).flatMap { LicencePolicy.BookmarkScope(rawValue: Int($0)) }
            policy.bookmarks = scope ?? .none
            policy.bookmarksAreReadOnly = inner.flag("readonly") ?? false
            if !inner.malformed.isEmpty { reader.refuse("offline_bookmark") }
        }
        isPermitted = reader.flag("result") ?? true
        isDeleted = reader.flag("content_delete") ?? false
        isForceExpired = reader.flag("content_expired") ?? false
        faults += reader.malformed.map { .policyMalformed($0) }
    }
}

/// Reads members by type and records those of another type. Unlike `MemberReader` it takes `null` as a malformed claim,
/// not as a missing one.
private struct ClaimReader {
    let value: JSONValue
    var malformed: [String] = []

    init(_ value: JSONValue) { self.value = value }

    mutating func refuse(_ name: String) {
        if !malformed.contains(name) { malformed.append(name) }
    }

    private mutating func read<Value>(_ name: String, _ kind: (JSONValue) -> Value?) -> Value? {
        guard let member = value[name] else { return nil }
        let read = kind(member)
        if read == nil { refuse(name) }
        return read
    }

    mutating func text(_ name: String) -> String? {
        read(name) { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        read(name) { $0.integer.flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A `NumericDate` (RFC 7519 section 2), whole seconds.
    mutating func second(_ name: String) -> Int64? { integer(name, in: 0...LicenceFile.latestSecond) }

    mutating func object(_ name: String) -> JSONValue? { read(name) { $0.members == nil ? nil : $0 } }

    /// 0 or 1.
    mutating func flag(_ name: String) -> Bool? { integer(name, in: 0...1).map { $0 == 1 } }

    /// A date of the callback's documents; 0 is no bound.
    mutating func date(_ name: String) -> Timestamp? {
        integer(name, in: 0...CallbackAnswer.latestDate).flatMap { seconds in
            seconds == 0 ? nil : Timestamp(milliseconds: seconds * 1000)
        }
    }

    /// `aud` (RFC 7519 section 4.1.3): a string or an array of strings.
    mutating func audience() -> [String]? {
        read("aud") { member in
            if let one = member.string { return [one] }
            guard let elements = member.elements else { return nil }
            let texts = elements.compactMap(\.string)
            return texts.count == elements.count ? texts : nil
        }
    }
}
