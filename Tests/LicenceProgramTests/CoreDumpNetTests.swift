import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Whether a core dump becomes a file in the program's directory.
private let leavesCores: Bool = {
    let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    return pattern?.trimmingCharacters(in: .whitespacesAndNewlines) == "core"
}()

/// The core dump of a program that dies during a play.
@Suite(.timeLimit(.minutes(3)), .enabled(if: leavesCores, "core dumps go to another program"))
struct CoreDumpNetTests {
    @Test func `no core dump during a play contains a key`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("3000000-7")
            try await me.goOffline()
            // The play has started once its first bytes are there; it waits, its key in use, for its output to be read.
            let script = """
                cd "$2" && ulimit -c unlimited && mkfifo pipe
                "$0" cat "$1" >pipe & child=$!
                exec 3<pipe
                head -c 1000 <&3 >/dev/null
                kill -ABRT $child
                wait $child
                echo $?
                """
            let ending = try await ChildProcess.run(
                "/bin/bash", ["-c", script, BuiltProgram.url.path, key, me.home.path],
                environment: [
                    "LECTURE_STORE": me.store, "LECTURE_DEVICE": me.device,
                    "LECTURE_CONFIG": me.home.file("config.json"), "HOME": me.home.path,
                ])
            #expect(ending.text == "134\n", "\(ending.errorText)")
            let names = try FileManager.default.contentsOfDirectory(atPath: me.home.path).filter {
                $0.hasPrefix("core")
            }
            let core = try Data(contentsOf: URL(filePath: me.home.file(try #require(names.first))))
            // Data that is not secret is found, which shows that the search works.
            #expect(core.range(of: Data(key.utf8)) != nil)
            let keys = try await me.keys()
            #expect(keys.count == 3)
            for secret in keys { #expect(core.range(of: secret) == nil) }
        }
    }
}
