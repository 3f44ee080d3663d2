import LectureKit
import LectureModel

/// `lecturectl verify`.
enum VerifyCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            var run = VerifyRun(manager: manager, session: session)
            if command.flag("all") {
                var filter = ContentFilter()
                filter.states = [.completed]
                // A repair takes a content out of this list, so the list is taken whole before the first one.
                var keys: [ContentKey] = []
                try await ContentPages(manager: manager, filter: filter, sort: .added).forEachPage {
                    keys += $0.map(\.key)
                }
                try await run.verify(keys)
            } else {
                try await run.verify(try session.keys())
            }
            return try await run.finish()
        }
    }
}

/// One run over some contents.
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
                let report = try await manager.verify(key, options)
                if report.damaged.isEmpty { sound += 1 } else { damaged.append(key) }
                try tell(report)
            } catch let error as LectureError
                where [.unknownContent, .notComplete, .readFile, .alreadyDownloading].contains(error.code)
            {
                failed += 1
                try session.report(error, key: key)
            }
        }
    }

    /// Waits for repairs and says the result.
    func finish() async throws -> ExitStatus {
        var left = damaged.count
        if session.command.flag("repair"), !damaged.isEmpty {
            await manager.untilRest()
            left = 0
            for key in damaged where try await manager.content(key)?.state != .completed {
                left += 1
                session.context.say(
                    "\(key.text): the damaged parts could not be fetched yet; run 'lecturectl precache'.")
            }
        }
        let mended = damaged.count - left
        session.tell("\(sound) sound, \(mended) repaired, \(left) damaged, \(failed) not verified.")
        if left > 0 { return .data }
        return failed > 0 ? .someFailed : .done
    }

    private func tell(_ report: VerifyReport) throws {
        for damage in report.damaged {
            // An empty file has no bytes that could be named.
            let range = "bytes \(damage.firstByte)-\(damage.firstByte + damage.byteCount - 1) of its "
            let what = damage.byteCount > 0 ? range : "the empty file of its "
            let verb = damage.byteCount > 0 ? "are" : "is"
            session.context.say("\(report.key.text): \(what)\(damage.role.name) \(verb) damaged.")
        }
        if session.wantsJSON { try session.context.output.write(JSONLine.verified(report)) }
    }
}
