import LectureModel

/// What answers mean, and what becomes of a transfer that ended.
extension DownloadEngine {
    // MARK: Headers

    func headCame(_ transfer: TransferWork, _ verdict: ResponseVerdict, status: Int) throws {
        guard let item = transfer.item, !item.isEnding, let resource = transfer.resource,
            resource.sinks[transfer.id] != nil
        else { return }
        switch verdict {
        case .body(let plan), .noRanges(let plan):
            if case .noRanges = verdict { try serverHasNoRanges(transfer, resource, of: item) }
            resource.announcedSHA256 = resource.announcedSHA256 ?? plan.digest
            if plan.validatorChanged { resource.validatorWasChanged = true }
            if resource.stage == .asking { try adopt(plan, resource, of: item, from: transfer) }
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            // Dealt with when the transfer has ended.
            return
        }
    }

    private func serverHasNoRanges(_ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork) throws {
        resource.record.acceptsRanges = false
        resource.connections = 1
        guard resource.sinks.count == 1 else { return }
        resource.book.restart(transfer.id)
        if resource.stage != .asking { try index.updateResource(item.lease, resource.record) }
    }

    /// The first answer fixes length, place, chunk size and validator.
    private func adopt(_ plan: BodyPlan, _ resource: ResourceWork, of item: ItemWork, from transfer: TransferWork)
        throws
    {
        let now = ports.clock.now()
        if let expected = resource.record.expectedBytes, let total = plan.total, expected != total {
            try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
            return
        }
        if let total = plan.total ?? resource.record.expectedBytes, let quota = settings.quotaBytes,
            try index.plannedBytes() + total > quota
        {
            return try end(
                item, item.machine.stopped(.quota, error: LectureError(.quota), until: nil, now: now))
        }
        resource.record.total = plan.total
        resource.record.entityTag = plan.validator.etag
        resource.record.lastModified = plan.validator.lastModified
        resource.record.mediaType = plan.mediaType
        resource.record.acceptsRanges = plan.acceptsRanges
        resource.validatorURL = transfer.lease
        if let total = plan.total { resource.book.learn(total: total) }
        try fixPlace(resource, of: item, now: now)
    }

    /// Stores the plan; the part file is made after the commit.
    private func fixPlace(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        resource.record.chunkBytes = resource.book.chunkBytes
        resource.record.path = MediaPath.path(resource.record)
        resource.record.state = .planned
        resource.stage = .fetching
        try index.updateResource(item.lease, resource.record)
        if !item.record.isLoaded {
            item.record.isLoaded = try index.setFacts(item.lease, ContentFacts(), now: now) == nil
        }
        try apply(item, item.machine.sourceKnown(), now: now)
        openPartIfNeeded(resource, of: item)
    }

    // MARK: Ends

