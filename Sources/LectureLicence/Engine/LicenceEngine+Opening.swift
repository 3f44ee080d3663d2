import LectureEngine
package import LectureModel

/// Checks the store against the anchor outside it, and reads the trusted time.
extension LicenceEngine {
    /// Checks the ledger against its anchor. When it is not the one that this device last wrote, every licence becomes
    /// suspect, and the time continues from the anchor's. Blocks; called once, before anything else.
    ///
    /// A store that another device wrote last is left unchanged if that would cost a right: it may have been moved
    /// without its key, and with its key everything plays. Where that device has only marked the licences as copied,
    /// the marks are taken back.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: the finding.
    /// - Throws: ``LectureError``: `storeCopied` for a store that must be settled first; a store's or a disk's code.
    @discardableResult
    package func open(accepting: Bool = false) throws -> LedgerFinding {
        let anchor = try ports.anchors.anchor(of: environment.id)
        let finding = try ports.store.read { try $0.licences.inspect(against: anchor) }
        guard let outlook = LedgerOutlook(finding, anchor, at: reading()) else { return finding }
        if !accepting, try ports.store.read({ try outlook.mustBeSettled($0.licences) }) {
            throw LectureError(.storeCopied)
        }
        let kept = try ports.store.transaction { transaction in
            let ledger = try transaction.licences
            if let suspicion = outlook.suspicion {
                try ledger.suspectAll(suspicion)
            } else {
                try ledger.believeAll()
            }
            return try ledger.append(outlook.time.row, source: outlook.suspicion == nil ? .clocks : .finding)
        }
        try ports.anchors.keep(kept, of: environment.id)
        guard case .suspect(let doubt, _) = finding else { return finding }
        inbox.post(.suspected(doubt))
        return finding
    }

    private func reading() -> ClockReading {
        ClockReading(wall: ports.clock.now(), boot: ports.clock.boot(), bootID: environment.bootID)
    }

    /// The thumbprints of all configured keys.
    package var configuredKeys: GrantingKeys { environment.verifier.signers }

    /// The time, as far as it can be trusted. Nothing is stored.
    ///
    /// - Returns: the time.
    /// - Throws: ``LectureError``: a store's code.
    package func time() throws -> TrustedTime { try looking(\.time.time) }
}
