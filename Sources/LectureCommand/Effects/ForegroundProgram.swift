import Dispatch
import Glibc
import LectureModel

/// A program that this one starts and waits for, on the same terminal and in the same process group.
final class ForegroundProgram: Sendable {
    /// How a program ended.
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case killed(Int32)
    }

    private struct State {
        var ending: Ending?
        var waiting: [CheckedContinuation<Ending, Never>] = []
    }

    /// How long a program may take to end after it was asked to.
    private static let patience = DispatchTimeInterval.seconds(5)

    private let identifier: pid_t
    private let state = Guarded(State())

    /// Starts a program.
    ///
    /// Its standard output is this program's, or its standard error where the output is for data.
    ///
    /// - Parameters:
    ///   - words: its name, looked for in `PATH`, or its path; then its arguments.
    ///   - keepsOutput: whether it may write to standard output.
    ///   - pipes: what it has as standard output and standard error instead; nil for those of this program.
    ///   - variables: what its environment has besides, or instead of, this program's.
    /// - Throws: `LectureError` with `playerProgramMissing`.
    init(
        _ words: [String], keepsOutput: Bool = true, pipes: (output: Int32, errors: Int32)? = nil,
        variables: [String: String] = [:]
    ) throws(LectureError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if !keepsOutput { unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO) }
        if let pipes {
            unsafe posix_spawn_file_actions_adddup2(&actions, pipes.output, STDOUT_FILENO)
            unsafe posix_spawn_file_actions_adddup2(&actions, pipes.errors, STDERR_FILENO)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)
        var child: pid_t = 0
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        let inherited = ProcessInput.environment().filter { variables[$0.key] == nil }
        let all = inherited.merging(variables) { _, added in added }.map { "\($0.key)=\($0.value)" }
        var environment = unsafe all.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe environment.indices { unsafe free(environment[index]) } }
        let result =
            unsafe variables.isEmpty
            ? posix_spawnp(&child, words[0], &actions, &attributes, &pointers, environ)
            : posix_spawnp(&child, words[0], &actions, &attributes, &pointers, &environment)
        guard result == 0 else {
            let reason = unsafe String(cString: strerror(result))
            throw LectureError(.playerProgramMissing, detail: words[0], cause: reason)
        }
        identifier = child
        follow()
    }

    /// Signals as a new process has them: this one ignores some.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, flags)
    }

    /// Reaps the program when it ends. Not on a thread of Swift's pool, since waiting blocks it.
    private func follow() {
        DispatchQueue.global().async { [self] in
            var information = unsafe siginfo_t()
            // Without reaping, so that a signal sent meanwhile cannot reach another process.
            while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            let (ending, waiting) = state.withLock { state in
                var status: Int32 = 0
                _ = unsafe waitpid(identifier, &status, 0)
                let ending: Ending = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
                state.ending = ending
                defer { state.waiting = [] }
                return (ending, state.waiting)
            }
            for waiter in waiting { waiter.resume(returning: ending) }
        }
    }

    /// Waits for the end.
    func ending() async -> Ending {
        await withCheckedContinuation { continuation in
            let ending = state.withLock { state in
                if state.ending == nil { state.waiting.append(continuation) }
                return state.ending
            }
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// Asks the program to end, and ends it when it does not.
    func stop() {
        send(SIGTERM)
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { [self] in send(SIGKILL) }
    }

    private func send(_ signal: Int32) {
        // As long as it is not reaped, no other process has this identifier.
        state.withLock { state in if state.ending == nil { kill(identifier, signal) } }
    }
}
