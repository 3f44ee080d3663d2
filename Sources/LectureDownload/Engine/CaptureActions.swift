import LectureAdaptive
import LectureEngine
import LectureFormats
import LectureModel

/// What the capture of a live stream does in a step. docs/adaptive-capture.md has the drawing.
///
/// Functions of their own, as ``StreamActions``.
enum CaptureActions {
    /// How many of the last files of each role a later run takes the URLs of: keys and sections among them are not
    /// fetched again, and segments show whether the server still has the same stream.
    private static let knownSources = 256

    // MARK: Beginning

    /// A version is taken up whose capture has not ended: it goes on with the source, or ends with what there is where
    /// gaps are accepted and nothing more is to be captured.
    static func takeUp(_ lecture: inout ItemStep) throws {
        guard lecture.item.stream.isCapture, lecture.item.stream.backlog != nil, let version = lecture.item.version
        else { return }
        let texts = try lecture.index.adaptive.playlists(version)
        guard StreamCapture.isGoingOn(texts) else { return }
        let selection = lecture.item.selection(lecture.settings)
        guard selection.capture != nil || selection.allowsGaps else {
            return try lecture.end(lecture.item.machine.failed(LectureError(.streamLive)))
        }
        let sources = try lecture.index.adaptive.sources(version, limit: knownSources).map { source in
            StreamSource(name: source.name, role: source.role, url: source.url)
        }
        do throws(LectureError) {
            let limit = selection.capture.map(\.limit) ?? .zero
            guard let capture = try StreamCapture(stored: texts, sources: sources, limit: limit) else { return }
            if capture.isOver, capture.isEmpty { throw LectureError(.streamLive) }
            lecture.item.stream.capture = CaptureWork(capture)
        } catch {
            return try StreamActions.fail(error, &lecture)
        }
        try closeIfOver(&lecture)
        if lecture.item.stream.capture != nil { try StreamActions.fetchPlaylistsAgain(of: version, &lecture) }
    }

    /// The playlists get their end once nothing more comes.
    private static func closeIfOver(_ lecture: inout ItemStep) throws {
        guard let work = lecture.item.stream.capture, work.capture.isOver, let version = lecture.item.version else {
            return
        }
        try lecture.index.adaptive.setPlaylists(lecture.item.lease, version, try work.capture.texts())
        lecture.item.stream.capture = nil
    }

    // MARK: Loads

    /// Has the playlists fetched again that are due.
    static func loadDue(_ lecture: inout ItemStep) throws {
        guard let due = lecture.item.stream.capture?.due(lecture.boot), !due.isEmpty, let version = lecture.item.version
        else { return }
        let playlists = lecture.item.resources.playlists
        // The source is the only playlist, or names the others.
        let media = playlists.count > 1 ? Array(playlists.dropFirst()) : playlists
        for place in due {
            let file = media[place]
            // Another that was fetched with it has failed meanwhile.
            if !file.sinks.isEmpty { lecture.item[file.token].abandon(deleting: true, &lecture.step) }
            try lecture.index.adaptive.reload(lecture.item.lease, file.record.id)
            lecture.shared.parts[file.token] = nil
            lecture.item.resources.removeAll { $0.token == file.token }
        }
        try StreamActions.takeOthers(of: version, &lecture)
        let now = lecture.boot
        lecture.item.stream.capture?.begins(due, now)
    }

