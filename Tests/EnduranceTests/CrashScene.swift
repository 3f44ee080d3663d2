import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// One lecture of a scene.
struct CrashLecture: Sendable {
    let key: String
    let url: String
    let bytes: Int
    let sha256: String
    /// Whether the course list has the digest, so that the whole file is compared before it gets its final name.
    let isDigestGiven: Bool
}

/// Some lectures of a server and one account that wants them, as the tests of crashes need it.
struct CrashScene: Sendable {
    let me: BadDay
    let sandbox: SandboxOrigin
    let lectures: [CrashLecture]
    /// The store's directory.
    let store: String
    /// Where copies of the finished files are placed.
    let outputs: String
    /// Prefix of every command: empty, or the command that enters another namespace.
    var prefix: [String] = []
    private let list: String

    /// A new account and some lectures.
    ///
    /// - Parameters:
    ///   - lectures: size as the sandbox writes it, its number of bytes, and faults for its address. Every other one
    ///     has a digest in the course list.
    ///   - me: the account; a new one if nil.
    ///   - sandbox: the server; a new one if nil.
    ///   - round: another number brings other lectures.
    ///   - place: the directory for store and outputs; the account's home if nil.
    /// - Throws: when there is no server.
    init(
        _ lectures: [(size: String, bytes: Int, fault: String)], me: BadDay? = nil, sandbox: SandboxOrigin? = nil,
        round: Int = 0, place: String? = nil
    ) async throws {
        let account = try me ?? BadDay()
        let server: SandboxOrigin
        if let sandbox { server = sandbox } else { server = try await SandboxOrigin.start(["--no-https"]) }
        (self.me, self.sandbox) = (account, server)
        store = place.map { "\($0)/store" } ?? account.store
        outputs = place.map { "\($0)/outputs" } ?? account.home.file("outputs")
        var made: [CrashLecture] = []
        for (number, lecture) in lectures.enumerated() {
            let path = "/media/bytes-\(lecture.size)-\(round * 100 + number + 1).mp4"
            made.append(
                CrashLecture(
                    key: "r\(round)k\(number)",
                    url: server.http + path + (lecture.fault.isEmpty ? "" : "?fault=\(lecture.fault)"),
                    bytes: lecture.bytes, sha256: try await server.sha256(of: path),
                    isDigestGiven: number % 2 == 0))
        }
        self.lectures = made
        let lines = made.map { lecture in
            let digest = lecture.isDigestGiven ? #", "sha256": "\#(lecture.sha256)""# : ""
            return #"{"url": "\#(lecture.url)", "key": "\#(lecture.key)"\#(digest)}"#
        }
        list = try account.home.write(lines.joined(separator: "\n"), to: "course-\(round).jsonl")
    }

    /// What fetches everything.
    var fetch: [String] {
        // Some lectures are empty or of one byte, which is no media file.
        ["precache", "--acks", "--progress", "none", "--accept-any", "--output-dir", outputs, list]
    }

    /// Starts a command of the program on this scene's store, perhaps behind another program such as a tracer.
    func start(_ words: [String], behind front: [String] = []) throws -> ChildProcess {
        let all = prefix + front + [BuiltProgram.url.path] + words
        return try ChildProcess(all[0], Array(all.dropFirst()), environment: environment)
    }

    /// Runs a command to its end.
    func run(_ words: [String], behind front: [String] = []) async throws -> ChildProcess.Ending {
        try await start(words, behind: front).ending()
    }

    /// Runs a program of the system where the store is.
    func system(_ words: String...) async throws -> ChildProcess.Ending { try await run(words: words) }

    /// Runs a program of the system where the store is.
    func run(words: [String]) async throws -> ChildProcess.Ending {
        let all = prefix + words
        return try await ChildProcess.run(all[0], Array(all.dropFirst()), environment: environment)
    }

    private var environment: [String: String] {
        [
            "HOME": me.home.path, "LECTURE_STORE": store, "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "",
            "XDG_CONFIG_HOME": "",
        ]
    }

