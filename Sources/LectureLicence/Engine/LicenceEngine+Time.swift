package import LectureModel

/// Trusted time, the anchor outside the store, and what happens when they do not match.
extension LicenceEngine {
    /// Checks the ledger against its anchor. When it is not the one that this device last wrote, every licence becomes
    /// suspect, and the time continues from the anchor's. Blocks; called once, before anything else.
    ///
    /// A store that another device wrote last is left unchanged if that would cost a right: it may have been moved
    /// without its key, and with its key everything plays.
    ///
    /// - Parameter accepting: whether this device takes over a store that another one has written.
    /// - Returns: the finding.
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
        reported.append(.suspected(doubt))
        inbox.post(.poked)
        return finding
    }

    private func reading() -> ClockReading {
        ClockReading(wall: ports.clock.now(), boot: ports.clock.boot(), bootID: settings.bootID)
    }

    /// The time, as far as it can be trusted. Nothing is stored.
    ///
    /// - Returns: the time.
    /// - Throws: ``LectureError``: a store's code.
    package func time() throws -> TrustedTime { try turn().time.time }

    /// Records the `Date` of a server that was verified by TLS. A time later than every end that a server may name is
    /// rejected: it would end every licence.
    func hear(_ reply: CallbackReply, from exchange: CallbackExchange, _ turn: inout Turn) throws {
        guard exchange.origin.scheme == "https", let date = reply.head?.date, Self.isPossible(date) else { return }
        try hear(date, &turn)
    }

    /// Records the issue time of a signed answer that repeats the session key of the request. It was issued after the
    /// request, so it is the server's time, over any connection. In a store with licences of several keys it does not
    /// count: the holder of one could set the time for the licences of the others.
    func hearFreshAnswer(_ reading: CallbackReading, to exchange: CallbackExchange, _ turn: inout Turn) throws {
        guard reading.answer.isVerified, let issued = reading.answer.issued, Self.isPossible(issued) else { return }
        let isFresh = zip(exchange.questions, reading.items).contains { question, item in
            guard case .answer(let answer) = item, !question.sessionKey.isEmpty else { return false }
            return answer.sessionKey == question.sessionKey
        }
        guard isFresh, try !ledger.hasLicence(grantedByOtherThan: reading.answer.signer) else { return }
        try hear(issued, &turn)
    }

    /// Records a server's time. Ends that only a wrong estimate had passed are open again.
    private func hear(_ time: Timestamp, _ turn: inout Turn) throws {
        turn.time.hear(time, at: turn.reading)
        turn.source = .server
        turn.mustAppend = true
        guard let proven = turn.time.row.proven else { return }
        for var entry in try ledger.entriesSeenExpired(endingAfter: proven) where entry.suspicion == nil {
            entry.record?.wasSeenExpired = false
            try store(entry, &turn)
        }
    }

    /// Records the time at which a verified token was issued.
    func believe(_ answer: VerifiedAnswer, _ turn: inout Turn) {
        guard answer.isVerified, let issued = answer.issued, Self.isPossible(issued) else { return }
        turn.time.believe(signed: issued, at: turn.reading)
        if turn.source == .clocks { turn.source = .signed }
    }

    private static func isPossible(_ time: Timestamp) -> Bool {
        time >= TimeLedger.earliest && time.milliseconds <= CallbackAnswer.latestDate * 1000
    }

    /// Stores the newest anchor on another thread, one at a time. A process that is killed before leaves a store that
    /// is ahead of its anchor, which is not suspicious.
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
