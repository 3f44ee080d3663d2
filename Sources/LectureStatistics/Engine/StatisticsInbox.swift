package import LectureModel

/// The reply of one exchange with a target.
package struct SendReply: Sendable {
    /// The header; nil when none was received.
    package var head: ResponseHead?
    /// The boot clock when the header was received.
    package var headBoot: BootInstant?
    /// The body, up to ``AnswerJudge/bodyLimit`` bytes of it.
    package var body: [UInt8]
    /// Whether there was more of it.
    package var isLong: Bool
    /// How it ended.
    package var outcome: TransferOutcome

    /// Makes a reply.
    package init(
        head: ResponseHead?, headBoot: BootInstant?, body: [UInt8], isLong: Bool, outcome: TransferOutcome
    ) {
        (self.head, self.headBoot, self.body) = (head, headBoot, body)
        (self.isLong, self.outcome) = (isLong, outcome)
    }

    /// libcurl's results after which nothing of the request can have been read: no usable address, no name, no
    /// connection, no TLS, no proxy.
    private static let unsent: Set<Int> = [
        1, 2, 3, 4, 5, 6, 7, 27, 35, 43, 45, 53, 54, 58, 59, 60, 66, 77, 82, 83, 90, 91, 97, 98,
    ]

    /// The end, as the verdict needs it.
    var end: SendEnd {
        switch outcome.end {
        case .complete: .whole
        case .stopped: isLong ? .long : .cut
        case .cancelled: .cut
        case .failed(let curl, _): head == nil && Self.unsent.contains(curl) ? .unsent : .cut
        }
    }

    /// The start of the body as text, or the transport's error.
    var text: String {
        if head == nil, case .failed(_, let detail) = outcome.end { return detail }
        // C readers would cut a text at its first NUL.
        let bytes = body.prefix(1024).map { $0 == 0 ? UInt8(ascii: "?") : $0 }
        var text = String(decoding: bytes, as: UTF8.self)
        while text.utf8.count > 1024 { text.unicodeScalars.removeLast() }
        return text
    }
}

/// Results from other threads.
package enum StatisticsEvent: Sendable {
    /// An exchange is over.
    case answered(TransferID, SendReply)
    /// A request was made; the next step handles it.
    case poked
}

/// Takes the engine's events from any thread and wakes its executor once per batch.
package final class StatisticsInbox: Sendable {
    private let events = Guarded<[StatisticsEvent]>([])
    private let wake: @Sendable () -> Void

    /// Makes an inbox.
    ///
    /// - Parameter wake: called for the first event of a batch, on the posting thread; makes the engine's executor run
    ///   a step soon.
    package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Queues an event.
    package func post(_ event: StatisticsEvent) {
        let isFirst = events.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if isFirst { wake() }
    }

    func take() -> [StatisticsEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}

/// Collects the reply of one exchange and hands it over at its end. Used by the transport's thread only, except for
/// `post`, which may be called from anywhere.
final class SendSink: TransferSink {
    private struct State {
        var head: ResponseHead?
        var headBoot: BootInstant?
        var body: [UInt8] = []
        var isLong = false
    }

    private let state = Guarded(State())
    private let clock: any LectureClock
    private let post: @Sendable (SendReply) -> Void

    init(clock: any LectureClock, _ post: @escaping @Sendable (SendReply) -> Void) {
        (self.clock, self.post) = (clock, post)
    }

    func headReceived(_ head: ResponseHead) -> Bool {
        let boot = clock.boot()
        state.withLock { ($0.head, $0.headBoot) = (head, boot) }
        return true
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            let left = AnswerJudge.bodyLimit - state.body.count
            unsafe state.body.append(contentsOf: bytes.prefix(left))
            state.isLong = bytes.count > left
            return !state.isLong
        }
    }

    func transferEnded(_ outcome: TransferOutcome) {
        let state = state.withLock { $0 }
        post(
            SendReply(
                head: state.head, headBoot: state.headBoot, body: state.body, isLong: state.isLong, outcome: outcome))
    }
}
