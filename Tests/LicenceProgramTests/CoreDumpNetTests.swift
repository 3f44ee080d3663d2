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
    @Test(arguments: ["unlimited", "0"])
    func `no core dump of a play that waits contains a key`(limit: String) async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("3000000-7")
            try await me.goOffline()
            // The play has started once its first bytes are there. Then it reads ahead, and OpenSSL's own memory has
            // keys. After that it waits for its output to be read: all of its threads sleep, and none has run between
            // two looks.
            let script = """
                cd "$2" && ulimit -c "$3" && mkfifo pipe
                "$0" cat "$1" >pipe & child=$!
                exec 3<pipe
                head -c 1000 <&3 >/dev/null
                look() { cat /proc/$child/task/*/status | grep -E '^State|ctxt_switches'; }
                before=none
                now=$(look)
                while [ "$now" != "$before" ] || grep '^State' <<<"$now" | grep -qv 'S (sleeping)'; do
                    before=$now
                    now=$(look)
                done
                kill -ABRT $child
                wait $child
                echo $?
                """
            let ending = try await ChildProcess.run(
                "/bin/bash", ["-c", script, BuiltProgram.url.path, key, me.home.path, limit],
                environment: [
                    "LECTURE_STORE": me.store, "LECTURE_DEVICE": me.device,
                    "LECTURE_CONFIG": me.home.file("config.json"), "HOME": me.home.path,
                ])
            #expect(ending.text == "134\n", "\(ending.errorText)")
            let names = try FileManager.default.contentsOfDirectory(atPath: me.home.path).filter {
                $0.hasPrefix("core")
            }
            guard limit != "0" else {
                #expect(names.isEmpty)
                return
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