    /// The keys that a run has acknowledged, from whole lines only: a kill may cut the last one.
    static func acknowledged(_ ending: ChildProcess.Ending) -> Set<String> {
        Set(
            ending.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .filter { $0.hasPrefix("ACK ") }.map { String($0.dropFirst(4)) })
    }
}

// MARK: - What must be true

extension CrashScene {
    /// The invariants after every crash, whatever happened before it:
    /// the store opens and passes its check; what was acknowledged is complete; every file under a final name, in the
    /// store and among the outputs, is whole and correct; every complete lecture has its file. `what` describes what
    /// happened, with the seed, for the report.
    func expectSoundAfterCrash(
        acknowledged: Set<String>, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        async let checking = run(["store", "check"])
        async let listing = run(["list", "--json"])
        async let hashing = finalFiles()
        let (check, list, files) = try await (checking, listing, hashing)
        let right = Set(lectures.map(\.sha256))
        for file in files where !right.contains(file.sha256) {
            Issue.record("\(what): \(file.path) has wrong bytes", sourceLocation: sourceLocation)
        }
        if check.errorText.contains("there is no store") {
            // Killed before the store got its name; then nothing can have been acknowledged.
            #expect(acknowledged.isEmpty, "\(what): the store is gone", sourceLocation: sourceLocation)
            #expect(files.isEmpty, "\(what): files without a store", sourceLocation: sourceLocation)
            return
        }
        #expect(check.status == 0, "\(what): \(check.errorText)", sourceLocation: sourceLocation)
        #expect(list.status == 0, "\(what): \(list.errorText)", sourceLocation: sourceLocation)
        let complete = Set(try Line.all(list.text).filter { $0.state == "completed" }.compactMap(\.key))
        #expect(
            acknowledged.isSubset(of: complete), "\(what): lost \(acknowledged.subtracting(complete))",
            sourceLocation: sourceLocation)
        let there = Set(files.filter { $0.path.hasPrefix(store) }.map(\.sha256))
        for lecture in lectures where complete.contains(lecture.key) && !there.contains(lecture.sha256) {
            Issue.record("\(what): \(lecture.key) is complete and has no file", sourceLocation: sourceLocation)
        }
    }

    /// The next run fetches what is missing; then every lecture is there, under its own key and among the outputs.
    func expectCompletes(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let ending = try await run(fetch)
        #expect(ending.status == 0, "\(what): then \(ending.errorText)", sourceLocation: sourceLocation)
        let keys = Set(lectures.map(\.key))
        #expect(CrashScene.acknowledged(ending) == keys, "\(what)", sourceLocation: sourceLocation)
        try await expectSoundAfterCrash(acknowledged: keys, "\(what), then completed", sourceLocation: sourceLocation)
        let files = try await finalFiles()
        let given = Set(files.filter { $0.path.hasPrefix(outputs) }.map(\.sha256))
        #expect(given == Set(lectures.map(\.sha256)), "\(what): outputs", sourceLocation: sourceLocation)
        for lecture in lectures {
            let path = try await run(["path", lecture.key]).text.trimmingCharacters(in: .newlines)
            let sha256 = files.first { $0.path == path }?.sha256
            #expect(sha256 == lecture.sha256, "\(what): \(lecture.key) at \(path)", sourceLocation: sourceLocation)
        }
    }

    /// Every file under a final name, with its digest by openssl. It is compared with the server's, which is by GnuTLS.
    func finalFiles() async throws -> [(path: String, sha256: String)] {
        let found = try await system(
            "/usr/bin/find", "\(store)/media", outputs, "-type", "f", "!", "-name", "*.part", "-exec",
            "/usr/bin/openssl", "dgst", "-sha256", "-r", "{}", "+")
        return found.text.split(separator: "\n").map { (String($0.dropFirst(66)), String($0.prefix(64))) }
    }

    /// How many bytes of media the server has handed out.
    func bytesSent() async throws -> Int { try await sandbox.requests().reduce(0) { $0 + $1.bytes } }
}
