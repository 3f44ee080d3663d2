import LectureAdaptive
import LectureEngine
import LectureModel

/// What an adaptive lecture does in a step: its playlists are fetched like any file, then read, and the files that they
/// name are added to the version. docs/adaptive.md has the drawing.
///
/// Functions of their own, since ``ItemStep`` has what every lecture does.
enum StreamActions {
    /// The largest playlist that is read, in bytes.
    private static let playlistLimit: UInt64 = 64 << 20
    /// How many files of a lecture's streams are fetched at once where the user has not set a number of connections.
    private static let filesAtOnce = 8

    // MARK: In memory

    /// Takes files of a version from their rows.
    static func take(
        _ records: [ResourceRecord], into item: inout ItemWork, _ shared: inout SharedWork,
        _ step: Step<DownloadMachine>
    ) throws {
        for record in records {
            var file = try ResourceWork(restoring: record, under: item.lease, step)
            if record.role.namesFiles { file.base = try step.store.index.adaptive.base(record.id) }
            add(file, to: &item, &shared)
        }
    }

    /// Takes the files of a version that has just begun, without those of streams.
    static func take(
        _ new: NewVersion, into item: inout ItemWork, _ shared: inout SharedWork, _ step: Step<DownloadMachine>
    ) {
        for file in new.files where !file.record.role.isOfStream {
            let (token, part) = step.makePart()
            let work = ResourceWork(
                token: token, lease: item.lease, part: part, record: file.record, committed: [], urls: file.urls)
            add(work, to: &item, &shared)
        }
    }

    private static func add(_ file: ResourceWork, to item: inout ItemWork, _ shared: inout SharedWork) {
        item.resources.append(file)
        shared.parts[file.token] = LivingPart(item: item.id, resource: file.record.id, file: file.part)
    }

    /// Takes the next files of the streams from the store; those that are finished leave the memory.
    static func refill(_ lecture: inout ItemStep) throws {
        guard lecture.item.stream.needsRefill(lecture.item.resources), var backlog = lecture.item.stream.backlog,
            let version = lecture.item.version
        else { return }
        let leaving = lecture.item.resources.takeFinishedOfStreams()
        for file in leaving { lecture.shared.parts[file.token] = nil }
        backlog.dropped(leaving.map(\.record))
        let limit = Backlog.window - lecture.item.resources.ofStreams.count { _ in true }
        if !backlog.isEmpty, limit > 0 {
            let records = try lecture.index.adaptive.unfinished(version, after: backlog.cursor, limit: limit)
            try take(records, into: &lecture.item, &lecture.shared, lecture.step)
            backlog.took(records, limit: limit)
        }
        lecture.item.stream.backlog = backlog
    }

    /// Whether as many files of the streams have a transfer as may have one.
    static func isFull(_ item: ItemWork, _ settings: DownloadSettings) -> Bool {
        item.stream.isOpen && item.resources.runningOfStreams >= settings.connections ?? filesAtOnce
    }

    /// Whether one more file of the streams may have a transfer.
    static func mayOpen(_ item: ItemWork, _ settings: DownloadSettings) -> Bool {
        item.stream.isOpen && !isFull(item, settings)
    }

    /// Files of a complete adaptive lecture that are gone from the disk lose their chunks, so that only they are
    /// fetched again.
    ///
    /// - Returns: whether there are any.
    static func losesFiles(_ lecture: ItemStep) throws -> Bool {
        let record = lecture.item.record
        guard record.content.type == .adaptiveDownload, !record.needsRepair,
            let version = try lecture.index.versions.completeVersion(lecture.item.id), !version.isOutdated
        else { return false }
        var isAny = false
        for file in try lecture.index.adaptive.kept(version.id) {
            if let length = lecture.step.store.files.status(path: file.path).final, length >= file.fileBytes ?? 0 {
                continue
            }
            let chunks = try lecture.index.resources.chunks(file.id).map(\.index)
            try lecture.index.resources.markUncommitted(
                lecture.item.lease, file.id, chunks: chunks, bytes: file.total ?? 0)
            isAny = true
        }
        return isAny
    }

    /// The files of a lecture's streams are in the store. Those that were missing are tried again.
    static func open(_ item: inout ItemWork, _ version: VersionID, _ step: Step<DownloadMachine>) throws {
        let rows = step.store.index.adaptive
        try SegmentActions.open(&item, version, step)
        try rows.retryMissing(item.lease, version)
        let (all, finished, first) = try rows.totals(version)
        item.stream.backlog = Backlog(all: all, finished: finished, first: first)
        item.stream.isCapture = StreamCapture.isCapture(try rows.playlists(version))
    }

