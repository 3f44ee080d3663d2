import LectureEngine
import LectureModel

/// Applies answers. Everything here is part of the step's transaction.
extension LicenceEngine {
    /// An exchange is over.
    func answered(_ exchange: CallbackExchange, _ reply: ExchangeReply, _ turn: inout Turn) throws {
        let reading: CallbackReading
        do throws(CallbackFault) {
            reading = try read(reply, exchange, turn)
        } catch {
            return try failed(exchange, reply, error, &turn)
        }
        recordOutcome(.good, exchange, turn)
        faults[exchange.origin] = nil
        let foreign = try foreignItems(exchange, reading.answer)
        if foreign.isEmpty { try observeTimes(of: reading, reply, to: exchange, &turn) }
        let answered = reading.items.count { $0 != .missing }
        if exchange.items.count > 1, answered <= 1 { singles.insert(exchange.origin) }
        let place = notices.count
        for (index, asked) in exchange.items.enumerated() {
            switch reading.items[index] {
            case .answer where foreign.contains(asked.key):
                let error = LectureError(.keyNotGranting, detail: asked.key.text)
                try record(.failed, asked, exchange, reply, error)
                try keepError(asked, error, until: nil, turn)
                try finish(asked, error, &turn)
            case .answer(let answer):
                try apply(
                    answer, to: asked, exchange, reading, reply, sessionKey: exchange.questions[index].sessionKey, &turn
                )
            case .unreadable(let error):
                try record(.failed, asked, exchange, reply, error)
                try keepError(asked, error, until: nil, turn)
                try finish(asked, error, &turn)
            case .missing: try missing(asked, exchange, reply, &turn)
            }
        }
        let reported = record(exchange, reading.answer.payload, nil)
        let leaving = exchange.items.map(\.key).filter { work.removals[$0] != nil }
        if leaving.isEmpty { return notices.insert(.exchange(reported), at: place) }
        // The order is reported only when the lecture is gone.
        work.held.append(HeldExchange(record: reported, waiting: Set(leaving), since: turn.boot))
    }

    private func read(
        _ reply: ExchangeReply, _ exchange: CallbackExchange, _ turn: Turn
    ) throws(CallbackFault) -> CallbackReading {
        let token = try reply.token()
        do throws(LectureError) {
            let answer = try ports.verifier.payload(
                of: token, keyID: exchange.queue.keyID, userKey: reply.head?.fields["X-KOLLUS-USERKEY"],
                at: turn.time.time.noEarlierThan)
            let items = try CallbackAnswers(answer.payload).answers(
                for: exchange.items.map(\.key.text), exchange.kind)
            return CallbackReading(items: items, token: token, answer: answer)
        } catch {
            var fault = CallbackFault(error, error.code == .licenceKeyMissing ? .cancelled : .failed)
            fault.isFinal = error.code == .licenceKeyMissing
            throw fault
        }
    }

    // MARK: Answers

    private func apply(
        _ answer: CallbackAnswer, to asked: Asked, _ exchange: CallbackExchange, _ reading: CallbackReading,
        _ reply: ExchangeReply, sessionKey: String, _ turn: inout Turn
    ) throws {
        guard var entry = try ledger.entry(asked.key) else {
            return try finish(asked, LectureError(.licenceMissing), &turn)
        }
        let old = entry
        let outcome = CallbackRules.apply(
            answer, to: entry.record, suspicion: entry.suspicion,
            sessionKey: sessionKey.isEmpty ? nil : sessionKey, isStrict: settings.isStrict)
        (entry.record, entry.suspicion) = (outcome.licence, outcome.suspicion)
        if outcome.refusal == nil {
            accept(&entry, answer.kind, reading, try countingKeys(old, asked.key), turn)
        } else {
            entry.attempts += 1
            (entry.nextAttempt, entry.waitSet, entry.error) = (nil, nil, outcome.refusal)
        }
        if outcome.refusal == nil || entry.record != old.record || entry.suspicion != old.suspicion {
            try outcome.refusal == nil ? storeGrant(entry, &turn) : store(entry, &turn)
        } else {
            try ledger.storeAttempt(entry)
        }
        let hasEnded = CallbackDecision.hasEnded(outcome, replacing: old.record)
        try record(CallbackDecision(outcome, replacing: old.record), asked, exchange, reply, outcome.refusal)
        if hasEnded { notices.append(.ended(asked.key)) }
        if outcome.deletes { try orderRemoval(asked.key, answer.message, turn) }
        try finish(asked, outcome.refusal ?? Self.verdict(of: entry, outcome), &turn)
    }

