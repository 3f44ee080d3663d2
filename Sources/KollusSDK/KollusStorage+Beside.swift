public import Foundation
public import LectureKit
import LectureModel

// MARK: Beside the iOS SDK

/// Additions to the iOS SDK.
extension KollusStorage {
    /// Settings that differ from machine to machine. Read at the start, except ``KollusSettings/renewalWindow``,
    /// ``KollusSettings/completedDownload``, ``KollusSettings/cancelledDownload`` and ``KollusSettings/deviceType``,
    /// which apply at once.
    public var settings: KollusSettings {
        get { core[\.settings] }
        set { core[\.settings] = newValue }
    }

    /// The queue on which the delegate is called: the main queue, unless an application without a run loop sets
    /// another. Serial, so that events come one after the other.
    public var delegateQueue: DispatchQueue {
        get { core.deliverer.queue }
        set { core.deliverer.queue = newValue }
    }

    /// Events from now on, with reasons. Every call returns a new stream; ``close()`` ends it.
    public var events: AsyncStream<KollusEvent> { core.hub.stream() }

    /// Whether it is started and not closed.
    public var isStarted: Bool { core.state.withLock { $0.running != nil } }

    /// Ends all transfers cleanly and waits for it. Downloaded data is kept; no more events are sent. With
    /// ``setBackgroundDownload(_:)`` another process continues. A second call does nothing.
    public func close() {
        let core = core
        try? waiting { await core.close() }
    }

    /// ``close()`` without blocking a thread.
    public func finish() async { await core.close() }

    // MARK: Asynchronous variants
    // They end with `CancellationError` as soon as their task is cancelled.

    /// ``loadContentURL(_:)`` without blocking a thread.
    public func load(_ url: String) async throws -> String { try await core.load(url) }

    /// ``checkContentURL(_:)`` without blocking a thread.
    public func check(_ url: String) async throws -> String { try await core.check(url) }

    /// ``downloadCancelContent(_:)`` without blocking a thread.
    ///
    /// - Parameter key: the media content key.
    /// - Throws: as ``downloadCancelContent(_:)``.
    public func cancel(_ key: String) async throws { try await core.cancel(key) }

    /// ``removeContent(_:)`` without blocking a thread.
    ///
    /// - Parameters:
    ///   - key: the media content key.
    ///   - includingSample: whether to remove a sample as well.
    /// - Throws: as ``removeContent(_:)``; `CancellationError` when the task is cancelled, and then the removal
    ///   continues.
    public func remove(_ key: String, includingSample: Bool = false) async throws {
        try await core.remove(key, includingSample: includingSample)
    }

    // MARK: Transfers

    /// Stops a transfer and keeps the downloaded data; ``resume(_:)`` continues. No final event: the download is not
    /// over.
    ///
    /// - Parameter key: the media content key.
    /// - Throws: ``KollusError``: −8621, −9000.
    public func pause(_ key: String) throws { try core.pause(key) }

    /// Continues a content that was paused, cancelled or stopped, or has failed.
    ///
    /// - Parameter key: the media content key.
    /// - Throws: as ``downloadContent(_:)``.
    public func resume(_ key: String) throws { try core.download(key) }

    // MARK: Questions

    /// One content.
    ///
    /// - Parameter key: the media content key.
    /// - Returns: nil when it is not known.
    /// - Throws: ``KollusError``: −8614 before a start.
    public func content(_ key: String) throws -> KollusContent? { try core.content(key) }

    /// Contents that match a query, in its order: the store filters and sorts them, not the application.
    ///
    /// - Parameter query: which, in which order, how many.
    /// - Returns: the contents.
    /// - Throws: ``KollusError``: −8614 before a start.
    public func contents(_ query: KollusQuery) throws -> [KollusContent] {
        try translating { try core.contents(query.filter, sort: query.sort, page: query.page) }
    }

    /// The folders directly below a folder, by name. Folders are virtual: links and course lists name them.
    ///
    /// - Parameter folder: `a/b`; empty for the top level.
    /// - Returns: names without their parents.
    /// - Throws: ``KollusError``: −8614 before a start.
    public func folders(below folder: String = "") throws -> [String] {
        let manager = try core.manager()
        return try translating { try manager.contents.wait { try $0.folders(below: folder) } }
    }

