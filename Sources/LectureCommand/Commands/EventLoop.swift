import LectureKit
package import LectureModel

/// The loop of a command that follows the library: everything that happens arrives in one stream and is handled one
/// after the other, so that lines, bars and counts never mix.
///
/// ```
/// events of the library ──┐
/// ticks, signals ─────────┼──▶ run ──▶ lines, bars, totals
/// messages of tasks ──────┘
/// ```
///
/// It ends with the library's stream, which ends after the last event of a library that was closed. A loop runs once.
package struct EventLoop<Message: Sendable>: Sendable {
    /// Something that happened.
    package enum Event: Sendable {
        /// The library reports something.
        case library(LectureEvent)
        /// A task of the command sent a message.
        case message(Message)
        /// Time has passed.
        case tick
        /// The process received a signal.
        case signal(SignalEvent)
    }

    private let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let ticks: @Sendable () -> AsyncStream<Ticker.Event>

    /// Creates a loop, which starts to collect the library's events.
    ///
    /// - Parameters:
    ///   - library: the library's events. Subscribed before the first request, so that none is missed.
    ///   - ticks: starts ticks and takes over the signals; called when the loop starts to run.
    package init(_ library: AsyncStream<LectureEvent>, ticks: @escaping @Sendable () -> AsyncStream<Ticker.Event>) {
        (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.ticks = ticks
        Task { [continuation] in
            for await event in library { continuation.yield(.library(event)) }
            continuation.finish()
        }
    }

    /// Creates a loop with the process's signals.
    ///
    /// - Parameters:
    ///   - library: the library's events.
    ///   - interval: the time between two ticks.
    ///   - context: the context of the command.
    package init(_ library: AsyncStream<LectureEvent>, tick interval: Duration, _ context: CommandContext) {
        self.init(library) { Ticker(every: interval, signals: context.signals()).events }
    }

    /// Sends a message to the loop. After its end the message is dropped.
    ///
    /// - Parameter message: the message.
    package func send(_ message: Message) { continuation.yield(.message(message)) }

    /// Runs an operation beside the loop and sends its result as a message.
    ///
    /// It is not cancelled when the loop ends: closing the library ends its operations.
    ///
    /// - Parameters:
    ///   - operation: the operation.
    ///   - message: makes a message of its result; an error that is no `LectureError` is a bug.
    package func start<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value,
        then message: @escaping @Sendable (Result<Value, LectureError>) -> Message
    ) {
        Task {
            do { send(message(.success(try await operation()))) } catch {
                let known = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
                send(message(.failure(known)))
            }
        }
    }

    /// Handles events until the library's stream has ended.
    ///
    /// - Parameter handle: handles one event.
    /// - Throws: what `handle` throws, which ends the loop.
    package func run(_ handle: (Event) async throws -> Void) async rethrows {
        _ = try await first { event -> Never? in
            try await handle(event)
            return nil
        }
    }

    /// Handles events until one of them leads to a result.
    ///
    /// - Parameter handle: handles one event; a value ends the loop.
    /// - Returns: the value; nil when the library's stream has ended before.
    /// - Throws: what `handle` throws, which ends the loop.
    package func first<Value>(_ handle: (Event) async throws -> Value?) async rethrows -> Value? {
        let ticks = ticks()
        let ticking = Task { [continuation] in
            for await event in ticks {
                switch event {
                case .tick: continuation.yield(.tick)
                case .signal(let signal): continuation.yield(.signal(signal))
                }
            }
        }
        defer {
            ticking.cancel()
            continuation.finish()
        }
        for await event in events {
            if let value = try await handle(event) { return value }
        }
        return nil
    }
}
