import LectureFormats
import LectureKit
import LectureModel
import LectureRecords

/// The queries about one lecture: `show`, `why`, `path`, `cat`.
enum QueryCommands {
    @Sendable static func show(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        return try await session.withManager { manager in
            guard let content = try await manager.contents.find(key) else {
                throw LectureError(.unknownContent, detail: key.text)
            }
            let licence = try await manager.licences.status(of: key)
            let use = try await manager.contents.uses(of: [content.key])[content.key]
            guard !session.wantsJSON else {
                try context.output.write(
                    machine: JSONLine.content(content, licence: licence, pinned: use?.pinned))
                return .done
            }
            let isOneFile = content.state == .completed && content.type != .adaptiveDownload
            let path = isOneFile ? try? await manager.contents.path(of: key) : nil
            var facts = facts(content, path: path)
            if let played = use?.lastPlayed { facts.append(("Last played", HumanText.date(played))) }
            if let pinned = use?.pinned { facts.append(("Pinned", HumanText.date(pinned))) }
            if let licence { facts.append(("Licence", LicenceCommands.sentence(licence))) }
            try context.output.write(text(facts))
            return .done
        }
    }

    @Sendable static func why(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        return try await session.withManager { manager in
            let diagnosis = try await manager.contents.why(key)
            let licence = try await manager.licences.status(of: key)
            if session.wantsJSON {
                let lines =
                    [JSONLine.why(diagnosis, licence: licence)]
                    + diagnosis.attempts.map { JSONLine.attempt($0, key: key) }
                try context.output.write(machine: lines.joined())
                return .done
            }
            var lines: [SafeText] = [
                "\(diagnosis.content.title) (\(key.text)): \(ListCommand.state(diagnosis.content))"
            ]
            let sentences = [diagnosis.what, diagnosis.why, diagnosis.next, diagnosis.remedy].filter { !$0.isEmpty }
            lines += (sentences + diagnosis.notes).map { SafeText($0) }
            if let licence { lines += LicenceCommands.explanation(licence).map { SafeText($0) } }
            if !diagnosis.attempts.isEmpty { lines += ["", "Attempts, latest first:"] }
            lines += attempts(diagnosis.attempts, session)
            try context.output.write(.lines(lines))
            return .done
        }
    }

    @Sendable static func path(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        return try await session.withManager { manager in
            // The path is data for another program: it is printed unchanged.
            try context.writeData(try await manager.contents.path(of: key))
            return .done
        }
    }

    @Sendable static func cat(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try session.keys()[0]
        let asked = command.text("range").flatMap(ByteRangeRequest.init)
        if command.text("range") == nil, context.outputIsTerminal {
            throw UsageError(
                "Media bytes are not written to a terminal; redirect them to a file or a program.", path: ["cat"])
        }
        return try await session.withManager { manager in
            var range: Range<Int64>?
            // If it cannot be read, the read reports why.
            if let asked, let content = try await manager.contents.find(key), content.isPlayable,
                let total = content.totalBytes
            {
                range = asked.resolved(byteCount: total)
                guard range != nil else {
                    throw LectureError(
                        .parameter, detail: "--range begins after the last byte: the lecture has \(total) bytes")
                }
            }
            let output = context.output
            try await manager.contents.read(key, range: range) { bytes in try output.write(bytes) }
            return .done
        }
    }

    // MARK: Text

    private static func facts(_ content: Content, path: String?) -> [(String, String)] {
        let total = content.totalBytes.map { HumanText.byteCount($0) } ?? "unknown"
        let ranges = "\(content.committedChunks) of \(content.totalChunks) verified"
        let digest = content.sha256.map { Hexadecimal.text($0) } ?? ""
        let duration = content.duration.map { HumanText.duration(seconds: $0.milliseconds / 1000) } ?? ""
        let completed = content.completed.map { HumanText.date($0) } ?? ""
        // The type is named, and the texts are made above: the compiler would take half a minute for one expression.
        var facts: [(String, String)] = [
            ("Key", content.key.text), ("Title", content.title), ("State", ListCommand.state(content)),
            ("Type", content.type.name), ("Source", URLText.withoutSecrets(content.sourceURL)),
            ("Course", content.course), ("Teacher", content.teacher), ("Folder", content.folder),
            ("Priority", "\(content.priority)"),
            ("Bytes", "\(HumanText.byteCount(content.committedBytes)) of \(total)"),
            ("Ranges", content.totalChunks == 0 ? "" : ranges), ("SHA-256", digest), ("Playing time", duration),
            ("Added", HumanText.date(content.added)), ("Completed", completed), ("Path", path ?? ""),
        ]
        if let error = content.error { facts.append(("Problem", error.message)) }
        if content.attempts > 0 { facts.append(("Attempts", "\(content.attempts)")) }
        if let next = content.nextAttempt { facts.append(("Next attempt", HumanText.date(next))) }
        return facts.filter { !$0.1.isEmpty }
    }

    private static func text(_ facts: [(name: String, value: String)]) -> SafeText {
        .lines(facts.map { fact in "\(TerminalText.padded("\(fact.name):", to: 14)) \(fact.value)" })
    }

    /// Folds consecutive attempts with the same result into one row with the time of the latest.
    private static func folded(_ attempts: [Attempt]) -> [(attempt: Attempt, count: Int)] {
        var rows: [(attempt: Attempt, count: Int)] = []
        for attempt in attempts {
            if let last = rows.last?.attempt, last.origin == attempt.origin, last.status == attempt.status,
                last.curlCode == attempt.curlCode, last.decision == attempt.decision, last.detail == attempt.detail,
                last.bytes == attempt.bytes
            {
                rows[rows.count - 1].count += 1
            } else {
                rows.append((attempt, 1))
            }
        }
        return rows
    }

    private static func attempts(_ attempts: [Attempt], _ session: CommandSession) -> [SafeText] {
        let table = TableRenderer(columns: [
            .init("TIME"), .init("SERVER", mayShrink: true), .init("STATUS", alignRight: true),
            .init("BYTES", alignRight: true), .init("DECISION"), .init("DETAIL", mayShrink: true),
        ])
        let rows = folded(attempts).map { attempt, count in
            [
                HumanText.date(attempt.at, isTerminal: session.context.outputIsTerminal), attempt.origin,
                attempt.status.map { "\($0)" } ?? (attempt.curlCode == 0 ? "" : "curl \(attempt.curlCode)"),
                HumanText.byteCount(attempt.bytes), attempt.decision,
                count > 1 ? "\(attempt.detail) (\(count) times)" : attempt.detail,
            ]
        }
        guard !rows.isEmpty else { return [] }
        let width = session.context.outputIsTerminal ? session.context.terminalSize().columns : nil
        return table.lines(rows, width: width, style: session.outputStyle)
    }
}
