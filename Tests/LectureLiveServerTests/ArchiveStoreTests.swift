import Foundation
import Glibc
import LectureCrypto
import LectureFormats
import LectureLive
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureLiveServer

/// What the store knows of recordings and archives, and a store that knew nothing of them.
struct ArchiveStoreTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func store(_ directory: TemporaryDirectory) throws -> LiveStore {
        try LiveStore(path: directory.file("live.sqlite"), now: Self.start)
    }

    private func member(_ id: String, _ store: LiveStore) throws -> LiveMember {
        var profile = LiveStore.Profile()
        (profile.userID, profile.userName) = (id, id)
        return try store.logIn(profile, now: Self.start, lifetime: .seconds(60)).member
    }

    private static let lecture = JoinedLecture(
        frames: 9, duration: .milliseconds(2500), byteCount: 77, sha256: [UInt8](repeating: 3, count: 32),
        size: (160, 90),
        parts: [
            .init(skipped: .milliseconds(200), duration: .milliseconds(1000)),
            .init(skipped: .zero, duration: .milliseconds(1500)),
        ])

    @Test func `a store of the first version is migrated, and has what it had`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let path = directory.file("live.sqlite")
        let first = try #require(LiveStore.migrator.migrations.first)
        #expect(first.identifier == "0001_create_live_store" && LiveStore.migrator.migrations.count == 2)
        do {
            let old = try Connection(path: path, access: .create)
            _ = try Migrator(applicationID: LiveStore.migrator.applicationID, migrations: [first])
                .migrate(old, now: Self.start)
            try old.run(
                script: """
                    INSERT INTO secret VALUES (1, zeroblob(32));
                    INSERT INTO member VALUES (1, 'kim', 'Kim', '', '', '', '{}', 1, 1);
                    INSERT INTO room(id, uuid, member_id, state, title, description, created_ms, modified_ms,
                        live_started_ms, live_ended_ms) VALUES (5, 'u-5', 1, 4, 'Algebra', '', 1, 1, 2, 3);
                    INSERT INTO session(member_id, room_id, number, name, began_ms, playable_ms, ended_ms)
                        VALUES (1, 5, 1, 'one', 1, 2, 3);
                    """)
        }
        let store = try store(directory)
        let room = try #require(try store.room(5))
        #expect(room.title == "Algebra" && room.archive == .none && room.archiveReason == nil)
        #expect(try store.archives.recordings(of: 5).isEmpty && store.archives.neededRecordings().isEmpty)
        #expect(try store.archives.archive(of: 5) == nil && store.archives.archivingRooms().isEmpty)
        #expect(try store.archives.timeline(of: 5).parts.isEmpty)
        // Opened once more, it is as it was.
        #expect(try self.store(directory).room(5) == room)
        let digests = try LiveStore.migrator.migrations.map { migration in
            (migration.sha256, Hexadecimal.text(try Disk.sha256(Array(migration.sql.utf8))))
        }
        for (stated, actual) in digests { #expect(stated == actual) }
    }

    @Test func `only recordings that belong to a lecture are needed`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let store = try store(directory)
        let host = try member("host", store)
        let id = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        func session(_ name: String, from: Int64, to: Int64?, isPlayable: Bool = true, isRecorded: Bool = true) throws {
            var room = try store.openRoom(of: host.id)
            try store.beginSession(host.id, &room, name: name, now: Self.start + .seconds(from))
            if let room { try store.update(room, now: Self.start) }
            if isRecorded { try store.archives.setRecorded(name, now: Self.start + .seconds(from)) }
            if isPlayable, let open = try store.openSession(of: host.id) {
                try store.setPlayable(open, now: Self.start + .seconds(from + 1))
            }
            if let to { try store.endSession(of: host.id, now: Self.start + .seconds(to)) }
        }
        try session("rehearsal", from: 0, to: 5)
        #expect(try store.archives.neededRecordings().isEmpty, "the room has not started")
        try session("first", from: 10, to: nil)
        #expect(try store.archives.neededRecordings() == ["first"], "it goes on")
        var room = try #require(try store.room(id))
        // A clock that is set back meanwhile does no harm.
        (room.state, room.liveStartedAt) = (.live, Self.start + .seconds(1000))
        try store.update(room, now: Self.start)
        try store.archives.setStart(of: id, session: room.lastSession)
        try store.endSession(of: host.id, now: Self.start + .seconds(20))
        try session("broken", from: 21, to: 22, isPlayable: false)
        try session("unrecorded", from: 23, to: 25, isRecorded: false)
        try session("second", from: 30, to: 40)
        #expect(try store.archives.recordings(of: id).map(\.name) == ["first", "second"])
        let needed: Set = ["first", "broken", "unrecorded", "second"]
        #expect(try store.archives.neededRecordings() == needed)
        room = try #require(try store.room(id))
        (room.state, room.liveEndedAt) = (.ended, Self.start + .seconds(41))
        try store.update(room, now: Self.start)
        let states: [(ArchiveState, Set<String>)] = [
            (.none, []), (.archiving, needed), (.failed, needed), (.archived, []),
        ]
        for (state, names) in states {
            try store.archives.setArchive(state, of: id, reason: state == .failed ? "why" : nil)
            #expect(try store.archives.neededRecordings() == names, "\(state)")
            #expect(try store.room(id)?.archiveReason == (state == .failed ? "why" : nil))
            #expect(try store.archives.archivingRooms() == (state == .archiving ? [id] : []))
            #expect(try store.archives.neededArchives() == (state == .archiving ? [room.uuid] : []))
        }
        try store.archives.setArchive(.failed, of: id)
        try store.deleteRoom(id)
        #expect(try store.archives.neededRecordings().isEmpty)
    }

    @Test func `a lecture is kept with its timeline, and remembered when its room or its owner goes`() throws {
        for isOwner in [false, true] {
            let directory = try TemporaryDirectory.inMemory()
            let store = try store(directory)
            let host = try member("host", store)
            let id = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
            var room = try store.room(id)
            for (place, name) in ["one", "two"].enumerated() {
                let began = Self.start + .seconds(10 * place)
                try store.beginSession(host.id, &room, name: name, now: began)
                try store.archives.setRecorded(name, now: began)
                if let open = try store.openSession(of: host.id) { try store.setPlayable(open, now: began) }
                try store.endSession(of: host.id, now: began + .seconds(5))
            }
            var ended = try #require(room)
            (ended.state, ended.liveStartedAt) = (.ended, Self.start)
            try store.update(ended, now: Self.start)
            try store.archives.setStart(of: id, session: 1)
            let recordings = try store.archives.recordings(of: id)
            #expect(recordings.count == 2)
            let key = [UInt8](repeating: 1, count: 40)
            try store.transaction {
                try store.archives.keep(
                    Self.lecture, of: ended, wrappedKey: key, recordings: recordings, now: Self.start + .seconds(60))
            }
            let archive = try #require(try store.archives.archive(of: id))
            #expect(archive.wrappedKey == key && archive.byteCount == 77 && archive.uuid == ended.uuid)
            #expect(archive.duration == .milliseconds(2500) && (archive.width, archive.height) == (160, 90))
            #expect(archive.archivedAt == Self.start + .seconds(60) && archive.sha256 == Self.lecture.sha256)
            #expect(
                try store.archives.timeline(of: id).parts == [
                    .init(start: Self.start + .milliseconds(200), duration: .milliseconds(1000)),
                    .init(start: Self.start + .seconds(10), duration: .milliseconds(1500)),
                ])
            #expect(try store.archives.neededArchives() == [ended.uuid] && !store.archives.isDeletedArchive(ended.uuid))
            // Twice is an error, and changes nothing.
            #expect(throws: LectureError.self) {
                try store.transaction {
                    try store.archives.keep(Self.lecture, of: ended, wrappedKey: key, recordings: [], now: Self.start)
                }
            }
            if isOwner { try store.delete(host.id) } else { try store.deleteRoom(id) }
            #expect(try store.archives.archive(of: id) == nil && store.archives.neededArchives().isEmpty)
            #expect(try store.archives.isDeletedArchive(ended.uuid) && !store.archives.isDeletedArchive("other"))
        }
    }

    @Test func `chat is what people said and what is not hidden`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let store = try store(directory)
        let host = try member("host", store)
        let id = try store.createRoom(host.id, title: "", description: "", scheduledAt: nil, now: Self.start)
        func say(_ text: String, _ origin: LiveMessage.Origin) throws -> Int64 {
            var message = StoredMessage(channelID: id, sentAt: Self.start, origin: origin)
            message.text = text
            return try store.append(message).number
        }
        #expect(try !store.archives.hasChat(id))
        _ = try say("", .member)
        _ = try say("joined", .system)
        #expect(try !store.archives.hasChat(id))
        let number = try say("hello", .member)
        #expect(try store.archives.hasChat(id))
        #expect(try store.hide(number, in: id, now: Self.start) && !store.archives.hasChat(id))
        _ = try say("welcome", .app)
        #expect(try store.archives.hasChat(id))
    }
}

