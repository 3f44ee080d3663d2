import LectureLicence
import LectureModel
import LectureStore

/// Play time: who is charged, and by what.
extension LectureManager {
    /// Stores play time that is not limited.
    func addPlayTime(_ key: ContentKey, media: Duration, running: Duration) throws {
        try openLicences().engine.addPlayTime(key, media: media, running: running)
    }

    /// Charges limited play time; nil when the licence has no limit.
    func chargePlayTime(_ key: ContentKey, _ time: Duration) throws -> PlayCharge? {
        try openLicences().engine.chargePlayTime(key, time)
    }

    /// Gives back what was charged and not used.
    func refundPlayTime(_ key: ContentKey, _ time: Duration, of grant: PlayCharge.Grant) throws {
        try openLicences().engine.refundPlayTime(key, time, of: grant)
    }

    /// The counter of a play.
    ///
    /// - Parameters:
    ///   - licence: the row that the play was taken of.
    ///   - byteCount: the length of the media.
    ///   - duration: its playing time.
    ///   - counting: what counts.
    /// - Returns: nil for a licence that does not limit play time.
    func counter(
        _ licence: LicenceEntry, byteCount: UInt64, duration: Duration, counting: PlayTimeCounting = .reading
    ) -> PlayCounter? {
        guard let policy = licence.record?.policy, policy.playTimeLimit != nil else { return nil }
        let meter = PlayMeter(
            byteCount: byteCount, duration: duration, unit: policy.playTimeUnit, counting: counting)
        return PlayCounter(self, licence.key, meter, clock: clock)
    }

    /// The counter of a stream: its lecture is in the store, with a licence that limits play time.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - byteCount: the length of the stream.
    /// - Returns: nil for every other lecture.
    /// - Throws: ``LectureError``: `storeCopied`, a store's or a disk's code. `CancellationError`.
    func streamCounter(_ key: ContentKey, byteCount: UInt64) async throws -> PlayCounter? {
        guard try content(key) != nil, try writer.hasLicence(key),
            try deviceLedger().ledger.entry(key)?.record?.policy.playTimeLimit != nil
        else { return nil }
        try openLicences()
        let duration: Duration
        if let media = try? finalizedMedia(key) {
            // The media itself cannot be edited without notice, unlike the record.
            let whole = try await playingTime(of: media, key)
            let scaled = UInt128(UInt64(clamping: whole.milliseconds)) * UInt128(byteCount)
            duration = .milliseconds(Int64(clamping: scaled / UInt128(max(1, media.total ?? byteCount))))
        } else {
            duration = PlayingTime.of(byteCount: byteCount, contained: nil, recorded: try content(key)?.duration)
        }
        return try deviceLedger().ledger.entry(key).flatMap {
            counter($0, byteCount: byteCount, duration: duration)
        }
    }

    /// How long a lecture plays, from its container where possible.
    ///
    /// - Parameters:
    ///   - media: its file.
    ///   - key: the lecture.
    /// - Returns: more than zero, whatever can be read.
    /// - Throws: `CancellationError`, or ``LectureError`` of the store.
    func playingTime(of media: ResourceRecord, _ key: ContentKey) async throws -> Duration {
        let finalized = FinalizedMedia(resource: media, cipher: try cipher(for: media, of: key))
        let total = media.total ?? 0
        var contained: Duration?
        do {
            contained = try await containedTime(finalized, key, total)
        } catch let error as LectureError where error.code == .damaged || error.code == .readFile {
            // What can be read of a damaged lecture may still be played.
        }
        return PlayingTime.of(byteCount: total, contained: contained, recorded: try content(key)?.duration)
    }

    /// Reads more at once than the search needs, since a chunk is checked as a whole for each read.
    private nonisolated func containedTime(
        _ media: FinalizedMedia, _ key: ContentKey, _ total: UInt64
    ) async throws -> Duration? {
        var search = MediaDurationSearch(byteCount: total)
        var window: (start: UInt64, bytes: [UInt8]) = (0, [])
        while true {
            switch search.demand {
            case .unknown: return nil
            case .found(let time): return time
            case .bytes(let range):
                if range.lowerBound < window.start || range.upperBound > window.start + UInt64(window.bytes.count) {
                    let end = min(total, range.lowerBound + Self.windowBytes)
                    let read = Guarded<[UInt8]>([])
                    try await self.read(
                        media, key, range: Int64(clamping: range.lowerBound)..<Int64(clamping: end)
                    ) { bytes in read.withLock { $0 += bytes } }
                    window = (range.lowerBound, read.withLock { $0 })
                }
                let start = Int(range.lowerBound - window.start)
                search.take(Array(window.bytes[start..<(start + range.count)]))
            }
        }
    }

    private static let windowBytes: UInt64 = 65_536
}
