import LectureLive
import LectureLiveClient
import LectureModel

/// The event stream and the chat of a broadcaster or a viewer.
final class LiveChannel: Sendable {
    /// What goes to the rules.
    enum Event: Sendable {
        case opened
        case changed(LiveMessage.RoomChange)
        case failed(LiveFailure)
    }

    private struct State {
        var feed: ChannelFeed?
        var chat: FFLLiveChat?
    }

    private let state = Guarded(State())

    /// The chat, while the channel is open.
    var chat: FFLLiveChat? { state.withLock { $0.chat } }

    /// Opens the channel.
    ///
    /// - Parameters:
    ///   - channelID: a channel that was joined.
    ///   - access: the server and the member.
    ///   - received: gets the messages for the application.
    ///   - chatFailed: gets failures of messages that were sent.
    ///   - report: gets the rest.
    func open(
        _ channelID: UInt64, _ access: LiveAccess, received: @escaping @Sendable (FFLMessage) -> Void,
        chatFailed: @escaping @Sendable (LiveFailure) -> Void, report: @escaping @Sendable (Event) -> Void
    ) {
        close()
        guard case .success(let client) = access.client else { return }
        let feed = ChannelFeed(channelID, client, time: access.time)
        state.withLock { $0.feed = feed }
        Task { [weak self] in
            for await event in feed.events {
                switch event {
                case .opened:
                    let chat = FFLLiveChat(client, channelID, access, failed: chatFailed)
                    self?.state.withLock { if $0.feed === feed { $0.chat = chat } }
                    report(.opened)
                case .messages(let messages):
                    for message in messages {
                        if let change = message.change {
                            report(.changed(change))
                        } else {
                            received(FFLMessage(message))
                        }
                    }
                case .skipped: break
                case .failed(let failure): report(.failed(failure))
                }
            }
        }
    }

    /// Closes the channel.
    func close() {
        let before = state.withLock { state in
            defer { state = State() }
            return state
        }
        before.feed?.close()
        before.chat?.close()
    }
}
