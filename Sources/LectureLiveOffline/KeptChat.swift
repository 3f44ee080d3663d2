public import LectureKit
public import LectureLive
public import LectureModel

extension LectureManager.Contents {
    /// The chat that was kept with a live lecture.
    ///
    /// The server offers it as subtitles of the name ``ChatLog/subtitleName``, so it is downloaded, verified and sealed
    /// like those, and any player shows it in time.
    ///
    /// - Parameter key: a lecture in the store.
    /// - Returns: its chat, for ``ChatReplay``; nil when it has none.
    /// - Throws: ``LectureError``: `unknownContent`, `damaged`, `sealedElsewhere`, a store's code. `CancellationError`
    ///   when the task is cancelled.
    public func chat(of key: ContentKey) async throws -> ChatLog? {
        for subtitle in try await subtitles(of: key) where subtitle.name == ChatLog.subtitleName {
            guard let text = String(validating: subtitle.bytes, as: UTF8.self) else { continue }
            if let log = try? ChatLog(webVTT: text) { return log }
        }
        return nil
    }
}
