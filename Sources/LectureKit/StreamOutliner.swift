import LectureAdaptive
import LectureDownload
import LectureFormats
import LectureModel
import LectureStore
import LectureTransport
import LectureXML

/// Reads the playlists of an adaptive lecture into memory, to show what a request would keep. An actor on the core
/// queue.
actor StreamOutliner: CorePart {
    /// The largest playlist that is read, in bytes.
    private static let limit = 64 << 20

    nonisolated let core: StoreCore

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore) { self.core = core }

    /// As ``LectureManager/Downloads/streams(of:)``.
    func outline(_ request: DownloadRequest) async throws -> StreamOutline {
        let request = try prepared(request)
        let probe = try probe()
        guard try source(of: request).isGateway else { return try await outline(request, at: request.url, probe) }
        guard let url = try await playlist(behind: request, probe) else {
            throw LectureError(.playlistDamaged, cause: "the link leads to one file")
        }
        return try await outline(request, at: url, probe)
    }

    /// As ``LectureManager/Downloads/streams(behind:)``.
    func outline(behind request: DownloadRequest) async throws -> StreamOutline? {
        let request = try prepared(request)
        let probe = try probe()
        // What cannot be asked stays unknown; the run itself will report why.
        guard let url = try? await playlist(behind: request, probe) else {
            try Task.checkCancellation()
            return nil
        }
        return try await outline(request, at: url, probe)
    }

    private func probe() throws -> SourceProbe {
        SourceProbe(try openService().session, clock: clock, configuration: configuration)
    }

    /// Where the playlist is that a link leads to: the link itself, also through redirects, or what its gateway names.
    ///
    /// - Returns: nil for a file, and for what is not to be downloaded.
    private func playlist(behind request: DownloadRequest, _ probe: SourceProbe) async throws -> String? {
        let (answer, url) = try await probe.askAndPlace(request.url, headers: request.headers, acceptsPlaylist: true)
        switch answer {
        case .media(let plan):
            // Servers label playlists carelessly, so the name counts as well as the media type.
            return try plan.isPlaylist || URLParts(url).namesPlaylist ? request.url : nil
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            guard descriptor.refusal == nil, case .playlist(let url) = descriptor.media else { return nil }
            return url
        case .unchanged: return nil
        }
    }

    private func outline(
        _ request: DownloadRequest, at url: String, _ probe: SourceProbe
    ) async throws -> StreamOutline {
        let known = try writer.requests.find(request, try source(of: request))
        let chosen = request.selection ?? known?.selection ?? StreamSelection()
        let selection = chosen.isDefault ? configuration.streamSelection : chosen
        // Credentials belong to the source's own server.
        let isHome = try Origin(url: url) == Origin(url: request.url)
        let source = try await document(url, isHome ? request.headers : [:], probe)
        do {
            return try await outline(source, selection, request, probe)
        } catch let error as LectureError where error.code == .variantUnavailable {
            var outline = try await outline(source, StreamSelection(), request, probe)
            (outline.chosen, outline.refusal, outline.estimatedBytes) = (nil, error, nil)
            (outline.segments, outline.files) = (0, 0)
            return outline
        }
    }

    private func outline(
        _ source: StreamDocument, _ selection: StreamSelection, _ request: DownloadRequest, _ probe: SourceProbe
    ) async throws -> StreamOutline {
        let home = try Origin(url: request.url)
        var reader = StreamReader(source: source, others: [], selection)
        var reading = try reader.reading(firstPosition: 1)
        if case .needs(let requests) = reading {
            var others: [StreamDocument] = []
            for other in requests {
                guard let url = other.urls.first else { continue }
                let headers = try Origin(url: url) == home ? request.headers : [:]
                others.append(try await document(url, headers, probe))
            }
            reader = StreamReader(source: source, others: others, selection)
            reading = try reader.reading(firstPosition: 1)
        }
        switch reading {
        case .plan(let plan): return try reader.outline(plan)
        case .live(let streams): return try reader.outline(streams)
        case .needs: throw LectureError(.playlistDamaged)
        }
    }

    private func document(
        _ url: String, _ headers: [String: String], _ probe: SourceProbe
    ) async throws -> StreamDocument {
        let (bytes, final) = try await probe.documentAndPlace(url, headers, limit: Self.limit)
        return StreamDocument(text: try StreamText(bytes, xml: LibXMLReader()), url: final)
    }
}
