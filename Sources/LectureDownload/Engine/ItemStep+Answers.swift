import LectureEngine
import LectureFormats
import LectureModel

/// What answers mean, and how a transfer that ended is handled.
extension ItemStep {
    // MARK: Headers

    mutating func headCame(_ transfer: TransferWork, _ verdict: ResponseVerdict, status: Int) throws {
        guard !item.isEnding, let resource = transfer.resource, item.has(resource),
            item[resource].sinks[transfer.id] != nil
        else { return }
        switch verdict {
        case .body(let plan), .noRanges(let plan):
            if case .noRanges = verdict { try item[resource].hasNoRanges(transfer, step) }
            item[resource].evidence.answered(plan)
            if item[resource].machine.isProbing { try adopt(plan, resource, from: transfer) }
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            // Handled when the transfer has ended.
            return
        }
    }

    /// The first answer fixes length, path, chunk size and validator.
    private mutating func adopt(
        _ plan: BodyPlan, _ resource: PartToken, from transfer: TransferWork
    ) throws {
        if let expected = item[resource].record.expectedBytes, let total = plan.total, expected != total {
            try urlFailed(transfer, resource, LectureError(.lengthChanged))
            return
        }
        if let total = plan.total ?? item[resource].record.expectedBytes, try quotaIsPassed(by: total) {
            return try stopForSpace(.quota)
        }
        item[resource].adopt(plan, from: transfer.lease)
        try fixPlace(resource)
    }

    /// Stops an item for lack of space; it is tried again when there may be some.
    mutating func stopForSpace(_ code: LectureError.Code) throws {
        let (reason, pause): (StopReason, Duration) =
            code == .quota ? (.quota, .seconds(60)) : (.space, .seconds(30))
        try end(item.machine.stopped(reason, error: LectureError(code), until: now + pause, now: now))
    }

    /// Whether this many more bytes would exceed the quota of all lectures together.
    private func quotaIsPassed(by bytes: UInt64) throws -> Bool {
        guard let quota = settings.quotaBytes else { return false }
        return try index.plannedBytes() + bytes > quota
    }

    /// Checks files of unknown length against the quota while they are received. An item that exceeds it is stopped and
    /// its data deleted, since that would keep using space it is not entitled to.
    ///
    /// - Parameter position: where its body has just ended; 0 during the transfer.
    /// - Returns: whether the item is ending.
    /// - Throws: what the store throws.
    mutating func stopsForQuota(endingAt position: UInt64 = 0) throws -> Bool {
        guard settings.quotaBytes != nil, !item.isEnding else { return item.isEnding }
        let others = shared.items.values.filter { !$0.isEnding }.reduce(0) { $0 + $1.unplannedBytes() }
        let bytes = others + item.unplannedBytes(endingAt: position)
        guard try quotaIsPassed(by: bytes) else { return false }
        let error = LectureError(.quota)
        // Nothing shows in advance that it would fit, so only a person or a program retries it.
        try end(item.machine.stopped(.quota, error: error, until: nil, now: now), discarding: true)
        return true
    }

    /// Stores the plan of a resource; the part file is made after the commit.
    private mutating func fixPlace(_ resource: PartToken) throws {
        guard try item[resource].fixPlace(step) != .bug else { return try endForBug() }
        if !item.record.isLoaded {
            item.record.isLoaded = try index.setFacts(item.lease, ContentFacts(), now: now) == nil
        }
        try apply(item.machine.sourceKnown())
        try openPartIfNeeded(resource)
    }

    // MARK: Ends

    mutating func transferEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        item.loader.ended(transfer.id)
        if let resource = transfer.resource, item.has(resource) { item[resource].forget(transfer, report) }
        try keepWait(transfer.origin, report)
        var attempt = Attempt(transfer, report)
        let row = transfer.resource.flatMap { item.has($0) ? item[$0].record.id : nil }
        defer { try? index.record(attempt, content: item.id, resource: row) }
        if transfer.isLoader {
            attempt.decision = try loaderEnded(transfer, report).rawValue
            return
        }
        guard let resource = transfer.resource, item.has(resource) else {
            // It belongs to a discarded version.
            attempt.decision = Decision.ended.rawValue
            return
        }
        let hasGained = try account(transfer, report, resource)
        if item.isEnding {
            attempt.decision = Decision.ended.rawValue
            return
        }
        let ended = EndedTransfer(
            transfer, report, of: item[resource], hasGained: hasGained, acceptsAny: settings.acceptsAny)
        attempt.decision = try apply(ended.ruling, to: transfer, resource).rawValue
    }

    /// A server's request to wait applies to all items, even if the item that received it has ended meanwhile.
    private mutating func keepWait(_ origin: Origin, _ report: TransferReport) throws {
        guard case .wait(let wait?, _) = report.verdict else { return }
        shared.transfers.governor.held(origin, until: boot + wait.delay)
        try index.setOrigin(
            OriginRecord(
                origin: origin.text, limit: shared.transfers.governor.limit(of: origin), waitUntil: now + wait.delay,
                waitSet: now),
            now: now)
    }

    /// Records what was received; returns whether it counts as progress.
    private mutating func account(
        _ transfer: TransferWork, _ report: TransferReport, _ resource: PartToken
    ) throws -> Bool {
        if report.verdict?.mediaPlan != nil, report.position > transfer.span.start {
            item[resource].evidence.delivered()
        }
        if item[resource].endGivesLength(report) {
            // Checked before the length is planned: a file above the quota must not count against the others.
            if try stopsForQuota(endingAt: report.position) { return false }
            try item[resource].endGaveLength(report.position, step)
        }
        let chunks = item[resource].giveBack(transfer, report)
        if !chunks.isEmpty { try recordCommitted(chunks, resource) }
        // What was just committed may have been the last of a whole whose digest differs.
        guard item.has(resource) else { return false }
        let gains = item[resource].gains(transfer, report, &step)
        recordFailure(transfer, report, resource, gained: gains)
        guard gains else { return false }
        item[resource].sources.gainedBytes()
        item.renewal.gainedBytes()
        try apply(item.machine.gainedBytes())
        return true
    }

    /// Applies what follows from the end of a transfer.
    ///
    /// - Returns: the word for the attempt's row; what is stored decides it in part.
    private mutating func apply(
        _ ruling: TransferRuling, to transfer: TransferWork, _ resource: PartToken
    ) throws -> Decision {
        switch ruling {
        case .proceed(let decision): return decision
        case .stopForSpace(let code):
            try stopForSpace(code)
            return .space
        case .tryAgain(let error): return try tryAgain(resource, error)
        case .rejectURL(let error): return try urlFailed(transfer, resource, error)
        case .discard(let error): return try changed(resource, because: error)
        case .refuse(let code): return try refused(code, transfer, resource)
        case .renew(let status): return try renew(transfer, resource, status: status)
        case .follow(let target): return try follow(target, transfer, resource)
        case .wait(let wait, let status):
            return try serverAsksToWait(wait, status: status, transfer)
        case .readDescriptor(let document): return try descriptorInsteadOfMedia(document)
        case .finishEmpty:
            item[resource].becomesEmpty()
            try fixPlace(resource)
            return .done
        }
    }
}
