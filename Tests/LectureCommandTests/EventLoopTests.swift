import LectureCommand
import LectureModel
import Testing

/// The loop that the commands share, with streams in place of a library and a timer.
@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
    private typealias Outcome = Result<Int, LectureError>

    /// An error that is not of the catalogue.
    private struct Unknown: Error {}

    /// The two sources of a loop, and what is known of them.
    private struct Sources {
        let library = AsyncStream.makeStream(of: LectureEvent.self)
        let ticks = AsyncStream.makeStream(of: Ticker.Event.self)
        /// How often ticks were requested.
        let starts = Guarded(0)
        /// Ends when the ticks were stopped.
        private let stopped = AsyncStream.makeStream(of: Void.self)

        init() {
            // From the beginning: a stream that has ended calls no handler that is set later.
            ticks.continuation.onTermination = { [stop = stopped.continuation] _ in stop.finish() }
        }

        func loop<Message: Sendable>(of message: Message.Type) -> EventLoop<Message> {
            EventLoop(library.stream) { [ticks = ticks.stream, starts] in
                starts.withLock { $0 += 1 }
                return ticks
            }
        }

        /// Waits until the ticks were stopped.
        func ticksStopped() async {
            for await _ in stopped.stream {}
        }
    }

    private static func text<Message>(_ event: EventLoop<Message>.Event) -> String {
        switch event {
        case .library(.trouble(let error)): "failure \(error.detail)"
        case .library: "library"
        case .message(let message): "message \(message)"
        case .tick: "tick"
        case .signal(let signal): "signal \(signal)"
        }
    }

    @Test func `events are handled in their order, and the loop ends with the library`() async {
        let sources = Sources()
        for number in 1...3 { sources.library.continuation.yield(.trouble(LectureError(.bug, detail: "\(number)"))) }
        sources.library.continuation.finish()
        var seen: [String] = []
        await sources.loop(of: Never.self).run { seen.append(Self.text($0)) }
        #expect(seen == ["failure 1", "failure 2", "failure 3"])
    }

    @Test func `ticks, signals and messages arrive in the same loop`() async {
        let sources = Sources()
        let loop = sources.loop(of: Int.self)
        loop.send(7)
        sources.ticks.continuation.yield(.tick)
        sources.ticks.continuation.yield(.signal(.resized))
        sources.ticks.continuation.yield(.signal(.stop(15)))
        var seen: [String] = []
        await loop.run { event in
            seen.append(Self.text(event))
            // As a command does: the signal closes the library, whose stream then ends.
            if case .signal(.stop) = event { sources.library.continuation.finish() }
        }
        #expect(seen == ["message 7", "tick", "signal resized", "signal stop(15)"])
    }

    @Test func `signals are taken over only when the loop runs`() async {
        let sources = Sources()
        let loop = sources.loop(of: Int.self)
        #expect(sources.starts.withLock { $0 } == 0)
        loop.send(1)
        let first: Int? = await loop.first { _ in sources.starts.withLock { $0 } }
        #expect(first == 1)
    }

    @Test func `a value ends the loop and the ticks, while the library goes on`() async {
        let sources = Sources()
        let loop = sources.loop(of: Int.self)
        for number in 1...3 { loop.send(number) }
        var handled = 0
        let value: String? = await loop.first { event in
            handled += 1
            guard case .message(2) = event else { return nil }
            return "two"
        }
        #expect(value == "two")
        #expect(handled == 2)
        await sources.ticksStopped()
        // What is sent after the end is dropped; what had arrived before is only not handled.
        loop.send(4)
        var left: [String] = []
        await loop.run { left.append(Self.text($0)) }
        #expect(left == ["message 3"])
    }

    @Test func `an error of the handler ends the loop and the ticks`() async {
        let sources = Sources()
        let loop = sources.loop(of: Int.self)
        loop.send(1)
        await #expect(throws: LectureError(.closing)) {
            try await loop.run { _ in throw LectureError(.closing) }
        }
        await sources.ticksStopped()
    }

    @Test func `a library that ends first leaves no value`() async {
        let sources = Sources()
        sources.library.continuation.finish()
        #expect(await sources.loop(of: Never.self).first { _ in true } == nil)
    }

    @Test func `the result of an operation is a message`() async {
        let loop = Sources().loop(of: Outcome.self)
        loop.start {
            5
        } then: {
            $0
        }
        #expect(await Self.message(of: loop) == .success(5))
        let refused = Sources().loop(of: Outcome.self)
        refused.start {
            throw LectureError(.storeBusy)
        } then: {
            $0
        }
        #expect(await Self.message(of: refused) == .failure(LectureError(.storeBusy)))
    }

    @Test func `an error that is not of the catalogue is a bug, named by its type`() async {
        let loop = Sources().loop(of: Outcome.self)
        loop.start {
            throw Unknown()
        } then: {
            $0
        }
        guard case .failure(let error) = await Self.message(of: loop) else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == .bug)
        #expect(error.cause == "Unknown")
    }

    /// The first message of a loop.
    private static func message(of loop: EventLoop<Outcome>) async -> Outcome? {
        await loop.first { event in
            guard case .message(let message) = event else { return nil }
            return message
        }
    }
}
