import Foundation
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Full disks and read-only ones, each a small file system that only the test's processes see.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BadDay.mayMount, "only root may mount a small disk"))
struct FullDiskNetTests {
    /// Mounts a file system of 30 MiB at /mnt, and defines `fill`.
    private static let disk = #"""
        case $1 in
            ext4) truncate -s 30M image; mkfs.ext4 -q -b 1024 -m 0 image; mount -o loop image /mnt;;
            tmpfs) mount -t tmpfs -o size=30m none /mnt;;
        esac
        export LECTURE_STORE=/mnt/store
        fill() {
            head -c "${1}k" /dev/zero > /mnt/keep; sync
            dd if=/dev/zero of=/mnt/full bs=1k status=none 2> /dev/null || true
            while head -c 100 /dev/zero >> /mnt/full2; do :; done 2> /dev/null
            rm /mnt/keep; sync
        }
        try() { status=0; "$@" > out 2> err || status=$?; }

        """#

    /// Whether this machine can mount a file as a disk.
    static let hasLoop: Bool = {
        let script = #"cd "$(mktemp -d)" && truncate -s 4M i && mkfs.ext4 -q -b 1024 i && mount -o loop i /mnt"#
        let result = try? BuiltProgram.run(URL(filePath: "/usr/bin/unshare"), ["--mount", "bash", "-ec", script])
        return result?.status == 0
    }()

    static var disks: [String] { hasLoop ? ["ext4", "tmpfs"] : ["tmpfs"] }

    @Test(.enabled(if: hasLoop, "no ext4 on a loop device here"), arguments: [0, 8, 20, 28, 36])
    func `with blocks of 1 KiB no command ends by a signal`(kibibytes: Int) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script =
            Self.disk + #"""
                "$0" precache --quiet --key a "$2/media/bytes-1M-1.mp4"
                rm -f /mnt/store/space.reserve
                fill "$3"
                for words in "lms add --id x" "list" "remove b" "lms add --id y" "list" "pause a" "status" "cat a"; do
                    try "$0" $words
                    echo "$status $words"
                done
                """#
        let ending = try await me.withMounts(script, "ext4", sandbox.http, "\(kibibytes)")
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n")
        #expect(lines.count == 8)
        for line in lines {
            let reads = ["list", "status", "cat a"].contains { line.hasSuffix($0) }
            #expect(line.hasPrefix("0 ") || (!reads && line.hasPrefix("75 ")), "\(kibibytes): \(line)")
        }
    }

    @Test(arguments: disks)
    func `a full store can be read, and a lecture can be removed from it`(disk: String) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script =
            Self.disk + #"""
                for key in a b c; do "$0" precache --quiet --key $key "$2/media/bytes-1M-$RANDOM.mp4"; done
                fill 0
                for words in "list" "status" "why a" "path a" "show a" "verify --all" "store check" "lms list"; do
                    try "$0" $words
                    echo "$status $words"
                done
                "$0" cat a | sha256sum
                try "$0" precache --key d "$2/media/bytes-1M-4.mp4"; echo "$status precache"
                fill 0
                for key in a b; do try "$0" remove $key; echo "$status remove $key"; fill 0; done
                "$0" list
                rm /mnt/full*
                "$0" store check
                "$0" remove c
                ls /mnt/store/space.reserve
                """#
        let ending = try await me.withMounts(script, disk, sandbox.http)
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count >= 14, "\(ending.text)\(ending.errorText)")
        #expect(lines[..<8].allSatisfy { $0.hasPrefix("0 ") }, "\(lines)")
        #expect(lines[9] == "75 precache")
        #expect(Array(lines[10...11]) == ["0 remove a", "0 remove b"], "\(ending.text)")
        #expect(!ending.text.contains("\na\t") && ending.text.contains("c\tcompleted"), "\(ending.text)")
        #expect(lines.last == "/mnt/store/space.reserve")
    }

    @Test(arguments: disks)
    func `a read-only store can be read, and what would write it says so`(disk: String) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let script =
            Self.disk + #"""
                "$0" precache --quiet --key a "$2/media/bytes-1M-1.mp4"
                mount -o remount,ro /mnt
                for words in "list" "status" "why a" "path a" "show a" "verify a" "store check" "store info" \
                    "lms list" "remove a" "precache --key b $2/media/bytes-1M-2.mp4" "lms add --id x"; do
                    try "$0" $words
                    echo "$status $words"
                done
                "$0" cat a | sha256sum
                ls /mnt/store
                """#
        let ending = try await me.withMounts(script, disk, sandbox.http)
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.text.split(separator: "\n").map(String.init)
        try #require(lines.count > 13, "\(ending.text)")
        #expect(lines[..<9].allSatisfy { $0.hasPrefix("0 ") }, "\(lines)")
        #expect(lines[9..<12].allSatisfy { $0.hasPrefix("74 ") }, "\(lines)")
        #expect(try await lines[12].hasPrefix(sandbox.sha256(of: "/media/bytes-1M-1.mp4")))
        #expect(lines[13...] == ["lecturekit.db", "media", "owners.lock", "space.reserve"])
    }
}
