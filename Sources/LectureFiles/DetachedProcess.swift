import CSystem
import Dispatch
import Glibc
package import LectureModel

/// A program in a session of its own that outlives this process, connected to it only by its standard input: the other
/// end is held only here, and closes with this process however it ends.
///
/// The connection is a socket pair, not a pipe: writing to a program that has exited is then an error and not the
/// signal SIGPIPE, which an embedding program may not expect. The program is reaped as soon as it ends.
package final class DetachedProcess: Sendable {
    /// The process identifier; may be reused some time after this one has ended.
    package let identifier: Int32
    /// This end of the connection; nil once it is closed.
    private let tie: Guarded<Descriptor?>
    private let ending = Ending()

    /// Starts a program.
    ///
    /// Its standard output and error are `/dev/null`, its signals are as a new process has them, and no other
    /// descriptor of this process goes with it. It keeps the working directory.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: without the program's name. Every user of the machine can read them.
    ///   - variables: added to this process's environment.
    /// - Throws: ``LectureError`` with ``LectureError/Code/workerFailed``.
    package init(_ program: String, _ arguments: [String], variables: [String: String]) throws(LectureError) {
        do throws(SystemError) {
            let (near, far) = try Self.pair()
            identifier = try Self.spawn(program, arguments, variables, input: far)
            tie = Guarded(near)
        } catch {
            throw LectureError(.workerFailed, detail: program, cause: error.text)
        }
        Self.reap(identifier, ending)
    }

    /// Writes a byte to the program's standard input and closes it. Later calls do nothing.
    package func endInput(afterByte byte: UInt8) {
        guard let end = letGo() else { return }
        var byte = byte
        // A program that has ended needs no byte.
        _ = try? systemCall { unsafe Glibc.send(end.number, &byte, 1, Int32(MSG_NOSIGNAL)) }
    }

    /// Closes the program's standard input. Later calls do nothing.
    package func endInput() { _ = letGo() }

    /// Waits until the program has ended and is reaped.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; the program continues.
    package func untilEnded() async throws { try await ending.wait() }

    /// Waits as ``untilEnded()``, and holds no reference meanwhile: a waiting caller does not keep the program running.
    package func whenEnded() -> Task<Void, Never> {
        Task { [ending] in try? await ending.wait() }
    }

    private func letGo() -> Descriptor? {
        tie.withLock { tie in
            defer { tie = nil }
            return tie
        }
    }

    // MARK: Starting

    /// Both are closed by any `exec`; the far one is duplicated for the program.
    private static func pair() throws(SystemError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall { unsafe socketpair(AF_UNIX, type, 0, &ends) }
        return (Descriptor(takingOwnership: ends[0]), Descriptor(takingOwnership: ends[1]))
    }

    private static func spawn(
        _ program: String, _ arguments: [String], _ variables: [String: String], input: Descriptor
    ) throws(SystemError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        try check(unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO))
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            try check(unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0))
        }
        // Files the embedding program opened without O_CLOEXEC would stay open as long as the worker lives.
        try check(unsafe csystem_spawn_closefrom(&actions, STDERR_FILENO + 1))
        var attributes = posix_spawnattr_t()
        try check(unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try prepare(&attributes)
        var child: pid_t = 0
        let words = Words([program] + arguments)
        let environment = Words(environmentNow(variables))
        let result = unsafe words.withPointer { words in
            unsafe environment.withPointer { environment in
                unsafe posix_spawn(&child, program, &actions, &attributes, words, environment)
            }
        }
        try check(result)
        return child
    }

    /// A session of its own, and signals as a new process has them: an embedding program may ignore or block some.
    private static func prepare(_ attributes: inout posix_spawnattr_t) throws(SystemError) {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        try check(unsafe posix_spawnattr_setsigmask(&attributes, &none))
        try check(unsafe posix_spawnattr_setsigdefault(&attributes, &all))
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | csystem_spawn_setsid()
        try check(unsafe posix_spawnattr_setflags(&attributes, flags))
    }

    /// These calls return the error number and leave `errno` unchanged.
    private static func check(_ result: Int32) throws(SystemError) {
        if result != 0 { throw SystemError(number: result) }
    }

    /// This process's environment, byte by byte, with some variables in place of its own.
    private static func environmentNow(_ variables: [String: String]) -> [[CChar]] {
        var entries: [[CChar]] = []
        let names = variables.keys.map { Array("\($0)=".utf8CString.dropLast()) }
        var position = unsafe environ
        while let entry = unsafe position.pointee {
            // Copied with its NUL terminator.
            let text = unsafe Array(UnsafeBufferPointer(start: entry, count: strlen(entry) + 1))
            if !names.contains(where: { text.starts(with: $0) }) { entries.append(text) }
            unsafe position += 1
        }
        return entries + variables.map { Array("\($0.key)=\($0.value)".utf8CString) }
    }

    /// C strings, terminated by NULL.
    private struct Words {
        private var texts: [[CChar]]

        init(_ texts: [[CChar]]) { self.texts = texts }

        init(_ texts: [String]) { self.texts = texts.map { Array($0.utf8CString) } }

        func withPointer<Result>(
            _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
        ) -> Result {
            // One block for all of them, so that every pointer is valid for the duration of the call.
            var block = texts.flatMap(\.self)
            return unsafe block.withUnsafeMutableBufferPointer { block in
                var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
                var offset = 0
                for text in texts {
                    unsafe pointers.append(block.baseAddress.map { unsafe $0 + offset })
                    offset += text.count
                }
                unsafe pointers.append(nil)
                return unsafe pointers.withUnsafeBufferPointer { pointers in
                    // proof: it holds the NULL at least, so it has an address.
                    unsafe body(pointers.baseAddress.unsafelyUnwrapped)
                }
            }
        }
    }

    // MARK: Reaping

    /// Has a child reaped when it ends, so that it does not stay behind as a zombie. Where the embedding program reaps
    /// all children itself, nothing remains to be done.
    private static func reap(_ child: Int32, _ ending: Ending) {
        let queue = DispatchQueue.global(qos: .utility)
        let number = csystem_pidfd_open(child)
        guard number >= 0 else {
            // An old kernel or a sandbox refuses such descriptors; then a thread waits.
            return queue.async { wait(for: child, ending) }
        }
        let descriptor = Descriptor(takingOwnership: number)
        let source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        // The source retains itself until it is cancelled, and the descriptor while it watches it.
        source.setEventHandler {
            wait(for: child, ending)
            source.cancel()
        }
        source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        source.activate()
    }

    private static func wait(for child: Int32, _ ending: Ending) {
        _ = try? systemCall { waitpid(child, nil, 0) }
        ending.reach()
    }

    /// Notifies waiters that the program has ended.
    private final class Ending: Sendable {
        private struct State {
            var isReached = false
            var waiters: [Waiter<Void>] = []
        }

        private let state = Guarded(State())

        func wait() async throws {
            try Task.checkCancellation()
            let waiter = Waiter<Void>()
            let isReached = state.withLock { state in
                if !state.isReached { state.waiters.append(waiter) }
                return state.isReached
            }
            if isReached { return }
            defer { state.withLock { $0.waiters.removeAll { $0 === waiter } } }
            try await waiter.value()
        }

        func reach() {
            let waiters = state.withLock { state in
                state.isReached = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.answer(()) }
        }
    }
}
