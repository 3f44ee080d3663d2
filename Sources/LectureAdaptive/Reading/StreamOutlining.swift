import LectureFormats
package import LectureModel

extension StreamReader {
    /// What the lecture offers, and what would be kept.
    ///
    /// - Parameter plan: made from the same playlists.
    /// - Returns: the outline.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    package func outline(_ plan: StreamPlan) throws(LectureError) -> StreamOutline {
        var outline = StreamOutline()
        outline.files = plan.requests.count
        outline.segments = plan.requests.count { $0.role == .segment }
        outline.duration = plan.facts.duration
        if case .manifest(let root) = source.text { return try manifestOutline(root, plan, outline) }
        guard case .multivariant(let playlist) = try sourcePlaylist() else { return outline }
        let chosen = try ChosenStreams(of: playlist, selection)
        outline.variants = playlist.variants.enumerated().map { place, variant in
            var known = StreamOutline.Variant(number: place + 1)
            known.bandwidth = (variant.bandwidth ?? variant.averageBandwidth).map { Int(clamping: $0) }
            known.width = variant.resolution.map { Int(clamping: $0.width) }
            known.height = variant.resolution.map { Int(clamping: $0.height) }
            return known
        }
        outline.chosen = chosen.number
        let variant = playlist.variants[chosen.number - 1]
        outline.audioLanguages = playlist.languages(.audio, variant.audioGroup)
        outline.subtitleLanguages = playlist.languages(.subtitles, variant.subtitlesGroup)
        outline.estimatedBytes = Self.bytes(variant.averageBandwidth ?? variant.bandwidth, plan.facts.duration)
        return outline
    }

    /// The same of a live stream that would be captured: what is listed now.
    ///
    /// - Parameter streams: made from the same playlists.
    /// - Returns: the outline.
    /// - Throws: ``LectureError`` with `playlistDamaged`, `playlistUnsupported` or `streamProtected`.
    package func outline(_ streams: LiveStreams) throws(LectureError) -> StreamOutline {
        var capture = StreamCapture(limit: selection.capture?.limit)
        let update = try capture.take(streams, firstPosition: 1)
        var plan = StreamPlan()
        (plan.requests, plan.playlists, plan.facts) = (update.requests, update.playlists, update.facts)
        var outline = try outline(plan)
        outline.isLive = true
        return outline
    }

    /// The same of a DASH manifest: the representations of its first period. The numbers are those of the choice.
    private func manifestOutline(
        _ root: XMLElement, _ plan: StreamPlan, _ outline: StreamOutline
    ) throws(LectureError) -> StreamOutline {
        var outline = outline
        let (tracks, offered): ([DASHTrack], [DASHRepresentation])
        let chosen: DASHRepresentation?
        do throws(DASHError) {
            let manifest = try DASHManifest(root, url: source.url)
            tracks = manifest.periods.first?.tracks ?? []
            offered = try DASHChoice.numbered(tracks)
            chosen = try DASHChoice(AdaptiveLimits(selection)).choose(from: manifest)
                .first?.tracks.first?.representation
        } catch {
            throw LectureError(error)
        }
        outline.variants = offered.enumerated().map { place, representation in
            var known = StreamOutline.Variant(number: place + 1)
            known.bandwidth = representation.bandwidth > 0 ? Int(clamping: representation.bandwidth) : nil
            known.width = representation.format.width.map { Int(clamping: $0) }
            known.height = representation.format.height.map { Int(clamping: $0) }
            return known
        }
        outline.audioLanguages = Self.languages(tracks, .audio)
        outline.subtitleLanguages = Self.languages(tracks, .subtitles)
        guard case .multivariant(let local)? = plan.playlists.first.flatMap(Self.local) else { return outline }
        let kept = local.variants.first
        outline.chosen = chosen.flatMap(offered.firstIndex).map { $0 + 1 }
        outline.estimatedBytes = Self.bytes(kept?.averageBandwidth ?? kept?.bandwidth, plan.facts.duration)
        return outline
    }

    private static func local(_ text: String) -> Playlist? { try? PlaylistReader.playlist(Array(text.utf8)) }

    private static func languages(_ tracks: [DASHTrack], _ kind: DASHTrack.Kind) -> [String] {
        var languages: [String] = []
        for track in tracks where track.kind == kind && !languages.contains(track.language ?? "und") {
            languages.append(track.language ?? "und")
        }
        return languages
    }

    private static func bytes(_ rate: Int64?, _ duration: Duration?) -> Int64? {
        guard let rate, let duration else { return nil }
        let (product, overflow) = rate.multipliedReportingOverflow(by: duration.milliseconds)
        return overflow ? nil : product / 8_000
    }
}

extension MultivariantPlaylist {
    /// The languages of a group, each once.
    fileprivate func languages(_ kind: PlaylistRendition.Kind, _ group: String?) -> [String] {
        var languages: [String] = []
        for rendition in renditions where rendition.kind == kind && rendition.group == group {
            let language = rendition.language ?? "und"
            if !languages.contains(language) { languages.append(language) }
        }
        return languages
    }
}
