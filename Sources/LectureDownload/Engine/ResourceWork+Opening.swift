import LectureEngine
import LectureModel

/// Which transfers of one resource are opened, and what they request.
extension ResourceWork {
    /// A transfer that has its chunks and is to be started.
    struct OpenedTransfer {
        var plan: TransferPlan
        var sink: RangeSink
        /// The row of its URL.
        var lease: URLLeaseID?
        /// The redirect that it follows.
        var redirect: Redirect?
    }

    /// Whether bytes of several answers may be combined: a validator or a digest shows that they belong to one version,
    /// or the user trusts the length.
    func canCombineAnswers(_ settings: DownloadSettings) -> Bool {
        settings.canResume(record) || evidence.announcedSHA256 != nil
    }

    /// Whether received bytes cannot be resumed. Without a validator or a known digest, the file may have changed
    /// since, and the halves of two versions would be joined unnoticed (RFC 9110 section 13.1.5).
    func startsOver(_ settings: DownloadSettings) -> Bool {
        machine.isFetching && sinks.isEmpty && !canCombineAnswers(settings) && chunks.hasBytes
    }

    /// How many transfers it should have.
    ///
    /// - Parameters:
    ///   - settings: the limits.
    ///   - isUneven: whether there are several servers behind one address.
    /// - Returns: at least one.
    func wantedConnections(_ settings: DownloadSettings, isUneven: Bool) -> Int {
        guard record.acceptsRanges, record.total != nil, !isUneven, canCombineAnswers(settings) else { return 1 }
        // With its own rate limit a file gains nothing from more connections.
        if settings.rateLimitPerItem != nil { return 1 }
        return connections.wanted(fixed: settings.connections, limit: settings.connectionsLimit)
    }

    /// The space for one more file, as far as it is known before the file's length is.
    func space(_ settings: DownloadSettings, _ step: Step<DownloadMachine>) throws -> FreeSpace? {
        guard machine.isProbing, record.role == .media else { return nil }
        return try FreeSpace(settings, step)
    }

    /// Opens one more transfer.
    ///
    /// - Parameters:
    ///   - id: its number.
    ///   - choice: its URL.
    ///   - isFirstContact: whether the answer may be a descriptor.
    ///   - settings: what is accepted.
    ///   - step: where part files are commanded.
    /// - Returns: nil when there is nothing to fetch, or too little to share.
    /// - Throws: what the store throws.
    mutating func open(
        _ id: TransferID, from choice: ResourceSources.Choice, isFirstContact: Bool, _ settings: DownloadSettings,
        _ step: inout Step<DownloadMachine>
    ) throws -> OpenedTransfer? {
        guard var assignment = chunks.take(id, besides: sinks) else { return nil }
        if connections.avoidsRanges {
            chunks.book.restart(id)
            assignment = book.assignments[id] ?? assignment
            abandonRemainders(inside: assignment, &step)
        }
        let turn = sources.turn
        let lease = turn == nil ? choice.lease : turn?.lease
        sources.opened(lease)
        let remainder = chunks.takeRemainder(of: assignment.first)
        abandonRemainders(inside: assignment, &step)
        // Bytes that are durable but uncommitted for lack of a length are fetched and written again.
        _ = chunks.takeUnsized()
        var opening = OpeningTransfer(record: record, grid: book.grid, assignment: assignment)
        opening.resumesAt = remainder?.offset
        opening.isProbing = machine.isProbing
        opening.isFirstContact = isFirstContact
        opening.ownsValidator = sources.owns(lease)
        opening.validatorWasChanged = evidence.validatorWasChanged
        opening.acceptsAny = settings.acceptsAny || isRepair
        opening.space = try space(settings, step)
        let plan = opening.plan
        let sink = RangeSink(
            id: id, asked: plan.expectation, start: plan.start, border: plan.border, grid: book.grid,
            learnsGrid: machine.isProbing, committed: book.committed, acceptsWholeBody: sinks.isEmpty,
            remainder: remainder, part: part, post: step.store.post)
        sinks[id] = sink
        connections.opened(id, running: sinks.count)
        return OpenedTransfer(plan: plan, sink: sink, lease: lease, redirect: turn?.redirect)
    }

    private mutating func abandonRemainders(
        inside assignment: RangeBook.Assignment, _ step: inout Step<DownloadMachine>
    ) {
        for stream in chunks.takeStreams(inside: assignment) { command(.abandon(stream), &step) }
    }
}

extension ChunkLedger {
    /// Assigns absent chunks to a new transfer, or half of the largest remainder.
    ///
    /// - Parameters:
    ///   - id: the new transfer.
    ///   - sinks: the running ones.
    /// - Returns: nil when there is too little left to share.
    mutating func take(_ id: TransferID, besides sinks: [TransferID: RangeSink]) -> RangeBook.Assignment? {
        if let run = book.begin(id, started: remainders.keys) { return run }
        guard !sinks.isEmpty else { return nil }
        // With a chunk's length on each side a split always gains; below that the tail is not split.
        let grid = book.grid
        let minimum = max(grid.length, RangeSink.blockBytes)
        let cut = book.split(id, minimum: minimum) { sinks[$0]?.position ?? 0 }
        guard let cut else { return nil }
        guard let victim = sinks[cut.victim] else {
            book.giveBack(taker: id, to: cut.victim)
            return nil
        }
        let border = grid.chunk(at: victim.lower(border: grid.start(of: cut.victimEnd), grid: grid))
        guard border < cut.taken.end ?? 0 else {
            book.giveBack(taker: id, to: cut.victim)
            return nil
        }
        if border > cut.victimEnd { book.moveBorder(victim: cut.victim, taker: id, to: border) }
        return book.assignments[id]
    }
}

extension RunningTransfers {
    /// How many run for each URL.
    func load(of ids: some Sequence<TransferID>) -> [URLLeaseID: Int] {
        var load: [URLLeaseID: Int] = [:]
        for id in ids {
            if let lease = self[id]?.lease { load[lease, default: 0] += 1 }
        }
        return load
    }
}

extension FreeSpace {
    /// What the quota and the disk leave.
    fileprivate init(_ settings: DownloadSettings, _ step: Step<DownloadMachine>) throws {
        let (index, files, reserve) = (step.store.index, step.store.files, settings.reserveBytes)
        let planned = settings.quotaBytes == nil ? 0 : try index.resources.plannedBytes()
        let quota = settings.quotaBytes.map { $0 - min($0, planned) }
        let free = try? files.freeBytes()
        self.init(quota: quota, disk: free.map { $0 - min($0, reserve) })
    }
}

extension ResourceRecord {
    /// Whether a trial may measure if more connections help.
    func mayTryConnections(_ settings: DownloadSettings) -> Bool {
        settings.connections == nil && acceptsRanges && total != nil
    }

    /// Whether it is small enough to share a connection with others.
    func allowsHTTP2(_ settings: DownloadSettings) -> Bool {
        (total ?? expectedBytes ?? 0) < settings.largeObjectBytes
    }
}
