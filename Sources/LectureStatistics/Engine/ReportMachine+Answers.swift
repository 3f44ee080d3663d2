import LectureEngine
import LectureFormats
import LectureModel

/// Applies answers. Everything here is part of the step's transaction.
extension ReportMachine {
    /// An exchange is over.
    mutating func answered(_ id: InFlightBatchID, _ reply: ExchangeReply, _ step: inout Step<Self>) throws {
        guard var inFlightBatch = inFlightBatches[id],
            case .running(let transfer, let started) = inFlightBatch.phase,
            let target = targets[inFlightBatch.target]
        else { return }
        inFlightBatch.phase = .ready
        let isAskedToWait = target.isAskedToWait(at: step.boot)
        if reply.outcome.end == .cancelled {
            targets[inFlightBatch.target]?.pacer.ended(
                transfer, nil, now: step.now, boot: step.boot, random: 0)
            inFlightBatches[id] = inFlightBatch
            return
        }
        inFlightBatch.tries += 1
        let url = inFlightBatch.url ?? RequestMaker.url(of: target.address)
        let verdict = judge(reply, inFlightBatch, target, url)
        try observe(reply, url, verdict, &step)
        try notify(reply, verdict, of: inFlightBatch, to: target, &step)
        targets[inFlightBatch.target]?.pacer.ended(
            transfer, verdict, now: step.now, boot: step.boot, random: step.random())
        if case .suspend(let reason) = verdict { targets[inFlightBatch.target]?.suspension = reason }
        var answer = SendAnswer(at: step.now, status: reply.head?.status, text: reply.text)
        switch verdict {
        case .keep(let reason, let wait):
            answer.reason = reason
            recordFailure(of: inFlightBatch.target, target.error(of: reason, reply), started: started, &step)
            try keep(inFlightBatch, reason, wait, answer, &step)
        case .suspend:
            let cause = "HTTP \(reply.head?.status ?? 0)"
            let error = LectureError(.reportTargetRefuses, detail: target.host, cause: cause)
            recordFailure(of: inFlightBatch.target, error, started: started, &step)
            try keep(inFlightBatch, nil, nil, answer, &step)
        case .follow(let url):
            (inFlightBatch.url, inFlightBatch.phase) = (url, .following)
            inFlightBatch.redirects += 1
            inFlightBatches[id] = inFlightBatch
        case .delivered, .split, .bisect, .dead:
            targets[inFlightBatch.target]?.succeeded()
            try advance(inFlightBatch, verdict, answer, &step)
        }
        // A server's requested wait is kept as long as it lasts.
        if verdict == .delivered || isAskedToWait && answer.reason != .busy { return }
        if case .follow = verdict { return }
        targets[inFlightBatch.target]?.lastFailure = answer
    }

    private func judge(_ reply: ExchangeReply, _ inFlightBatch: InFlightBatchWork, _ target: TargetWork, _ url: String)
        -> SendVerdict
    {
        // The target does not accept the encoding: certainly refused, and not because of a report.
        if reply.head?.status == 415, !inFlightBatch.frozen.encoding.isEmpty { return .split }
        return AnswerJudge.judge(
            reply.head, body: reply.body, end: reply.end,
            expectation: SendExpectation(
                form: target.settings.form, count: inFlightBatch.frozen.reports.count, url: url,
                id: inFlightBatch.frozen.id,
                isIDOfWhole: target.address.format != .xapi, boundedTries: inFlightBatch.boundedTries,
                redirects: inFlightBatch.redirects))
    }

    /// Reports an exchange to listeners. A redirect that is followed does not end it.
    private func notify(
        _ reply: ExchangeReply, _ verdict: SendVerdict, of inFlightBatch: InFlightBatchWork, to target: TargetWork,
        _ step: inout Step<Self>
    ) throws {
        if case .follow = verdict { return }
        guard maker.functions.wantsExchanges() else { return }
        // A request frozen by an earlier program, or while there was no listener, is read again.
        let said = try inFlightBatch.said ?? SaidReports(step.store.reports(inFlightBatch.frozen.reports))
        var exchange = ReportExchange(url: target.address.url, reports: said.ids, data: said.texts)
        (exchange.status, exchange.answer) = (reply.head?.status, AnswerText.text(of: reply.body))
        exchange.isDelivered = verdict == .delivered
        step.notices.append(.event(.reportExchange(exchange)))
    }

    // MARK: Ends

