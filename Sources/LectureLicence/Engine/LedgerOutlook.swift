package import LectureModel

/// What a suspect ledger means for every licence in it, before anything is written: what a look shows is what the next
/// play will find.
package struct LedgerOutlook: Hashable, Sendable {
    /// Why no licence is believed.
    package let suspicion: LicenceSuspicion
    /// The time from then on.
    package let time: TimeLedger

    /// Draws the conclusions from a finding; nil when nothing speaks against the ledger.
    ///
    /// - Parameters:
    ///   - finding: what the ledger was found to be.
    ///   - anchor: what it was held against.
    ///   - now: the clocks now.
    package init?(_ finding: LedgerFinding, _ anchor: LedgerAnchor?, at now: ClockReading) {
        guard case .suspect(let doubt, let row) = finding else { return nil }
        suspicion =
            switch doubt {
            case .storeRolledBack: .rolledBack
            case .storeCopied: .copied
            case .ledgerForged, .setBack, .forwardThenBack, .neverSet: .forged
            }
        // The times of another device say nothing here; those of an own row that can be read are a floor.
        var time = row.flatMap { doubt == .storeCopied ? nil : TimeLedger($0) } ?? TimeLedger(first: now)
        time.look(at: now)
        time.rise(proven: anchor?.proven, estimate: anchor?.estimate, at: now)
        self.time = time
    }

    /// Whether a person has to say first whose the store is: another device has written it last, and taking it over
    /// would cost a licence that plays with that device's key. Where none is left that could be lost, there is nothing
    /// to be decided.
    ///
    /// - Parameter ledger: the ledger.
    /// - Returns: whether nothing may be written.
    /// - Throws: ``LectureError``.
    package func mustBeSettled(_ ledger: any LicenceLedger) throws -> Bool {
        try suspicion == .copied && ledger.hasBelievedLicences()
    }
}
