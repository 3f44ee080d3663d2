import LectureModel

/// Applies answers. Everything here is part of the step's transaction.
extension StatisticsEngine {
    /// An exchange is over.
    func answered(_ id: InFlightBatchID, _ reply: SendReply, _ turn: Turn) throws {
        guard var inFlightBatch = work.inFlightBatches[id],
            case .running(_, let ticket, let started) = inFlightBatch.phase,
            let target = work.targets[inFlightBatch.target]
        else { return }
        inFlightBatch.phase = .ready
        let isAskedToWait = target.isAskedToWait(at: turn.now)
        if reply.outcome.end == .cancelled {
            work.targets[inFlightBatch.target]?.pace.ended(ticket, nil, wall: turn.now, random: 0)
            work.inFlightBatches[id] = inFlightBatch
            return
        }
        inFlightBatch.tries += 1
        let url = inFlightBatch.url ?? RequestMaker.url(of: target.address)
        let verdict = judge(reply, inFlightBatch, target, url)
        try observe(reply, url, verdict, turn)
        try notify(reply, verdict, of: inFlightBatch, to: target)
        work.targets[inFlightBatch.target]?.pace.ended(ticket, verdict, wall: turn.now, random: ports.random.next())
        var answer = SendAnswer(at: turn.now, status: reply.head?.status, text: reply.text)
        switch verdict {
        case .keep(let reason, let wait):
            answer.reason = reason
            recordFailure(of: inFlightBatch.target, Self.error(reason, reply, target), started: started, turn)
            try keep(inFlightBatch, reason, wait, answer, turn)
        case .suspend:
            let cause = "HTTP \(reply.head?.status ?? 0)"
            let error = LectureError(.reportTargetRefuses, detail: Self.host(target.address.url), cause: cause)
            recordFailure(of: inFlightBatch.target, error, started: started, turn)
            try keep(inFlightBatch, nil, nil, answer, turn)
        case .follow(let url):
            (inFlightBatch.url, inFlightBatch.phase) = (url, .following)
            inFlightBatch.redirects += 1
            work.inFlightBatches[id] = inFlightBatch
        case .delivered, .split, .bisect, .dead:
            work.targets[inFlightBatch.target]?.succeeded()
            try advance(inFlightBatch, verdict, answer, turn)
        }
        // A server's requested wait is kept as long as it lasts.
        if verdict == .delivered || isAskedToWait && answer.reason != .busy { return }
        if case .follow = verdict { return }
        work.targets[inFlightBatch.target]?.lastFailure = answer
    }

