package import LectureModel

/// What downloads ask of licences. These run inside the download engine's transactions, which may still be rolled back:
/// their rows of the chain are not anchored here, but by the engine's next step, with a row of its own.
extension LicenceEngine: DownloadLicensing {
    /// An engine that is open may note everything: ``open(accepting:)`` has refused a store of another device.
    package func refusal(of source: LicenceSource?, of key: ContentKey) throws -> LectureError? { nil }

    /// Notes what a descriptor says of the licence.
    package func noteSource(_ source: LicenceSource?, of key: ContentKey) throws {
        let old = try ledger.entry(key)
        guard let source else {
            guard let old, old.record == nil else { return }
            try ledger.forget(key)
            return try appendInside()
        }
        guard old?.source != source else { return }
        var entry = old ?? LicenceEntry(key: key, source: source)
        entry.source = source
        try ledger.store(entry)
        try appendInside()
    }

    /// How the licence stands. One that has ended still lets its media be fetched: whether it plays is decided by the
    /// verdict, and a server may renew it. One that is not believed is granted anew.
    package func standing(of key: ContentKey) throws -> GrantStanding {
        guard let entry = try ledger.entry(key) else { return .unneeded }
        guard let record = entry.record, !record.isDeleted, entry.suspicion == nil else { return .due }
        return .granted
    }

    /// Asks the callback (kind 1).
    package func requestGrant(_ content: ContentID, key: ContentKey) { grant(content, key: key) }

    /// The media is complete: the callback is to be told (kind 2).
    package func completed(_ key: ContentKey, now: Timestamp) throws {
        guard var entry = try ledger.entry(key), entry.record?.form == .callback, !entry.source.callbackURL.isEmpty
        else { return }
        try ledger.addDebt(key, kind: CallbackAnswer.Kind.completion.rawValue, now: now)
        work.debtsAt = nil
        inbox.post(.poked)
        guard settings.isStrict, !entry.owesCompletion else { return }
        entry.owesCompletion = true
        try ledger.store(entry)
        try appendInside()
    }

    private func appendInside() throws {
        _ = try ledger.append(try turn().time.row, source: .clocks)
        work.mustAppend = true
        inbox.post(.poked)
    }
}
