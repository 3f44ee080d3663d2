import LectureAdaptive
import LectureFormats
import LectureModel

/// What an item knows of its streams, if its media is a playlist.
///
///     no playlists ── finalized ──▶ being read ── more are needed ──▶ no playlists
///                                      │ all were read
///                                      ▼
///                                  files known ── a URL is lost ──▶ playlists fetched again ──▶ being read
///                                      ▲                                                           │
///                                      └────────────── the same files, with new URLs ──────────────┘
///
/// The playlists of a live stream that is captured are fetched again and again while files are: see ``CaptureWork``.
///
/// A manifest's files may have segment indexes: these are read when all files are there, to complete the playlists.
struct StreamWork: Sendable {
    /// Its files that are not in memory; nil while they are not known.
    var backlog: Backlog?
    /// Whether the playlists are being read from the disk.
    var isReading = false
    /// Whether the playlists are fetched again, for new URLs of the same files.
    var isRenewing = false
    /// Whether that brought the same URLs.
    var isRenewalUseless = false
    /// Whether the indexes of its files are being read from the disk.
    var isReadingIndexes = false
    /// The indexes of its files, by the names of the files; nil before they were read.
    var indexes: [String: OpenPlaylists.IndexBytes]?
    /// Which of its files are encrypted, and what inspecting them has shown.
    var inspection = SegmentInspection()

    /// The capture that goes on; nil for a recorded lecture, and when the capture is over.
    var capture: CaptureWork?
    /// Whether it is a capture, which may be over: its source has other files by now.
    var isCapture = false

    /// Whether playlists of a capture are to be fetched, or are fetched and to be read.
    func wantsPlaylists(_ now: BootInstant) -> Bool {
        guard let capture else { return false }
        return capture.isLoading ? !isReading : !capture.due(now).isEmpty
    }

    /// Whether its files may be fetched.
    var isOpen: Bool { backlog != nil && !isRenewing }
    /// Whether nothing more will come from the store.
    var isDrained: Bool { backlog?.isEmpty ?? true }

    /// Counts the files that are neither in memory nor finished.
    ///
    /// - Parameter files: those in memory.
    /// - Returns: 0 while the files are not known.
    func waiting(besides files: [ResourceWork]) -> Int {
        guard let backlog else { return 0 }
        return max(0, backlog.count - backlog.finished.files - files.ofStreams.count { _ in true })
    }

    /// Whether the lengths of all its files are known, but of those that are missing.
    ///
    /// - Parameter files: those in memory.
    /// - Returns: false while the files are not known.
    func knowsLengths(of files: [ResourceWork]) -> Bool {
        isOpen && capture == nil && waiting(besides: files) == 0
            && files.ofStreams.allSatisfy { files[$0].record.total != nil || files[$0].machine.isOver }
    }

    /// Whether files may leave the memory, and others come from the store.
    ///
    /// - Parameter files: those in memory.
    /// - Returns: false while the files are not known.
    func needsRefill(_ files: [ResourceWork]) -> Bool {
        guard isOpen, let backlog else { return false }
        if backlog.isEmpty { return files.ofStreams.count { StreamActions.isDone(files[$0]) } > Backlog.refill }
        return files.ofStreams.count { !StreamActions.isDone(files[$0]) } < Backlog.refill
    }
}

/// The files of an adaptive lecture that are not in memory: there may be a million, of which few are in work.
struct Backlog: Sendable {
    /// How many files are in memory at most.
    static let window = 64
    /// How many unfinished ones are left in memory when more are taken from the store.
    static let refill = 32

    /// The position of the first file.
    let first: Int
    /// How many files the streams have.
    private(set) var count: Int
    /// The position of the last file that was taken from the store.
    private(set) var cursor = -1
    /// Whether the store has no more of them.
    private(set) var isEmpty = false
    /// What the files have that are finished and not in memory.
    private(set) var finished: StreamTotals
    /// Files whose URL was lost once. If it is lost again after it was renewed, the server does not have them.
    private var lost: Set<ResourceID> = []

    /// None is in memory.
    ///
    /// - Parameters:
    ///   - all: what all files have.
    ///   - finished: what the finished ones have.
    ///   - first: the position of the first file.
    init(all: StreamTotals, finished: StreamTotals, first: Int) {
        (count, self.finished, self.first) = (all.files, finished, first)
    }

    /// Files were added to the store.
    mutating func added(_ files: Int) {
        count += files
        if files > 0 { isEmpty = false }
    }

    /// Some were taken from the store.
    ///
    /// - Parameters:
    ///   - records: in their order.
    ///   - limit: how many were asked for.
    mutating func took(_ records: [ResourceRecord], limit: Int) {
        if let last = records.last { cursor = last.position }
        isEmpty = records.count < limit
    }

    /// Files leave the memory: those that have their final names, and those that their servers do not have.
    mutating func dropped(_ records: [ResourceRecord]) {
        for record in records {
            finished.files += 1
            guard record.state == .finalized, let total = record.total else { continue }
            finished.chunks += record.grid.count(total: total)
            finished.bytes += Int64(clamping: total)
        }
    }

    /// The URL of a file is lost.
    ///
    /// - Parameter file: its row.
    /// - Returns: whether that is the first time.
    mutating func loses(_ file: ResourceID) -> Bool { lost.insert(file).inserted }

    /// Whether the URL of a file was lost.
    func hasLost(_ file: ResourceID) -> Bool { lost.contains(file) }
}

/// The files of streams in memory.
extension [ResourceWork] {
    /// The playlists, in the order of their positions: that of the source is the first.
    var playlists: [ResourceWork] {
        filter { $0.record.role.namesFiles }
            .sorted { $0.record.position < $1.record.position }
    }

    /// The position after those in memory.
    var nextPosition: Int { (map(\.record.position).max() ?? -1) + 1 }

    /// Where those of streams are. Places, since a step asks this often, and a copy of a file is dear.
    var ofStreams: some Sequence<Int> { indices.lazy.filter { self[$0].record.role.isOfStream } }

    /// How many of them have a transfer.
    var runningOfStreams: Int { ofStreams.count { !self[$0].sinks.isEmpty } }

    /// Removes those that have nothing more to do.
    mutating func takeFinishedOfStreams() -> [ResourceWork] {
        let done = filter { $0.record.role.isOfStream && StreamActions.isDone($0) }
        if !done.isEmpty { removeAll { $0.record.role.isOfStream && StreamActions.isDone($0) } }
        return done
    }
}

extension ResourceRecord {
    /// Whether it is a playlist that names other files.
    var isPlaylist: Bool {
        guard role.namesFiles else { return false }
        return mediaType.flatMap { MediaType($0) }?.isPlaylist ?? false
    }
}