    func transferEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        guard let item = transfer.item else { return }
        let now = ports.clock.now()
        var attempt = attemptRecord(transfer, report)
        defer { try? index.record(attempt, content: item.id, resource: transfer.resource?.record.id) }
        guard let resource = transfer.resource else {
            attempt.decision = try loaderEnded(transfer, report, item, now: now)
            return
        }
        try account(transfer, report, resource, of: item)
        if item.isEnding {
            attempt.decision = "ended"
            return
        }
        attempt.decision = try decide(transfer, report, resource, of: item, now: now)
    }

    /// Books what was received.
    private func account(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork
    ) throws {
        let gained = report.verdict?.mediaPlan != nil && report.position > transfer.start
        if gained, report.reachedEnd, resource.record.total == nil, resource.stage == .fetching {
            // The end of the answer told the length.
            resource.record.total = report.position
            resource.book.learn(total: report.position)
            try index.updateResource(item.lease, resource.record)
        }
        resource.book.ended(transfer.id, position: gained ? report.handedOver : 0)
        if let remainder = report.remainder {
            let chunk = Int(remainder.offset / resource.book.chunkBytes)
            if item.isEnding || resource.book.proven.contains(chunk) {
                effects.append { [part = resource.part] in part.abandon(remainder.lane) }
            } else {
                resource.remainders[chunk] = remainder
            }
        }
        guard gained else { return }
        item.failures = 0
        item.renewals = 0
        try apply(item, item.machine.gainedBytes(), now: ports.clock.now())
    }

    private func attemptRecord(_ transfer: TransferWork, _ report: TransferReport) -> Attempt {
        var attempt = Attempt(at: transfer.startedAt, origin: transfer.origin.text, decision: "continued")
        attempt.duration = report.outcome.elapsed
        attempt.status = report.status
        attempt.bytes = report.outcome.bodyBytes
        attempt.rangeFirst = Int64(clamping: transfer.start)
        attempt.rangeCount = transfer.count.map { Int64(clamping: $0) }
        if case .failed(let curl, let detail) = report.outcome.end {
            attempt.curlCode = curl
            attempt.detail = detail
        }
        return attempt
    }

    /// The decision about one ended transfer, as the word kept in the attempt history.
    private func decide(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        switch report.verdict {
        case nil:
            return try belowHTTP(transfer, report, resource, of: item, now: now)
        case .body, .noRanges:
            return try bodyEnded(transfer, report, resource, of: item, now: now)
        case .descriptor:
            return try descriptorInsteadOfMedia(report, resource, of: item, now: now)
        case .empty:
            return try objectIsEmpty(transfer, resource, of: item, now: now)
        case .changed:
            guard resource.stage != .asking else {
                return try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
            }
            return try restart(item, because: LectureError(.versionUnstable), now: now)
        case .rangeBeyondEnd:
            return try restart(item, because: LectureError(.lengthChanged), now: now)
        case .redirect(let target):
            return try follow(target, transfer, resource, of: item, now: now)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer, item, now: now)
        case .renewLease(let status):
            return try renew(transfer, resource, of: item, status: status, now: now)
        case .retry(let code):
            return try tryAgain(resource, of: item, LectureError(code, detail: transfer.origin.host), now: now)
        case .refuse(let code):
            return try urlFailed(
                transfer, resource, of: item, LectureError(code, detail: transfer.origin.host), now: now)
        }
    }

    private func bodyEnded(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        switch report.cause {
        case .border: return "split"
        case .disk: return "disk"
        case .refusedHead: return "cancelled"
        case .tooLong:
            return try urlFailed(transfer, resource, of: item, LectureError(.bodyTooLong), now: now)
        case .tooLarge:
            return try urlFailed(transfer, resource, of: item, LectureError(.tooLarge), now: now)
        case .none: break
        }
        switch report.outcome.end {
        case .complete:
            let isShort = !report.reachedEnd && report.position < transfer.start + (transfer.count ?? 0)
            if !isShort || report.position > transfer.start { return isShort ? "short" : "done" }
            return try tryAgain(resource, of: item, LectureError(.bodyCut, detail: transfer.origin.host), now: now)
        case .cancelled, .stopped: return "cancelled"
        case .failed: return try belowHTTP(transfer, report, resource, of: item, now: now)
        }
    }

    private func belowHTTP(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        guard case .failed(let curl, let detail) = report.outcome.end else { return "cancelled" }
        let error = LectureError(.transfer(curl), detail: transfer.origin.host, cause: detail)
        if error.isFinalForURL { return try urlFailed(transfer, resource, of: item, error, now: now) }
        return try tryAgain(resource, of: item, error, now: now)
    }

    private func objectIsEmpty(
        _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        guard resource.stage == .asking, resource.record.expectedBytes ?? 0 == 0 else {
            return try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
        }
        resource.record.total = 0
        resource.book.learn(total: 0)
        try fixPlace(resource, of: item, now: now)
        return "done"
    }

    // MARK: Redirects, waits, refusals

    private func follow(
        _ target: String, _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        do throws(LectureError) {
            resource.redirect = try redirect(to: target, of: transfer)
            resource.redirectLease = transfer.lease
            return "redirect"
        } catch {
            return try urlFailed(transfer, resource, of: item, error, now: now)
        }
    }

    /// Where a redirect leads, with the fields that may go along.
    func redirect(to target: String, of transfer: TransferWork) throws(LectureError) -> Redirect {
        var route = transfer.route
        route.hops += 1
        let origin = try RedirectPolicy.follow(target, from: transfer.origin, hop: route.hops)
        let fields = RedirectPolicy.fields(route.fields.elements, from: route.origin, to: origin)
        return Redirect(url: target, fields: HeaderFields(fields), route: route)
    }

    func serverAsksToWait(
        _ wait: RetryAfter?, status: Int, _ transfer: TransferWork, _ item: ItemWork, now: Timestamp
    ) throws -> String {
        let boot = ports.clock.boot()
        item.failures += 1
        let delay = wait.map { $0.delay } ?? Backoff().delay(failures: item.failures, random: ports.random.next())
        if wait != nil {
            governor.held(transfer.origin, until: boot + delay)
            try index.setOrigin(
                OriginRecord(
                    origin: transfer.origin.text, limit: governor.limit(of: transfer.origin), waitUntil: now + delay,
                    waitSet: now), now: now)
        }
        if item.failures > settings.maxAttempts * 2 {
            try end(item, item.machine.failed(LectureError(.status(status), detail: transfer.origin.host)))
            return "failed"
        }
        if delay > settings.longestHeldWait, !item.hasTransfers {
            let error = LectureError(.serverWait, detail: transfer.origin.host)
            try end(item, item.machine.stopped(.serverWait, error: error, until: now + delay, now: now))
        } else if let resource = transfer.resource {
            resource.notBefore = boot + delay
        } else {
            item.loaderNotBefore = boot + delay
        }
        return "wait"
    }

    /// 401, 403, 404, 410: the URL is over; the bytes are not. Another URL, the resolver, or the end.
    private func renew(
        _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, status: Int, now: Timestamp
    ) throws -> String {
        let error = LectureError(.status(status), detail: transfer.origin.host)
        markURL(transfer.lease, .refused, resource)
        if resource.urls.contains(where: { $0.state == .usable }) { return "mirror" }
        guard item.record.isGateway || ports.resolver.isPresent, item.renewals < 3 else {
            return try resourceFailed(resource, of: item, error)
        }
        item.renewals += 1
        if item.record.isGateway {
            // The next `advance` opens it; resources wait while a loader is wanted.
            item.wantsLoader = true
        } else {
            item.isResolving = true
            let content = item.record.content
            effects.append { [ports] in
                ports.resolver.resolve(item.id, key: content.key, sourceURL: content.sourceURL)
            }
        }
        return "renew"
    }

    func resolved(_ item: ItemWork, urls: [String], _ error: LectureError?) throws {
        item.isResolving = false
        guard let media = item.media, !item.isEnding else { return }
        guard error == nil, !urls.isEmpty else {
            _ = try resourceFailed(media, of: item, error ?? LectureError(.status(403)))
            return
        }
        try replaceURLs(media, of: item, urls: urls)
    }

    func replaceURLs(_ resource: ResourceWork, of item: ItemWork, urls: [String]) throws {
        try index.replaceURLLeases(item.lease, resource.record.id, urls: urls, expires: nil, now: ports.clock.now())
        resource.urls = try index.urlLeases(resource.record.id)
        resource.validatorURL = nil
    }

    func markURL(_ lease: URLLeaseID?, _ state: URLLeaseRecord.State, _ resource: ResourceWork) {
        guard let position = resource.urls.firstIndex(where: { $0.id == lease }) else { return }
        resource.urls[position].state = state
        try? index.setURLLease(resource.urls[position].id, state: state, rank: resource.urls[position].rank)
    }

    func outOfURLs(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        _ = try resourceFailed(resource, of: item, item.machine.status.error ?? LectureError(.status(404)))
    }

    /// This URL cannot give the object; another may.
    @discardableResult
    func urlFailed(
        _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, _ error: LectureError, now: Timestamp
    ) throws -> String {
        markURL(transfer.lease, .refused, resource)
        if resource.urls.contains(where: { $0.state == .usable }) {
            // Without a digest the bytes of two servers cannot be put together.
            if !resource.digestIsKnown, resource.book.proven.count > 0 {
                return try restart(item, because: error, now: now)
            }
            return "mirror"
        }
        return try resourceFailed(resource, of: item, error)
    }

    /// An optional resource is given up alone; a required one takes the item with it.
    func resourceFailed(_ resource: ResourceWork, of item: ItemWork, _ error: LectureError) throws -> String {
        if resource.record.role.isRequired {
            try end(item, item.machine.failed(error))
        } else {
            resource.stage = .failed
            resource.record.state = .failed
            abandon(resource, deleting: true)
            try index.updateResource(item.lease, resource.record)
        }
        return "failed"
    }

    /// The attempt failed in a way that may pass.
    func tryAgain(_ resource: ResourceWork?, of item: ItemWork, _ error: LectureError, now: Timestamp) throws -> String
    {
        let boot = ports.clock.boot()
        item.failures += 1
        if let resource, !resource.sinks.isEmpty {
            // Others of this file still run: one connection fewer, and no new one for a moment.
            resource.connections = resource.sinks.count
            resource.trial?.openFailed()
            resource.notBefore = boot + Backoff().delay(failures: 1, random: ports.random.next())
            return "retry"
        }
        if item.failures >= settings.maxAttempts {
            if let resource, !resource.record.role.isRequired { return try resourceFailed(resource, of: item, error) }
            if error.isNetworkTrouble {
                try end(item, item.machine.stopped(.network, error: error, until: now + .seconds(60), now: now))
            } else {
                try end(item, item.machine.failed(error))
            }
            return "failed"
        }
        let delay = Backoff().delay(failures: item.failures, random: ports.random.next())
        if delay > settings.longestHeldWait {
            try end(item, item.machine.retryLater(error: error, until: now + delay, now: now))
        } else if let resource {
            resource.notBefore = boot + delay
        } else {
            item.loaderNotBefore = boot + delay
        }
        return "retry"
    }
}