/// What waits for recordings to be closed, without nginx.
@Suite(.timeLimit(.minutes(1)))
struct ArchiveWaitTests {
    /// Archives of a state directory, on a clock that a test moves; the process is the real one.
    private struct Desk {
        let clock = StageClock()
        let log = StageLog()
        let store: LiveStore
        let archives: LiveArchives

        init(_ room: EndedRoom, isOn: Bool = true) throws {
            let state = room.directory.file("state")
            let credentials = try #require(LiveCredentials(LiveStage.credentials))
            var options = LiveOptions(stateDirectory: state, credentials: credentials)
            let (clock, log) = (clock, log)
            (options.now, options.log, options.archives.isOn) = ({ clock.now }, log.log, isOn)
            options.archives.joinProgram = Places.builtProduct("lecture-live-server")
            store = try LiveStore(path: "\(state)/live.sqlite", now: clock.now)
            archives = try LiveArchives(store, options, LiveKeys(options)) { room, _ in
                log.log.note("ended") { $0.member("room", room) }
            }
        }
    }

    @Test func `joining waits until nginx has closed the last recording`() async throws {
        let room = try await EndedRoom([TestRecording(), TestRecording()])
        let desk = try Desk(room)
        for name in room.names { try desk.archives.began(name) }
        try desk.archives.advance()
        for name in room.names {
            #expect(desk.log.events.isEmpty, "\(name) is open")
            desk.archives.isOver(name)
            try desk.archives.advance()
            try desk.archives.closed(name)
        }
        await desk.log.wait(for: "ended")
        #expect(desk.log.events == ["archiving", "ended"])
        // A report that belongs to nothing changes nothing.
        try desk.archives.finished(room.id + 1, .died)
        #expect(try desk.store.room(room.id)?.archive == .archiving)
    }

