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
            let known = streamSuffixes.first { record.name.hasSuffix($0) }
            return "media/\(record.id.bucket)/\(record.id.value)\(streamMark)\(known ?? ".data")"
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
        if path.split(separator: "/").last?.contains("\(streamMark).") == true { return nil }
        if path.hasSuffix(mediaSuffix) { return "application/octet-stream" }
        let type = suffixes.first { path.hasSuffix($0.suffix) }?.type
        return type?.hasPrefix("video/") == true || type?.hasPrefix("audio/") == true ? type : nil
    }

    /// In the name of a file of a stream.
    private static let streamMark = ".s"
    /// What players that read files expect at the end of the names of such files.
    private static let streamSuffixes = [
        ".ts", ".m2ts", ".mp4", ".m4s", ".m4a", ".m4v", ".cmfv", ".cmfa", ".cmft", ".aac", ".ac3", ".ec3", ".mp3",
        ".vtt",
        ".webvtt", ".ttml", ".key",
    ]

    /// Media of another type than those of ``suffixes``.
    private static let mediaSuffix = ".media"
    private static let suffixes: [(type: String, suffix: String)] = [
        ("video/mp4", ".mp4"), ("video/x-m4v", ".m4v"), ("video/webm", ".webm"),
        ("video/quicktime", ".mov"), ("video/mp2t", ".ts"), ("audio/mp4", ".m4a"), ("audio/x-m4a", ".m4a"),
        ("audio/mpeg", ".mp3"), ("image/jpeg", ".jpg"), ("image/png", ".png"), ("text/vtt", ".vtt"),
        ("application/x-subrip", ".srt"),
    ]
}
