import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// An ext4 disk in a file, whose power can be cut.
///
/// It is mounted in its own namespace: when the process that holds the namespace ends, in whatever way, the mount
/// goes with it, and with the mount the loop device.
final class PowerDisk: Sendable {
    private let holder: ChildProcess
    private let image: String
    /// The mount point inside the namespace.
    let place: String
    /// Prefix of a command that runs inside the namespace.
    let prefix: [String]

    /// Why such a disk is impossible here; nil when it is possible.
    static let obstacle: String? = {
        // Rights alone are not enough: the kernel must have loop devices, ext4 and its shutdown.
        let script = """
            directory=$(mktemp -d); trap 'rm -rf "$directory"' EXIT
            truncate -s 16M "$directory/image"; /usr/sbin/mkfs.ext4 -q "$directory/image"
            mkdir "$directory/disk"; mount -o loop "$directory/image" "$directory/disk"
            python3 -c '\(cutting)' "$directory/disk"; umount "$directory/disk"
            """
        let words = ["--mount", "bash", "-euc", script]
        guard let result = try? BuiltProgram.run(URL(filePath: "/usr/bin/unshare"), words) else {
            return "unshare cannot be run"
        }
        return result.status == 0 ? nil : "no ext4 on a loop device here: \(result.diagnosticsText)"
    }()

    /// `EXT4_IOC_SHUTDOWN` without a last flush of the journal: from this moment nothing reaches the disk.
    private static let cutting =
        "import fcntl, os, struct, sys; "
        + "fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack(\"I\", 2))"

    /// Makes an empty disk in a file of `home` and mounts it with these options of mount(8).
    init(in home: TemporaryDirectory, options: String) async throws {
        image = home.file("image")
        place = home.file("disk")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        // `cat` ends when its input closes: with the last reference to the holder.
        holder = try ChildProcess(
            "/usr/bin/unshare", ["--mount", "bash", "-euc", "echo ready; exec cat"], keepsInputOpen: true)
        try await holder.wait(forOutput: "ready")
        prefix = ["/usr/bin/nsenter", "--mount=/proc/\(holder.identifier)/ns/mnt"]
        try await shell("truncate -s 512M \"$0\"; /usr/sbin/mkfs.ext4 -q -E lazy_itable_init=0 \"$0\"", image)
        try await mount(options)
    }

    /// Mounts it; ext4 replays its journal then.
    func mount(_ options: String) async throws {
        try await shell("mount -o loop,\(options) \"$0\" \"$1\"", image, place)
    }

    /// Cuts the power.
    func cut() async throws { try await shell("python3 -c '\(Self.cutting)' \"$0\"", place) }

    /// Unmounts it after a cut; what was not on the disk is lost.
    func unmount() async throws {
        // A killed program releases its files a moment after its parent has seen its end.
        try await shell(
            "for try in $(seq 500); do umount \"$0\" && exit 0; sleep 0.02; done 2>/dev/null; exit 1", place)
    }

    /// The file system itself must be whole.
    func check() async throws -> ChildProcess.Ending {
        try await ChildProcess.run("/usr/sbin/e2fsck", ["-f", "-n", image])
    }

    private func shell(_ script: String, _ words: String...) async throws {
        let ending = try await ChildProcess.run(prefix[0], [prefix[1], "bash", "-euc", script] + words)
        try #require(ending.status == 0, "\(script): \(ending.status) \(ending.errorText)")
    }
}
