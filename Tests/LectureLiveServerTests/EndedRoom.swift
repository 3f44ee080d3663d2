import Foundation
import Glibc
import LectureCrypto
import LectureFormats
import LectureLive
import LectureModel
import LectureTestSupport

@testable import LectureLiveServer

/// A recording, as ffmpeg makes it from a test picture.
struct TestRecording {
    /// As ffmpeg names it, for instance `160x90`.
    var size = "160x90"
    var seconds = 2
    /// Without loss and with noise, so that it is long in bytes: about 3 MB a second.
    var isLarge = false
    /// How often the whole is repeated after itself.
    var repeated = 0

    /// Writes it as FLV.
    func write(to path: String) async throws {
        let picture = "testsrc=size=\(size):rate=10" + (isLarge ? ",noise=alls=100:allf=t" : "")
        let quality = isLarge ? ["-qp", "0"] : []
        let first = repeated > 0 ? path + ".first.flv" : path
        let made = try await ChildProcess.run(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine", "-t",
                "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p",
            ] + quality + ["-c:a", "aac", "-f", "flv", first])
        guard made.status == 0 else { throw StageFailure(description: made.errorText) }
        guard repeated > 0 else { return }
        let again = try await ChildProcess.run(
            Places.command("ffmpeg"),
            [
                "-nostdin", "-v", "error", "-y", "-stream_loop", "\(repeated)", "-i", first, "-c", "copy", "-f", "flv",
                path,
            ])
        try Disk.delete(first)
        guard again.status == 0 else { throw StageFailure(description: again.errorText) }
    }
}

/// The state of a server that was killed after a host had ended a room: the recordings are there, and the lecture is
/// not begun. Its clock is at the start of ``StageClock``.
struct EndedRoom {
    let directory: TemporaryDirectory
    let id: Int64
    let uuid: String
    let names: [String]

    /// Makes it. Session *n* began 100 − 10 *n* seconds ago, is recorded from 1 s later on, and over 3 s after that.
    ///
    /// - Parameters:
    ///   - recordings: one for each session.
    ///   - messages: what the host wrote, each with when, in milliseconds from now.
    /// - Throws: what ffmpeg and the store throw.
    init(_ recordings: [TestRecording], messages: [(String, Int64)] = []) async throws {
        directory = try TemporaryDirectory.inMemory()
        let state = try StateLock.prepare(directory.file("state"))
        names = recordings.indices.map { "session-\($0 + 1)" }
        for (recording, name) in zip(recordings, names) {
            try await recording.write(to: "\(state)/recordings/\(name).flv")
        }
        let now = StageClock().now
        let store = try LiveStore(path: "\(state)/live.sqlite", now: now)
        var profile = LiveStore.Profile()
        (profile.userID, profile.userName) = ("host", "Kim Lee")
        let host = try store.logIn(profile, now: now, lifetime: .seconds(60)).member
        id = try store.createRoom(
            host.id, title: "Algebra", description: "Groups", scheduledAt: nil, now: now + .seconds(-200))
        var room = try store.room(id)
        for (place, name) in names.enumerated() {
            let began = now + .seconds(-90 + 10 * place)
            try store.beginSession(host.id, &room, name: name, now: began)
            try store.archives.setRecorded(name, now: began + .seconds(1))
            if let session = try store.openSession(of: host.id) {
                try store.setPlayable(session, now: began + .seconds(2))
            }
            try store.endSession(of: host.id, now: began + .seconds(4))
        }
        for (text, offset) in messages {
            var message = StoredMessage(channelID: id, sentAt: now + .milliseconds(offset), origin: .member)
            (message.userID, message.userName, message.text) = (host.userID, host.userName, text)
            _ = try store.append(message)
        }
        guard var ended = room else { throw StageFailure(description: "no room") }
        (ended.state, ended.liveStartedAt, ended.liveEndedAt) = (.ended, now + .seconds(-88), now)
        try store.update(ended, now: now)
        try store.archives.setStart(of: id, session: 1)
        try store.archives.setArchive(.archiving, of: id)
        uuid = ended.uuid
    }

    /// Names in a directory of the state.
    func files(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.file("state/\(name)")).sorted()
    }

    func recording(_ place: Int) -> String { directory.file("state/recordings/\(names[place]).flv") }
    var sealed: String { directory.file("state/archive/\(uuid).sealed") }
}

/// A lecture as curl gets it.
struct CurlAnswer {
    let status: Int
    /// By their names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var json: JSONValue { (try? JSONScanner.scan(body)) ?? .null }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Sends a request by curl.
    static func get(_ url: String, _ arguments: String...) async throws -> CurlAnswer {
        let directory = try TemporaryDirectory.inMemory()
        let (head, body) = (directory.file("head"), directory.file("body"))
        let words = ["-s", "--noproxy", "*", "-D", head, "-o", body] + arguments + [url]
        let ending = try await ChildProcess.run("/usr/bin/curl", words)
        guard ending.status == 0 else { throw StageFailure(description: "curl: \(ending.status) \(url)") }
        let lines = try String(contentsOfFile: head, encoding: .utf8).split(whereSeparator: \.isNewline)
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let bytes = (try? Data(contentsOf: URL(filePath: body))) ?? Data()
        return CurlAnswer(status: status, fields: fields, body: [UInt8](bytes))
    }
}

/// Files of a test.
enum Disk {
    static func sha256(_ bytes: [UInt8]) throws -> [UInt8] {
        try OpenSSLDigests(proofKey: SecureRandom.bytes(32)).sha256(of: bytes)
    }

    static func delete(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    static func permit(_ path: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}
