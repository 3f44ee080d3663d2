import LectureEngine
import LectureFormats
import LectureModel

// Targets: the header of their requests, and what keeps reports from them.

extension TargetWork {
    /// The origin of its URL, without parts that may name learners.
    var host: String { Self.host(address.url) }

    fileprivate static func host(_ url: String) -> String {
        do throws(LectureError) { return try Origin(url: url).text } catch { return "" }
    }

    /// The error of an answer after which the reports are kept.
    func error(of reason: KeepReason, _ reply: ExchangeReply) -> LectureError {
        if case .failed(let curl, let words) = reply.outcome.end, reason == .unreachable || reason == .noAnswer {
            return LectureError(.transfer(curl), detail: host, cause: words)
        }
        let cause = reply.head.map { "HTTP \($0.status)" } ?? ""
        switch reason {
        case .portal, .redirected, .otherAnswer:
            return LectureError(.reportAnswerUnexpected, detail: host, cause: cause)
        case .unreachable, .noAnswer, .busy, .serverFailed, .again, .unsupported:
            return LectureError(.reportTargetWaits, detail: host, cause: cause)
        }
    }

    /// The header of a request. What is configured is sent only to the target's own origin.
    func headers(of frozen: FrozenRequest, to url: String) -> HeaderFields {
        var own: HeaderFields = ["Idempotency-Key": frozen.id]
        if !frozen.encoding.isEmpty {
            own.append(HeaderField(name: "Content-Encoding", value: frozen.encoding))
        }
        if address.format == .xapi {
            own.append(HeaderField(name: "X-Experience-API-Version", value: "1.0.3"))
        }
        guard Self.isSameOrigin(url, address.url) else { return own }
        let reserved = own.elements.map(\.name) + ["Content-Type", "Content-Encoding", "Content-Length"]
        for field in settings.headers.elements
        where !reserved.contains(where: { FieldText.equal($0, field.name) }) { own.append(field) }
        return own
    }

    private static func isSameOrigin(_ one: String, _ other: String) -> Bool {
        do throws(LectureError) { return try Origin(url: one) == Origin(url: other) } catch { return false }
    }
}

extension ReportObstacle {
    /// Why reports of a target are left at the end of an order.
    ///
    /// - Parameters:
    ///   - entry: the stored target.
    ///   - target: the same in work; nil when no order tries it.
    ///   - next: when the first request that this program has not claimed is due; nil when there is none.
    ///   - others: for how long what other kinds of traffic have met there keeps requests away.
    ///   - now: the wall clock.
    init(_ entry: TargetEntry, _ target: TargetWork?, next: RetryWait?, others: Duration, now: Timestamp) {
        let condition = target?.condition ?? entry.condition
        let (host, status) = (TargetWork.host(entry.address.url), condition.lastFailure?.status.map { "HTTP \($0)" })
        if condition.suspension != nil {
            let error = LectureError(.reportTargetRefuses, detail: host, cause: status ?? "")
            self.init(url: entry.address.url, error: target?.streak.error ?? error, again: nil)
            return
        }
        let cause = condition.wait == nil ? "" : status ?? ""
        // An unclaimed request has its own wait, or another program works on it.
        let due = [condition.wait, next].compactMap(\.self).map { now + $0.remaining(at: now) }
        self.init(
            url: entry.address.url,
            error: target?.streak.error ?? LectureError(.reportTargetWaits, detail: host, cause: cause),
            again: max(due.max() ?? now, now + others))
    }
}

extension SendAnswer {
    /// The error of a report that this answer refuses for good.
    func refusal(of report: String) -> LectureError {
        LectureError(.reportRefused, detail: report, cause: status.map { "HTTP \($0)" } ?? "")
    }
}
