import LectureCommand
import LectureFiles
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel

/// `lecture-live login`.
enum LoginCommand {
    static func run(_ session: LiveSession) async throws -> ExitStatus {
        let command = session.command
        guard let file = command.text("credentials"), let user = command.text("user") else {
            throw UsageError("Options '--credentials' and '--user' are required.", path: command.path)
        }
        let credentials = try TokenFile.line(file)
        let login = try await session.withTransport { transport in
            let client = try AppClient(address: session.server, credentials: credentials, transport: transport)
            return try await client.logIn(userID: user, name: command.text("name"))
        }
        try TokenFile.store(login.accessToken, at: session.tokenFile)
        if session.wantsJSON {
            try session.write(LiveLine.login(login, server: session.server, file: session.tokenFile))
        } else {
            let isTerminal = session.context.outputIsTerminal
            let end = login.expiresAt.map { " until \(HumanText.date($0, isTerminal: isTerminal))" } ?? ""
            let name = login.userName == login.userID ? login.userID : "\(login.userName) (\(login.userID))"
            try session.context.output.write("\(name) is logged in\(end).\n")
        }
        return .done
    }
}

/// `lecture-live rooms list|show|end`.
enum RoomCommands {
    private static let columns: [TableRenderer.Column] = [
        .init("ROOM", alignRight: true), .init("STATE"), .init("TITLE", mayShrink: true), .init("STARTED"),
    ]

    static func list(_ session: LiveSession) async throws -> ExitStatus {
        let state = session.command.text("state").flatMap { VideoRoomState(rawValue: $0) }
        let limit = session.command.integer("limit") ?? 20
        let rooms = try await session.withClient { client in
            var rooms: [VideoRoom] = []
            // A page size that stays the same, so that no room is on two pages.
            let size = min(limit, 100)
            for page in 0... {
                let next = try await client.rooms(state: state, page: page, size: size)
                rooms += next.rooms
                if next.isLast || rooms.count >= limit { break }
            }
            return Array(rooms.prefix(limit))
        }
        if session.wantsJSON {
            for room in rooms { try session.write(LiveLine.room(room)) }
            return .done
        }
        guard !rooms.isEmpty else {
            session.say("No rooms match.")
            return .done
        }
        let isTerminal = session.context.outputIsTerminal
        let rows = rooms.map { room in
            let started = room.liveStartedAt.map { HumanText.date($0, isTerminal: isTerminal) } ?? ""
            return ["\(room.id)", room.state.rawValue, room.title, started]
        }
        let width = isTerminal ? session.context.terminalSize().columns : nil
        let style = Style(choice: nil, environment: session.context.environment, isTerminal: isTerminal)
        try session.context.output.write(
            .lines(TableRenderer(columns: columns).lines(rows, width: width, style: style)))
        return .done
    }

    static func show(_ session: LiveSession) async throws -> ExitStatus {
        try write(try await session.withClient { try await $0.room(session.room) }, session)
        return .done
    }

    private static func write(_ room: VideoRoom, _ session: LiveSession) throws {
        if session.wantsJSON { return try session.write(LiveLine.room(room)) }
        func date(_ time: Timestamp?) -> String {
            time.map { HumanText.date($0, isTerminal: session.context.outputIsTerminal) } ?? ""
        }
        let lines = [
            "room     \(room.id)", "state    \(room.state.rawValue)", "title    \(room.title)",
            "channel  \(room.channelID)", "started  \(date(room.liveStartedAt))",
            "ended    \(date(room.liveEndedAt))", "archive  \(room.archiveState.rawValue)",
        ]
        try session.context.output.write(.lines(lines))
    }

    static func end(_ session: LiveSession) async throws -> ExitStatus {
        let room = try await session.withClient { client in
            var waits = StreamerMachine.endDelays[...]
            while true {
                let result = await LiveSession.result { () throws(LiveFailure) in try await client.end(session.room) }
                if case .failure(let failure) = result, !failure.isTooEarly { throw failure }
                let room = try await client.room(session.room)
                guard case .failure(let failure) = result, !room.state.isFinal else { return room }
                guard let wait = waits.popFirst(), room.state != .scheduled else { throw tooEarly(room, failure) }
                // proof: the server notices the end of a feed a moment later, at most five times
                await session.effects.time.pause(wait)
            }
        }
        try write(room, session)
        return .done
    }

    /// How an open room is closed.
    ///
    /// - Parameters:
    ///   - room: its number.
    ///   - isScheduled: whether it was never on the air. Only what was can be ended, and leaves a recording.
    /// - Returns: the end of a sentence.
    static func remedy(_ room: UInt64, isScheduled: Bool) -> String {
        isScheduled
            ? "'lecture-live rooms delete \(room)' removes it" : "'lecture-live rooms end \(room)' ends it"
    }

    private static func tooEarly(_ room: VideoRoom, _ failure: LiveFailure) -> LiveProblem {
        let text =
            room.state == .scheduled
            ? "Room \(room.id) has not started, so it cannot be ended: 'lecture-live broadcast --resume' starts it; "
                + "\(remedy(room.id, isScheduled: true))."
            : "Room \(room.id) is on the air: stop its broadcaster, and end it then."
        var problem = LiveProblem(.roomEnd, text, status: .tryAgain)
        problem.failure.serverCode = failure.serverCode
        return problem
    }
}