    /// The playlists were read: what is new is added, and the next load follows.
    static func came(_ live: LiveStreams, _ version: VersionID, _ lecture: inout ItemStep) throws {
        let (rows, lease) = (lecture.index.adaptive, lecture.item.lease)
        let limit = lecture.item.selection(lecture.settings).capture?.limit
        var work = lecture.item.stream.capture ?? CaptureWork(StreamCapture(limit: limit))
        let update: StreamCapture.Update
        do {
            update = try work.capture.take(
                live, loaded: work.loading, firstPosition: try rows.nextPosition(version))
        } catch let error as LectureError where error.code == .playlistDamaged {
            if try survives(error, &lecture) { return }
            return try StreamActions.fail(error, &lecture)
        } catch let error as LectureError where [.streamProtected, .playlistUnsupported].contains(error.code) {
            return try StreamActions.fail(error, &lecture)
        }
        if work.capture.isOver, work.capture.isEmpty {
            return try StreamActions.fail(LectureError(.playlistDamaged, cause: "it has no segments"), &lecture)
        }
        work.came(changed: update.changed, lecture.boot)
        try rows.add(lease, version, update.requests, now: lecture.now)
        if !update.playlists.isEmpty {
            try rows.setPlaylists(lease, version, update.playlists)
            _ = try lecture.index.contents.setFacts(lease, update.facts, now: lecture.now)
        }
        lecture.item.record.content.type = .adaptiveDownload
        if lecture.item.stream.backlog == nil {
            try StreamActions.open(&lecture.item, version, lecture.step)
        } else {
            lecture.item.stream.backlog?.added(update.requests.count)
            if !update.changed.isEmpty { try SegmentActions.reread(&lecture.item, version, lecture.step) }
        }
        lecture.item.stream.capture = work.capture.isOver ? nil : work
        lecture.step.context.changed(lecture.item.id)
        try renew(update.urls, &lecture)
        if work.capture.isOver { return }
        if work.capture.isFull { return try end(.captureFull, &lecture) }
        if work.isStalled(lecture.boot) { try end(.captureStalled, &lecture) }
    }

    /// Whether a load whose text is no playlist counts as one that brought nothing new: servers and proxies cut texts.
    static func survives(_ error: LectureError, _ lecture: inout ItemStep) throws -> Bool {
        guard error.code == .playlistDamaged else { return false }
        return try survives(because: error, of: &lecture.item, &lecture.shared, &lecture.step)
    }

    /// Whether a playlist that could not be fetched again counts as one that brought nothing new: a server that answers
    /// with a page now may go on with its stream.
    static func survives(
        _ playlist: PartToken, _ error: LectureError, of item: inout ItemWork, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws -> Bool {
        guard item[playlist].record.role.namesFiles, !item.isEnding,
            try survives(because: error, of: &item, &shared, &step)
        else { return false }
        if !item.isEnding { _ = try item[playlist].failAlone(&step) }
        return true
    }

    private static func survives(
        because error: LectureError, of item: inout ItemWork, _ shared: inout SharedWork,
        _ step: inout Step<DownloadMachine>
    ) throws -> Bool {
        let now = step.boot
        guard item.stream.capture?.cameDamaged(now) == true else { return false }
        guard item.stream.capture?.isStalled(now) == true else { return true }
        let stalled = LectureError(.captureStalled, detail: item.record.content.key.text, cause: error.message)
        try item.end(item.machine.failed(stalled), &shared, &step)
        return true
    }

    /// The capture ends before its time; what was captured stays, and another run goes on.
    private static func end(_ code: LectureError.Code, _ lecture: inout ItemStep) throws {
        let error = LectureError(code, detail: lecture.item.record.content.key.text)
        try lecture.end(lecture.item.machine.failed(error))
    }

    // MARK: Lost URLs

    /// The URL of a file is refused: it has left the server, or its token has ended. It is tried once more, with the
    /// URL that the next list has for it.
    static func lost(
        _ file: PartToken, _ error: LectureError, isFirst: Bool, _ lecture: inout ItemStep
    ) throws -> Decision {
        guard isFirst, let work = lecture.item.stream.capture else { return try lecture.resourceFailed(file, error) }
        let pause = (0..<work.capture.count).map { work.capture.targetDuration($0) }.max() ?? 1
        for url in lecture.item[file].sources.urls where url.state == .refused {
            lecture.item[file].markURL(url.id, .usable, lecture.step)
        }
        lecture.item.hold(file, until: lecture.boot + .seconds(pause) * 1.5)
        return .renew
    }

    /// Files whose URL was lost get those of the last lists.
    private static func renew(_ urls: [String: String], _ lecture: inout ItemStep) throws {
        for token in lecture.item.tokens {
            let file = lecture.item[token]
            guard file.record.role.isOfStream, !StreamActions.isDone(file), file.sinks.isEmpty,
                lecture.item.stream.backlog?.hasLost(file.record.id) == true, let url = urls[file.record.name],
                file.sources.usableURLs != [url]
            else { continue }
            try lecture.item[token].replaceURLs([url], lecture.step)
        }
    }
}
