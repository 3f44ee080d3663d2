import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What a learner without a debugger can do to files, rows, clocks and keys, and what an ordinary user does meanwhile.
enum AdversaryMove: CaseIterable {
    // What everybody does.
    case play, playAtOnce, killPlay, look, renew, regrant, fetchAgain
    // Copies.
    case copyStore, backUp, restoreStore, restoreDatabase, restoreTables, restoreRow
    // Edits.
    case editRow, deleteRow, cutChain, deleteAnchors, deleteJournal, swapMedia
    // Keys.
    case moveKey, changeDevice, importOwnFile, importOwnFileConfigured, askOwnServer, importFile, importAgain
    // Times.
    case setClock, moveBootClock, changeBoot

    /// How often a move is chosen: grants are rare, so that plays come close to them.
    var weight: Int {
        switch self {
        case .play: 12
        case .killPlay, .restoreStore, .restoreTables, .deleteAnchors, .regrant: 3
        case .playAtOnce, .copyStore, .restoreDatabase, .setClock, .moveBootClock, .changeBoot, .fetchAgain: 2
        case .importAgain: 3
        default: 1
        }
    }
}

/// A generated story of an adversary: moves in an order that a seed decides, against a model of what was granted.
///
/// Copies of the device's anchors are never put back: a copy of store *and* anchors of the same moment is the earlier
/// moment, which docs/threat-model.md concedes.
struct Adversary {
    /// What the clocks of a story may do. A false boot and a false clock together are a machine that was off, which
    /// docs/threat-model.md concedes.
    enum Times: CaseIterable { case clocks, boots }

    /// A violation, with everything that led to it.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// What happened, for the figures of a run.
    struct Figures {
        var moves = 0
        var plays = 0
        var granted = 0
    }

    static let counts = ["bytes-4K-1": 3, "bytes-4K-2": 2]
    /// Granted for some seconds, without a count.
    static let dated = "bytes-4K-3"
    static let secondsGranted = 3
    /// Granted by licence files of the server's issuer, each for some plays.
    static let filed = "bytes-4K-4"
    static let playsOfFile = 2
    static let all = counts.keys.sorted() + [dated, filed]
    /// How many bytes a lecture has.
    static let size = 4096

    var me: LicenceScene
    let issuer: SandboxIssuer
    let ownServer: SandboxOrigin
    let seed: UInt64
    let times: Times
    var random: SeededGenerator
    private(set) var figures = Figures()
    private(set) var log: [String] = []
    private var played: [String: Int] = [:]
    private var copies: [String] = []
    private var files: [String] = []
    private var devices: [String]

    init(_ me: LicenceScene, _ issuer: SandboxIssuer, _ ownServer: SandboxOrigin, seed: UInt64) {
        (self.me, self.issuer, self.ownServer, self.seed) = (me, issuer, ownServer, seed)
        random = SeededGenerator(seed: seed)
        times = Times.allCases.randomElement(using: &random) ?? .clocks
        devices = [me.device]
    }

    // MARK: Stories

    /// Runs a story, and tries in the end what every copy still gives.
    ///
    /// - Parameter moves: how many.
    /// - Throws: ``Violation``.
    mutating func run(moves: Int) async throws {
        for key in Self.all { try await me.sandbox.set(policy: Self.policy(of: key), for: [key]) }
        // Answers with `iat`, so that no store begins at a false time.
        try await me.sandbox.set(habits: "claims")
        for key in Self.all { _ = try await me.run(["precache", "--progress", "none", try await me.link(key)]) }
        try await me.goOffline()
        try await importFile()
        let weighted = AdversaryMove.allCases.flatMap { Array(repeating: $0, count: $0.weight) }
        try await copyStore(byCommand: false)
        try await play(Self.all[0])
        for _ in 0..<moves {
            guard let move = weighted.randomElement(using: &random) else { break }
            figures.moves += 1
            try await make(move)
            try await judge()
        }
        for (number, copy) in copies.enumerated() {
            for device in devices {
                for deletesAnchors in [false, true] {
                    log.append("drain \(number), \(device.suffix(8)), anchors deleted: \(deletesAnchors)")
                    me.device = device
                    try? LicenceScene.copy(copy, to: me.store)
                    if deletesAnchors { try? me.deleteAnchors() }
                    for key in Self.all { for _ in 0..<4 { try await play(key) } }
                    try await judge()
                }
            }
        }
    }