    private func judge(_ reply: SendReply, _ inFlightBatch: InFlightBatchWork, _ target: TargetWork, _ url: String)
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
        _ reply: SendReply, _ verdict: SendVerdict, of inFlightBatch: InFlightBatchWork, to target: TargetWork
    ) throws {
        if case .follow = verdict { return }
        guard ports.wantsExchanges() else { return }
        // A request frozen by an earlier program, or while there was no listener, is read again.
        let said = try inFlightBatch.said ?? SaidReports(outbox.reports(inFlightBatch.frozen.reports))
        var exchange = ReportExchange(url: target.address.url, reports: said.ids, data: said.texts)
        (exchange.status, exchange.answer) = (reply.head?.status, AnswerText.text(of: reply.body))
        exchange.isDelivered = verdict == .delivered
        notices.append(.exchange(exchange))
    }

    // MARK: Ends

    /// Stores what is final, and continues with the rest of the request.
    private func advance(_ inFlightBatch: InFlightBatchWork, _ verdict: SendVerdict, _ answer: SendAnswer, _ turn: Turn)
        throws
    {
        var inFlightBatch = inFlightBatch
        var newID: String?
        if answer.status == 415, !inFlightBatch.frozen.encoding.isEmpty {
            work.targets[inFlightBatch.target]?.encoding = ""
            newID = ports.newID()
        } else {
            if verdict == .split { lowerLimit(inFlightBatch) }
            switch inFlightBatch.bisection.take(verdict) {
            case .delivered(let reports):
                try outbox.settle(inFlightBatch.id, reports, dead: nil, answer: answer, now: turn.now)
                count(inFlightBatch.target) { $0.delivered += reports.count }
                count(open: -reports.count, inFlightBatch.target)
                if work.orders.contains(where: \.order.namesDelivered) {
                    notices.append(.delivered(try outbox.reports(reports).map(\.id)))
                }
            case .dead(let reports, let reason): try markDead(reports, of: inFlightBatch, reason, answer, turn)
            case .divided, .kept: break
            }
        }
        guard let target = work.targets[inFlightBatch.target] else { return }
        guard let current = inFlightBatch.bisection.current else {
            try whileOurs(inFlightBatch.id) { try outbox.end(inFlightBatch.id, owner: owner) }
            work.inFlightBatches[inFlightBatch.id] = nil
            return
        }
        let known = inFlightBatch.known
        let next = try makeRequest(current.reports, target, id: newID) { id, _ in known?.contains(id) ?? true }
        guard let made = next else { return try release(inFlightBatch.id) }
        let isOurs = try whileOurs(inFlightBatch.id) {
            try outbox.advance(inFlightBatch.id, to: made.frozen, owner: owner, now: turn.now)
        }
        guard isOurs else { return }
        inFlightBatch.take(made)
        work.inFlightBatches[inFlightBatch.id] = inFlightBatch
    }

    /// Lowers the size limit, so that bodies as large as the refused one are not made again.
    private func lowerLimit(_ inFlightBatch: InFlightBatchWork) {
        guard inFlightBatch.frozen.reports.count > 1, let target = work.targets[inFlightBatch.target] else { return }
        let limits = target.limits.lowered(refused: inFlightBatch.rawBytes)
        work.targets[inFlightBatch.target]?.limits = limits
        work.targets[inFlightBatch.target]?.bytesLimit = max(1, limits.bytes)
    }

    /// Marks reports dead; what they made unnecessary counts again.
    private func markDead(
        _ reports: [OutboxID], of inFlightBatch: InFlightBatchWork, _ reason: DeadReason, _ answer: SendAnswer,
        _ turn: Turn
    ) throws {
        try outbox.settle(inFlightBatch.id, reports, dead: reason, answer: answer, now: turn.now)
        count(inFlightBatch.target) { $0.dead += reports.count }
        count(open: -reports.count, inFlightBatch.target)
        for record in try outbox.reports(reports) { notices.append(.refused(record.id, reason, answer)) }
        let uncovered = BatchPlan.uncovered(try outbox.queueRows(of: reports))
        guard !uncovered.isEmpty else { return }
        try outbox.restore(uncovered)
        // What an earlier order superseded is not subtracted from this one's count.
        count(inFlightBatch.target) { $0.superseded = max(0, $0.superseded - uncovered.count) }
        count(open: uncovered.count, inFlightBatch.target)
    }

    // MARK: Kept

    private func keep(
        _ inFlightBatch: InFlightBatchWork, _ reason: KeepReason?, _ asked: Duration?, _ answer: SendAnswer,
        _ turn: Turn
    ) throws {
        var inFlightBatch = inFlightBatch
        inFlightBatch.failures += 1
        // The redirect's target may fail again: the next try starts at the target itself.
        (inFlightBatch.url, inFlightBatch.redirects) = (nil, 0)
        if reason == .unsupported { inFlightBatch.boundedTries += 1 }
        if let reason, !reason.isOfTarget, let target = work.targets[inFlightBatch.target] {
            inFlightBatch.wait = PersistedWait(
                asked: asked, tries: inFlightBatch.tries, backoff: target.settings.pace.backoff, now: turn.now,
                random: ports.random.next())
        } else {
            inFlightBatch.wait = nil
        }
        work.inFlightBatches[inFlightBatch.id] = inFlightBatch
        let attempt = InFlightBatchAttempt(
            tries: inFlightBatch.tries, boundedTries: inFlightBatch.boundedTries, wait: inFlightBatch.wait,
            answer: answer)
        try whileOurs(inFlightBatch.id) { try outbox.keep(inFlightBatch.id, attempt, owner: owner) }
    }

    /// Counts a failure. Failures of one burst, of requests that started before the last failure was known, count once.
    private func recordFailure(of id: TargetID, _ error: LectureError, started: BootInstant, _ turn: Turn) {
        guard var target = work.targets[id] else { return }
        if target.failedAt.map({ started >= $0 }) ?? true {
            target.failures += 1
            target.failedAt = turn.boot
        }
        target.obstacle = error
        work.targets[id] = target
        let wait = target.pace.suspension == nil ? target.pace.wait?.remaining(at: turn.now) ?? .zero : nil
        notices.append(.obstacle(TargetObstacle(target: id, error: error, again: wait.map { turn.now + $0 })))
    }

    private static func error(_ reason: KeepReason, _ reply: SendReply, _ target: TargetWork) -> LectureError {
        let detail = host(target.address.url)
        if case .failed(let curl, let words) = reply.outcome.end, reason == .unreachable || reason == .noAnswer {
            return LectureError(.transfer(curl), detail: detail, cause: words)
        }
        let cause = reply.head.map { "HTTP \($0.status)" } ?? ""
        switch reason {
        case .portal, .redirected, .otherAnswer:
            return LectureError(.reportAnswerUnexpected, detail: detail, cause: cause)
        case .unreachable, .noAnswer, .busy, .serverFailed, .again, .unsupported:
            return LectureError(.reportTargetWaits, detail: detail, cause: cause)
        }
    }

    // MARK: Time

    /// Observes the time of an answer. A `Date` over https is the server's; over plain http any intermediary may have
    /// written it, so it counts only when no target of the orders has https, and when the LMS answered as expected.
    private func observe(_ reply: SendReply, _ url: String, _ verdict: SendVerdict, _ turn: Turn) throws {
        guard let head = reply.head, let date = head.date, let boot = reply.headBoot else { return }
        if !Self.isSecure(url) {
            guard verdict == .delivered, !work.targets.values.contains(where: { Self.isSecure($0.address.url) }) else {
                return
            }
        }
        let epoch = date + (BootInstant(nanoseconds: 0) - boot)
        if work.isEpochReported, let old = work.epoch, max(epoch - old, old - epoch) <= .seconds(2) { return }
        _ = try outbox.correct(bootID: settings.bootID, epoch: epoch)
        (work.epoch, work.isEpochReported) = (epoch, true)
    }

    private static func isSecure(_ url: String) -> Bool {
        do throws(LectureError) { return try Origin(url: url).scheme == "https" } catch { return false }
    }
}
