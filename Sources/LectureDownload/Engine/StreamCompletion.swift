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
}

/// Completes the playlists of an adaptive lecture when all its files are there, or the server does not have them.
struct StreamCompletion {
    /// How many missing files an error names.
    private static let namedFiles = 5

    private let item: ItemRecord
    private let lease: ContentLease
    private let version: VersionID
    /// How many files its streams have.
    private let count: Int
    /// Whether a manifest led to them: only that leaves something open.
    private let isManifest: Bool

    /// Whether it is a capture of a live stream.
    private let isCapture: Bool
    /// Whether it is complete without the files that its server does not have.
    private let allowsGaps: Bool

    /// Of a lecture in work; nil for one that is not adaptive.
    init?(of item: ItemWork, _ settings: DownloadSettings) {
        guard let backlog = item.stream.backlog, let version = item.version else { return nil }
        (self.item, lease, self.version, count) = (item.record, item.lease, version, backlog.count)
        isCapture = item.stream.isCapture
        allowsGaps = item.selection(settings).allowsGaps
        isManifest = item.media?.record.mediaType.flatMap { MediaType($0) }?.isManifest ?? false
    }

    /// Completes the playlists, or asks for what the files have to show first.
    ///
    /// - Parameters:
    ///   - stream: what the lecture knows of its streams.
    ///   - step: where the rows are.
    /// - Returns: what the lecture is now.
    /// - Throws: what the store throws.
    func ending(_ stream: inout StreamWork, _ step: inout Step<DownloadMachine>) throws -> StreamEnding {
        if stream.isReadingIndexes { return .open }
        let rows = step.store.index.adaptive
        let open = OpenPlaylists(isManifest ? try rows.playlists(version) : [])
        let absent = Set(
            try rows.files(version, named: open.optional).filter { $0.state == .failed }.map(\.name))
        let lacking = try capturedGaps(step) ?? missingFiles(besides: absent, stream.inspection.faults, step)
        if let lacking { return .lacking(lacking) }
        guard !open.indexes.isEmpty || !absent.isEmpty else { return .whole }
        if stream.indexes == nil {
            let reads = try indexReads(open, step)
            stream.indexes = [:]
            if !reads.isEmpty {
                stream.isReadingIndexes = true
                step.effects.append(.readIndexes(item.id, version, reads))
                return .open
            }
        }
        try rows.setPlaylists(lease, version, open.closed(stream.indexes ?? [:], missing: absent))
        return .whole
    }

    /// What keeps a capture from being complete: segments that had left the server before they were listed or fetched.
    ///
    /// - Parameter step: where the rows are.
    /// - Returns: an error with the times of the gaps; nil when no segment was missed, or gaps are accepted.
    /// - Throws: what the store throws.
    private func capturedGaps(_ step: Step<DownloadMachine>) throws -> LectureError? {
        guard isCapture, !allowsGaps else { return nil }
        let rows = step.store.index.adaptive
        let missing = Set(try rows.missing(version, limit: .max).first.map(\.name))
        let gaps = CaptureGaps(try rows.playlists(version), missing: missing)
        return gaps.isEmpty ? nil : LectureError(.captureGaps, cause: gaps.text)
    }

    private func indexReads(_ open: OpenPlaylists, _ step: Step<DownloadMachine>) throws -> [IndexRead] {
        let names = Set(open.indexes.map(\.file))
        var records: [String: ResourceRecord] = [:]
        for record in try step.store.index.adaptive.files(version, named: names) where record.state == .finalized {
            records[record.name] = record
        }
        var reads: [IndexRead] = []
        for index in open.indexes {
            guard let record = records[index.file] else { continue }
            var file = try ResourceWork(restoring: record, under: lease, step)
            // Without its cipher a sealed file stays one segment.
            guard try file.findCipher(for: item, step) == nil else { continue }
            let proofs = try step.store.index.resources.chunks(record.id)
            if let read = IndexRead(index, of: record, file.cipher, proofs: proofs) { reads.append(read) }
        }
        return reads
    }

    /// What keeps the lecture from being complete: files that their servers do not have.
    ///
    /// - Parameters:
    ///   - absent: the names of files that do not exist, which is no fault.
    ///   - faults: why others were refused, by their names.
    ///   - step: where the rows are.
    /// - Returns: an error that names the first of them; nil when there are none, or gaps are accepted.
    /// - Throws: what the store throws.
    private func missingFiles(
        besides absent: Set<String>, _ faults: [String: SegmentFault], _ step: Step<DownloadMachine>
    ) throws -> LectureError? {
        guard !allowsGaps else { return nil }
        let missing = try step.store.index.adaptive.missing(version, limit: Self.namedFiles + absent.count)
        let number = missing.count - absent.count
        guard number > 0 else { return nil }
        let first = missing.first.filter { !absent.contains($0.name) }.prefix(Self.namedFiles)
        let names = first.map { file in faults[file.name].map { "\(file.name) (\($0.reason))" } ?? file.name }
        let more = number > first.count ? ", …" : ""
        return LectureError(
            .segmentsMissing, cause: "\(number) of \(count): \(names.joined(separator: ", "))\(more)")
    }
}
