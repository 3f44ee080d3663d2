import LectureFormats
package import LectureLive
import LectureModel

/// The messages of a channel, as they come: one event stream, opened again when it ends, and the history for what it
/// has missed. What is decided is in ``ChatFeed``.
///
/// ```
///  event stream ──bytes──▶ reader ──┐ inbox, at most 1,000: beyond it the stream is not read
///  history ──────pages──────────────┼──▶ one task ──▶ ChatFeed ──▶ events, in order, each once
///  waits ───────────────────────────┘        └──▶ connections, history, waits
/// ```
///
/// It ends for good with a token that is not valid, with a refusal, when it could not be opened at all, and when it was
/// lost for longer than its reader has patience.
package final class ChannelFeed: Sendable {
    /// What happens.
    package enum Event: Hashable, Sendable {
        /// The stream is open for the first time.
        case opened
        /// The next messages.
        case messages([LiveMessage])
        /// Messages that the server no longer has.
        case skipped(ClosedRange<UInt64>)
        /// It has ended for good.
        case failed(LiveFailure)
    }

    /// What happens, in order; ends after ``close()`` and after a failure.
    package let events: AsyncStream<Event>
    private let run: Task<Void, Never>

    /// Without a byte for so long a connection is lost: the server sends a comment each 15 s.
    package static let inactivity = Duration.seconds(45)

    /// Opens the stream.
    ///
    /// - Parameters:
    ///   - channelID: a channel that the member has joined.
    ///   - client: the member.
    ///   - after: the last message that is known; nil for what comes from now on.
    ///   - inactivity: without a byte for so long a connection is lost.
    ///   - patience: how long a stream that was open may be lost; nil for any time.
    ///   - time: the clock and its waits.
    package init(
        _ channelID: UInt64, _ client: MemberClient, after: UInt64? = nil,
        inactivity: Duration = ChannelFeed.inactivity, patience: Duration? = nil, time: LiveTime
    ) {
        let (events, report) = AsyncStream.makeStream(of: Event.self)
        self.events = events
        run = Task {
            await FeedRun(channelID, client, inactivity, patience, time, report).run(ChatFeed(after: after))
            report.finish()
        }
    }

    deinit { run.cancel() }

    /// Ends it: the connection is closed.
    package func close() { run.cancel() }
}

/// The task of a feed.
private struct FeedRun: Sendable {
    /// What the task takes.
    enum Input: Sendable {
        case opened
        case message(LiveMessage)
        case retry(Duration)
        /// With the server's position, for the next connection.
        case lost(LiveFailure?, position: String)
        case page([LiveMessage], isEnd: Bool)
        case pageFailed(LiveFailure)
        case time
    }

    /// A stream that was never open is given up after so many attempts.
    static let firstAttempts = 5

    let channelID: UInt64
    let client: MemberClient
    let inactivity: Duration
    let patience: Duration?
    let time: LiveTime
    let report: AsyncStream<ChannelFeed.Event>.Continuation
    let inbox = Inbox()

    init(
        _ channelID: UInt64, _ client: MemberClient, _ inactivity: Duration, _ patience: Duration?, _ time: LiveTime,
        _ report: AsyncStream<ChannelFeed.Event>.Continuation
    ) {
        (self.channelID, self.client, self.inactivity, self.time) = (channelID, client, inactivity, time)
        (self.patience, self.report) = (patience, report)
    }

    func run(_ feed: ChatFeed) async {
        var feed = feed
        var (wasOpen, attempts, position): (Bool, Int, String) = (false, 0, "")
        var lostAt: BootInstant?
        // All that waits or reads ends with this task.
        await withDiscardingTaskGroup { group in
            var current: TransferID?
            for output in feed.begin() { current = carryOut(output, position, &group) ?? current }
            for await input in inbox.inputs {
                let now = time.clock.boot()
                var outputs: [ChatFeed.Output] = []
                var end: LiveFailure?
                switch input {
                case .opened:
                    if !wasOpen { report.yield(.opened) }
                    (wasOpen, lostAt) = (true, nil)
                    outputs = feed.opened(now: now)
                case .message(let message):
                    inbox.taken()
                    outputs = feed.received(message)
                case .retry(let wait): feed.setServerWait(wait)
                case .lost(let failure, let reached):
                    (attempts, position) = (attempts + 1, reached)
                    let isFinal = failure?.code != .server || !wasOpen && attempts >= Self.firstAttempts
                    let since = lostAt ?? now
                    lostAt = since
                    if let failure, isFinal {
                        end = failure
                    } else if wasOpen, let patience, now - since >= patience {
                        end = Self.givenUp(patience)
                    } else {
                        outputs = feed.lost(now: now, random: time.random.next())
                    }
                case .page(let messages, let isEnd): outputs = feed.read(messages, isEnd: isEnd)
                case .pageFailed(let failure) where failure.code == .unauthorized: end = failure
                case .pageFailed: outputs = feed.readFailed(now: now, random: time.random.next())
                case .time: outputs = feed.timePassed(now: now)
                }
                if let end {
                    report.yield(.failed(end))
                    break
                }
                for output in outputs { current = carryOut(output, position, &group) ?? current }
            }
            if let current { client.transport.cancel(current) }
            group.cancelAll()
        }
    }

    private static func givenUp(_ patience: Duration) -> LiveFailure {
        var failure = LiveFailure(
            .server, "the server was lost, and has not come back for \(patience.components.seconds) s")
        failure.isUnavailable = true
        return failure
    }

