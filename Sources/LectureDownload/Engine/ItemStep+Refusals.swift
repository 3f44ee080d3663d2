import LectureEngine
import LectureFormats
import LectureModel

/// Handles answers that carry no bytes of the object.
extension ItemStep {
    // MARK: Redirects, waits, refusals

    /// An answer was refused. If only its ranges are wrong, the server may still send the whole.
    mutating func refused(
        _ code: LectureError.Code, _ transfer: TransferWork, _ resource: PartToken
    ) throws -> Decision {
        let error = LectureError(code, detail: transfer.origin.host)
        guard item[resource].mayAvoidRanges(after: code, of: transfer) else {
            return try urlFailed(transfer, resource, error)
        }
        try item[resource].avoidRanges(step)
        return try tryAgain(resource, error)
    }

    mutating func follow(
        _ target: String, _ transfer: TransferWork, _ resource: PartToken
    ) throws -> Decision {
        do throws(LectureError) {
            item[resource].sources.follow(try transfer.redirect(to: target), of: transfer.lease)
            return .redirect
        } catch {
            return try urlFailed(transfer, resource, error)
        }
    }

    mutating func serverAsksToWait(
        _ wait: RetryAfter?, status: Int, _ transfer: TransferWork
    ) throws -> Decision {
        let failures = try countFailure(transfer.resource)
        var requested = RequestedWait(
            wait, status: status, host: transfer.origin.host, failures: failures, settings: settings)
        requested.isLoader = transfer.resource == nil
        requested.isOptional = transfer.resource.map { !item[$0].record.role.isRequired } ?? false
        requested.hasMirror = transfer.resource.map { canTurn($0, from: transfer.lease) } ?? false
        requested.othersRun = item.hasTransfers
        let ruling = requested.ruling(random: step.random)
        switch ruling {
        case .turnToMirror:
            if let resource = transfer.resource { item[resource].turnToMirror(from: transfer.lease, step) }
        case .hold(let pause): hold(transfer.resource, for: pause)
        case .stop(let error, let pause):
            try end(item.machine.stopped(.serverWait, error: error, until: now + pause, now: now))
        case .failResource(let error):
            if let resource = transfer.resource { return try resourceFailed(resource, error) }
        case .failItem(let error): try end(item.machine.failed(error))
        }
        return ruling.decision
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    func canTurn(_ resource: PartToken, from lease: URLLeaseID?) -> Bool {
        item[resource].canTurn(from: lease, mayAsk: mayAsk)
    }

    /// Counts the failures of a URL. One that fails repeatedly before anything is known is moved behind the others.
    mutating func recordFailure(_ transfer: TransferWork, _ report: TransferReport, _ resource: PartToken, gained: Bool)
    {
        guard let lease = transfer.lease else { return }
        if gained {
            item[resource].sources.succeeded(lease)
        } else if report.isFailure, item[resource].sources.failed(lease), canTurn(resource, from: lease) {
            item[resource].turnToMirror(from: lease, step)
        }
    }

    /// The next transfer of a file, or of the loader, waits.
    private mutating func hold(_ resource: PartToken?, for pause: Duration) {
        let moment = boot + pause
        if let resource { item[resource].attempts.wait(until: moment) } else { item.loader.wait(until: moment) }
    }

    // MARK: Lost URLs

    /// 401, 403, 404, 410: the URL is no longer valid, but the bytes are. Try another URL, then the resolver, then
    /// fail.
    mutating func renew(
        _ transfer: TransferWork, _ resource: PartToken, status: Int
    ) throws -> Decision {
        let error = LectureError(.status(status), detail: transfer.origin.host)
        if mayBeOneOfSeveral(transfer, resource) { return try tryAgain(resource, error) }
        var lost = item[resource].refused(transfer.lease, step)
        if item[resource].record.role.isRequired, item.renewal.isAllowed {
            lost.renewal = item.record.isGateway ? .gateway : step.store.hasResolver ? .resolver : .none
        }
        return try apply(lost.ruling, resource, error)
    }

    /// Whether a refused URL may still be good; not if new ones can be requested.
    private mutating func mayBeOneOfSeveral(_ transfer: TransferWork, _ resource: PartToken) -> Bool {
        guard !item.record.isGateway, !step.store.hasResolver else { return false }
        return item[resource].sources.mayBeOneOfSeveral(transfer.lease, othersRun: !item[resource].sinks.isEmpty)
    }

    /// This URL cannot deliver the object; another may.
    @discardableResult
    mutating func urlFailed(
        _ transfer: TransferWork, _ resource: PartToken, _ error: LectureError
    ) throws -> Decision {
        try apply(item[resource].refused(transfer.lease, step).ruling, resource, error)
    }

    private mutating func apply(
        _ ruling: URLRuling, _ resource: PartToken, _ error: LectureError
    ) throws -> Decision {
        switch ruling {
        case .useMirror: return .mirror
        case .startOver: return try changed(resource, because: error)
        case .failResource: return try resourceFailed(resource, error)
        case .askGateway:
            item.renewal.began(isResolving: false)
            // The next `advance` opens it; resources wait for the loader.
            item.loader.request()
        case .askResolver:
            item.renewal.began(isResolving: true)
            let content = item.record.content
            step.effects.append(.resolve(item.id, key: content.key, sourceURL: content.sourceURL))
        }
        return .renew
    }

    mutating func resolved(urls: [String], _ error: LectureError?) throws {
        item.renewal.answered()
        guard let media = item.media, !item.isEnding else { return }
        guard error == nil, !urls.isEmpty else {
            _ = try resourceFailed(media.token, error ?? LectureError(.status(403)))
            return
        }
        try item[media.token].replaceURLs(urls, step)
    }

    mutating func outOfURLs(_ resource: PartToken) throws {
        _ = try resourceFailed(resource, item.machine.status.error ?? LectureError(.status(404)))
    }

    // MARK: Failures

    /// An optional resource fails alone; a required one fails the item.
    mutating func resourceFailed(_ resource: PartToken, _ error: LectureError) throws -> Decision {
        if item[resource].record.role.isRequired {
            try end(item.machine.failed(error))
        } else {
            if try item[resource].failAlone(&step) == .bug { try endForBug() }
        }
        return .failed
    }

    /// Counts an attempt without progress; returns how many there were in a row. An optional resource has its own
    /// count, so that it does not use up the attempts of the media.
    mutating func countFailure(_ resource: PartToken?) throws -> Int {
        if let resource, !item[resource].record.role.isRequired {
            item[resource].attempts.failed()
            return item[resource].attempts.failures
        }
        try apply(item.machine.attemptFailed())
        return item.machine.status.attempts
    }

    /// The attempt failed in a way that may be temporary.
    mutating func tryAgain(
        _ resource: PartToken?, _ error: LectureError
    ) throws -> Decision {
        let failures = try countFailure(resource)
        var attempt = FailedAttempt(error, failures: failures, settings: settings)
        attempt.isOptional = resource.map { !item[$0].record.role.isRequired } ?? false
        attempt.othersRun = resource.map { !item[$0].sinks.isEmpty } ?? false
        let ruling = attempt.ruling(random: step.random)
        switch ruling {
        case .useFewer(let pause):
            if let resource { item[resource].connections.failed(leaving: item[resource].sinks.count) }
            hold(resource, for: pause)
        case .wait(let pause): hold(resource, for: pause)
        case .postpone(let error, let pause):
            try end(item.machine.retryLater(error: error, until: now + pause, now: now))
        case .failResource(let error):
            if let resource { return try resourceFailed(resource, error) }
        case .stopForNetwork(let error, let pause):
            try end(item.machine.stopped(.network, error: error, until: now + pause, now: now))
        case .failItem(let error): try end(item.machine.failed(error))
        }
        return ruling.decision
    }
}

extension TransferReport {
    /// Whether the server, or the way to it, is to blame.
    fileprivate var isFailure: Bool {
        if case .failed = outcome.end { return true }
        switch verdict {
        case .wait, .retry: return true
        case nil, .body, .noRanges, .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .renewLease, .refuse:
            return false
        }
    }
}
