import LectureFormats

/// What is fetched of a period.
package struct DASHChosenPeriod: Hashable, Sendable {
    /// When it starts, in microseconds from the start of the presentation.
    package let start: UInt64
    /// How long it is, in microseconds; nil when the manifest does not say.
    package let duration: UInt64?
    /// The video if there is one, then sound, then subtitles; at least one. All periods have the same, in this order.
    package let tracks: [DASHChosenTrack]
}

/// A representation that is fetched.
package struct DASHChosenTrack: Hashable, Sendable {
    /// What it is.
    package let kind: DASHTrack.Kind
    /// The id of its adaptation set.
    package let id: String?
    /// Its language, nil when it has none.
    package let language: String?
    /// Its roles.
    package let roles: [String]
    /// The quality.
    package let representation: DASHRepresentation

    init(_ track: DASHTrack, _ representation: DASHRepresentation) {
        (kind, id, language, roles) = (track.kind, track.id, track.language, track.roles)
        self.representation = representation
    }
}

/// Chooses what is fetched of a manifest.
///
/// The first period decides; the others follow it. Protected media and WebM are chosen only if there is nothing else,
/// and protected media are then refused by the name of their system.
package struct DASHChoice: Hashable, Sendable {
    private let limits: AdaptiveLimits

    /// Creates a choice.
    ///
    /// - Parameter limits: what may be fetched, and what is preferred.
    package init(_ limits: AdaptiveLimits = AdaptiveLimits()) { self.limits = limits }

    /// Chooses.
    ///
    /// - Parameter manifest: what there is.
    /// - Returns: what is fetched of each period, in their order.
    /// - Throws: ``DASHError`` with ``DASHError/Kind/nothingFits``, with ``DASHError/Kind/limit`` for more than 64
    ///   tracks, or with ``DASHError/Kind/protected``, which names the systems of content protection.
    package func choose(from manifest: DASHManifest) throws(DASHError) -> [DASHChosenPeriod] {
        let first = try tracks(of: manifest.periods[0])
        var chosen: [DASHChosenPeriod] = []
        for (index, period) in manifest.periods.enumerated() {
            var tracks = first
            if index > 0 {
                tracks = []
                for model in first { tracks.append(try Self.counterpart(of: model, in: period, number: index + 1)) }
            }
            chosen.append(DASHChosenPeriod(start: period.start, duration: period.duration, tracks: tracks))
        }
        return chosen
    }

    // MARK: The first period

    private func tracks(of period: DASHPeriod) throws(DASHError) -> [DASHChosenTrack] {
        let video = Self.preferred(period.tracks.filter { $0.kind == .video })
        let sound = period.tracks.filter { $0.kind == .audio }
        if video.isEmpty, sound.isEmpty {
            let reasons = period.skipped.prefix(3).joined(separator: "; ")
            throw DASHError(.nothingFits, "there is neither video nor sound\(reasons.isEmpty ? "" : " (\(reasons))")")
        }
        var chosen: [DASHChosenTrack] = []
        for group in try Self.groups(sound, limits.audio, isSound: true) {
            // What is left of the bit rate is the video's; without a video the limits are the sound's.
            chosen.append(video.isEmpty ? try limited(group, beside: 0) : try best(group))
        }
        if !video.isEmpty {
            let beside = chosen.map(\.representation.bandwidth).max() ?? 0
            chosen.insert(try limited(video, beside: beside), at: 0)
        }
        let texts = period.tracks.filter { $0.kind == .subtitles }
        for group in try Self.groups(texts, limits.subtitles, isSound: false) { chosen.append(try best(group)) }
        return chosen
    }

    /// The tracks with the role `main`, or all when none has it.
    private static func preferred(_ tracks: [DASHTrack]) -> [DASHTrack] {
        let main = tracks.filter { $0.roles.contains("main") }
        return main.isEmpty ? tracks : main
    }

    /// The tracks of the chosen languages. Those of a group differ only in how they are encoded.
    ///
    /// - Parameters:
    ///   - tracks: what there is.
    ///   - choice: the languages.
    ///   - isSound: whether one is chosen without a choice, and one has to be there.
    /// - Returns: the groups, in the order of the languages and then of the manifest.
    /// - Throws: ``DASHError`` with ``DASHError/Kind/nothingFits`` or ``DASHError/Kind/limit``.
    private static func groups(
        _ tracks: [DASHTrack], _ choice: LanguageChoice, isSound: Bool
    ) throws(DASHError) -> [[DASHTrack]] {
        func key(_ track: DASHTrack) -> [String] {
            [FieldText.lowercased(track.language ?? "")] + Set(track.roles).sorted()
        }
        if choice == .standard {
            guard isSound, let first = preferred(tracks).first else { return [] }
            return [tracks.filter { key($0) == key(first) }]
        }
        var found: [(place: Int, tracks: [DASHTrack])] = []
        var indices: [[String]: Int] = [:]
        for track in tracks {
            guard let place = choice.place(of: track.language) else { continue }
            if let index = indices[key(track)] {
                found[index].tracks.append(track)
            } else {
                indices[key(track)] = found.count
                found.append((place, [track]))
            }
        }
        if found.count > DASHBounds.tracks {
            throw DASHError(.limit, "more than \(DASHBounds.tracks) tracks of one kind would be chosen")
        }
        if isSound, found.isEmpty, !tracks.isEmpty {
            let names = tracks.map { DASHText.quoted($0.language ?? "und") }.prefix(8).joined(separator: ", ")
            throw DASHError(.nothingFits, "there is no sound in the requested languages, only in \(names)")
        }
        // Stable: of one place, the order of the manifest.
        return found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element.tracks)
    }

    // MARK: A quality

    private typealias Candidate = (track: DASHTrack, representation: DASHRepresentation)

    /// The representations that a number chooses from, in their order: those of the pictures, else of the sound.
    ///
    /// - Parameter tracks: of the first period.
    /// - Returns: those that can be used.
    /// - Throws: `DASHError` when all are protected.
    static func numbered(_ tracks: [DASHTrack]) throws(DASHError) -> [DASHRepresentation] {
        let pictures = tracks.filter { $0.kind == .video }
        return try usable(pictures.isEmpty ? tracks.filter { $0.kind == .audio } : pictures).map(\.representation)
    }

    /// What can be used: clear rather than protected, another container rather than WebM.
    private static func usable(_ tracks: [DASHTrack]) throws(DASHError) -> [Candidate] {
        let all = tracks.flatMap { track in track.representations.map { (track: track, representation: $0) } }
        let clear = all.filter { $0.representation.protections.isEmpty }
        if clear.isEmpty, let first = all.first?.representation {
            let names = first.protections.map(\.name).joined(separator: ", ")
            throw DASHError(.protected, "the media are protected by \(names)")
        }
        let others = clear.filter { $0.representation.container != .webM }
        return others.isEmpty ? clear : others
    }

    /// Whether a candidate is preferred: by lines, then by bit rate. Unknown values are last in both orders.
    private func precedes(_ left: Candidate, _ right: Candidate) -> Bool {
        let (one, other) = (left.representation, right.representation)
        let isWorst = limits.variant == .worst
        let pairs = [
            (one.format.height ?? 0, other.format.height ?? 0), (one.bandwidth, other.bandwidth),
        ]
        for (first, second) in pairs where first != second {
            if first == 0 || second == 0 { return second == 0 }
            return (first > second) != isWorst
        }
        return false
    }

    private func best(_ tracks: [DASHTrack]) throws(DASHError) -> DASHChosenTrack {
        guard let chosen = try Self.usable(tracks).min(by: precedes) else {
            throw DASHError(.nothingFits, "a track has no representations")
        }
        return DASHChosenTrack(chosen.track, chosen.representation)
    }

    private func limited(_ tracks: [DASHTrack], beside: UInt64) throws(DASHError) -> DASHChosenTrack {
        let usable = try Self.usable(tracks)
        if case .index(let index) = limits.variant {
            guard usable.indices.contains(index) else {
                throw DASHError(.nothingFits, "there is no variant \(index + 1) of \(usable.count)")
            }
            return DASHChosenTrack(usable[index].track, usable[index].representation)
        }
        let (mostLines, mostBits) = (limits.maxHeight.map { max(0, $0) }, limits.maxBandwidth.map { max(0, $0) })
        let fitting = usable.filter { candidate in
            let (height, bandwidth) = (candidate.representation.format.height ?? 0, candidate.representation.bandwidth)
            let (sum, overflow) = bandwidth.addingReportingOverflow(beside)
            return height <= UInt64(mostLines ?? .max)
                && (bandwidth == 0 || !overflow && sum <= UInt64(mostBits ?? .max))
        }
        guard let chosen = fitting.min(by: precedes) else {
            let heights = Set(usable.compactMap(\.representation.format.height)).sorted()
            let bandwidths = Set(usable.map(\.representation.bandwidth)).sorted()
            throw DASHError(
                .nothingFits,
                "nothing is within the limits: heights \(heights.prefix(8)), bit/s \(bandwidths.prefix(8))"
                    + (beside > 0 ? " beside \(beside) of sound" : ""))
        }
        return DASHChosenTrack(chosen.track, chosen.representation)
    }

    // MARK: Further periods

    /// What continues a track in another period: the same ids, else the same language and role with the same codec and
    /// the nearest quality.
    private static func counterpart(
        of model: DASHChosenTrack, in period: DASHPeriod, number: Int
    ) throws(DASHError) -> DASHChosenTrack {
        let candidates = try usable(period.tracks.filter { $0.kind == model.kind })
        let nearest = candidates.min { difference(model, $0) < difference(model, $1) }
        guard let nearest else {
            throw DASHError(.nothingFits, "period \(number) has nothing that continues the \(model.kind) of the first")
        }
        return DASHChosenTrack(nearest.track, nearest.representation)
    }

    /// How much a candidate differs: what comes first counts more than all that follows.
    private static func difference(_ model: DASHChosenTrack, _ other: Candidate) -> [UInt64] {
        let (one, two) = (model.representation, other.representation)
        func distance(_ left: UInt64, _ right: UInt64) -> UInt64 { left > right ? left - right : right - left }
        let sameLanguage = FieldText.equal(model.language ?? "und", other.track.language ?? "und")
        let sameRoles = Set(model.roles) == Set(other.track.roles)
        let sameIDs = one.id != nil && one.id == two.id && model.id == other.track.id
        let sameCodec = one.format.codecs.utf8.prefix(4).elementsEqual(two.format.codecs.utf8.prefix(4))
        return [
            sameLanguage ? 0 : 1, sameIDs ? 0 : 1, sameRoles ? 0 : 1, one.container == two.container ? 0 : 1,
            sameCodec ? 0 : 1, distance(one.format.height ?? 0, two.format.height ?? 0),
            distance(one.bandwidth, two.bandwidth),
        ]
    }
}

extension [UInt64] {
    /// The order of the first numbers that differ.
    fileprivate static func < (left: Self, right: Self) -> Bool { left.lexicographicallyPrecedes(right) }
}
