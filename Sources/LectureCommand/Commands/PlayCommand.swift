package import LectureKit
import LectureModel
package import LecturePlayer
import LectureRecords

/// `lecturectl play`.
enum PlayCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        if command.flag("url") || command.text("with") != nil { return try await OtherPlayer.run(session) }
        if command.text("port") != nil { throw UsageError("--port needs --with or --url.", path: ["play"]) }
        let section = command.text("section").flatMap(PlayPosition.section)
        var options = PlayerOptions()
        options.start = command.text("start").flatMap(PlayPosition.read) ?? section?.lowerBound
        options.section = section
        options.user = command.text("user")
        // mpv would go on without them.
        if let path = command.text("subtitles") { _ = try InputReader(path, failure: .readFile) }
        options.subtitleLanguage = command.text("subtitle-language")
        options.secondSubtitleLanguage = command.text("second-subtitle-language")
        return try await session.withManager { manager in
            let (media, title) = try await media(command, manager)
            let engine = try MpvEngine(
                engineOptions(session, media, title: title), environment: context.environment)
            let player = Player(manager, media, engine: engine, options: options)
            if let speed = command.text("speed").flatMap(PlayPosition.speed) { player.setRate(speed) }
            if let part = command.text("repeat").flatMap(PlayPosition.section) { player.setRepeat(part) }
            player.play()
            var run = PlayRun(session: session, player: player, key: try key(of: media, manager))
            return try await run.run()
        }
    }

    /// What is to be played, and its title.
    static func media(
        _ command: ParsedCommand, _ manager: LectureManager
    ) async throws -> (PlayerMedia, title: String) {
        let text = command.arguments[0]
        guard text.contains("://") else {
            let key = try ContentKey(text)
            if command.flag("stream") { throw LectureError(.urlScheme, detail: text) }
            guard let content = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            return (.lecture(key), content.title)
        }
        let url = try url(text)
        guard !command.flag("stream"), let content = try await manager.contents.find(url: url),
            content.state == .completed
        else { return (.stream(url), "") }
        return (.lecture(content.key), content.title)
    }

    /// The key of a lecture, or the one that a stream has until its gateway names one.
    static func key(of media: PlayerMedia, _ manager: LectureManager) throws(LectureError) -> ContentKey {
        switch media {
        case .lecture(let key): key
        case .stream(let url): try manager.streams.key(of: url)
        }
    }

    /// The URL that a `kollus:` link wants played, or the URL itself.
    private static func url(_ text: String) throws(LectureError) -> String {
        guard KollusLink.isLink(text) else { return text }
        switch try KollusLink(text) {
        case .play(let url), .downloadAndPlay(let url): return url
        case .download(let requests): return requests[0].url
        case .list: throw LectureError(.urlInvalid, detail: text, cause: "it names a folder, not a lecture")
        }
    }

    private static func engineOptions(
        _ session: CommandSession, _ media: PlayerMedia, title: String
    ) -> MpvOptions {
        let command = session.command
        var options = MpvOptions()
        let hasPicture = !command.flag("no-video")
        options.surface = hasPicture ? .window(title: title, isFullscreen: command.flag("fullscreen")) : .none
        options.readsTerminal = !hasPicture && session.context.diagnosticsIsTerminal
        options.subtitlePath = command.text("subtitles")
        if let output = command.text("audio-output") { options.more["ao"] = output }
        if hasPicture, let output = command.text("video-output") { options.more["vo"] = output }
        if case .stream = media { options.readAhead = .seconds(30) }
        return options
    }
}

/// What is shown of a player.
package struct PlayerDisplay: Sendable, Hashable {
    /// The lecture.
    package var key: ContentKey?
    /// What it does.
    package var state = PlayerState.idle
    /// Where in the lecture it is.
    package var position: Duration = .zero
    /// The length of the lecture; nil while it is unknown.
    package var duration: Duration?
    /// How much of it is ready to be played from there on; nil where that is unknown.
    package var buffered: Duration?
    /// The speed; 1 is normal.
    package var rate = 1.0
    /// Whether an intro is played.
    package var isIntro = false
    /// What the licence has left: `plays until 2026-11-26`, for instance; empty without a limit.
    package var rest = ""
    /// What the server of a stream permits; nil where it was not asked.
    package var permission: PlayPermission?

    /// Shows a player that was not started.
    package init() {}
}

/// One play: events in, lines out.
private struct PlayRun {
    let session: CommandSession
    let player: Player
    private var display = PlayerDisplay()
    /// The whole second that was shown last.
    private var second: Int64?
    private var hasLine = false

    private var context: CommandContext { session.context }
    private var showsLine: Bool {
        session.mayDraw && !session.isQuiet && session.command.text("progress") != "none"
    }

    init(session: CommandSession, player: Player, key: ContentKey) {
        (self.session, self.player) = (session, player)
        display.key = key
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
        context.say(error.message, about: error)
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
        case .opened(let key, _): display.key = key
        case .duration(let duration): display.duration = duration
        case .buffered(let length): display.buffered = length
        case .intro(let isSkippable): display.isIntro = isSkippable != nil
        case .licence(let licence): display.rest = PlayRest.text(licence)
        case .nextEpisode, .pictureSize, .caption, .secondCaption, .outline, .section, .thumbnails: break
        case .permitted(let permission): take(permission)
        case .rate(let rate):
            guard rate != display.rate else { return }
            display.rate = rate
            if case .playing = display.state { try write() }
        case .trouble(let error):
            endLine()
            try session.report(error)
        }
    }

    /// What the server says to the learner is shown at once.
    private mutating func take(_ permission: PlayPermission) {
        display.permission = permission
        guard !permission.message.isEmpty, !session.isQuiet else { return }
        endLine()
        context.say(permission.message, .information)
    }

    private mutating func write() throws {
        if session.wantsJSON { try context.output.write(machine: JSONLine.player(display)) }
        guard showsLine, !display.state.isOver else { return }
        hasLine = true
        let length = display.duration.map { " / \(Self.clock($0))" } ?? ""
        let speed = display.rate == 1 ? "" : "  \(display.rate)×"
        let buffer = display.buffered.map { "  buffer \($0.milliseconds / 1000) s" } ?? ""
        // Over the line before it, as wide as that could be.
        let rest = display.rest.isEmpty ? "" : "  \(display.rest)"
        let name = display.isIntro ? "intro" : display.state.name
        let text = "\(name)  \(Self.clock(display.position))\(length)\(speed)\(buffer)\(rest)"
        try? context.diagnostics.write(machine: "\r\(text)\u{1B}[K")
    }

    private mutating func endLine() {
        guard hasLine else { return }
        hasLine = false
        try? context.diagnostics.write(machine: "\n")
    }

    /// A position in whole seconds.
    private static func clock(_ time: Duration) -> String {
        PlayPosition.text(.seconds(time.milliseconds / 1000))
    }
}

/// The signal that ends a play.
actor Signal {
    private(set) var number: Int32?

    func set(_ number: Int32) { self.number = number }
}
