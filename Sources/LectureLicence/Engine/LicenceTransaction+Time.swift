import LectureEngine
import LectureModel

/// What answers and servers say about the time.
extension LicenceTransaction {
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
    mutating func observeTimes(
        of reading: CallbackReading, _ reply: ExchangeReply, to exchange: CallbackExchange
    ) throws {
        let answer = reading.answer
        let isOnly = try !ledger.hasLicence(grantedByOtherThan: answer.signer)
        if exchange.origin.isSecure, let date = reply.head?.date, Self.isPossible(date) {
            if isOnly { try observe(date) } else { witness(date) }
        }
        let issued = answer.isVerified ? answer.issued.flatMap { Self.isPossible($0) ? $0 : nil } : nil
        if isOnly, exchange.kind == .grant, let issued { confirm(issued, within: TimeLedger.tolerance) }
        believe(answer)
        guard isOnly, answer.isVerified, Self.isFresh(reading, exchange) else { return }
        if let issued { return try observe(issued) }
        time.resume(at: self.reading)
        mustAppend = true
    }

    /// Whether an answer repeats the session key of its request.
    private static func isFresh(_ reading: CallbackReading, _ exchange: CallbackExchange) -> Bool {
        zip(exchange.questions, reading.items).contains { question, item in
            guard case .answer(let answer) = item, !question.sessionKey.isEmpty else { return false }
            return answer.sessionKey == question.sessionKey
        }
    }

    /// Records the `Date` of any server that was verified with the system's roots, a moment after it was received.
    mutating func witnessed(_ date: Timestamp, at boot: BootInstant) {
        guard Self.isPossible(date) else { return }
        witness(date + max(.zero, self.boot - boot))
    }

    /// A second opinion about the clock. A row is appended only where it says something new: downloads have many
    /// responses.
    private mutating func witness(_ date: Timestamp) {
        if store.environment.hasOwnAuthority { return }
        let before = time.row
        time.witness(date, at: reading)
        let row = time.row
        guard row.doubt != before.doubt || row.isAnchored != before.isAnchored else { return }
        source = .server
        mustAppend = true
    }

    /// Ends a doubt by a newer signed time.
    ///
    /// - Returns: whether there was one, and it has ended.
    @discardableResult
    mutating func confirm(_ signed: Timestamp, within limit: Duration?) -> Bool {
        guard time.confirm(signed: signed, within: limit, at: reading) else { return false }
        if source == .clocks { source = .signed }
        mustAppend = true
        return true
    }

    /// Records a server's time. Ends that only a wrong estimate had passed are open again.
    private mutating func observe(_ moment: Timestamp) throws {
        time.observe(moment, at: reading)
        source = .server
        mustAppend = true
        guard let proven = time.row.proven else { return }
        for var entry in try ledger.entriesSeenExpired(endingAfter: proven) where entry.suspicion == nil {
            entry.record?.wasSeenExpired = false
            try keep(entry)
        }
    }

    /// Records the time at which a verified token was issued.
    mutating func believe(_ answer: VerifiedAnswer) {
        guard answer.isVerified, let issued = answer.issued, Self.isPossible(issued) else { return }
        time.believe(signed: issued, at: reading)
        if source == .clocks { source = .signed }
    }

    static func isPossible(_ time: Timestamp) -> Bool {
        time >= TimeLedger.earliest && time.milliseconds <= CallbackAnswer.latestDate * 1000
    }
}
