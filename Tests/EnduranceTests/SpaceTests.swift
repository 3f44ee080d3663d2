import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Disks that fill up: a reason to stop and not to fail, and never a reason to take more than was allowed.
///
/// Each test mounts its own small disk, which no other process sees and which goes with the last process.
@Suite(.timeLimit(.minutes(3)), .enabled(if: BadDay.mayMount, "only root may mount a small disk"))
struct SpaceNetTests {
    @Test func `when space returns the same process continues by itself`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        // The first lecture keeps the process at work until the second one is tried again.
        let script = #"""
            mount -t tmpfs -o size=48m none /mnt
            export LECTURE_STORE=/mnt/store
            head -c 26M /dev/zero > /mnt/filler
            mkfifo events
            "$0" precache --json --connections 1 "$1/media/bytes-8M-1.mp4?fault=slow:110000" \
                "$1/media/bytes-24M-2.mp4" > events &
            exec 3< events
            while read -r line <&3; do
                case $line in *'"stop_reason":"space"'*) rm -f /mnt/filler;; esac
                case $line in *summary*) echo "$line";; esac
            done
            wait $!
            [ ! -e /mnt/filler ] && echo freed
            "$0" store check
            "$0" verify --all --json
            """#
        let ending = try await me.withMounts(script, sandbox.http)
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 4, "\(ending.text)")
        #expect(try Line.summary(String(lines[0])).completed == 2)
        #expect(lines[1] == "freed")
        #expect(lines[2].contains(#""damaged":[]"#) && lines[3].contains(#""damaged":[]"#))
    }

    @Test(arguments: [true, false])
    func `however many items and processes there are, the reserve stays free`(announcesLength: Bool) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        // Space for five of the sixteen lectures beside the reserve; four processes want four each at the same moment.
        let script = #"""
            mount -t tmpfs -o size=64m none /mnt
            export LECTURE_STORE=/mnt/store LECTURE_RESERVE=20M
            "$0" store migrate
            status=
            for number in 1 2 3 4; do
                "$0" precache --quiet --jobs 8 --deadline 8s "$1/media/bytes-8M-${number}1.mp4$2" \
                    "$1/media/bytes-8M-${number}2.mp4$2" "$1/media/bytes-8M-${number}3.mp4$2" \
                    "$1/media/bytes-8M-${number}4.mp4$2" 2>> errors &
            done
            least=999999
            while [ -n "$(jobs -r)" ]; do
                free=$(df --output=avail -k /mnt | tail -1)
                [ $free -lt $least ] && least=$free
                # proof: a look now and then is enough, and must not take the processor from the programs.
                sleep 0.02
            done
            free=$(df --output=avail -k /mnt | tail -1)
            [ $free -lt $least ] && least=$free
            echo $least
            "$0" list --json
            "$0" store check
            """#
        let ending = try await me.withMounts(script, sandbox.http, announcesLength ? "" : "?fault=no-length")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n", maxSplits: 1)
        let least = try #require(Int(lines[0]))
        let contents = try Line.all(String(lines[1]))
        print("reserve 20480 KiB, least free \(least) KiB, \(contents.count { $0.state == "completed" }) complete")
        #expect(contents.count == 16)
        #expect(contents.contains { $0.state == "stopped" && $0.stopReason == "space" })
        // Without lengths all of them may have started, and none has space to finish.
        #expect(!announcesLength || contents.contains { $0.state == "completed" })
        // The database and its log are on the same disk and are not counted; without a length, each connection checks
        // only the space for its block of 1 MiB.
        #expect(least >= (20 << 10) - (4 << 10) - (announcesLength ? 0 : 16 << 10))
    }

    @Test(arguments: ["", "?fault=no-length"])
    func `a quota is never exceeded, and stopped lectures resume when there is space`(fault: String) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let urls = (1...4).map { "\(sandbox.http)/media/bytes-4M-\($0).mp4\(fault)" }
        let first = try await me.run(["precache", "--json", "--jobs", "1", "--quota", "9M"] + urls)
        #expect(first.status == 75, "\(first.errorText)")
        let media = "\(me.store)/media"
        func used() throws -> Int {
            try FileManager.default.subpathsOfDirectory(atPath: media).reduce(0) { sum, path in
                let facts = try FileManager.default.attributesOfItem(atPath: "\(media)/\(path)")
                return sum + (facts[.type] as? FileAttributeType == .typeRegular ? facts[.size] as? Int ?? 0 : 0)
            }
        }
        #expect(try used() <= 9 << 20)
        let contents = try await me.list()
        let complete = contents.filter { $0.state == "completed" }.compactMap(\.key)
        #expect(complete.count == 2)
        #expect(contents.filter { $0.stopReason == "quota" }.count == 2)
        // A smaller quota removes nothing; nothing new is added.
        #expect(try await me("precache", "--quota", "1M").status == 75)
        #expect(try await me("verify", "--all").text == "")
        #expect(try await me.list().count { $0.state == "completed" } == 2)
        #expect(try await me("remove", complete[0]).status == 0)
        #expect(try await me("precache", "--quota", "9M").status == 75)
        #expect(try await me.list().count { $0.state == "completed" } == 2)
        #expect(try used() <= 9 << 20)
        #expect(try await me("precache").status == 0)
        #expect(try await me.list().count { $0.state == "completed" } == 3)
        try await me.expectSound()
    }

    @Test func `a disk without inodes is a full disk`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script = #"""
            mount -t tmpfs -o size=32m,nr_inodes=40 none /mnt
            export LECTURE_STORE=/mnt/store
            "$0" store migrate
            mkdir /mnt/fill
            while : > /mnt/fill/$RANDOM$RANDOM; do :; done 2> /dev/null || true
            status=0; "$0" precache --json --key k "$1" > out || status=$?
            grep -o '"name":"[a-z_]*"' out
            echo "status $status"
            rm -r /mnt/fill
            "$0" precache --key k "$1"
            "$0" store check
            sha256sum < "$("$0" path k)"
            """#
        let ending = try await me.withMounts(script, "\(sandbox.http)/media/bytes-2M-1.mp4")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 3, "\(ending.text) \(ending.errorText)")
        #expect(lines[0] == #""name":"storage_full""#)
        #expect(lines[1] == "status 75")
        #expect(try await lines[2].hasPrefix(sandbox.sha256(of: "/media/bytes-2M-1.mp4")))
    }

    @Test func `an output on a full disk is reported, leaves no partial file, and spares the lecture`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script = #"""
            mount -t tmpfs -o size=2m none /mnt
            status=0; "$0" precache --key k --output /mnt/a.mp4 "$1" || status=$?
            echo "status $status, files $(ls -A /mnt | wc -l)"
            "$0" verify k --json
            mount -o remount,size=16m /mnt
            "$0" precache --key k --output /mnt/a.mp4 "$1"
            sha256sum < /mnt/a.mp4
            """#
        let ending = try await me.withMounts(script, "\(sandbox.http)/media/bytes-4M-1.mp4")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 3, "\(ending.text)")
        #expect(lines[0] == "status 73, files 0")
        #expect(lines[1].contains(#""damaged":[]"#))
        #expect(try await lines[2].hasPrefix(sandbox.sha256(of: "/media/bytes-4M-1.mp4")))
        #expect(ending.errorText.contains("there is not enough space on the disk"))
    }

    /// A file system that a test makes.
    enum Disk: String, CaseIterable {
        case tmpfs = "mount -t tmpfs -o size=40m none /mnt"
        // Blocks reserved for root would keep the disk from being full for it.
        case ext4 = "truncate -s 48M disk; mkfs.ext4 -q -m 0 disk; mount -o loop disk /mnt"
    }

    private static let maySetUpLoop: Bool = {
        let script = "truncate -s 4M $0; mkfs.ext4 -q $0; mount -o loop $0 /mnt; umount /mnt"
        guard let directory = try? TemporaryDirectory() else { return false }
        let result = try? BuiltProgram.run(
            URL(filePath: "/usr/bin/unshare"), ["--mount", "bash", "-ec", script, directory.file("disk")],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        return result?.status == 0
    }()

    @Test(arguments: Disk.allCases)
    func `when another program fills the disk, the same process continues once there is space`(
        disk: Disk
    ) async throws {
        guard disk != .ext4 || Self.maySetUpLoop else {
            print("skipped: no loop device for a file system of ext4 can be set up here")
            return
        }
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script = #"""
            \#(disk.rawValue)
            export LECTURE_STORE=/mnt/store LECTURE_RESERVE=0 PATH=/usr/sbin:$PATH
            mkfifo events
            "$0" precache --json --connections 1 --key k "$1?fault=slow:1000000" > events &
            exec 3< events
            failures=0
            while read -r line <&3; do
                case $line in
                # A full disk before the file has its space is a reason to stop.
                *'"event":"progress"'*) if [ ! -e /mnt/filler ] && [ $failures = 0 ] &&
                    [ "0$(find /mnt/store/media -name '*.part' -printf '%b\n' | head -n 1)" -ge 24576 ]; then
                    # At once: writing all of it may take longer than the download on a busy disk.
                    fallocate -l "$(df --output=avail -B1 /mnt | tail -n 1)" /mnt/filler 2> /dev/null || true
                    cat /dev/zero >> /mnt/filler 2> /dev/null || true
                fi;;
                *'"event":"error"'*) failures=1; rm -f /mnt/filler;;
                *summary*) echo "$line";;
                esac
            done
            wait $!
            echo "failures $failures"
            "$0" store check
            sha256sum < "$("$0" path k)"
            cd /; umount /mnt
            """#
        let ending = try await me.withMounts(script, "\(sandbox.http)/media/bytes-12M-3.mp4")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        try #require(lines.count == 3, "\(ending.text)")
        #expect(try Line.summary(String(lines[0])).completed == 1)
        #expect(lines[1] == "failures 1")
        #expect(try await lines[2].hasPrefix(sandbox.sha256(of: "/media/bytes-12M-3.mp4")))
        #expect(ending.errorText.contains("there is not enough space on the disk"))
    }
}
