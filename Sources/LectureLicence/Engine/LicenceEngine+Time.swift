package import LectureModel

/// Trusted time, the anchor outside the store, and what is done when they do not fit.
extension LicenceEngine {
    /// Holds the ledger against its anchor. When it is not the one that this device last wrote, every licence becomes
    /// suspect, and the time goes on from the anchor's. Blocks; called once, before anything else.
    ///
    /// A store that another device has written last is left as it is where that would cost a right: it may have been
    /// moved without its key, and with its key everything plays.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: what was found.
    /// - Throws: ``LectureError``: `storeCopied` for a store that must be settled first; a store's or a disk's code.
    @discardableResult
    package func open(accepting: Bool = false) throws -> LedgerFinding {
        let anchor = try ports.anchors.anchor(of: settings.store)
        let finding = try ledger.inspect(against: anchor)
        guard case .suspect(let doubt, _) = finding, let outlook = LedgerOutlook(finding, anchor, at: reading())
        else { return finding }
        if !accepting, try outlook.mustBeSettled(ledger) { throw LectureError(.storeCopied) }
        let kept = try ledger.transaction {
            try ledger.suspectAll(outlook.suspicion)
            return try ledger.append(outlook.time.row, source: .finding)
        }
        try ports.anchors.keep(kept, of: settings.store)
        told.append(.suspected(doubt))
        inbox.post(.poked)
        return finding
    }

    private func reading() -> ClockReading {
        ClockReading(wall: ports.clock.now(), boot: ports.clock.boot(), bootID: settings.bootID)
    }

    /// What time it is, as far as that can be trusted. Nothing is stored.
    ///
    /// - Returns: the time.
    /// - Throws: ``LectureError``: a store's code.
    package func time() throws -> TrustedTime { try turn().time.time }

    /// Believes the `Date` of a server that was verified by TLS. A time after every end that a server may name is
    /// nonsense that would end every licence.
    func hear(_ reply: CallbackReply, from exchange: CallbackExchange, _ turn: inout Turn) {
        guard exchange.origin.scheme == "https", let date = reply.head?.date, Self.isPossible(date) else { return }
        turn.time.hear(date, at: turn.reading)
        turn.source = .server
        turn.mustAppend = true
    }

    /// Believes the time at which a verified token was issued.
    func believe(_ answer: VerifiedAnswer, _ turn: inout Turn) {
        guard answer.isVerified, let issued = answer.issued, Self.isPossible(issued) else { return }
        turn.time.believe(signed: issued, at: turn.reading)
        if turn.source == .clocks { turn.source = .signed }
    }

    private static func isPossible(_ time: Timestamp) -> Bool {
        time >= TimeLedger.earliest && time.milliseconds <= CallbackAnswer.latestDate * 1000
    }

    /// Has the newest anchor kept on another thread, one at a time. A process that is killed before leaves a store that
    /// is ahead of its anchor, which is no finding.
    func keepAnchor(boot: BootInstant) {
        if let failed = anchorFailedAt {
            let again = failed + .seconds(5)
            if anchorDue != nil, boot < again { return wake(at: again) }
            anchorFailedAt = nil
        }
        guard let anchor = anchorDue, !isAnchoring else { return }
        (anchorDue, isAnchoring) = (nil, true)
        ports.offload { [anchors = ports.anchors, store = settings.store, inbox] in
            do throws(LectureError) {
                try anchors.keep(anchor, of: store)
                inbox.post(.anchored(nil))
            } catch {
                inbox.post(.anchored(error))
            }
        }
    }
}
