import LectureAdaptive
package import LectureModel

/// The path of a resource below the store; no name ever comes from a server.
package enum MediaPath {
    /// `media/<bucket>/<resource><extension>`: 1,024 resources a directory, the extension from a short list. A sheet of
    /// small pictures carries its shape: `media/0000/7.160x90x10.jpg`, where the vendor's players look for it. A file
    /// of a stream is marked as one, `media/0000/8.s.ts`: it is no lecture by itself.
    ///
    /// - Parameter record: the resource.
    /// - Returns: the path relative to the store.
    package static func path(_ record: ResourceRecord) -> String {
        if record.role.isOfStream {
            let suffix = record.name.split(separator: ".").last.map(String.init) ?? ""
            let isKnown = suffix == "key" || StreamFileName.suffixes.contains(suffix)
            return "media/\(record.id.bucket)/\(record.id.value)\(streamMark).\(isKnown ? suffix : "data")"
        }
        let shape = record.role == .thumbnail && TileGeometry.isShape(record.name) ? ".\(record.name)" : ""
        return "media/\(record.id.bucket)/\(record.id.value)\(shape)\(suffix(record))"
    }

    private static func suffix(_ record: ResourceRecord) -> String {
        suffixes.first { $0.type == record.mediaType }?.suffix ?? (record.role == .media ? mediaSuffix : ".data")
    }

    /// The media type of a file that has its final name.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: `application/octet-stream` for media of another type than the names have; nil for the file of a
    ///   subtitle or a picture, and for every other name.
    package static func mediaType(ofMediaAt path: String) -> String? {
        if isOfStream(path) { return nil }
        if path.hasSuffix(mediaSuffix) { return "application/octet-stream" }
        let type = suffixes.first { path.hasSuffix($0.suffix) }?.type
        return type?.hasPrefix("video/") == true || type?.hasPrefix("audio/") == true ? type : nil
    }

    /// Whether a file belongs to a stream, by its name.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: false for a playlist, whose name does not show it.
    package static func isOfStream(_ path: String) -> Bool {
        path.split(separator: "/").last?.contains("\(streamMark).") == true
    }

    /// In the name of a file of a stream.
    private static let streamMark = ".s"
    /// Media of another type than those of ``suffixes``.
    private static let mediaSuffix = ".media"
    private static let suffixes: [(type: String, suffix: String)] = [
        ("video/mp4", ".mp4"), ("video/x-m4v", ".m4v"), ("video/webm", ".webm"),
        ("video/quicktime", ".mov"), ("video/mp2t", ".ts"), ("audio/mp4", ".m4a"), ("audio/x-m4a", ".m4a"),
        ("audio/mpeg", ".mp3"), ("image/jpeg", ".jpg"), ("image/png", ".png"), ("text/vtt", ".vtt"),
        ("application/x-subrip", ".srt"), ("application/x-sami", ".smi"),
        // What Debian's servers call files of this name.
        ("application/smil+xml", ".smi"), ("application/smil", ".smi"),
    ]
}