    static func policy(of key: String) -> CallbackPolicy {
        LicenceLifeNetTests.policy { policy in
            if let count = counts[key] {
                (policy.expirationCount, policy.expirationIn) = (count, 3600)
            } else if key == dated {
                policy.expirationIn = secondsGranted
            } else {
                policy.expirationDate = 1_600_000_000
            }
        }
    }

    /// First invariant: plays never exceed grants.
    private mutating func judge() async throws {
        let items = try await me.sandbox.callbackItems().filter { $0.outcome == "granted" && $0.kind == 1 }
        figures.granted = 0
        for (key, count) in Self.counts {
            let granted = items.count { $0.key == key } * count
            figures.granted += granted
            if played[key, default: 0] > granted { throw violation("\(key): \(played[key] ?? 0) plays of \(granted)") }
        }
        let granted = files.count * Self.playsOfFile
        if played[Self.filed, default: 0] > granted { throw violation("\(Self.filed): more than \(granted) plays") }
    }

    /// A play of the dated lecture must have begun before the end of a grant. The answer names whole seconds.
    private func judgeEnd(began: Date) async throws {
        let last = try await me.sandbox.callbackItems().last { $0.key == Self.dated && $0.outcome == "granted" }
        let end = Double(last?.timeMs ?? 0) / 1000 + Double(Self.secondsGranted) + 1
        if began.timeIntervalSince1970 > end {
            throw violation("\(Self.dated) was played \(began.timeIntervalSince1970 - end) s after its end")
        }
    }

    func violation(_ text: String) -> Violation {
        Violation(description: "seed \(seed), \(times): \(text)\n" + log.joined(separator: "\n"))
    }

    // MARK: Plays

    /// Plays, and books every play that returned a byte.
    mutating func play(_ key: String, disguise: [String: String] = [:], script: String? = nil) async throws {
        let began = Date.now
        let ending =
            if let script { try await me.withMounts(script, "cat", key, isMedia: true) } else {
                try await me.run(["cat", key], environment: disguise)
            }
        try await book(ending, key, began)
    }

    private mutating func book(_ ending: ChildProcess.Ending, _ key: String, _ began: Date) async throws {
        log.append("  \(key): \(ending.output.count) bytes, status \(ending.status)")
        if ending.status == 0, ending.output.count != Self.size { throw violation("status 0 without the bytes") }
        guard !ending.output.isEmpty else { return }
        figures.plays += 1
        if key == Self.dated { try await judgeEnd(began: began) } else { played[key, default: 0] += 1 }
    }

    private mutating func playAtOnce(_ key: String) async throws {
        let began = Date.now
        let processes = try (0..<3).map { _ in try me.start(["cat", key]) }
        for process in processes { try await book(await process.ending(), key, began) }
    }

    private mutating func killPlay(_ key: String) async throws {
        let began = Date.now
        let process = try me.start(["cat", key])
        await ChildProcess.wait(forWritten: Int.random(in: 1...60_000, using: &random), by: [process])
        process.send(SIGKILL)
        try await book(await process.ending(), key, began)
    }

    // MARK: Moves

