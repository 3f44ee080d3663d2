import Foundation
import LectureKit
import LectureModel

/// Loading, downloading, removing.
extension StorageCore {
    /// A media content key as an application passes it.
    ///
    /// - Throws: −8613 for nil and for an empty text, −8621 for an invalid key.
    static func key(_ text: String?) throws -> ContentKey {
        guard let text, !text.isEmpty else { throw KollusError(.ERROR_PARAM_VALUE, detail: "mediaContentKey") }
        guard let key = try? ContentKey(text) else { throw KollusError(.ERROR_NOT_FOUND_ID) }
        return key
    }

    /// A URL as an application passes it; for a `kollus://download` link, the one that it names.
    private static func address(_ text: String?) throws -> String {
        guard let text, !text.isEmpty else { throw KollusError(.ERROR_PARAM_VALUE, detail: "URL") }
        guard DownloadRequest.isLink(text) else { return text }
        guard let requests = try? DownloadRequest.requests(link: text), requests.count == 1 else {
            throw KollusError(.ERROR_NO_USE_CONTENT_URL)
        }
        return requests[0].url
    }

    /// Maps invalid-URL errors to the vendor's code.
    private static func refusing<Value>(_ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as LectureError {
            switch error.code {
            case .urlScheme, .urlInvalid: throw KollusError(.ERROR_NO_USE_CONTENT_URL)
            default: throw KollusError(error)
            }
        }
    }

    // MARK: Loading

    func load(_ url: String?) async throws -> String {
        let manager = try manager()
        let address = try Self.address(url)
        return try await Self.refusing {
            let known = try await manager.contents.find(url: address)
            // An interrupted removal is finished first; then the content is loaded like any other.
            if let known, known.state == .removing { try await Self.untilGone(known.key, manager) }
            let content: Content
            // Registering does not request a download: runs that continue unfinished downloads skip it.
            do { content = try await manager.loaded(address) } catch let error as LectureError {
                // Offline, a complete content counts as loaded; an unfinished one must be downloaded first.
                guard let known, Self.isUnreachable(error) else { throw error }
                if known.state == .completed { return known.key.text }
                throw KollusError(.ERROR_REQUEST_CONTENT_URL, detail: known.key.text)
            }
            state.withLock { _ = $0.removed.remove(content.key) }
            return content.key.text
        }
    }

    private static func isUnreachable(_ error: LectureError) -> Bool { (-8099 ... -8001).contains(error.code.number) }

    func check(_ url: String?) async throws -> String {
        let manager = try manager()
        let address = try Self.address(url)
        return try await Self.refusing {
            guard let content = try await manager.contents.find(url: address), content.state != .removing else {
                throw KollusError(.ERROR_NOT_FOUND_ID)
            }
            return content.key.text
        }
    }

    // MARK: Downloading

    func download(_ text: String?) throws {
        let manager = try manager()
        let key = try Self.key(text)
        try begin(key, manager)
    }

    private func begin(_ key: ContentKey, _ manager: LectureManager) throws {
        do {
            try manager.wait { try self.begin(key, on: $0) }
        } catch {
            let isComplete = (error as? LectureError)?.code == .alreadyDownloaded
            guard isComplete, self[\.settings].completedDownload == .completesAgain,
                let details = try manager.contents.wait({ try $0.details(of: key) })
            else { throw KollusError.of(error) }
            let picture = KollusContent(details)
            notify(.completed(picture))
            deliverer.post(.download(picture, error: nil, isFinal: true))
        }
    }

    /// Starts a download for a link, which also names its folder.
    func begin(_ request: DownloadRequest, _ key: ContentKey, _ manager: LectureManager) throws {
        try manager.wait { manager in
            // A complete content only moves to its folder.
            if try manager.lecture(key)?.state != .completed { try self.begin(key, on: manager) }
            try manager.request(request)
        }
    }

    /// On the manager's queue, so that no event of an earlier download comes between the ticket and the request.
    private func begin(_ key: ContentKey, on manager: isolated LectureManager) throws {
        // The previous download's final event comes before this one's start.
        router.notifyEnding(key, manager)
        let old = state.withLock { state -> (isNew: Bool, ticket: Ticket?) in
            let old = state.tickets[key]
            if let old, !old.isPaused { return (false, old) }
            var ticket = old ?? Ticket()
            ticket.isPaused = false
            state.tickets[key] = ticket
            state.lastErrors[key] = nil
            state.removed.remove(key)
            return (true, old)
        }
        guard old.isNew else { throw KollusError(.ERROR_ALREADY_DOWNLOADING, detail: key.text) }
        do {
            // Without a ticket nothing was reported yet: a download that was requested from the library directly is
            // accepted, and reported from now on.
            do { try manager.fetch(key) } catch let error as LectureError where error.code == .alreadyDownloading {}
        } catch {
            state.withLock { $0.tickets[key] = old.ticket }
            throw error
        }
        if old.ticket == nil { router.notifyStarted(key, manager) }
    }