    /// Updates a licence that a server has just permitted.
    private func accept(
        _ entry: inout LicenceEntry, _ kind: CallbackAnswer.Kind, _ reading: CallbackReading,
        _ counting: GrantingKeys?, _ turn: Turn
    ) {
        entry.checked = turn.now
        (entry.attempts, entry.nextAttempt, entry.waitSet, entry.error) = (0, nil, nil, nil)
        if kind != .check { entry.owesCompletion = false }
        if kind == .grant { entry.granted = turn.now }
        if reading.answer.isVerified {
            entry.grantingKeys = .afterAnswer(
                reading.answer.signer, counting, configured: configuredKeys)
        }
        // A completion changes no bound: the granting token stays. So does a licence file that a server permits: its
        // own claims identify it if it is imported again.
        guard kind != .completion, entry.record?.form == .callback else { return }
        entry.token = reading.token
        // If the answer does not say it, the stored time still distinguishes older licence files from newer ones.
        entry.issued = reading.answer.issued ?? entry.issued
        entry.tokenID = reading.answer.payload["jti"]?.string ?? ""
    }

    /// An answer may permit and still end the licence.
    private static func verdict(of entry: LicenceEntry, _ outcome: CallbackRules.Outcome) -> LectureError? {
        if outcome.deletes { return LectureError(.licenceDeleted) }
        return entry.record?.isForceExpired == true ? LectureError(.licenceForceExpired) : nil
    }

    private func orderRemoval(_ key: ContentKey, _ message: String?, _ turn: Turn) throws {
        if try ports.contents.content(key) == nil {
            notices.append(.deleted(key, message: message))
        } else {
            try ports.contents.orderRemoval(key, now: turn.now)
            work.removals[key] = .some(message)
        }
    }

    /// A missing answer is not a refusal: the item is requested alone, once.
    private func missing(
        _ asked: Asked, _ exchange: CallbackExchange, _ reply: ExchangeReply, _ turn: inout Turn
    ) throws {
        let error = LectureError(.answerMissing)
        try record(.missing, asked, exchange, reply, error)
        if !asked.isAlone, let entry = try ledger.entry(asked.key) {
            var again = asked
            again.isAlone = true
            return try enqueue(again, entry, first: true, &turn)
        }
        try keepError(asked, error, until: nil, turn)
        try finish(asked, error, &turn)
    }

    // MARK: Failures

    /// A whole exchange failed.
    private func failed(
        _ exchange: CallbackExchange, _ reply: ExchangeReply, _ fault: CallbackFault, _ turn: inout Turn
    ) throws {
        recordOutcome(fault.outcome, exchange, turn)
        notices.append(.exchange(record(exchange, nil, fault.error)))
        if fault.outcome != .cancelled { faults[exchange.origin] = fault.error }
        if let wait = fault.wait { pace.held(exchange.origin, until: turn.boot + wait) }
        // One wait for the whole group, so that it stays together.
        let random = ports.random.next()
        for asked in exchange.items {
            if fault.error.code == .cancelled {
                try giveBack(asked, turn)
                continue
            }
            try record(.failed, asked, exchange, reply, fault.error)
            try failed(asked, exchange, fault, random, &turn)
        }
    }

