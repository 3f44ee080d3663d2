package import Foundation
import Glibc
import LectureModel

/// A program that runs beside the test.
///
/// Its output is read while it runs, so that a full pipe never blocks it. It is killed with the last reference at the
/// latest, and always by its own identifier. A task that waits for it and is cancelled, by a test's time limit for
/// instance, kills it as well.
package final class ChildProcess: Sendable {
    /// How a program ended, and all its output.
    package struct Ending: Sendable {
        /// The exit status, or 128 + the signal's number.
        package let status: Int32
        /// Standard output.
        package let output: Data
        /// Standard error.
        package let errors: Data

        /// Standard output as text; invalid UTF-8 is replaced.
        package var text: String { String(decoding: output, as: UTF8.self) }
        /// Standard error as text; invalid UTF-8 is replaced.
        package var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    /// The error of starting a program or waiting for its output.
    package struct Failure: Error, CustomStringConvertible {
        /// For the test's report.
        package let description: String

        /// Creates an error.
        ///
        /// - Parameter description: for the test's report.
        package init(description: String) { self.description = description }
    }

    /// One of a program's two output streams.
    package enum Stream: Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case errors
    }

    private struct Waiter {
        let stream: Stream
        let test: @Sendable (Data) -> Bool
        let continuation: CheckedContinuation<Data, any Error>
    }

    private struct State {
        var output = Data()
        var errors = Data()
        var status: Int32?
        var isReaped = false
        var input: Int32?
        var waiters: [Waiter] = []
        var endings: [CheckedContinuation<Ending, Never>] = []
    }

    /// The process identifier.
    package let identifier: Int32
    private let state: Guarded<State>
    private let name: String

    /// Between making a pipe and marking its ends close-on-exec no other program may be started: it would inherit them
    /// and keep them open. The value counts programs: a lock over nothing looks like a race to the thread sanitizer.
    private static let spawning = Guarded(0)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: of the program.
    ///   - arguments: without the program's name.
    ///   - environment: added to the test's own; an empty value removes a variable.
    ///   - directory: where it runs; `nil` for the test's own.
    ///   - keepsInputOpen: whether standard input is a pipe; otherwise it is empty.
    /// - Throws: ``Failure`` when the program cannot be started.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
        keepsInputOpen: Bool = false
    ) throws {
        name = path
        let ends = try Self.spawning.withLock { count in
            count += 1
            return try Self.spawn(path, arguments, environment, directory, keepsInputOpen)
        }
        identifier = ends.child
        var first = State()
        first.input = ends.input
        state = Guarded(first)
        let (state, child) = (state, ends.child)
        let readers = [(Stream.output, ends.output), (Stream.errors, ends.errors)]
        Thread.detachNewThread { Self.follow(child, readers, state) }
    }

    deinit {
        send(SIGKILL)
        closeInput()
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - path: of the program.
    ///   - arguments: without the program's name.
    ///   - environment: added to the test's own; an empty value removes a variable.
    ///   - directory: where it runs; `nil` for the test's own.
    /// - Returns: how it ended.
    /// - Throws: ``Failure`` when it cannot be started; `CancellationError` when the test was cancelled, so that one
    ///   that asks a program again and again ends.
    package static func run(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil
    ) async throws -> Ending {
        try Task.checkCancellation()
        let ending = try await ChildProcess(path, arguments, environment: environment, directory: directory).ending()
        try Task.checkCancellation()
        return ending
    }

    /// Waits for the end.
    ///
    /// - Returns: how it ended; at once when it already has.
    package func ending() async -> Ending {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ending: Ending? = state.withLock { state in
                    if let ending = Self.ending(state) { return ending }
                    state.endings.append(continuation)
                    return nil
                }
                if let ending { continuation.resume(returning: ending) }
            }
        } onCancel: {
            send(SIGKILL)
        }
    }

    /// Waits until the output so far passes a test.
    ///
    /// - Parameters:
    ///   - stream: which stream.
    ///   - test: called with everything that was written to the stream so far.
    /// - Returns: the output when the test passed.
    /// - Throws: ``Failure`` when the program ended before.
    @discardableResult
    package func wait(for stream: Stream, until test: @escaping @Sendable (Data) -> Bool) async throws -> Data {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Data, any Error>? = state.withLock { state in
                    let written = stream == .output ? state.output : state.errors
                    if test(written) { return .success(written) }
                    if state.status != nil { return .failure(Failure(description: Self.early(name, state))) }
                    state.waiters.append(Waiter(stream: stream, test: test, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            send(SIGKILL)
        }
    }

    /// Waits until programs have written this many bytes since the call, to files, pipes and sockets together, or all
    /// have ended.
    ///
    /// The kernel counts them (`wchar`, proc(5)). So a moment in the middle of the work is one on a slow machine, too.
    ///
    /// - Parameters:
    ///   - bytes: the sum over all programs.
    ///   - processes: programs of this test.
    package static func wait(forWritten bytes: Int, by processes: [ChildProcess]) async {
        let before = processes.map { $0.bytesWritten ?? 0 }
        var latest = before
        while zip(latest, before).reduce(0, { $0 + $1.0 - $1.1 }) < bytes, !Task.isCancelled,
            processes.contains(where: { !$0.hasEnded })
        {
            await Task.yield()
            for place in processes.indices { latest[place] = processes[place].bytesWritten ?? latest[place] }
        }
    }

    /// Whether the program has ended.
    package var hasEnded: Bool { state.withLock { $0.status != nil } }

    /// Nil once it has ended.
    private var bytesWritten: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/io", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }.flatMap { Int($0.dropFirst(7)) }
    }

    /// Waits for the first line of standard output.
    ///
    /// - Returns: the line without its end.
    /// - Throws: ``Failure`` when the program ended before.
    package func firstLine() async throws -> String {
        let text = try await wait(for: .output) { $0.contains(UInt8(ascii: "\n")) }
        return String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Sends a signal, unless the program has ended.
    ///
    /// - Parameter signal: its number.
    package func send(_ signal: Int32) {
        state.withLock { state in
            // As long as it is not reaped, no other process can have this identifier.
            if !state.isReaped { kill(identifier, signal) }
        }
    }

    /// Asks the program to end and waits for it.
    ///
    /// - Returns: how it ended.
    @discardableResult
    package func terminate() async -> Ending {
        send(SIGTERM)
        return await ending()
    }

    /// Writes to standard input; only with `keepsInputOpen`.
    /// - Parameter text: at most the capacity of a pipe, 64 KiB.
    package func write(_ text: String) {
        state.withLock { state in
            guard let input = state.input else { return }
            let bytes = Array(text.utf8)
            _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
        }
    }

    /// Closes standard input.
    package func closeInput() {
        state.withLock { state in
            if let input = state.input { close(input) }
            state.input = nil
        }
    }
}

// MARK: - Without a task

extension ChildProcess {
    /// Runs a program to its end; blocks its thread.
    ///
    /// Its output goes to files: children of its own that live longer keep nothing waiting.
    ///
    /// - Parameters:
    ///   - path: of the program.
    ///   - arguments: without the program's name.
    ///   - environment: all of it; `nil` for the test's own.
    ///   - input: its standard input.
    /// - Returns: how it ended.
    /// - Throws: ``Failure`` when it cannot be started.
    package static func runBlocking(
        _ path: String, _ arguments: [String], environment: [String: String]? = nil, input: [UInt8] = []
    ) throws -> Ending {
        let directory = try TemporaryDirectory()
        let file = try directory.write(input, to: "input")
        let (output, errors) = (directory.file("output"), directory.file("errors"))
        let child = try spawning.withLock { count in
            count += 1
            let ends = unsafe [
                open(file, O_RDONLY | O_CLOEXEC), open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
                open(errors, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600),
            ]
            defer { for end in ends where end >= 0 { close(end) } }
            guard !ends.contains(-1) else { throw Failure(description: "no files: errno \(errno)") }
            return try spawn(
                path, arguments, environment ?? merged([:]), nil, input: ends[0], output: ends[1], errors: ends[2])
        }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return Ending(
            status: exitStatus(status), output: try Data(contentsOf: URL(filePath: output)),
            errors: try Data(contentsOf: URL(filePath: errors)))
    }
}

// MARK: - Starting

extension ChildProcess {
    private struct Ends {
        var child: pid_t = 0
        var input: Int32?
        var output: Int32 = -1
        var errors: Int32 = -1
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ directory: String?,
        _ keepsInputOpen: Bool
    ) throws -> Ends {
        let input = try keepsInputOpen ? pipe() : nil
        let output = try pipe()
        let errors = try pipe()
        defer {
            for descriptor in [input?.reading, output.writing, errors.writing] {
                if let descriptor { close(descriptor) }
            }
        }
        do {
            let child = try spawn(
                path, arguments, merged(environment), directory, input: input?.reading, output: output.writing,
                errors: errors.writing)
            return Ends(child: child, input: input?.writing, output: output.reading, errors: errors.reading)
        } catch {
            for descriptor in [input?.writing, output.reading, errors.reading] {
                if let descriptor { close(descriptor) }
            }
            throw error
        }
    }

    /// Starts a program with these descriptors; nil for an empty input.
    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ directory: String?, input: Int32?,
        output: Int32, errors: Int32
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        resetSignals(&attributes)
        // The directory is set by `env -C`, since `posix_spawn_file_actions_addchdir_np` is unavailable in Swift.
        let (program, words) =
            directory.map { ("/usr/bin/env", ["env", "-C", $0, path] + arguments) } ?? (path, [path] + arguments)
        let variables = environment.map { "\($0.key)=\($0.value)" }
        var child: pid_t = 0
        let result = try unsafe withCStrings(words) { words in
            try unsafe withCStrings(variables) { variables in
                unsafe posix_spawnp(&child, program, &actions, &attributes, words, variables)
            }
        }
        guard result == 0 else { throw Failure(description: "cannot start \(path): errno \(result)") }
        return child
    }

    /// A test runner may block or ignore signals; its children start with the defaults.
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

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw Failure(description: "no pipe: errno \(errno)") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func merged(_ additions: [String: String]) -> [String: String] {
        ProcessInfo.processInfo.environment.merging(additions) { _, new in new }.filter { !$0.value.isEmpty }
    }

    /// Passes C strings, terminated by NULL.
    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
    ) throws -> Result {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        return try unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { throw Failure(description: "no words") }
            return try unsafe body(base)
        }
    }
}

