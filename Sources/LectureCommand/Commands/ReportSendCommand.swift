import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl lms send`.
enum ReportSendCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        var options = SendOptions()
        options.target = try ReportAddCommand.target(session)
        options.requestsPerSecond = command.integer("rate")
        if let attempts = command.integer("max-attempts") { options.attempts = attempts }
        if let wait = command.duration("longest-wait") { options.longestWait = wait }
        options.namesDelivered = command.flag("acks")
        return try await session.withManager { [options] manager in
            var run = SendRun(manager: manager, session: session)
            return try await run.run(options)
        }
    }

    /// The exit status of a sending. A dead letter counts least: an obstacle that affects every report comes first.
    ///
    /// - Parameter result: the result of the sending.
    /// - Returns: the exit status.
    static func status(_ result: ReportSendResult) -> ExitStatus {
        let statuses = result.obstacles.map { ExitStatus.status(for: $0.error.code) }
        for status in [ExitStatus.noPermission, .unavailable] where statuses.contains(status) { return status }
        if result.left > 0 { return .tryAgain }
        return result.refused > 0 ? .someFailed : .done
    }
}

/// One run of a sending: events in, lines and progress out.
private struct SendRun {
    let manager: LectureManager
    let session: CommandSession
    private var progress = ReportSendResult()
    private var reported = ReportSendResult()
    private var lastLine: BootInstant?
    private var signal: Int32?

    private var context: CommandContext { session.context }

    init(manager: LectureManager, session: CommandSession) { (self.manager, self.session) = (manager, session) }

    mutating func run(_ options: SendOptions) async throws -> ExitStatus {
        let began = context.clock.boot()
        let loop = EventLoop<Result<ReportSendResult, LectureError>>(
            manager.eventsWithoutExchanges, tick: .milliseconds(500), context)
        let manager = manager
        loop.start {
            try await manager.reports.send(options: options)
        } then: {
            $0
        }
        var result: Result<ReportSendResult, LectureError>?
        try await loop.run { event in
            switch event {
            case .library(let event): try take(event)
            case .message(let end):
                result = end
                // The stream of events ends after the last one of this run.
                Task { await manager.close() }
            case .tick: reportProgress(began: began)
            case .signal(.resized), .signal(.reload): return
            case .signal(.stop(let number)):
                signal = number
                await manager.reports.stopSending()
            }
        }
        return try finish(try result?.get() ?? progress, elapsed: context.clock.boot() - began)
    }

    private mutating func take(_ event: LectureEvent) throws {
        switch event {
        case .reportsProgress(let result):
            progress = result
            if session.wantsJSON { try context.output.write(machine: JSONLine.sending(result)) }
        case .reportsDelivered(let ids): for id in ids { try context.writeData("ACK \(id)") }
        case .reportRefused(let id, let reason, let error):
            context.say(error.message, about: error)
            if session.wantsJSON { try context.output.write(machine: JSONLine.refused(id, reason, error)) }
        case .reportObstacle(let obstacle):
            if session.isVerbose { session.report(obstacle.error.message) }
        case .trouble(let error): try session.report(error)
        default: return
        }
    }

    /// Prints a line every few seconds.
    private mutating func reportProgress(began: BootInstant) {
        let now = context.clock.boot()
        guard !session.isQuiet, session.command.text("progress") != "none", progress != reported else { return }
        guard now - (lastLine ?? began) >= .seconds(3) else { return }
        (lastLine, reported) = (now, progress)
        session.report("\(progress.delivered) delivered, \(progress.refused) refused, \(progress.left) left")
    }

    private func finish(_ result: ReportSendResult, elapsed: Duration) throws -> ExitStatus {
        // After an interruption the user knows why reports are left.
        for obstacle in result.obstacles where signal == nil {
            // What the target refuses needs a person; for everything else the next run tries again.
            let isRefused = ExitStatus.status(for: obstacle.error.code) == .noPermission
            context.say(sentence(obstacle), isRefused ? .error : .warning)
            if session.wantsJSON { try context.output.write(machine: JSONLine.obstacle(obstacle)) }
        }
        var words = ["\(result.delivered) delivered", "\(result.refused) refused"]
        if result.superseded > 0 { words.append("\(result.superseded) superseded") }
        session.report("\(words.joined(separator: ", ")), \(result.left) left.")
        if session.wantsJSON { try context.output.write(machine: JSONLine.sendSummary(result, elapsed: elapsed)) }
        return signal.map { .signal($0) } ?? ReportSendCommand.status(result)
    }

    private func sentence(_ obstacle: ReportObstacle) -> String {
        let again = obstacle.again.map { " The next attempt is possible at \(HumanText.date($0))." } ?? ""
        return obstacle.error.message + again
    }
}
