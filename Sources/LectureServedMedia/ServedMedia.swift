package import LectureKit
package import LectureModel

/// What is served: a kept lecture under its licence, or a stream.
package enum ServedMedia: Sendable {
    /// A kept lecture, which is counted and ended here.
    case play(LectureManager, Play)
    /// A stream that its server has permitted.
    case stream(LectureStream)
    /// A play that its owner counts and ends: only its bytes are served.
    case transport(Play)

    /// Asks the licence of a lecture. Nothing is counted.
    ///
    /// - Parameters:
    ///   - key: a complete lecture.
    ///   - manager: the store.
    ///   - patience: how long to wait for a licence server.
    /// - Returns: the media. Where play time is limited, the bytes count: other players report no positions.
    /// - Throws: as `preparePlay(_:patience:counting:)`.
    package static func lecture(
        _ key: ContentKey, _ manager: LectureManager, patience: Duration
    ) async throws -> Self {
        .play(manager, try await manager.licences.preparePlay(key, patience: patience, counting: .reading))
    }

    /// The lecture.
    package var key: ContentKey {
        switch self {
        case .play(_, let play), .transport(let play): play.key
        case .stream(let stream): stream.key
        }
    }

    /// The length in bytes.
    package var byteCount: Int64 {
        switch self {
        case .play(_, let play), .transport(let play): play.byteCount
        case .stream(let stream): stream.byteCount
        }
    }

    /// Whether play time is charged by the bytes that are read.
    var isCharged: Bool {
        switch self {
        case .play(_, let play), .transport(let play): play.isCharged
        case .stream: true
        }
    }

    /// Where the chunk of a kept lecture ends that has a byte: a read that ends there checks no chunk twice.
    ///
    /// - Parameters:
    ///   - part: what is read.
    ///   - place: the byte's offset in it.
    /// - Returns: the offset behind the chunk; nil where there are none, or where they are not known.
    func chunkEnd(of part: ServedPart, at place: Int64) -> Int64? {
        guard case .media = part else { return nil }
        switch self {
        case .play(_, let play), .transport(let play): return play.chunkEnd(at: place)
        case .stream: return nil
        }
    }

    /// The names of an adaptive lecture's playlists, the one to begin with first; empty for one file of media.
    package var playlistNames: [String] {
        switch self {
        case .play(_, let play), .transport(let play): play.playlistNames
        case .stream: []
        }
    }

    /// Counts the play. A stream was permitted by its server, which has sent it.
    func start() async throws {
        if case .play(_, let play) = self { try await play.start() }
    }

    /// A playlist or a file of an adaptive lecture.
    ///
    /// - Parameter name: as a playlist has it.
    /// - Returns: nil when there is none with this name, or not yet.
    /// - Throws: `LectureError`, `CancellationError`.
    func part(_ name: String) async throws -> ServedPart? {
        switch self {
        case .play(_, let play), .transport(let play):
            if let text = try await play.playlist(name) { return .playlist(Array(text.utf8)) }
            return try await play.file(name).map(ServedPart.file)
        case .stream: return nil
        }
    }

    func read(
        _ part: ServedPart, range: Range<Int64>, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        switch (part, self) {
        case (.playlist(let text), _): try receive(Array(text[Int(range.lowerBound)..<Int(range.upperBound)]))
        case (.file(let file), .play(_, let play)), (.file(let file), .transport(let play)):
            try await play.read(file: file.name, range: range, receive)
        case (.media, .play(_, let play)), (.media, .transport(let play)):
            try await play.read(range: range, receive)
        case (.media, .stream(let stream)), (.file, .stream(let stream)):
            try await stream.read(range: range, receive)
        }
    }

    /// The media, once its first bytes could be read.
    ///
    /// - Returns: nil for an adaptive lecture, whose playlist must be there.
    /// - Throws: `LectureError`, `CancellationError`.
    package func beginning() async throws -> ServedPart? {
        if let name = playlistNames.first {
            _ = try await part(name)
            return nil
        }
        let first = Guarded<[UInt8]>([])
        let whole = ServedPart.media(type: "", byteCount: byteCount)
        try await read(whole, range: 0..<min(4096, byteCount)) { bytes in first.withLock { $0 += bytes } }
        return .media(type: MediaKind.type(of: first.withLock(\.self)), byteCount: byteCount)
    }

    /// Why the licence ends the play; nil while it goes on.
    func refusal() async throws -> LectureError? {
        guard case .play(let manager, let play) = self,
            let reason = try await manager.licences.status(of: play.key)?.endingReason
        else { return nil }
        return LectureError(reason.code, detail: play.key.text)
    }

    /// Refuses a lecture whose gateway has rules that another player would not follow, or a watermark that it would
    /// not show. What only concerns resuming, and what is only offered, is no such rule.
    ///
    /// - Throws: `LectureError` with `playerNotPermitted`; that of the store.
    package func checkRules() async throws {
        let outline: ContentOutline
        switch self {
        case .play(let manager, let play): outline = try await manager.contents.outline(of: play.key)
        case .stream(let stream): outline = stream.outline
        // Its player follows them.
        case .transport: return
        }
        let rules = outline.playback
        let isFree =
            rules.seeking == .free && !rules.hasFixedRate && rules.section == nil && rules.limit == nil
            && rules.intro == nil
        // A play callback is asked again and again, and may end the play or permit a part of it.
        let needsPermission = if case .stream(let stream) = self { stream.needsPermission } else { false }
        guard isFree, outline.watermark == nil, !needsPermission else {
            throw LectureError(.playerNotPermitted, detail: key.text)
        }
    }

    /// Ends it, and stores what was counted.
    ///
    /// - Throws: `LectureError` of the store.
    package func end() async throws {
        switch self {
        case .play(_, let play): try await play.end()
        case .stream(let stream): await stream.end()
        case .transport: break
        }
    }
}
