import LectureEngine
package import LectureModel

/// Trusted time, the anchor outside the store, and what happens when they do not match.
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
        let anchor = try ports.anchors.anchor(of: settings.store)
        let finding = try ledger.inspect(against: anchor)
        guard let outlook = LedgerOutlook(finding, anchor, at: reading()) else { return finding }
        if !accepting, try outlook.mustBeSettled(ledger) { throw LectureError(.storeCopied) }
        let kept = try ledger.transaction {
            if let suspicion = outlook.suspicion {
                try ledger.suspectAll(suspicion)
            } else {
                try ledger.believeAll()
            }
            return try ledger.append(outlook.time.row, source: outlook.suspicion == nil ? .clocks : .finding)
        }
        try ports.anchors.keep(kept, of: settings.store)
        guard case .suspect(let doubt, _) = finding else { return finding }
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

    /// Records what an answer says about the time. Called only for answers whose key counts for every item.
    ///
    /// | what | is |
    /// | --- | --- |
    /// | `iat` of an answer that repeats the session key of the request | the server's time: it was issued after it |
    /// | `Date` of a verified `https` response | the server's time |
    /// | `iat` of a grant, newer than all before, while the clock agrees with it | the end of a doubt |
    /// | an answer that repeats the session key, without `iat` | the end of a doubt, without going back |
    /// | any other `iat` | a lower bound |
    ///
    /// In a store with licences of several keys only the lower bound counts, and `Date` is a second opinion: the holder
    /// of one key could set the time for the licences of the others.
    func observeTimes(
        of reading: CallbackReading, _ reply: ExchangeReply, to exchange: CallbackExchange, _ turn: inout Turn
    ) throws {
        let answer = reading.answer
        let isOnly = try !ledger.hasLicence(grantedByOtherThan: answer.signer)
        if exchange.origin.scheme == "https", let date = reply.head?.date, Self.isPossible(date) {
            if isOnly { try observe(date, &turn) } else { witness(date, &turn) }
        }
        let issued = answer.isVerified ? answer.issued.flatMap { Self.isPossible($0) ? $0 : nil } : nil
        if isOnly, exchange.kind == .grant, let issued { confirm(issued, within: TimeLedger.tolerance, &turn) }
        believe(answer, &turn)
        guard isOnly, answer.isVerified, Self.isFresh(reading, exchange) else { return }
        if let issued { return try observe(issued, &turn) }
        turn.time.resume(at: turn.reading)
        turn.mustAppend = true
    }

    /// Whether an answer repeats the session key of its request.
    private static func isFresh(_ reading: CallbackReading, _ exchange: CallbackExchange) -> Bool {
        zip(exchange.questions, reading.items).contains { question, item in
            guard case .answer(let answer) = item, !question.sessionKey.isEmpty else { return false }
            return answer.sessionKey == question.sessionKey
        }
    }

    /// Records the `Date` of any server that was verified with the system's roots, a moment after it was received.
    func witnessed(_ date: Timestamp, at boot: BootInstant, _ turn: inout Turn) {
        guard Self.isPossible(date) else { return }
        witness(date + max(.zero, turn.boot - boot), &turn)
    }

    /// A second opinion about the clock. A row is appended only where it says something new: downloads have many
    /// responses.
    private func witness(_ date: Timestamp, _ turn: inout Turn) {
        if settings.hasOwnAuthority { return }
        let before = turn.time.row
        turn.time.witness(date, at: turn.reading)
        let row = turn.time.row
        guard row.doubt != before.doubt || row.isAnchored != before.isAnchored else { return }
        turn.source = .server
        turn.mustAppend = true
    }

    /// Ends a doubt by a newer signed time.
    ///
    /// - Returns: whether there was one, and it has ended.
    @discardableResult
    func confirm(_ signed: Timestamp, within limit: Duration?, _ turn: inout Turn) -> Bool {
        guard turn.time.confirm(signed: signed, within: limit, at: turn.reading) else { return false }
        if turn.source == .clocks { turn.source = .signed }
        turn.mustAppend = true
        return true
    }

    /// Records a server's time. Ends that only a wrong estimate had passed are open again.
    private func observe(_ time: Timestamp, _ turn: inout Turn) throws {
        turn.time.observe(time, at: turn.reading)
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

    static func isPossible(_ time: Timestamp) -> Bool {
        time >= TimeLedger.earliest && time.milliseconds <= CallbackAnswer.latestDate * 1000
    }

    /// Takes the newest anchor to store, one at a time. A process that is killed before it is stored leaves a store
    /// that is ahead of its anchor, which is not suspicious.
    ///
    /// - Returns: the anchor; nil when there is none, or it has to wait.
    func takeAnchor(boot: BootInstant) -> LedgerAnchor? {
        if let failed = anchorFailedAt {
            let again = failed + .seconds(5)
            if anchorDue != nil, boot < again {
                wake(at: again)
                return nil
            }
            anchorFailedAt = nil
        }
        guard let anchor = anchorDue, !isAnchoring else { return nil }
        (anchorDue, isAnchoring) = (nil, true)
        return anchor
    }
}
