import LectureFormats
package import LectureModel

/// Decides which files an adaptive lecture needs, from its playlists or its manifest alone.
///
/// Called with the source's playlist, and again when those that it asks for were received: it keeps nothing between.
package struct StreamReader {
    let source: StreamDocument
    private let others: [StreamDocument]
    let selection: StreamSelection

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - source: the playlist or the manifest of the source.
    ///   - others: those that it asked for, in that order; empty at first.
    ///   - selection: what is kept.
    package init(source: StreamDocument, others: [StreamDocument], _ selection: StreamSelection) {
        (self.source, self.others, self.selection) = (source, others, selection)
    }

    /// Reads the playlists.
    ///
    /// - Parameters:
    ///   - firstPosition: of the first file that the plan names.
    ///   - isCapturing: whether the playlists are those of a stream that is being captured, which may have ended.
    /// - Returns: what is needed, or the plan; the playlists themselves of a stream that is or may be captured.
    /// - Throws: ``LectureError`` with `playlistDamaged`, `playlistUnsupported`, `streamLive`, `streamProtected` or
    ///   `variantUnavailable`.
    package func reading(firstPosition: Int, isCapturing: Bool = false) throws(LectureError) -> StreamReading {
        if case .manifest(let root) = source.text { return try manifestReading(root, firstPosition) }
        let url = try StreamURL(source.url)
        switch try Self.playlist(source, url, imports: []) {
        case .media(let playlist):
            let streams = LiveStreams(tracks: [.init(playlist: playlist, url: url)], local: nil, resolution: nil)
            return try reading(streams, firstPosition, isCapturing)
        case .multivariant(let playlist):
            try Protection.check(playlist.sessionKeys)
            let chosen = try ChosenStreams(of: playlist, selection)
            guard let tracks = try tracks(of: chosen, playlist) else {
                var requests: [ResourceRequest] = []
                for (place, uri) in chosen.uris.enumerated() {
                    let name = StreamPlaylistPath.name(place + 1)
                    requests.append(ResourceRequest(role: .playlist, name: name, urls: [try url.resolving(uri)]))
                }
                return .needs(requests)
            }
            let streams = LiveStreams(tracks: tracks, local: chosen.local, resolution: chosen.resolution)
            return try reading(streams, firstPosition, isCapturing)
        }
    }

    private func manifestReading(_ root: XMLElement, _ firstPosition: Int) throws(LectureError) -> StreamReading {
        let streams: DASHStreams
        do throws(LectureError) { streams = try DASHStreams(root, url: source.url, selection) } catch {
            guard error.code == .streamLive, selection.capture != nil else { throw error }
            throw LectureError(.streamLive, cause: "\(error.cause); only HLS streams can be captured")
        }
        var builder = StreamPlanBuilder(firstPosition: firstPosition)
        for track in streams.tracks { builder.add(track) }
        return .plan(try builder.plan(streams.local, resolution: streams.resolution))
    }

    /// The plan of playlists that have ended; those of a stream that is captured are taken as they are.
    private func reading(
        _ streams: LiveStreams, _ firstPosition: Int, _ isCapturing: Bool
    ) throws(LectureError) -> StreamReading {
        let isLive = selection.capture != nil && streams.tracks.contains(where: \.playlist.isLive)
        if isCapturing || isLive { return .live(streams) }
        var builder = StreamPlanBuilder(firstPosition: firstPosition)
        for track in streams.tracks { try builder.add(track.playlist, track.url) }
        return .plan(try builder.plan(streams.local, resolution: streams.resolution))
    }

    /// The playlist of the source.
    func sourcePlaylist() throws(LectureError) -> Playlist {
        try Self.playlist(source, try StreamURL(source.url), imports: [])
    }

    /// The chosen media playlists; nil before they were received.
    private func tracks(
        of chosen: ChosenStreams, _ playlist: MultivariantPlaylist
    ) throws(LectureError) -> [LiveStreams.Track]? {
        guard others.count == chosen.uris.count else { return nil }
        var tracks: [LiveStreams.Track] = []
        for document in others {
            let url = try StreamURL(document.url)
            guard case .media(let media) = try Self.playlist(document, url, imports: playlist.definitions) else {
                throw LectureError(.playlistDamaged, cause: "a variant's playlist names variants again")
            }
            tracks.append(.init(playlist: media, url: url))
        }
        return tracks
    }

    private static func playlist(
        _ document: StreamDocument, _ url: StreamURL, imports: [PlaylistDefinition]
    ) throws(LectureError) -> Playlist {
        guard case .playlist(let bytes) = document.text else {
            throw LectureError(.playlistDamaged, cause: "a playlist names an XML document as one")
        }
        do throws(PlaylistError) {
            return try PlaylistReader.playlist(bytes, imports: imports, query: url.query)
        } catch {
            throw LectureError(
                .playlistDamaged, cause: error.line > 0 ? "line \(error.line): \(error.reason)" : error.reason)
        }
    }
}

/// The URL of a playlist, and the references in it.
struct StreamURL: Sendable, Hashable {
    private let parts: URLParts

    init(_ text: String) throws(LectureError) {
        do throws(FormatError) { parts = try URLParts(parsing: text) } catch { throw LectureError(error) }
    }

    /// Its query, without `?`.
    var query: String? { parts.query }

    /// The URL that a reference leads to.
    func resolving(_ reference: String) throws(LectureError) -> String {
        let target: URLParts
        do throws(FormatError) { target = try parts.resolving(reference) } catch {
            throw LectureError(.playlistDamaged, cause: "a reference in it is not an http or https URL")
        }
        // As for redirects.
        if parts.scheme == "https", target.scheme != "https" {
            throw LectureError(.playlistDamaged, cause: "a reference in it leaves https")
        }
        return target.text
    }
}

/// What protects media besides AES-128.
enum Protection {
    /// Refuses keys that only a DRM system has.
    ///
    /// - Parameter keys: those of a playlist.
    /// - Throws: ``LectureError`` with `streamProtected`, which names the system.
    static func check(_ keys: [PlaylistKey]) throws(LectureError) {
        for key in keys {
            if let name = name(of: key) { throw LectureError(.streamProtected, cause: name) }
        }
    }

    /// The name of the system; nil for AES-128 with the key itself.
    private static func name(of key: PlaylistKey) -> String? {
        let format = FieldText.lowercased(key.keyFormat)
        switch format {
        case "identity": break
        case "com.apple.streamingkeydelivery": return "FairPlay"
        case "com.microsoft.playready": return "PlayReady"
        case "com.widevine": return "Widevine"
        default: return DASHProtection.names[format] ?? "a key format that is not known"
        }
        switch key.method {
        case .none, .aes128: return nil
        case .sampleAES: return "SAMPLE-AES"
        case .sampleAESCTR: return "SAMPLE-AES-CTR"
        case .other: return "an encryption method that is not known"
        }
    }
}
