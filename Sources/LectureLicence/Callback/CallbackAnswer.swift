package import LectureFormats
package import LectureModel

/// One answer of a DRM callback, decoded: an element of `data` in the payload of its token.
///
/// Every number has to be a JSON integer inside its range, as the callback's documents say; a missing member changes
/// nothing, and `null` is no integer. What real servers add (`iat`, `exp`, `message` on success, other members) is
/// ignored.
package struct CallbackAnswer: Hashable, Sendable {
    /// The latest end a server may name: 2029-12-31T23:59:59Z.
    package static let latestDate: Int64 = 1_893_455_999

    /// When the callback is requested, and for what.
    package enum Kind: Int, Sendable, CaseIterable {
        /// Before a download: may it be kept, and how long.
        case grant = 1
        /// After the download is complete.
        case completion = 2
        /// Before a play and in renewal.
        case check = 3
    }

    /// The kind of request it answers.
    package let kind: Kind
    /// The key of the lecture it is about.
    package let mediaContentKey: String
    /// Whether it permits (`result` 1).
    package let isPermitted: Bool
    /// A message for people.
    package let message: String?
    /// `expiration_date`: the outer `nil` if the answer does not say, the inner one for no bound.
    package let expiresAt: Timestamp??
    /// `expiration_count`, likewise.
    package let countLimit: Int??
    /// `expiration_playtime`, likewise.
    package let playTimeLimit: Duration??
    /// `expiration_playtime_type`.
    package let playTimeUnit: LicencePolicy.PlayTimeUnit?
    /// `check_expiration_date`, likewise.
    package let checkAt: Timestamp??
    /// `check_abuse`.
    package let checksEveryPlay: Bool?
    /// `expiration_refresh_popup`.
    package let asksBeforeRenewal: Bool?
    /// `offline_bookmark`.
    package let bookmarks: LicencePolicy.BookmarkScope?
    /// `offline_bookmark.readonly`.
    package let bookmarksAreReadOnly: Bool?
    /// `content_delete`.
    package let deletes: Bool
    /// `content_expired`.
    package let expires: Bool
    /// `content_expire_reset`.
    package let resets: Bool
    /// `session_key`.
    package let sessionKey: String?

    /// Reads an element of `data`.
    ///
    /// - Parameter value: the element.
    /// - Throws: `LectureError(.json)`, whose detail names the member.
    package init(_ value: JSONValue) throws(LectureError) {
        let reader = try MemberReader(value)
        // `null` may stand for "no limit" or for "as it was": the documents permit integers only, so it says neither.
        if let name = Self.limits.first(where: { value[$0]?.isNull == true }) {
            throw LectureError(.json, detail: "member '\(name)' is null")
        }
        guard let number = try reader.integer("kind", in: 1...3), let kind = Kind(rawValue: number) else {
            throw LectureError(.json, detail: "member 'kind' is missing")
        }
        guard let key = try reader.string("media_content_key") else {
            throw LectureError(.json, detail: "member 'media_content_key' is missing")
        }
        guard let result = try reader.flag("result") else {
            throw LectureError(.json, detail: "member 'result' is missing")
        }
        (self.kind, mediaContentKey, isPermitted) = (kind, key, result)
        message = try reader.string("message")
        expiresAt = try reader.date("expiration_date")
        countLimit = try reader.integer("expiration_count", in: 0...1000).map { $0 == 0 ? nil : $0 }
        playTimeLimit = try Self.playTime(reader)
        playTimeUnit = try reader.flag("expiration_playtime_type").map { $0 ? .running : .media }
        checkAt = try reader.date("check_expiration_date")
        checksEveryPlay = try reader.flag("check_abuse")
        asksBeforeRenewal = try reader.flag("expiration_refresh_popup")
        let bookmark = try reader.object("offline_bookmark").map { JSONValue.object($0) }
        let bookmarkReader = try bookmark.map(MemberReader.init)
        bookmarks = try bookmarkReader?.integer("download", in: 0...2).flatMap(LicencePolicy.BookmarkScope.init)
        bookmarksAreReadOnly = try bookmarkReader?.flag("readonly")
        deletes = try reader.flag("content_delete") ?? false
        expires = try reader.flag("content_expired") ?? false
        resets = try reader.flag("content_expire_reset") ?? false
        sessionKey = try reader.string("session_key")
    }

    /// The members of a policy: what a licence file says about them has the same meaning.
    private static let limits = [
        "expiration_date", "expiration_count", "expiration_playtime", "expiration_playtime_type",
        "check_expiration_date", "check_abuse", "expiration_refresh_popup", "offline_bookmark", "content_delete",
        "content_expired", "content_expire_reset",
    ]

    private static func playTime(_ reader: MemberReader) throws(LectureError) -> Duration?? {
        guard let seconds = try reader.integer("expiration_playtime", in: 0...604_800) else { return nil }
        if seconds == 0 { return .some(nil) }
        guard seconds >= 60 else {
            throw LectureError(.json, detail: "member 'expiration_playtime' is not 0 or 60…604800")
        }
        return .seconds(seconds)
    }
}

extension MemberReader {
    /// 0 or 1.
    fileprivate func flag(_ name: String) throws(LectureError) -> Bool? {
        try integer(name, in: 0...1).map { $0 == 1 }
    }

    /// Seconds since 1970; 0 for no bound.
    fileprivate func date(_ name: String) throws(LectureError) -> Timestamp?? {
        try integer(name, in: 0...CallbackAnswer.latestDate).map { seconds in
            seconds == 0 ? nil : Timestamp(milliseconds: Int64(seconds) * 1000)
        }
    }
}
