import LectureKit
import LectureModel
import LectureRecords

/// `lecturectl bookmark`.
enum BookmarkCommands {
    private static let columns: [TableRenderer.Column] = [
        .init("POSITION", alignRight: true), .init("KIND"), .init("STATE"), .init("TEXT", mayShrink: true),
    ]

    @Sendable static func list(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let (key, user) = (try ContentKey(command.arguments[0]), command.text("user"))
        return try await session.withManager { manager in
            let bookmarks = try await manager.bookmarks.list(of: key, user: user)
            if session.wantsJSON {
                try context.output.write(machine: bookmarks.map { JSONLine.bookmark(key, $0) }.joined())
            } else if bookmarks.isEmpty {
                session.report("The lecture has no bookmarks.")
            } else {
                let rows = bookmarks.map { bookmark in
                    [
                        PlayPosition.text(bookmark.position), bookmark.kind.rawValue,
                        bookmark.isWaiting ? "waiting" : "", bookmark.kind == .user ? bookmark.value : bookmark.label,
                    ]
                }
                let width = context.outputIsTerminal ? context.terminalSize().columns : nil
                let lines = TableRenderer(columns: columns).lines(rows, width: width, style: session.outputStyle)
                try context.output.write(.lines(lines))
            }
            return .done
        }
    }

    @Sendable static func add(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try ContentKey(command.arguments[0])
        let (position, user) = (PlayPosition.read(command.arguments[1]) ?? .zero, command.text("user"))
        let text = command.arguments.count > 2 ? command.arguments[2] : ""
        return try await session.withManager { manager in
            try await manager.bookmarks.add(text, at: position, to: key, user: user)
            return .done
        }
    }

    @Sendable static func remove(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let key = try ContentKey(command.arguments[0])
        let (positions, user) = (command.arguments.dropFirst().compactMap(PlayPosition.read), command.text("user"))
        return try await session.withManager { manager in
            var status = ExitStatus.done
            for position in positions {
                do { try await manager.bookmarks.remove(at: position, from: key, user: user) } catch let error
                    as LectureError
                {
                    guard error.code == .bookmarkMissing || error.code == .bookmarkOfTeacher else { throw error }
                    try session.report(error, key: key)
                    status = .someFailed
                }
            }
            return status
        }
    }

    @Sendable static func sync(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let (named, user) = (try session.keys(), command.text("user"))
        return try await session.withManager { manager in
            var lists = named.map { (key: $0, user: user) }
            if named.isEmpty {
                lists = try await manager.bookmarks.waiting().filter { user == nil || $0.user == user }.map { ($0, $1) }
                if lists.isEmpty { session.report("No changes wait.") }
            }
            var status = ExitStatus.done
            for (key, user) in lists {
                do {
                    let result = try await manager.bookmarks.sync(key, user: user)
                    try show(result, key, session)
                    if result.waiting > 0 { status = .tryAgain }
                } catch let error as LectureError {
                    guard lists.count > 1 else { throw error }
                    try session.report(error, key: key)
                    status = .someFailed
                }
            }
            return status
        }
    }

    private static func show(_ result: BookmarkSync, _ key: ContentKey, _ session: CommandSession) throws {
        if session.wantsJSON {
            try session.context.output.write(machine: JSONLine.bookmarkSync(key, result))
        } else {
            let waiting = result.waiting > 0 ? ", \(result.waiting) waiting" : ""
            session.report("\(key.text): \(result.sent) sent\(waiting), \(result.bookmarks.count) bookmarks.")
        }
    }
}
