import LectureModel

/// The files that playlists name, each once and under its local name.
struct StreamFiles {
    /// What is to be fetched, in the order in which it was added.
    private(set) var requests: [ResourceRequest] = []
    /// The names of files that more than one segment uses, by their URLs: those with byte ranges, keys, initialisation
    /// sections.
    private(set) var shared: [String: String]
    private var position: Int

    /// None.
    ///
    /// - Parameters:
    ///   - firstPosition: of the first file.
    ///   - shared: names of files that were added before, by their URLs.
    init(firstPosition: Int, shared: [String: String] = [:]) {
        (position, self.shared) = (firstPosition, shared)
    }

    /// Adds a file once; a range of it is served from the whole, and the whole is what a range was served from.
    ///
    /// - Parameters:
    ///   - uri: as the playlist has it.
    ///   - base: the URL of the playlist.
    ///   - role: what it is.
    ///   - standard: the suffix without a known one.
    ///   - isShared: whether another segment may use it.
    /// - Returns: its name.
    /// - Throws: ``LectureError`` with `playlistDamaged`.
    mutating func add(
        _ uri: String, _ base: StreamURL, _ role: ResourceRole, standard: String, isShared: Bool
    ) throws(LectureError) -> String {
        let url = try base.resolving(uri)
        if let name = shared[url] { return name }
        let name =
            role == .key
            ? "\(position).key" : StreamFileName.name(position, url: url, standard: standard)
        var request = ResourceRequest(role: role, name: name, urls: [url])
        if role == .key { request.expectedBytes = 16 }
        requests.append(request)
        position += 1
        if isShared { shared[url] = name }
        return name
    }

    /// A playlist as it is stored.
    ///
    /// - Parameters:
    ///   - playlist: the playlist.
    ///   - naming: gives the local names; nil when it has them.
    /// - Returns: the text.
    /// - Throws: ``LectureError`` with `playlistDamaged` for what cannot be written.
    static func text(
        _ playlist: Playlist, naming: PlaylistWriter.Naming? = nil
    ) throws(LectureError) -> String {
        do throws(PlaylistError) {
            return String(decoding: try PlaylistWriter.bytes(playlist, naming: naming), as: UTF8.self)
        } catch {
            throw LectureError(.playlistDamaged, cause: error.reason)
        }
    }
}

extension MediaPlaylist {
    /// Refuses a section that is encrypted without an explicit vector: it has no number (RFC 8216 section 4.3.2.4).
    func checkVector(of map: PlaylistMap) throws(LectureError) {
        guard let set = map.keySet, let key = keySets[set].first, key.initializationVector == nil else { return }
        throw LectureError(.playlistDamaged, cause: "an encrypted initialisation section has no IV")
    }
}
