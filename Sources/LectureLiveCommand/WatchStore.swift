import LectureCommand
import LectureFormats
import LectureKit
import LectureLive
import LectureLiveClient
import LectureLiveOffline
import LectureModel

/// What `watch` does in a store while a lecture is live: keeps it, and reports what is watched.
final class WatchStore: Sendable {
    private let manager: LectureManager
    private let keeper: LiveKeeper?
    private let watch: LiveWatch?

    /// The store that the command line wants; nil when it wants none.
    ///
    /// - Parameters:
    ///   - session: the command, with `--keep` and `--report`.
    ///   - room: a room that is live.
    /// - Returns: an open store; it must be closed.
    /// - Throws: ``UsageError`` without a directory, ``LectureError``.
    static func open(_ session: LiveSession, _ room: VideoRoom) async throws -> WatchStore? {
        let user = session.command.text("report")
        guard session.command.flag("keep") || user != nil else { return nil }
        let manager = try Self.manager(session.command, session.context)
        do {
            let lecture = try LiveLecture(room, host: (try? Origin(url: session.server))?.host ?? "")
            var keeper: LiveKeeper?
            if session.command.flag("keep") {
                keeper = LiveKeeper(lecture, in: manager)
                try await keeper?.keep(room)
            }
            var watch: LiveWatch?
            if let user { watch = try await LiveWatch(manager, lecture: lecture, user: user) }
            return WatchStore(manager, keeper, watch)
        } catch {
            await manager.close()
            throw error
        }
    }

    /// The store that the command line names, with the configuration of `lecturectl`.
    ///
    /// - Parameters:
    ///   - command: the command line.
    ///   - context: the context.
    /// - Returns: an open store.
    /// - Throws: ``UsageError`` without a directory, ``LectureError``.
    static func manager(_ command: ParsedCommand, _ context: CommandContext) throws -> LectureManager {
        guard let directory = command.text("store") else {
            throw UsageError("A store is needed: '--store' or LECTURE_STORE.", path: command.path)
        }
        var settings = LectureConfiguration(storeDirectory: directory)
        if let file = LectureConfiguration.file(in: context.environment) {
            for warning in try settings.apply(file: file) { context.say(warning, .warning) }
        }
        if let device = context.environment["LECTURE_DEVICE"], !device.isEmpty { settings.deviceDirectory = device }
        settings.statistics.delivery = .onDemand
        return try LectureManager(settings)
    }

    private init(_ manager: LectureManager, _ keeper: LiveKeeper?, _ watch: LiveWatch?) {
        (self.manager, self.keeper, self.watch) = (manager, keeper, watch)
    }

    /// There is a picture.
    func plays() async { await watch?.plays() }

    /// There is none.
    func waits() async { await watch?.waits() }

    /// The viewer has left. What is kept is fetched to its end when the room is over.
    ///
    /// - Parameters:
    ///   - isOver: whether the room has ended.
    ///   - session: where it is said what there is.
    /// - Returns: the exit status.
    /// - Throws: ``LectureError`` of the store; it is closed in any case.
    func close(isOver: Bool, _ session: LiveSession) async throws -> ExitStatus {
        do {
            await watch?.ends()
            if let watch {
                for await error in watch.failures { session.say(error.message, .warning) }
            }
            let status = try await keep(isOver: isOver, session)
            await manager.close()
            return status
        } catch {
            await manager.close()
            throw error
        }
    }

    private func keep(isOver: Bool, _ session: LiveSession) async throws -> ExitStatus {
        guard let keeper else { return .done }
        let key = keeper.lecture.key.text
        guard isOver else {
            session.say("\(key) is kept up to here: the same command goes on with it.")
            return .tryAgain
        }
        _ = try await manager.downloads.waitUntilIdle(deadline: .seconds(600))
        switch try await keeper.progress() {
        case .whole:
            session.say("\(key) is kept: 'lecturectl play \(key)'.")
            return .done
        case .incomplete(let error):
            let room = session.room
            session.say(
                "\(key) is not whole: \(error.message) 'lecture-live archive \(room) --wait' has the recording.",
                .warning)
            return .someFailed
        case .underWay, .nothing:
            session.say("\(key) is not whole yet: 'lecture-live archive \(session.room) --wait' has the recording.")
            return .tryAgain
        }
    }
}
