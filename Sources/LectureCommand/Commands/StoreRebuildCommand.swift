import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl store rebuild`.
enum StoreRebuildCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let lists = try await DigestLists(reading: command.arguments, session)
        return try await session.withManager { manager in
            var run = RebuildRun(manager: manager, session: session, lists: lists)
            for file in try await manager.contents.keptFiles() { try await run.rebuild(file) }
            return try await run.finish()
        }
    }
}

/// The lectures of course lists that have a digest.
private struct DigestLists: Sendable {
    /// By digest; the first of several counts. Nil when no list was given.
    private(set) var lectures: [[UInt8]: DownloadRequest]?
    /// How many lines could not be read.
    private(set) var unreadable = 0

    /// Reads the lists. A line that cannot be read is reported, and the others are used.
    init(reading paths: [String], _ session: CommandSession) async throws {
        guard !paths.isEmpty else { return }
        var (lectures, count, unreadable): ([[UInt8]: DownloadRequest], Int, Int) = ([:], 0, 0)
        for path in paths {
            try await CourseList.read(path) { lines in
                for line in lines {
                    switch line {
                    case .issue(let error):
                        unreadable += 1
                        try session.report(error)
                    case .warning(let warning): try session.report(warning)
                    case .lecture(let request, _):
                        count += 1
                        if let sha256 = request.sha256, lectures[sha256] == nil { lectures[sha256] = request }
                    }
                }
            }
        }
        if lectures.count < count {
            session.context.say(
                "\(count - lectures.count) of \(count) listed lectures have no digest of their own.", .warning)
        }
        (self.lectures, self.unreadable) = (lectures, unreadable)
    }

    /// The lecture of a digest; nil when no list was given.
    var lookup: (@Sendable ([UInt8]) -> DownloadRequest?)? {
        guard let lectures else { return nil }
        return { lectures[$0] }
    }
}

/// One run over the kept files.
private struct RebuildRun {
    let manager: LectureManager
    let session: CommandSession
    let lists: DigestLists
    private var counts: [String: Int] = [:]
    private var unusable: [KeptFile] = []
    private var failed = 0

    init(manager: LectureManager, session: CommandSession, lists: DigestLists) {
        (self.manager, self.session, self.lists) = (manager, session, lists)
    }

    mutating func rebuild(_ file: KeptFile) async throws {
        let rebuilt: RebuiltFile
        do {
            rebuilt = try await manager.contents.rebuild(file, listed: lists.lookup)
        } catch let error as LectureError where Self.concernsOneFile(error.code) {
            failed += 1
            return try session.report(error)
        }
        counts[rebuilt.outcome.name, default: 0] += 1
        if rebuilt.outcome.isUnusable { unusable.append(file) }
        if session.wantsJSON {
            return try session.context.output.write(machine: JSONLine.rebuilt(rebuilt))
        }
        session.report("\(file.path): \(Self.sentence(rebuilt.outcome))")
    }

    private static func concernsOneFile(_ code: LectureError.Code) -> Bool {
        [.readFile, .damaged, .storeBusy, .urlInvalid, .urlScheme, .playlistUnsupported, .headerInvalid]
            .contains(code)
    }

    private static func sentence(_ outcome: RebuildOutcome) -> String {
        switch outcome {
        case .recorded(let key): "recorded as \(key.text)"
        case .present(let key): "not needed, \(key.text) is complete without it"
        case .licensed(let key): "not usable, \(key.text) needs a licence and has to be downloaded again"
        case .unlisted: "media, but with the digest of no listed lecture"
        case .sealed: "sealed, or no media"
        case .partial: "a download that had not ended"
        case .companion: "a subtitle or a picture"
        case .stream: "a part of an adaptive lecture"
        }
    }

    /// Deletes what is unusable, if requested, and reports the result.
    func finish() async throws -> ExitStatus {
        let (recorded, unlisted) = (counts["recorded"] ?? 0, counts["unlisted"] ?? 0)
        guard recorded + unusable.count + unlisted + failed > 0 else {
            session.report("There is nothing to rebuild: every media file belongs to a lecture.")
            return lists.unreadable > 0 ? .someFailed : .done
        }
        let bytes = unusable.reduce(0) { $0 + $1.bytes }
        let deleted = session.command.flag("delete-unusable") ? try await manager.contents.deleteKept(unusable) : 0
        let left = unusable.count - deleted
        session.report(
            "\(recorded) recorded, \(unlisted) not listed, \(left) unusable, \(deleted) deleted, \(failed) not read.")
        if left > 0 {
            session.context.say(
                "The unusable files have \(HumanText.byteCount(bytes)). Put the lost database back to use them, or "
                    + "delete them with 'lecturectl store rebuild --delete-unusable'.", .warning)
        }
        if unlisted > 0 {
            session.context.say(
                "Without a list, 'lecturectl store rebuild' records those that are not listed under keys of their own.",
                .information)
        }
        return left + unlisted + failed + lists.unreadable > 0 ? .someFailed : .done
    }
}
