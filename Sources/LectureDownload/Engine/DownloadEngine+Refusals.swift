import LectureModel

/// Handles answers that carry no bytes of the object.
extension DownloadEngine {
    // MARK: Redirects, waits, refusals

    /// An answer was refused. If only its ranges are wrong, the server may still send the whole.
    func refused(
        _ code: LectureError.Code, _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> Decision {
        let error = LectureError(code, detail: transfer.origin.host)
        let isAboutRange = transfer.sink.asked.range != nil && Self.rangeFailures.contains(code)
        let hasMirror = resource.mayCombineServers && resource.sources.hasOther(than: transfer.lease)
        guard isAboutRange, !resource.connections.avoidsRanges, resource.machine.isFetching, !hasMirror
        else { return try urlFailed(transfer, resource, of: item, error, now: now) }
        resource.connections.avoidRanges()
        resource.record.acceptsRanges = false
        try index.updateResource(item.lease, resource.record)
        return try tryAgain(resource, of: item, error, now: now)
    }

    /// The errors of a server that gets ranges wrong.
    private static let rangeFailures: Set<LectureError.Code> = [
        .rangeMismatch, .multipartRefused, .lengthConflict, .status(416),
    ]

    func follow(
        _ target: String, _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> Decision {
        do throws(LectureError) {
            resource.sources.follow(try redirect(to: target, of: transfer), of: transfer.lease)
            return .redirect
        } catch {
            return try urlFailed(transfer, resource, of: item, error, now: now)
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

    func serverAsksToWait(
        _ wait: RetryAfter?, status: Int, _ transfer: TransferWork, _ item: ItemWork, now: Timestamp
    ) throws -> Decision {
        let failures = try countFailure(transfer.resource, of: item, now: now)
        var requested = RequestedWait(
            wait, status: status, host: transfer.origin.host, failures: failures, settings: settings)
        requested.isLoader = transfer.resource == nil
        requested.isOptional = transfer.resource?.record.role.isRequired == false
        requested.hasMirror = transfer.resource.map { canTurn($0, from: transfer.lease) } ?? false
        requested.othersRun = item.hasTransfers
        let ruling = requested.ruling(random: ports.random.next)
        switch ruling {
        case .turnToMirror: if let resource = transfer.resource { turnToMirror(resource, from: transfer.lease) }
        case .hold(let pause): hold(transfer.resource, of: item, for: pause)
        case .stop(let error, let pause):
            try end(item, item.machine.stopped(.serverWait, error: error, until: now + pause, now: now))
        case .failResource(let error):
            if let resource = transfer.resource { return try resourceFailed(resource, of: item, error) }
        case .failItem(let error): try end(item, item.machine.failed(error))
        }
        return ruling.decision
    }

    /// The next transfer of a file, or of the loader, waits.
    private func hold(_ resource: ResourceWork?, of item: ItemWork, for pause: Duration) {
        let moment = ports.clock.boot() + pause
        if let resource { resource.attempts.wait(until: moment) } else { item.loader.wait(until: moment) }
    }

    /// 401, 403, 404, 410: the URL is no longer valid, but the bytes are. Try another URL, then the resolver, then
    /// fail.
    func renew(
        _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, status: Int, now: Timestamp
    ) throws -> Decision {
        let error = LectureError(.status(status), detail: transfer.origin.host)
        if mayBeOneOfSeveral(transfer, resource, of: item) { return try tryAgain(resource, of: item, error, now: now) }
        markURL(transfer.lease, .refused, resource)
        let hasMirror = resource.sources.hasUsable
        if hasMirror, resource.mayCombineServers { return .mirror }
        guard resource.record.role.isRequired, item.record.isGateway || ports.resolver.isPresent, item.renewal.isAllowed
        else {
            if hasMirror { return try changed(resource, of: item, because: error, now: now) }
            return try resourceFailed(resource, of: item, error)
        }
        item.renewal.began(isResolving: !item.record.isGateway)
        if item.record.isGateway {
            // The next `advance` opens it; resources wait for the loader.
            item.loader.request()
        } else {
            let content = item.record.content
            effects.append(.resolve(item.id, key: content.key, sourceURL: content.sourceURL))
        }
        return .renew
    }

    func resolved(_ item: ItemWork, urls: [String], _ error: LectureError?) throws {
        item.renewal.answered()
        guard let media = item.media, !item.isEnding else { return }
        guard error == nil, !urls.isEmpty else {
            _ = try resourceFailed(media, of: item, error ?? LectureError(.status(403)))
            return
        }
        try replaceURLs(media, of: item, urls: urls)
    }

    func replaceURLs(_ resource: ResourceWork, of item: ItemWork, urls: [String]) throws {
        try index.replaceURLLeases(item.lease, resource.record.id, urls: urls, expires: nil, now: ports.clock.now())
        resource.sources.replace(with: try index.urlLeases(resource.record.id))
    }

    func markURL(_ lease: URLLeaseID?, _ state: URLLeaseRecord.State, _ resource: ResourceWork) {
        guard let url = resource.sources.mark(lease, state) else { return }
        try? index.setURLLease(url.id, state: url.state, rank: url.rank)
    }

    func outOfURLs(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        _ = try resourceFailed(resource, of: item, item.machine.status.error ?? LectureError(.status(404)))
    }

    /// This URL cannot deliver the object; another may.
    @discardableResult
    func urlFailed(
        _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, _ error: LectureError, now: Timestamp
    ) throws -> Decision {
        markURL(transfer.lease, .refused, resource)
        if resource.sources.hasUsable {
            return resource.mayCombineServers ? .mirror : try changed(resource, of: item, because: error, now: now)
        }
        return try resourceFailed(resource, of: item, error)
    }

    /// An optional resource fails alone; a required one fails the item.
    func resourceFailed(_ resource: ResourceWork, of item: ItemWork, _ error: LectureError) throws -> Decision {
        if resource.record.role.isRequired {
            try end(item, item.machine.failed(error))
        } else {
            let ruling = resource.machine.failed()
            guard ruling != .bug else {
                try endForBug(item)
                return .failed
            }
            resource.record.state = .failed
            abandon(resource, deleting: true)
            // A resource that will never be complete counts neither as missing nor as present.
            let chunks = try index.chunks(resource.record.id).map(\.index)
            try index.markUncommitted(
                item.lease, resource.record.id, chunks: chunks, bytes: resource.book.committedBytes)
            resource.record.total = nil
            resource.chunks.book = RangeBook(total: nil, grid: resource.record.grid, committed: [])
            try index.updateResource(item.lease, resource.record)
        }
        return .failed
    }

    /// Counts an attempt without progress; returns how many there were in a row. An optional resource has its own
    /// count, so that it does not use up the attempts of the media.
    func countFailure(_ resource: ResourceWork?, of item: ItemWork, now: Timestamp) throws -> Int {
        if let resource, !resource.record.role.isRequired {
            resource.attempts.failed()
            return resource.attempts.failures
        }
        try apply(item, item.machine.attemptFailed(), now: now)
        return item.machine.status.attempts
    }

    /// The attempt failed in a way that may be temporary.
    func tryAgain(
        _ resource: ResourceWork?, of item: ItemWork, _ error: LectureError, now: Timestamp
    ) throws -> Decision {
        let failures = try countFailure(resource, of: item, now: now)
        var attempt = FailedAttempt(error, failures: failures, settings: settings)
        attempt.isOptional = resource?.record.role.isRequired == false
        attempt.othersRun = resource?.sinks.isEmpty == false
        let ruling = attempt.ruling(random: ports.random.next)
        switch ruling {
        case .useFewer(let pause):
            if let resource { resource.connections.failed(leaving: resource.sinks.count) }
            hold(resource, of: item, for: pause)
        case .wait(let pause): hold(resource, of: item, for: pause)
        case .postpone(let error, let pause):
            try end(item, item.machine.retryLater(error: error, until: now + pause, now: now))
        case .failResource(let error):
            if let resource { return try resourceFailed(resource, of: item, error) }
        case .stopForNetwork(let error, let pause):
            try end(item, item.machine.stopped(.network, error: error, until: now + pause, now: now))
        case .failItem(let error): try end(item, item.machine.failed(error))
        }
        return ruling.decision
    }
}
