import LectureFiles
public import LectureModel
import LectureStore

/// A subtitle file that was kept with a lecture.
public struct KeptSubtitle: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its language, BCP 47; empty when unknown.
    public let language: String
    /// Whether it was machine-generated.
    public let isMachineMade: Bool
    /// The file: WebVTT, SubRip, SAMI or another form, in any character set.
    public let bytes: [UInt8]
}

extension LectureManager.Contents {
    /// The subtitles that were kept with a lecture, verified and unsealed. Those of an adaptive lecture's own
    /// renditions (WebVTT) are put together into one file each.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: in the order of its description, then of its playlist; those that could not be downloaded are left
    ///   out.
    /// - Throws: ``LectureError``: `unknownContent`, `damaged`, `sealedElsewhere`, a store's code. `CancellationError`
    ///   when the task is cancelled.
    public func subtitles(of key: ContentKey) async throws -> [KeptSubtitle] {
        let described = try outline(of: key).subtitles
        let files = try queries.streams.headResources(key).filter { $0.role == .subtitle && $0.state == .finalized }
        var found: [KeptSubtitle] = []
        for file in files {
            let media = FinalizedMedia(resource: file, cipher: try cipher(for: file, of: key))
            let bytes = Guarded<[UInt8]>([])
            try await MediaReader(core).read(media, key, range: nil) { piece in bytes.withLock { $0 += piece } }
            // A file has the name of its description, or its language where that has none.
            let entry = described.first { ($0.name.isEmpty ? $0.language : $0.name) == file.name }
            found.append(
                KeptSubtitle(
                    name: entry?.name ?? file.name, language: entry?.language ?? "",
                    isMachineMade: entry?.isMachineMade ?? false, bytes: bytes.withLock(\.self)))
        }
        guard let version = try queries.streams.streamVersion(key) else { return found }
        return try await found + AdaptiveShelf(core, key, version).subtitles()
    }
}
