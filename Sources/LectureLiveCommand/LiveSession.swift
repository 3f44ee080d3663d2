import FlipFlopLiteSDK
import Glibc
import LectureCommand
import LectureFiles
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTransport

/// What every command needs: the server, the member, and where reports go.
struct LiveSession: Sendable {
    let command: ParsedCommand
    let context: CommandContext
    let effects: LiveEffects
    /// The address of the server.
    let server: String
    /// Where the token is.
    let tokenFile: String

    /// - Throws: ``UsageError`` when there is no server, or no place for a token.
    init(_ command: ParsedCommand, _ context: CommandContext, _ effects: LiveEffects) throws(UsageError) {
        guard let server = command.text("server") else {
            throw UsageError("No server: '--server' or LECTURE_LIVE_SERVER is required.", path: command.path)
        }
        (self.command, self.context, self.effects, self.server) = (command, context, effects, server)
        tokenFile = try TokenFile.path(command, context.environment)
    }

    /// How long a server that was lost may be away before a command ends.
    static let patience = Duration.seconds(120)

    /// Whether lines are for programs.
    var wantsJSON: Bool { command.flag("json") }

    /// The number of the room that the command line names.
    var room: UInt64 { command.arguments.first.flatMap { UInt64($0) } ?? 0 }

    /// The member's token.
    ///
    /// - Throws: ``LiveProblem`` when there is none; `LectureError` when the file cannot be used.
    func token() throws -> String {
        if unsafe access(tokenFile, F_OK) != 0, errno == ENOENT {
            throw LiveProblem(.unauthorized, "No member is logged in: 'lecture-live login' stores a token.")
        }
        return try TokenFile.line(tokenFile)
    }

    /// Runs a body with a transport.
    func withTransport<Value: Sendable>(_ body: (any Transport) async throws -> Value) async throws -> Value {
        let transport = try CurlTransport(TransportConfiguration(), clock: effects.time.clock)
        do {
            let value = try await body(transport)
            await transport.shutdown()
            return value
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    /// Runs a body with the member API.
    func withClient<Value: Sendable>(_ body: (MemberClient) async throws -> Value) async throws -> Value {
        let server = try LiveServer(address: server, accessToken: try token())
        return try await withTransport { try await body(MemberClient(server, transport: $0)) }
    }

    /// The façade's view of the server.
    var config: FFLConfig {
        var config = FFLConfig(serverAddr: server)
        config.time = effects.time
        return config
    }

    /// The result of a call, for those that go on after some failures.
    static func result<Value>(
        _ call: () async throws(LiveFailure) -> Value
    ) async -> Result<Value, LiveFailure> {
        do throws(LiveFailure) { return .success(try await call()) } catch { return .failure(error) }
    }

    // MARK: Reports

    /// A message for people.
    func say(_ sentence: String, _ priority: MessagePriority = .information) {
        if priority == .information, command.flag("quiet") { return }
        context.say(sentence, priority)
    }

    /// A line for programs, and nothing for people.
    func write(_ line: String) throws(OutputError) {
        if wantsJSON { try context.output.write(machine: line) }
    }

    /// A part is in another state.
    func report(_ part: LiveLine.Part, _ state: String, room: UInt64?, viewers: UInt64? = nil) throws(OutputError) {
        try write(LiveLine.state(part, state, room: room, viewers: viewers))
        let count = viewers.map { " (\($0) \($0 == 1 ? "member" : "members"))" } ?? ""
        say("\(part.rawValue): \(state.lowercased())\(count)")
    }

    /// A failure that does not end the command.
    func warn(_ failure: LiveFailure) throws(OutputError) {
        let sentence = LiveEnding.sentence(failure)
        context.say(sentence, .warning)
        try write(LiveLine.error(failure, sentence))
    }

    /// A message of the chat.
    func print(_ line: ChatLine, room: UInt64?) throws(OutputError) {
        guard line.isChat else { return }
        if wantsJSON { return try write(LiveLine.message(line, room: room)) }
        try context.output.write(Self.text(line))
    }

    /// A message for people: when, who, what; each further line of it is indented.
    static func text(_ line: ChatLine) -> SafeText {
        let texts = line.text.split(omittingEmptySubsequences: false) { $0.isNewline }
        let first: SafeText = "\(when(line)) \(line.author): \(texts.first.map { String($0) } ?? "")\n"
        return texts.dropFirst().reduce(first) { text, more in
            let next: SafeText = "         \(String(more).replacing("\t", with: " "))\n"
            return text + next
        }
    }

    /// The time of day here, or the position in a recording.
    private static func when(_ line: ChatLine) -> String {
        let local = line.sentAt.milliseconds / 1000 + Int64(SystemClock.secondsEastOfUTC(line.sentAt))
        let seconds = line.position.map { $0.milliseconds / 1000 } ?? (local % 86_400 + 86_400) % 86_400
        return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }
}

/// What happens to a command that goes on: in one stream, handled one after the other.
struct LiveInbox<Event: Sendable>: Sendable {
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream(of: Event.self) }

    func put(_ event: Event) { continuation.yield(event) }

    /// Puts an event when the process is asked to end.
    ///
    /// - Parameters:
    ///   - context: has the signals.
    ///   - event: the event.
    /// - Returns: what ends with the command.
    func watchSignals(_ context: CommandContext, _ event: Event) -> Task<Void, Never> {
        Task { [continuation] in
            guard let signals = context.signals() else { return }
            for await signal in signals.events {
                if case .stop = signal { continuation.yield(event) }
            }
        }
    }

    /// Puts an event later.
    ///
    /// - Parameters:
    ///   - duration: how much later; nil for never.
    ///   - time: waits.
    ///   - event: the event.
    /// - Returns: what ends with the command.
    func put(after duration: Duration?, _ time: LiveTime, _ event: Event) -> Task<Void, Never> {
        Task { [continuation] in
            guard let duration else { return }
            // proof: a time that the user has asked for; it ends with its task
            await time.pause(duration)
            if !Task.isCancelled { continuation.yield(event) }
        }
    }
}