    private func failed(
        _ asked: Asked, _ exchange: CallbackExchange, _ fault: CallbackFault, _ random: UInt64, _ turn: inout Turn
    ) throws {
        let isInCompany = exchange.items.count > 1
        switch asked.purpose {
        case .check: notices.append(.checked(asked.key, .unreachable(fault.error)))
        case .grant:
            if fault.mayBeOfOneItem, isInCompany, let entry = try ledger.entry(asked.key) {
                var again = asked
                again.isIsolated = true
                return try enqueue(again, entry, &turn)
            }
            try keepError(asked, fault.error, until: fault.wait.map { turn.now + $0 }, turn)
            if fault.isFinal { return try finish(asked, fault.error, &turn) }
            try postpone(asked, fault.error, by: fault.wait ?? Backoff().delay(failures: 1, random: random), turn)
        case .renewal(let run), .regrant(let run):
            try failedRenewal(asked, run, fault, isInCompany: isInCompany, random, &turn)
        case .pendingCallback(let callback):
            let delay = Self.callbackBackoff.delay(failures: callback.attempts + 1, random: random)
            try postponeCallback(
                callback, fault.error, attempts: callback.attempts + 1, by: max(delay, fault.wait ?? .zero), turn)
        }
    }

    /// Stores the result of an attempt without changing what is granted.
    ///
    /// - Parameters:
    ///   - asked: the item.
    ///   - error: what went wrong.
    ///   - until: the earliest next attempt; nil for no wait.
    ///   - counts: whether a request was sent at all.
    ///   - turn: now.
    /// - Throws: ``LectureError``: a store's code.
    func keepError(
        _ asked: Asked, _ error: LectureError, until: Timestamp?, counts: Bool = true, _ turn: Turn
    ) throws {
        switch asked.purpose {
        case .check, .pendingCallback: return
        case .grant, .renewal, .regrant: break
        }
        guard var entry = try ledger.entry(asked.key) else { return }
        if counts { entry.attempts += 1 }
        (entry.nextAttempt, entry.waitSet, entry.error) = (until, until == nil ? nil : turn.now, error)
        try ledger.storeAttempt(entry)
    }

    // MARK: Ends

    /// An item is done: no more requests are made for it.
    ///
    /// - Parameters:
    ///   - asked: the item.
    ///   - error: why it failed permanently; nil when its server has permitted it.
    ///   - turn: now.
    /// - Throws: ``LectureError``: a store's code.
    func finish(_ asked: Asked, _ error: LectureError?, _ turn: inout Turn) throws {
        switch asked.purpose {
        case .check:
            if let error {
                let isAnswer = Self.refusals.contains(error.code)
                notices.append(.checked(asked.key, isAnswer ? .refused(error) : .unreachable(error)))
            } else {
                work.permits[asked.key] = turn.boot + settings.permitLifetime
                notices.append(.checked(asked.key, .permitted))
            }
        case .grant(let content):
            notices.append(
                .granted(GrantOutcome(content: content, key: asked.key, error: error, isFinal: error != nil)))
        case .renewal(let run), .regrant(let run): try settle(asked.key, run, error, turn)
        case .pendingCallback(let callback):
            work.heldCallbacks[callback.id] = nil
            // Refused permanently, or no server to notify; unanswered callbacks are retried forever.
            if let error, !Self.refusals.contains(error.code), error.code != .licenceMissing {
                let delay = Self.callbackBackoff.delay(failures: callback.attempts + 1, random: ports.random.next())
                return try postponeCallback(callback, error, attempts: callback.attempts + 1, by: delay, turn)
            }
            try ledger.settleCallback(callback.id)
            notices.append(.callbackSent(asked.key, error))
        }
    }

    /// The errors that are a server's own answer.
    private static let refusals: Set<LectureError.Code> = [
        .grantRefused, .completionRefused, .playRefused, .licenceDeleted, .licenceForceExpired, .sessionMismatch,
    ]

