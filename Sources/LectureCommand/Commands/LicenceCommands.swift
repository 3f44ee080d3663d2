import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl licence list`, `show`, `import`, `rekey` and `pending`.
enum LicenceCommands {
    private static let columns: [TableRenderer.Column] = [
        .init("KEY", mayShrink: true), .init("VERDICT"), .init("ENDS"), .init("PLAYS", alignRight: true),
        .init("PLAY TIME", alignRight: true), .init("TITLE", mayShrink: true),
    ]

    // MARK: list

    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var (skipped, left) = (command.integer("offset") ?? 0, command.integer("limit") ?? .max)
            var rows: [[String]] = []
            var place: LicencePage.Place?
            // Without a terminal nothing is aligned, so each page is written at once and memory use stays constant.
            let streams = session.wantsJSON || !context.outputIsTerminal
            let table = TableRenderer(columns: columns)
            var isEmpty = true
            repeat {
                let page = try await manager.licences.list(
                    expiringWithin: command.duration("expiring"), from: place,
                    limit: left < 1000 - skipped ? skipped + left : 1000)
                place = page.next
                let passed = min(skipped, page.rows.count)
                skipped -= passed
                let wanted = page.rows.dropFirst(passed).prefix(left)
                left -= wanted.count
                isEmpty = isEmpty && wanted.isEmpty
                if session.wantsJSON {
                    try context.output.write(
                        machine: wanted.map { JSONLine.licence($0.licence, title: $0.title) }.joined())
                } else {
                    rows += wanted.map { row($0.licence, title: $0.title) }
                }
                if streams, !rows.isEmpty {
                    let lines = table.lines(rows, width: nil, style: session.outputStyle)
                    try context.output.write(.lines(lines))
                    rows = []
                }
            } while place != nil && left > 0
            if isEmpty, !session.wantsJSON { session.report("No licences match.") }
            guard !rows.isEmpty else { return .done }
            let lines = table.lines(rows, width: context.terminalSize().columns, style: session.outputStyle)
            try context.output.write(.lines(lines))
            return .done
        }
    }

    private static func row(_ licence: LicenceStatus, title: String) -> [String] {
        [
            licence.key.text, verdict(licence), licence.policy?.expiresAt.map { HumanText.date($0) } ?? "",
            licence.countLeft.map { "\($0) left" } ?? "",
            licence.playTimeLeft.map { HumanText.duration(seconds: $0.milliseconds / 1000) } ?? "", title,
        ]
    }

    /// `playable`, or the first reason why not.
    static func verdict(_ licence: LicenceStatus) -> String { licence.reasons.first?.name ?? "playable" }

    /// The verdict as one phrase, for lists of facts.
    static func sentence(_ licence: LicenceStatus) -> String {
        licence.isPlayable ? "may be played now" : licence.reasons.map(\.name).joined(separator: ", ")
    }

    /// The verdict with every reason, one per line.
    static func explanation(_ licence: LicenceStatus) -> [String] {
        if licence.isPlayable { return ["Its licence allows playing now."] }
        return ["Its licence does not allow playing now:"]
            + licence.reasons.map { "  \($0.name): \(LectureError($0.code).message)" }
    }

    // MARK: show

    @Sendable static func show(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        return try await session.withManager { manager in
            guard let licence = try await manager.licences.status(of: key) else {
                guard try await manager.contents.find(key) != nil else {
                    throw LectureError(.unknownContent, detail: key.text)
                }
                throw LectureError(.licenceMissing, detail: key.text)
            }
            let title = try await manager.contents.find(key)?.title
            if session.wantsJSON {
                try context.output.write(machine: JSONLine.licence(licence, title: title))
                return .done
            }
            var lines = facts(licence, title: title).filter { !$0.1.isEmpty }.map { name, value in
                "\(TerminalText.padded("\(name):", to: 16)) \(value)"
            }
            if !licence.isPlayable { lines += explanation(licence).dropFirst() }
            let attempts = try await manager.licences.attempts(of: key)
            if !attempts.isEmpty { lines += ["", "Licence server requests, latest first:"] }
            lines += attempts.map { attempt in
                let status = attempt.status.map { "status \($0)" } ?? "no answer"
                let problem = attempt.error.map { ": \($0.message)" } ?? ""
                return "  \(HumanText.date(attempt.at))  \(attempt.question)  \(status)  \(attempt.outcome)\(problem)"
            }
            try context.output.write(.lines(lines))
            return .done
        }
    }

    static func facts(_ licence: LicenceStatus, title: String?) -> [(String, String)] {
        let policy = licence.policy
        return [
            ("Key", licence.key.text), ("Title", title ?? ""),
            ("Verdict", licence.isPlayable ? "may be played now" : "may not be played now"),
            ("Source", licence.form.map { $0 == .file ? "a licence file" : "an answer of its DRM callback" } ?? ""),
            ("Server", licence.server), ("Starts", policy?.startsAt.map { HumanText.date($0) } ?? ""),
            ("Ends", policy.map { $0.expiresAt.map { HumanText.date($0) } ?? "never" } ?? ""),
            ("Plays", plays(licence)), ("Play time", playTime(licence)),
            ("Check due", policy?.checkAt.map { HumanText.date($0) } ?? ""),
            ("Checks", policy?.checksEveryPlay == true ? "before every play" : ""),
            ("Granted", licence.granted.map { HumanText.date($0) } ?? ""),
            ("Checked", licence.checked.map { HumanText.date($0) } ?? ""),
            ("Attempts", licence.attempts > 0 ? "\(licence.attempts) failed" : ""),
            ("Next attempt", licence.nextAttempt.map { HumanText.date($0) } ?? ""),
            ("Problem", licence.error?.message ?? ""),
        ]
    }

    private static func plays(_ licence: LicenceStatus) -> String {
        guard licence.form != nil else { return "" }
        return licence.countLeft.map { "\($0) left, \(licence.countUsed) used" } ?? "\(licence.countUsed) used"
    }

    private static func playTime(_ licence: LicenceStatus) -> String {
        guard let left = licence.playTimeLeft else { return "" }
        return "\(HumanText.duration(seconds: left.milliseconds / 1000)) left, "
            + "\(HumanText.duration(seconds: licence.playTimeUsed.milliseconds / 1000)) used"
    }

    // MARK: import, rekey, pending

    @Sendable static func importFile(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let token = try await LicenceVerifyCommand.token(in: command.arguments[0])
        return try await session.withManager { manager in
            let licence = try await manager.licences.import(
                token, trust: LicenceVerifyCommand.namedTrust(command, context))
            let title = try await manager.contents.find(licence.key)?.title
            if session.wantsJSON {
                try context.output.write(machine: JSONLine.licence(licence, title: title))
            } else {
                session.report("\(licence.key.text): licence stored (\(verdict(licence))).")
            }
            return .done
        }
    }

    @Sendable static func rekey(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let token = try await LicenceVerifyCommand.token(in: command.arguments[0])
        return try await session.withManager { manager in
            let change = try await manager.licences.changeGrantingKeys(
                by: token, trust: LicenceVerifyCommand.namedTrust(command, context))
            if session.wantsJSON {
                try context.output.write(machine: JSONLine.keyChange(change))
            } else {
                let count = change.changed == 1 ? "1 licence" : "\(change.changed) licences"
                session.report(
                    change.changed == 0 ? "All licences have these keys already." : "\(count) changed to new keys.")
            }
            return .done
        }
    }

    @Sendable static func pendingCallbacks(_ command: ParsedCommand, _ context: CommandContext) async throws
        -> ExitStatus
    {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            if command.flag("pay") { try await manager.licences.sendPendingCallbacks() }
            let callbacks = try await manager.licences.pendingCallbacks()
            if session.wantsJSON {
                try context.output.write(machine: callbacks.map(JSONLine.pendingCallback).joined())
            } else {
                for callback in callbacks { try context.output.write(.row(columns(callback))) }
                if callbacks.isEmpty { session.report("No notices are pending.") }
            }
            return command.flag("pay") && !callbacks.isEmpty ? .tryAgain : .done
        }
    }

    private static func columns(_ callback: PendingCallbackStatus) -> [String] {
        [
            callback.key.text, "\(callback.kind)", "since \(HumanText.date(callback.since))",
            "\(callback.attempts) attempts",
        ]
            + [callback.nextAttempt.map { "next \(HumanText.date($0))" }, callback.error?.message].compactMap(\.self)
    }
}
