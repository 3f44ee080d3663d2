import LectureCommand
import LectureFiles
import LectureFormats
import LectureKit
import LectureLive
import LectureLiveClient
import LectureLiveOffline
import LectureModel

/// `lecture-live chat`.
enum ChatCommand {
    /// A kept chat is far smaller.
    private static let longestFile = 256 << 20

    static func run(_ session: LiveSession) async throws -> ExitStatus {
        guard !session.command.arguments.isEmpty else {
            throw UsageError("ROOM, '--file' or '--lecture' is missing.", path: session.command.path)
        }
        return try await session.withClient { client in
            let room = try await client.room(session.room)
            var run = ChatRun(session, client, room)
            return try await run.work()
        }
    }

    /// Prints a chat that was kept, with the positions of its messages.
    static func printFile(
        _ path: String, _ command: ParsedCommand, _ context: CommandContext
    ) throws -> ExitStatus {
        guard command.arguments.isEmpty else {
            throw UsageError("Give a room or '--file', not both.", path: command.path)
        }
        let bytes = try SecretFile.open(path, limit: longestFile, .open).bytes()
        let log: ChatLog
        do throws(ChatLog.Unreadable) { log = try ChatLog(webVTT: String(decoding: bytes, as: UTF8.self)) } catch {
            throw LiveProblem(.invalidMessage, "\(path) is no chat that was kept: it is not WebVTT.")
        }
        return try print(log, command, context)
    }

    /// Prints the chat that was kept with a lecture.
    static func printLecture(
        _ key: ContentKey, _ command: ParsedCommand, _ context: CommandContext
    ) async throws -> ExitStatus {
        guard command.arguments.isEmpty else {
            throw UsageError("Give a room or '--lecture', not both.", path: command.path)
        }
        let manager = try WatchStore.manager(command, context)
        let chat: ChatLog?
        do { chat = try await manager.contents.chat(of: key) } catch {
            await manager.close()
            throw error
        }
        await manager.close()
        guard let chat else { throw LiveProblem(.invalidMessage, "\(key.text) was kept without a chat.") }
        return try print(chat, command, context)
    }

    private static func print(
        _ log: ChatLog, _ command: ParsedCommand, _ context: CommandContext
    ) throws(OutputError) -> ExitStatus {
        for entry in log.entries {
            if command.flag("json") {
                try context.output.write(machine: LiveLine.message(ChatLine(entry), room: nil))
            } else {
                try context.output.write(LiveSession.text(ChatLine(entry)))
            }
        }
        return .done
    }
}

/// One member in the chat of a room.
struct ChatRun {
    /// What happens.
    private enum Event: Sendable {
        case feed(ChannelFeed.Event)
        /// All lines of standard input were sent.
        case inputEnded
        case inputFailed(any Error)
        /// A signal came.
        case over
    }

    private let session: LiveSession
    private let client: MemberClient
    private let room: VideoRoom
    private let inbox = LiveInbox<Event>()
    private var viewers: UInt64?
    /// The last message that was printed.
    private var last: UInt64 = 0
    /// Where it ends, once the input has.
    private var goal: UInt64?

    init(_ session: LiveSession, _ client: MemberClient, _ room: VideoRoom) {
        (self.session, self.client, self.room) = (session, client, room)
    }

    mutating func work() async throws -> ExitStatus {
        let signals = inbox.watchSignals(session.context, .over)
        defer { signals.cancel() }
        // The chat of a room that has ended can be read, but no longer joined.
        let wasJoined = room.state.isFinal ? false : try await client.join(room.id)
        try await printHistory(session.command.integer("history") ?? 20)
        guard !room.state.isFinal else {
            session.say("Room \(room.id) has ended.")
            return .done
        }
        let status = try await follow()
        // The server notices by itself that the member has gone; a room that is over has no members.
        // Another program of the member may still be there, for instance 'watch': it would hear nothing more.
        if !wasJoined { _ = await LiveSession.result { () throws(LiveFailure) in try await client.leave(room.id) } }
        return status
    }

