import LectureLive
import LectureLiveClient
import LectureModel

/// Sends messages to a channel: one after the other, in the order of the calls.
public final class FFLLiveChat: Sendable {
    private struct Message: Sendable {
        let text: String
        let customType: String?
        let onFailure: (@Sendable (Int, String) -> Void)?
    }

    /// More messages than this do not wait to be sent.
    static let waitingLimit = 1000

    private let queue: AsyncStream<Message>.Continuation
    private let failed: @Sendable (LiveFailure) -> Void

    init(
        _ client: MemberClient, _ channelID: UInt64, _ access: LiveAccess,
        failed: @escaping @Sendable (LiveFailure) -> Void
    ) {
        let (messages, queue) = AsyncStream.makeStream(
            of: Message.self, bufferingPolicy: .bufferingOldest(Self.waitingLimit))
        (self.queue, self.failed) = (queue, failed)
        Task {
            for await message in messages {
                do throws(LiveFailure) {
                    try await client.send(message.text, customType: message.customType, channelID: channelID)
                } catch { Self.report(error, message, failed) }
            }
            // Until here the transport is needed.
            withExtendedLifetime(access) {}
        }
    }

    deinit { queue.finish() }

    /// Sends a message. It comes back as all messages do, by `didReceive`. A message whose answer is lost is not sent
    /// again: it may have arrived.
    ///
    /// - Parameters:
    ///   - message: the text.
    ///   - customType: a word of the application.
    ///   - onFailure: gets the number and a sentence, on any thread; without it the delegate gets the error.
    public func sendMessage(
        message: String, customType: String? = nil, onFailure: (@Sendable (Int, String) -> Void)? = nil
    ) {
        let message = Message(text: message, customType: customType, onFailure: onFailure)
        if case .enqueued = queue.yield(message) { return }
        Self.report(
            LiveFailure(.messageSend, "too many messages wait to be sent, or the channel is closed"), message, failed)
    }

    private static func report(_ failure: LiveFailure, _ message: Message, _ failed: @Sendable (LiveFailure) -> Void) {
        if let report = message.onFailure { report(failure.code.rawValue, failure.message) } else { failed(failure) }
    }

    /// No more messages are sent.
    func close() { queue.finish() }
}