    /// Explains the state of a content, and what happens next.
    ///
    /// - Parameter key: the media content key.
    /// - Returns: sentences.
    /// - Throws: ``KollusError``: −8621.
    public func why(_ key: String) throws -> KollusDiagnosis {
        let manager = try core.manager()
        let known = try StorageCore.key(key)
        return try translating {
            let diagnosis = try manager.contents.wait { try $0.why(known) }
            let ended = core.state.withLock { $0.lastErrors[known] }
            return KollusDiagnosis(
                what: diagnosis.what, why: ended?.localizedDescription ?? diagnosis.why, next: diagnosis.next,
                notes: diagnosis.notes)
        }
    }

    /// The subtitle files, chapters and bookmarks that a content's description lists.
    ///
    /// - Parameter key: the media content key.
    /// - Returns: empty arrays if there are none.
    /// - Throws: ``KollusError``: −8621.
    public func outline(_ key: String) throws -> KollusOutline {
        let manager = try core.manager()
        let known = try StorageCore.key(key)
        return try translating { KollusOutline(try manager.contents.wait { try $0.outline(of: known) }) }
    }

    /// Stores where a player resumes (``KollusContent/position``).
    ///
    /// - Parameters:
    ///   - position: seconds from the start.
    ///   - key: the media content key.
    /// - Throws: ``KollusError``: −8621.
    public func setPosition(_ position: TimeInterval, of key: String) throws {
        let manager = try core.manager()
        let known = try StorageCore.key(key)
        guard position.isFinite, position < 1e9 else { throw KollusError(.ERROR_PARAM_VALUE, detail: "position") }
        try translating {
            try manager.contents.wait { try $0.setResumePoint(.milliseconds(Int64(position * 1000)), of: known) }
        }
    }

    // MARK: Licences and reports

    /// Renews the licences of some contents and waits for it; the delegate and ``events`` report the progress.
    ///
    /// - Parameter keys: media content keys; those without a licence are skipped.
    /// - Returns: the result.
    /// - Throws: ``KollusError`` of the storage; `CancellationError` when the task is cancelled, and then the renewal
    ///   continues.
    @discardableResult
    public func renewLicences(of keys: [String]) async throws -> KollusRenewal {
        try await core.renew(.keys(keys.map { try StorageCore.key($0) }))
    }

    /// The manager of the underlying library, for all other features: plays, reports, exports.
    ///
    /// - Throws: ``KollusError``: −8614 before a start.
    public func manager() throws -> LectureManager { try core.manager() }

    // MARK: Streaming

    /// Opens a stream: media that is read through the streaming cache and not stored.
    ///
    /// - Parameter url: a gateway link or a media file.
    /// - Returns: the stream; its bytes stay in the cache as long as it is open.
    /// - Throws: ``KollusError``: −8637, −80xx, −84xx. `CancellationError` when the task is cancelled.
    public func stream(_ url: String) async throws -> KollusStream {
        let manager = try core.manager()
        do { return KollusStream(try await manager.streams.open(url)) } catch { throw KollusError.ofWaiting(error) }
    }
}

/// Media that is read without being stored.
public final class KollusStream: Sendable {
    private let stream: LectureStream

    init(_ stream: LectureStream) { self.stream = stream }

    /// The media content key.
    public var mediaContentKey: String { stream.key.text }
    /// The length in bytes.
    public var byteCount: Int64 { stream.byteCount }

    /// Reads bytes, from the cache if they are there.
    ///
    /// - Parameter range: from 0; bytes beyond the end are left out.
    /// - Returns: the bytes.
    /// - Throws: ``KollusError``; `CancellationError` when the task is cancelled.
    public func read(_ range: Range<Int64>) async throws -> Data {
        let box = Guarded(Data())
        do { try await stream.read(range: range) { bytes in box.withLock { $0.append(contentsOf: bytes) } } } catch {
            throw KollusError.ofWaiting(error)
        }
        return box.withLock { $0 }
    }

    /// Ends the stream; its bytes may leave the cache.
    public func end() async { await stream.end() }
}
