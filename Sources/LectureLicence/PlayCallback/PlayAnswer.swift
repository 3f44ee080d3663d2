package import LectureFormats
package import LectureModel

/// What a play callback permits: the member `data` of the payload of its token.
///
/// Every number has to be a JSON integer inside its range, as the callback's documents say; a missing member limits
/// nothing, and `null` is no integer. Other members are ignored.
package struct PlayAnswer: Hashable, Sendable {
    /// Whether it permits (`result` 1).
    package let isPermitted: Bool
    /// A message for people.
    package let message: String?
    /// `content_expired`: the server has ended the permission.
    package let isEnded: Bool
    /// `expiration_date`; nil for no end.
    package let expiresAt: Timestamp?
    /// `expiration_playtime`; nil for no bound.
    package let playTimeLimit: Duration?
    /// `expiration_playtime_type`.
    package let playTimeUnit: LicencePolicy.PlayTimeUnit
    /// `play_section`: the only part that may be played; nil for all of it.
    package let section: Range<Duration>?
    /// `disable_tvout`; nil where the channel decides.
    package let forbidsTVOutput: Bool?
    /// `vmcheck` 1.
    package let forbidsVirtualMachines: Bool

    /// Reads a payload.
    ///
    /// - Parameter payload: the payload of the token.
    /// - Throws: `LectureError(.playAnswerUnreadable)`, whose detail names the member.
    package init(_ payload: JSONValue) throws(LectureError) {
        let reader = try PayloadReader(payload)
        (isPermitted, message) = (reader.isPermitted, reader.message)
        do throws(LectureError) {
            let data = reader.data
            isEnded = try data.flag("content_expired") ?? false
            expiresAt = try data.integer("expiration_date", in: 0...CallbackAnswer.latestDate).flatMap { seconds in
                seconds == 0 ? nil : Timestamp(milliseconds: Int64(seconds) * 1000)
            }
            let limit = try data.integer("expiration_playtime", in: 0...604_800) ?? 0
            playTimeLimit = limit == 0 ? nil : .seconds(limit)
            playTimeUnit = try data.flag("expiration_playtime_type") == true ? .running : .media
            section = try Self.section(data)
            forbidsTVOutput = try data.flag("disable_tvout")
            forbidsVirtualMachines = try data.flag("vmcheck") ?? false
        } catch { throw LectureError(.playAnswerUnreadable, cause: error.detail) }
    }

    private static func section(_ data: MemberReader) throws(LectureError) -> Range<Duration>? {
        guard let members = try data.object("play_section") else { return nil }
        let reader = try MemberReader(.object(members))
        let start = try reader.seconds("start_time") ?? 0
        guard let end = try reader.seconds("end_time"), end > start else {
            throw LectureError(.json, detail: "member 'play_section' does not end after its start")
        }
        return .seconds(start) ..< .seconds(end)
    }
}

/// What the server of a duplicate check says: `{"data": {"result", "request_id", "message"}}`.
package struct DuplicateAnswer: Hashable, Sendable {
    /// Whether this play may go on.
    package let isPermitted: Bool
    /// A message for people.
    package let message: String?

    /// Reads a payload.
    ///
    /// - Parameters:
    ///   - payload: the payload of the token.
    ///   - request: the `request_id` that was sent, which the answer must return: an old answer permits nothing.
    /// - Throws: `LectureError(.playAnswerUnreadable)`.
    package init(_ payload: JSONValue, to request: String) throws(LectureError) {
        let reader = try PayloadReader(payload)
        guard reader.data.value["request_id"]?.string == request else {
            throw LectureError(.playAnswerUnreadable, cause: "member 'request_id' is not the one that was sent")
        }
        (isPermitted, message) = (reader.isPermitted, reader.message)
    }
}

/// What all answers have.
private struct PayloadReader {
    let data: MemberReader
    let isPermitted: Bool
    let message: String?

    init(_ payload: JSONValue) throws(LectureError) {
        do throws(LectureError) {
            guard let members = payload["data"]?.members else {
                throw LectureError(.json, detail: "member 'data' is missing or not an object")
            }
            data = try MemberReader(.object(members))
            // It may stand for "no limit" or for "as it was": the documents permit integers only.
            if let member = members.first(where: { $0.value.isNull && $0.name != "message" }) {
                throw LectureError(.json, detail: "member '\(member.name)' is null")
            }
            guard let result = try data.flag("result") else {
                throw LectureError(.json, detail: "member 'result' is missing")
            }
            isPermitted = result
            message = try data.string("message")
        } catch { throw LectureError(.playAnswerUnreadable, cause: error.detail) }
    }
}

extension MemberReader {
    /// 0 or 1.
    fileprivate func flag(_ name: String) throws(LectureError) -> Bool? {
        try integer(name, in: 0...1).map { $0 == 1 }
    }
}
