import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A branch whose lectures need a licence: both stores ask the same licence server, each for itself.
struct LicensedBranch {
    /// What a run of the classroom has brought.
    struct Run {
        let fetched: Fetched
        /// Bytes of media that the lectures' server has sent.
        let mediaBytes: Int
        /// What the licence server was asked.
        let items: [SandboxOrigin.CallbackItem]
    }

    /// Has lectures, and serves them.
    let office: BadDay
    /// Fetches them.
    let client: BadDay
    /// Gateway, licence server and server of the lectures.
    let sandbox: SandboxOrigin
    private var tokenFile: String { client.home.file("office.token") }
    /// The public key of the office's device.
    var officeKey: String { client.home.file("office.jwk") }

    /// Starts the servers; both stores are empty.
    init() async throws {
        (office, client) = (try BadDay(), try BadDay())
        sandbox = try await SandboxOrigin.start(["--no-https", "--licensed"])
        let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
        for person in [office, client] {
            let path = try person.home.write(#"{"drm":{"keys":[\#(server)]}}"#, to: ".config/lecturekit/config.json")
            _ = unsafe chmod(path, 0o600)
        }
        _ = try client.home.write(Array(try await office("device", "show", "--json").output), to: "office.jwk")
    }

    /// The digest of a lecture.
    func sum(_ key: String) async throws -> String { try await sandbox.sha256(of: "/media/\(key).mp4") }

    /// The digest of what a person can play; it takes a play.
    func played(_ key: String, by person: BadDay) async throws -> String {
        let words = ["-c", #""$0" cat "$1" | openssl dgst -sha256 -r"#, BuiltProgram.url.path, key]
        let ending = try await ChildProcess.run("/bin/bash", words, environment: person.environment)
        return String(ending.text.prefix(64))
    }

    /// Writes a course list of gateway links at a person's home.
    ///
    /// - Parameters:
    ///   - key: its lecture.
    ///   - hasDigest: whether it names the digest.
    ///   - person: who gets it.
    /// - Returns: its path.
    /// - Throws: when it cannot be written.
    func list(_ key: String, hasDigest: Bool = true, for person: BadDay) async throws -> String {
        let digest = hasDigest ? #","sha256":"\#(try await sum(key))""# : ""
        let link = try await sandbox.link(key: key)
        return try person.home.write(#"{"url":"\#(link)"\#(digest)}"# + "\n", to: "course.jsonl")
    }

    /// The office downloads a lecture under a licence.
    func stock(_ key: String) async throws {
        let ending = try await office("precache", "-q", try await list(key, for: office))
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    /// Starts the office's server, and gives the classroom a token for it.
    func serve() async throws -> OfficeServer {
        let server = try await OfficeServer.start(office)
        let path = try client.home.write(server.token + "\n", to: "office.token")
        _ = unsafe chmod(path, 0o600)
        return server
    }

    /// The words with which the classroom fetches a lecture.
    func words(_ key: String, from server: OfficeServer, hasDigest: Bool = true) async throws -> [String] {
        let list = try await list(key, hasDigest: hasDigest, for: client)
        return ["precache", list, "--json", "--from", server.url, "--from-token-file", tokenFile]
    }

    /// The classroom fetches a lecture.
    func fetch(
        _ key: String, from server: OfficeServer, hasDigest: Bool = true, _ more: String...
    ) async throws -> Run {
        let words = try await words(key, from: server, hasDigest: hasDigest)
        let place = try await place(key)
        return try await run(try await client.run(words + more), key, since: place)
    }

    /// Where the logs are now: before a run.
    func place(_ key: String) async throws -> (requests: Int, item: Int) {
        (try await media(key).count, try await sandbox.callbackItems().last?.number ?? 0)
    }

    /// What a run has brought.
    func run(
        _ ending: ChildProcess.Ending, _ key: String, since place: (requests: Int, item: Int)
    ) async throws -> Run {
        let media = try await media(key).dropFirst(place.requests)
        return Run(
            fetched: try Fetched(ending, []), mediaBytes: media.reduce(0) { $0 + $1.bytes },
            items: try await sandbox.callbackItems(after: place.item))
    }

    private func media(_ key: String) async throws -> [SandboxOrigin.Request] {
        try await sandbox.requests(for: "/media/\(key).mp4")
    }

    /// The files of the classroom's store, but its database.
    func files() throws -> [Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: client.store).map { "\(client.store)/\($0)" }
        return try paths.filter { path in
            let type = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            return type == .typeRegular && !path.contains("lecturekit.db")
        }.map { try Data(contentsOf: URL(filePath: $0)) }
    }

    /// Nothing of a lecture is in the classroom's store, or nothing in clear.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - mayBeSealed: whether it may be there sealed.
    ///   - sourceLocation: of the test.
    /// - Throws: when its server is gone.
    func expectHidden(
        _ key: String, mayBeSealed: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let words = ["--silent", "--fail", "\(sandbox.http)/media/\(key).mp4"]
        let bytes = try await ChildProcess.run(try Places.command("curl"), words).output
        let files = try files()
        let most = files.map(\.count).max() ?? 0
        #expect((most >= bytes.count) == mayBeSealed, "a file of \(most) bytes", sourceLocation: sourceLocation)
        for place in stride(from: 0, to: bytes.count - 32, by: max(1, bytes.count / 16)) {
            let piece = bytes[place..<(place + 32)]
            let isThere = files.contains { $0.range(of: piece) != nil }
            #expect(!isThere, "byte \(place) is in clear", sourceLocation: sourceLocation)
        }
    }

    /// Ends the servers.
    func end(_ server: OfficeServer) async {
        await server.stop()
        await sandbox.stop()
    }
}
