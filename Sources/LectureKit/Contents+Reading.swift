import LectureFiles
public import LectureModel
import LectureStore

/// Reading finished media back, and checking that it is what was fetched.
extension LectureManager.Contents {
    /// Reads media; every chunk is checked against its proof before any of its bytes is returned. For a licensed
    /// lecture that is a play: it is checked and counted. To read more than once in a play, see
    /// ``LectureManager/Licences/beginPlay(_:patience:counting:)``.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - range: which bytes, from 0; nil for all. Bytes beyond the end are left out.
    ///   - receive: gets the bytes in order, at most a chunk per call; an error it throws ends the reading.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `damaged`, what
    ///   ``LectureManager/Licences/beginPlay(_:patience:counting:)`` throws; `playTimeUsedUp` when the licence permits
    ///   no further byte; and what `receive` throws. `CancellationError` when the task is cancelled, at the latest
    ///   after a chunk; the play stays counted, and so do the bytes returned.
    public nonisolated func read(
        _ key: ContentKey, range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let play = try await licences.beginPlay(key)
        do {
            try await play.read(range: range, isAll: true, receive)
        } catch {
            try? await play.end()
            throw error
        }
        try await play.end()
    }

    /// Refuses a lecture whose media must not lie on a disk in clear: a licensed one, and one whose files are sealed.
    ///
    /// - Parameter key: a complete lecture.
    /// - Throws: ``LectureError``: `isSealed`, `unknownContent`, `notComplete`, `mediaMissing`, a store's code.
    public func requireUnsealed(_ key: ContentKey) throws(LectureError) {
        try LectureError.only {
            let media = try finalizedMedia(key)
            let version = try queries.streams.streamVersion(key)
            let isSealed = try version.map { try queries.streams.hasSealedMedia($0.id) } ?? (media.seal != .plain)
            guard !isSealed, try !writer.hasLicence(key), try !isSealedForLicence(key) else {
                throw LectureError(.isSealed, detail: key.text)
            }
        }
    }

    /// Re-reads a complete lecture and compares every chunk with its proof.
    ///
    /// The findings are stored: a damaged lecture counts as failed with `damaged` (or `mediaMissing`) until it is
    /// repaired, by this call, by the next request for it, or by
    /// ``LectureManager/Downloads/continueUnfinished()``. What is not damaged stays readable.
    ///
    /// - Parameters:
    ///   - key: a lecture with a complete version.
    ///   - options: how much to read, how fast, and whether to repair.
    /// - Returns: what was read and what is damaged. With ``VerifyOptions/repairs`` damaged chunks are queued to be
    ///   downloaded again; ``LectureManager/Downloads/waitUntilIdle(longestWait:deadline:)`` waits for them.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `readFile`, `alreadyDownloading` while it is being
    ///   repaired. `CancellationError` when the task is cancelled; findings up to then are not stored.
    public func verify(_ key: ContentKey, options: VerifyOptions = VerifyOptions()) async throws -> VerifyReport {
        try await MediaReader(core).verify(key, options)
    }

    /// Checks the files of all complete lectures, by their directory entries only. A lecture whose file is missing or
    /// was cut short counts as failed with `mediaMissing` from now on; one whose file has reappeared is complete again.
    ///
    /// - Returns: how many lectures lack their file.
    /// - Throws: ``LectureError`` when the store cannot be read, or written where a result has to be recorded.
    @discardableResult
    public func checkFiles() throws(LectureError) -> Int {
        try LectureError.only {
            try markFound()
            try markMissing(isQueued: false)
            return try writer.versions.missingMedia().count
        }
    }
}
