import Foundation
import Glibc
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// A program that outlives this one: what it inherits, and what it does not.
@Suite(.timeLimit(.minutes(1)))
struct DetachedProcessTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    /// Runs a shell line in the directory, with a byte on its standard input.
    private func run(_ line: String, variables: [String: String] = [:]) async throws {
        let process = try DetachedProcess(
            "/bin/sh", ["-c", line, "sh", place.path], variables: variables)
        process.endInput(afterByte: 0x41)
        try await process.untilEnded()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: place.file(name), encoding: .utf8)
    }

    @Test func `It runs in its own session, with three descriptors and its signals`() async throws {
        // Inherited by every child unless the caller prevents it.
        let stray = unsafe open("/dev/zero", O_RDONLY)
        defer { close(stray) }
        var (blocked, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&blocked)
        unsafe sigaddset(&blocked, SIGUSR1)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
        // The signals are read from a child, which inherits them: while a shell waits for one it blocks all of them.
        let process = try DetachedProcess(
            "/bin/sh",
            [
                "-c",
                """
                cd "$1"; cut -d' ' -f1,6 /proc/self/stat >session; cut -d' ' -f1,6 /proc/$$/stat >own
                ls -l /proc/$$/fd | sed -n 's/.* \\([0-9]* -> .*\\)/\\1/p' >open
                grep -E 'SigBlk|SigIgn' /proc/self/status >signals; cat >rest
                """, "sh", place.path,
            ], variables: [:])
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        process.endInput(afterByte: 0x41)
        try await process.untilEnded()
        #expect(try text("own") == "\(process.identifier) \(process.identifier)\n")
        #expect(getsid(0) != process.identifier)
        let open = try text("open").split(separator: "\n").map(String.init)
        #expect(open.contains { $0.hasPrefix("0 -> socket:") })
        #expect(open.contains("1 -> /dev/null") && open.contains("2 -> /dev/null"))
        #expect(!open.contains { $0.hasSuffix("/dev/zero") })
        #expect(try text("signals").contains("SigBlk:\t0000000000000000"))
        #expect(try text("rest") == "A")
    }

    @Test func `Its environment is the parent's with changes`() async throws {
        unsafe setenv("DETACHED_A", "old", 1)
        unsafe setenv("DETACHED_AB", "kept", 1)
        defer {
            unsafe unsetenv("DETACHED_A")
            unsafe unsetenv("DETACHED_AB")
        }
        try await run(#"cd "$1"; env >variables"#, variables: ["DETACHED_A": "new", "DETACHED_C": "ü = x"])
        let lines = try text("variables").split(separator: "\n").filter { $0.hasPrefix("DETACHED_") }.sorted()
        #expect(lines == ["DETACHED_A=new", "DETACHED_AB=kept", "DETACHED_C=ü = x"])
    }

    @Test func `A byte for an ended program is lost without a signal`() async throws {
        let process = try DetachedProcess("/bin/true", [], variables: [:])
        try await process.untilEnded()
        process.endInput(afterByte: 0x41)
        process.endInput()
        try await process.untilEnded()
        #expect(waitpid(process.identifier, nil, WNOHANG) == -1)
    }

    @Test func `Its input ends with the last reference`() async throws {
        let waiting: Task<Void, Never>
        do {
            let process = try DetachedProcess(
                "/bin/sh", ["-c", #"cat >"$1/rest"; echo end >"$1/end""#, "sh", place.path], variables: [:])
            waiting = process.whenEnded()
        }
        await waiting.value
        #expect(try text("rest").isEmpty && text("end") == "end\n")
    }

    @Test func `A program that cannot be started is reported`() {
        #expect(throws: LectureError(.workerFailed)) {
            try DetachedProcess(place.file("none"), [], variables: [:])
        }
    }
}
