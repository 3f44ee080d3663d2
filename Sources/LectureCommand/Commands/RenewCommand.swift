import LectureKit
import LectureModel

/// `lecturectl licence renew`.
enum RenewCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let selection = try selection(session)
        return try await session.withManager { manager in
            if command.flag("dry-run") { return try await plan(selection, manager, session) }
            var run = RenewRun(manager: manager, session: session)
            return try await run.run(selection, options(command))
        }
    }

    private static func selection(_ session: CommandSession) throws -> RenewalSelection {
        let keys = try session.keys()
        if !keys.isEmpty { return .keys(keys) }
        if session.command.flag("all") { return .all }
        return session.command.duration("within").map { .within($0) } ?? .expired
    }

    private static func options(_ command: ParsedCommand) -> RenewalOptions {
        var options = RenewalOptions()
        if let jobs = command.integer("jobs") { options.jobs = jobs }
        if let rate = command.integer("rate") { options.requestsPerSecond = rate }
        if let attempts = command.integer("max-attempts") { options.maxAttempts = attempts }
        return options
    }

    private static func plan(
        _ selection: RenewalSelection, _ manager: LectureManager, _ session: CommandSession
    ) async throws -> ExitStatus {
        let plan = try await manager.planRenewal(selection)
        for start in stride(from: 0, to: plan.count, by: 1000) {
            let lines = plan[start..<min(start + 1000, plan.count)].map { planned in
                session.wantsJSON ? JSONLine.planned(planned) : text(planned)
            }
            try session.context.output.write(lines.joined())
        }
        let requests = Set(plan.compactMap(\.request)).count
        let waiting = plan.count { $0.request == nil }
        session.tell("\(plan.count - waiting) licences in \(requests) requests; \(waiting) wait.")
        return .done
    }

    private static func text(_ planned: PlannedRenewal) -> String {
        let request = planned.request.map { "request \($0)" } ?? "waits"
        let deadline = planned.deadline.map { HumanText.date($0) } ?? "no end"
        return "\(planned.key.text)\t\(request)\t\(deadline)\t\(planned.server)\n"
    }
}

/// One run of a batch renewal: events in, lines and progress out.
private struct RenewRun {
    private enum Event: Sendable {
        case library(LectureEvent)
        case libraryEnded
        case ended(Result<RenewalReport, LectureError>)
        case ticker(Ticker.Event)
    }

    let manager: LectureManager
    let session: CommandSession
    private var renewed = 0
    private var failed = 0
    private var total = 0
    private var beganWith = 0
    private var lastLine: BootInstant?
    private var signal: Int32?

    private var context: CommandContext { session.context }

    init(manager: LectureManager, session: CommandSession) {
        (self.manager, self.session) = (manager, session)
    }

    mutating func run(_ selection: RenewalSelection, _ options: RenewalOptions) async throws -> ExitStatus {
        let began = context.clock.boot()
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        defer { continuation.finish() }
        let library = manager.events
        Task {
            for await event in library { continuation.yield(.library(event)) }
            continuation.yield(.libraryEnded)
        }
        let ticker = Ticker(every: .milliseconds(500), signals: context.signals())
        let ticking = Task { for await event in ticker.events { continuation.yield(.ticker(event)) } }
        defer { ticking.cancel() }
        let manager = manager
        Task {
            do {
                continuation.yield(.ended(.success(try await manager.renewLicences(selection, options))))
            } catch {
                let known = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
                continuation.yield(.ended(.failure(known)))
            }
        }
        var result: Result<RenewalReport, LectureError>?
        loop: for await event in events {
            switch event {
            case .library(let event): try await take(event)
            case .libraryEnded: break loop
            case .ended(let end):
                result = end
                // The stream of events ends behind the last one of this run.
                Task { await manager.close() }
            case .ticker(.tick): tellProgress(began: began)
            case .ticker(.signal(.resized)): continue
            case .ticker(.signal(.stop(let number))):
                signal = number
                await manager.stopRenewal()
            }
        }
        let summary = try result?.get() ?? RenewalReport()
        return try finish(summary, elapsed: context.clock.boot() - began)
    }

    private mutating func take(_ event: LectureEvent) async throws {
        switch event {
        case .renewalBegan(let total, let done):
            (self.total, beganWith) = (total, done)
            if done > 0 {
                session.tell("Going on with a renewal that was interrupted: \(done) of \(total) are done.")
            }
        case .renewed(let key, let current, let count, let error):
            if error == nil { renewed += 1 } else { failed += 1 }
            if session.wantsJSON {
                let licence = error == nil ? try? await manager.licence(key) : nil
                try context.output.write(
                    JSONLine.renewed(key, current: current, count: count, licence: licence, error: error))
            }
            if let error { context.say("\(key.text): \(error.message)") }
            if error == nil, session.command.flag("acks") { try context.output.write("ACK \(key.text)\n") }
        case .licenceEnded(let key):
            context.say("\(key.text): the licence server has ended the licence.")
            if session.wantsJSON { try context.output.write(JSONLine.licenceChanged(key, change: "ended")) }
        case .licenceDeleted(let key):
            context.say("\(key.text): the licence server has ordered the lecture away; its file is gone.")
            if session.wantsJSON { try context.output.write(JSONLine.licenceChanged(key, change: "deleted")) }
        case .trouble(let error): try session.report(error)
        default: return
        }
    }

    /// A line every few seconds, with the time that is left.
    private mutating func tellProgress(began: BootInstant) {
        let now = context.clock.boot()
        guard total > 0, !session.isQuiet, session.command.text("progress") != "none" else { return }
        if let lastLine, now - lastLine < .seconds(3) { return }
        let done = renewed + failed
        guard lastLine != nil || now - began >= .seconds(3) else { return }
        lastLine = now
        let elapsed = (now - began).secondsDouble
        let left = done > 0 ? Double(total - beganWith - done) * elapsed / Double(done) : nil
        let time = left.map { ", \(HumanText.duration(seconds: Int64($0))) left" } ?? ""
        session.tell("\(beganWith + done) of \(total) licences\(time)")
    }

    private func finish(_ summary: RenewalReport, elapsed: Duration) throws -> ExitStatus {
        session.tell("\(summary.renewed) renewed, \(summary.failed) failed, \(summary.waiting) wait.")
        if session.wantsJSON { try context.output.write(JSONLine.renewalSummary(summary, elapsed: elapsed)) }
        if let signal { return .signal(signal) }
        if summary.failed > 0 { return .someFailed }
        return summary.waiting > 0 ? .tryAgain : .done
    }
}
