import Dispatch
import Glibc
import LectureCrypto
import LectureFiles
import LectureModel

/// Runs the process that joins recordings, one at a time: a recording that makes FFmpeg crash must not end the control
/// plane.
///
/// The kernel kills it with the thread that started it, as ``NginxServer`` describes.
final class ArchiveJoiner: Sendable {
    /// How it has ended.
    enum Outcome: Hashable, Sendable {
        /// It says so itself.
        case reported(JoinReport)
        /// It was killed, or has crashed.
        case died
        /// It was ended by ``ArchiveJoiner/stop()``.
        case stopped
    }

    private struct State {
        var process: pid_t?
        var isBusy = false
        var isStopping = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let program: String
    private let started: @Sendable (Int32) -> Void
    private let state = Guarded(State())

    /// Describes the process, and starts nothing.
    ///
    /// - Parameters:
    ///   - program: the program whose word `join` does the work.
    ///   - started: called with the process before it gets its order, on a thread of its own.
    init(program: String, started: @escaping @Sendable (Int32) -> Void) {
        (self.program, self.started) = (program, started)
    }

    /// The running program.
    static var ownProgram: String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", start, buffer.count)
        }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    /// Starts the work.
    ///
    /// - Parameters:
    ///   - order: what is to be joined.
    ///   - done: called when the process has ended, on a thread of its own.
    func start(_ order: JoinOrder, done: @escaping @Sendable (Outcome) -> Void) {
        state.withLock { state in (state.isBusy, state.isStopping) = (true, false) }
        // A block that lasts as long as the process: its thread must not end before.
        DispatchQueue(label: "lecture.live.joiner").async { [self] in
            let outcome = run(order)
            let waiting = state.withLock { state in
                state.isBusy = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
            done(outcome)
        }
    }

    private func run(_ order: JoinOrder) -> Outcome {
        let text: SecretBytes
        do throws(LectureError) { text = try order.encoded() } catch { return .reported(.failed(error.message)) }
        let launched: (process: Int32, connection: ChildConnection)?
        do throws(LectureError) {
            launched = try state.withLock { state throws(LectureError) in
                guard !state.isStopping else { return nil }
                let words = ["--pdeathsig", "KILL", "--", program, "join"]
                let child = try ChildProgram.startConnected("/usr/bin/setpriv", words)
                state.process = child.process
                return child
            }
        } catch { return .reported(.failed(error.message)) }
        guard let (child, connection) = launched else { return .stopped }
        started(child)
        _ = unsafe text.withBytes { unsafe connection.send($0) }
        let output = connection.output(limit: 1 << 20)
        let status = ChildProgram.reap(child) { state.withLock { $0.process = nil } }
        // A report that is whole was written when the lecture was: whatever came then.
        if status == 0, let report = JoinReport(output) { return .reported(report) }
        return state.withLock(\.isStopping) ? .stopped : .died
    }

    /// Ends the process, and waits for that.
    func stop() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.isStopping = true
                if let process = state.process { kill(process, SIGKILL) }
                if state.isBusy { state.waiting.append(continuation) }
                return !state.isBusy
            }
            if isOver { continuation.resume() }
        }
    }

    /// Ends the process without waiting.
    func cancel() {
        state.withLock { state in
            state.isStopping = true
            if let process = state.process { kill(process, SIGKILL) }
        }
    }
}
