import LectureLicence
import LectureModel
import LectureStore

/// Play time: who is charged, and by what.
extension LectureManager.Licences {
    /// Stores play time that is not limited.
    func addPlayTime(_ key: ContentKey, media: Duration, running: Duration) throws {
        try licensing.open().engine.addPlayTime(key, media: media, running: running)
    }

    /// Stores where a player resumes.
    func keepPlace(_ key: ContentKey, _ place: Duration) throws { try keepResumePoint(key, place, isPlayed: true) }

    /// Notes that a lecture is played. What cannot be noted, on a full disk or in a store that is only read, does not
    /// keep it from playing.
    func recordPlayed(_ key: ContentKey) {
        guard writer.whyReadOnly == nil, let content = try? writer.contents.contentID(key) else { return }
        try? writer.transaction { try $0.index.uses.recordPlayed(content, now: clock.now()) }
    }

    /// Charges limited play time; nil when the licence has no limit.
    func chargePlayTime(_ key: ContentKey, _ time: Duration) throws -> PlayCharge? {
        try licensing.open().engine.chargePlayTime(key, time)
    }

    /// Gives back what was charged and not used.
    func refundPlayTime(_ key: ContentKey, _ time: Duration, of grant: PlayCharge.Grant) throws {
        try licensing.open().engine.refundPlayTime(key, time, of: grant)
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
        guard try lecture(key) != nil, try writer.hasLicence(key),
            try licensing.deviceLedger().ledger.entry(key)?.record?.policy.playTimeLimit != nil
        else { return nil }
        try licensing.open()
        let duration: Duration
        if let media = try? finalizedMedia(key) {
            // The media itself cannot be edited without notice, unlike the record.
            let whole = try await MediaReader(core).playingTime(of: media, key)
            let scaled = UInt128(UInt64(clamping: whole.milliseconds)) * UInt128(byteCount)
            duration = .milliseconds(Int64(clamping: scaled / UInt128(max(1, media.total ?? byteCount))))
        } else {
            duration = PlayingTime.of(byteCount: byteCount, contained: nil, recorded: try lecture(key)?.duration)
        }
        return try licensing.deviceLedger().ledger.entry(key).flatMap {
            counter($0, byteCount: byteCount, duration: duration)
        }
    }
}
