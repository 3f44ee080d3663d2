import Foundation
import LectureCrypto
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A person with a device and a store, and their own licence server. The program's whole output is kept, and searched
/// for secrets at the end.
struct LicenceScene: Sendable {
    let sandbox: SandboxOrigin
    let home: TemporaryDirectory
    /// Where store and device are now; an attack works on copies.
    var store: String
    var device: String
    /// Further environment variables, for instance another clock.
    var environment: [String: String] = [:]
    private let transcript = Guarded(Data())
    private let moreSecrets = Guarded<[Data]>([])

    var database: String { "\(store)/lecturekit.db" }

    private init(_ sandbox: SandboxOrigin, drm: String) throws {
        home = try TemporaryDirectory()
        (self.sandbox, store, device) = (sandbox, home.file("store"), home.file("device"))
        let issuer = #"{"id":"issuer","algorithm":"ES256","ca_file":"\#(sandbox.directory)/roots.pem"}"#
        let isSecure = !sandbox.https.isEmpty
        let network = isSecure ? #","network":{"ca_file":"\#(sandbox.authorityFile)"}"# : ""
        let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
        try home.write(
            #"{"drm":{"keys":[\#(server),\#(issuer)],"user_key":"sandbox"\#(drm)}\#(network)}"#, to: "config.json")
    }

    /// Runs a scenario, and checks at the end that no secret was printed.
    ///
    /// - Parameters:
    ///   - drm: more members of the configuration's `drm`.
    ///   - isSecure: whether the server has https as well.
    ///   - story: the scenario.
    /// - Throws: what the scenario throws.
    static func play(
        drm: String = "", isSecure: Bool = false, _ story: (inout LicenceScene) async throws -> Void
    ) async throws {
        let sandbox = try await SandboxOrigin.start(["--licensed"] + (isSecure ? [] : ["--no-https"]))
        // Makes the roots, which the configuration names.
        _ = try await sandbox.issue(#"{"mck":"none"}"#)
        var scene = try LicenceScene(sandbox, drm: drm)
        let beginning = scene
        try await story(&scene)
        try await beginning.recordKeys()
        scene.expectNoSecretWasPrinted()
        await sandbox.stop()
    }

    // MARK: Commands

    func start(_ words: [String], environment more: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(BuiltProgram.url.path, words, environment: variables(more), directory: home.path)
    }

    /// Runs a shell script in which `$0` is the program, with its own mounts.
    func withMounts(_ script: String, _ words: String..., isMedia: Bool = false) async throws -> ChildProcess.Ending {
        let ending = try await ChildProcess.run(
            "/usr/bin/unshare", ["--mount", "bash", "-uc", script, BuiltProgram.url.path] + words,
            environment: variables([:]), directory: home.path)
        keep(ending, isMedia: isMedia)
        return ending
    }

    private func variables(_ more: [String: String]) -> [String: String] {
        var variables = [
            "HOME": home.path, "LECTURE_STORE": store, "LECTURE_DEVICE": device,
            "LECTURE_CONFIG": home.file("config.json"), "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "",
            "XDG_CONFIG_HOME": "",
        ]
        variables.merge(environment) { _, new in new }
        variables.merge(more) { _, new in new }
        return variables
    }

    func run(_ words: [String], environment more: [String: String] = [:]) async throws -> ChildProcess.Ending {
        let ending = try await start(words, environment: more).ending()
        keep(ending, isMedia: words.first == "cat" && ending.status == 0)
        return ending
    }

    func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }

    /// Keeps a program's output, for the search at the end.
    func keep(_ ending: ChildProcess.Ending, isMedia: Bool = false) {
        transcript.withLock { $0 += ending.errors + (isMedia ? Data() : ending.output) }
    }

    /// Fetches a licensed lecture; returns its key.
    @discardableResult
    func fetch(
        _ name: String, _ policy: CallbackPolicy? = nil, query: String = "", status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let key = "bytes-\(name)"
        if let policy { try await sandbox.set(policy: policy, for: [key]) }
        let ending = try await run(["precache", "--progress", "none", try await link(key, query: query)])
        #expect(ending.status == status, "\(ending.errorText)", sourceLocation: sourceLocation)
        return key
    }

    /// A gateway link, whose token must never be printed.
    func link(
        _ key: String, user: String = "learner", expiresIn seconds: Int = 600, query: String = ""
    ) async throws -> String {
        let link = try await sandbox.link(key: key, expiresIn: seconds, user: user, query: query)
        let token = link.split(separator: "jwt=").last.map { $0.prefix { $0 != "&" } } ?? ""
        addSecret(Data(token.utf8))
        return link
    }

    /// From now on no licence request is answered.
    func goOffline() async throws { try await sandbox.set(habits: "status:503") }
    /// From now on licence requests are answered again.
    func goOnline() async throws { try await sandbox.set(habits: "") }

    // MARK: Licences

    struct Licence: Decodable {
        struct Judgement: Decodable {
            let verdict: String
            let reasons: [String]
            let form: String?
            let expiresMs: Int64?
            let countLeft: Int?
            let countUsed: Int?
            let playtimeLeftS: Int?
            let playtimeUsedS: Int?
        }
        let key: String
        let licence: Judgement
        let attempts: Int
    }

    /// The output of `licence show`; its line must match its schema.
    func licence(_ key: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Licence.Judgement {
        let ending = try await run(["licence", "show", "--json", key])
        #expect(ending.status == 0, "\(ending.errorText)", sourceLocation: sourceLocation)
        return try #require(try Self.lines(Licence.self, ending.text).first, sourceLocation: sourceLocation).licence
    }

    /// The output of `licence list`.
    func licences() async throws -> [Licence] {
        try Self.lines(Licence.self, try await run(["licence", "list", "--json"]).text)
    }

    static func lines<Line: Decodable>(_ type: Line.Type, _ text: String) throws -> [Line] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try text.split(separator: "\n").map { line in
            // Two commands end with a summary, each with its own schema.
            let schema =
                try line.contains(#""renewed":"#) && line.contains(#""summary""#)
                ? JSONSchema(named: "event-summary-renewal") : JSONSchema(describing: String(line))
            let faults = try schema.faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(line): \(faults)")
            return try decoder.decode(Line.self, from: Data(line.utf8))
        }
    }

    /// How often a lecture can be played from now on: each success takes a play.
    func plays(_ key: String, atMost limit: Int = 8) async throws -> Int {
        for count in 0..<limit where try await run(["cat", key]).status != 0 { return count }
        return limit
    }

    struct Refusal: Equatable {
        var status: Int32
        var code: Int?
    }

    private struct Problem: Decodable { let code: Int? }

    /// How a play is refused; its status is 0 when it is not.
    func refusal(of key: String, environment more: [String: String] = [:]) async throws -> Refusal {
        let ending = try await run(["cat", "--json", key], environment: more)
        if ending.status == 0 { return Refusal(status: 0) }
        let line = ending.text.split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
        let code = try? JSONDecoder().decode(Problem.self, from: line).code
        return Refusal(status: ending.status, code: code)
    }

    /// A play must be refused, as not permitted, with this reason first.
    func expectRefused(
        _ key: String, _ reason: String, _ code: Int, _ what: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refusal = try await refusal(of: key)
        #expect(refusal == Refusal(status: 77, code: code), "\(what)", sourceLocation: sourceLocation)
        let reasons = try await licence(key, sourceLocation: sourceLocation).reasons
        #expect(reasons.first == reason, "\(what) \(reasons)", sourceLocation: sourceLocation)
    }

    // MARK: Files

    /// A copy of store and device as they are, which an attack may change.
    func copy(_ name: String, device copiesDevice: Bool = true) throws -> LicenceScene {
        var other = self
        other.store = home.file("copies/\(name)/store")
        try Self.copy(store, to: other.store)
        if copiesDevice {
            other.device = home.file("copies/\(name)/device")
            try Self.copy(device, to: other.device)
        }
        return other
    }

    /// Copies a directory over another.
    static func copy(_ from: String, to place: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: place)
        try files.createDirectory(
            at: URL(filePath: place).deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.copyItem(atPath: from, toPath: place)
    }

    /// All files below a directory.
    static func files(_ directory: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: directory)?.allObjects as? [String] ?? []
        return all.map { "\(directory)/\($0)" }.filter { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return attributes?[.type] as? FileAttributeType == .typeRegular
        }
    }

    /// The path of a lecture's media in the store.
    func media(_ key: String) async throws -> String {
        let path = try await sql(
            """
            SELECT file_path FROM resource JOIN version ON version.id = version_id
            JOIN content ON content.id = content_id WHERE content.key = '\(key)' AND version.state = 1 AND role = 0
            """)
        return "\(store)/\(path)"
    }

    /// The bytes of a lecture on its server.
    func original(_ key: String) async throws -> Data {
        try await ChildProcess.run(
            Places.command("curl"), ["--silent", "--fail", "\(sandbox.http)/media/\(key).mp4"]
        ).output
    }

    /// Runs statements on the database like a user with an editor; returns the result of the last query.
    @discardableResult
    func sql(_ statements: String...) async throws -> String {
        let ending = try await edit(statements)
        try #require(ending.status == 0, "\(ending.errorText)")
        return ending.text
    }

    /// The same for statements that the database may refuse.
    func edit(_ statements: [String]) async throws -> ChildProcess.Ending {
        let script = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1], isolation_level=None)
            found = []
            for statement in sys.argv[2:]:
                found = store.execute(statement).fetchall()
            print("\\n".join("|".join(str(field) for field in row) for row in found), end="")
            """
        return try await ChildProcess.run("/usr/bin/python3", ["-c", script, database] + statements)
    }

    // MARK: Secrets

    /// A secret that must never be printed.
    func addSecret(_ secret: Data) { moreSecrets.withLock { $0.append(secret) } }

    /// The secrets of the device and of its lectures, as bytes.
    func keys() async throws -> [Data] {
        guard let file = try? Data(contentsOf: URL(filePath: home.file("device/device.key"))) else { return [] }
        let device = try DeviceKey(fileBytes: try SecretBytes(copying: Array(file)))
        var keys = [file[9..<41], file[41..<73]].map { Data($0) }
        for row in try await sql("SELECT hex(wrapped), purpose, granting_keys FROM content_key")
            .split(separator: "\n")
        {
            let fields = row.split(separator: "|")
            let purpose = try #require(SealPurpose(rawValue: Int(fields[1]) ?? -1))
            let wrapped = try #require(Hexadecimal.bytes(fields[0].lowercased()))
            let bound = fields[2] == "None" ? nil : GrantingKeys(stored: String(fields[2]))
            guard let key = try device.unwrap(wrapped, for: purpose, boundTo: bound) else { continue }
            keys.append(Data(key.exposed()))
        }
        return keys
    }

    private func expectNoSecretWasPrinted() {
        var secrets = moreSecrets.withLock { $0 }
        for path in [sandbox.drmKeyFile, sandbox.secretFile] {
            if let secret = FileManager.default.contents(atPath: path) { secrets.append(secret) }
        }
        let printed = transcript.withLock { $0 }
        for secret in secrets where !secret.isEmpty {
            #expect(printed.range(of: secret) == nil, "a secret was printed: \(secret.prefix(8).count) bytes and more")
        }
        #expect(!Self.hasToken(printed), "a token was printed")
        #expect(printed.range(of: Data(#"session_key":"#.utf8)) == nil)
    }

    /// Whether a token is among bytes, most of which are media. Every token starts with `{"`, encoded as `eyJ`, and has
    /// parts; the name of a key may have these letters too.
    private static func hasToken(_ bytes: Data) -> Bool {
        let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let isEncoded: (UInt8) -> Bool = { digits.contains($0) }
        var rest = bytes[...]
        while let found = rest.range(of: Data("eyJ".utf8)) {
            rest = rest[found.upperBound...]
            let tail = rest.drop(while: isEncoded)
            if tail.first == UInt8(ascii: "."), tail.dropFirst().first.map(isEncoded) ?? false { return true }
        }
        return false
    }

    /// Records the current keys of device and lectures, in every form in which they could be printed.
    func recordKeys() async throws {
        guard FileManager.default.fileExists(atPath: database) else { return }
        for key in try await keys() {
            let base64 = key.base64EncodedString().replacingOccurrences(of: "=", with: "")
            let url = base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            let hex = Hexadecimal.text(Array(key))
            for form in [key] + [base64, url, hex, hex.uppercased()].map({ Data($0.utf8) }) { addSecret(form) }
        }
    }
}