    private mutating func printHistory(_ count: Int) async throws {
        guard let newest = try await client.newestMessage(channelID: room.channelID) else { return }
        last = newest.id
        var found: [LiveMessage] = []
        var before = newest.id + 1
        while found.count < count {
            let (page, isEnd) = try await client.messages(channelID: room.channelID, before: before)
            found = page.filter { $0.origin != .system } + found
            guard let first = page.first, !isEnd else { break }
            before = first.id
        }
        for message in found.suffix(count) { try session.print(ChatLine(message), room: room.id) }
    }

    private mutating func follow() async throws -> ExitStatus {
        let feed = ChannelFeed(
            room.channelID, client, after: last, patience: LiveSession.patience, time: session.effects.time)
        let reading = Task { [inbox] in
            for await event in feed.events { inbox.put(.feed(event)) }
        }
        let sender = ChatSender(session, client, room)
        let sending = Task { [inbox] in
            do {
                try await sender.run()
                inbox.put(.inputEnded)
            } catch { inbox.put(.inputFailed(error)) }
        }
        defer {
            feed.close()
            reading.cancel()
            sending.cancel()
        }
        for await event in inbox.events {
            switch event {
            case .feed(.opened): try session.report(.channel, "open", room: room.id)
            case .feed(.messages(let messages)): if try received(messages) { return .done }
            case .feed(.skipped(let range)):
                session.say("\(range.count) messages are no longer there.", .warning)
            case .feed(.failed(let failure)): throw failure
            case .inputEnded:
                guard session.command.isUnset("follow") else { break }
                goal = try await client.newestMessage(channelID: room.channelID)?.id ?? 0
                if isAtGoal { return .done }
            case .inputFailed(let error): throw error
            case .over: return .done
            }
        }
        return .done
    }

    /// Prints messages; true when nothing more is to come.
    private mutating func received(_ messages: [LiveMessage]) throws -> Bool {
        for message in messages where message.id > last {
            last = message.id
            try session.print(ChatLine(message), room: room.id)
            if let count = message.participants, count != viewers {
                viewers = count
                try session.report(.channel, "open", room: room.id, viewers: count)
            }
            if let change = message.change, change.roomID == room.id, change.state.isFinal {
                session.say("Room \(room.id) has ended.")
                return true
            }
        }
        return isAtGoal
    }

    private var isAtGoal: Bool { goal.map { last >= $0 } ?? false }
}

/// Sends the lines of standard input.
private struct ChatSender: Sendable {
    /// What the server accepts, in bytes.
    private static let longestLine = 2000
    /// Without the server's word.
    private static let usualWait = Duration.seconds(1)

    private let session: LiveSession
    private let client: MemberClient
    private let room: VideoRoom

    init(_ session: LiveSession, _ client: MemberClient, _ room: VideoRoom) {
        (self.session, self.client, self.room) = (session, client, room)
    }

    func run() async throws {
        let input = InputReader(descriptor: session.effects.input)
        var lines = LineAssembler(limit: Self.longestLine)
        while let piece = try await input.next() {
            var ready: [[UInt8]?] = []
            lines.take(piece) { ready.append($0) }
            for line in ready { try await send(line) }
        }
        if let rest = lines.finish() { try await send(rest) }
    }

    private func send(_ line: [UInt8]?) async throws {
        guard let line else {
            return session.say("A line of more than \(Self.longestLine) bytes was not sent.", .warning)
        }
        let text = String(decoding: line, as: UTF8.self)
        guard !text.allSatisfy(\.isWhitespace) else { return }
        while true {
            let result = await LiveSession.result { () throws(LiveFailure) in
                try await client.send(text, channelID: room.channelID)
            }
            guard case .failure(let failure) = result else { return }
            // The next line may be right.
            if failure.code == .invalidMessage { return try session.warn(failure) }
            guard failure.isTooFast else { throw failure }
            // proof: as long as the server asks for; it ends with its task
            await session.effects.time.pause(failure.retryAfter ?? Self.usualWait)
            if Task.isCancelled { return }
        }
    }
}
