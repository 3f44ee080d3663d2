import LectureModel

/// What answers mean, and how a transfer that ended is handled.
extension DownloadEngine {
    // MARK: Headers

    func headCame(_ transfer: TransferWork, _ verdict: ResponseVerdict, status: Int) throws {
        guard let item = transfer.item, !item.isEnding, let resource = transfer.resource,
            resource.sinks[transfer.id] != nil
        else { return }
        switch verdict {
        case .body(let plan), .noRanges(let plan):
            if case .noRanges = verdict { try serverHasNoRanges(transfer, resource, of: item) }
            resource.evidence.answered(plan)
            if resource.machine.isProbing { try adopt(plan, resource, of: item, from: transfer) }
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            // Handled when the transfer has ended.
            return
        }
    }

    private func serverHasNoRanges(_ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork) throws {
        resource.record.acceptsRanges = false
        resource.connections.useOne()
        // A transfer that was opened beside others has refused the whole body, even if it is the last one by now:
        // restarting it in the book would count bytes as received that it never took.
        guard transfer.sink.acceptsWholeBody, resource.sinks.count == 1 else { return }
        transfer.sink.liftBorder()
        resource.chunks.book.restart(transfer.id)
        if !resource.machine.isProbing { try index.updateResource(item.lease, resource.record) }
    }

    /// The first answer fixes length, path, chunk size and validator.
    private func adopt(
        _ plan: BodyPlan, _ resource: ResourceWork, of item: ItemWork, from transfer: TransferWork
    ) throws {
        let now = ports.clock.now()
        if let expected = resource.record.expectedBytes, let total = plan.total, expected != total {
            try urlFailed(transfer, resource, of: item, LectureError(.lengthChanged), now: now)
            return
        }
        if let total = plan.total ?? resource.record.expectedBytes, try quotaIsPassed(by: total) {
            return try stopForSpace(item, .quota, now: now)
        }
        resource.record.total = plan.total
        resource.record.entityTag = plan.validator.etag
        resource.record.lastModified = plan.validator.lastModified
        resource.record.mediaType = plan.mediaType
        resource.record.acceptsRanges = plan.acceptsRanges
        resource.sources.described(by: transfer.lease)
        if let total = plan.total { resource.chunks.book.learn(total: total) }
        try fixPlace(resource, of: item, now: now)
    }

    /// The space for one more file, as far as it is known before the file's length is.
    func space(for resource: ResourceWork) throws -> FreeSpace? {
        guard resource.machine.isProbing, resource.record.role == .media else { return nil }
        let quota = try settings.quotaBytes.map { quota in
            let planned = try index.plannedBytes()
            return quota - min(quota, planned)
        }
        let free = try? ports.files.freeBytes()
        return FreeSpace(quota: quota, disk: free.map { $0 - min($0, settings.reserveBytes) })
    }

    /// Stops an item for lack of space; it is tried again when there may be some.
    func stopForSpace(_ item: ItemWork, _ code: LectureError.Code, now: Timestamp) throws {
        let (reason, pause): (StopReason, Duration) =
            code == .quota ? (.quota, .seconds(60)) : (.space, .seconds(30))
        try end(item, item.machine.stopped(reason, error: LectureError(code), until: now + pause, now: now))
    }

    /// Whether this many more bytes would exceed the quota of all lectures together.
    private func quotaIsPassed(by bytes: UInt64) throws -> Bool {
        guard let quota = settings.quotaBytes else { return false }
        return try index.plannedBytes() + bytes > quota
    }

