import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl webhooks list`, `send`, `retry` and `test`.
enum WebhookCommands {
    // MARK: list

    private static let columns: [TableRenderer.Column] = [
        .init("NUMBER", alignRight: true), .init("SERVER", mayShrink: true), .init("WAITING", alignRight: true),
        .init("DEAD", alignRight: true), .init("DELIVERED", alignRight: true), .init("EXPIRED", alignRight: true),
        .init("STATE", mayShrink: true),
    ]
    private static let eventColumns: [TableRenderer.Column] = [
        .init("NUMBER", alignRight: true), .init("TIME"), .init("EVENT"), .init("KEY", mayShrink: true),
        .init("TRIES", alignRight: true), .init("STATUS", alignRight: true), .init("ID", mayShrink: true),
    ]

    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let endpoints = try await manager.webhooks.endpoints()
            if command.flag("waiting") || command.flag("dead") {
                try await events(of: endpoints, dead: command.flag("dead"), manager, session)
            } else if session.wantsJSON {
                try context.output.write(machine: endpoints.map(JSONLine.webhook).joined())
            } else if endpoints.isEmpty {
                session.report("There are no webhooks; 'webhooks' in the configuration names them.")
            } else {
                try write(endpoints.map { row($0, context.outputIsTerminal) }, columns, session)
            }
            return .done
        }
    }

    private static func events(
        of endpoints: [WebhookStatus], dead: Bool, _ manager: LectureManager, _ session: CommandSession
    ) async throws {
        let context = session.context
        var isEmpty = true
        for endpoint in endpoints {
            var place: WebhookEventPage.Place?
            repeat {
                let page = try await manager.webhooks.events(of: endpoint.id, dead: dead, from: place)
                place = page.next
                guard !page.events.isEmpty else { continue }
                isEmpty = false
                if session.wantsJSON {
                    try context.output.write(machine: page.events.map(JSONLine.webhookEvent).joined())
                } else {
                    try write(page.events.map { row($0, context.outputIsTerminal) }, eventColumns, session)
                }
            } while place != nil
        }
        if isEmpty, !session.wantsJSON { session.report("No events match.") }
    }

    private static func write(
        _ rows: [[String]], _ columns: [TableRenderer.Column], _ session: CommandSession
    ) throws {
        let width = session.context.outputIsTerminal ? session.context.terminalSize().columns : nil
        let lines = TableRenderer(columns: columns).lines(rows, width: width, style: session.outputStyle)
        try session.context.output.write(.lines(lines))
    }

    private static func row(_ endpoint: WebhookStatus, _ isTerminal: Bool) -> [String] {
        [
            "\(endpoint.id)", endpoint.server, "\(endpoint.waiting)", "\(endpoint.dead)", "\(endpoint.delivered)",
            "\(endpoint.expired)", state(endpoint, isTerminal),
        ]
    }

    private static func state(_ endpoint: WebhookStatus, _ isTerminal: Bool) -> String {
        var words: [String] = []
        if !endpoint.isConfigured { words.append("not in this configuration") }
        if endpoint.isGone { words.append("switched off by its receiver (HTTP 410)") }
        if endpoint.failures > 0 {
            let answer = endpoint.answer?.status.map { "HTTP \($0)" } ?? "no answer"
            words.append("\(endpoint.failures) failures, the last: \(answer)")
        }
        if let time = endpoint.waitsUntil {
            words.append("waits until \(HumanText.date(time, isTerminal: isTerminal))")
        }
        return words.isEmpty ? "ok" : words.joined(separator: ", ")
    }

    private static func row(_ event: PendingWebhookEvent, _ isTerminal: Bool) -> [String] {
        [
            "\(event.endpoint)", HumanText.date(event.happened, isTerminal: isTerminal), event.kind.name, event.key,
            "\(event.attempts)", event.status.map { "\($0)" } ?? "", event.id,
        ]
    }

    // MARK: send

    @Sendable static func send(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var options = WebhookSendOptions()
            options.url = try await url(session, manager)
            if let attempts = command.integer("max-attempts") { options.attempts = attempts }
            if let wait = command.duration("longest-wait") { options.longestWait = wait }
            let loop = EventLoop<Result<WebhookSendResult, LectureError>>(manager.events, tick: .seconds(3600), context)
            loop.start { [options] in
                try await manager.webhooks.send(options: options)
            } then: {
                $0
            }
            var result: Result<WebhookSendResult, LectureError>?
            var signal: Int32?
            try await loop.run { event in
                switch event {
                case .library(.trouble(let error)): try session.report(error)
                case .library, .tick, .signal(.resized), .signal(.reload): return
                case .message(let end):
                    result = end
                    // The stream of events ends after the last one of this run.
                    Task { await manager.close() }
                case .signal(.stop(let number)):
                    signal = number
                    await manager.webhooks.stopSending()
                }
            }
            return try finish(try result?.get() ?? WebhookSendResult(), signal, session)
        }
    }

    private static func finish(
        _ result: WebhookSendResult, _ signal: Int32?, _ session: CommandSession
    ) throws -> ExitStatus {
        // After an interruption the user knows why events are left.
        for obstacle in result.obstacles where signal == nil {
            let again = obstacle.again.map { " The next attempt is possible at \(HumanText.date($0))." } ?? ""
            session.context.say(obstacle.error.message + again, .warning)
            if session.wantsJSON { try session.context.output.write(machine: JSONLine.webhookObstacle(obstacle)) }
        }
        session.report("\(result.delivered) delivered, \(result.dead) refused, \(result.left) left.")
        if session.wantsJSON { try session.context.output.write(machine: JSONLine.webhookSummary(result)) }
        return signal.map { .signal($0) } ?? status(result)
    }

    /// The exit status of a sending. What only a person can change comes first.
    ///
    /// - Parameter result: the result of the sending.
    /// - Returns: the exit status.
    static func status(_ result: WebhookSendResult) -> ExitStatus {
        let statuses = result.obstacles.map { status(of: $0.error) }
        for status in [ExitStatus.configuration, .noPermission, .unavailable] where statuses.contains(status) {
            return status
        }
        if result.left > 0 { return .tryAgain }
        return result.dead > 0 ? .someFailed : .done
    }

    /// A receiver that refuses is corrected by its operator, as one that fails.
    private static func status(of error: LectureError) -> ExitStatus {
        let status = ExitStatus.status(for: error.code)
        return status == .noPermission && error.code != .webhookGone ? .unavailable : status
    }

    // MARK: retry

    @Sendable static func retry(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            let count = try await manager.webhooks.retry(try await url(session, manager))
            if session.wantsJSON { try context.output.write(machine: JSONLine.revived(count)) }
            let events = count == 1 ? "1 event" : "\(count) events"
            session.report("\(events) to be sent again. Run 'lecturectl webhooks send' to send them.")
            return .done
        }
    }

    // MARK: test

    @Sendable static func test(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManagerOrNone { manager in
            let results = try await manager.webhooks.test(try await url(session, manager))
            var statuses: [ExitStatus] = []
            for result in results {
                if let error = result.error { statuses.append(status(of: error)) }
                if session.wantsJSON {
                    try context.output.write(machine: JSONLine.webhookTest(result))
                } else if let status = result.status, result.error == nil {
                    let time = "after \(result.duration.milliseconds) ms"
                    try context.output.write(.lines(["\(result.server): HTTP \(status) \(time)"]))
                }
                if let error = result.error { context.say(error.message, about: error) }
            }
            return statuses.first ?? .done
        }
    }

    /// The URL of the endpoint that an option names.
    private static func url(_ session: CommandSession, _ manager: LectureManager) async throws -> String? {
        guard let text = session.command.text("endpoint") else { return nil }
        guard let number = Int64(text) else { return text }
        let endpoint = try await manager.webhooks.endpoints().first { $0.id == number }
        guard let endpoint else { throw LectureError(.webhookUnknown, detail: text) }
        return endpoint.url
    }
}
