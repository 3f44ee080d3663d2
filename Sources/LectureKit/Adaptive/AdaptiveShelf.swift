import LectureAdaptive
import LectureCrypto
import LectureFormats
import LectureLicence
import LectureModel
import LectureStore

/// The playlists and files of an adaptive lecture, as one play reads them. An actor on the core queue.
actor AdaptiveShelf: CorePart {
    nonisolated let core: StoreCore
    nonisolated let key: ContentKey
    nonisolated let version: StreamVersion
    /// Files that were read last: a player reads each in several ranges.
    private var opened: [FinalizedMedia] = []
    private static let mostOpened = 16
    /// What was last shown of a playlist: players ask again and again while a lecture is downloaded.
    private var shown: [Int: (presence: StreamPresence, stored: String, text: String)] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore, _ key: ContentKey, _ version: StreamVersion) {
        (self.core, self.key, self.version) = (core, key, version)
    }

    /// The names of the playlists, the one to begin with first.
    nonisolated var names: [String] { version.playlists.indices.map(StreamPlaylistPath.name) }

    // MARK: Playlists

    /// A playlist, as far as its files are there.
    ///
    /// - Parameter name: one of ``names``.
    /// - Returns: nil for another name.
    /// - Throws: ``LectureError``: `notComplete` before the first segment is there, or when the version was replaced.
    func text(_ name: String) throws -> String? {
        if let place = names.firstIndex(of: name) { return try text(place, try presence()) }
        guard let part = Part(name), let place = names.firstIndex(of: part.playlist), try partCount > part.number else {
            return nil
        }
        let text = try text(place, try presence())
        guard place >= version.firstMedia else {
            return try LocalPlaylist.multivariant(text) { Part(number: part.number, playlist: $0).name }
        }
        var playlist = try LocalPlaylist(text)
        playlist.keep(part: part.number)
        return try playlist.text()
    }

    /// The playlists to begin with of the parts between discontinuities, for players that cannot jump over one. The
    /// whole is one part while it is not complete, where its tracks have different parts, and with very many of them.
    func partNames() throws -> [String] {
        let (count, name) = (try partCount, names[0])
        return count > 1 ? (0..<count).map { Part(number: $0, playlist: name).name } : [name]
    }

    private static let mostParts = 64

    var partCount: Int {
        get throws {
            guard try presence().end == nil else { return 1 }
            let subtitles = Set(SubtitleRendition.all(in: version.playlists[0]).map(\.playlist))
            let tracks = version.playlists.indices.filter { $0 >= version.firstMedia && !subtitles.contains(names[$0]) }
            let counts = Set(try tracks.map { try LocalPlaylist(try stored($0)).partCount })
            guard counts.count == 1, let count = counts.first, count <= Self.mostParts else { return 1 }
            return count
        }
    }

    /// A part of a playlist: `p2.main.m3u8`.
    private struct Part {
        let number: Int
        let playlist: String

        var name: String { "p\(number).\(playlist)" }

        init(number: Int, playlist: String) { (self.number, self.playlist) = (number, playlist) }

        init?(_ name: String) {
            let words = name.split(separator: ".", maxSplits: 1)
            guard words.count == 2, name.hasPrefix("p"), let number = Int(words[0].dropFirst()), number >= 0 else {
                return nil
            }
            self.init(number: number, playlist: String(words[1]))
        }
    }

    func presence() throws -> StreamPresence {
        guard let presence = try queries.streams.presence(version.id) else {
            throw LectureError(.notComplete, detail: key.text)
        }
        return presence
    }

    private func text(_ place: Int, _ presence: StreamPresence) throws -> String {
        let stored = try stored(place)
        guard place >= version.firstMedia, presence != StreamPresence() else { return stored }
        if let last = shown[place], last.presence == presence, last.stored == stored { return last.text }
        var playlist = try LocalPlaylist(stored)
        playlist.show(until: presence.end, without: presence.missing)
        guard !playlist.isEmpty else { throw LectureError(.notComplete, detail: key.text) }
        let text = try playlist.text()
        shown[place] = (presence, stored, text)
        return text
    }

    /// A playlist as stored; one that was being captured when the play began has grown since.
    func stored(_ place: Int) throws -> String {
        guard StreamCapture.isGoingOn(version.playlists) else { return version.playlists[place] }
        let texts = try queries.streams.playlists(version.id)
        guard texts.indices.contains(place) else { throw LectureError(.notComplete, detail: key.text) }
        return texts[place]
    }

    /// Refuses what cannot be played yet: each playlist must have a segment.
    func checkBeginning() throws {
        let presence = try presence()
        guard presence.end != nil else { return }
        for place in version.playlists.indices { _ = try text(place, presence) }
    }

    // MARK: Files

    /// All files that are there, in the order of play.
    func files() throws -> [StreamFile] { try queries.streams.streamFiles(version.id).map(StreamFile.init) }

    /// A file; nil when there is none with this name, or not yet.
    func file(_ name: String) throws -> FinalizedMedia? {
        if let file = opened.first(where: { $0.resource.name == name }) { return file }
        guard let found = try queries.streams.streamFile(version.id, name), found.state == .finalized else {
            return nil
        }
        let file = FinalizedMedia(resource: found, cipher: try cipher(for: found, of: key))
        if opened.count >= Self.mostOpened { opened.removeFirst() }
        opened.append(file)
        return file
    }

    /// Reads a file that must be there.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - range: which bytes, from 0; nil for all.
    ///   - charge: how a segment is charged.
    ///   - receive: gets the bytes in order.
    /// - Throws: ``LectureError``: `notComplete`, `damaged`, `mediaMissing` and what reading throws.
    nonisolated func read(
        _ name: String, range: Range<Int64>?, charging charge: PlayRead?,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        guard let file = try await file(name) else { throw LectureError(.notComplete, detail: key.text) }
        let charge = file.resource.role == .segment ? charge : nil
        try await MediaReader(core).read(file, key, range: range, charging: charge, receive)
    }

    // MARK: As one stream

    /// Reads the first media playlist as one stream: initialisation sections and segments one after the other,
    /// decrypted. Gaps are left out.
    ///
    /// - Parameters:
    ///   - charge: how segments are charged.
    ///   - receive: gets the bytes in order.
    /// - Throws: as ``read(_:range:charging:_:)``; `streamKey` when a segment cannot be decrypted.
    nonisolated func readJoined(
        charging charge: PlayRead?, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let playlist = try await joinedPlaylist()
        var keys: [String: SecretBytes] = [:]
        for piece in playlist.pieces { try await read(piece, &keys, charging: charge, receive) }
    }

    /// Reads a part of a stream, decrypted.
    private nonisolated func read(
        _ piece: LocalPlaylist.Piece, _ keys: inout [String: SecretBytes], charging charge: PlayRead?,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let range = piece.range.map { Int64(clamping: $0.start)..<Int64(clamping: $0.end) }
        guard let cipher = piece.cipher else {
            return try await read(piece.file, range: range, charging: charge, receive)
        }
        let secret: SecretBytes
        if let known = keys[cipher.key] { secret = known } else { secret = try await self.secret(cipher.key) }
        keys[cipher.key] = secret
        let decryptor = try SegmentDecryptor(key: secret, vector: cipher.vector)
        try await read(piece.file, range: range, charging: charge) { bytes in
            let clear = try decryptor.update(bytes)
            if !clear.isEmpty { try receive(clear) }
        }
        let rest = try decryptor.finish()
        if !rest.isEmpty { try receive(rest) }
    }

    /// The renditions of subtitles, each as one WebVTT file. Those in other forms are left out.
    ///
    /// - Returns: in the order of the playlist.
    /// - Throws: as ``read(_:range:charging:_:)``.
    nonisolated func subtitles() async throws -> [KeptSubtitle] {
        guard version.playlists.count > 1 else { return [] }
        var found: [KeptSubtitle] = []
        var keys: [String: SecretBytes] = [:]
        for rendition in SubtitleRendition.all(in: version.playlists[0]) {
            guard let text = try await text(rendition.playlist) else { continue }
            let pieces = try LocalPlaylist(text).pieces
            guard !pieces.contains(where: \.isInitialisation) else { continue }
            var joined = JoinedSubtitles()
            for piece in pieces {
                let bytes = Guarded<[UInt8]>([])
                try await read(piece, &keys, charging: nil) { part in bytes.withLock { $0 += part } }
                joined.add(bytes.withLock(\.self))
            }
            found.append(
                KeptSubtitle(
                    name: rendition.name, language: rendition.language, isMachineMade: false, bytes: joined.bytes))
        }
        return found
    }

    private func joinedPlaylist() throws -> LocalPlaylist {
        let presence = try presence()
        guard presence.end == nil else { throw LectureError(.notComplete, detail: key.text) }
        var playlist = try LocalPlaylist(try stored(version.firstMedia))
        playlist.show(until: nil, without: presence.missing)
        return playlist
    }

    private nonisolated func secret(_ name: String) async throws -> SecretBytes {
        let bytes = Guarded<[UInt8]>([])
        try await read(name, range: nil, charging: nil) { piece in bytes.withLock { $0 += piece } }
        return try bytes.withLock { key throws(LectureError) in
            defer { for index in key.indices { key[index] = 0 } }
            return try SecretBytes(copying: key)
        }
    }

    // MARK: Facts for the charge

    /// How many bytes all segments have, and how long they play.
    ///
    /// The playlist as it was received is verified, unlike its row: it says how long the lecture plays.
    nonisolated func extent() async throws -> (bytes: UInt64, duration: Duration) {
        let (bytes, recorded, head) = try await recordedExtent()
        var contained: Duration?
        if let head {
            let read = Guarded<[UInt8]>([])
            try await MediaReader(core).read(head, key, range: nil) { piece in read.withLock { $0 += piece } }
            if case .media(let playlist)? = try? PlaylistReader.playlist(read.withLock(\.self)) {
                contained = playlist.totalDuration
            }
        }
        return (bytes, PlayingTime.of(byteCount: bytes, contained: contained, recorded: recorded))
    }

    private func recordedExtent() throws -> (bytes: UInt64, recorded: Duration?, head: FinalizedMedia?) {
        let duration = try lecture(key)?.duration
        // Of a captured stream only the end was received last.
        guard !StreamCapture.isCapture(version.playlists) else {
            return (try queries.streams.segmentBytes(version.id), duration, nil)
        }
        let role: ResourceRole = version.playlists.count > 1 ? .playlist : .media
        let head = try queries.streams.headResources(key).filter { $0.role == role && $0.state == .finalized }
            .min { $0.position < $1.position }
        let media = try head.map { FinalizedMedia(resource: $0, cipher: try cipher(for: $0, of: key)) }
        return (try queries.streams.segmentBytes(version.id), duration, media)
    }
}

