import FlipFlopLiteSDK
package import LectureCommand
import LectureFormats
package import LectureLive
import LectureModel

/// How a failure of a live lecture ends a command: a sentence with what to do, and the exit status.
package enum LiveEnding {
    /// Explains an error to the runner.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - context: the context of the command.
    /// - Returns: nil for an error that the runner knows as well.
    package static func explain(_ error: any Error, _ context: CommandContext) -> CommandRunner.Ending? {
        switch error {
        case let failure as LiveFailure:
            let sentence = sentence(failure)
            return CommandRunner.Ending(
                message: sentence, status: status(for: failure), machine: LiveLine.error(failure, sentence))
        case let problem as LiveProblem:
            return CommandRunner.Ending(
                message: problem.sentence, status: problem.status,
                machine: LiveLine.error(problem.failure, problem.sentence))
        default: return nil
        }
    }

    /// The exit status.
    ///
    /// - Parameter failure: what has ended the command.
    /// - Returns: the status.
    package static func status(for failure: LiveFailure) -> ExitStatus {
        if missing.contains(failure.serverCode) { return .someFailed }
        if failure.isTooEarly || failure.isTooFast { return .tryAgain }
        if failure.isUnavailable { return .unavailable }
        return status(for: failure.code)
    }

    /// The server's words for what there is not.
    private static let missing: Set = ["VIDEO_ROOM_NOT_FOUND", "MEMBER_NOT_FOUND", "CHANNEL_MESSAGE_NOT_FOUND"]

    /// The exit status of a number, where the server's word is not known.
    ///
    /// - Parameter code: the number.
    /// - Returns: the status.
    package static func status(for code: LiveFailure.Code) -> ExitStatus {
        switch code {
        case .unauthorized: .noPermission
        case .noServerAddress: .usage
        case .connectionFailed, .server, .tooManyRetries: .unavailable
        case .invalidVideoRoomID: .someFailed
        case .streamingStopped, .streamingInvalidView, .playFailed, .audioSession, .media, .lowLatencyPlay,
            .tooLongBuffering:
            .inputOutput
        case .streamingFailed, .channelUnexpected, .invalidMessage, .messageSend, .noStreamKey, .serverUnexpected,
            .streamKeyGet, .roomCreate, .roomGet, .roomJoin, .roomStart, .roomLeave, .roomEnd, .messagesGet:
            .data
        case .notPrepared: .software
        }
    }

    /// A sentence, and what to do where that is known.
    ///
    /// - Parameter failure: what went wrong.
    /// - Returns: one sentence or two.
    package static func sentence(_ failure: LiveFailure) -> String {
        let end = failure.message.hasSuffix(".") ? "" : "."
        let text = "\(failure.message.prefix(1).uppercased())\(failure.message.dropFirst())\(end)"
        return remedy(failure).map { "\(text) \($0)" } ?? text
    }

    private static func remedy(_ failure: LiveFailure) -> String? {
        switch (failure.serverCode, failure.code) {
        case ("INVALID_APP_CREDENTIALS", _), ("EMPTY_APP_CREDENTIALS", _): "See the file of '--credentials'."
        case (_, .unauthorized): "Log in: 'lecture-live login'."
        case ("VIDEO_ROOM_NOT_FOUND", _): "'lecture-live rooms' lists the member's rooms."
        case ("VIDEO_ROOM_ALREADY_OPEN", _): "Continue with it: 'lecture-live broadcast --resume'."
        case ("NOT_VIDEO_ROOM_OWNER", _): "Only the member that has made the room may do this."
        case ("MEMBER_NOT_FOUND", _): "A member is there once it has logged in; its name is not its ID."
        case ("CHANNEL_MESSAGE_NOT_FOUND", _): "'lecture-live chat --json' prints the numbers of messages."
        case ("VIDEO_ROOM_OWNER", _): "The host of a room cannot be banned from it."
        case ("MEMBER_BANNED", _): "The host of the room can permit the member again."
        case ("CHANNEL_CLOSED", _): "The room has ended: 'lecture-live archive' shows its recording."
        case ("INVALID_APP_USER_ID_FORMAT", _): "An ID has 1 to 50 letters, digits, '.', '_', '-' and '@'."
        default: failure.isUnavailable ? "Check '--server', and whether the server runs." : nil
        }
    }
}

/// A failure with a sentence of its own and a status of its own.
struct LiveProblem: Error, Equatable {
    /// What it is for programs.
    var failure: LiveFailure
    /// What it is for people, with what to do.
    var sentence: String
    /// How it ends the command.
    var status: ExitStatus

    /// Makes a problem.
    ///
    /// - Parameters:
    ///   - code: the number.
    ///   - sentence: what it is, and what to do.
    ///   - status: how it ends the command; nil for the one of the number.
    init(_ code: LiveFailure.Code, _ sentence: String, status: ExitStatus? = nil) {
        failure = LiveFailure(code, sentence)
        (self.sentence, self.status) = (sentence, status ?? LiveEnding.status(for: code))
    }
}

extension LiveFailure {
    /// What the façade reports; a number that no name is known of is an answer that fits nowhere.
    init(_ error: FFError) { self.init(Code(rawValue: error.code) ?? .serverUnexpected, error.message) }
}
