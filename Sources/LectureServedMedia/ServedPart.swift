package import LectureKit
import LectureModel

/// What a request of a play reads: the media, or one of an adaptive lecture's playlists and files.
package enum ServedPart: Sendable, Hashable {
    /// The media, which has a type and a length.
    case media(type: String, byteCount: Int64)
    /// A playlist as it is now.
    case playlist([UInt8])
    /// A segment, an initialisation section or a key.
    case file(StreamFile)

    /// Its length in bytes.
    package var byteCount: Int64 {
        switch self {
        case .media(_, let count): count
        case .playlist(let text): Int64(text.count)
        case .file(let file): file.byteCount
        }
    }

    /// Whether the play is counted before a byte of it is sent. A playlist has no media.
    package var isCounted: Bool { if case .playlist = self { false } else { true } }

    /// Its media type.
    package var mediaType: String {
        switch self {
        case .media(let type, _): type
        case .playlist: "application/vnd.apple.mpegurl"
        case .file(let file): Self.type(ofFile: file.name)
        }
    }

    /// The media type of a stream's file (RFC 8216 sections 3.1 to 3.5 and 10).
    ///
    /// - Parameter name: `12.ts`, for instance.
    /// - Returns: the type; `application/octet-stream` for a key, and for what is unknown.
    package static func type(ofFile name: String) -> String {
        switch name.split(separator: ".").last ?? "" {
        case "ts", "m2ts": "video/mp2t"
        case "mp4", "m4s", "m4v", "cmfv": "video/mp4"
        case "m4a", "cmfa": "audio/mp4"
        case "aac": "audio/aac"
        case "ac3": "audio/ac3"
        case "ec3": "audio/eac3"
        case "mp3": "audio/mpeg"
        case "vtt", "webvtt": "text/vtt"
        case "ttml": "application/ttml+xml"
        case "cmft": "application/mp4"
        default: "application/octet-stream"
        }
    }
}
