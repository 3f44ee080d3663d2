import FoundationEssentials
import SandboxSecurity

/// A shared secret, and what is signed with it: tokens of the gateway and leases of media URLs.
struct Secret: Sendable {
    private let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// A token for one lecture (RFC 7515, RFC 7518 section 3.2: HS256), with the vendor's claims and no registered one.
    ///
    /// - Parameters:
    ///   - key: the media content key.
    ///   - user: the learner.
    ///   - expiresAt: seconds since the epoch.
    /// - Returns: the compact form.
    func token(key: String, user: String, expiresAt: Int64) -> String {
        let header = JSON.object([("alg", .string("HS256")), ("typ", .string("JWT"))])
        let payload = JSON.object([
            ("cuid", .string(user)), ("expt", .integer(expiresAt)),
            ("mc", .array([.object([("mckey", .string(key))])])),
        ])
        let signed = Text.base64URL(Array(header.text.utf8)) + "." + Text.base64URL(Array(payload.text.utf8))
        return signed + "." + Text.base64URL(signature(signed))
    }

    /// The grant of a token.
    struct Grant {
        let key: String
        let user: String
    }

    /// Why a token is refused, with the vendor's number.
    enum Refusal: Int, Error {
        case noKey = 4083
        case malformed = 4007
        case expired = 4085
    }

    /// Checks a token.
    ///
    /// - Parameters:
    ///   - token: in the compact form.
    ///   - now: seconds since the epoch.
    /// - Returns: what it allows.
    /// - Throws: ``Refusal``.
    func grant(_ token: String, now: Int64) throws(Refusal) -> Grant {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Text.fromBase64URL(parts[0]), let payload = Text.fromBase64URL(parts[1]),
            let mac = Text.fromBase64URL(parts[2]),
            let algorithm = try? JSONDecoder().decode(TokenHeader.self, from: Data(header)), algorithm.alg == "HS256",
            Self.equal(mac, signature("\(parts[0]).\(parts[1])")),
            let claims = try? JSONDecoder().decode(TokenClaims.self, from: Data(payload))
        else { throw .malformed }
        guard claims.expt > now else { throw .expired }
        guard let key = claims.mc.first?.mckey else { throw .noKey }
        return Grant(key: key, user: claims.cuid ?? "")
    }

    /// The query of a media URL that is valid for a limited time.
    ///
    /// - Parameters:
    ///   - path: the lecture's path.
    ///   - expiresAt: milliseconds since the epoch.
    /// - Returns: the query without its question mark.
    func lease(path: String, expiresAt: Int64) -> String {
        "exp=\(expiresAt)&sig=\(Text.hex(signature("\(path)\n\(expiresAt)")))"
    }

    /// Whether a media URL is still valid.
    ///
    /// - Parameters:
    ///   - target: with `exp` and `sig` in its query.
    ///   - now: milliseconds since the epoch.
    /// - Returns: whether it has our signature and has not expired.
    func accepts(_ target: Target, now: Int64) -> Bool {
        guard let expires = target.query("exp").flatMap({ Int64($0) }), let text = target.query("sig") else {
            return false
        }
        let due = Text.hex(signature("\(target.path)\n\(expires)"))
        return Self.equal(Array(due.utf8), Array(text.utf8)) && now < expires
    }

    private func signature(_ text: String) -> [UInt8] { hmacSHA256(key: bytes, message: Array(text.utf8)) }

    /// Compares in a time that does not depend on where the first difference is.
    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private struct TokenHeader: Decodable {
        let alg: String
    }

    private struct TokenClaims: Decodable {
        struct Content: Decodable {
            let mckey: String
        }
        let cuid: String?
        let expt: Int64
        let mc: [Content]
    }
}

/// The gateway: from a link to a content descriptor with a leased media URL.
struct Gateway: Sendable {
    let secret: Secret
    let course: Course
    /// How long a media URL is valid.
    let leaseMilliseconds: Int64
    /// Whether every lecture needs a licence.
    let licensesAll: Bool
    /// Whether every lecture has a channel to the LMS.
    let reportsAll: Bool
    /// Whether every lecture has images and texts.
    let describesAll: Bool

    /// A learner's link to a lecture, valid for a day.
    ///
    /// - Parameter entry: the lecture.
    /// - Returns: path and query.
    func link(_ entry: Course.Entry) -> String {
        let token = secret.token(key: entry.key, user: "learner", expiresAt: nowMilliseconds() / 1000 + 86_400)
        // Faults of a lecture in a plain list also apply behind the gateway.
        let items = entry.query.split(separator: "&").map { $0.hasPrefix("fault=") ? "media-" + $0 : String($0) }
        return "/si?" + (["jwt=\(token)"] + items).joined(separator: "&")
    }

    /// Answers `/s`, `/si` and `/i/KEY`.
    ///
    /// - Parameter request: one of the three.
    /// - Returns: the descriptor, or the refusal with the vendor's number.
    func reply(_ request: Request) -> Reply {
        do {
            let now = nowMilliseconds()
            let grant =
                if request.target.path.hasPrefix("/i/") {
                    Secret.Grant(key: String(request.target.path.dropFirst("/i/".count)), user: "")
                } else {
                    try secret.grant(request.target.query("jwt") ?? "", now: now / 1000)
                }
            guard let entry = course.entry(key: grant.key) else { return Self.refusal(404, 4012, "no such content") }
            return descriptor(entry, user: grant.user, request: request, expiresAt: now + leaseMilliseconds)
        } catch {
            return Self.refusal(403, error.rawValue, "\(error)")
        }
    }