extension StreamVersion {
    /// The first of the playlists that has segments.
    var firstMedia: Int { playlists.count > 1 ? 1 : 0 }
}

extension CorePart {
    /// The playlists for a directory beside the media, with the paths of files relative to it.
    ///
    /// - Parameters:
    ///   - version: of the lecture.
    ///   - key: the lecture.
    /// - Returns: in their order.
    /// - Throws: ``LectureError``: `isSealed` for what is sealed or encrypted, `notComplete`, `mediaMissing`.
    func pathTexts(of version: StreamVersion, _ key: ContentKey) throws -> [String] {
        guard let presence = try queries.streams.presence(version.id), presence.end == nil else {
            throw LectureError(.notComplete, detail: key.text)
        }
        return try version.playlists.indices.map { place in
            guard place >= version.firstMedia else { return version.playlists[place] }
            var playlist = try LocalPlaylist(version.playlists[place])
            guard !playlist.isEncrypted else {
                let cause = "its segments are encrypted; 'lecturectl export' makes one file of it"
                throw LectureError(.isSealed, detail: key.text, cause: cause)
            }
            playlist.show(until: nil, without: presence.missing)
            try playlist.rename { name in
                guard let file = try queries.streams.streamFile(version.id, name), file.state == .finalized else {
                    return name
                }
                guard file.seal == .plain else { throw LectureError(.isSealed, detail: key.text) }
                let found = FinalizedFile(path: file.path, fileBytes: file.fileBytes)
                if let error = mediaFault(found, key: key) { throw error }
                return "../\(file.path.split(separator: "/").dropFirst().joined(separator: "/"))"
            }
            return try playlist.text()
        }
    }
}
