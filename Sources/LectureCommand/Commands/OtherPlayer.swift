import LectureKit
import LectureLoopback
import LectureModel
import LecturePlayer
import LectureRecords

/// `lecturectl play --with` and `--url`: players that are not ours, through the loopback server.
enum OtherPlayer {
    static func run(_ session: CommandSession) async throws -> ExitStatus {
        let command = session.command
        let words = command.text("with").map { $0.split(separator: " ").map(String.init) }
        if let words, words.isEmpty { throw UsageError("--with needs the name of a program.", path: ["play"]) }
        return try await session.withManager { manager in
            let (media, _) = try await PlayCommand.media(command, manager)
            var options = LoopbackOptions()
            options.port = UInt16(command.integer("port") ?? 0)
            // A program that was started ends the play itself.
            if words != nil { options.idleLimit = nil }
            let server = try LoopbackServer(manager, options: options)
            var run = OtherPlayerRun(session: session, key: try PlayCommand.key(of: media, manager))
            do {
                let status = try await run.run(server, media, words)
                await server.stop()
                return status
            } catch {
                await server.stop()
                throw error
            }
        }
    }
}

/// One play by another program.
private struct OtherPlayerRun {
    let session: CommandSession
    private var display = PlayerDisplay()
    private var context: CommandContext { session.context }

    init(session: CommandSession, key: ContentKey) {
        self.session = session
        display.key = key
    }

    mutating func run(_ server: LoopbackServer, _ media: PlayerMedia, _ words: [String]?) async throws -> ExitStatus {
        try write(.preparing)
        let signal = Signal()
        let signals = context.signals()
        do {
            let play = try await server.open(media.served)
            display.key = play.key
            try write(.prepared, url: words == nil ? play.url : nil)
            if words == nil, !session.wantsJSON { try context.writeData(play.url) }
            let program = try words.map { try ForegroundProgram($0 + [play.url], keepsOutput: !session.wantsJSON) }
            let watching = Task { [signals] in
                guard let signals else { return }
                for await case .stop(let number) in signals.events {
                    await signal.set(number)
                    program?.stop()
                    await play.close()
                }
            }
            let following = Task { () -> ForegroundProgram.Ending? in
                let ending = await program?.ending()
                if program != nil { await play.close() }
                return ending
            }
            defer {
                watching.cancel()
                following.cancel()
                program?.stop()
            }
            for await event in play.events { try show(event) }
            let ending = await play.ending()
            // One whose licence has ended gets no more bytes, and need not show that.
            program?.stop()
            let number = await signal.number
            try finish(ending, await program?.ending(), words?.first, isStopped: number != nil)
            if let number { return .signal(number) }
            return .done
        } catch let error as LectureError {
            try write(.stopped(.failed(error)))
            context.say(error.message, about: error)
            return .status(for: error.code)
        }
    }

    /// Reports how it ended.
    private mutating func finish(
        _ ending: LoopbackEnding, _ program: ForegroundProgram.Ending?, _ name: String?, isStopped: Bool
    ) throws {
        if case .failed(let error) = ending { throw error }
        if !isStopped, let program, program != .exited(0) {
            let cause =
                switch program {
                case .exited(let status): "it ended with exit status \(status)"
                case .killed(let signal): "it was ended by signal \(signal)"
                }
            throw LectureError(.playerFailed, detail: name ?? "", cause: cause)
        }
        try write(.stopped(.stopped))
    }

    private mutating func show(_ event: LoopbackEvent) throws {
        switch event {
        case .started: try write(.playing(.steady))
        case .refused(let refusal): session.report("A request was refused: \(refusal.sentence)")
        case .failure(let error): try session.report(error)
        }
    }

    private mutating func write(_ state: PlayerState, url: String? = nil) throws {
        display.state = state
        if session.wantsJSON { try context.output.write(machine: JSONLine.player(display, url: url)) }
    }
}

extension PlayerMedia {
    /// The same for the loopback server.
    fileprivate var served: LoopbackMedia {
        switch self {
        case .lecture(let key): .lecture(key)
        case .stream(let url): .stream(url)
        }
    }
}
