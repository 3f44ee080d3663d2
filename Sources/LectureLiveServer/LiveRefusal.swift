import LectureFormats
import LectureHTTP
import LectureLive

/// Why a request is refused: a status, and the service's `errorCode` where it has one.
struct LiveRefusal: Error, Hashable, Sendable {
    let status: Int
    let code: String
    let message: String

    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// A refusal of the machine.
    init(_ refusal: RoomMachine.Refusal) {
        self.init(
            refusal == .noRoom ? 404 : 400, refusal.rawValue, "The room or the stream key is in another state.")
    }

    /// The answer.
    var answer: HTTPAnswer {
        var answer = HTTPAnswer.json(status) { json in
            json.member("errorCode", code)
            json.member("errorMessage", message)
        }
        if status == 401 { answer.fields.append(HTTPField(name: "WWW-Authenticate", value: "Bearer")) }
        if status == 429 || status == 503 { answer.fields.append(HTTPField(name: "Retry-After", value: "1")) }
        return answer
    }

    // MARK: The service's

    static let method = Self(405, "UNSUPPORTED_HTTP_METHOD", "The path has no such method.")
    static let body = Self(400, "INVALID_HTTP_MESSAGE_BODY", "The body is not a JSON object with the right members.")
    static let noCredentials = Self(401, "EMPTY_APP_CREDENTIALS", "Basic authentication is required.")
    static let credentials = Self(401, "INVALID_APP_CREDENTIALS", "The application key or its secret is wrong.")
    static let fault = Self(500, "INTERNAL_SERVER_ERROR", "The server cannot do this now.")
    static let emptyUser = Self(400, "EMPTY_APP_USER_ID", "appUserId is missing.")
    static let userFormat = Self(
        400, "INVALID_APP_USER_ID_FORMAT", "appUserId has 1 to 50 letters, digits, '.', '_', '-' and '@'.")
    static let noRoom = Self(404, "VIDEO_ROOM_NOT_FOUND", "There is no such room.")
    static let roomType = Self(400, "VIDEO_ROOM_TYPE_NOT_BROADCAST_RTMP", "Only BROADCAST_RTMP is served.")
    static let noKey = Self(404, "STREAM_KEY_NOT_FOUND", "The member has no stream key.")

    // MARK: Ours

    static let noPath = Self(404, "NOT_FOUND", "There is nothing at this path.")
    static let token = Self(401, "INVALID_ACCESS_TOKEN", "The access token is missing, wrong or has expired.")
    static let noMember = Self(404, "MEMBER_NOT_FOUND", "There is no such member.")
    static let customLimit = Self(400, "INVALID_CUSTOM_DATA", "A member's text is longer than it may be.")
    static let openRoom = Self(
        400, "VIDEO_ROOM_ALREADY_OPEN", "The member has a room that is not over; there is one broadcast at a time.")
    static let title = Self(400, "INVALID_VIDEO_ROOM_TITLE", "The title or the description is too long.")
    static let parameter = Self(400, "INVALID_PARAMETER", "A parameter of the query has a wrong value.")
    static let notJoined = Self(400, "CHANNEL_NOT_JOINED", "The member has not joined the channel.")
    static let channelClosed = Self(400, "CHANNEL_CLOSED", "The room of the channel is over.")
    static let noChannel = Self(404, "CHANNEL_NOT_FOUND", "There is no such channel.")
    static let noMessage = Self(404, "CHANNEL_MESSAGE_NOT_FOUND", "There is no such message of a member.")
    static let banned = Self(403, "MEMBER_BANNED", "The member is banned from this channel.")
    static let notOwner = Self(403, "NOT_VIDEO_ROOM_OWNER", "Only the host of the room may do this.")
    static let ownerStays = Self(400, "VIDEO_ROOM_OWNER", "The host cannot be banned.")
    static let messageTooLong = Self(400, "CHANNEL_MESSAGE_TOO_LONG", "The message is too long.")
    static let invalidMessage = Self(
        400, "INVALID_CHANNEL_MESSAGE", "A message has text, and no control characters but line feeds and tabs.")
    static let tooMany = Self(429, "TOO_MANY_MESSAGES", "The member writes too fast.")
    static let slow = Self(429, "CHANNEL_SLOW_MODE", "The channel is in slow mode; write again later.")
    static let busy = Self(503, "TOO_MANY_READERS", "Too many archives are being read; try again later.")
    static let lectureLink = Self(
        403, "INVALID_LECTURE_LINK", "The link was changed, has expired, or leads to nothing any more.")
    static let link = Self(403, "INVALID_PLAYBACK_LINK", "The link was changed, has expired, or works no longer.")
}
