import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What happens to a user who means no harm.
enum Misfortune: CaseIterable {
    case play, playThenKill, renew, renewOffline, renewThenKill, precacheThenKill
    case readElsewhere, playElsewhere, loseAnchors
    case clockAhead, clockBehind, bootAhead
    case readOnlyDevice, fullDevice
    case backUp, restore, moveAway, importKey, check
}

/// A generated story of an honest user: misfortunes in an order that a seed decides, against a model of the user's
/// rights. In the end everything that is still due must play, at the latest after the commands that the refusal names.
struct HonestUser {
    /// A lost right, with everything that led to it.
    struct Loss: Error, CustomStringConvertible {
        let description: String
    }

    static let count = 6
    /// A lecture with a count, and one with an end only.
    static let (counted, dated) = ("bytes-4K-1", "bytes-4K-2")

    var me: LicenceScene
    let seed: UInt64
    var random: SeededGenerator
    private(set) var log: [String] = []
    private(set) var advised = 0
    /// Plays since the newest grant, and kills that may have taken one.
    private var played = 0
    private var killed = 0
    private var grants = 0
    private var backup: String?
    private var machines = 0

    init(_ me: LicenceScene, seed: UInt64) {
        (self.me, self.seed) = (me, seed)
        random = SeededGenerator(seed: seed)
    }

