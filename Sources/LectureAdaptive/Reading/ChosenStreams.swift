import LectureFormats
import LectureModel

/// The variant and the renditions that are kept of a multivariant playlist.
struct ChosenStreams {
    /// The URIs of their media playlists as written, each once: that of the variant first.
    let uris: [String]
    /// The playlist that names them, with local names.
    let local: MultivariantPlaylist
    /// The number of the variant in the playlist, from 1.
    let number: Int
    /// The size of the pictures.
    let resolution: PictureSize?

    /// Chooses.
    ///
    /// - Parameters:
    ///   - playlist: the playlist of the source.
    ///   - selection: what is kept.
    /// - Throws: ``LectureError`` with `variantUnavailable`, which lists what there is.
    init(of playlist: MultivariantPlaylist, _ selection: StreamSelection) throws(LectureError) {
        let choice: VariantChoice
        do throws(VariantChoice.Failure) {
            choice = try VariantChoice(from: playlist, limits: AdaptiveLimits(selection))
        } catch {
            throw LectureError(error)
        }
        var uris = [choice.variant.uri]
        var local = MultivariantPlaylist()
        local.head = playlist.head
        var variant = choice.variant
        for name in ["VIDEO", "PATHWAY-ID", "STABLE-VARIANT-ID"] { variant.attributes[name] = nil }
        if choice.audio.isEmpty { variant.attributes["AUDIO"] = nil }
        if choice.subtitles.isEmpty { variant.attributes["SUBTITLES"] = nil }
        variant.uri = StreamPlaylistPath.name(1)
        let captions = playlist.renditions.filter {
            $0.kind == .closedCaptions && $0.group == choice.variant.attributes.text("CLOSED-CAPTIONS")
        }
        for rendition in choice.audio + choice.subtitles + captions {
            var rendition = rendition
            if let uri = rendition.uri {
                let place = uris.firstIndex(of: uri) ?? uris.count
                if place == uris.count { uris.append(uri) }
                rendition.attributes["URI"] = .quoted(StreamPlaylistPath.name(place + 1))
            }
            local.renditions.append(rendition)
        }
        local.variants = [variant]
        (self.uris, self.local, number) = (uris, local, choice.index + 1)
        resolution = choice.variant.resolution
    }
}

extension AdaptiveLimits {
    /// What a request selects.
    init(_ selection: StreamSelection) {
        self.init()
        maxHeight = selection.maxHeight.map { Int64($0) }
        maxBandwidth = selection.maxBandwidth.map { Int64($0) }
        audio = LanguageChoice(selection.audioLanguages)
        subtitles = LanguageChoice(selection.subtitleLanguages)
        variant =
            switch selection.variant {
            case .best: .best
            case .worst: .worst
            case .number(let number): .index(number - 1)
            }
    }
}

extension LanguageChoice {
    /// The languages of a request; `all` for all, none for the default.
    fileprivate init(_ languages: [String]) {
        self = languages.isEmpty ? .standard : languages.contains("all") ? .all : .ranges(languages)
    }
}

extension LectureError {
    /// Why nothing can be chosen.
    init(_ failure: VariantChoice.Failure) {
        let cause =
            switch failure {
            case .noVariants: "the playlist has no variants"
            case .noSuchVariant(let place, let count): "there is no variant \(place + 1) of \(count)"
            case .beyondLimits(let heights, let bandwidths):
                "there are \(Self.list(heights, "lines")) with \(Self.list(bandwidths, "bit/s"))"
            case .noAudio(let languages): "its languages are \(languages.joined(separator: ", "))"
            }
        self.init(failure == .noVariants ? .playlistDamaged : .variantUnavailable, cause: cause)
    }

    private static func list(_ numbers: [Int64], _ unit: String) -> String {
        numbers.isEmpty ? "unknown \(unit)" : "\(numbers.prefix(20).map { "\($0)" }.joined(separator: ", ")) \(unit)"
    }
}