    /// Stores what is final, and continues with the rest of the request.
    private mutating func advance(
        _ inFlightBatch: InFlightBatchWork, _ verdict: SendVerdict, _ answer: SendAnswer, _ step: inout Step<Self>
    ) throws {
        var inFlightBatch = inFlightBatch
        var newID: String?
        if answer.status == 415, !inFlightBatch.frozen.encoding.isEmpty {
            targets[inFlightBatch.target]?.encoding = ""
            newID = maker.functions.newID()
        } else {
            if verdict == .split { targets[inFlightBatch.target]?.lowerLimit(refused: inFlightBatch) }
            switch inFlightBatch.bisection.take(verdict) {
            case .delivered(let reports):
                try step.store.settle(inFlightBatch.id, reports, dead: nil, answer: answer, now: step.now)
                count(inFlightBatch.target) { $0.delivered += reports.count }
                count(open: -reports.count, inFlightBatch.target)
                step.notices.append(.delivered(reports.count))
                if orders.contains(where: \.order.namesDelivered) {
                    step.notices.append(.event(.reportsDelivered(try step.store.reports(reports).map(\.id))))
                }
            case .dead(let reports, let reason): try markDead(reports, of: inFlightBatch, reason, answer, &step)
            case .divided, .kept: break
            }
        }
        guard let target = targets[inFlightBatch.target] else { return }
        guard let current = inFlightBatch.bisection.current else {
            try whileOurs(inFlightBatch.id) { [owner] in try step.store.end(inFlightBatch.id, owner: owner) }
            inFlightBatches[inFlightBatch.id] = nil
            return
        }
        let known = inFlightBatch.known
        let next = try maker.request(of: current.reports, target, step.store, id: newID) { id, _ in
            known?.contains(id) ?? true
        }
        guard let made = next else { return try release(inFlightBatch.id, step) }
        let isOurs = try whileOurs(inFlightBatch.id) { [owner] in
            try step.store.advance(inFlightBatch.id, to: made.frozen, owner: owner, now: step.now)
        }
        guard isOurs else { return }
        inFlightBatch.take(made)
        inFlightBatches[inFlightBatch.id] = inFlightBatch
    }

    /// Marks reports dead; what they made unnecessary counts again.
    private mutating func markDead(
        _ reports: [OutboxID], of inFlightBatch: InFlightBatchWork, _ reason: DeadReason, _ answer: SendAnswer,
        _ step: inout Step<Self>
    ) throws {
        try step.store.settle(inFlightBatch.id, reports, dead: reason, answer: answer, now: step.now)
        count(inFlightBatch.target) { $0.refused += reports.count }
        count(open: -reports.count, inFlightBatch.target)
        let refused = try step.store.reports(reports).map(\.id)
        step.notices += refused.map { .event(.reportRefused(id: $0, reason: reason, error: answer.refusal(of: $0))) }
        let uncovered = BatchPlan.uncovered(try step.store.queueRows(of: reports))
        guard !uncovered.isEmpty else { return }
        try step.store.restore(uncovered)
        // What an earlier order superseded is not subtracted from this one's count.
        count(inFlightBatch.target) { $0.superseded = max(0, $0.superseded - uncovered.count) }
        count(open: uncovered.count, inFlightBatch.target)
    }

    // MARK: Kept

    private mutating func keep(
        _ inFlightBatch: InFlightBatchWork, _ reason: KeepReason?, _ asked: Duration?, _ answer: SendAnswer,
        _ step: inout Step<Self>
    ) throws {
        var inFlightBatch = inFlightBatch
        inFlightBatch.failures += 1
        // The redirect's target may fail again: the next try starts at the target itself.
        (inFlightBatch.url, inFlightBatch.redirects) = (nil, 0)
        if reason == .unsupported { inFlightBatch.boundedTries += 1 }
        if let reason, !reason.isOfTarget, let target = targets[inFlightBatch.target] {
            inFlightBatch.wait = RetryWait(
                asked: asked, tries: inFlightBatch.tries, backoff: target.settings.backoff, now: step.now,
                random: step.random())
        } else {
            inFlightBatch.wait = nil
        }
        inFlightBatches[inFlightBatch.id] = inFlightBatch
        let attempt = InFlightBatchAttempt(
            tries: inFlightBatch.tries, boundedTries: inFlightBatch.boundedTries, wait: inFlightBatch.wait,
            answer: answer)
        try whileOurs(inFlightBatch.id) { [owner] in try step.store.keep(inFlightBatch.id, attempt, owner: owner) }
    }

    /// Counts a failure, and reports it.
    private mutating func recordFailure(
        of id: TargetID, _ error: LectureError, started: BootInstant, _ step: inout Step<Self>
    ) {
        guard var target = targets[id] else { return }
        target.streak.failed(error, started: started, at: step.boot)
        targets[id] = target
        let others = target.others(in: step.others)
        let wait = target.suspension == nil ? target.pacer.waitLeft(at: step.boot, besides: others) : nil
        let obstacle = ReportObstacle(url: target.address.url, error: error, again: wait.map { step.now + $0 })
        step.notices.append(.event(.reportObstacle(obstacle)))
    }

    // MARK: Time

    /// Observes the time of an answer. A `Date` over https is the server's; over plain http any intermediary may have
    /// written it, so it counts only when no target of the orders has https, and when the LMS answered as expected.
    private mutating func observe(
        _ reply: ExchangeReply, _ url: String, _ verdict: SendVerdict, _ step: inout Step<Self>
    ) throws {
        guard let head = reply.head, let date = head.date, let boot = reply.headBoot else { return }
        if (try? Origin(url: url))?.isSecure != true {
            guard verdict == .delivered, !targets.values.contains(where: { $0.origin?.isSecure == true }) else {
                return
            }
        }
        let start = date + (BootInstant(nanoseconds: 0) - boot)
        if isEpochReported, let epoch, max(start - epoch, epoch - start) <= .seconds(2) { return }
        _ = try step.store.correct(bootID: settings.bootID, epoch: start)
        (epoch, isEpochReported) = (start, true)
    }
}
