import Glibc
import Synchronization

/// The effect of a signal on the command.
package enum SignalEvent: Sendable, Equatable {
    /// Stop cleanly, then end with 128 + this number.
    case stop(Int32)
    /// The terminal has a new size.
    case resized
    /// Read the settings again (SIGHUP); only after ``SignalWatcher/takeHangups()``.
    case reload
}

/// Turns signals into events: SIGINT and SIGTERM request a clean stop, SIGWINCH a new layout. A second SIGINT
/// ends the process at once with 130. SIGPIPE is ignored, so that a reader that has gone is an error of `write(2)`.
///
/// The handler only writes the signal's number to a pipe, which POSIX allows (signal-safety(7)); the watcher's own
/// thread reads the pipe, because the cooperative pool must not run a blocking `read(2)`. There is one watcher per
/// process, because dispositions belong to the process.
package final class SignalWatcher: Sendable {
    /// The events, in order; ends when the watcher is released.
    package let events: AsyncStream<SignalEvent>

    /// Takes over the process's signals.
    ///
    /// - Returns: nil when no pipe could be created or another watcher has them.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        let (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The handler may not block, whatever happens to the reader.
        _ = fcntl(writer, F_SETFL, O_NONBLOCK)
        let taken = signalPipe.compareExchange(expected: -1, desired: writer, ordering: .sequentiallyConsistent)
        guard taken.exchanged else {
            close(reader)
            close(writer)
            return nil
        }
        interruptCount.store(0, ordering: .sequentiallyConsistent)
        let (events, continuation) = AsyncStream.makeStream(of: SignalEvent.self)
        let retained = unsafe Unmanaged.passRetained(SignalReader(descriptor: reader, continuation: continuation))
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, nil, readSignals, retained.toOpaque()) == 0 else {
            unsafe retained.release()
            signalPipe.store(-1, ordering: .sequentiallyConsistent)
            close(reader)
            close(writer)
            return nil
        }
        pthread_detach(thread)
        // Set last: from here on `deinit` restores everything.
        self.events = events
        for number in watchedSignals { setHandler(number, handleSignal) }
        setDisposition(SIGPIPE, SIG_IGN)
    }

    /// Turns SIGHUP into an event as well, which ends the process otherwise.
    package func takeHangups() { setHandler(SIGHUP, handleSignal) }

    deinit {
        for number in watchedSignals + [SIGHUP] { setDisposition(number, SIG_DFL) }
        // Closed once no handler can start any more; the reader's thread then reaches the end of the pipe and ends.
        close(signalPipe.exchange(-1, ordering: .sequentiallyConsistent))
    }
}

private let watchedSignals = [SIGINT, SIGTERM, SIGWINCH]
/// The end of the pipe that the handler writes to; -1 when there is none. Read by the handler, so it must be lock-free.
private let signalPipe = Atomic<Int32>(-1)
/// The number of SIGINT received.
private let interruptCount = Atomic<Int32>(0)

/// The signal handler. Only async-signal-safe calls; `errno` is preserved for the code it interrupts.
private func handleSignal(_ number: Int32) {
    let savedError = errno
    if number == SIGINT && interruptCount.add(1, ordering: .sequentiallyConsistent).newValue > 1 {
        _exit(128 + SIGINT)
    }
    var byte = UInt8(truncatingIfNeeded: number)
    // A full pipe has hundreds of unread signals: one more changes nothing.
    _ = unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = savedError
}

private func setHandler(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = handler
    action.sa_flags = SA_RESTART
    unsafe sigemptyset(&action.sa_mask)
    unsafe sigaction(number, &action, nil)
}

private func setDisposition(_ number: Int32, _ disposition: sighandler_t?) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = disposition
    unsafe sigemptyset(&action.sa_mask)
    unsafe sigaction(number, &action, nil)
}

/// The state of the reading thread.
private final class SignalReader: Sendable {
    let descriptor: Int32
    let continuation: AsyncStream<SignalEvent>.Continuation

    init(descriptor: Int32, continuation: AsyncStream<SignalEvent>.Continuation) {
        self.descriptor = descriptor
        self.continuation = continuation
    }
}

/// The thread that turns bytes of the pipe into events, until the pipe's other end is closed.
private func readSignals(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let reader = unsafe Unmanaged<SignalReader>.fromOpaque(context).takeRetainedValue()
    // Dispatch's worker threads block all signals and a new thread inherits that. One thread must be left to take them.
    var watched = sigset_t()
    unsafe sigemptyset(&watched)
    for number in watchedSignals + [SIGHUP] { unsafe sigaddset(&watched, number) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &watched, nil)
    var byte: UInt8 = 0
    while true {
        let count = unsafe read(reader.descriptor, &byte, 1)
        if count < 0 && errno == EINTR { continue }
        guard count == 1 else { break }
        switch Int32(byte) {
        case SIGWINCH: reader.continuation.yield(.resized)
        case SIGHUP: reader.continuation.yield(.reload)
        case let number: reader.continuation.yield(.stop(number))
        }
    }
    reader.continuation.finish()
    close(reader.descriptor)
    return nil
}

/// Signal dispositions of the whole process, set before any command runs.
package enum ProcessSignals {
    /// Prepares the process: SIGPIPE becomes an error of `write(2)`, and a crash prints nothing.
    ///
    /// The Swift runtime's crash handler writes registers and memory to the terminal, possibly with secrets. It reads
    /// `SWIFT_BACKTRACE` before `main`, so its signals are reset here instead; setting the variable keeps the handler
    /// for debugging.
    ///
    /// - Parameter environment: the process's environment.
    package static func prepare(environment: [String: String]) {
        setDisposition(SIGPIPE, SIG_IGN)
        guard environment["SWIFT_BACKTRACE"] == nil else { return }
        for number in [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { setDisposition(number, SIG_DFL) }
    }
}
