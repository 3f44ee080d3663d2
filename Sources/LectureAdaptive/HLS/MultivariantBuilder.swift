/// The tags of multivariant playlists after `#EXT-X-`.
enum MultivariantTag: String {
    case media = "MEDIA"
    case streamInf = "STREAM-INF"
    case iFrameStreamInf = "I-FRAME-STREAM-INF"
    case sessionData = "SESSION-DATA"
    case sessionKey = "SESSION-KEY"
}

/// Puts a multivariant playlist together.
struct MultivariantBuilder: Sendable {
    private let limit: Int
    private var playlist = MultivariantPlaylist()
    /// The attributes of the variant whose URI is missing.
    private var next: AttributeList?

    init(limit: Int) { self.limit = limit }

    /// Whether the next line that is a URI is that of a variant.
    var awaitsURI: Bool { next != nil }

    mutating func take(uri: ArraySlice<UInt8>) throws(LineFault) {
        guard let attributes = next else { return }
        playlist.variants.append(PlaylistVariant(uri: try PlaylistText.string(uri), attributes: attributes))
        next = nil
    }

    mutating func take(
        _ tag: MultivariantTag, _ value: ArraySlice<UInt8>, _ variables: VariableTable
    ) throws(LineFault) {
        let count =
            playlist.variants.count + playlist.iFrameVariants.count + playlist.renditions.count
            + playlist.sessionKeys.count + playlist.sessionData.count
        guard count < limit else { throw LineFault("there are too many variants and renditions", kind: .limit) }
        var list = try AttributeScanner.list(value, variables)
        switch tag {
        case .media:
            guard list["TYPE"] != nil, list["GROUP-ID"] != nil else {
                throw LineFault("EXT-X-MEDIA has no TYPE or no GROUP-ID")
            }
            playlist.renditions.append(PlaylistRendition(attributes: list))
        case .streamInf:
            guard next == nil else { throw LineFault("an EXT-X-STREAM-INF has no URI") }
            try Self.check(list)
            next = list
        case .iFrameStreamInf:
            guard let uri = list.text("URI"), !uri.isEmpty else {
                throw LineFault("EXT-X-I-FRAME-STREAM-INF has no URI")
            }
            try Self.check(list)
            list["URI"] = nil
            playlist.iFrameVariants.append(PlaylistVariant(uri: uri, attributes: list))
        case .sessionData: playlist.sessionData.append(list)
        case .sessionKey:
            let key = try MediaBuilder.key(list)
            guard key.method != .none else { throw LineFault("EXT-X-SESSION-KEY has the method NONE") }
            playlist.sessionKeys.append(key)
        }
    }

    /// A bit rate may be missing, as in playlists in use; one that is no number would change the choice.
    private static func check(_ list: AttributeList) throws(LineFault) {
        for name in ["BANDWIDTH", "AVERAGE-BANDWIDTH"] where list[name] != nil && list.integer(name) == nil {
            throw LineFault("\(name) is no number below 2^63")
        }
    }

    mutating func finish(
        _ head: PlaylistHead, _ definitions: [PlaylistDefinition]
    ) throws(LineFault) -> MultivariantPlaylist {
        guard next == nil else { throw LineFault("an EXT-X-STREAM-INF has no URI") }
        playlist.head = head
        playlist.definitions = definitions
        return playlist
    }
}
