import LectureEngine
import LectureFormats
import LectureModel

/// Applies answers. Everything here is part of the step's transaction.
extension LicenceMachine {
    /// An exchange is over.
    mutating func answered(_ exchange: CallbackExchange, _ reply: ExchangeReply, _ step: inout Step<Self>) throws {
        let reading: CallbackReading
        do throws(CallbackFault) {
            reading = try CallbackReading(reply, of: exchange, step)
        } catch {
            return try failed(exchange, reply, error, &step)
        }
        recordOutcome(.served, exchange, step)
        faults[exchange.origin] = nil
        let foreign = try step.context.foreignItems(exchange, reading.answer)
        if foreign.isEmpty { try step.context.observeTimes(of: reading, reply, to: exchange) }
        let answered = reading.items.count { $0 != .missing }
        if exchange.items.count > 1, answered <= 1 { queues.requestAlone(exchange.origin) }
        let place = step.notices.count
        for (index, asked) in exchange.items.enumerated() {
            switch reading.items[index] {
            case .answer where foreign.contains(asked.key):
                let error = LectureError(.keyNotGranting, detail: asked.key.text)
                try record(.failed, asked, exchange, reply, error, step)
                try keepError(asked, error, until: nil, &step)
                try finish(asked, error, &step)
            case .answer(let answer):
                try apply(
                    answer, to: asked, exchange, reading, reply, sessionKey: exchange.questions[index].sessionKey, &step
                )
            case .unreadable(let error):
                try record(.failed, asked, exchange, reply, error, step)
                try keepError(asked, error, until: nil, &step)
                try finish(asked, error, &step)
            case .missing: try missing(asked, exchange, reply, &step)
            }
        }
        let reported = LicenceExchange(exchange, reading.answer.payload, nil)
        // The order of a removal is reported only when the lecture is gone.
        if removals.hold(reported, of: exchange.items.map(\.key), at: step.boot) { return }
        step.notices.insert(.event(.licenceExchange(reported)), at: place)
    }

    // MARK: Answers

    private mutating func apply(
        _ answer: CallbackAnswer, to asked: Asked, _ exchange: CallbackExchange, _ reading: CallbackReading,
        _ reply: ExchangeReply, sessionKey: String, _ step: inout Step<Self>
    ) throws {
        guard var entry = try step.context.entry(asked.key) else {
            return try finish(asked, LectureError(.licenceMissing), &step)
        }
        let old = entry
        let outcome = CallbackRules.apply(
            answer, to: entry.record, suspicion: entry.suspicion,
            sessionKey: sessionKey.isEmpty ? nil : sessionKey, isStrict: settings.isStrict)
        (entry.record, entry.suspicion) = (outcome.licence, outcome.suspicion)
        if outcome.refusal == nil {
            entry.permit(answer.kind, reading, try step.context.countingKeys(old, asked.key), step)
        } else {
            entry.attempts += 1
            (entry.nextAttempt, entry.waitSet, entry.error) = (nil, nil, outcome.refusal)
        }
        if outcome.refusal == nil || entry.record != old.record || entry.suspicion != old.suspicion {
            try outcome.refusal == nil ? step.context.keepGrant(entry) : step.context.keep(entry)
        } else {
            try step.context.keepAttempt(entry)
        }
        let hasEnded = CallbackDecision.hasEnded(outcome, replacing: old.record)
        try record(CallbackDecision(outcome, replacing: old.record), asked, exchange, reply, outcome.refusal, step)
        if hasEnded { step.notices.append(.event(.licenceEnded(asked.key))) }
        if outcome.deletes { try orderRemoval(asked.key, &step) }
        try finish(asked, outcome.refusal ?? entry.end(by: outcome), &step)
    }

    private mutating func orderRemoval(_ key: ContentKey, _ step: inout Step<Self>) throws {
        if try step.store.content(key) == nil {
            step.notices.append(.event(.licenceDeleted(key)))
        } else {
            if try step.store.orderRemoval(key, now: step.now) { step.effects.append(.followRemovals) }
            removals.order(key)
        }
    }

    /// A missing answer is not a refusal: the item is requested alone, once.
    private mutating func missing(
        _ asked: Asked, _ exchange: CallbackExchange, _ reply: ExchangeReply, _ step: inout Step<Self>
    ) throws {
        let error = LectureError(.answerMissing)
        try record(.missing, asked, exchange, reply, error, step)
        if !asked.isAlone, let entry = try step.context.entry(asked.key) {
            var again = asked
            again.isAlone = true
            return try enqueue(again, entry, first: true, &step)
        }
        try keepError(asked, error, until: nil, &step)
        try finish(asked, error, &step)
    }

    // MARK: Failures

