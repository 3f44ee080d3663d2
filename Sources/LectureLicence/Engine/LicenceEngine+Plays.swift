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
        let (verdict, hasSeenEnd) = try looking { now in
            let (entry, verdict) = try now.judged(key, isChecked: isPermitted(key, at: now.boot))
            return (verdict, entry.map { now.hasSeenEnd($0) } ?? false)
        }
        guard isForPlay, hasSeenEnd else { return verdict }
        keepSoon(try writing { try $0.rememberEnd(key) })
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
        let anchor = try writing { transaction in
            let isChecked = isPermitted(key, at: transaction.boot)
            let (entry, judged) = try transaction.judged(key, isChecked: isChecked)
            verdict = judged
            guard judged.isPlayable, var entry, var record = entry.record else {
                return try transaction.rememberEnd(key)
            }
            record.countUsed += 1
            entry.record = record
            try transaction.keep(entry)
            taken = entry
        }
        if let reason = verdict.reasons.first {
            keepSoon(anchor)
            throw LectureError(reason.code)
        }
        usePermit(key)
        // Waits for the anchor: without it, an older store could be put back after a kill.
        if let anchor { try keep(anchor, of: key) { $0.countUsed = max(0, $0.countUsed - 1) } }
        return taken ?? LicenceEntry(key: key, source: LicenceSource())
    }

    /// Stores the anchor of what was taken of a licence, or gives it back.
    func keep(
        _ anchor: LedgerAnchor, of key: ContentKey, orGiveBack change: (inout LicenceRecord) -> Void
    ) throws {
        do throws(LectureError) {
            try ports.anchors.keep(anchor, of: environment.id)
        } catch {
            let next = try writing { transaction in
                guard var entry = try transaction.ledger.entry(key), var record = entry.record else { return }
                change(&record)
                entry.record = record
                try transaction.keep(entry)
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
        let anchor = try writing { transaction in
            guard var entry = try transaction.ledger.entry(key), var record = entry.record else { return }
            let time = record.policy.playTimeUnit == .media ? media : running
            record.playTimeUsed += max(.zero, time)
            entry.record = record
            try transaction.keep(entry)
            left = record.playTimeLeft
        }
        keepSoon(anchor)
        return left
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