    @Test func `a report that is lost is waited for ten seconds, and no feed that goes on is given up`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let desk = try Desk(room)
        try desk.archives.began(room.names[0])
        desk.clock.advance(.seconds(3600))
        try desk.archives.tidy()
        #expect(desk.log.events.isEmpty, "its feed goes on")
        desk.archives.isOver(room.names[0])
        desk.clock.advance(.seconds(10))
        try desk.archives.tidy()
        #expect(desk.log.events.isEmpty)
        desk.clock.advance(.milliseconds(1))
        try desk.archives.tidy()
        await desk.log.wait(for: "ended")
        #expect(desk.log.events == ["archiving", "ended"])
    }

    @Test func `a media server that is gone has closed everything, and nothing starts after the end`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let desk = try Desk(room)
        try desk.archives.began(room.names[0])
        await desk.archives.close().stop()
        try desk.archives.allClosed()
        #expect(desk.log.events.isEmpty && desk.archives.isIdle)
        let other = try Desk(room)
        try other.archives.began(room.names[0])
        try other.archives.allClosed()
        await other.log.wait(for: "ended")
        #expect(other.log.events == ["archiving", "ended"])
    }

    @Test func `without archives nothing is recorded, and a room that ends is not archived`() async throws {
        let room = try await EndedRoom([TestRecording()])
        let desk = try Desk(room, isOn: false)
        let stored = try #require(try desk.store.room(room.id))
        try desk.archives.began("another")
        try desk.store.archives.setArchive(.none, of: room.id)
        let ended = try #require(try desk.store.room(room.id))
        try desk.archives.end(ended, isTerminated: false)
        #expect(try desk.store.room(room.id)?.archive == ArchiveState.none && stored.archive == .archiving)
        try desk.archives.sweep()
        #expect(try room.files("recordings").isEmpty && desk.log.events.isEmpty)
    }
}