    /// A whole exchange failed.
    private mutating func failed(
        _ exchange: CallbackExchange, _ reply: ExchangeReply, _ fault: CallbackFault, _ step: inout Step<Self>
    ) throws {
        recordOutcome(fault.outcome, exchange, step)
        step.notices.append(.event(.licenceExchange(LicenceExchange(exchange, nil, fault.error))))
        if fault.outcome != .neutral { faults[exchange.origin] = fault.error }
        if let wait = fault.wait { pacer.wait(exchange.origin, for: wait, now: step.now, boot: step.boot) }
        // One wait for the whole group, so that it stays together.
        let random = step.random()
        for asked in exchange.items {
            if fault.error.code == .cancelled {
                try giveBack(asked, &step)
                continue
            }
            try record(.failed, asked, exchange, reply, fault.error, step)
            try failed(asked, exchange, fault, random, &step)
        }
    }

    private mutating func failed(
        _ asked: Asked, _ exchange: CallbackExchange, _ fault: CallbackFault, _ random: UInt64, _ step: inout Step<Self>
    ) throws {
        let isInCompany = exchange.items.count > 1
        switch asked.purpose {
        case .check: step.notices.append(.checked(asked.key, .unreachable(fault.error)))
        case .grant:
            if fault.mayBeOfOneItem, isInCompany, let entry = try step.context.entry(asked.key) {
                var again = asked
                again.isIsolated = true
                return try enqueue(again, entry, &step)
            }
            try keepError(asked, fault.error, until: fault.wait.map { step.now + $0 }, &step)
            if fault.isFinal { return try finish(asked, fault.error, &step) }
            try postpone(asked, fault.error, by: fault.wait ?? Backoff().delay(failures: 1, random: random), &step)
        case .renewal(let run), .regrant(let run):
            let wait = runs.retry(
                asked.key, run, fault, isInCompany: isInCompany, attempts: settings.attempts, random: random)
            try keepError(asked, fault.error, until: wait.map { step.now + $0 }, &step)
            guard let wait else { return try finish(asked, fault.error, &step) }
            try runs.release(asked.key, run, until: step.boot + wait, step)
        case .pendingCallback(let callback):
            let delay = Self.callbackBackoff.delay(failures: callback.attempts + 1, random: random)
            try postponeCallback(
                callback, fault.error, attempts: callback.attempts + 1, by: max(delay, fault.wait ?? .zero), &step)
        }
    }

    /// Stores the result of an attempt without changing what is granted.
    ///
    /// - Parameters:
    ///   - asked: the item.
    ///   - error: what went wrong.
    ///   - until: the earliest next attempt; nil for no wait.
    ///   - counts: whether a request was sent at all.
    ///   - step: its transaction.
    /// - Throws: ``LectureError``: a store's code.
    mutating func keepError(
        _ asked: Asked, _ error: LectureError, until: Timestamp?, counts: Bool = true, _ step: inout Step<Self>
    ) throws {
        switch asked.purpose {
        case .check, .pendingCallback: return
        case .grant, .renewal, .regrant: break
        }
        guard var entry = try step.context.entry(asked.key) else { return }
        if counts { entry.attempts += 1 }
        (entry.nextAttempt, entry.waitSet, entry.error) = (until, until == nil ? nil : step.now, error)
        try step.context.keepAttempt(entry)
    }

    // MARK: Ends

    /// An item is done: no more requests are made for it.
    ///
    /// - Parameters:
    ///   - asked: the item.
    ///   - error: why it failed permanently; nil when its server has permitted it.
    ///   - step: its transaction.
    /// - Throws: ``LectureError``: a store's code.
    mutating func finish(_ asked: Asked, _ error: LectureError?, _ step: inout Step<Self>) throws {
        switch asked.purpose {
        case .check:
            guard let error else { return step.notices.append(.checked(asked.key, .permitted)) }
            let isAnswer = error.code.isServersRefusal
            step.notices.append(.checked(asked.key, isAnswer ? .refused(error) : .unreachable(error)))
        case .grant(let content):
            if error == nil { step.notices.append(.event(.licenceGranted(asked.key))) }
            step.notices.append(
                .granted(GrantOutcome(content: content, key: asked.key, error: error, isFinal: error != nil)))
        case .renewal(let run), .regrant(let run): try runs.settle(asked.key, run, error, &step)
        case .pendingCallback(let callback):
            callbacks.held[callback.id] = nil
            // Refused permanently, or no server to notify; unanswered callbacks are retried forever.
            if let error, !error.code.isServersRefusal, error.code != .licenceMissing {
                let delay = Self.callbackBackoff.delay(failures: callback.attempts + 1, random: step.random())
                return try postponeCallback(callback, error, attempts: callback.attempts + 1, by: delay, &step)
            }
            try step.store.ledger.callbacks.settle(callback.id)
            if let error { step.notices.append(.event(.trouble(error))) }
        }
    }

