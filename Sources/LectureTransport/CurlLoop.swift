import CCurl
import Glibc
import LectureModel

/// The transport's thread: it drives libcurl and is the serial executor of ``CurlTransport``, so that everything the
/// actor owns, libcurl's handles included, is confined to one thread and the compiler checks it.
///
///     take mail ─▶ run jobs ─▶ turn (commands, libcurl, sinks) ─▶ rest until mail, a socket or a timer ─▶ …
///
/// Mail comes from any thread; the first item of a batch rings the bell.
final class CurlLoop: SerialExecutor {
    /// A command to the transport.
    enum Command: Sendable {
        /// Start an exchange that was requested at this time.
        case start(TransferRequest, at: SuspendingClock.Instant)
        /// End an exchange.
        case cancel(TransferID)
        /// Bound the bytes a second of all exchanges.
        case limitRate(Int?)
        /// Open libcurl, so that the first exchange need not wait for it.
        case prepare
    }

    /// How the thread waits between two turns.
    enum Rest: Sendable {
        /// For mail, sockets and timers of libcurl.
        case polling(Duration)
        /// For mail only, because nothing may be read.
        case holding(Duration)
        /// For mail, and only a moment, so that bytes gather.
        case gathering(Duration)
    }

    private enum Phase {
        /// The thread takes mail.
        case running
        /// The thread was asked to end and takes jobs only.
        case stopping
        /// There is no thread any more.
        case ended
    }

    private struct Mail {
        var phase = Phase.running
        var jobs: [UnownedJob] = []
        var commands: [Command] = []
        /// The callers waiting for the end.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The thread, while it runs.
        var thread: pthread_t?
        /// Whether the bell has been rung for this mail.
        var hasRung = false
        /// Whether a thread that enqueued a job after the end is running jobs.
        var runsLateJobs = false
    }

    private let mail = Guarded(Mail())
    private let bell: Doorbell

    /// Makes a loop without a thread.
    ///
    /// - Throws: `LectureError(.transfer(2))` when the process has too many open files.
    init() throws(LectureError) { bell = try Doorbell() }

    // MARK: From any thread

    /// Starts the thread, which keeps the transport alive until ``stop()``.
    ///
    /// - Parameter transport: whose turns it makes.
    /// - Throws: `LectureError(.transfer(2))` when the process has too many threads.
    func start(for transport: CurlTransport) throws(LectureError) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(transport).toOpaque()
        if unsafe pthread_create(&thread, nil, loopMain, context) == 0 {
            pthread_detach(thread)
            return
        }
        unsafe Unmanaged<CurlTransport>.fromOpaque(context).release()
        throw LectureError(.transfer(Int(CURLE_FAILED_INIT.rawValue)), cause: "too many threads")
    }

    /// Hands a command to the thread; commands are executed in the order of the calls.
    ///
    /// - Parameter command: what to do.
    /// - Returns: false when the thread takes none any more.
    func post(_ command: Command) -> Bool {
        deliver { mail in
            guard mail.phase == .running else { return false }
            mail.commands.append(command)
            return true
        }
    }

    /// Ends the thread; returns when it has ended everything it ran.
    func stop() async {
        await withCheckedContinuation { continuation in
            let waits = deliver { mail in
                if mail.phase == .ended { return false }
                mail.phase = .stopping
                mail.waiters.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// Takes a job of the actor. After the thread has ended, jobs run on the thread that enqueues them, one after the
    /// other: nothing else touches the actor's state any more.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Callers do not retain the executor, and the job may release the transport while this still runs.
        let loop = unsafe Unmanaged.passRetained(self)
        defer { unsafe loop.release() }
        let runsHere = deliver { mail in
            mail.jobs.append(job)
            guard mail.phase == .ended, !mail.runsLateJobs else { return false }
            mail.runsLateJobs = true
            return true
        }
        if runsHere { runLateJobs() }
    }

    /// Whether the caller runs on the thread, so that `assumeIsolated` can check.
    func isIsolatingCurrentContext() -> Bool? {
        mail.withLock { mail in mail.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Ends the process when the caller does not run on the thread.
    func checkIsolated() { precondition(isIsolatingCurrentContext() == true, "not on the transport's thread") }

    private func deliver<Result>(_ change: (inout Mail) -> Result) -> Result {
        let (result, rings) = mail.withLock { mail in
            let result = change(&mail)
            defer { mail.hasRung = true }
            return (result, !mail.hasRung)
        }
        if rings { bell.ring() }
        return result
    }

    // MARK: On the thread

    /// Runs until ``stop()``.
    ///
    /// - Parameter transport: whose turns it makes.
    fileprivate func run(_ transport: CurlTransport) {
        Self.blockSignals()
        mail.withLock { $0.thread = pthread_self() }
        while true {
            let (jobs, commands, stops) = takeMail()
            run(jobs)
            let rest = transport.assumeIsolated { $0.turn(commands) }
            if stops { break }
            transport.assumeIsolated { $0.rest(rest, bell: bell) }
        }
        transport.assumeIsolated { $0.endAll() }
        end()
    }

    private func takeMail() -> (jobs: [UnownedJob], commands: [Command], stops: Bool) {
        mail.withLock { mail in
            defer {
                mail.jobs = []
                mail.commands = []
                mail.hasRung = false
            }
            return (mail.jobs, mail.commands, mail.phase == .stopping)
        }
    }

    private func run(_ jobs: [UnownedJob]) {
        for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Runs the remaining jobs, for example those enqueued by the last calls of sinks, and gives up the thread.
    private func end() {
        let waiters = mail.withLock { mail in
            defer { mail.waiters = [] }
            mail.phase = .ended
            mail.thread = nil
            mail.runsLateJobs = true
            return mail.waiters
        }
        runLateJobs()
        for waiter in waiters { waiter.resume() }
    }

    private func runLateJobs() {
        while true {
            let jobs = mail.withLock { mail in
                defer { mail.jobs = [] }
                if mail.jobs.isEmpty { mail.runsLateJobs = false }
                return mail.jobs
            }
            if jobs.isEmpty { return }
            run(jobs)
        }
    }

    /// Leaves signals to the threads that expect them.
    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}

/// The start of the transport's thread (`pthread_create`).
///
/// - Parameter context: a retained ``CurlTransport``; the thread takes ownership.
/// - Returns: always nil.
private func loopMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let transport = unsafe Unmanaged<CurlTransport>.fromOpaque(context).takeRetainedValue()
    transport.loop.run(transport)
    return nil
}
