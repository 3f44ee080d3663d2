import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The page "Move, back up, restore": its commands, unchanged and in order.
@Suite(.timeLimit(.minutes(3))) struct MovePageNetTests {
    /// The commands of the page by heading, block by block.
    private static func blocks() throws -> [(heading: String, commands: [String])] {
        let page = try String(
            contentsOfFile: "\(Places.repository())/docs/move-backup-restore.md", encoding: .utf8)
        var (blocks, heading, isInside): ([(heading: String, commands: [String])], String, Bool) = ([], "", false)
        for line in page.split(separator: "\n") {
            if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
            if line.hasPrefix("```") {
                isInside = line == "```console"
                if isInside { blocks.append((heading, [])) }
            } else if isInside, line.hasPrefix("$ ") {
                blocks[blocks.count - 1].commands.append(String(line.dropFirst(2)))
            }
        }
        return blocks
    }

    /// Runs commands in a shell; each must exit with 0.
    private static func run(_ commands: [String], _ me: LicenceScene, _ variables: [String: String]) async throws {
        var environment = [
            "HOME": me.home.path, "LECTURE_STORE": me.store, "LECTURE_DEVICE": me.device,
            "LECTURE_CONFIG": me.home.file("config.json"), "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "",
            "XDG_CONFIG_HOME": "",
            "PATH": "\(BuiltProgram.url.deletingLastPathComponent().path):/usr/bin:/bin",
        ]
        environment.merge(variables) { _, new in new }
        let script = "set -eu\n" + commands.joined(separator: "\n")
        let ending = try await ChildProcess(
            "/bin/bash", ["-c", script], environment: environment, directory: me.home.path
        ).ending()
        me.keep(ending)
        #expect(ending.status == 0, "\(commands): \(ending.text) \(ending.errorText)")
    }

    @Test func `the commands of the page lead to lectures that play, in the order of the page`() async throws {
        let blocks = try Self.blocks()
        #expect(
            blocks.map(\.heading) == [
                "Back up", "Restore", "Move to another machine", "The store was used before its key was there",
                "Without the old key", "The database is lost",
            ])
        try await LicenceScene.play { me in
            let counted = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 30) }
            let key = try await me.fetch("64K-1", counted)
            let (backup, passphrase) = (me.home.file("backup"), try me.home.write("many words\n", to: "passphrase"))
            try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passphrase)
            var variables = ["BACKUP": backup, "PASSPHRASE": passphrase]
            try await Self.run(blocks[0].commands, me, variables)
            // More plays than a new store may have without its anchor.
            #expect(try await me.plays(key, atMost: 18) == 18)
            try await Self.run(blocks[1].commands, me, variables)
            #expect(try await me.plays(key, atMost: 18) == 18)

            // On another machine: a timer ran first, or an earlier version did, or all is done right.
            func machine(_ name: String) throws -> LicenceScene {
                var other = me
                (other.store, other.device) = (me.home.file("\(name)/store"), me.home.file("\(name)/device"))
                variables["OLD"] = me.store
                return other
            }
            let right = try machine("right")
            try await Self.run(blocks[2].commands, right, variables)
            #expect(try await right.plays(key, atMost: 1) == 1)
            for taken in [false, true] {
                let other = try machine("early-\(taken)")
                try LicenceScene.copy(me.store, to: other.store)
                #expect(try await other("licence", "renew", "--all").status == 77)
                if taken { #expect(try await other("licence", "regrant", "--all", "--new-device").status == 1) }
                #expect(try await other.plays(key) == 0)
                try await Self.run(blocks[3].commands, other, variables)
                #expect(try await other.plays(key, atMost: 1) == 1, "taken over: \(taken)")
            }
            let lost = try machine("lost")
            try LicenceScene.copy(me.store, to: lost.store)
            variables["LIST"] = try me.home.write("\(try await me.link(key))\n", to: "list.txt")
            try await Self.run(blocks[4].commands, lost, variables)
            #expect(try await lost.plays(key, atMost: 1) == 1)
            let rebuilt = try machine("rebuilt")
            try LicenceScene.copy(me.store, to: rebuilt.store)
            LicenceScene.deleteDatabase(of: rebuilt.store)
            variables["COURSE"] = try me.home.write("{\"url\":\"\(try await me.link(key))\"}\n", to: "course.jsonl")
            try await Self.run(blocks[5].commands, rebuilt, variables)
            #expect(try await rebuilt.plays(key, atMost: 1) == 1)
        }
    }

    @Test func `an unsealed file of a lost database does not become a licensed lecture`() async throws {
        try await LicenceScene.play { me in
            // Its database is lost before the licence comes.
            let media = Data([0, 0, 0, 16] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 4084))
            try FileManager.default.createDirectory(atPath: "\(me.store)/media/0000", withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: me.store)
            let file = URL(filePath: "\(me.store)/media/0000/1.mp4")
            try media.write(to: file)
            let key = try await me.fetch("4K-1", LicenceLifeNetTests.policy { $0.expirationIn = 3600 })
            #expect(try await me("remove", key).status == 0)
            let digest = try await ChildProcess.run("/usr/bin/sha256sum", [file.path]).text.prefix(64)
            let line = #"{"url":"http://127.0.0.1:1/a.mp4","key":"\#(key)","sha256":"\#(digest)"}"#
            let list = try me.home.write(line, to: "list.jsonl")
            let ending = try await me("store", "rebuild", "--json", list)
            #expect(
                ending.status == 1 && ending.text.contains(#""outcome":"licensed","key":"\#(key)""#), "\(ending.text)")
            #expect(try await me("list").text == "")
            #expect(try await me("store", "rebuild", "--json", "--delete-unusable", list).status == 0)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }
}