    private mutating func make(_ move: AdversaryMove) async throws {
        let key = Self.all.randomElement(using: &random) ?? Self.dated
        log.append("\(move) \(key)")
        switch move {
        case .play: try await play(key)
        case .playAtOnce: try await playAtOnce(key)
        case .killPlay: try await killPlay(key)
        case .look: for words in [["licence", "show", key], ["why", key], ["list"]] { _ = try await me.run(words) }
        case .renew: try await online(["licence", "renew", "--all"])
        case .regrant: try await online(["licence", "regrant", "--all"])
        case .fetchAgain:
            _ = try await me("remove", key)
            try await online(["precache", "--progress", "none", try await me.link(key)])
        case .copyStore, .backUp: try await copyStore(byCommand: move == .backUp)
        case .restoreStore, .restoreDatabase, .restoreTables, .restoreRow: try await restore(move, key)
        case .editRow, .deleteRow, .cutChain: try await edit(move, key)
        case .deleteAnchors: try? me.deleteAnchors()
        case .deleteJournal:
            for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: me.database + end) }
        case .swapMedia: try await swapMedia()
        case .moveKey: try await moveKey()
        case .changeDevice: me.device = devices.randomElement(using: &random) ?? me.device
        case .importOwnFile, .importOwnFileConfigured: try await importOwnFile(key, move == .importOwnFileConfigured)
        case .askOwnServer: try await askOwnServer(key)
        case .importFile: try await importFile()
        case .importAgain: try await importAgain()
        case .setClock, .moveBootClock, .changeBoot: try await moveTime(move, key)
        }
    }

    private func online(_ words: [String]) async throws {
        try await me.sandbox.set(habits: "claims")
        _ = try await me.run(words)
        try await me.goOffline()
    }

    private mutating func copyStore(byCommand: Bool) async throws {
        let copy = me.home.file("pool/\(copies.count)")
        try LicenceScene.copy(me.store, to: copy)
        if byCommand {
            LicenceScene.deleteDatabase(of: copy)
            guard try await me("store", "backup", "\(copy)/lecturekit.db").status == 0 else { return }
        }
        copies.append(copy)
    }

    private mutating func restore(_ move: AdversaryMove, _ key: String) async throws {
        guard let copy = copies.randomElement(using: &random) else { return }
        log.append("  from \(copy.split(separator: "/").last ?? "")")
        switch move {
        case .restoreStore: try LicenceScene.copy(copy, to: me.store)
        case .restoreDatabase: me.restoreDatabase("\(copy)/lecturekit.db")
        default:
            let tables = move == .restoreRow ? ["licence"] : ["licence", "time_ledger"]
            let condition = move == .restoreRow ? "WHERE content_key = '\(key)'" : ""
            var statements = ["ATTACH '\(copy)/lecturekit.db' AS old", Self.editable, "PRAGMA foreign_keys = OFF"]
            for table in tables {
                // Without generated columns.
                let names = "SELECT group_concat(name) FROM pragma_table_info('\(table)')"
                guard let columns = try? await me.edit([names]).text, !columns.isEmpty else { return }
                statements += [
                    "DELETE FROM main.\(table) \(condition)",
                    "INSERT INTO main.\(table)(\(columns)) SELECT \(columns) FROM old.\(table) \(condition)",
                ]
            }
            await edit(statements)
        }
    }

    private static let editable = "DROP TRIGGER IF EXISTS time_ledger_is_append_only"

    /// What an adversary tries on rows; a statement that the schema refuses changes nothing.
    private mutating func edit(_ move: AdversaryMove, _ key: String) async throws {
        let row = "WHERE content_key = '\(key)'"
        let edits = [
            "UPDATE licence SET count_used = 0 \(row)", "UPDATE licence SET count_limit = 1000 \(row)",
            "UPDATE licence SET count_limit = NULL \(row)", "UPDATE licence SET expires_ms = 4000000000000 \(row)",
            "UPDATE licence SET expires_ms = NULL, was_seen_expired = 0 \(row)",
            "UPDATE licence SET suspicion = 0, reviewed_suspicion = NULL", "UPDATE licence SET suspicion = 0",
            "UPDATE licence SET granting_keys = NULL \(row)", "UPDATE licence SET is_force_expired = 0 \(row)",
            "UPDATE content_key SET purpose = 0", "UPDATE content_key SET granting_keys = NULL",
            "UPDATE time_ledger SET doubt = NULL, has_leapt = 0",
            "UPDATE time_ledger SET estimate_ms = estimate_ms - 3600000",
        ]
        switch move {
        case .editRow: await edit([Self.editable, edits.randomElement(using: &random) ?? ""])
        case .deleteRow: await edit(["DELETE FROM licence \(row)"])
        default:
            await edit([Self.editable, "DELETE FROM time_ledger WHERE id > (SELECT max(id) - 2 FROM time_ledger)"])
        }
    }

    private mutating func edit(_ statements: [String]) async {
        let edited = try? await me.edit(statements)
        log.append("  " + statements.joined(separator: "; ") + (edited?.status == 0 ? "" : " - not possible"))
    }

    private func swapMedia() async throws {
        guard let one = try? await me.media("bytes-4K-1"), let other = try? await me.media("bytes-4K-2"),
            let bytes = FileManager.default.contents(atPath: one)
        else { return }
        try? FileManager.default.removeItem(atPath: one)
        try? FileManager.default.copyItem(atPath: other, toPath: one)
        try? FileManager.default.removeItem(atPath: other)
        try bytes.write(to: URL(filePath: other))
    }

    /// The device's key in another directory, without its anchors.
    private mutating func moveKey() async throws {
        let other = me.home.file("device-\(devices.count)")
        let importing = try await me.exportKey("key-\(log.count)")
        let imported = try await me.run(importing, environment: ["LECTURE_DEVICE": other])
        guard imported.status == 0 else { return }
        devices.append(other)
        me.device = other
    }

    /// A new licence file from the server's issuer: a grant.
    private mutating func importFile() async throws {
        let token = try await me.sandbox.issue(
            #"{"mck":"\#(Self.filed)","policy":{"expiration_count":\#(Self.playsOfFile)},"jti":"\#(files.count)"}"#
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        me.addSecret(Data(token.utf8))
        files.append(try me.home.write(token, to: "file-\(files.count).jwt"))
        _ = try await me("licence", "import", files[files.count - 1])
    }

    /// A file that was imported before. A store without any licence is a new one, in which docs/threat-model.md
    /// concedes the plays of a file.
    private mutating func importAgain() async throws {
        guard let file = files.randomElement(using: &random),
            try await me.edit(["SELECT count(*) FROM licence"]).text != "0"
        else { return }
        _ = try await me("licence", "import", file)
    }

    /// A licence file of the learner's own.
    private mutating func importOwnFile(_ key: String, _ isConfigured: Bool) async throws {
        var order = SandboxIssuer.Order(mck: key)
        (order.serial, order.jti, order.policy) = (1_000, "own-\(log.count)", CallbackPolicy())
        let token = try await issuer.issue(order)
        me.addSecret(Data(token.utf8))
        let file = try me.home.write(token, to: "own-\(log.count).jwt")
        if isConfigured {
            let named = #"{"drm":{"keys":[{"id":"issuer","algorithm":"ES256","ca_file":"\#(issuer.rootsFile)"}]}}"#
            let config = ["LECTURE_CONFIG": try me.home.write(named, to: "own-issuer.json")]
            _ = try await me.run(["licence", "import", file], environment: config)
        } else {
            _ = try await me.run(["licence", "import", file, "--trust", issuer.rootsFile])
        }
    }

    /// A licence server of the learner's own, for a lecture that is in the store: the first grant of a new download is
    /// conceded.
    private func askOwnServer(_ key: String) async throws {
        guard try await me("path", key).status == 0 else { return }
        let mine = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(ownServer.drmKeyFile)"}"#
        let config = try me.home.write(#"{"drm":{"keys":[\#(mine)]}}"#, to: "own-server.json")
        var other = me
        other.environment["LECTURE_CONFIG"] = config
        try await ownServer.set(policy: LicenceLifeNetTests.policy { $0.contentExpireReset = 1 }, for: [key])
        let callback = ownServer.drmCallback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        _ = try await other.run(
            ["precache", "--progress", "none", try await me.link(key, query: "licensed=\(callback)")])
        for verb in ["renew", "regrant"] { _ = try await other.run(["licence", verb, key]) }
    }

    /// A play under another clock.
    private mutating func moveTime(_ move: AdversaryMove, _ key: String) async throws {
        switch (move, times) {
        case (.setClock, .clocks):
            let offset = ["-1h", "-1d", "-30s", "-5s", "+30s", "+2h"].randomElement(using: &random) ?? "-1h"
            log.append("  \(offset)")
            try await play(key, disguise: FakeClock.at(offset))
        case (.moveBootClock, .clocks):
            // The namespace is given to children, hence the inner program.
            let offset = [-1000, -100, -5, 5].randomElement(using: &random) ?? -100
            try await play(key, script: #"exec unshare --time --boottime \#(offset) "$0" "$@""#)
        case (.changeBoot, .boots), (.setClock, .boots):
            try await play(key, script: LicenceScene.anotherBoot + #"exec "$0" "$@""#)
        default: try await play(key)
        }
    }
}
