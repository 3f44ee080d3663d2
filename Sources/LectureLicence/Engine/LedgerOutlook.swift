package import LectureModel

/// What a suspect ledger means for every licence in it, before anything is written: an inspection shows what the next
/// play will find.
package struct LedgerOutlook: Hashable, Sendable {
    /// Why no licence is trusted; nil where another device has only marked them as copied, and each is trusted as this
    /// device last wrote it.
    package let suspicion: LicenceSuspicion?
    /// The time from then on.
    package let time: TimeLedger

    /// Derives the outlook from a finding; nil when the ledger is not suspect.
    ///
    /// - Parameters:
    ///   - finding: the result of the ledger's inspection.
    ///   - anchor: what it was checked against.
    ///   - now: the clocks now.
    package init?(_ finding: LedgerFinding, _ anchor: LedgerAnchor?, at now: ClockReading) {
        if case .marked(let row) = finding {
            suspicion = nil
            var time = TimeLedger(row)
            time.update(at: now)
            self.time = time
            return
        }
        guard case .suspect(let doubt, let row) = finding else { return nil }
        suspicion =
            switch doubt {
            case .storeRolledBack: .rolledBack
            case .storeCopied: .copied
            case .ledgerForged, .setBack, .forwardThenBack, .neverSet: .forged
            }
        // The times of another device mean nothing here; those of a readable row of this device are a lower bound.
        var time = row.flatMap { doubt == .storeCopied ? nil : TimeLedger($0) } ?? TimeLedger(first: now)
        time.update(at: now)
        time.rise(proven: anchor?.proven, estimate: anchor?.estimate, at: now)
        self.time = time
    }

    /// Whether a person has to decide first whose the store is: another device wrote it last, and taking it over would
    /// cost a licence that plays with that device's key. Without a licence to lose there is nothing to decide.
    ///
    /// - Parameter ledger: the ledger.
    /// - Returns: whether nothing may be written.
    /// - Throws: ``LectureError``.
    package func mustBeSettled(_ ledger: any LicenceLedger) throws -> Bool {
        try suspicion == .copied && ledger.hasBelievedLicences()
    }
}
