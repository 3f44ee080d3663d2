package import LectureModel

/// Verdicts, and the accounting of plays.
extension LicenceEngine {
    /// Judges whether a lecture may be played now.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - isForPlay: whether it is about to be played: then an end that has passed is recorded.
    /// - Returns: the verdict.
    /// - Throws: ``LectureError``: a store's code.
    package func judge(_ key: ContentKey, forPlay isForPlay: Bool) throws -> LicenceVerdict {
        let turn = try turn()
        let (entry, verdict) = try judged(key, turn)
        guard isForPlay, let entry, hasSeenEnd(entry, turn) else { return verdict }
        let anchor = try writing { turn in try rememberEnd(key, &turn) }
        keepSoon(anchor)
        return verdict
    }

    /// Takes a play: judges, counts, and stores the anchor, all of it durably before it returns. If the anchor cannot
    /// be stored, the play is given back.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: the licence from now on; a bare entry without a record for a lecture that needs none.
    /// - Throws: ``LectureError`` with the code of the first reason against it, `anchorUnwritable`, or a store's code.
    package func takePlay(_ key: ContentKey) throws -> LicenceEntry {
        var taken: LicenceEntry?
        var verdict = LicenceVerdict.judge(.unlicensed)
        let anchor = try writing { turn in
            let (entry, judged) = try judged(key, turn)
            verdict = judged
            guard judged.isPlayable, var entry, var record = entry.record else {
                return try rememberEnd(key, &turn)
            }
            record.countUsed += 1
            entry.record = record
            try store(entry, &turn)
            taken = entry
        }
        if let reason = verdict.reasons.first {
            keepSoon(anchor)
            throw LectureError(reason.code)
        }
        work.permits[key] = nil
        // Waits for the anchor: without it, an older store could be put back after a kill.
        if let anchor { try keep(anchor, of: key) { $0.countUsed = max(0, $0.countUsed - 1) } }
        return taken ?? LicenceEntry(key: key, source: LicenceSource())
    }

    /// Stores the anchor of what was taken of a licence, or gives it back.
    func keep(
        _ anchor: LedgerAnchor, of key: ContentKey, orGiveBack change: (inout LicenceRecord) -> Void
    ) throws {
        do throws(LectureError) {
            try ports.anchors.keep(anchor, of: settings.store)
        } catch {
            let next = try writing { turn in
                guard var entry = try ledger.entry(key), var record = entry.record else { return }
                change(&record)
                entry.record = record
                try store(entry, &turn)
            }
            keepSoon(next)
            throw LectureError(.anchorUnwritable, detail: error.detail, cause: error.message)
        }
    }

    /// Adds play time that is not limited, in the unit of the policy.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - media: how much of the lecture was played.
    ///   - running: how long that took.
    /// - Returns: how much is left; nil for no limit.
    /// - Throws: ``LectureError``: a store's code.
    @discardableResult
    package func addPlayTime(_ key: ContentKey, media: Duration, running: Duration) throws -> Duration? {
        var left: Duration?
        let anchor = try writing { turn in
            guard var entry = try ledger.entry(key), var record = entry.record else { return }
            let time = record.policy.playTimeUnit == .media ? media : running
            record.playTimeUsed += max(.zero, time)
            entry.record = record
            try store(entry, &turn)
            left = record.playTimeLeft
        }
        keepSoon(anchor)
        return left
    }

    // MARK: Parts

    func judged(_ key: ContentKey, _ turn: Turn) throws -> (entry: LicenceEntry?, verdict: LicenceVerdict) {
        let entry = try ledger.entry(key)
        let content = try ports.contents.content(key)
        // A deleted row must not make a licence unnecessary: the purpose of the content key decides.
        let isSealed = try content.flatMap { try ledger.contentKey($0.id) }?.purpose == .licensed
        var facts = LicenceVerdict.Facts(
            licence: entry?.record, isLicensed: entry != nil || isSealed,
            isMediaComplete: content?.isComplete ?? false, time: turn.time.time, deviceThumbprint: settings.device,
            isCheckedForThisPlay: work.permits[key].map { $0 > turn.boot } ?? false)
        facts.suspicion = entry?.suspicion
        facts.isSealedElsewhere = content?.isSealedElsewhere ?? false
        facts.isGrantedElsewhere = entry?.isGrantedElsewhere(content?.grantingKeys) ?? false
        facts.owesCompletion = settings.isStrict && entry?.owesCompletion ?? false
        // Lectures without a licence are played without a record.
        facts.isAnchorUnwritable = entry?.record != nil && ports.anchors.obstacle(of: settings.store) != nil
        return (entry, LicenceVerdict.judge(facts))
    }

    private func hasSeenEnd(_ entry: LicenceEntry, _ turn: Turn) -> Bool {
        guard let record = entry.record, !record.wasSeenExpired, case .known(let now) = turn.time.time,
            let end = record.policy.expiresAt
        else { return false }
        return now >= end
    }

    private func rememberEnd(_ key: ContentKey, _ turn: inout Turn) throws {
        guard var entry = try ledger.entry(key), hasSeenEnd(entry, turn) else { return }
        entry.record?.wasSeenExpired = true
        try store(entry, &turn)
    }

    func keepSoon(_ anchor: LedgerAnchor?) {
        guard let anchor else { return }
        anchorDue = anchor
        if let due = takeAnchor(boot: ports.clock.boot()) { LicenceEffect.keepAnchor(due).perform(for: self) }
    }
}

extension LicenceVerdict.Facts {
    /// A lecture that needs no licence.
    fileprivate static var unlicensed: Self {
        Self(
            licence: nil, isLicensed: false, isMediaComplete: true, time: .doubtful(noEarlierThan: nil, .neverSet),
            deviceThumbprint: [])
    }
}
