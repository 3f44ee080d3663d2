import LectureKit

/// What is served: a kept lecture under its licence, or a stream.
enum ServedMedia: Sendable {
    case play(LectureManager, Play)
    case stream(LectureStream)

    /// Asks the licence, or the server of a stream. Nothing is counted.
    static func open(
        _ media: LoopbackMedia, _ manager: LectureManager, patience: Duration
    ) async throws -> Self {
        switch media {
        case .lecture(let key):
            // Where play time is limited, the bytes count: other players report no positions.
            .play(manager, try await manager.licences.preparePlay(key, patience: patience, counting: .reading))
        case .stream(let url): .stream(try await manager.streams.open(url))
        }
    }

    var key: ContentKey {
        switch self {
        case .play(_, let play): play.key
        case .stream(let stream): stream.key
        }
    }

    var byteCount: Int64 {
        switch self {
        case .play(_, let play): play.byteCount
        case .stream(let stream): stream.byteCount
        }
    }

    /// Counts the play. A stream was permitted by its server, which has sent it.
    func start() async throws {
        if case .play(_, let play) = self { try await play.start() }
    }

    func read(range: Range<Int64>, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        switch self {
        case .play(_, let play): try await play.read(range: range, receive)
        case .stream(let stream): try await stream.read(range: range, receive)
        }
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
    func checkRules() async throws {
        let outline: ContentOutline
        switch self {
        case .play(let manager, let play): outline = try await manager.contents.outline(of: play.key)
        case .stream(let stream): outline = stream.outline
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

    func end() async throws {
        switch self {
        case .play(_, let play): try await play.end()
        case .stream(let stream): await stream.end()
        }
    }
}

extension LectureError {
    /// An error of a read, as one of the catalogue.
    static func known(_ error: any Error) -> LectureError {
        switch error {
        case let error as LectureError: error
        case is CancellationError: LectureError(.cancelled)
        default: LectureError(.bug, cause: "\(type(of: error))")
        }
    }
}
