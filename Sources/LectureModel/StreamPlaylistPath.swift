/// Where the playlists of an adaptive lecture lie beside its files, once another program asked for them:
/// `media/stream-<version>/main.m3u8`. They name the files relative to themselves.
package enum StreamPlaylistPath {
    /// How the names of their directories begin.
    package static let prefix = "stream-"
    /// The playlist to begin with.
    package static let main = "main.m3u8"

    /// The name of a playlist.
    ///
    /// - Parameter position: 0 for the one to begin with.
    /// - Returns: a file name; the first one refers to the others by theirs.
    package static func name(_ position: Int) -> String { position == 0 ? main : "\(position).m3u8" }

    /// The path of a playlist.
    ///
    /// - Parameters:
    ///   - version: whose playlist it is.
    ///   - position: 0 for the one to begin with.
    /// - Returns: relative to the store.
    package static func path(_ version: VersionID, _ position: Int) -> String {
        "media/\(prefix)\(version.value)/\(name(position))"
    }

    /// The version whose playlist may be at a path.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: nil for other files.
    package static func version(of path: String) -> VersionID? {
        let parts = path.split(separator: "/")
        guard parts.count == 3, parts[0] == "media", parts[1].hasPrefix(prefix), parts[2].hasSuffix(".m3u8") else {
            return nil
        }
        return Int64(parts[1].dropFirst(prefix.count)).map { VersionID($0) }
    }
}
