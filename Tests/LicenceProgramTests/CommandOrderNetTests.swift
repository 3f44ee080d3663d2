import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The commands of docs/move-backup-restore.md in every order: whatever was run too early or too late, the lectures
/// play in the end. A few orders in each run, all of them in `Tools/soak adversary`.
@Suite(.timeLimit(.minutes(60))) struct CommandOrderNetTests {
    /// Every order of some commands, or every seventeenth of them.
    private static func orders(_ words: [String]) -> [[String]] {
        func permute(_ rest: [String]) -> [[String]] {
            guard !rest.isEmpty else { return [[]] }
            return rest.indices.flatMap { place in
                var others = rest
                let first = others.remove(at: place)
                return permute(others).map { [first] + $0 }
            }
        }
        let all = permute(words)
        return RunSize.isSoak ? all : stride(from: 0, to: all.count, by: 17).map { all[$0] }
    }

    /// A device with a lecture of three plays, a backup of its store, and its key as a file.
    private static func prepared(
        _ story: (_ me: LicenceScene, _ key: String, _ importing: String) async throws -> Void
    ) async throws {
        try await LicenceScene.play { me in
            let policy = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) }
            let key = try await me.fetch("4K-1", policy)
            let importing = try await me.exportKey() + ["--replace"]
            try await story(me, key, importing.joined(separator: " "))
        }
    }

    /// Runs commands in an order, then those that a refusal names, and plays.
    private static func expectPlay(_ me: LicenceScene, _ key: String, after order: [String]) async throws {
        for command in order { _ = try await me.run(command.split(separator: " ").map(String.init)) }
        let end = try await me.playAsAdvised(key)
        #expect(end.isPlayed, "\(order + end.log)")
    }

    @Test func `a restored store plays in every order of commands`() async throws {
        try await Self.prepared { me, key, importing in
            let backup = me.home.file("backup.db")
            #expect(try await me("store", "backup", backup).status == 0)
            #expect(try await me.plays(key, atMost: 2) == 2)
            let commands = ["licence list", "licence renew --all", "licence regrant --all", importing, "cat \(key)"]
            for (number, order) in Self.orders(commands).enumerated() {
                let machine = try me.copy("\(number)")
                machine.restoreDatabase(backup)
                try await Self.expectPlay(machine, key, after: order)
            }
        }
    }

    @Test func `a moved store plays in every order of commands`() async throws {
        try await Self.prepared { me, key, importing in
            let commands = [
                "licence renew --all", "licence regrant --all", importing, "precache",
                "licence regrant --all --new-device",
            ]
            for (number, order) in Self.orders(commands).enumerated() {
                var machine = try me.copy("\(number)", device: false)
                machine.device = me.home.file("machines/\(number)/device")
                try await Self.expectPlay(machine, key, after: order)
            }
        }
    }
}
