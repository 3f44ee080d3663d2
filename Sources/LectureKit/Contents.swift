import LectureAdaptive
import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore

extension LectureManager {
    /// Contents: lectures that the store knows, and their media.
    ///
    /// Lists, details, the reasons for a lecture's state, reading and verifying media, and making lectures from the
    /// files of a lost database belong here.
    ///
    /// ```swift
    /// var filter = ContentFilter()
    /// filter.states = [.completed]
    /// for lecture in try await manager.contents.list(filter) { print(lecture.title) }
    /// ```
    ///
    /// It works as long as its manager is open; queries also work afterwards.
    ///
    /// ## Topics
    /// ### Lists
    /// - ``list(_:sort:page:)``
    /// - ``count(_:)``
    /// - ``details(_:sort:page:)``
    /// - ``folders(below:)``
    /// - ``mediaBytes()``
    /// ### One lecture
    /// - ``find(_:)``
    /// - ``find(url:)``
    /// - ``details(of:)``
    /// - ``outline(of:)``
    /// - ``why(_:)``
    /// - ``path(of:)``
    /// - ``setResumePoint(_:of:)``
    /// ### Media
    /// - ``read(_:range:_:)``
    /// - ``verify(_:options:)``
    /// - ``checkFiles()``
    /// ### Course lists
    /// - ``request(for:)``
    /// - ``writeCourseList(of:to:)``
    /// ### Media of a lost database
    /// - ``keptFiles()``
    /// - ``rebuild(_:listed:)``
    /// - ``deleteKept(_:)``
    public actor Contents: CorePart {
        nonisolated let core: StoreCore
        /// Reading the media of a licensed lecture is a play.
        nonisolated let licences: Licences

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

        init(_ core: StoreCore, _ licences: Licences) { (self.core, self.licences) = (core, licences) }

        /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
        package nonisolated func wait<Result: Sendable>(
            _ body: @Sendable (isolated LectureManager.Contents) throws -> Result
        ) rethrows -> Result {
            try core.wait { try assumeIsolated { try body($0) } }
        }
    }
}

