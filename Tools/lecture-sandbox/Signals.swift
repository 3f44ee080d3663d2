import Glibc

/// SIGTERM and SIGINT end the program; both are taken in one place, never in a handler.
enum Signals {
    /// Blocks the two in the calling thread and in all that it starts, and ignores SIGPIPE.
    static func block() {
        var set = endings()
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of the two.
    static func wait() {
        var set = endings()
        var number: Int32 = 0
        while unsafe sigwait(&set, &number) != 0 {}
    }

    /// Ends the program when standard input closes, so that it never outlives its parent.
    ///
    /// - Throws: ``Problem`` when no thread can be started.
    static func endWithStandardInput() throws {
        var thread = pthread_t()
        guard unsafe pthread_create(&thread, nil, watchStandardInput, nil) == 0 else {
            throw Problem(status: 71, text: "no thread for --stdin-watch")
        }
        pthread_detach(thread)
    }

    private static func endings() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGINT)
        return set
    }
}

/// The thread behind ``Signals/endWithStandardInput()``: reads to the end, then ends the process.
private func watchStandardInput(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(0, $0.baseAddress, $0.count) }
        if count > 0 || (count < 0 && errno == EINTR) { continue }
        kill(getpid(), SIGTERM)
        return nil
    }
}
