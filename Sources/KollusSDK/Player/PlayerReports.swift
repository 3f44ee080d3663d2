import Foundation
import LectureKit
import LectureModel

/// Sends the reports of a play while it goes on, as the iOS SDK does. What cannot be sent stays stored.
final class PlayerReports: Sendable {
    private let requests: AsyncStream<Void>.Continuation
    private let sending: Task<Void, Never>

    /// Sends nothing yet.
    init(_ manager: LectureManager) {
        // Requests during a send become one.
        let (stream, requests) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.requests = requests
        sending = Task {
            for await _ in stream {
                do { _ = try await manager.reports.send() } catch {
                    let error = KollusError.of(error)
                    // A storage that is closed meanwhile keeps them, which is as good.
                    guard error.kind != .ERROR_CANNOT_CALL_API else { continue }
                    LogUtil.utilLog("learning reports: \(error.localizedDescription)")
                }
            }
        }
    }

    deinit { requests.finish() }

    /// Sends what is stored, soon.
    func send() { requests.yield() }

    /// Sends the last report, and waits for that.
    func end() async {
        requests.yield()
        requests.finish()
        await sending.value
    }

    /// Whether a report is about a content. One whose format does not say so counts: the play has caused it.
    static func isAbout(_ key: String, _ data: String) -> Bool {
        guard let information = data.jsonObject?["content_info"] as? [String: Any],
            let named = information["media_content_key"] as? String
        else { return true }
        return named == key
    }
}
