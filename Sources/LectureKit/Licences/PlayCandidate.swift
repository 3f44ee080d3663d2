import LectureModel
import LectureStore

/// What a play would read, before its licence is asked.
enum PlayCandidate {
    /// One file.
    case file(ResourceRecord)
    /// An adaptive lecture.
    case streams(AdaptiveShelf)

    /// Opens it for a play.
    ///
    /// - Parameters:
    ///   - core: where its key is.
    ///   - key: the lecture.
    /// - Returns: the media of the play.
    /// - Throws: ``LectureError``: `sealedElsewhere`.
    func opened(in core: some CorePart, _ key: ContentKey) throws -> PlayedMedia {
        switch self {
        case .file(let media): .file(FinalizedMedia(resource: media, cipher: try core.cipher(for: media, of: key)))
        case .streams(let shelf): .streams(shelf)
        }
    }

    /// How many bytes it has, of an adaptive lecture those of its segments.
    func byteCount(in core: some CorePart) throws -> UInt64 {
        switch self {
        case .file(let media): media.total ?? 0
        case .streams(let shelf): try core.queries.streams.segmentBytes(shelf.version.id)
        }
    }
}
