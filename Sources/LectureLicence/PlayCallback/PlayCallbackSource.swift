package import LectureFormats
package import LectureModel

/// Where the permission to play a stream comes from, as its gateway says.
package struct PlayCallbackSource: Hashable, Sendable {
    /// The play callback; nil without one.
    package var url: String?
    /// Which configured key verifies the answers; empty for the only one.
    package var keyID = ""
    /// How often it is asked again while it plays; nil for the rule of ``period(length:)``.
    package var checkPeriod: Duration?
    /// The server of the duplicate check; nil without one.
    package var duplicateURL: String?
    /// How often a play is registered there.
    package var duplicatePeriod = Duration.seconds(30)

    /// The bounds of a period in seconds: a server that names less or more is not believed.
    private static let periods: ClosedRange<Int64> = 1...86_400

    /// Without a permission.
    package init() {}

    /// Reads a descriptor: `"play": {"callback_url", "key_id", "check_period_s", "duplicate_check": {"url",
    /// "period_s"}}`; `"play_callback_url"` beside it is another name of the URL. Where `key_id` is missing, it is that
    /// of `"drm"`.
    ///
    /// - Parameter descriptor: the whole object.
    /// - Throws: ``LectureError`` with `descriptorUnreadable` for a member of the wrong type. A callback that cannot be
    ///   understood is not ignored: it would permit what its server may forbid.
    package init(descriptor: JSONValue) throws(LectureError) {
        do throws(LectureError) { try self.init(descriptor) } catch {
            throw LectureError(.descriptorUnreadable, detail: error.detail)
        }
    }

    private init(_ descriptor: JSONValue) throws(LectureError) {
        let whole = try MemberReader(descriptor)
        url = try whole.url("play_callback_url")
        if let members = try whole.object("drm") {
            keyID = try MemberReader(.object(members)).string("key_id") ?? ""
        }
        guard let members = try whole.object("play") else { return }
        let play = try MemberReader(.object(members))
        url = try play.url("callback_url") ?? url
        keyID = try play.string("key_id") ?? keyID
        checkPeriod = try play.integer("check_period_s", in: Self.periods).map { .seconds($0) }
        guard let members = try play.object("duplicate_check") else { return }
        let check = try MemberReader(.object(members))
        guard let url = try check.url("url") else {
            throw LectureError(.json, detail: "member 'duplicate_check' has no 'url'")
        }
        duplicateURL = url
        if let seconds = try check.integer("period_s", in: Self.periods) { duplicatePeriod = .seconds(seconds) }
    }

    /// How often the play callback is asked again while it plays: each 300 s, or half the length of a shorter lecture,
    /// and at least 30 s; unless the gateway says.
    ///
    /// - Parameter length: how long the lecture plays; nil when that is not known.
    /// - Returns: the period.
    package func period(length: Duration?) -> Duration {
        checkPeriod ?? max(.seconds(30), min(.seconds(300), length.map { $0 / 2 } ?? .seconds(300)))
    }
}
