import LectureEngine
import LectureModel

/// What answers show about one resource, and what ended transfers have brought of it.
extension ResourceWork {
    // MARK: Headers

    /// The first answer fixes length, validator and media type.
    mutating func adopt(_ plan: BodyPlan, from lease: URLLeaseID?) {
        record.total = plan.total
        record.entityTag = plan.validator.etag
        record.lastModified = plan.validator.lastModified
        record.mediaType = plan.mediaType
        record.acceptsRanges = plan.acceptsRanges
        sources.described(by: lease)
        if let total = plan.total { chunks.book.learn(total: total) }
    }

    /// Fixes its chunks and its path, and stores the plan; the part file is made after the commit.
    ///
    /// - Returns: a bug when they were fixed before.
    mutating func fixPlace(_ step: Step<DownloadMachine>) throws -> ResourceMachine.Ruling {
        record.chunkBytes = book.grid.length
        if cipher != nil { record.seal = .open }
        record.path = MediaPath.path(record)
        record.state = .planned
        let ruling = machine.planned()
        if ruling != .bug { try save(step) }
        return ruling
    }

    /// It is empty, as it should be.
    mutating func becomesEmpty() {
        record.total = 0
        chunks.book.learn(total: 0)
    }

    /// Its server has no ranges.
    mutating func hasNoRanges(_ transfer: TransferWork, _ step: Step<DownloadMachine>) throws {
        record.acceptsRanges = false
        connections.useOne()
        // A transfer that was opened beside others has refused the whole body, even if it is the last one by now:
        // restarting it in the book would count bytes as received that it never took.
        guard transfer.sink.acceptsWholeBody, sinks.count == 1 else { return }
        transfer.sink.liftBorder()
        chunks.book.restart(transfer.id)
        if !machine.isProbing { try save(step) }
    }

    // MARK: Ends

    /// A transfer runs no longer.
    mutating func forget(_ transfer: TransferWork, _ report: TransferReport) {
        sinks[transfer.id] = nil
        guard let lease = transfer.lease else { return }
        sources.measured(lease, bytes: report.outcome.bodyBytes, in: report.outcome.elapsed)
    }

    /// Whether the length follows from the end of an answer.
    func endGivesLength(_ report: TransferReport) -> Bool {
        report.verdict?.mediaPlan != nil && report.reachedEnd && record.total == nil && machine.isFetching
            && !report.cause.isFirstBytes
    }

    /// The length follows from the end of an answer.
    mutating func endGaveLength(_ total: UInt64, _ step: Step<DownloadMachine>) throws {
        evidence.lengthFollowedFromEnd()
        record.total = total
        chunks.book.learn(total: total)
        try save(step)
    }

    /// Gives back what a transfer has not received.
    ///
    /// - Returns: chunks to commit, which waited for the length.
    mutating func giveBack(_ transfer: TransferWork, _ report: TransferReport) -> [WrittenChunk] {
        chunks.book.ended(transfer.id, position: report.verdict?.mediaPlan != nil ? report.handedOver : 0)
        return record.total == nil ? [] : chunks.takeUnsized()
    }

    /// Keeps the partial chunk of a transfer, and counts its bytes.
    ///
    /// - Returns: whether there is progress.
    mutating func gains(
        _ transfer: TransferWork, _ report: TransferReport, _ step: inout Step<DownloadMachine>
    ) -> Bool {
        if let remainder = report.remainder, let stream = chunks.keep(remainder) { command(.abandon(stream), &step) }
        let hasEnd = report.verdict?.mediaPlan != nil && report.reachedEnd
        return attempts.ended(gaining: transfer.gain(report, chunks: book.receivedBytes), hasEnd: hasEnd)
    }
}

extension TransferWork {
    /// Bytes of progress that it made. When the whole is sent again, bytes that are there already and bytes of
    /// incomplete chunks do not count: otherwise a server that always cuts would be retried forever.
    ///
    /// - Parameters:
    ///   - report: how it ended.
    ///   - chunks: the bytes of whole chunks that its resource has now.
    /// - Returns: 0 for an answer without bytes of the resource.
    func gain(_ report: TransferReport, chunks: UInt64) -> UInt64 {
        let isRepeated = sink.asked.range == nil && span.receivedBefore > 0
        let repeated = chunks - min(chunks, span.receivedBefore)
        switch report.verdict {
        case .body: return isRepeated ? repeated : report.position - min(report.position, span.start)
        case .noRanges: return repeated
        case nil, .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            return 0
        }
    }
}

extension EndedTransfer {
    /// A transfer of a resource as values, for the rules.
    init(
        _ transfer: TransferWork, _ report: TransferReport, of file: ResourceWork, hasGained: Bool, acceptsAny: Bool
    ) {
        self.init(report, host: transfer.origin.host)
        (start, count) = (transfer.span.start, transfer.span.count)
        sentIfRange = transfer.sink.asked.sentIfRange
        self.hasGained = hasGained
        isAsking = file.machine.isProbing
        refusesEmpty = !file.record.mayBeEmpty
        // From another server than the one that described the file: then that server has another file, and the first
        // one's has not changed.
        isOtherMirror = file.digestIsKnown && file.sources.isDescribedByOther(than: transfer.lease)
        digestIsKnown = file.digestIsKnown
        expectedBytes = file.record.expectedBytes
        self.acceptsAny = acceptsAny
    }
}