    /// The transfer has ended when this returns: the kept bytes are on the disk, and a new download may follow.
    func cancel(_ text: String?) async throws {
        let manager = try manager()
        let key = try Self.key(text)
        do {
            let wasRunning = try manager.wait { manager in
                guard let content = try manager.lecture(key) else {
                    throw KollusError(.ERROR_NOT_FOUND_ID, detail: key.text)
                }
                guard content.state != .completed else { return false }
                // The call that may fail comes first: a download that continues keeps its ticket, and so its final
                // event.
                try manager.cancelFetch(key)
                self.state.withLock { state in
                    if let ticket = state.tickets.removeValue(forKey: key) { state.ending[key] = ticket }
                }
                return true
            }
            guard wasRunning else { return }
            try? await Self.untilStill(key, manager)
            manager.wait { self.router.notifyEnding(key, $0) }
        } catch { throw KollusError.of(error) }
    }

    /// Waits until no process works on a content: its bytes are on the disk then, and counted. Gives up after a few
    /// seconds, so that a disk or process that does not respond cannot block the caller.
    private static func untilStill(_ key: ContentKey, _ manager: LectureManager) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(5)
        while clock.now < end {
            let isMoving = try manager.wait { manager in
                guard try !manager.isWanted(key), let state = try manager.lecture(key)?.state else { return false }
                switch state {
                case .loading, .downloading, .verifying: return true
                case .queued, .stopped, .failed, .completed, .removing: return false
                }
            }
            guard isMoving else { return }
            try await Task.sleep(for: .milliseconds(5), clock: clock)  // proof: another process sends no event
        }
    }

    func pause(_ text: String?) throws {
        let manager = try manager()
        let key = try Self.key(text)
        try translating {
            state.withLock { $0.tickets[key]?.isPaused = true }
            do { try manager.downloads.wait { try $0.pause(key) } } catch {
                state.withLock { $0.tickets[key]?.isPaused = false }
                throw error
            }
        }
    }

    // MARK: Removing

    func remove(_ text: String?, includingSample: Bool) async throws {
        let manager = try manager()
        let key = try Self.key(text)
        do {
            guard let content = try await manager.contents.find(key) else { return }
            if content.type == .sample, !includingSample { throw KollusError(.ERROR_NOT_REMOVE_TYPE, detail: key.text) }
            state.withLock { state in
                state.removed.insert(key)
                (state.tickets[key], state.lastErrors[key], state.ending[key]) = (nil, nil, nil)
            }
            deliverer.forget(key.text)
            try await manager.downloads.remove(key)
            try await Self.untilGone(key, manager)
        } catch { throw KollusError.ofWaiting(error) }
    }

    /// Waits until the row is gone, whichever process removes it; its files are gone before it.
    private static func untilGone(_ key: ContentKey, _ manager: LectureManager) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while try await manager.contents.find(key) != nil {
            if clock.now > end { throw LectureError(.storeBusy, detail: key.text) }
            try await Task.sleep(for: .milliseconds(10), clock: clock)  // proof: another process sends no event
        }
    }

    // MARK: Lists

    func contents(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws -> [KollusContent] {
        let manager = try manager()
        let (rows, active) = try manager.wait { (try $0.details(filter, sort, page), $0.downloading) }
        let bytes = Dictionary(active.map { ($0.key, $0.bytes) }) { first, _ in first }
        let errors = state.withLock { $0.lastErrors }
        return rows.compactMap { row in
            guard row.content.state != .removing else { return nil }
            let key = row.content.key
            return KollusContent(row, receivedBytes: bytes[key], lastError: errors[key])
        }
    }

    func content(_ text: String?) throws -> KollusContent? {
        let manager = try manager()
        let key = try Self.key(text)
        return try translating {
            let (details, active) = try manager.wait { (try $0.detail(key), $0.downloading.first { $0.key == key }) }
            guard let details, details.content.state != .removing else { return nil }
            return KollusContent(
                details, receivedBytes: active?.bytes, lastError: state.withLock { $0.lastErrors[key] })
        }
    }
}
