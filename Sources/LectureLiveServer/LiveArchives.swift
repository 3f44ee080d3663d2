import Glibc
import LectureCrypto
import LectureFiles
import LectureFormats
import LectureLive
import LectureModel

/// Makes lectures of rooms that have ended, one at a time, as ``ArchiveMachine`` decides. Part of ``LiveService``, on
/// its actor.
///
/// ```
/// recordings/NAME.flv ──joined and sealed by another process──▶ archive/UUID.sealed
///      └──deleted once the lecture and its key are in the store──┘
/// ```
final class LiveArchives {
    /// How long a recording may be open after its feed, should the report of its end be lost.
    private static let patience = Duration.seconds(10)

    private let store: LiveStore
    private let options: LiveOptions
    private let keys: LiveKeys
    private let joiner: ArchiveJoiner
    /// Called with the room when the process has ended, on any thread.
    private let done: @Sendable (Int64, ArchiveJoiner.Outcome) -> Void
    /// What is under way, by room; others are as the store has them.
    private var machines: [Int64: ArchiveMachine] = [:]
    private var queue: [Int64] = []
    private var running: (room: Int64, key: SecretBytes, recordings: [StoredRecording])?
    private var isEnding = false
    /// Names of recordings that nginx writes, each with when its feed was over.
    private var open: [String: Timestamp?] = [:]

    init(
        _ store: LiveStore, _ options: LiveOptions, _ keys: LiveKeys,
        done: @escaping @Sendable (Int64, ArchiveJoiner.Outcome) -> Void
    ) {
        (self.store, self.options, self.keys, self.done) = (store, options, keys, done)
        let (log, started) = (options.log, options.archives.joinStarted)
        joiner = ArchiveJoiner(program: options.archives.joinProgram ?? ArchiveJoiner.ownProgram) { process in
            log.note("archiving") { $0.member("process", Int(process)) }
            started?(process)
        }
    }

    /// Where nginx writes recordings, in clear.
    private var recordings: String { "\(options.stateDirectory)/recordings" }
    /// Where sealed lectures are.
    private var directory: String { "\(options.stateDirectory)/archive" }

    /// Whether no process joins, for tests.
    var isIdle: Bool { running == nil }

    // MARK: Recordings

    /// The media server begins to record.
    func began(_ name: String) throws {
        guard options.archives.isOn else { return }
        open[name] = .some(nil)
        try store.archives.setRecorded(name, now: options.now())
    }

    /// The feed of a recording is over; that it is closed is reported apart.
    func isOver(_ name: String) { if open[name] != nil { open[name] = options.now() } }

    /// The media server has closed a recording.
    func closed(_ name: String) throws {
        open[name] = nil
        try sweep()
        try advance()
    }

    /// The media server is gone: nothing is open.
    func allClosed() throws {
        open = [:]
        try advance()
    }

    // MARK: Rooms

    /// A room ends: in the transaction that stores it.
    ///
    /// - Parameters:
    ///   - room: the room.
    ///   - isTerminated: whether the application's server has ended it.
    /// - Throws: errors of the store.
    func end(_ room: StoredRoom, isTerminated: Bool) throws {
        var machine = ArchiveMachine(room.archive)
        let hasMedia = try options.archives.isOn && !store.archives.recordings(of: room.id).isEmpty
        // What it wants to be deleted is what no room needs: `sweep` finds it.
        _ = try machine.take(isTerminated ? .terminated : .ended(hasMedia: hasMedia))
        try store.archives.setArchive(machine.state, of: room.id)
    }

    /// Begins what waits, as far as it can.
    func advance() throws {
        for room in try store.archives.archivingRooms() where machines[room]?.work ?? .waiting == .waiting {
            let names = try store.archives.recordings(of: room).map(\.name)
            guard names.allSatisfy({ open[$0] == nil }) else { continue }
            try take(.closed, room, from: .archiving)
        }
        next()
    }

    /// Does again what a former process has left, and deletes what it did not.
    func recover() throws {
        for room in try store.archives.archivingRooms() { try take(.restarted, room, from: .archiving) }
        try sweep()
        next()
    }

    /// Tries again what has failed.
    ///
    /// - Parameter room: the room.
    /// - Throws: ``LiveRefusal``, and errors of the store.
    func retry(_ room: StoredRoom) throws {
        do throws(ArchiveMachine.Refusal) {
            var machine = machines[room.id] ?? ArchiveMachine(room.archive)
            let actions = try machine.take(.retry)
            machines[room.id] = machine
            if actions.contains(.join) { queue.append(room.id) }
        } catch {
            throw LiveRefusal(400, error.rawValue, "Only an archive that has failed can be tried again.")
        }
        try store.archives.setArchive(.archiving, of: room.id)
        next()
    }

    /// Rooms were deleted, by themselves or with their owner, or ended without an archive.
    func roomsChanged() throws {
        for room in Array(machines.keys) where try store.room(room) == nil { try take(.deleted, room, from: .none) }
        try sweep()
    }

    // MARK: Work

    private func take(_ event: ArchiveMachine.Event, _ room: Int64, from state: ArchiveState) throws {
        var machine = machines[room] ?? ArchiveMachine(state)
        let actions = try machine.take(event)
        machines[room] = machine.isGone ? nil : machine
        for action in actions {
            switch action {
            case .join: queue.append(room)
            case .stopJoining where running?.room == room: joiner.cancel()
            case .stopJoining: queue.removeAll { $0 == room }
            case .keepLecture, .discardRecordings, .discardLecture: break
            }
        }
    }