    private func carryOut(
        _ output: ChatFeed.Output, _ position: String, _ group: inout DiscardingTaskGroup
    ) -> TransferID? {
        switch output {
        case .connect(let last): return connect(after: last, position)
        case .deliver(let messages): report.yield(.messages(messages))
        case .skipped(let range): report.yield(.skipped(range))
        case .wait(let until):
            group.addTask {
                await time.pause(until - time.clock.boot())
                inbox.put(.time)
            }
        case .readHistory(let after):
            group.addTask {
                do throws(LiveFailure) {
                    let (page, isEnd) = try await client.messages(channelID: channelID, after: after)
                    inbox.put(.page(page, isEnd: isEnd))
                } catch { inbox.put(.pageFailed(error)) }
            }
        case .readNewest:
            group.addTask {
                do throws(LiveFailure) {
                    let newest = try await client.newestMessage(channelID: channelID)
                    inbox.put(.page(newest.map { [$0] } ?? [], isEnd: true))
                } catch { inbox.put(.pageFailed(error)) }
            }
        }
        return nil
    }

    /// Opens the event stream: after the position that the server has given, which is one in all channels of the
    /// member; before there is one, after a message of this channel.
    private func connect(after last: String?, _ position: String) -> TransferID {
        let known = position.isEmpty ? last.map { "\(channelID)-\($0)" } ?? "" : position
        let sink = EventSink(channelID: channelID, lastID: known, inbox: inbox)
        var request = TransferRequest(
            id: TransferNumbers.next(), url: "\(client.server.base)/v2/members/me/event-sources", sink: sink)
        request.headers.append(client.server.authorization)
        request.headers.append(HeaderField(name: "Accept", value: "text/event-stream"))
        request.headers.append(HeaderField(name: "Cache-Control", value: "no-cache"))
        if let field = try? HeaderField(checking: "Last-Event-ID", value: known), !known.isEmpty {
            request.headers.append(field)
        }
        request.allowsHTTP2 = false
        request.stallTimeout = inactivity
        client.transport.start(request)
        return request.id
    }
}

/// What waits for the task of a feed.
private final class Inbox: Sendable {
    let inputs: AsyncStream<FeedRun.Input>
    private let continuation: AsyncStream<FeedRun.Input>.Continuation
    private let messages = Guarded(0)

    init() { (inputs, continuation) = AsyncStream.makeStream(of: FeedRun.Input.self) }

    /// Whether more messages may come: a slow application does not make the memory grow.
    var hasSpace: Bool { messages.withLock { $0 < 1000 } }

    func put(_ input: FeedRun.Input) {
        if case .message = input { messages.withLock { $0 += 1 } }
        continuation.yield(input)
    }

    func taken() { messages.withLock { $0 -= 1 } }
}

/// Reads one connection of an event stream.
private final class EventSink: TransferSink {
    private struct State {
        var reader: ServerSentEventReader
        var retry: Int?
        var status: Int?
        var body: [UInt8] = []
        var isOpen = false
    }

    private let channelID: UInt64
    private let inbox: Inbox
    private let state: Guarded<State>

    init(channelID: UInt64, lastID: String, inbox: Inbox) {
        (self.channelID, self.inbox) = (channelID, inbox)
        state = Guarded(State(reader: ServerSentEventReader(lastID: lastID)))
    }

    var canAccept: Bool { inbox.hasSpace }

    func headReceived(_ head: ResponseHead) -> Bool {
        let type = head.fields["Content-Type"].map { FieldText.lowercased($0[...]) } ?? ""
        let isOpen = head.status == 200 && type.hasPrefix("text/event-stream")
        state.withLock { ($0.status, $0.isOpen) = (head.status, isOpen) }
        if isOpen { inbox.put(.opened) }
        // The body of a refusal says why.
        return isOpen || head.status >= 400
    }

    func bodyReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (events, retry) = state.withLock { state -> ([ServerSentEvent]?, Int?) in
            guard state.isOpen else {
                unsafe state.body.append(contentsOf: bytes.prefix(max(0, 8192 - state.body.count)))
                return ([], nil)
            }
            let events = unsafe state.reader.read(bytes)
            defer { state.retry = state.reader.retry }
            return (events, state.retry == state.reader.retry ? nil : state.reader.retry)
        }
        if let retry { inbox.put(.retry(.milliseconds(retry))) }
        // One that is too long comes from the history, or is skipped.
        guard let events else { return false }
        for event in events {
            guard let value = try? JSONScanner.scan(event.data), let message = LiveMessage(value),
                message.channelID == channelID
            else { continue }
            inbox.put(.message(message))
        }
        return true
    }

    func transferEnded(_ outcome: TransferOutcome) {
        let state = state.withLock { $0 }
        let position = state.reader.lastID
        if state.isOpen { return inbox.put(.lost(nil, position: position)) }
        guard let status = state.status else {
            var detail = ""
            if case .failed(_, let text) = outcome.end { detail = ": \(text)" }
            var failure = LiveFailure(.server, "the server has not answered\(detail)")
            failure.isUnavailable = true
            return inbox.put(.lost(failure, position: position))
        }
        // A server that is busy or restarts is asked again; a refusal is final.
        let isPassing = status >= 500 || status == 408 || status == 429
        let value = try? JSONScanner.scan(state.body)
        let failure = AnswerSink.Answer.refusal(status, value, isPassing ? .server : .channelUnexpected)
        inbox.put(.lost(failure, position: position))
    }
}
