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
        if let rate = variant.averageBandwidth ?? variant.bandwidth, let duration = plan.facts.duration {
            let (bits, overflow) = rate.multipliedReportingOverflow(by: duration.milliseconds / 8000)
            outline.estimatedBytes = overflow ? nil : bits
        }
        return outline
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
