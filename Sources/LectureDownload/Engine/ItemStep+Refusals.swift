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
        let isAboutRange = transfer.sink.asked.range != nil && Self.rangeFailures.contains(code)
        let hasMirror = item[resource].mayCombineServers && item[resource].sources.hasOther(than: transfer.lease)
        guard isAboutRange, !item[resource].connections.avoidsRanges, item[resource].machine.isFetching, !hasMirror
        else { return try urlFailed(transfer, resource, error) }
        item[resource].connections.avoidRanges()
        item[resource].record.acceptsRanges = false
        try item[resource].save(step)
        return try tryAgain(resource, error)
    }

    /// The errors of a server that gets ranges wrong.
    private static let rangeFailures: Set<LectureError.Code> = [
        .rangeMismatch, .multipartRefused, .lengthConflict, .status(416),
    ]

    mutating func follow(
        _ target: String, _ transfer: TransferWork, _ resource: PartToken
    ) throws -> Decision {
        do throws(LectureError) {
            item[resource].sources.follow(try redirect(to: target, of: transfer), of: transfer.lease)
            return .redirect
        } catch {
            return try urlFailed(transfer, resource, error)
        }
    }

    /// Where a redirect leads, with the fields that may be sent.
    func redirect(to target: String, of transfer: TransferWork) throws(LectureError) -> Redirect {
        var route = transfer.route
        route.hops += 1
        let origin = try RedirectPolicy.follow(target, from: transfer.origin, hop: route.hops)
        let fields = RedirectPolicy.fields(route.fields.elements, from: route.origin, to: origin)
        return Redirect(url: target, fields: HeaderFields(fields), route: route)
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
        case .turnToMirror: if let resource = transfer.resource { turnToMirror(resource, from: transfer.lease) }
        case .hold(let pause): hold(transfer.resource, for: pause)
        case .stop(let error, let pause):
            try end(item.machine.stopped(.serverWait, error: error, until: now + pause, now: now))
        case .failResource(let error):
            if let resource = transfer.resource { return try resourceFailed(resource, error) }
        case .failItem(let error): try end(item.machine.failed(error))
        }
        return ruling.decision
    }

    /// The next transfer of a file, or of the loader, waits.
    private mutating func hold(_ resource: PartToken?, for pause: Duration) {
        let moment = boot + pause
        if let resource { item[resource].attempts.wait(until: moment) } else { item.loader.wait(until: moment) }
    }

    /// 401, 403, 404, 410: the URL is no longer valid, but the bytes are. Try another URL, then the resolver, then
    /// fail.
    mutating func renew(
        _ transfer: TransferWork, _ resource: PartToken, status: Int
    ) throws -> Decision {
        let error = LectureError(.status(status), detail: transfer.origin.host)
        if mayBeOneOfSeveral(transfer, resource) { return try tryAgain(resource, error) }
        markURL(transfer.lease, .refused, resource)
        let hasMirror = item[resource].sources.hasUsable
        if hasMirror, item[resource].mayCombineServers { return .mirror }
        guard item[resource].record.role.isRequired, item.record.isGateway || step.store.hasResolver,
            item.renewal.isAllowed
        else {
            if hasMirror { return try changed(resource, because: error) }
            return try resourceFailed(resource, error)
        }
        item.renewal.began(isResolving: !item.record.isGateway)
        if item.record.isGateway {
            // The next `advance` opens it; resources wait for the loader.
            item.loader.request()
        } else {
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
        try replaceURLs(media.token, urls: urls)
    }

    mutating func replaceURLs(_ resource: PartToken, urls: [String]) throws {
        try index.replaceURLLeases(item.lease, item[resource].record.id, urls: urls, expires: nil, now: now)
        item[resource].sources.replace(with: try index.urlLeases(item[resource].record.id))
    }

    mutating func markURL(_ lease: URLLeaseID?, _ state: URLLeaseRecord.State, _ resource: PartToken) {
        guard let url = item[resource].sources.mark(lease, state) else { return }
        try? index.setURLLease(url.id, state: url.state, rank: url.rank)
    }

    mutating func outOfURLs(_ resource: PartToken) throws {
        _ = try resourceFailed(resource, item.machine.status.error ?? LectureError(.status(404)))
    }

    /// This URL cannot deliver the object; another may.
    @discardableResult
    mutating func urlFailed(
        _ transfer: TransferWork, _ resource: PartToken, _ error: LectureError
    ) throws -> Decision {
        markURL(transfer.lease, .refused, resource)
        if item[resource].sources.hasUsable {
            return item[resource].mayCombineServers ? .mirror : try changed(resource, because: error)
        }
        return try resourceFailed(resource, error)
    }

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