    /// Checks files of unknown length against the quota while they are received. An item that exceeds it is stopped and
    /// its data deleted, since that would keep using space it is not entitled to.
    ///
    /// - Parameters:
    ///   - item: the item that received bytes.
    ///   - position: where its body has just ended; 0 during the transfer.
    ///   - now: the time.
    /// - Returns: whether the item is ending.
    /// - Throws: what the store throws.
    func stopsForQuota(_ item: ItemWork, endingAt position: UInt64 = 0, now: Timestamp) throws -> Bool {
        guard settings.quotaBytes != nil, !item.isEnding else { return item.isEnding }
        let unplanned = items.values.filter { !$0.isEnding }.flatMap(\.resources)
            .filter { $0.machine.isFetching && $0.record.total == nil }
        // Received bytes that are not committed use space as well.
        let bytes = unplanned.reduce(UInt64(0)) { sum, resource in
            let ended: UInt64 = item.resources.contains { $0 === resource } ? position : 0
            return sum + max(resource.book.committedBytes, ended, resource.furthestPosition)
        }
        guard try quotaIsPassed(by: bytes) else { return false }
        let error = LectureError(.quota)
        // Nothing shows in advance that it would fit, so only a person or a program retries it.
        try end(item, item.machine.stopped(.quota, error: error, until: nil, now: now), discarding: true)
        return true
    }

    /// Stores the plan; the part file is made after the commit.
    private func fixPlace(_ resource: ResourceWork, of item: ItemWork, now: Timestamp) throws {
        resource.record.chunkBytes = resource.book.grid.length
        if resource.cipher != nil { resource.record.seal = .open }
        resource.record.path = MediaPath.path(resource.record)
        resource.record.state = .planned
        guard resource.machine.planned() != .bug else { return try endForBug(item) }
        try index.updateResource(item.lease, resource.record)
        if !item.record.isLoaded {
            item.record.isLoaded = try index.setFacts(item.lease, ContentFacts(), now: now) == nil
        }
        try apply(item, item.machine.sourceKnown(), now: now)
        try openPartIfNeeded(resource, of: item)
    }

    // MARK: Ends

