import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Commands that only read make no store, and only its owner, or the group it is shared with, works on one.
@Suite(.timeLimit(.minutes(2))) struct StoreAccessTests {
    private static let missing = "there is no store. 'lecturectl precache' creates one; --store selects another"

    @Test(arguments: [
        "list", "list --state failed", "pause --all", "resume --all", "cancel --all", "remove --all", "verify --all",
        "licence list", "licence renew", "licence debts", "lms list", "lms send", "lms retry --all",
    ])
    func `without a store a command has nothing to do, says so and creates none`(line: String) async throws {
        let me = try BadDay()
        for extra in [[], ["--json"]] {
            let ending = try await me.run(extra + line.split(separator: " ").map(String.init))
            #expect(ending.status == 0, "\(ending.errorText)")
            #expect(ending.text.isEmpty)
            #expect(ending.errorText.contains("\(me.store): \(Self.missing)"))
            #expect(!FileManager.default.fileExists(atPath: me.store))
        }
    }

    @Test(arguments: [
        "show a", "why a", "path a", "cat a", "pause a", "remove a", "verify a", "licence show a", "lms export",
        "lms erase --user u",
    ])
    func `without a store no named lecture is found, and no store is created`(line: String) async throws {
        let me = try BadDay()
        let ending = try await me.run(["--json"] + line.split(separator: " ").map(String.init))
        #expect(ending.status == 74, "\(ending.errorText)")
        #expect(try Line.all(ending.text).map(\.name) == ["store_missing"])
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `status without a store shows that it is empty`() async throws {
        let me = try BadDay()
        let plain = try await me("status")
        #expect(plain.status == 0 && plain.text.hasPrefix("The store is empty.\n"))
        #expect(plain.errorText.contains(Self.missing))
        let json = try await me("status", "--json")
        #expect(json.status == 0)
        #expect(try Line.all(json.text).count == 1)
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `a directory without a database is not a store, and is left untouched`() async throws {
        let me = try BadDay()
        try FileManager.default.createDirectory(atPath: me.store, withIntermediateDirectories: false)
        #expect(try await me("list").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: me.store).isEmpty)
    }

    @Test(
        .enabled(if: geteuid() == 0),
        arguments: [
            ["list"], ["status"], ["show", "a"], ["store", "check"], ["store", "info"], ["store", "backup", "copy"],
            ["precache"], ["lms", "list"], ["lms", "add"], ["licence", "list"],
        ])
    func `root refuses another user's store and names the remedy`(words: [String]) async throws {
        let me = try BadDay()
        #expect(try await me("lms", "add", "--id", "r").status == 0)
        try Self.give(me.store, to: 65_534)
        let before = try Self.names(in: me.store)
        let ending = try await me.run(["--json"] + words)
        #expect(ending.status == 77, "\(ending.errorText)")
        #expect(ending.errorText.contains("\(me.store): the store belongs to another user"))
        #expect(ending.errorText.contains("it is owned by nobody: sudo -u nobody lecturectl"))
        #expect(ending.text.contains(#""name":"store_owner""#))
        #expect(try Self.names(in: me.store) == before)
        try Self.give(me.store, to: 12_345)
        let nameless = try await me.run(words)
        #expect(nameless.errorText.contains("it is owned by user 12345: sudo -u '#12345' lecturectl"))
        try Self.give(me.store, to: 0)
        #expect(try await me("lms", "list", "--ids").status == 0)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `root creates no store in a directory that belongs to a service`() async throws {
        let me = try BadDay()
        try FileManager.default.createDirectory(atPath: me.store, withIntermediateDirectories: false)
        try Self.give(me.store, to: 65_534)
        let ending = try await me("lms", "add")
        #expect(ending.status == 77 && ending.errorText.contains("sudo -u nobody lecturectl"), "\(ending.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: me.store).isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `another user is refused as well, and the named remedy works`() throws {
        // A directory that every user can reach, with the program in it.
        let result = try BuiltProgram.shell(
            """
            set -e
            place=$(mktemp -d /tmp/lecture-access-XXXXXX); trap 'rm -rf "$place"' EXIT
            chmod 755 "$place"; cp "$0" "$place/lecturectl"; mkdir "$place/home"; chown 65534 "$place/home"
            export HOME="$place/home"
            as() { setpriv --reuid="$1" --regid=65534 --clear-groups env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" \
                "$place/lecturectl" --store "$place/home/store" "${@:2}"; }
            as 65534 lms add --id one
            chmod 755 "$place/home" "$place/home/store"
            as 12345 lms list --ids 2>"$place/errors" && exit 1 || test $? = 77
            grep -q 'owned by nobody: sudo -u nobody lecturectl' "$place/errors"
            as 65534 lms list --ids
            """)
        #expect(result.status == 0, "\(result.diagnosticsText)")
        #expect(result.outputText.contains("one"))
    }

    @Test(.enabled(if: geteuid() == 0))
    func `members of the group that a store is shared with use it as its owner does`() throws {
        let result = try BuiltProgram.shell(
            """
            set -e
            umask 077
            place=$(mktemp -d /tmp/lecture-group-XXXXXX); trap 'rm -rf "$place"' EXIT
            chmod 755 "$place"; cp "$0" "$place/lecturectl"; mkdir "$place/home"; chown 65534 "$place/home"
            chmod 755 "$place/home" "$place/lecturectl"
            export HOME="$place/home" LECTURE_DEVICE="$place/home/device"
            as() { setpriv --reuid="$1" --regid="$1" --groups="$2" env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" \\
                "$place/lecturectl" --store "$place/home/store" "${@:3}"; }
            refused() { if as "${@:3}" 2>"$place/errors"; then exit 1; else test $? = "$1"; fi
                grep -qF "$2" "$place/errors"; }
            as 65534 4321 lms add --id owner
            refused 77 'it is owned by nobody: sudo -u nobody lecturectl' 12345 4321 lms list
            printf '{"storage":{"group":"4321"}}' >"$place/config.json"; chmod 644 "$place/config.json"
            # A file of another user in the store does not keep its owner from sharing it.
            echo mine >"$place/home/store/foreign"
            as 65534 4321 --config "$place/config.json" store info >"$place/info"
            test "$(stat -c %u:%g:%a "$place/home/store/foreign")" = 0:0:600; rm "$place/home/store/foreign"
            grep -q 'storage.group' "$place/info"
            as 65534 4321 --config "$place/config.json" lms list
            # The directory keeps the setting, and every part of the store is the group's.
            test -z "$(find "$place/home/store" "$place/home/device" ! -group 4321 -o -type d ! -perm 2770 \\
                -o -type f ! -perm 660)"
            as 12345 4321 lms add --id member
            as 12345 4321 device show
            as 65534 4321 device show
            as 12345 4321 --config "$place/config.json" store check
            "$place/lecturectl" --store "$place/home/store" lms add --id root
            as 65534 4321 lms list --ids
            test -z "$(find "$place/home/store" "$place/home/device" -type f ! -perm 660)"
            refused 77 'shared with a group that this user is not a member of' 12346 12346 lms list
            LECTURE_GROUP=99 refused 78 "the user is not a member of the group '99'" 65534 4321 lms list
            LECTURE_GROUP=none refused 78 "there is no group 'none' on this machine" 65534 4321 lms list
            # What docs/configuration.md says ends it.
            chown -R 65534 "$place/home/store" "$place/home/device"
            chmod -R g-rwxs "$place/home/store" "$place/home/device"
            refused 77 'it is owned by nobody' 12345 4321 lms list
            as 65534 4321 lms list --ids
            as 65534 4321 device show
            """)
        #expect(result.status == 0, "\(result.diagnosticsText)")
        #expect(result.outputText.contains("owner\nmember\nroot\n"))
    }

    private static func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    private static func give(_ path: String, to user: uid_t) throws {
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: path).map { "/\($0)" }) {
            let result = unsafe lchown("\(path)\(name)", user, gid_t.max)
            #expect(result == 0)
        }
    }
}