    /// Postpones an item: it is not done, and no request is made for it before then.
    mutating func postpone(_ asked: Asked, _ error: LectureError, by delay: Duration, _ step: inout Step<Self>) throws {
        switch asked.purpose {
        case .check: step.notices.append(.checked(asked.key, .unreachable(error)))
        case .grant(let content):
            step.notices.append(
                .granted(
                    GrantOutcome(content: content, key: asked.key, error: error, retryAfter: delay)))
        case .renewal(let run), .regrant(let run):
            try keepError(asked, error, until: step.now + delay, counts: false, &step)
            try runs.release(asked.key, run, until: step.boot + delay, step)
        case .pendingCallback(let callback):
            try postponeCallback(callback, error, attempts: callback.attempts, by: delay, &step)
        }
    }

    /// Releases an item as if it had not been claimed.
    mutating func giveBack(_ asked: Asked, _ step: inout Step<Self>) throws {
        switch asked.purpose {
        case .check, .grant: try postpone(asked, LectureError(.cancelled), by: .zero, &step)
        case .renewal(let run), .regrant(let run): try runs.release(asked.key, run, until: nil, step)
        case .pendingCallback(let callback):
            try postponeCallback(
                callback, callback.error ?? LectureError(.interrupted), attempts: callback.attempts, by: .zero, &step)
        }
    }

    // MARK: Parts

    private mutating func recordOutcome(
        _ outcome: OriginPacer.Outcome, _ exchange: CallbackExchange, _ step: Step<Self>
    ) {
        pacer.ended(exchange.id, outcome, at: step.boot, random: step.random())
    }

    private func record(
        _ decision: CallbackDecision, _ asked: Asked, _ exchange: CallbackExchange, _ reply: ExchangeReply,
        _ error: LectureError?, _ step: Step<Self>
    ) throws {
        try step.store.ledger.record(LicenceAttempt(decision, exchange, reply, error), of: asked.key)
    }
}

extension LicenceAttempt {
    /// What is kept of one item of an exchange.
    fileprivate init(
        _ decision: CallbackDecision, _ exchange: CallbackExchange, _ reply: ExchangeReply, _ error: LectureError?
    ) {
        self.init(
            at: exchange.asked, duration: reply.outcome.elapsed, kind: exchange.kind.rawValue,
            status: reply.head?.status, outcome: decision.rawValue, error: error)
    }
}

extension CallbackReading {
    /// Verifies and reads the answer to an exchange.
    fileprivate init(
        _ reply: ExchangeReply, of exchange: CallbackExchange, _ step: Step<LicenceMachine>
    ) throws(CallbackFault) {
        let token = try reply.token()
        do throws(LectureError) {
            let answer = try step.store.verifier.payload(
                of: token, keyID: exchange.queue.keyID, userKey: reply.head?.fields["X-KOLLUS-USERKEY"],
                at: step.context.time.time.noEarlierThan)
            let items = try CallbackAnswers(answer.payload).answers(for: exchange.items.map(\.key.text), exchange.kind)
            self.init(items: items, token: token, answer: answer)
        } catch {
            var fault = CallbackFault(error, error.code == .licenceKeyMissing ? .neutral : .unusable)
            fault.isFinal = error.code == .licenceKeyMissing
            throw fault
        }
    }
}

extension LicenceEntry {
    /// Why an answer that permits it ends it still.
    fileprivate func end(by outcome: CallbackRules.Outcome) -> LectureError? {
        if outcome.deletes { return LectureError(.licenceDeleted) }
        return record?.isForceExpired == true ? LectureError(.licenceForceExpired) : nil
    }

    /// Records that a server has just permitted the licence.
    ///
    /// - Parameters:
    ///   - kind: what was asked.
    ///   - reading: its answer.
    ///   - counting: the keys that count for the lecture.
    ///   - step: the time.
    fileprivate mutating func permit(
        _ kind: CallbackAnswer.Kind, _ reading: CallbackReading, _ counting: GrantingKeys?,
        _ step: Step<LicenceMachine>
    ) {
        checked = step.now
        (attempts, nextAttempt, waitSet, error) = (0, nil, nil, nil)
        if kind != .check { owesCompletion = false }
        if kind == .grant { granted = step.now }
        if reading.answer.isVerified {
            grantingKeys = .afterAnswer(reading.answer.signer, counting, configured: step.store.verifier.signers)
        }
        // A completion changes no bound: the granting token stays. So does a licence file that a server permits: its
        // own claims identify it if it is imported again.
        guard kind != .completion, record?.form == .callback else { return }
        token = reading.token
        // If the answer does not say it, the stored time still distinguishes older licence files from newer ones.
        issued = reading.answer.issued ?? issued
        tokenID = reading.answer.payload["jti"]?.string ?? ""
    }
}

extension LicenceExchange {
    /// What is published of an exchange: no session keys, and no token.
    fileprivate init(_ exchange: CallbackExchange, _ payload: JSONValue?, _ error: LectureError?) {
        self.init(
            server: exchange.origin.text, kind: exchange.kind.rawValue,
            items: CallbackQuestion.items(exchange.questions, withSecrets: false),
            answer: payload?.without("session_key").text, error: error)
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
