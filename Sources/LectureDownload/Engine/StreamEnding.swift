import LectureAdaptive
import LectureEngine
import LectureFormats
import LectureModel

/// What an adaptive lecture is when nothing more of it is fetched.
enum StreamEnding {
    /// Whole: its playlists are complete.
    case whole
    /// The indexes of its files are being read.
    case open
    /// Files are missing.
    case lacking(LectureError)

    /// How many missing files an error names.
    private static let namedFiles = 5

    /// Its playlists as stored, with what is open in them; nil without a manifest, since only that leaves something open.
    private static func openPlaylists(
        _ item: ItemWork, _ step: Step<DownloadMachine>
    ) throws -> OpenPlaylists? {
        guard let version = item.version, let type = item.media?.record.mediaType.flatMap({ MediaType($0) }),
            type.isManifest,
            item.stream.isOpen
        else { return nil }
        return OpenPlaylists(try step.store.index.adaptive.playlists(version))
    }

    /// Completes it, or fails it for want of files; nothing while the indexes of its files are being read.
    static func of(
        _ item: inout ItemWork, _ settings: DownloadSettings, _ step: inout Step<DownloadMachine>
    ) throws -> StreamEnding {
        guard item.stream.backlog != nil, let version = item.version else { return .whole }
        if item.stream.isReadingIndexes { return .open }
        let open = try openPlaylists(item, step)
        let rows = step.store.index.adaptive
        let optional = open?.optional ?? []
        let absent = Set(
            try rows.files(version, named: optional).filter { $0.state == .failed }.map(\.name))
        if let error = try missingFiles(of: item, settings, besides: absent, step) { return .lacking(error) }
        guard let open, !open.indexes.isEmpty || !absent.isEmpty else { return .whole }
        if item.stream.indexes == nil {
            let reads = try indexReads(of: item, open, version, step)
            item.stream.indexes = [:]
            if !reads.isEmpty {
                item.stream.isReadingIndexes = true
                step.effects.append(.readIndexes(item.id, version, reads))
                return .open
            }
        }
        try rows.setPlaylists(item.lease, version, open.closed(item.stream.indexes ?? [:], missing: absent))
        return .whole
    }

    private static func indexReads(
        of item: ItemWork, _ open: OpenPlaylists, _ version: VersionID, _ step: Step<DownloadMachine>
    ) throws -> [IndexRead] {
        let names = Set(open.indexes.map(\.file))
        var records: [String: ResourceRecord] = [:]
        for record in try step.store.index.adaptive.files(version, named: names) where record.state == .finalized {
            records[record.name] = record
        }
        var reads: [IndexRead] = []
        for index in open.indexes {
            guard let record = records[index.file] else { continue }
            var file = try ResourceWork(restoring: record, under: item.lease, step)
            // Without its cipher a sealed file stays one segment.
            guard try file.findCipher(for: item.record, step) == nil else { continue }
            let proofs = try step.store.index.resources.chunks(record.id)
            if let read = IndexRead(index, of: record, file.cipher, proofs: proofs) { reads.append(read) }
        }
        return reads
    }

    /// What keeps it from being complete: files that their servers do not have.
    ///
    /// - Parameters:
    ///   - item: the lecture.
    ///   - settings: what is kept where the request selects nothing.
    ///   - absent: the names of files that do not exist, which is no fault.
    ///   - step: where the rows are.
    /// - Returns: an error that names the first of them; nil when there are none, or gaps are accepted.
    /// - Throws: what the store throws.
    private static func missingFiles(
        of item: ItemWork, _ settings: DownloadSettings, besides absent: Set<String>, _ step: Step<DownloadMachine>
    ) throws -> LectureError? {
        guard let backlog = item.stream.backlog, !item.selection(settings).allowsGaps, let version = item.version else {
            return nil
        }
        let missing = try step.store.index.adaptive.missing(version, limit: Self.namedFiles + absent.count)
        let count = missing.count - absent.count
        guard count > 0 else { return nil }
        let first = missing.first.filter { !absent.contains($0.name) }.prefix(Self.namedFiles)
        let more = count > first.count ? ", …" : ""
        return LectureError(
            .segmentsMissing,
            cause: "\(count) of \(backlog.count): \(first.map(\.name).joined(separator: ", "))\(more)")
    }
}