    func transferEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        let now = ports.clock.now()
        try keepWait(transfer.origin, report, now: now)
        guard let item = transfer.item else { return }
        var attempt = attemptRecord(transfer, report)
        defer { try? index.record(attempt, content: item.id, resource: transfer.resource?.record.id) }
        if transfer.isLoader {
            attempt.decision = try loaderEnded(transfer, report, item, now: now).rawValue
            return
        }
        guard let resource = transfer.resource, item.resources.contains(where: { $0 === resource }) else {
            // It belongs to a discarded version.
            attempt.decision = Decision.ended.rawValue
            return
        }
        let hasGained = try account(transfer, report, resource, of: item)
        if item.isEnding {
            attempt.decision = Decision.ended.rawValue
            return
        }
        let ruling = facts(transfer, report, hasGained, resource).ruling
        attempt.decision = try apply(ruling, to: transfer, resource, of: item, now: now).rawValue
    }

    /// A server's request to wait applies to all items, even if the item that received it has ended meanwhile.
    private func keepWait(_ origin: Origin, _ report: TransferReport, now: Timestamp) throws {
        guard case .wait(let wait?, _) = report.verdict else { return }
        governor.held(origin, until: ports.clock.boot() + wait.delay)
        try index.setOrigin(
            OriginRecord(
                origin: origin.text, limit: governor.limit(of: origin), waitUntil: now + wait.delay, waitSet: now),
            now: now)
    }

    /// Bytes of progress that a transfer made. When the whole is sent again, bytes that are there already and bytes of
    /// incomplete chunks do not count: otherwise a server that always cuts would be retried forever.
    private func gain(_ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork) -> UInt64 {
        let isRepeated = transfer.sink.asked.range == nil && transfer.span.receivedBefore > 0
        let chunks = resource.book.receivedBytes
        let repeated = chunks - min(chunks, transfer.span.receivedBefore)
        switch report.verdict {
        case .body: return isRepeated ? repeated : report.position - min(report.position, transfer.span.start)
        case .noRanges: return repeated
        case nil, .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            return 0
        }
    }

    /// Records what was received; returns whether it counts as progress.
    private func account(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork
    ) throws -> Bool {
        let now = ports.clock.now()
        let isMedia = report.verdict?.mediaPlan != nil
        if isMedia, report.position > transfer.span.start { resource.evidence.delivered() }
        if isMedia, report.reachedEnd, resource.record.total == nil, resource.machine.isFetching,
            !report.cause.isFirstBytes
        {
            // Checked before the length is planned: a file above the quota must not count against the others.
            if try stopsForQuota(item, endingAt: report.position, now: now) { return false }
            // The length follows from the end of the answer.
            resource.evidence.lengthFollowedFromEnd()
            resource.record.total = report.position
            resource.chunks.book.learn(total: report.position)
            try index.updateResource(item.lease, resource.record)
        }
        resource.chunks.book.ended(transfer.id, position: isMedia ? report.handedOver : 0)
        if resource.record.total != nil, case let chunks = resource.chunks.takeUnsized(), !chunks.isEmpty {
            try recordCommitted(chunks, resource, of: item, now: now)
        }
        if let remainder = report.remainder, let stream = resource.chunks.keep(remainder) {
            command(resource, .abandon(stream))
        }
        let gained = gain(transfer, report, resource)
        let gains = resource.attempts.ended(gaining: gained, hasEnd: isMedia && report.reachedEnd)
        recordFailure(transfer, report, resource, gained: gains)
        guard gains else { return false }
        resource.sources.gainedBytes()
        item.renewal.gainedBytes()
        try apply(item, item.machine.gainedBytes(), now: now)
        return true
    }

    private func attemptRecord(_ transfer: TransferWork, _ report: TransferReport) -> Attempt {
        var attempt = Attempt(
            at: transfer.startedAt, origin: transfer.origin.text, decision: Decision.continued.rawValue)
        attempt.duration = report.outcome.elapsed
        attempt.status = report.status
        attempt.bytes = report.outcome.bodyBytes
        attempt.rangeFirst = Int64(clamping: transfer.span.start)
        attempt.rangeCount = transfer.span.count.map { Int64(clamping: $0) }
        if case .failed(let curl, let detail) = report.outcome.end {
            attempt.curlCode = curl
            attempt.detail = detail
        }
        return attempt
    }

    /// A transfer as values, for the rules.
    private func facts(
        _ transfer: TransferWork, _ report: TransferReport, _ hasGained: Bool, _ resource: ResourceWork
    ) -> EndedTransfer {
        var ended = EndedTransfer(report, host: transfer.origin.host)
        (ended.start, ended.count) = (transfer.span.start, transfer.span.count)
        ended.sentIfRange = transfer.sink.asked.sentIfRange
        ended.hasGained = hasGained
        ended.isAsking = resource.machine.isProbing
        ended.isMedia = resource.record.role == .media
        ended.isOtherMirror = isOtherMirror(transfer, resource)
        ended.digestIsKnown = resource.digestIsKnown
        ended.expectedBytes = resource.record.expectedBytes
        ended.acceptsAny = settings.acceptsAny
        return ended
    }

    /// Applies what follows from the end of a transfer.
    ///
    /// - Returns: the word for the attempt's row; what is stored decides it in part.
    private func apply(
        _ ruling: TransferRuling, to transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> Decision {
        switch ruling {
        case .proceed(let decision): return decision
        case .stopForSpace(let code):
            try stopForSpace(item, code, now: now)
            return .space
        case .tryAgain(let error): return try tryAgain(resource, of: item, error, now: now)
        case .rejectURL(let error): return try urlFailed(transfer, resource, of: item, error, now: now)
        case .discard(let error): return try changed(resource, of: item, because: error, now: now)
        case .refuse(let code): return try refused(code, transfer, resource, of: item, now: now)
        case .renew(let status): return try renew(transfer, resource, of: item, status: status, now: now)
        case .follow(let target): return try follow(target, transfer, resource, of: item, now: now)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer, item, now: now)
        case .readDescriptor(let document): return try descriptorInsteadOfMedia(document, item, now: now)
        case .finishEmpty:
            resource.record.total = 0
            resource.chunks.book.learn(total: 0)
            try fixPlace(resource, of: item, now: now)
            return .done
        }
    }
}
