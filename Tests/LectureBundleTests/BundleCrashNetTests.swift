import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Kills at calls that change the disk, full disks, and media that is pulled out: no half lecture, and the next run
/// continues.
@Suite(.timeLimit(.minutes(10))) struct BundleCrashNetTests {
    private static let steps = RunSize.isSoak ? 400 : 12

    private func scene() async throws -> (BundleScene, [String: String]) {
        let scene = try await BundleScene()
        var sums: [String: String] = [:]
        for (key, name) in [("a", "3M-1"), ("b", "64K-2")] {
            try await scene.fetch(name, key: key)
            sums[key] = try await scene.sha256(scene.sender, key)
        }
        try await scene.create()
        await scene.sandbox.stop()
        return (scene, sums)
    }

    @Test(.enabled(if: StruckRun.isPossible, "needs ptrace on x86-64"))
    func `an import that is killed at any call leaves no half lecture, and continues`() async throws {
        let (scene, sums) = try await scene()
        let words = ["bundle", "import", scene.file, "--trust", scene.senderKey, "--acks"]
        let run = try StruckRun(BuiltProgram.url.path, words, environment: scene.receiver.environment)
        let whole = try await run.counted()
        var random = SeededGenerator(seed: RunSize.seed)
        let step = max(1, whole / Self.steps)
        var (number, kills) = (Int.random(in: 1...step, using: &random), 0)
        while number <= whole {
            try? FileManager.default.removeItem(atPath: scene.receiver.store)
            guard let struck = try await run.kill(at: number) else { break }
            let what = "seed \(RunSize.seed), \(struck)"
            try await scene.expectSound(what, keys: sums)
            let ending = try await scene.take("--acks")
            #expect(ending.status == 0, "\(what): \(ending.errorText)")
            #expect(Set(ending.text.split(separator: "\n")) == ["ACK a", "ACK b"], "\(what)")
            try await scene.expectSound(what, keys: sums)
            #expect(try await scene.receiver.list().count { $0.state == "completed" } == 2, "\(what)")
            (kills, number) = (kills + 1, number + step)
        }
        #expect(kills >= min(5, whole / step), "\(kills) of \(whole)")
    }

    @Test(.enabled(if: StruckRun.isPossible, "needs ptrace on x86-64"))
    func `a bundle that is killed at any call is whole or is not there`() async throws {
        let (scene, sums) = try await scene()
        let target = scene.sender.home.file("killed.tar")
        let words = ["bundle", "create", target, "--for", scene.receiverKey]
        let run = try StruckRun(BuiltProgram.url.path, words, environment: scene.sender.environment)
        let whole = try await run.counted()
        var (isThere, kills) = (0, 0)
        for number in stride(from: 1, through: whole, by: max(1, whole / Self.steps)) {
            try? FileManager.default.removeItem(atPath: target)
            guard try await run.kill(at: number) != nil else { break }
            kills += 1
            if FileManager.default.fileExists(atPath: target) {
                isThere += 1
                #expect(try await scene.sender("bundle", "verify", target).status == 0)
            } else {
                #expect(try await scene.sender.run(words).status == 0, "call \(number)")
            }
            // Nothing is left beside it.
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.sender.home.path)
            let known: Set = ["b.tar", "killed.tar", "receiver.jwk", "store", ".local", ".config"]
            #expect(Set(left).isSubset(of: known), "\(left)")
        }
        #expect(kills > 3 && isThere < kills && sums.count == 2)
    }

    @Test func `kills at random moments only cost time`() async throws {
        let (scene, sums) = try await scene()
        var random = SeededGenerator(seed: RunSize.seed &+ 1)
        for _ in 0..<RunSize.count(6, soak: 100) {
            try? FileManager.default.removeItem(atPath: scene.receiver.store)
            // proof: the moment of the kill is what is tested, so the test waits for it.
            let moment = Int.random(in: 20...400, using: &random)
            let killed = try await ChildProcess.run(
                "/usr/bin/timeout",
                [
                    "-s", "KILL", "0.\(String(moment + 1000).dropFirst())", BuiltProgram.url.path, "bundle", "import",
                    scene.file, "--trust", scene.senderKey, "--acks",
                ], environment: scene.receiver.environment)
            try await scene.expectSound("\(moment) ms", keys: sums)
            var complete: [String] = []
            if FileManager.default.fileExists(atPath: scene.receiver.store + "/lecturekit.db") {
                complete = try await scene.receiver.list().filter { $0.state == "completed" }.compactMap(\.key)
            }
            for line in killed.text.split(separator: "\n") where line.hasPrefix("ACK ") {
                #expect(complete.contains(String(line.dropFirst(4))), "\(moment) ms")
            }
            #expect(try await scene.take("-q").status == 0, "\(moment) ms")
            #expect(try await scene.receiver.list().count { $0.state == "completed" } == 2)
        }
    }

    @Test(.enabled(if: BadDay.mayMount, "only root may mount a small disk"))
    func `a full disk leaves no bundle, and an import that waits for space continues`() async throws {
        let scene = try await BundleScene()
        try await scene.fetch("24M-2", key: "film")
        try await scene.create()
        let script = #"""
            mount -t tmpfs -o size=20m none /mnt
            status=0; "$0" bundle create /mnt/b.tar --for "$1" 2>errors || status=$?
            echo "$status $(ls -A /mnt | wc -l)"
            grep -c 'not enough space' errors
            umount /mnt
            mount -t tmpfs -o size=48m none /mnt
            head -c 26M /dev/zero >/mnt/filler
            export LECTURE_STORE=/mnt/store LECTURE_DEVICE=$4
            status=0; "$0" bundle import "$2" --trust "$3" --deadline 2s --acks 2>>errors || status=$?
            echo "$status"
            "$0" store check >/dev/null
            rm /mnt/filler
            "$0" bundle import "$2" --trust "$3" --acks
            "$0" cat film | sha256sum | cut -c -64
            """#
        let device = scene.receiver.home.file(".local/share/lecturekit-device")
        let ending = try await scene.sender.withMounts(
            script, scene.receiverKey, scene.file, scene.senderKey, device)
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n").map(String.init)
        let sum = try await scene.sha256(scene.sender, "film")
        #expect(lines == ["75 0", "1", "75", "ACK film", sum], "\(ending.text)\(ending.errorText)")
    }
}