    /// Postpones an item: it is not done, and no request is made for it before then.
    func postpone(_ asked: Asked, _ error: LectureError, by delay: Duration, _ turn: Turn) throws {
        switch asked.purpose {
        case .check: notices.append(.checked(asked.key, .unreachable(error)))
        case .grant(let content):
            notices.append(
                .granted(
                    GrantOutcome(content: content, key: asked.key, error: error, retryAt: turn.now + delay)))
        case .renewal(let run), .regrant(let run):
            try keepError(asked, error, until: turn.now + delay, counts: false, turn)
            try release(asked.key, run, until: turn.boot + delay)
        case .pendingCallback(let callback):
            try postponeCallback(callback, error, attempts: callback.attempts, by: delay, turn)
        }
    }

    /// Releases an item as if it had not been claimed.
    func giveBack(_ asked: Asked, _ turn: Turn) throws {
        switch asked.purpose {
        case .check, .grant: try postpone(asked, LectureError(.cancelled), by: .zero, turn)
        case .renewal(let run), .regrant(let run): try release(asked.key, run, until: nil)
        case .pendingCallback(let callback):
            try postponeCallback(
                callback, callback.error ?? LectureError(.interrupted), attempts: callback.attempts, by: .zero, turn)
        }
    }

    // MARK: Parts

    private func recordOutcome(_ outcome: CallbackPace.Outcome, _ exchange: CallbackExchange, _ turn: Turn) {
        pace.ended(
            exchange.origin, started: exchange.started, outcome, at: turn.boot, random: ports.random.next())
    }

    private func record(
        _ decision: CallbackDecision, _ asked: Asked, _ exchange: CallbackExchange, _ reply: ExchangeReply,
        _ error: LectureError?
    ) throws {
        let attempt = LicenceAttempt(
            at: exchange.asked, duration: reply.outcome.elapsed, kind: exchange.kind.rawValue,
            status: reply.head?.status, outcome: decision.rawValue, error: error)
        try ledger.record(attempt, of: asked.key)
    }

    // MARK: Reporting

    /// One notice per exchange, without session keys and without the token.
    private func record(_ exchange: CallbackExchange, _ payload: JSONValue?, _ error: LectureError?) -> ExchangeRecord {
        ExchangeRecord(
            origin: exchange.origin.text, kind: exchange.kind,
            questions: CallbackQuestion.items(exchange.questions, withSecrets: false),
            payload: payload?.without("session_key"), error: error)
    }

    /// A lecture is gone: reports exchanges that waited for nothing else.
    func releaseExchanges(without key: ContentKey) -> [LicenceNotice] {
        work.removedAt = ports.clock.boot()
        for index in work.held.indices { work.held[index].waiting.remove(key) }
        defer { work.held.removeAll(where: \.waiting.isEmpty) }
        return work.held.filter(\.waiting.isEmpty).map { .exchange($0.record) }
    }

    /// Reports exchanges whose removals take too long; the removals continue by themselves. As long as removals
    /// complete, the others keep waiting.
    func reportOverdue(_ turn: Turn) {
        guard let oldest = work.held.map(\.since).min() else { return }
        let patience = settings.removalPatience
        let moment = max(oldest, work.removedAt ?? oldest) + patience
        guard moment <= turn.boot else { return wake(at: moment) }
        for held in work.held {
            for key in held.waiting.sorted(by: { $0.text < $1.text }) {
                notices.append(.failure(LectureError(.removalWaits, detail: key.text)))
            }
        }
        notices += abandonHeld()
    }

    /// Reports every exchange that was held back.
    func abandonHeld() -> [LicenceNotice] {
        defer { work.held = [] }
        return work.held.map { .exchange($0.record) }
    }
}

extension JSONValue {
    /// The value without the members of a name, at any depth.
    fileprivate func without(_ name: String) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.without(name) })
        case .object(let members):
            .object(
                members.filter { $0.name != name }.map { JSONMember($0.name, $0.value.without(name)) })
        case .null, .bool, .integer, .number, .string: self
        }
    }
}