    private static func refusal(_ status: Int, _ number: Int, _ text: String) -> Reply {
        .json(status, .object([("error", .integer(Int64(number))), ("message", .string(text))]))
    }

    /// A descriptor's members about the licence: none, or where it is granted and what is passed on to that server.
    private func licence(_ entry: Course.Entry, _ request: Request) -> [(String, JSON)] {
        let asked = request.target.query("licensed")
        guard licensesAll || entry.isLicensed || asked != nil else { return [] }
        let place = asked ?? ""
        let url =
            place.contains("://") ? place : request.base + DRMCallback.path + (place.isEmpty ? "" : "/" + place)
        let key = request.target.query("drm-key") ?? DRMCallback.keyID
        return [
            ("drm", .object([("callback_url", .string(url)), ("key_id", .string(key))])),
            userValues(request),
        ]
    }

    private func userValues(_ request: Request) -> (String, JSON) {
        let values = request.target.queries(beginning: "uservalue").map {
            ("uservalue" + $0.name, JSON.string($0.value))
        }
        return ("uservalues", .object(values))
    }

    /// A descriptor's members about the permission of streams: none, or where it comes from.
    private func permission(_ request: Request) -> [(String, JSON)] {
        func url(_ name: String, _ path: String) -> JSON? {
            request.target.query(name).map { place in
                .string(place.contains("://") ? place : request.base + path + (place.isEmpty ? "" : "/" + place))
            }
        }
        func period(_ name: String, as member: String) -> [(String, JSON)] {
            request.target.query(name).flatMap { Int64($0) }.map { [(member, .integer($0))] } ?? []
        }
        let callback = url("play", PlayCallback.path)
        let duplicate = url("duplicate", PlayCallback.duplicatePath)
        guard callback != nil || duplicate != nil else { return [] }
        let key = request.target.query("drm-key") ?? DRMCallback.keyID
        var members = [("key_id", JSON.string(key))] + period("play-period", as: "check_period_s")
        if let callback { members.append(("callback_url", callback)) }
        if let duplicate {
            let period = period("duplicate-period", as: "period_s")
            members.append(("duplicate_check", .object([("url", duplicate)] + period)))
        }
        return [("play", .object(members)), userValues(request)]
    }

    /// A descriptor's members about channels: none, or an LMS for each `lms` of the query.
    private func channels(_ request: Request) -> [(String, JSON)] {
        var places = request.target.queries(beginning: "lms").filter { $0.name.isEmpty }.map(\.value)
        if places.isEmpty && reportsAll { places = [""] }
        guard !places.isEmpty else { return [] }
        let named = request.target.queries(beginning: "lms.").map { ($0.name, JSON.string($0.value)) }
        let channels = places.map { place in
            let url = place.contains("://") ? place : request.base + "/lms" + (place.isEmpty ? "" : "/" + place)
            return JSON.object([
                ("url", .string(url)), ("method", .string(request.target.query("lms-method") ?? "POST")),
                ("period_s", .integer(request.target.query("lms-period").flatMap { Int64($0) } ?? 60)),
                ("parameters", .object(named.isEmpty ? [("json_data", .string("{JSON_DATA}"))] : named)),
            ])
        }
        return [("lms", .array(channels))]
    }

    private func descriptor(_ entry: Course.Entry, user: String, request: Request, expiresAt: Int64) -> Reply {
        var url = request.base + entry.path + "?" + secret.lease(path: entry.path, expiresAt: expiresAt)
        if let fault = request.target.query("media-fault") { url += "&fault=" + Text.percentEncoded(fault) }
        var media: [(String, JSON)] = [("url", .string(url)), ("size", .integer(Int64(entry.media.count)))]
        if request.target.query("digest") != "none" {
            media.append(("sha256", .string(Text.hex(course.sha256(entry.media)))))
        }
        media.append(("etag", .string(entry.media.entityTag)))
        var members: [(String, JSON)] = [
            ("version", .integer(1)), ("media_content_key", .string(entry.key)), ("title", .string(entry.title)),
            ("company", .string("Lecture Sandbox")), ("course", .string(entry.course)),
            ("teacher", .string(entry.teacher)), ("content_type", .string("downloading")),
            ("downloadable", .boolean(true)), ("media", .object(media)), ("client_user_id", .string(user)),
        ]
        if describesAll || request.target.query("extras") != nil {
            let extras = Extras(key: entry.key).members(base: request.base)
            members.removeAll { member in extras.contains { $0.0 == member.0 } }
            members += extras
        }
        if request.target.query("intro") != nil { members.append(("intro", .boolean(true))) }
        members += licence(entry, request)
        members += permission(request).filter { new in !members.contains { $0.0 == new.0 } } + channels(request)
        // `set.NAME=VALUE` replaces or adds a member, for descriptors that no honest gateway sends.
        for (name, value) in request.target.queries(beginning: "set.") {
            members.removeAll { $0.0 == name }
            members.append((name, .string(value)))
        }
        // `json.NAME=VALUE` does so with any value.
        for (name, value) in request.target.queries(beginning: "json.") {
            guard let value = try? StrictJSON.value(of: Array(value.utf8)) else { continue }
            members.removeAll { $0.0 == name }
            members.append((name, value))
        }
        var reply = Reply.json(200, .object(members))
        reply.fields = [
            ("Content-Type", "application/vnd.lecturekit.descriptor+json"), ("Cache-Control", "no-store"),
        ]
        return reply
    }
}
