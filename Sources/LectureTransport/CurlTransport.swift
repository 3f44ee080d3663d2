package import LectureModel

/// HTTP exchanges by libcurl, all of them on one thread of its own.
///
/// The thread is the actor's executor (see ``CurlLoop``) and keeps the transport alive until ``shutdown()``. The
/// methods of ``Transport`` only post a command to it and return. Sinks are called on it; while a sink blocks it,
/// nothing else proceeds, which is the back-pressure wanted for a disk that all exchanges share.
package actor CurlTransport: Transport {
    /// The thread.
    nonisolated let loop: CurlLoop
    private let driver: CurlDriver

    /// The thread runs the actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Makes a transport and starts its thread. libcurl itself is started by the first exchange.
    ///
    /// - Parameters:
    ///   - configuration: how exchanges are made.
    ///   - clock: stamps heads.
    /// - Throws: `LectureError(.configuration)` when the CA file cannot be used, `LectureError(.transfer(2))` when the
    ///   process has no file descriptor or thread left.
    package init(_ configuration: TransportConfiguration, clock: any LectureClock) throws(LectureError) {
        let roots = try RootCertificates(caFile: configuration.caFile)
        loop = try CurlLoop()
        driver = try CurlDriver(configuration, roots: roots, clock: clock)
        try loop.start(for: self)
    }

    // MARK: Transport

    /// Starts an exchange; all its events go to its sink. After ``shutdown()`` the sink gets
    /// ``TransferOutcome/End/cancelled`` before the call returns.
    package nonisolated func start(_ request: TransferRequest) {
        if loop.post(.start(request, at: SuspendingClock.now)) { return }
        request.sink.transferEnded(TransferOutcome(end: .cancelled, bodyBytes: 0, elapsed: .zero))
    }

    /// Ends an exchange; its sink still gets `transferEnded`. Unknown and ended ones are ignored.
    package nonisolated func cancel(_ id: TransferID) { _ = loop.post(.cancel(id)) }

    /// Bounds the bytes a second of all exchanges together; nil for no bound. Bandwidth unused by slow servers goes to
    /// the others. Takes effect at once.
    package nonisolated func limitRate(_ bytesPerSecond: Int?) { _ = loop.post(.limitRate(bytesPerSecond)) }

    /// Opens libcurl on the transport's thread: its thirty libraries take 10 ms, in which the caller can do other
    /// things.
    package nonisolated func prepare() { _ = loop.post(.prepare) }

    /// Cancels all exchanges, closes all connections and ends the thread; returns when all of it is done.
    package nonisolated func shutdown() async { await loop.stop() }

    /// What was done so far.
    package func statistics() -> TransportStatistics { driver.statistics }

    // MARK: For the thread

    /// Carries out commands, lets libcurl work, and returns how to wait.
    func turn(_ commands: [CurlLoop.Command]) -> CurlLoop.Rest {
        for command in commands { driver.carryOut(command) }
        return driver.turn()
    }

    /// Waits as the last turn asked.
    func rest(_ rest: CurlLoop.Rest, bell: Doorbell) { driver.rest(rest, bell: bell) }

    /// Cancels everything and releases libcurl.
    func endAll() { driver.endAll() }
}
