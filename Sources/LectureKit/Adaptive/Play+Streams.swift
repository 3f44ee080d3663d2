import LectureModel

/// Adaptive lectures (HLS): playlists and files in place of one file of media.
///
/// ```swift
/// for name in play.playlistNames { show(name, try await play.playlist(name)) }
/// try await play.read(file: "12.ts") { bytes in feed(bytes) }
/// ```
///
/// The playlists name files, and playlists name each other, without a directory. Segments that are missing have
/// `EXT-X-GAP`. While a lecture without a licence is still being downloaded, its media playlists end before the first
/// file that is not there: they have the type `EVENT` and no end mark, and show more when they are asked for again.
extension Play {
    /// Whether the lecture is adaptive: it is read by its playlists and files.
    public nonisolated var isAdaptive: Bool { shelf != nil }

    /// The names of its playlists, the one to begin with first: `main.m3u8`, `1.m3u8` …; empty for one file of media.
    public nonisolated var playlistNames: [String] { shelf?.names ?? [] }

    /// The names of the playlists that play its parts between discontinuities one after the other; ``playlist(_:)`` has
    /// them, too. Where the clock of the media begins anew, players lose the position or cannot jump.
    package func partNames() async throws -> [String] { try await shelf?.partNames() ?? [] }

    /// A playlist, as far as its files are there by now.
    ///
    /// - Parameter name: one of ``playlistNames``.
    /// - Returns: the text; nil for another name.
    /// - Throws: ``LectureError``: `closing` after the end of the play, `notComplete` when the lecture was replaced or
    ///   removed meanwhile, a store's code.
    public func playlist(_ name: String) async throws -> String? {
        try requireGoingOn()
        return try await shelf?.text(name)
    }

    /// The files that are there by now, in the order of play.
    ///
    /// - Returns: empty for a lecture that is not adaptive.
    /// - Throws: ``LectureError``: `closing` after the end of the play, a store's code.
    public func files() async throws -> [StreamFile] {
        try requireGoingOn()
        return try await shelf?.files() ?? []
    }

    /// A file of the playlists.
    ///
    /// - Parameter name: as a playlist has it.
    /// - Returns: nil when there is none with this name, or not yet.
    /// - Throws: ``LectureError``: `closing` after the end of the play, `sealedElsewhere`, a store's code.
    public func file(_ name: String) async throws -> StreamFile? {
        try requireGoingOn()
        return try await shelf?.file(name).map { StreamFile($0.resource) }
    }

    /// Reads a file of the playlists, verified and unsealed. A segment that is encrypted by AES-128 stays so: the key
    /// is one of the files. Where the licence limits play time, the bytes of segments count as those of
    /// ``read(range:_:)`` do.
    ///
    /// - Parameters:
    ///   - name: as a playlist has it.
    ///   - range: which bytes, from 0; nil for all. Bytes beyond the end are left out.
    ///   - receive: gets the bytes in order; an error it throws ends the reading.
    /// - Throws: ``LectureError``: `notComplete` when there is no such file, or not yet; otherwise as
    ///   ``read(range:_:)``.
    public func read(
        file name: String, range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        try requireGoingOn()
        guard let shelf else { throw LectureError(.notComplete, detail: key.text) }
        try await shelf.read(name, range: range, charging: charge(isAll: false), receive)
    }

    /// The lecture as files that can be jumped in, for players that cannot jump in fragments of MP4.
    ///
    /// - Returns: nil for other media, while the lecture is not complete, and where it cannot be joined: see
    ///   ``JoinedStreams``.
    /// - Throws: as ``read(file:range:_:)``.
    package func joinedStreams() async throws -> JoinedStreams? {
        try requireGoingOn()
        return try await shelf?.joinedStreams()
    }

    /// Reads a joined file, as ``read(file:range:_:)`` reads the files that it has.
    ///
    /// - Parameters:
    ///   - stream: of ``joinedStreams()``.
    ///   - range: which bytes, from 0; nil for all. Bytes beyond the end are left out.
    ///   - receive: gets the bytes in order; an error it throws ends the reading.
    /// - Throws: as ``read(file:range:_:)``.
    package func read(
        joined stream: JoinedStream, range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        try requireGoingOn()
        guard let shelf else { throw LectureError(.notComplete, detail: key.text) }
        try await shelf.read(stream, range: range, charging: charge(isAll: false), receive)
    }
}
