import LectureAdaptive
import LectureEngine
import LectureModel

/// Adaptive lectures: the playlists are fetched like any file, then read, and the files that they name are added to the
/// version. docs/adaptive.md has the drawing.
extension ItemStep {
    /// The largest playlist that is read, in bytes.
    private static let playlistLimit: UInt64 = 64 << 20
    /// How many files of one stream are fetched at once where the user has not set a number of connections.
    private static let filesAtOnce = 8

    // MARK: In memory

    /// Takes the next files of the streams from the store; those that are finished leave the memory.
    mutating func refillStreams() throws {
        guard item.needsRefill, var backlog = item.stream.backlog, let version = item.version else { return }
        let leaving = item.takeFinishedStreamFiles()
        for file in leaving { shared.parts[file.token] = nil }
        backlog.dropped(leaving.map(\.record))
        let limit = Backlog.window - item.streamFiles.count { _ in true }
        if !backlog.isEmpty, limit > 0 {
            let records = try index.adaptive.unfinished(version, after: backlog.cursor, limit: limit)
            try item.take(records, &shared, step)
            backlog.took(records, limit: limit)
        }
        item.stream.backlog = backlog
    }

    /// Whether one more file of the streams may have a transfer.
    var hasPlaceForStreamFile: Bool {
        item.stream.isOpen && item.runningStreamFiles < settings.connections ?? Self.filesAtOnce
    }

    /// Files of a complete adaptive lecture that are gone from the disk lose their chunks, so that only they are fetched
    /// again.
    ///
    /// - Returns: whether there are any.
    func losesStreamFiles() throws -> Bool {
        let record = item.record
        guard record.content.type == .adaptiveDownload, !record.needsRepair,
            let version = try index.versions.completeVersion(item.id), !version.isOutdated
        else { return false }
        var isAny = false
        for file in try index.adaptive.kept(version.id) {
            let length = step.store.files.status(path: file.path).final
            if length ?? 0 >= file.fileBytes ?? 0, length != nil { continue }
            let chunks = try index.resources.chunks(file.id).map(\.index)
            try index.resources.markUncommitted(item.lease, file.id, chunks: chunks, bytes: file.total ?? 0)
            isAny = true
        }
        return isAny
    }

    // MARK: Playlists

    /// Has the playlists read once all of them have their final names.
    ///
    /// - Returns: whether the lecture waits for them.
    mutating func waitsForPlaylists() throws -> Bool {
        guard item.media?.record.isPlaylist == true, !item.stream.isOpen else { return false }
        let playlists = item.playlists
        guard !item.stream.isReading, playlists.allSatisfy({ $0.machine.hasFinalName && $0.sinks.isEmpty }) else {
            return true
        }
        var reads: [DocumentRead] = []
        for playlist in playlists {
            let record = playlist.record
            if let total = record.total, total > Self.playlistLimit {
                let error = LectureError(.playlistDamaged, cause: "it is longer than \(Self.playlistLimit) bytes")
                try end(item.machine.failed(error))
                return true
            }
            if let error = try item[playlist.token].findCipher(for: item.record, step) {
                try end(item.machine.failed(error))
                return true
            }
            reads.append(
                DocumentRead(
                    of: record, item[playlist.token].cipher, proofs: try index.resources.chunks(record.id)))
        }
        item.stream.isReading = true
        step.effects.append(.readDocuments(item.id, reads))
        return true
    }

    /// The playlists were read from the disk, in their order.
    mutating func playlistsCame(_ outcome: Result<[StreamText], LectureError>) throws {
        guard item.stream.isReading, !item.isEnding, let version = item.version else { return }
        item.stream.isReading = false
        let reading: StreamReading
        do throws(LectureError) {
            reading = try read(try outcome.get())
        } catch {
            return try end(item.machine.failed(error))
        }
        switch reading {
        case .needs(let requests):
            try index.adaptive.add(item.lease, version, requests, now: now)
            let present = Set(item.tokens.map { item[$0].record.id })
            let records = try index.versions.resources(version).filter { !present.contains($0.id) }
            try item.take(records, &shared, step)
        case .plan(let plan): try follow(plan, version)
        }
    }

    private func read(_ texts: [StreamText]) throws(LectureError) -> StreamReading {
        let documents = zip(item.playlists, texts).map { file, text in
            StreamDocument(text: text, url: file.base ?? file.request.urls.first ?? item.record.content.sourceURL)
        }
        guard let source = documents.first else { throw LectureError(.playlistDamaged) }
        let reader = StreamReader(source: source, others: Array(documents.dropFirst()), item.selection(settings))
        return try reader.reading(firstPosition: item.stream.backlog?.first ?? item.nextPosition)
    }

