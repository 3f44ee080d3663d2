import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl verify`.
enum VerifyCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var run = VerifyRun(manager: manager, session: session)
            if command.flag("all") {
                var filter = ContentFilter()
                filter.states = [.completed]
                filter.conditions = [.damaged]
                // A repair takes a lecture out of this list, so the whole list is read before the first one.
                try await run.verify(try await ContentPages(manager: manager, filter: filter, sort: .added).keys())
            } else {
                try await run.verify(try session.keys())
            }
            return try await run.finish()
        }
    }
}

/// Bytes of a file that differ from those that were downloaded.
private struct DamagedRange {
    let role: ResourceRole
    let start: Int64
    /// The byte after the last one.
    var end: Int64
}

/// One run over some lectures.
private struct VerifyRun {
    let manager: LectureManager
    let session: CommandSession
    var sound = 0
    var failed = 0
    var damaged: [ContentKey] = []

    init(manager: LectureManager, session: CommandSession) {
        self.manager = manager
        self.session = session
    }

    private var options: VerifyOptions {
        var options = VerifyOptions()
        options.repairs = session.command.flag("repair")
        options.samplePercent = Double(session.command.integer("sample") ?? 100)
        options.bytesPerSecond = session.command.rate("rate").map { Int($0) }
        return options
    }

    mutating func verify(_ keys: [ContentKey]) async throws {
        for key in keys {
            do {
                let report = try await manager.contents.verify(key, options: options)
                if report.damaged.isEmpty { sound += 1 } else { damaged.append(key) }
                try show(report)
            } catch let error as LectureError
                where [.unknownContent, .notComplete, .readFile, .alreadyDownloading].contains(error.code)
            {
                failed += 1
                try session.report(error, key: key)
            }
        }
    }

    /// Merges adjacent damage into one range.
    private static func ranges(_ damage: [VerifyReport.Damage]) -> [DamagedRange] {
        var ranges: [DamagedRange] = []
        for piece in damage {
            if let last = ranges.last, last.role == piece.role, last.end == piece.firstByte, piece.byteCount > 0 {
                ranges[ranges.count - 1].end += piece.byteCount
            } else {
                ranges.append(
                    DamagedRange(role: piece.role, start: piece.firstByte, end: piece.firstByte + piece.byteCount))
            }
        }
        return ranges
    }

    /// The position of a range; an empty file has none.
    private static func place(_ range: DamagedRange) -> String {
        guard range.end > range.start else { return "" }
        let (start, end) = (HumanText.mebibytes(range.start), HumanText.mebibytes(range.end))
        return " at \(start)–\(end) MiB (bytes \(range.start)–\(range.end - 1))"
    }

    /// Waits for repairs and reports the result.
    func finish() async throws -> ExitStatus {
        var left = damaged.count
        if session.command.flag("repair"), !damaged.isEmpty {
            try await manager.downloads.waitUntilIdle()
            left = 0
            for key in damaged where try await manager.contents.find(key)?.state != .completed {
                left += 1
                session.context.say(
                    "\(key.text): the damaged parts could not be downloaded yet; run 'lecturectl precache'.", .warning)
            }
        }
        let repaired = damaged.count - left
        session.report("\(sound) sound, \(repaired) repaired, \(left) damaged, \(failed) not verified.")
        if left > 0 { return .data }
        return failed > 0 ? .someFailed : .done
    }

    private func show(_ report: VerifyReport) throws {
        if let fault = report.mediaFault {
            session.context.say("\(report.key.text): its media file is missing or was cut short (\(fault.cause)).")
        }
        for range in Self.ranges(report.damaged) where report.mediaFault == nil || range.role != .media {
            session.context.say("\(report.key.text): \(range.role.name) file damaged\(Self.place(range)).")
        }
        if session.wantsJSON { try session.context.output.write(machine: JSONLine.verified(report)) }
    }
}
