import LectureDownload
import LectureFiles
import LectureModel
import LectureStore

/// Compares complete lectures with their sources, for the downloads. Called on the core queue.
protocol SourceChecking: AnyObject, Sendable {
    /// Whether complete lectures are being compared with their sources.
    func isCheckingSources() -> Bool

    /// A link led to a complete lecture, and the gateway's answer does not contradict it.
    ///
    /// - Parameters:
    ///   - id: the lecture.
    ///   - digest: what to compare; nil for nothing in particular.
    func linkLed(to id: ContentID, digest: [UInt8]?)
}

/// Downloads are opened when they are first needed.
extension StoreCore {
    /// The active part of downloading; created when first needed.
    ///
    /// - Parameter continuing: whether what is queued is downloaded next: what requests need is then loaded while the
    ///   rest is opened.
    /// - Returns: the service.
    /// - Throws: ``LectureError`` of the store, `closing` when the manager is closed.
    func openService(continuing: Bool = false) throws -> DownloadService {
        if state.isClosed { throw LectureError(.closing) }
        if let service = state.service { return service }
        let isRequesting = try continuing && writer.owners.hasRequested()
        let made = try DownloadService(
            state.configuration, index: writer, files: files, digests: digests, seals: seals,
            licensing: licensing.forDownloads(), host: try openHost(isRequesting: isRequesting),
            hearsOthers: state.surroundings?.hearsStore == true)
        // Outside any transaction, since an older copy of a store is recorded at once. Without a licence and a device
        // key there is nothing to find.
        if try writer.hasLicences() {
            // Lectures without a licence are downloaded and removed in another device's store as well.
            do { try licensing.open() } catch let error as LectureError where error.code == .storeCopied {}
        } else if let home = try? state.configuration.deviceHome(), home.isInUse() {
            // Lectures without a licence are downloaded whatever is wrong with the key; licensed ones report it then.
            _ = try? licensing.open()
        }
        state.service = made
        made.isChecking = { [weak self] in self?.state.checking?.isCheckingSources() ?? false }
        made.linkLedTo = { [weak self] id, digest in self?.state.checking?.linkLed(to: id, digest: digest) }
        made.wake()
        return made
    }

    /// Has the download engine delete what a server has ordered removed.
    func followRemovals() {
        guard let service = try? openService() else { return }
        service.engine.setNeedsStep()
    }

    /// Waits until everything requested is complete or has a final reason.
    ///
    /// - Parameters:
    ///   - longestWait: longer delays requested by a server are not waited for.
    ///   - deadline: stop waiting after this time; nil never stops.
    /// - Returns: whether everything became idle before the deadline.
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) func waitUntilIdle(
        longestWait: Duration = .seconds(600), deadline: Duration? = nil
    ) async throws -> Bool {
        try Task.checkCancellation()
        guard let service = state.service else { return true }
        let waiter = Waiter<Bool>()
        service.waitUntilIdle(longestWait: longestWait, deadline: deadline.map { clock.boot() + $0 }, waiter)
        defer { service.forget(waiter) }
        return try await waiter.value()
    }
}
