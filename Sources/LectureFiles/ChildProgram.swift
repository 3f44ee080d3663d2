import CSystem
import Glibc
package import LectureModel

/// Starts programs: in a session of their own, with signals as a new process has them, and with no descriptor of this
/// process but their standard input, and where it is wanted their standard output. Other output is dropped.
package enum ChildProgram {
    /// Starts a program without input. It keeps the working directory and the environment.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: without the program's name. Every user of the machine can read them.
    /// - Returns: its process, which the caller has to reap (`waitpid(2)`).
    /// - Throws: ``LectureError`` with ``LectureError/Code/workerFailed``.
    package static func start(_ program: String, _ arguments: [String]) throws(LectureError) -> Int32 {
        do throws(SystemError) {
            let number = try systemCall { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
            return try spawn(program, arguments, [:], input: Descriptor(takingOwnership: number))
        } catch { throw LectureError(.workerFailed, detail: program, cause: error.text) }
    }

    /// Starts a program whose standard input and output are both one end of a connection to this process. It keeps the
    /// working directory and the environment.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: without the program's name. Every user of the machine can read them; what they must not read goes
    ///     through the connection.
    /// - Returns: its process, which the caller has to reap (`waitpid(2)`), and this process's end.
    /// - Throws: ``LectureError`` with ``LectureError/Code/workerFailed``.
    package static func startConnected(
        _ program: String, _ arguments: [String]
    ) throws(LectureError) -> (process: Int32, connection: ChildConnection) {
        do throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            try systemCall { unsafe socketpair(AF_UNIX, kind, 0, &ends) }
            let (own, other) = (Descriptor(takingOwnership: ends[0]), Descriptor(takingOwnership: ends[1]))
            let process = try spawn(program, arguments, [:], input: other, output: other)
            return (process, ChildConnection(own))
        } catch { throw LectureError(.workerFailed, detail: program, cause: error.text) }
    }

    /// Waits until a program has ended, and reaps it. Blocks the thread.
    ///
    /// - Parameters:
    ///   - process: the program's process, which nothing else reaps.
    ///   - ended: called when it has ended and before it is reaped: until then its number is its own, so that no signal
    ///     can reach another process.
    /// - Returns: its status, as `waitpid(2)` has it.
    package static func reap(_ process: Int32, ended: () -> Void) -> Int32 {
        var facts = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        ended()
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: without the program's name.
    ///   - variables: added to this process's environment.
    ///   - input: duplicated for its standard input.
    ///   - output: duplicated for its standard output; nil to drop that.
    /// - Returns: its process.
    /// - Throws: ``SystemError``.
    static func spawn(
        _ program: String, _ arguments: [String], _ variables: [String: String], input: Descriptor,
        output: Descriptor? = nil
    ) throws(SystemError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        try check(unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO))
        if let output {
            try check(unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO))
        }
        for number in output == nil ? [STDOUT_FILENO, STDERR_FILENO] : [STDERR_FILENO] {
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
}

/// The connection to a program that ``ChildProgram`` has started. Used by one thread at a time.
package final class ChildConnection: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Sends bytes, and that there are no more.
    ///
    /// - Parameter bytes: all of them; blocks until the program has read what the system does not keep.
    /// - Returns: false when the program does not read them.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { shutdown(descriptor.number, Int32(SHUT_WR)) }
        var done = 0
        while done < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
            // Not SIGPIPE: the program may have died.
            let count = unsafe Glibc.send(descriptor.number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Waits until the program has closed its end.
    ///
    /// - Parameter limit: how many bytes are kept; the rest is read and dropped.
    /// - Returns: what it wrote.
    package func output(limit: Int) -> [UInt8] {
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return all }
            all += buffer[..<min(count, limit - all.count)]
        }
    }
}