    // MARK: Playlists

    /// Has the playlists read once all of them have their final names.
    ///
    /// - Returns: whether the lecture waits for them.
    static func waitsForPlaylists(_ lecture: inout ItemStep) throws -> Bool {
        guard lecture.item.isPlaylist,
            !lecture.item.stream.isOpen || lecture.item.stream.capture != nil
        else { return false }
        // A capture waits between two loads.
        guard lecture.item.stream.capture?.isLoading ?? true else { return true }
        let playlists = lecture.item.resources.playlists
        guard !lecture.item.stream.isReading, playlists.allSatisfy({ $0.machine.hasFinalName && $0.sinks.isEmpty })
        else {
            return true
        }
        var reads: [FileChunks] = []
        for playlist in playlists {
            let record = playlist.record
            if let total = record.total, total > playlistLimit {
                let error = LectureError(.playlistDamaged, cause: "it is longer than \(playlistLimit) bytes")
                try fail(error, &lecture)
                return true
            }
            if let error = try lecture.item[playlist.token].findCipher(for: lecture.item.record, lecture.step) {
                try lecture.end(lecture.item.machine.failed(error))
                return true
            }
            reads.append(
                FileChunks(
                    of: record, lecture.item[playlist.token].cipher,
                    proofs: try lecture.index.resources.chunks(record.id)))
        }
        lecture.item.stream.isReading = true
        lecture.step.effects.append(.readDocuments(lecture.item.id, reads))
        return true
    }

    /// The playlists were read from the disk, in their order.
    static func playlistsCame(_ outcome: Result<[StreamText], LectureError>, _ lecture: inout ItemStep) throws {
        guard lecture.item.stream.isReading, !lecture.item.isEnding, let version = lecture.item.version else { return }
        lecture.item.stream.isReading = false
        let reading: StreamReading
        do throws(LectureError) {
            reading = try read(try outcome.get(), lecture)
        } catch {
            if try CaptureActions.survives(error, &lecture) { return }
            return try fail(error, &lecture)
        }
        switch reading {
        case .needs(let requests):
            try lecture.index.adaptive.add(lecture.item.lease, version, requests, now: lecture.now)
            try takeOthers(of: version, &lecture)
        case .plan(let plan): try follow(plan, version, &lecture)
        case .live(let streams): try CaptureActions.came(streams, version, &lecture)
        }
    }

    /// The playlists cannot be used. The next attempt fetches them again, unless files that they have named are kept.
    static func fail(_ error: LectureError, _ lecture: inout ItemStep) throws {
        try lecture.end(lecture.item.machine.failed(error), discarding: lecture.item.stream.backlog == nil)
    }

    /// Takes the files of a version that are not in memory, but those of streams.
    static func takeOthers(of version: VersionID, _ lecture: inout ItemStep) throws {
        let present = Set(lecture.item.resources.map(\.record.id))
        let others = try lecture.index.versions.resources(version).filter { !present.contains($0.id) }
        try take(others, into: &lecture.item, &lecture.shared, lecture.step)
    }

    private static func read(_ texts: [StreamText], _ lecture: ItemStep) throws(LectureError) -> StreamReading {
        let documents = zip(lecture.item.resources.playlists, texts).map { file, text in
            StreamDocument(
                text: text, url: file.base ?? file.request.urls.first ?? lecture.item.record.content.sourceURL)
        }
        guard let source = documents.first else { throw LectureError(.playlistDamaged) }
        let reader = StreamReader(
            source: source, others: Array(documents.dropFirst()), lecture.item.selection(lecture.settings))
        return try reader.reading(
            firstPosition: lecture.item.stream.backlog?.first ?? lecture.item.resources.nextPosition,
            isCapturing: lecture.item.stream.capture != nil)
    }

