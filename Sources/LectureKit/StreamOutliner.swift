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
        let service = try openService()
        let request = try prepared(request)
        let probe = SourceProbe(service.session, clock: clock, configuration: configuration)
        let known = try writer.requests.find(request, try source(of: request))
        let chosen = request.selection ?? known?.selection ?? StreamSelection()
        let selection = chosen.isDefault ? configuration.streamSelection : chosen
        let source = try await document(request.url, request.headers, probe)
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
                // Credentials belong to the source's own server.
                let headers = try Origin(url: url) == home ? request.headers : [:]
                others.append(try await document(url, headers, probe))
            }
            reader = StreamReader(source: source, others: others, selection)
            reading = try reader.reading(firstPosition: 1)
        }
        guard case .plan(let plan) = reading else { throw LectureError(.playlistDamaged) }
        return try reader.outline(plan)
    }

    private func document(
        _ url: String, _ headers: [String: String], _ probe: SourceProbe
    ) async throws -> StreamDocument {
        let (bytes, final) = try await probe.documentAndPlace(url, headers, limit: Self.limit)
        return StreamDocument(text: try StreamText(bytes, xml: LibXMLReader()), url: final)
    }
}
