import Dispatch
import LectureKit
import LectureModel

/// `lecturectl status`.
enum StatusCommand {
    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        return try await session.withManager { manager in
            try write(try await manager.status(), session)
            guard command.flag("watch") else { return .done }
            return try await watch(manager, session)
        }
    }

    /// Prints again whenever something changed. Other processes change the store, so it has to be asked.
    private static func watch(_ manager: LectureManager, _ session: CommandSession) async throws -> ExitStatus {
        let signals = session.context.signals()
        let ticker = Ticker(every: .seconds(1), signals: signals)
        var last = try await manager.status()
        for await event in ticker.events {
            switch event {
            case .signal(.stop(let number)): return .signal(number)
            case .signal(.resized): continue
            case .tick:
                let status = try await manager.status()
                if status != last { try write(status, session) }
                last = status
            }
        }
        return .done
    }

    private static func write(_ status: StoreStatus, _ session: CommandSession) throws {
        guard !session.wantsJSON else { return try session.context.output.write(JSONLine.status(status)) }
        let counts = ItemState.allCases.compactMap { state in
            status.counts[state].flatMap { $0 > 0 ? "\($0) \(state.name)" : nil }
        }
        let contents = counts.isEmpty ? "empty" : counts.joined(separator: ", ")
        let bytes = "\(HumanText.byteCount(status.provenBytes)) of \(HumanText.byteCount(status.totalBytes))"
        try session.context.output.write("\(contents); \(bytes)\n")
    }
}

/// Ticks and signals in one stream, for commands that look at the store again and again.
final class Ticker: Sendable {
    enum Event: Sendable {
        case tick
        case signal(SignalEvent)
    }

    let events: AsyncStream<Event>

    /// Begins to tick.
    ///
    /// - Parameters:
    ///   - interval: the time between two ticks. A tick nobody has taken yet is not repeated.
    ///   - signals: the process's signals; the ticker keeps the watcher.
    init(every interval: Duration, signals: SignalWatcher?) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(16))
        self.events = events
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "lecturectl.ticker"))
        let nanoseconds = Int(clamping: interval.nanosecondCount)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds))
        timer.setEventHandler { continuation.yield(.tick) }
        timer.activate()
        let forwarding = Task {
            guard let signals else { return }
            for await signal in signals.events { continuation.yield(.signal(signal)) }
        }
        // `timer` is only cancelled here, and cancelling is safe from any thread.
        nonisolated(unsafe) let source = timer
        continuation.onTermination = { _ in
            unsafe source.cancel()
            forwarding.cancel()
        }
    }
}
