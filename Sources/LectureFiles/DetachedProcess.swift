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
            identifier = try ChildProgram.spawn(program, arguments, variables, input: far)
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
