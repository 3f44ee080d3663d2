import LectureKit
import LectureModel
package import LecturePlayer

/// `lecturectl play`.
enum PlayCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        let section = command.text("section").flatMap(PlayPosition.section)
        var options = PlayerOptions()
        options.start = command.text("start").flatMap(PlayPosition.read) ?? section?.lowerBound
        options.section = section
        options.user = command.text("user")
        // mpv would go on without them.
        if let path = command.text("subtitles") { _ = try InputReader(path, failure: .readFile) }
        return try await session.withManager { manager in
            guard let content = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            let engine = try MpvEngine(
                engineOptions(session, title: content.title, end: section?.upperBound),
                environment: context.environment)
            let player = Player(manager, key, engine: engine, options: options)
            if let speed = command.text("speed").flatMap(PlayPosition.speed) { player.setRate(speed) }
            player.play()
            var run = PlayRun(session: session, player: player, key: key)
            return try await run.run()
        }
    }

    private static func engineOptions(_ session: CommandSession, title: String, end: Duration?) -> MpvOptions {
        let command = session.command
        var options = MpvOptions()
        let hasPicture = !command.flag("no-video")
        options.surface = hasPicture ? .window(title: title, isFullscreen: command.flag("fullscreen")) : .none
        options.readsTerminal = !hasPicture && session.context.diagnosticsIsTerminal
        options.subtitlePath = command.text("subtitles")
        if let output = command.text("audio-output") { options.more["ao"] = output }
        options.end = end
        return options
    }
}

/// What is shown of a player.
package struct PlayerDisplay: Sendable, Hashable {
    /// What it does.
    package var state = PlayerState.idle
    /// Where in the lecture it is.
    package var position: Duration = .zero
    /// The length of the lecture; nil while it is unknown.
    package var duration: Duration?
    /// The speed; 1 is normal.
    package var rate = 1.0

    /// Shows a player that was not started.
    package init() {}
}

/// One play: events in, lines out.
private struct PlayRun {
    let session: CommandSession
    let player: Player
    let key: ContentKey
    private var display = PlayerDisplay()
    /// The whole second that was shown last.
    private var second: Int64?
    private var hasLine = false

    private var context: CommandContext { session.context }
    private var showsLine: Bool {
        context.diagnosticsIsTerminal && !session.isQuiet && session.command.text("progress") != "none"
    }

    init(session: CommandSession, player: Player, key: ContentKey) {
        (self.session, self.player, self.key) = (session, player, key)
    }

    mutating func run() async throws -> ExitStatus {
        let signal = Signal()
        let watching = context.signals().map { watcher in
            Task { [player] in
                for await case .stop(let number) in watcher.events {
                    await signal.set(number)
                    player.stop()
                }
            }
        }
        defer { watching?.cancel() }
        for await event in player.events { try show(event) }
        let ending = await player.ending()
        endLine()
        if let number = await signal.number { return .signal(number) }
        guard case .failed(let error) = ending else { return .done }
        context.say(error.message)
        return .status(for: error.code)
    }

    private mutating func show(_ event: PlayerEvent) throws {
        switch event {
        case .state(let state):
            display.state = state
            try write()
        case .position(let position):
            display.position = position
            guard position.milliseconds / 1000 != second else { return }
            second = position.milliseconds / 1000
            if case .playing = display.state { try write() }
        case .duration(let duration): display.duration = duration
        case .rate(let rate):
            guard rate != display.rate else { return }
            display.rate = rate
            if case .playing = display.state { try write() }
        case .trouble(let error):
            endLine()
            try session.report(error)
        }
    }

    private mutating func write() throws {
        if session.wantsJSON { try context.output.write(machine: JSONLine.player(key, display)) }
        guard showsLine, !display.state.isOver else { return }
        hasLine = true
        let length = display.duration.map { " / \(Self.clock($0))" } ?? ""
        let speed = display.rate == 1 ? "" : "  \(display.rate)×"
        // Over the line before it, as wide as that could be.
        let text = "\(display.state.name)  \(Self.clock(display.position))\(length)\(speed)"
        try? context.diagnostics.write(machine: "\r\(text)\u{1B}[K")
    }

    private mutating func endLine() {
        guard hasLine else { return }
        hasLine = false
        try? context.diagnostics.write(machine: "\n")
    }

    /// A position as `1:02:03`.
    private static func clock(_ time: Duration) -> String {
        let seconds = time.milliseconds / 1000
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        let tail = rest < 10 ? "0\(rest)" : "\(rest)"
        guard hours > 0 else { return "\(minutes):\(tail)" }
        return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(tail)"
    }
}

/// The signal that ends a play.
private actor Signal {
    private(set) var number: Int32?

    func set(_ number: Int32) { self.number = number }
}