    /// All playlists were read: their files are added, or get new URLs.
    private static func follow(_ plan: StreamPlan, _ version: VersionID, _ lecture: inout ItemStep) throws {
        if lecture.item.stream.isRenewing {
            let stored = try lecture.index.adaptive.playlists(version)
            let outcome =
                plan.matches(stored)
                ? try lecture.index.adaptive.renew(lecture.item.lease, version, plan.requests, now: lecture.now)
                : .others
            lecture.item.stream.isRenewing = false
            switch outcome {
            case .others:
                _ = try lecture.item.restart(because: LectureError(.versionUnstable), &lecture.shared, &lecture.step)
            case .same: lecture.item.stream.isRenewalUseless = true
            case .new: for file in lecture.item.tokens { try rereadURLs(of: &lecture.item[file], lecture.step) }
            }
            return
        }
        try lecture.index.adaptive.add(lecture.item.lease, version, plan.requests, now: lecture.now)
        try lecture.index.adaptive.setPlaylists(lecture.item.lease, version, plan.playlists)
        _ = try lecture.index.contents.setFacts(lecture.item.lease, plan.facts, now: lecture.now)
        lecture.item.record.content.type = .adaptiveDownload
        try open(&lecture.item, version, lecture.step)
        lecture.step.context.changed(lecture.item.id)
    }

    // MARK: Lost URLs

    /// The URL of a stream's file is refused: its token may have ended, so the playlists are fetched once more. A file
    /// whose new URL is refused as well is missing.
    static func lost(_ file: PartToken, _ error: LectureError, _ lecture: inout ItemStep) throws -> Decision {
        if lecture.item.stream.isRenewing { return .renew }
        let row = lecture.item[file].record.id
        let isFirst = lecture.item.stream.backlog?.loses(row) ?? false
        if lecture.item.stream.isCapture { return try CaptureActions.lost(file, error, isFirst: isFirst, &lecture) }
        guard isFirst, !lecture.item.stream.isRenewalUseless, let version = lecture.item.version else {
            return try lecture.resourceFailed(file, error)
        }
        lecture.item.stream.isRenewing = true
        try fetchPlaylistsAgain(of: version, &lecture)
        return .renew
    }

    /// Has the source fetched again, and then the playlists that it names.
    static func fetchPlaylistsAgain(of version: VersionID, _ lecture: inout ItemStep) throws {
        let paths = try lecture.index.adaptive.reopenPlaylists(lecture.item.lease, version)
        if !paths.isEmpty { lecture.step.effects.append(.delete(paths, .orphans)) }
        for playlist in lecture.item.resources.playlists { lecture.shared.parts[playlist.token] = nil }
        lecture.item.resources.removeAll { $0.record.role.namesFiles }
        try takeOthers(of: version, &lecture)
    }

    // MARK: Indexes

    /// The indexes of the files were read from the disk.
    static func indexesCame(
        _ indexes: [String: OpenPlaylists.IndexBytes], of version: VersionID, _ lecture: inout ItemStep
    ) throws {
        guard lecture.item.stream.isReadingIndexes, lecture.item.version == version else { return }
        (lecture.item.stream.isReadingIndexes, lecture.item.stream.indexes) = (false, indexes)
        try lecture.item.completeIfWhole(&lecture.shared, &lecture.step)
    }

    // MARK: One file

    /// Whether nothing more will happen to a file.
    static func isDone(_ file: ResourceWork) -> Bool {
        file.machine.isOver && file.machine.isSettled && file.sinks.isEmpty
    }

    /// Lets one file be fetched from its beginning, and the others go on: the item is queued again.
    static func fetchAgain(
        _ file: PartToken, of item: inout ItemWork, because error: LectureError, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        let failures = try item.countFailure(file, &shared, &step)
        try startOver(&item[file], &step)
        let pause = Backoff().delay(failures: max(1, failures), random: step.random())
        let action = item.machine.retryLater(error: error, until: step.now + pause, now: step.now)
        try item.end(action, &shared, &step)
        return .restart
    }

    /// The URLs of a file were replaced in the store.
    private static func rereadURLs(of file: inout ResourceWork, _ step: Step<DownloadMachine>) throws {
        guard file.record.role.isOfStream, !isDone(file) else { return }
        file.sources.replace(with: try step.store.index.servers.urlLeases(file.record.id))
    }

    /// Everything of a file is given up, and its row is as it was at first.
    private static func startOver(_ file: inout ResourceWork, _ step: inout Step<DownloadMachine>) throws {
        _ = file.machine.failed()
        file.abandon(deleting: true, &step)
        try file.uncommit(step)
        (file.record.state, file.record.total, file.record.seal) = (.absent, nil, .plain)
        (file.record.entityTag, file.record.lastModified, file.record.sha256) = (nil, nil, nil)
        file.chunks.book = RangeBook(total: nil, grid: file.record.grid, committed: [])
        try file.save(step)
    }
}
