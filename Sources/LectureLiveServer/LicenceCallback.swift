import LectureFormats
import LectureHTTP
import LectureModel

/// Grants licences for archived lectures, in the form of the vendor's DRM callback: a form with `items`, answered by a
/// token. What it grants is decided by a ``Standing``; this type reads and writes.
struct LicenceCallback {
    /// The most items a player sends at once.
    static let mostItems = 10
    /// The latest end that the callback's form knows: 2029-12-31.
    static let latestDate: Int64 = 1_893_455_999
    /// Times that are accepted, in seconds: up to 2100.
    fileprivate static let times: ClosedRange<Int64> = 0...4_102_444_800

    /// Who asks for what.
    struct Item: Hashable {
        let kind: Int
        let key: String
        let userID: String
        let sessionKey: String
        /// As it was sent: it is returned unchanged.
        let startAt: JSONValue?
        let hasExpired: Bool
    }

    /// How a member and a lecture stand to each other.
    enum Standing: Hashable, CaseIterable {
        /// The member may watch it.
        case permitted
        /// The room was deleted.
        case deleted
        /// The member is banned from its channel.
        case banned
        /// There is no such member.
        case noMember
        /// There is no such lecture.
        case noLecture
    }

    let items: [Item]

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - type: the value of `Content-Type`.
    ///   - body: the form.
    /// - Throws: ``LiveRefusal`` for anything but one field `items` with 1 to 10 items, and at most one
    ///   `extra_drm_param`.
    init(type: String?, _ body: [UInt8]) throws(LiveRefusal) {
        let kind = type?.lowercased().split(separator: ";").first.map { FieldText.trimmed($0) }
        guard kind == "application/x-www-form-urlencoded" else { throw Self.refusal("the type is not a form's") }
        let form = FormFields(body)
        let fields = form.count("items")
        guard fields == 1, form.count("extra_drm_param") <= 1, form.count == fields + form.count("extra_drm_param"),
            let text = form["items"]
        else { throw Self.refusal("there is not one field 'items'") }
        guard let elements = (try? JSONScanner.scan(Array(text.utf8)))?.elements else {
            throw Self.refusal("items is not an array")
        }
        guard (1...Self.mostItems).contains(elements.count) else {
            throw Self.refusal("there must be 1 to \(Self.mostItems) items")
        }
        var items: [Item] = []
        for element in elements { items.append(try Item(element)) }
        self.items = items
    }

    fileprivate static func refusal(_ text: String) -> LiveRefusal {
        LiveRefusal(400, "INVALID_LICENCE_REQUEST", "The licence request is not understood: \(text).")
    }

    /// The payload of the token.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - lifetime: how long a licence works from then on.
    ///   - standing: how the member and the lecture of an item stand to each other.
    /// - Returns: `{"data":[…]}`, in the order of the items.
    /// - Throws: what `standing` throws.
    func payload(now: Timestamp, lifetime: Duration, _ standing: (Item) throws -> Standing) rethrows -> String {
        let end = min(Self.latestDate, (now + lifetime).milliseconds / 1000)
        let answers = try items.map { ($0, try standing($0)) }
        return JSONWriter.object { json in
            json.array("data") { array in
                for (item, standing) in answers { array.object { Self.write(item, standing, end, &$0) } }
            }
        }
    }

    private static func write(_ item: Item, _ standing: Standing, _ end: Int64, _ json: inout JSONWriter) {
        json.member("kind", item.kind)
        json.member("media_content_key", item.key)
        // The order to delete is an answer that permits: one that refuses changes nothing.
        let isDeletion = standing == .deleted && item.kind != 1
        json.member("result", standing == .permitted || isDeletion ? 1 : 0)
        if item.kind == 3 {
            json.member("session_key", item.sessionKey)
            if let startAt = item.startAt { json.member("start_at", json: startAt) }
        }
        switch standing {
        case .permitted:
            guard item.kind != 2 else { break }
            json.member("expiration_date", end)
            if item.kind == 3, item.hasExpired { json.member("content_expire_reset", 1) }
        case .deleted:
            json.member("message", "The lecture was deleted.")
            if isDeletion { json.member("content_delete", 1) }
        case .banned: json.member("message", "You are banned from this lecture.")
        case .noMember: json.member("message", "The user is not known.")
        case .noLecture: json.member("message", "There is no such lecture.")
        }
    }
}

extension LicenceCallback.Item {
    fileprivate init(_ value: JSONValue) throws(LiveRefusal) {
        guard value.members != nil else { throw LicenceCallback.refusal("an item is not an object") }
        func text(_ name: String) throws(LiveRefusal) -> String {
            guard let member = value[name] else { return "" }
            guard let text = member.string else { throw LicenceCallback.refusal("\(name) is not a text") }
            return text
        }
        guard let number = value["kind"]?.integer, (1...3).contains(number) else {
            throw LicenceCallback.refusal("kind is not 1, 2 or 3")
        }
        kind = Int(number)
        key = try text("media_content_key")
        userID = try text("client_user_id")
        sessionKey = try text("session_key")
        startAt = value["start_at"]
        guard !key.isEmpty else { throw LicenceCallback.refusal("media_content_key is missing") }
        guard kind != 3 || !sessionKey.isEmpty else { throw LicenceCallback.refusal("kind 3 needs a session_key") }
        if let startAt {
            let seconds = startAt.integer ?? startAt.string.flatMap { Int64($0) } ?? -1
            guard LicenceCallback.times.contains(seconds) else { throw LicenceCallback.refusal("start_at is no time") }
        }
        if let expired = value["content_expired"] {
            guard let number = expired.integer, (0...1).contains(number) else {
                throw LicenceCallback.refusal("content_expired is not 0 or 1")
            }
            hasExpired = number == 1
        } else {
            hasExpired = false
        }
    }
}
