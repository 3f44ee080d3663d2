import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A branch: a store with lectures from a real server, which `lecturectl serve` offers to others, and the store of a
/// classroom that has none.
struct Branch {
    /// Has lectures, and serves them.
    let office: BadDay
    /// Fetches them.
    let client: BadDay
    /// The server of the lectures.
    let origin: NginxOrigin
    /// The files of that server.
    let files: TemporaryDirectory

    /// The file with the token for the office's server.
    var tokenFile: String { client.home.file("office.token") }
    /// The public key of the office's device.
    var officeKey: String { client.home.file("office.jwk") }

    /// Starts the lectures' server; both stores are empty.
    ///
    /// - Parameters:
    ///   - lectures: the lengths of their files by key.
    ///   - settings: the configuration file of the office.
    ///   - clientSettings: that of the classroom.
    /// - Throws: when nginx does not start.
    init(_ lectures: [String: Int], settings: String = "{}", clientSettings: String = "{}") async throws {
        (office, client, files) = (try BadDay(), try BadDay(), try TemporaryDirectory())
        for (person, settings) in [(office, settings), (client, clientSettings)] {
            let path = try person.home.write(settings, to: ".config/lecturekit/config.json")
            _ = unsafe chmod(path, 0o600)
        }
        for (key, count) in lectures { try Self.write(key, count, to: files) }
        origin = try await NginxOrigin.start(serving: files.path)
        _ = try client.home.write(Array(try await office("device", "show", "--json").output), to: "office.jwk")
    }

    /// The files that have been made, by length: most tests want the same.
    private static let made = Guarded<[Int: [UInt8]]>([:])