    /// Starts the next one, when none is under way.
    private func next() {
        while running == nil, !isEnding, !queue.isEmpty {
            let id = queue.removeFirst()
            do {
                // It may be deleted meanwhile.
                guard let room = try store.room(id) else { continue }
                let parts = try store.archives.recordings(of: id)
                let key = try SecretBytes.random(LiveKeys.length)
                let order = JoinOrder(
                    content: VideoRoom.contentKey(room.uuid), directory: directory, name: "\(room.uuid).sealed",
                    inputs: parts.map { "\(recordings)/\($0.name).flv" }, key: key)
                running = (id, key, parts)
                let done = done
                joiner.start(order) { done(id, $0) }
            } catch { fail(id, error) }
        }
    }

    /// The process has ended.
    func finished(_ id: Int64, _ outcome: ArchiveJoiner.Outcome) throws {
        guard let running, running.room == id else { return }
        self.running = nil
        defer { next() }
        guard let room = try store.room(id), machines[id] != nil else { return try sweep() }
        switch outcome {
        case .reported(.joined(let lecture)):
            guard lecture.parts.count == running.recordings.count else {
                return fail(id, LectureError(.bug, detail: "the report of joining"))
            }
            do {
                let wrapped = try KeyWrap.wrap(running.key, with: keys.wrapping)
                try store.transaction {
                    try store.archives.keep(
                        lecture, of: room, wrappedKey: wrapped, recordings: running.recordings, now: options.now())
                }
            } catch { return fail(id, error) }
            try take(.joined, id, from: .archiving)
            machines[id] = nil
            // Reported when nothing is in clear any more, as far as it can be deleted.
            do { try sweep() } catch { options.log.failure("tidy_archives", error) }
            options.log.note("archived") { json in
                json.member("room", id)
                json.member("bytes", lecture.byteCount)
                json.member("durationMs", lecture.duration.milliseconds)
            }
        case .reported(.failed(let message)): try failed(id, .failed, message)
        case .died:
            try failed(id, .died, "The process that joins the recordings has died \(ArchiveMachine.mostDeaths) times.")
        case .stopped: break
        }
    }

    private func failed(_ id: Int64, _ event: ArchiveMachine.Event, _ message: String) throws {
        try take(event, id, from: .archiving)
        let hasFailed = machines[id]?.state == .failed
        options.log.note(hasFailed ? "archive_failed" : "archive_interrupted") { json in
            json.member("room", id)
            json.member("code", event == .died ? "join_died" : "not_joinable")
            json.member("message", hasFailed ? message : "The process that joins the recordings has died.")
        }
        guard hasFailed else { return }
        machines[id] = nil
        try store.archives.setArchive(.failed, of: id, reason: message)
    }

    /// This program failed, and not the recordings.
    private func fail(_ id: Int64, _ error: any Error) {
        options.log.failure("archive_failed", error)
        running = nil
        let message = (error as? LectureError)?.message ?? "The server cannot do this now."
        do {
            machines[id] = nil
            try store.archives.setArchive(.failed, of: id, reason: message)
        } catch { options.log.failure("archive_failed", error) }
    }

    /// Begins no further work; the next server does what is left.
    ///
    /// - Returns: what is still at work, and has to be stopped.
    func close() -> ArchiveJoiner {
        isEnding = true
        return joiner
    }

    // MARK: Files

    /// Opens the media of a lecture.
    ///
    /// - Parameter archive: the lecture.
    /// - Returns: a reader.
    /// - Throws: `LectureError`: `damaged`, `readFile`, `cryptography`.
    func media(_ archive: StoredArchive) throws -> SealedMedia {
        guard let key = try KeyWrap.unwrap(archive.wrappedKey, with: keys.wrapping) else {
            throw LectureError(.damaged, detail: archive.uuid, cause: "its key was wrapped with another archive key")
        }
        let cipher = try SealedContent(key, content: VideoRoom.contentKey(archive.uuid))
        return try SealedMedia("\(directory)/\(archive.uuid).sealed", byteCount: archive.byteCount, cipher)
    }

    /// Deletes recordings and lectures that no room needs, and what processes that were killed have left.
    func sweep() throws {
        let needed = try store.archives.neededRecordings()
        for file in try DirectoryReader.names(of: recordings) {
            let name = file.hasSuffix(".flv") ? String(file.dropLast(4)) : file
            if !needed.contains(name) { unsafe unlink("\(recordings)/\(file)") }
        }
        let kept = try store.archives.neededArchives()
        var working: String?
        if let room = running?.room { working = try store.room(room)?.uuid }
        for file in try DirectoryReader.names(of: directory) {
            let name = file.split(separator: ".").first.map(String.init) ?? ""
            let isNeeded = file == "\(name).sealed" ? kept.contains(name) : name == working
            if !isNeeded { unsafe unlink("\(directory)/\(file)") }
        }
    }

    /// Does that, and gives up waiting for reports that were lost.
    func tidy() throws {
        let now = options.now()
        for (name, over) in open { if let over, over + Self.patience < now { open[name] = nil } }
        try advance()
        try sweep()
    }
}
