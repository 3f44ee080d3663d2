import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl licence renew` and `licence regrant`.
enum RenewCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await run(try selection(session), .renewal, session)
    }

    @Sendable static func regrant(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await run(command.flag("all") ? .all : .keys(try session.keys()), .regrant, session)
    }

    private static func run(
        _ selection: RenewalSelection, _ kind: RenewalKind, _ session: CommandSession
    ) async throws -> ExitStatus {
        try await session.withManager { manager in
            if session.command.flag("new-device") { try await manager.licences.acceptDevice() }
            if session.command.flag("dry-run") { return try await plan(selection, kind, manager, session) }
            var run = RenewRun(manager: manager, session: session, kind: kind)
            return try await run.run(selection, options(session.command))
        }
    }

    private static func selection(_ session: CommandSession) throws -> RenewalSelection {
        let keys = try session.keys()
        if !keys.isEmpty { return .keys(keys) }
        if session.command.flag("all") { return .all }
        return session.command.duration("within").map { .within($0) } ?? .expired
    }

    /// Reports why no server is asked about lectures on the command line.
    ///
    /// - Returns: whether one of them is an error.
    static func report(_ left: [RenewalReport.Left], _ kind: RenewalKind, _ session: CommandSession) throws -> Bool {
        var isError = false
        for one in left {
            let key = one.key.text
            var code: LectureError.Code?
            switch one.reason {
            case .unknown: code = .unknownContent
            case .ungranted: code = .licenceMissing
            case .deleted: code = .licenceDeleted
            case .unlicensed: session.report("\(key): no licence is needed.")
            case .believed: session.report("\(key): its licence is valid; no new grant is needed.")
            case .noServer where kind == .regrant:
                code = .licenceMissing
                session.report(
                    "\(key): its licence is a file; import a newer one with 'lecturectl licence import FILE'.")
            case .noServer: session.report("\(key): its licence is a file; there is no server to ask.")
            }
            guard let code else { continue }
            try session.report(LectureError(code, detail: key), key: one.key)
            isError = true
        }
        return isError
    }

    private static func options(_ command: ParsedCommand) -> RenewalOptions {
        var options = RenewalOptions()
        if let jobs = command.integer("jobs") { options.jobs = jobs }
        if let rate = command.integer("rate") { options.requestsPerSecond = rate }
        if let attempts = command.integer("max-attempts") { options.maxAttempts = attempts }
        return options
    }

    private static func plan(
        _ selection: RenewalSelection, _ kind: RenewalKind, _ manager: LectureManager, _ session: CommandSession
    ) async throws -> ExitStatus {
        let plan =
            try await kind == .regrant
            ? manager.licences.planRegrant(of: selection) : manager.licences.planRenewal(of: selection)
        for start in stride(from: 0, to: plan.count, by: 1000) {
            let part = plan[start..<min(start + 1000, plan.count)]
            if session.wantsJSON {
                try session.context.output.write(machine: part.map(JSONLine.planned).joined())
            } else {
                for planned in part { try session.context.output.write(.row(columns(planned))) }
            }
        }
        let requests = Set(plan.compactMap(\.request)).count
        let waiting = plan.count { $0.request == nil }
        session.report("\(plan.count - waiting) licences in \(requests) requests; \(waiting) waiting.")
        let isError = try report(try await manager.licences.left(of: selection, kind), kind, session)
        return isError ? .someFailed : .done
    }

    private static func columns(_ planned: PlannedRenewal) -> [String] {
        let request = planned.request.map { "request \($0)" } ?? "waits"
        let deadline = planned.deadline.map { HumanText.date($0) } ?? "no end"
        return [planned.key.text, request, deadline, planned.server]
    }
}

/// One run of a batch renewal: events in, lines and progress out.
private struct RenewRun {
    let manager: LectureManager
    let session: CommandSession
    let kind: RenewalKind
    private var renewed = 0
    private var failed = 0
    private var total = 0
    private var beganWith = 0
    private var lastLine: BootInstant?
    private var signal: Int32?

    private var context: CommandContext { session.context }

    init(manager: LectureManager, session: CommandSession, kind: RenewalKind) {
        (self.manager, self.session, self.kind) = (manager, session, kind)
    }

    mutating func run(_ selection: RenewalSelection, _ options: RenewalOptions) async throws -> ExitStatus {
        let began = context.clock.boot()
        let loop = EventLoop<Result<RenewalReport, LectureError>>(
            manager.events, tick: .milliseconds(500), context)
        let (manager, kind) = (manager, kind)
        loop.start {
            try await kind == .regrant
                ? manager.licences.regrant(selection, options: options)
                : manager.licences.renew(selection, options: options)
        } then: {
            $0
        }
        var result: Result<RenewalReport, LectureError>?
        try await loop.run { event in
            switch event {
            case .library(let event): try await take(event)
            case .message(let end):
                result = end
                // The stream of events ends after the last one of this run.
                Task { await manager.close() }
            case .tick: reportProgress(began: began)
            case .signal(.resized), .signal(.reload): return
            case .signal(.stop(let number)):
                signal = number
                await manager.licences.stopRenewal()
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
                session.report("Continuing an interrupted renewal: \(done) of \(total) are done.")
            }
        case .renewed(let key, let current, let count, let error):
            if error == nil { renewed += 1 } else { failed += 1 }
            if session.wantsJSON {
                let licence = error == nil ? try? await manager.licences.status(of: key) : nil
                try context.output.write(
                    machine: JSONLine.renewed(key, current: current, count: count, licence: licence, error: error))
            }
            if let error { context.say("\(key.text): \(error.message)", about: error) }
            if error == nil, session.command.flag("acks") { try context.writeData("ACK \(key.text)") }
        case .licenceEnded(let key):
            context.say("\(key.text): the licence server has ended the licence.", .warning)
            if session.wantsJSON { try context.output.write(machine: JSONLine.licenceChanged(key, change: "ended")) }
        case .licenceDeleted(let key):
            context.say(
                "\(key.text): the licence server has revoked this lecture; its files were deleted.", .warning)
            if session.wantsJSON { try context.output.write(machine: JSONLine.licenceChanged(key, change: "deleted")) }
        case .trouble(let error): try session.report(error)
        default: return
        }
    }

    /// Prints a line every few seconds, with the time left.
    private mutating func reportProgress(began: BootInstant) {
        let now = context.clock.boot()
        guard total > 0, !session.isQuiet, session.command.text("progress") != "none" else { return }
        if let lastLine, now - lastLine < .seconds(3) { return }
        let done = renewed + failed
        guard lastLine != nil || now - began >= .seconds(3) else { return }
        lastLine = now
        let elapsed = (now - began).secondsDouble
        let left = done > 0 ? Double(total - beganWith - done) * elapsed / Double(done) : nil
        let time = left.map { ", \(HumanText.duration(seconds: Int64($0))) left" } ?? ""
        session.report("\(beganWith + done) of \(total) licences\(time)")
    }

    private func finish(_ summary: RenewalReport, elapsed: Duration) throws -> ExitStatus {
        let isError = try RenewCommand.report(summary.left, kind, session)
        session.report(sentence(summary))
        if session.wantsJSON { try context.output.write(machine: JSONLine.renewalSummary(summary, elapsed: elapsed)) }
        if let signal { return .signal(signal) }
        // A licence that was answered but is still not trusted is not a success.
        if summary.failed > 0 || isError || !summary.unbelieved.isEmpty { return .someFailed }
        return summary.waiting > 0 ? .tryAgain : .done
    }

    /// The result, with a remedy for licences that an answer did not make playable.
    private func sentence(_ summary: RenewalReport) -> String {
        let rest = "\(summary.failed) failed, \(summary.waiting) waiting."
        let verb = kind == .regrant ? "granted" : "renewed"
        guard summary.playable < summary.renewed else { return "\(summary.renewed) \(verb), \(rest)" }
        var text = "\(summary.renewed) \(kind == .regrant ? "granted" : "answered"), \(summary.playable) playable"
        if !summary.unbelieved.isEmpty {
            let count = summary.unbelieved.count
            text += "; \(count) \(count == 1 ? "needs" : "need") a new grant: run "
            text += "'\(CommandTable.programName) licence regrant \(Self.words(summary.unbelieved))'"
        }
        return "\(text). \(rest)"
    }

    /// The keys as they can be typed; `--all` if there are many, or if a shell would interpret one of them.
    private static func words(_ keys: [ContentKey]) -> String {
        let isPlain = keys.allSatisfy { key in
            key.text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            } && !key.text.hasPrefix("-")
        }
        return keys.count <= 3 && isPlain ? keys.map(\.text).joined(separator: " ") : "--all"
    }
}
