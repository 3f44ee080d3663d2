import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Commands that only read make no store, and nobody but its owner works on one.
@Suite(.timeLimit(.minutes(2))) struct StoreAccessTests {
    private static let missing = "there is no store. 'lecturectl precache' makes one; --store names the directory"

    @Test(arguments: [
        "list", "list --state failed", "pause --all", "resume --all", "cancel --all", "remove --all", "verify --all",
        "licence list", "licence renew", "licence debts", "lms list", "lms send", "lms retry --all",
    ])
    func `over no store a command has nothing to do, says so and makes none`(line: String) async throws {
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
    func `what is named cannot be found in no store, and none is made`(line: String) async throws {
        let me = try BadDay()
        let ending = try await me.run(["--json"] + line.split(separator: " ").map(String.init))
        #expect(ending.status == 74, "\(ending.errorText)")
        #expect(try Line.all(ending.text).map(\.name) == ["store_missing"])
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `a glance at no store shows that it is empty`() async throws {
        let me = try BadDay()
        let plain = try await me("status")
        #expect(plain.status == 0 && plain.text.hasPrefix("The store is empty.\n"))
        #expect(plain.errorText.contains(Self.missing))
        let json = try await me("status", "--json")
        #expect(json.status == 0)
        #expect(try Line.all(json.text).count == 1)
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `a directory without a database is no store, and stays as it is`() async throws {
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
    func `root does not work on another user's store, and is given the way`(words: [String]) async throws {
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
    func `root makes no store in a directory that was made for a service`() async throws {
        let me = try BadDay()
        try FileManager.default.createDirectory(atPath: me.store, withIntermediateDirectories: false)
        try Self.give(me.store, to: 65_534)
        let ending = try await me("lms", "add")
        #expect(ending.status == 77 && ending.errorText.contains("sudo -u nobody lecturectl"), "\(ending.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: me.store).isEmpty)
    }

    @Test(.enabled(if: geteuid() == 0))
    func `another user is refused as well, and the remedy that is named works`() throws {
        // A place that every user can reach, with the program in it.
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
