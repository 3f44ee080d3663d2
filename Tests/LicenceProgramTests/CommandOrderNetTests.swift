import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The commands of docs/move-backup-restore.md in every order: whatever was run too early or too late, the lectures
/// play in the end. A few orders in each run, all of them in `Tools/soak orders`.
@Suite(.timeLimit(.minutes(60))) struct CommandOrderNetTests {
    private static let isSoak = ProcessInfo.processInfo.environment["LECTUREKIT_SOAK"] == "1"

    /// Every order of some commands, or every eleventh of them.
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
        return isSoak ? all : stride(from: 0, to: all.count, by: 11).map { all[$0] }
    }

    /// A device with a lecture of three plays, a backup of its store, and its key as a file.
    private static func prepared(
        _ story: (_ me: LicenceScene, _ key: String, _ importing: String) async throws -> Void
    ) async throws {
        try await LicenceScene.play { me in
            let policy = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) }
            let key = try await me.fetch("4K-1", policy)
            let words = try me.home.write("many words\n", to: "passphrase")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: words)
            let file = me.home.file("key")
            let exported = try await me("device", "export", "--output", file, "--passphrase-file", words)
            #expect(exported.status == 0, "\(exported.errorText)")
            try await story(me, key, "device import --replace --passphrase-file \(words) \(file)")
        }
    }

    /// Runs commands in an order, then those that a refusal names, and plays.
    private static func expectPlay(_ me: LicenceScene, _ key: String, after order: [String]) async throws {
        var story = order
        for command in order { _ = try await me.run(command.split(separator: " ").map(String.init)) }
        for _ in 0..<3 {
            let ending = try await me.run(["cat", key])
            if ending.status == 0 { return }
            story.append(ending.errorText)
            for match in ending.errorText.matches(of: /'lecturectl ([^']+)'/) {
                story.append(String(match.1))
                _ = try await me.run(match.1.split(separator: " ").map(String.init))
                if try await me.licence(key).verdict == "playable" { break }
            }
        }
        Issue.record("\(story)")
    }

    @Test func `a restored store plays in every order of commands`() async throws {
        try await Self.prepared { me, key, importing in
            let backup = me.home.file("backup.db")
            #expect(try await me("store", "backup", backup).status == 0)
            #expect(try await me.plays(key, atMost: 2) == 2)
            let commands = ["licence list", "licence renew --all", "licence regrant --all", importing, "cat \(key)"]
            for (number, order) in Self.orders(commands).enumerated() {
                let machine = try me.copy("\(number)")
                for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: machine.database + end) }
                try FileManager.default.copyItem(atPath: backup, toPath: machine.database)
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