// MARK: - Following

extension ChildProcess {
    /// The thread of one program: reads its output, then waits for its end.
    private static func follow(_ child: pid_t, _ readers: [(Stream, Int32)], _ state: Guarded<State>) {
        var open = readers
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !open.isEmpty {
            var watched = open.map { pollfd(fd: $0.1, events: Int16(POLLIN), revents: 0) }
            _ = unsafe poll(&watched, nfds_t(watched.count), -1)
            for (index, entry) in watched.enumerated().reversed() where entry.revents != 0 {
                let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(entry.fd, $0.baseAddress, $0.count) }
                if count > 0 {
                    take(buffer[..<count], from: open[index].0, state)
                } else if count == 0 || errno != EINTR {
                    close(entry.fd)
                    open.remove(at: index)
                }
            }
        }
        finish(child, state)
    }

    private static func take(_ bytes: ArraySlice<UInt8>, from stream: Stream, _ state: Guarded<State>) {
        let ready: [(Waiter, Data)] = state.withLock { state in
            if stream == .output {
                state.output.append(contentsOf: bytes)
            } else {
                state.errors.append(contentsOf: bytes)
            }
            let written = stream == .output ? state.output : state.errors
            let passed = state.waiters.map { $0.stream == stream && $0.test(written) }
            let ready = zip(state.waiters, passed).filter(\.1).map { ($0.0, written) }
            state.waiters = zip(state.waiters, passed).filter { !$0.1 }.map(\.0)
            return ready
        }
        for (waiter, written) in ready { waiter.continuation.resume(returning: written) }
    }

    private static func finish(_ child: pid_t, _ state: Guarded<State>) {
        var information = unsafe siginfo_t()
        // Waits without reaping, so that a signal sent meanwhile cannot reach an unrelated process.
        while unsafe waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        let (waiters, endings, ending, text) = state.withLock { state in
            var status: Int32 = 0
            _ = unsafe waitpid(child, &status, 0)
            state.isReaped = true
            state.status = exitStatus(status)
            defer { (state.waiters, state.endings) = ([], []) }
            return (state.waiters, state.endings, Self.ending(state), Self.early("the program", state))
        }
        for waiter in waiters { waiter.continuation.resume(throwing: Failure(description: text)) }
        for continuation in endings {
            if let ending { continuation.resume(returning: ending) }
        }
    }

    /// The exit status, or 128 + the signal's number, of what waitpid(2) returns.
    private static func exitStatus(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    private static func ending(_ state: State) -> Ending? {
        state.status.map { Ending(status: $0, output: state.output, errors: state.errors) }
    }

    private static func early(_ name: String, _ state: State) -> String {
        "\(name) ended with \(state.status ?? -1) before it said what was due: "
            + String(decoding: state.errors.suffix(2000), as: UTF8.self)
    }
}
