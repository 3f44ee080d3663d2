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
        transfer.sink.liftBorder()
        resource.book.restart(transfer.id)
        if resource.stage != .asking { try index.updateResource(item.lease, resource.record) }
    }

    /// The first answer fixes length, place, chunk size and validator.
    private func adopt(
        _ plan: BodyPlan, _ resource: ResourceWork, of item: ItemWork, from transfer: TransferWork
    ) throws {
        let now = ports.clock.now()
        if let expected = resource.record.expectedBytes, let total = plan.total, expected != total {
            try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
            return
        }
        if let total = plan.total ?? resource.record.expectedBytes, try quotaIsPassed(by: total) {
            let error = LectureError(.quota)
            return try end(item, item.machine.stopped(.quota, error: error, until: now + .seconds(60), now: now))
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

    /// Whether so many bytes more would be more than all contents together may take.
    private func quotaIsPassed(by bytes: UInt64) throws -> Bool {
        guard let quota = settings.quotaBytes else { return false }
        return try index.plannedBytes() + bytes > quota
    }

    /// A file whose length was not told is held against the quota while it comes. One that is too much goes, since what
    /// is there of it would go on taking room that is not its own.
    ///
    /// - Returns: whether the item ends.
    func stopsForQuota(_ item: ItemWork, now: Timestamp) throws -> Bool {
        guard settings.quotaBytes != nil, !item.isEnding else { return item.isEnding }
        let unplanned = items.values.filter { !$0.isEnding }.flatMap(\.resources)
            .filter { $0.stage == .fetching && $0.record.total == nil }
        // What has come and is not proven takes room as well.
        let bytes = unplanned.reduce(0) { sum, resource in
            sum + resource.sinks.values.reduce(resource.book.provenBytes) { max($0, $1.position) }
        }
        guard try quotaIsPassed(by: bytes) else { return false }
        let error = LectureError(.quota)
        // Nothing tells beforehand that it would fit now, so only a person or a program tries it again.
        try end(item, item.machine.stopped(.quota, error: error, until: nil, now: now), discarding: true)
        return true
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
        if transfer.isLoader {
            attempt.decision = try loaderEnded(transfer, report, item, now: now)
            return
        }
        guard let resource = transfer.resource, item.resources.contains(where: { $0 === resource }) else {
            // Of a version that was given up.
            attempt.decision = "ended"
            return
        }
        let hasGained = try account(transfer, report, resource, of: item)
        if item.isEnding {
            attempt.decision = "ended"
            return
        }
        attempt.decision = try decide(transfer, report, hasGained, resource, of: item, now: now)
    }

    /// Bytes by which a transfer brought its resource further. Where the whole comes again, what is there already and
    /// what comes again before a chunk is whole do not count: else a server that always cuts would be asked for ever.
    private func gain(_ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork) -> UInt64 {
        let isRepeated = transfer.sink.asked.range == nil && transfer.receivedAtStart > 0
        let chunks = resource.book.receivedBytes
        let repeated = chunks - min(chunks, transfer.receivedAtStart)
        switch report.verdict {
        case .body: return isRepeated ? repeated : report.position - min(report.position, transfer.start)
        case .noRanges: return repeated
        case nil, .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            return 0
        }
    }

    /// Books what was received; answers whether it counts as progress.
    private func account(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork
    ) throws -> Bool {
        let now = ports.clock.now()
        let isMedia = report.verdict?.mediaPlan != nil
        if isMedia, report.position > transfer.start { resource.answers += 1 }
        if isMedia, report.reachedEnd, resource.record.total == nil, resource.stage == .fetching {
            // The end of the answer told the length.
            resource.endToldLength = true
            resource.record.total = report.position
            resource.book.learn(total: report.position)
            try index.updateResource(item.lease, resource.record)
            if try stopsForQuota(item, now: now) { return false }
        }
        resource.book.ended(transfer.id, position: isMedia ? report.handedOver : 0)
        if resource.record.total != nil, !resource.unsized.isEmpty {
            let chunks = resource.unsized
            resource.unsized = []
            try proved(chunks, resource, of: item, now: now)
        }
        if let remainder = report.remainder {
            let chunk = Int(remainder.offset / resource.book.chunkBytes)
            if item.isEnding || resource.book.proven.contains(chunk) {
                effects.append { [part = resource.part] in part.abandon(remainder.lane) }
            } else {
                resource.remainders[chunk] = remainder
            }
        }
        resource.gained += gain(transfer, report, resource)
        let gains = resource.gained >= Self.leastGain || isMedia && report.reachedEnd
        noteTrouble(transfer, report, resource, gained: gains)
        guard gains else { return false }
        resource.gained = 0
        resource.failures = 0
        resource.refusals = 0
        item.renewals = 0
        try apply(item, item.machine.gainedBytes(), now: now)
        return true
    }

    /// Less than this many bytes of several attempts together are no progress: a server that gives a byte at a time
    /// would be asked millions of times.
    private static let leastGain: UInt64 = 16_384

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
        _ transfer: TransferWork, _ report: TransferReport, _ hasGained: Bool, _ resource: ResourceWork,
        of item: ItemWork, now: Timestamp
    ) throws -> String {
        switch report.verdict {
        case nil:
            return try belowHTTP(transfer, report, resource, of: item, now: now)
        case .body, .noRanges:
            return try bodyEnded(transfer, report, hasGained, resource, of: item, now: now)
        case .descriptor:
            return try descriptorInsteadOfMedia(report, resource, of: item, now: now)
        case .empty:
            return try objectIsEmpty(transfer, resource, of: item, now: now)
        case .changed, .rangeBeyondEnd:
            if isOtherMirror(transfer, resource) {
                let error = LectureError(.mirrorDisagrees, detail: transfer.origin.host)
                return try urlFailed(transfer, resource, of: item, error, now: now)
            }
            if case .rangeBeyondEnd = report.verdict {
                return try changed(resource, of: item, because: LectureError(.lengthChanged), now: now)
            }
            guard resource.stage != .asking else {
                return try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
            }
            return try changed(resource, of: item, because: LectureError(.versionUnstable), now: now)
        case .redirect(let target):
            return try follow(target, transfer, resource, of: item, now: now)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer, item, now: now)
        case .renewLease(let status):
            return try renew(transfer, resource, of: item, status: status, now: now)
        case .retry(let code):
            return try tryAgain(resource, of: item, LectureError(code, detail: transfer.origin.host), now: now)
        case .refuse(let code):
            return try refused(code, transfer, resource, of: item, now: now)
        }
    }

    private func bodyEnded(
        _ transfer: TransferWork, _ report: TransferReport, _ hasGained: Bool, _ resource: ResourceWork,
        of item: ItemWork, now: Timestamp
    ) throws -> String {
        switch report.cause {
        case .border: return "split"
        case .disk: return "disk"
        case .refusedHead: return try wrongPlace(transfer, report, resource, of: item, now: now)
        case .tooLong:
            return try urlFailed(transfer, resource, of: item, LectureError(.bodyTooLong), now: now)
        case .tooLarge:
            return try urlFailed(transfer, resource, of: item, LectureError(.tooLarge), now: now)
        case .page:
            let error = LectureError(.notMedia, detail: transfer.origin.host)
            return try urlFailed(transfer, resource, of: item, error, now: now)
        case .none: break
        }
        switch report.outcome.end {
        case .complete:
            let isShort = !report.reachedEnd && transfer.count.map { report.position < transfer.start + $0 } ?? true
            if !isShort || hasGained { return isShort ? "short" : "done" }
            if case .body(let plan) = report.verdict, let count = plan.count, report.position >= plan.first + count {
                // A whole answer with next to nothing in it.
                return try refused(.rangeMismatch, transfer, resource, of: item, now: now)
            }
            return try tryAgain(resource, of: item, LectureError(.bodyCut, detail: transfer.origin.host), now: now)
        case .cancelled, .stopped: return "cancelled"
        case .failed: return try belowHTTP(transfer, report, resource, of: item, now: now)
        }
    }

    /// A body that begins elsewhere than asked was refused.
    private func wrongPlace(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        // The whole came although others run: from now on there is one connection, which takes it from the first byte.
        guard case .body = report.verdict else { return "cancelled" }
        // The validator has changed under a known digest; the next request leaves the condition out.
        if transfer.sink.asked.sentIfRange { return "validator" }
        return try tryAgain(resource, of: item, LectureError(.rangeMismatch, detail: transfer.origin.host), now: now)
    }

    private func belowHTTP(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        guard case .failed(let curl, let detail) = report.outcome.end else { return "cancelled" }
        let error = LectureError.belowHTTP(curl, detail, host: transfer.origin.host)
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

    /// An answer was refused. Where only its ranges are wrong, the server may still give the whole.
    private func refused(
        _ code: LectureError.Code, _ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        let error = LectureError(code, detail: transfer.origin.host)
        let isAboutRange = transfer.sink.asked.range != nil && Self.rangeTroubles.contains(code)
        let hasMirror = resource.urls.contains { $0.state == .usable && $0.id != transfer.lease }
        guard isAboutRange, !resource.avoidsRanges, resource.stage == .fetching, !(hasMirror && mayCombine(resource))
        else { return try urlFailed(transfer, resource, of: item, error, now: now) }
        resource.avoidsRanges = true
        resource.record.acceptsRanges = false
        resource.connections = 1
        try index.updateResource(item.lease, resource.record)
        return try tryAgain(resource, of: item, error, now: now)
    }

    /// What a server is refused for that gets ranges wrong.
    private static let rangeTroubles: Set<LectureError.Code> = [
        .rangeMismatch, .multipartRefused, .lengthConflict, .status(416),
    ]

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
        let failures = try countFailure(transfer.resource, of: item, now: now)
        let backoff = Backoff().delay(failures: failures, random: ports.random.next())
        if let wait {
            governor.held(transfer.origin, until: boot + wait.delay)
            try index.setOrigin(
                OriginRecord(
                    origin: transfer.origin.text, limit: governor.limit(of: transfer.origin),
                    waitUntil: now + wait.delay, waitSet: now), now: now)
        }
        // No wait at all, asked again and again, is not obeyed to the letter.
        let delay = max(wait?.delay ?? .zero, backoff)
        let isLong = delay > settings.longestHeldWait
        if isLong, let resource = transfer.resource, turnToMirror(resource, from: transfer.lease, boot) {
            return "mirror"
        }
        let error = LectureError(.status(status), detail: transfer.origin.host)
        if let resource = transfer.resource, !resource.record.role.isRequired,
            isLong || failures > settings.maxAttempts
        {
            return try resourceFailed(resource, of: item, error)
        }
        if failures > settings.maxAttempts * 2 {
            try end(item, item.machine.failed(error))
            return "failed"
        }
        if isLong, !item.hasTransfers {
            let error = LectureError(.serverWait, detail: transfer.origin.host)
            try end(item, item.machine.stopped(.serverWait, error: error, until: now + delay, now: now))
        } else if let resource = transfer.resource {
            // With others running the item is stopped when the last of them has ended and the server still wants rest.
            resource.notBefore = boot + min(delay, settings.longestHeldWait)
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
        if mayBeOneOfSeveral(transfer, resource, of: item) { return try tryAgain(resource, of: item, error, now: now) }
        markURL(transfer.lease, .refused, resource)
        let hasMirror = resource.urls.contains { $0.state == .usable }
        if hasMirror, mayCombine(resource) { return "mirror" }
        guard resource.record.role.isRequired, item.record.isGateway || ports.resolver.isPresent, item.renewals < 3
        else {
            if hasMirror { return try changed(resource, of: item, because: error, now: now) }
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
            return mayCombine(resource) ? "mirror" : try changed(resource, of: item, because: error, now: now)
        }
        return try resourceFailed(resource, of: item, error)
    }

    /// Whether another server's bytes may go on where this one's ended. Without a digest nothing would tell that the
    /// two have the same file, whether or not anything is proven yet: what is on its way to the disk counts as well.
    func mayCombine(_ resource: ResourceWork) -> Bool { resource.digestIsKnown || resource.stage == .asking }

    /// An optional resource is given up alone; a required one takes the item with it.
    func resourceFailed(_ resource: ResourceWork, of item: ItemWork, _ error: LectureError) throws -> String {
        if resource.record.role.isRequired {
            try end(item, item.machine.failed(error))
        } else {
            resource.stage = .failed
            resource.record.state = .failed
            abandon(resource, deleting: true)
            // What will never be whole counts neither as due nor as there.
            let chunks = try index.chunks(resource.record.id).map(\.index)
            try index.unprove(item.lease, resource.record.id, chunks: chunks, bytes: resource.book.provenBytes)
            resource.record.total = nil
            resource.book = RangeBook(total: nil, chunkBytes: resource.record.chunkBytes, proven: [])
            try index.updateResource(item.lease, resource.record)
        }
        return "failed"
    }

    /// Counts an attempt that gained nothing; answers how many there were in a row. A resource that may be missing has
    /// a count of its own, so that it does not use up the attempts of the media.
    private func countFailure(_ resource: ResourceWork?, of item: ItemWork, now: Timestamp) throws -> Int {
        if let resource, !resource.record.role.isRequired {
            resource.failures += 1
            return resource.failures
        }
        try apply(item, item.machine.attemptFailed(), now: now)
        return item.machine.status.attempts
    }

    /// The attempt failed in a way that may pass.
    func tryAgain(
        _ resource: ResourceWork?, of item: ItemWork, _ error: LectureError, now: Timestamp
    ) throws -> String {
        let boot = ports.clock.boot()
        let failures = try countFailure(resource, of: item, now: now)
        if let resource, !resource.sinks.isEmpty {
            // Others of this file still run: one connection fewer, and no new one for a moment.
            resource.connections = resource.sinks.count
            resource.trial?.openFailed()
            resource.notBefore = boot + Backoff().delay(failures: 1, random: ports.random.next())
            return "retry"
        }
        if failures >= settings.maxAttempts {
            if let resource, !resource.record.role.isRequired { return try resourceFailed(resource, of: item, error) }
            if error.isNetworkTrouble {
                try end(item, item.machine.stopped(.network, error: error, until: now + .seconds(60), now: now))
            } else {
                try end(item, item.machine.failed(error))
            }
            return "failed"
        }
        let delay = Backoff().delay(failures: failures, random: ports.random.next())
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