    /// All playlists were read: their files are added, or get new URLs.
    private mutating func follow(_ plan: StreamPlan, _ version: VersionID) throws {
        if item.stream.isRenewing {
            let stored = try index.adaptive.playlists(version)
            let outcome =
                plan.matches(stored)
                ? try index.adaptive.renew(item.lease, version, plan.requests, now: now) : .others
            item.stream.isRenewing = false
            switch outcome {
            case .others: _ = try item.restart(because: LectureError(.versionUnstable), &shared, &step)
            case .same: item.stream.isRenewalUseless = true
            case .new: for file in item.tokens { try item[file].rereadURLs(step) }
            }
            return
        }
        try index.adaptive.add(item.lease, version, plan.requests, now: now)
        try index.adaptive.setPlaylists(item.lease, version, plan.playlists)
        _ = try index.contents.setFacts(item.lease, plan.facts, now: now)
        item.record.content.type = .adaptiveDownload
        try item.openStreams(version, step)
        step.context.changed(item.id)
    }

    // MARK: Lost URLs

    /// The URL of a stream's file is refused: its token may have ended, so the playlists are fetched once more. A file
    /// whose new URL is refused as well is missing.
    mutating func lostStreamFile(_ file: PartToken, _ error: LectureError) throws -> Decision {
        if item.stream.isRenewing { return .renew }
        let row = item[file].record.id
        let isFirst = item.stream.backlog?.loses(row) ?? false
        guard isFirst, !item.stream.isRenewalUseless, let version = item.version else {
            return try resourceFailed(file, error)
        }
        item.stream.isRenewing = true
        let paths = try index.adaptive.reopenPlaylists(item.lease, version)
        if !paths.isEmpty { step.effects.append(.delete(paths, .orphans)) }
        for playlist in item.playlists { shared.parts[playlist.token] = nil }
        item.resources.removeAll { $0.record.role == .media || $0.record.role == .playlist }
        let present = Set(item.resources.map(\.record.id))
        try item.take(try index.versions.resources(version).filter { !present.contains($0.id) }, &shared, step)
        return .renew
    }
}

extension ItemWork {
    /// The playlists, in the order of their positions: that of the source is the first.
    var playlists: [ResourceWork] {
        resources.filter { $0.record.role == .media || $0.record.role == .playlist }
            .sorted { $0.record.position < $1.record.position }
    }

    /// What is kept of its streams.
    func selection(_ settings: DownloadSettings) -> StreamSelection {
        record.selection.isDefault ? settings.selection : record.selection
    }

    /// The position after those in memory.
    fileprivate var nextPosition: Int { (resources.map(\.record.position).max() ?? -1) + 1 }

    /// Takes files of its version from their rows.
    mutating func take(
        _ records: [ResourceRecord], _ shared: inout SharedWork, _ step: Step<DownloadMachine>
    ) throws {
        for record in records {
            var file = try ResourceWork(restoring: record, under: lease, step)
            if record.role == .media || record.role == .playlist {
                file.base = try step.store.index.adaptive.base(record.id)
            }
            resources.append(file)
            shared.parts[file.token] = LivingPart(item: id, resource: record.id, file: file.part)
        }
    }

    /// The files of its streams are in the store. Those that were missing are tried again.
    mutating func openStreams(_ version: VersionID, _ step: Step<DownloadMachine>) throws {
        let rows = step.store.index.adaptive
        try rows.retryMissing(lease, version)
        let (all, finished, first) = try rows.totals(version)
        stream.backlog = Backlog(all: all, finished: finished, first: first)
    }

    /// Lets one file of its streams be fetched from its beginning, and the others go on: the item is queued again.
    mutating func fetchStreamFileAgain(
        _ file: PartToken, because error: LectureError, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws -> Decision {
        let failures = try countFailure(file, &shared, &step)
        try self[file].startOver(&step)
        let pause = Backoff().delay(failures: max(1, failures), random: step.random())
        try end(machine.retryLater(error: error, until: step.now + pause, now: step.now), &shared, &step)
        return .restart
    }
}

extension ResourceWork {
    /// Its URLs were replaced in the store.
    fileprivate mutating func rereadURLs(_ step: Step<DownloadMachine>) throws {
        guard record.role.isOfStream, !isDone else { return }
        sources.replace(with: try step.store.index.servers.urlLeases(record.id))
    }

    /// Everything of it is given up, and its row is as it was at first.
    fileprivate mutating func startOver(_ step: inout Step<DownloadMachine>) throws {
        _ = machine.failed()
        abandon(deleting: true, &step)
        try uncommit(step)
        (record.state, record.total, record.seal) = (.absent, nil, .plain)
        (record.entityTag, record.lastModified, record.sha256) = (nil, nil, nil)
        chunks.book = RangeBook(total: nil, grid: record.grid, committed: [])
        try save(step)
    }
}
