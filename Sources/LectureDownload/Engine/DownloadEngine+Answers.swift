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
            resource.announcedSHA256 = resource.announcedSHA256 ?? plan.digest
            if plan.validatorChanged { resource.validatorWasChanged = true }
            if resource.stage == .asking { try adopt(plan, resource, of: item, from: transfer) }
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            // Handled when the transfer has ended.
            return
        }
    }

    private func serverHasNoRanges(_ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork) throws {
        resource.record.acceptsRanges = false
        resource.connections = 1
        // A transfer that was opened beside others has refused the whole body, even if it is the last one by now:
        // restarting it in the book would count bytes as received that it never took.
        guard transfer.sink.acceptsWholeBody, resource.sinks.count == 1 else { return }
        transfer.sink.liftBorder()
        resource.book.restart(transfer.id)
        if resource.stage != .asking { try index.updateResource(item.lease, resource.record) }
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
        resource.validatorURL = transfer.lease
        if let total = plan.total { resource.book.learn(total: total) }
        try fixPlace(resource, of: item, now: now)
    }

    /// The space for one more file, as far as it is known before the file's length is.
    func space(for resource: ResourceWork) throws -> FreeSpace? {
        guard resource.stage == .asking, resource.record.role == .media else { return nil }
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
            .filter { $0.stage == .fetching && $0.record.total == nil }
        // Received bytes that are not committed use space as well.
        let bytes = unplanned.reduce(UInt64(0)) { sum, resource in
            let ended: UInt64 = item.resources.contains { $0 === resource } ? position : 0
            return sum + resource.sinks.values.reduce(max(resource.book.committedBytes, ended)) { max($0, $1.position) }
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
        resource.stage = .fetching
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
            attempt.decision = try loaderEnded(transfer, report, item, now: now)
            return
        }
        guard let resource = transfer.resource, item.resources.contains(where: { $0 === resource }) else {
            // It belongs to a discarded version.
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

    /// Records what was received; returns whether it counts as progress.
    private func account(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork
    ) throws -> Bool {
        let now = ports.clock.now()
        let isMedia = report.verdict?.mediaPlan != nil
        if isMedia, report.position > transfer.start { resource.answers += 1 }
        if isMedia, report.reachedEnd, resource.record.total == nil, resource.stage == .fetching,
            !report.cause.isFirstBytes
        {
            // Checked before the length is planned: a file above the quota must not count against the others.
            if try stopsForQuota(item, endingAt: report.position, now: now) { return false }
            // The length follows from the end of the answer.
            resource.endGaveLength = true
            resource.record.total = report.position
            resource.book.learn(total: report.position)
            try index.updateResource(item.lease, resource.record)
        }
        resource.book.ended(transfer.id, position: isMedia ? report.handedOver : 0)
        if resource.record.total != nil, !resource.unsized.isEmpty {
            let chunks = resource.unsized
            resource.unsized = []
            try recordCommitted(chunks, resource, of: item, now: now)
        }
        if let remainder = report.remainder {
            let chunk = resource.book.grid.chunk(at: remainder.offset)
            if resource.book.committed.contains(chunk) {
                command(resource, .abandon(remainder.stream))
            } else {
                resource.remainders[chunk] = remainder
            }
        }
        resource.gained += gain(transfer, report, resource)
        let gains = resource.gained >= Self.leastGain || isMedia && report.reachedEnd
        recordFailure(transfer, report, resource, gained: gains)
        guard gains else { return false }
        resource.gained = 0
        resource.failures = 0
        resource.refusals = 0
        item.renewals = 0
        try apply(item, item.machine.gainedBytes(), now: now)
        return true
    }

    /// Fewer bytes than this, over several attempts, are no progress: a server that sends one byte at a time would be
    /// retried millions of times.
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

    /// Decides about an ended transfer; returns the decision's name in the attempt history.
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
        case .firstBytes(let refusal):
            let error = LectureError(refusal.code, detail: transfer.origin.host, cause: refusal.cause)
            return try urlFailed(transfer, resource, of: item, error, now: now)
        case .noSpace(let code):
            try stopForSpace(item, code, now: now)
            return "space"
        case .none: break
        }
        switch report.outcome.end {
        case .complete:
            let isShort = !report.reachedEnd && transfer.count.map { report.position < transfer.start + $0 } ?? true
            if !isShort || hasGained { return isShort ? "short" : "done" }
            if case .body(let plan) = report.verdict, let count = plan.count, report.position >= plan.first + count {
                // A complete answer with too few bytes.
                return try refused(.rangeMismatch, transfer, resource, of: item, now: now)
            }
            return try tryAgain(resource, of: item, LectureError(.bodyCut, detail: transfer.origin.host), now: now)
        case .cancelled, .stopped: return "cancelled"
        case .failed: return try belowHTTP(transfer, report, resource, of: item, now: now)
        }
    }

    /// A body that does not start where requested was refused.
    private func wrongPlace(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, of item: ItemWork, now: Timestamp
    ) throws -> String {
        // The whole was sent while other transfers run: from now on one connection takes it from the first byte.
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
        let isExpected = resource.record.expectedBytes == 0 || resource.digestIsKnown || settings.acceptsAny
        if resource.record.role == .media, !isExpected, let refusal = FirstBytes.refusal([], mediaType: nil) {
            let error = LectureError(refusal.code, detail: transfer.origin.host, cause: refusal.cause)
            return try urlFailed(transfer, resource, of: item, error, now: now)
        }
        resource.record.total = 0
        resource.book.learn(total: 0)
        try fixPlace(resource, of: item, now: now)
        return "done"
    }
}
