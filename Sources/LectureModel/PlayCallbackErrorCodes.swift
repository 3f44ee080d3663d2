// The codes of play callbacks, which servers of streams answer. Those between −8670 and −8804 are the numbers of the
// Kollus storage manager. Numbers and names are frozen.

extension LectureError.Code {
    // MARK: How the play callback could not be asked

    /// An exchange with a play callback that failed below HTTP.
    ///
    /// - Parameter curl: libcurl's result code, 1…99.
    /// - Returns: the code −10000 − `curl`.
    public static func playCallbackTransfer(_ curl: Int) -> Self {
        let number = -10_000 - curl
        let again = "Play it again when the server can be reached; a play that runs goes on, and asks again by itself."
        return switch curl {
        case 5, 6: Self(number, "play_callback_resolve", "the play callback's name cannot be resolved", again)
        case 7: Self(number, "play_callback_connect", "the play callback cannot be reached", again)
        case 28: Self(number, "play_callback_timeout", "the play callback did not answer in time", again)
        case 35, 53, 58, 59, 60, 66, 77, 80, 83, 90, 91:
            Self(
                number, "play_callback_tls", "a secure connection to the play callback cannot be made",
                "Check its certificate and --ca-file; verification is never switched off.")
        case 52: Self(number, "play_callback_empty", "the play callback closed the connection without an answer", again)
        case 55, 56: Self(number, "play_callback_receive", "the connection to the play callback broke", again)
        default: Self(number, "play_callback_transfer_\(curl)", "the exchange with the play callback failed", again)
        }
    }

    /// An HTTP status with which a play callback refused a request.
    ///
    /// - Parameter status: the status, 300…599.
    /// - Returns: the code −10000 − `status`.
    public static func playCallbackStatus(_ status: Int) -> Self {
        let remedy =
            switch status {
            case 429, 503: "Play it again when the server allows it."
            case 500...599: "Play it again later. Report this to the operator of the play callback if it stays."
            default: "Report this to the operator of the play callback."
            }
        return Self(
            -10_000 - status, "play_callback_http_\(status)", "the play callback answered HTTP \(status)", remedy)
    }

    // MARK: What the play callback answered

    /// The answer had no body.
    public static let playAnswerEmpty = Self(
        -8670, "play_answer_empty", "the play callback's answer is empty",
        "Report this to the operator of the play callback: it gets a form (application/x-www-form-urlencoded) and "
            + "returns a token.",
        reason: "The server sent an empty response.")
    /// The token of an answer did not verify or was not a token.
    public static let playAnswerUndecodable = Self(
        -8671, "play_answer_undecodable", "the play callback's answer is not a token that verifies",
        "Check the key in the configuration's 'drm' member, then report this to the operator of the play callback.",
        reason: "Its signature is wrong, or no configured key verifies it.")
    /// The payload of an answer was not the expected JSON.
    public static let playAnswerUnreadable = Self(
        -8672, "play_answer_unreadable", "the play callback's answer is not valid JSON with the expected fields",
        "Report this to the operator of the play callback: numbers are JSON integers inside their ranges.",
        reason: "The token verifies, but its payload is not what a play callback should send.")
    /// The server did not permit the play (kind 1).
    public static let playNotPermitted = Self(
        -8673, "play_not_permitted", "the play callback does not permit this play", "Ask the provider.",
        reason: "The provider's server refused before the play started.")
    /// The permission has ended.
    public static let playPermissionExpired = Self(
        -8674, "play_permission_expired", "the permission to play this stream has expired",
        "Ask the provider for a new link.",
        reason: "Its end date has passed, or the provider's server has ended it.")
    /// The server no longer permits the play (kind 3).
    public static let playPermissionRefused = Self(
        -8675, "play_permission_refused", "the play callback no longer permits this play", "Ask the provider.",
        reason: "The provider's server refused when the player was ready, or while it played.")
    /// The play time of the permission is used up.
    public static let playPermissionUsedUp = Self(
        -8686, "play_permission_used_up", "the play time that the play callback allows is used up",
        "Ask the provider for more.",
        reason: "The permission of a stream may limit how long it plays.")
    /// Whether the learner plays elsewhere could not be found out.
    public static let duplicateCheckFailed = Self(
        -8804, "duplicate_check_failed", "whether this learner plays elsewhere cannot be checked",
        "Play it again when the server of the duplicate check can be reached.",
        reason: "The server did not answer three times in a row.")
    /// The learner plays elsewhere.
    public static let duplicatePlay = Self(
        -20250, "duplicate_play", "this learner already plays on another device",
        "Stop the other play, then play it again; ask the provider if there is none.",
        reason: "The provider permits fewer plays at the same time.")
    /// The machine is a virtual one.
    public static let virtualMachine = Self(
        -20251, "virtual_machine", "this stream may not be played in a virtual machine",
        "Play it on a machine of its own, outside of virtual machines and containers.",
        reason: "The provider forbids virtual machines, and this one looks like one.")

    /// All of the above, without the families.
    static let playCallbacks: [Self] = [
        .playAnswerEmpty, .playAnswerUndecodable, .playAnswerUnreadable, .playNotPermitted, .playPermissionExpired,
        .playPermissionRefused, .playPermissionUsedUp, .duplicateCheckFailed, .duplicatePlay, .virtualMachine,
    ]
}

extension LectureError {
    /// The same failure of an answer, with the number of play callbacks: a DRM callback's answer is read by the same
    /// rules and has other numbers.
    package var ofPlayCallback: LectureError {
        let code: Code? =
            switch self.code {
            case .answerEmpty: .playAnswerEmpty
            case .answerUndecodable: .playAnswerUndecodable
            case .answerUnreadable, .answerInvalid, .json: .playAnswerUnreadable
            default:
                switch -self.code.number {
                case 9001...9099: .playCallbackTransfer(-self.code.number - 9000)
                case 9300...9599: .playCallbackStatus(-self.code.number - 9000)
                default: nil
                }
            }
        return code.map { LectureError($0, detail: detail, cause: cause) } ?? self
    }
}
