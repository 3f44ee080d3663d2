import LectureFormats

/// What is loaded of a multivariant playlist.
package struct VariantChoice: Hashable, Sendable {
    /// Why nothing can be chosen.
    package enum Failure: Error, Hashable, Sendable {
        /// There are no variants.
        case noVariants
        /// There is no variant at this place; there are so many.
        case noSuchVariant(Int, count: Int)
        /// No variant is within the limits of height and bit rate; these are there, each once, ascending.
        case beyondLimits(heights: [Int64], bandwidths: [Int64])
        /// No audio rendition has a requested language; these are there, each once, in the order of the playlist.
        case noAudio(languages: [String])
    }

    /// The index of the variant.
    package let index: Int
    /// The variant.
    package let variant: PlaylistVariant
    /// The indexes of other variants with the same content at another place: of another pathway, or a second URI.
    package let alternatives: [Int]
    /// The audio renditions, in the order of the requested languages. One without a URI is in the variant's own stream;
    /// so is all sound when there are none.
    package let audio: [PlaylistRendition]
    /// The subtitles, in the order of the requested languages.
    package let subtitles: [PlaylistRendition]
    /// The requested audio languages that the variant has not.
    package let missingAudio: [String]
    /// The requested languages of subtitles that the variant has not.
    package let missingSubtitles: [String]

    /// Chooses. The same playlist and limits always make the same choice; of equal variants the first is chosen.
    ///
    /// A variant whose height or bit rate is not known is within every limit, and behind those whose values are known.
    /// Variants that have a requested audio language precede all others.
    ///
    /// - Parameters:
    ///   - playlist: the playlist.
    ///   - limits: what is requested.
    /// - Throws: ``Failure`` with what there is.
    package init(from playlist: MultivariantPlaylist, limits: AdaptiveLimits) throws(Failure) {
        let groups = RenditionGroups(playlist.renditions)
        let candidates = try Self.candidates(playlist, limits, groups)
        guard var best = candidates.first else { throw .noVariants }
        for candidate in candidates.dropFirst() where candidate.precedes(best, worst: limits.variant == .worst) {
            best = candidate
        }
        index = best.index
        variant = playlist.variants[best.index]
        let audio = groups[.audio, variant.audioGroup]
        let subtitles = groups[.subtitles, variant.subtitlesGroup]
        self.audio = Self.chosen(audio, limits.audio, standard: Self.standard(audio))
        self.subtitles = Self.chosen(subtitles, limits.subtitles, standard: [])
        missingAudio = Self.missing(audio, limits.audio)
        missingSubtitles = Self.missing(subtitles, limits.subtitles)
        alternatives = Self.alternatives(to: best.index, in: playlist.variants)
    }

    // MARK: Variants

    /// What the order of variants depends on.
    private struct Candidate {
        let index: Int
        let height: Int64?
        let bandwidth: Int64?
        let frameRate: Int64

        func precedes(_ other: Candidate, worst: Bool) -> Bool {
            // Unknown values are last in both orders.
            if (height == nil) != (other.height == nil) { return height != nil }
            if height != other.height { return (height ?? 0 > other.height ?? 0) != worst }
            if (bandwidth == nil) != (other.bandwidth == nil) { return bandwidth != nil }
            if bandwidth != other.bandwidth { return (bandwidth ?? 0 > other.bandwidth ?? 0) != worst }
            return frameRate != other.frameRate && (frameRate > other.frameRate) != worst
        }
    }

    private static func candidates(
        _ playlist: MultivariantPlaylist, _ limits: AdaptiveLimits, _ groups: RenditionGroups
    ) throws(Failure) -> [Candidate] {
        let all = playlist.variants.enumerated().map { index, variant in
            Candidate(
                index: index, height: variant.resolution?.height,
                bandwidth: variant.bandwidth ?? variant.averageBandwidth, frameRate: variant.frameRate ?? 0)
        }
        if all.isEmpty { throw .noVariants }
        if case .index(let place) = limits.variant {
            guard all.indices.contains(place) else { throw .noSuchVariant(place, count: all.count) }
            return try speaking([all[place]], playlist, limits, groups)
        }
        let within = all.filter {
            ($0.height ?? 0) <= limits.maxHeight ?? .max && ($0.bandwidth ?? 0) <= limits.maxBandwidth ?? .max
        }
        if within.isEmpty {
            throw .beyondLimits(
                heights: Set(all.compactMap(\.height)).sorted(), bandwidths: Set(all.compactMap(\.bandwidth)).sorted())
        }
        return try speaking(within, playlist, limits, groups)
    }

    /// Those with a requested language, else those whose sound is in their own stream and of unknown language.
    private static func speaking(
        _ candidates: [Candidate], _ playlist: MultivariantPlaylist, _ limits: AdaptiveLimits, _ groups: RenditionGroups
    ) throws(Failure) -> [Candidate] {
        guard case .ranges(let ranges) = limits.audio, !ranges.isEmpty else { return candidates }
        let able = Set(
            groups.audioGroups.filter { _, members in
                members.contains { limits.audio.place(of: $0.language) != nil }
            }.keys)
        let speaking = candidates.filter { playlist.variants[$0.index].audioGroup.map(able.contains) ?? false }
        if !speaking.isEmpty { return speaking }
        let unknown = candidates.filter { groups[.audio, playlist.variants[$0.index].audioGroup].isEmpty }
        if !unknown.isEmpty { return unknown }
        var languages: [String] = []
        var known: Set<String> = []
        let used = Set(candidates.compactMap { playlist.variants[$0.index].audioGroup })
        for rendition in playlist.renditions where rendition.kind == .audio && used.contains(rendition.group) {
            let language = rendition.language ?? "und"
            if known.insert(language).inserted { languages.append(language) }
        }
        throw .noAudio(languages: languages)
    }

    /// Variants that differ from the chosen one only in where they are: without pathways all attributes are equal;
    /// with another pathway the names of groups may differ, too (rfc8216bis section 7).
    private static func alternatives(to index: Int, in variants: [PlaylistVariant]) -> [Int] {
        func facts(_ variant: PlaylistVariant, groups: Bool) -> [String: AttributeValue] {
            var facts: [String: AttributeValue] = [:]
            for element in variant.attributes.elements where element.name != "PATHWAY-ID" {
                let isGroup = ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"].contains(element.name)
                if groups || !isGroup { facts[element.name] = element.value }
            }
            return facts
        }
        let chosen = variants[index]
        let (whole, bare) = (facts(chosen, groups: true), facts(chosen, groups: false))
        return variants.indices.filter { other in
            let variant = variants[other]
            guard variant.uri != chosen.uri, variant.bandwidth == chosen.bandwidth else { return false }
            let isElsewhere = variant.pathway != chosen.pathway
            return facts(variant, groups: !isElsewhere) == (isElsewhere ? bare : whole)
        }
    }

    // MARK: Renditions

    /// Renditions by their groups, so that ten thousand variants do not search them ten thousand times.
    private struct RenditionGroups {
        private var groups: [PlaylistRendition.Kind: [String: [PlaylistRendition]]] = [:]

        init(_ renditions: [PlaylistRendition]) {
            for rendition in renditions {
                guard let kind = rendition.kind else { continue }
                groups[kind, default: [:]][rendition.group, default: []].append(rendition)
            }
        }

        var audioGroups: [String: [PlaylistRendition]] { groups[.audio] ?? [:] }

        subscript(kind: PlaylistRendition.Kind, group: String?) -> [PlaylistRendition] {
            group.flatMap { groups[kind]?[$0] } ?? []
        }
    }

    private static func standard(_ group: [PlaylistRendition]) -> [PlaylistRendition] {
        (group.first(where: \.isDefault) ?? group.first(where: \.isAutoselected) ?? group.first).map { [$0] } ?? []
    }

    private static func chosen(
        _ group: [PlaylistRendition], _ choice: LanguageChoice, standard: [PlaylistRendition]
    ) -> [PlaylistRendition] {
        switch choice {
        case .standard: return standard
        case .all: return group
        case .ranges(let ranges):
            var places: [[PlaylistRendition]] = ranges.map { _ in [] }
            for rendition in group {
                if let place = choice.place(of: rendition.language) { places[place].append(rendition) }
            }
            return Array(places.joined())
        }
    }

    private static func missing(_ group: [PlaylistRendition], _ choice: LanguageChoice) -> [String] {
        guard case .ranges(let ranges) = choice else { return [] }
        return ranges.filter { range in
            !group.contains { LanguageChoice.ranges([range]).place(of: $0.language) != nil }
        }
    }
}