    /// Runs a story.
    ///
    /// - Parameter moves: how many misfortunes.
    /// - Throws: ``Loss``.
    mutating func run(moves: Int) async throws {
        let policies = [
            Self.counted: LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (7200, Self.count) },
            Self.dated: LicenceLifeNetTests.policy { $0.expirationIn = 7200 },
        ]
        for (key, policy) in policies { try await me.sandbox.set(policy: policy, for: [key]) }
        try await me.sandbox.set(habits: "claims")
        for key in [Self.counted, Self.dated] {
            let fetched = try await me.run(["precache", "--progress", "none", try await me.link(key)])
            guard fetched.status == 0 else { throw loss("the first download failed: \(fetched.errorText)") }
        }
        try await me.goOffline()
        try await readGrants()
        for _ in 0..<moves {
            guard let move = Misfortune.allCases.randomElement(using: &random) else { break }
            log.append("\(move)")
            try await suffer(move)
            try await expectCount()
        }
        try await me.sandbox.set(habits: "claims")
        for key in [Self.counted, Self.dated] { try await expectPlayable(key) }
    }

    private func loss(_ text: String) -> Loss {
        Loss(description: "seed \(seed): \(text)\n" + log.joined(separator: "\n"))
    }

    // MARK: Rights

    /// New grants of the counted lecture, which start the count again.
    private mutating func readGrants() async throws {
        let granted = try await me.sandbox.callbackItems().count {
            $0.key == Self.counted && $0.kind == 1 && $0.outcome == "granted"
        }
        if granted != grants { (grants, played, killed) = (granted, 0, 0) }
    }

    /// As long as the licence is trusted its count is the model's.
    private mutating func expectCount() async throws {
        try await readGrants()
        let licence = try await me.licence(Self.counted)
        guard licence.verdict == "playable", let left = licence.countLeft else { return }
        let most = Self.count - played
        guard (most - killed...most).contains(left) else {
            throw loss("\(left) plays left, \(played) taken, \(killed) killed")
        }
    }

    /// A right that is left must be playable after what the refusal advises.
    private mutating func expectPlayable(_ key: String) async throws {
        try await readGrants()
        if key == Self.counted, played + killed >= Self.count { return }
        let end = try await me.playAsAdvised(key)
        advised += end.commands.count
        log += end.log
        if !end.isPlayed { throw loss("\(key) does not play after what was advised") }
    }

    // MARK: Misfortunes

    private mutating func suffer(_ misfortune: Misfortune) async throws {
        let key = Bool.random(using: &random) ? Self.counted : Self.dated
        switch misfortune {
        case .play: book(try await me.run(["cat", key]), key)
        case .playThenKill:
            try await kill(["cat", key], within: 60_000)
            if key == Self.counted { killed += 1 }
        case .renew: try await online(["licence", "renew", "--all"])
        case .renewOffline: _ = try await me("licence", "renew", "--all", "--max-attempts", "1")
        case .renewThenKill, .precacheThenKill:
            try await me.sandbox.set(habits: "claims")
            let link = try await me.link(key)
            let words = misfortune == .renewThenKill ? ["licence", "renew", "--all"] : ["precache", link]
            try await kill(words, within: 200_000)
            try await me.goOffline()
        case .readElsewhere, .playElsewhere: try await visit(misfortune, key)
        case .loseAnchors:
            try me.deleteAnchors()
        case .clockAhead, .clockBehind:
            let time = misfortune == .clockAhead ? "+9h" : "-9h"
            book(try await me.run(["cat", key], environment: FakeClock.at(time)), key)
        case .bootAhead: try await bootAhead(key)
        case .readOnlyDevice, .fullDevice: try await obstruct(misfortune, key)
        case .backUp, .restore: try await copy(misfortune)
        case .moveAway: try move()
        case .importKey: try await importKey()
        case .check: for words in [["verify"], ["store", "check"], ["status"]] { _ = try await me.run(words) }
        }
    }

    private mutating func book(_ ending: ChildProcess.Ending, _ key: String) {
        log.append("  \(key): status \(ending.status)")
        if ending.status == 0, key == Self.counted { played += 1 }
    }

    private mutating func kill(_ words: [String], within bytes: Int) async throws {
        let process = try me.start(words)
        await ChildProcess.wait(forWritten: Int.random(in: 1...bytes, using: &random), by: [process])
        process.send(SIGKILL)
        _ = await process.ending()
    }

    private func online(_ words: [String]) async throws {
        try await me.sandbox.set(habits: "claims")
        _ = try await me.run(words)
        try await me.goOffline()
    }

    /// A cron job with another home.
    private mutating func visit(_ misfortune: Misfortune, _ key: String) async throws {
        let elsewhere = ["LECTURE_DEVICE": me.home.file("elsewhere")]
        let words = misfortune == .playElsewhere ? ["cat", key] : ["licence", "show", key]
        let ending = try await me.run(words, environment: elsewhere)
        if misfortune == .playElsewhere, ending.status == 0 { throw loss("another device played") }
    }

    /// A restart with the clock ahead; afterwards the clock is right.
    private mutating func bootAhead(_ key: String) async throws {
        let variables = FakeClock.at("+9h").map { "\($0)='\($1)'" }.sorted().joined(separator: " ")
        let script = #"exec env \#(variables) "$0" "$@""#
        book(try await me.withMounts(LicenceScene.anotherBoot + script, "cat", key, isMedia: true), key)
    }

    private mutating func obstruct(_ misfortune: Misfortune, _ key: String) async throws {
        let remount =
            misfortune == .readOnlyDevice
            ? #"mount --bind "$LECTURE_DEVICE" "$LECTURE_DEVICE"; mount -o remount,bind,ro "$LECTURE_DEVICE""#
            : """
            cp -a "$LECTURE_DEVICE" "$HOME/full-copy"; mount -t tmpfs -o size=64k tmpfs "$LECTURE_DEVICE"
            cp -a "$HOME/full-copy/." "$LECTURE_DEVICE/"; rm -r "$HOME/full-copy"
            chmod 0700 "$LECTURE_DEVICE"; cat /dev/zero > "$LECTURE_DEVICE/filler" 2>/dev/null
            """
        let ending = try await me.withMounts(remount + "\n" + #"exec "$0" "$@""#, "cat", key, isMedia: true)
        // A play is not possible, since its anchor could not be stored.
        if ending.status == 0, key == Self.counted { throw loss("a play was given without its anchor") }
        book(ending, key)
    }

    private mutating func copy(_ misfortune: Misfortune) async throws {
        if misfortune == .backUp {
            let copy = me.home.file("backup-\(log.count)")
            guard try await me("store", "backup", copy).status == 0 else { return }
            backup = copy
        } else if let backup {
            me.restoreDatabase(backup)
        }
    }

    /// To another machine, with the whole device directory.
    private mutating func move() throws {
        machines += 1
        let (store, device) = (me.home.file("machine-\(machines)/store"), me.home.file("machine-\(machines)/device"))
        try LicenceScene.copy(me.store, to: store)
        try LicenceScene.copy(me.device, to: device)
        for old in [me.store, me.device] { try FileManager.default.removeItem(atPath: old) }
        (me.store, me.device) = (store, device)
    }

    /// To another machine, with the exported key.
    private mutating func importKey() async throws {
        machines += 1
        let importing = try await me.exportKey("key-\(machines)")
        me.device = me.home.file("machine-\(machines)/device")
        let imported = try await me.run(importing)
        guard imported.status == 0 else { throw loss("no import: \(imported.errorText)") }
    }
}