/// Lists and queries. They never wait for a program that writes.
extension LectureManager.Contents {
    /// A page of lectures. A complete one whose file is gone or cut short is shown as failed with `mediaMissing`,
    /// whatever its row says: every file of the page is checked (its directory entry; nothing is read).
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - page: which part of the list.
    /// - Returns: the lectures of the page.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func list(
        _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added, page: ContentPage = ContentPage()
    ) throws(LectureError) -> [Content] {
        try LectureError.only {
            try queries.contents(filter, sort: sort, page: page) { content, file in truthful(content, file) }
        }
    }

    /// The lectures that follow a place in a list, as ``list(_:sort:page:)`` shows them. A long list is read this way:
    /// skipping a number of lectures takes longer the more they are, and misses some when others are removed meanwhile.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - place: the end of the run before, with the same filter and order; nil for the beginning.
    ///   - offset: how many are skipped.
    ///   - limit: the maximum number.
    /// - Returns: the lectures, and where they end.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func list(
        _ filter: ContentFilter, sort: ContentSort, after place: ListPlace?, skipping offset: Int = 0, limit: Int
    ) throws(LectureError) -> ListRun {
        try LectureError.only {
            let (contents, end) = try queries.contents(
                filter, sort: sort, after: place?.place, skipping: offset, limit: limit
            ) { content, file in truthful(content, file) }
            return ListRun(contents: contents, end: end.map { ListPlace(place: $0) })
        }
    }

    /// How many lectures match a filter.
    ///
    /// - Parameter filter: which lectures.
    /// - Returns: how many there are.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func count(_ filter: ContentFilter = ContentFilter()) throws(LectureError) -> Int {
        try LectureError.only { try queries.count(filter) }
    }

    /// One lecture.
    ///
    /// - Parameter key: its identity.
    /// - Returns: the lecture as it is in the store and on disk, as in ``list(_:sort:page:)``; nil when nothing has
    ///   this key.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func find(_ key: ContentKey) throws(LectureError) -> Content? {
        try LectureError.only {
            try lecture(key)
        }
    }

    /// Where the finished media is on disk. For an adaptive lecture, its playlists are written into a directory of the
    /// store, with the paths of the files relative to it.
    ///
    /// - Parameter key: a complete lecture.
    /// - Returns: an absolute path; read-only. That of an adaptive lecture's first playlist. While a newer version is
    ///   being downloaded, that of the old one.
    /// - Throws: ``LectureError``: `unknownContent`, `notComplete`, `isSealed`, also for segments that are encrypted,
    ///   `mediaMissing`, `damaged` when ``verify(_:options:)`` has found damage that is not repaired yet; for an
    ///   adaptive lecture `storeReadOnly`, `storageFull` and `writeFile`.
    public func path(of key: ContentKey) throws(LectureError) -> String {
        try LectureError.only {
            let media = try finalizedMedia(key)
            let version = try queries.streams.streamVersion(key)
            guard version != nil || media.seal == .plain else { throw LectureError(.isSealed, detail: key.text) }
            guard try queries.item(key)?.needsRepair != true else { throw LectureError(.damaged, detail: key.text) }
            guard let version else {
                return "\(try location.make())/\(media.path)"
            }
            let texts = try pathTexts(of: version, key)
            // The first one last: who finds it finds the others.
            for place in texts.indices.reversed() {
                try files.write(texts[place], to: StreamPlaylistPath.path(version.id, place))
            }
            return "\(try location.make())/\(StreamPlaylistPath.path(version.id, 0))"
        }
    }

    /// The gaps of a captured live stream; nil for another lecture, and without gaps.
    private func captureGaps(_ key: ContentKey, _ resources: [ResourceRecord]) throws -> CaptureGaps? {
        guard let texts = try queries.streams.streamVersion(key)?.playlists, StreamCapture.isCapture(texts) else {
            return nil
        }
        let missing = resources.filter { $0.role.isOfStream && $0.state == .failed }
        let gaps = CaptureGaps(texts, missing: Set(missing.map(\.name)))
        return gaps.isEmpty ? nil : gaps
    }

    /// Why a lecture is in its state, what happens next and when, and what was tried. The answer includes running
    /// processes.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: the diagnosis.
    /// - Throws: ``LectureError``: `unknownContent`.
    public func why(_ key: ContentKey) throws(LectureError) -> Diagnosis {
        try LectureError.only {
            guard let item = try queries.item(key) else { throw LectureError(.unknownContent, detail: key.text) }
            let owners = try queries.owners()
            let living = owners.filter { locks.isAlive($0.id) }
            var situation = Situation(
                content: truthful(item.content, try finalizedFile(item)), targetState: item.targetState, workers: [],
                now: clock.now()
            )
            if let owner = try queries.leaseOwner(key) {
                let holder = owners.first { $0.id == owner }
                situation.holder = holder.map { Situation.Holder(process: $0.process, isAlive: living.contains($0)) }
            }
            let wanting = try queries.ownersWanting(key)
            let workers = living.filter { wanting.contains($0.id) }
            situation.workers = workers.map(\.process)
            if let first = workers.first { situation.ahead = try queries.ahead(of: key, in: first.id) }
            situation.resources = try queries.unfinishedResources(key) ?? queries.resources(key)
            situation.gaps = try captureGaps(key, situation.resources)
            situation.isSealed = situation.resources.contains { $0.role == .media && $0.seal != .plain }
            return Diagnosis(situation, attempts: try queries.attempts(key, limit: 100))
        }
    }

}

/// A place in a list of lectures.
package struct ListPlace: Sendable, Hashable {
    let place: ContentPlace
}

/// Lectures that follow one another in a list.
package struct ListRun: Sendable {
    /// The lectures.
    package let contents: [Content]
    /// The place of the last one; nil when nothing can follow it.
    package let end: ListPlace?
}