    private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        if seed == 1, let known = made.withLock({ $0[count] }) { return known }
        var random = SeededGenerator(seed: UInt64(count) &* 31 &+ seed)
        let numbers = (0..<(count + 7) / 8).map { _ in random.next().littleEndian }
        let bytes = MediaBeginning.replacing(unsafe numbers.withUnsafeBytes { unsafe [UInt8]($0.prefix(count)) })
        if seed == 1 { made.withLock { $0[count] = bytes } }
        return bytes
    }

    /// Writes a file of bytes that nothing compresses or repeats. nginx makes its tag of the length and the second of
    /// the change: each seed has its own.
    static func write(_ key: String, _ count: Int, to files: TemporaryDirectory, seed: UInt64 = 1) throws {
        let name = "\(key).mp4"
        _ = try files.write(bytes(count, seed: seed), to: name)
        let date = Date(timeIntervalSince1970: 1_700_000_000 + 60 * Double(seed))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: files.file(name))
    }

    /// The bytes of a file of the lectures' server.
    func bytes(_ key: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: files.file("\(key).mp4"))))
    }

    /// The digest of such a file, by another program.
    func sum(_ key: String) async throws -> String {
        let words = ["dgst", "-sha256", "-r", files.file("\(key).mp4")]
        return String(try await ChildProcess.run("/usr/bin/openssl", words).text.prefix(64))
    }

    /// Writes a course list at a person's home.
    ///
    /// - Parameters:
    ///   - keys: its lectures.
    ///   - hasDigests: whether it names their digests.
    ///   - person: who gets it.
    /// - Returns: its path.
    /// - Throws: when it cannot be written.
    func list(_ keys: [String], hasDigests: Bool = true, for person: BadDay) async throws -> String {
        var lines: [String] = []
        for key in keys {
            let digest = hasDigests ? #","sha256":"\#(try await sum(key))""# : ""
            lines.append(#"{"url":"\#(origin.http)/\#(key).mp4","key":"\#(key)"\#(digest)}"#)
        }
        return try person.home.write(lines.joined(separator: "\n") + "\n", to: "course.jsonl")
    }

    /// The office downloads lectures.
    func stock(_ keys: [String], hasDigests: Bool = true) async throws {
        let ending = try await office("precache", "-q", try await list(keys, hasDigests: hasDigests, for: office))
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    /// Starts the office's server, and gives the classroom a token for it.
    ///
    /// - Parameters:
    ///   - role: of the token.
    ///   - port: where it listens; 0 for any free port.
    /// - Returns: the server.
    /// - Throws: when it does not start.
    func serve(_ role: String = "peer", port: Int = 0) async throws -> OfficeServer {
        let server = try await OfficeServer.start(office, role: role, port: port)
        try writeToken(server.token)
        return server
    }

    /// Stores a token for the classroom.
    func writeToken(_ text: String) throws {
        let path = try client.home.write(text + "\n", to: "office.token")
        _ = unsafe chmod(path, 0o600)
    }

    /// The classroom fetches a list.
    func fetch(
        _ keys: [String], from url: String, hasDigests: Bool = true, _ more: String...
    ) async throws -> Fetched {
        let list = try await list(keys, hasDigests: hasDigests, for: client)
        let before = try await origin.requests().count
        let ending = try await client.run(
            ["precache", list, "--json", "--from", url, "--from-token-file", tokenFile] + more)
        return try Fetched(ending, Array(try await origin.requests().dropFirst(before)))
    }

    /// The classroom has a lecture as the lectures' server does.
    func expectComplete(_ keys: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for key in keys {
            let ending = try await ChildProcess.run(
                "/bin/bash", ["-c", #""$0" cat "$1" | openssl dgst -sha256 -r"#, BuiltProgram.url.path, key],
                environment: client.environment)
            #expect(String(ending.text.prefix(64)) == (try await sum(key)), "\(key)", sourceLocation: sourceLocation)
        }
        try await client.expectSound(sourceLocation: sourceLocation)
    }
}

/// What a run of the classroom has brought.
struct Fetched {
    /// What came from where, from the last line.
    struct Totals: Decodable {
        let completed: Int
        let failed: Int
        let bytesFetched: Int
        let lecturesFromPeers: Int
        let bytesFromPeers: Int
        let bytesFromInternet: Int
        let withoutDigest: Int
    }

    let ending: ChildProcess.Ending
    let totals: Totals
    /// What the lectures' server was asked.
    let requests: [NginxOrigin.Request]
    /// Bytes of bodies that it has sent.
    var originBytes: Int { requests.reduce(0) { $0 + $1.bytes } }
    /// Everything that the program has said.
    var said: String { ending.text + ending.errorText }
    /// The causes of `peer_unusable`.
    var faults: [String] {
        ending.text.split(separator: "\n").filter { $0.contains("peer_unusable") }.map(String.init)
    }

    init(_ ending: ChildProcess.Ending, _ requests: [NginxOrigin.Request]) throws {
        (self.ending, self.requests) = (ending, requests)
        _ = try Line.summary(ending.text)
        let last = try #require(ending.text.split(separator: "\n").last)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        totals = try decoder.decode(Totals.self, from: Data(last.utf8))
        #expect(totals.bytesFetched == totals.bytesFromPeers + totals.bytesFromInternet)
    }
}

/// The server of the office's store.
struct OfficeServer {
    let process: ChildProcess
    let url: String
    let token: String
    /// Its port.
    var port: Int { Int(url.split(separator: ":").last ?? "") ?? 0 }

    /// Makes a token, and starts a server.
    ///
    /// - Parameters:
    ///   - office: whose store is served.
    ///   - words: further options.
    ///   - role: of the token.
    ///   - port: where it listens; 0 for any free port.
    /// - Returns: the server.
    /// - Throws: when it does not start.
    static func start(
        _ office: BadDay, _ words: [String] = [], role: String = "peer", port: Int = 0
    ) async throws -> OfficeServer {
        let name = "room-\(role)-\(UInt32.random(in: 0...UInt32.max))"
        let made = try await office("access", "add", name, "--role", role)
        #expect(made.status == 0, "\(made.errorText)")
        return try await OfficeServer(office, made.text.trimmingCharacters(in: .newlines), port, words)
    }

    /// Starts a server for a token that is there.
    init(_ office: BadDay, _ token: String, _ port: Int, _ words: [String]) async throws {
        self.token = token
        process = try ChildProcess(
            BuiltProgram.url.path, ["serve", "--json", "-vv", "--listen", "127.0.0.1:\(port)"] + words,
            environment: office.environment, directory: office.home.path)
        let serving = try JSONDecoder().decode([String: String].self, from: Data(try await process.firstLine().utf8))
        url = try #require(serving["url"])
    }

    /// Stops it in order, and looks for the token in what it has said.
    func stop() async {
        let ending = await process.terminate()
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(!(ending.text + ending.errorText).contains(token), "a token is in the output")
    }
}
