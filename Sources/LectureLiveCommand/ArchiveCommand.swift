import LectureCommand
import LectureLive
import LectureLiveClient
import LectureModel

/// `lecture-live archive`.
enum ArchiveCommand {
    /// What the command waits for.
    private enum Step { case look, stop }

    /// The longest wait between two looks.
    private static let longestWait = Duration.seconds(30)

    static func run(_ session: LiveSession) async throws -> ExitStatus {
        let inbox = LiveInbox<Step>()
        let room = try await session.withClient { client in
            var room = try await client.room(session.room)
            guard session.command.flag("wait"), !isDecided(room) else { return room }
            let signals = inbox.watchSignals(session.context, .stop)
            defer { signals.cancel() }
            session.say("Waiting for the recording of room \(room.id).")
            var wait = Duration.seconds(1)
            var steps = inbox.events.makeAsyncIterator()
            while !isDecided(room) {
                // proof: no event says that a recording is ready; after a while it is asked for twice a minute
                let pause = inbox.put(after: wait, session.effects.time, .look)
                let step = await steps.next(isolation: #isolation)
                pause.cancel()
                guard case .look = step else { break }
                wait = min(wait * 3 / 2, longestWait)
                // A server that restarts is asked again.
                switch await LiveSession.result({ () throws(LiveFailure) in try await client.room(session.room) }) {
                case .success(let now): room = now
                case .failure(let failure) where failure.isUnavailable: try session.warn(failure)
                case .failure(let failure): throw failure
                }
            }
            return room
        }
        return try finish(room, session)
    }

    /// Whether waiting changes nothing any more.
    private static func isDecided(_ room: VideoRoom) -> Bool {
        room.archiveState == .archived || room.archiveState == .failed || room.state == .cancelled
    }

    private static func finish(_ room: VideoRoom, _ session: LiveSession) throws -> ExitStatus {
        try session.write(LiveLine.archive(room))
        if !session.wantsJSON {
            let url = room.archiveURL.map { "\t\($0)" } ?? ""
            try session.context.output.write("\(room.archiveState.rawValue)\(url)\n")
        }
        switch room.archiveState {
        case .archived:
            if let url = room.archiveURL { session.say("Download it: lecturectl precache \(quoted(url))") }
            return .done
        case .failed:
            session.say("The recording of room \(room.id) could not be made; what was recorded is kept.", .error)
            return .someFailed
        case .none where room.state == .cancelled:
            session.say("Room \(room.id) was cancelled: there is no recording.", .error)
            return .someFailed
        case .none, .archiving:
            let text = room.state.isFinal ? "is not ready" : "is made when it has ended"
            session.say("The recording of room \(room.id) \(text).")
            return .tryAgain
        }
    }

    /// A word for a shell.
    static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
