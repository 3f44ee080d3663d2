import LectureEngine
import LectureModel

/// One file's part of a step: what its answers and its part file mean for it, and for its lecture.
///
/// It has the step of the lecture for as long as it runs. What concerns the lecture is done there.
struct ResourceStep {
    var lecture: ItemStep
    /// The file. Its version may have been discarded.
    let token: PartToken

    /// The file as it is.
    private var file: ResourceWork {
        _read { yield lecture.item[token] }
    }

    // MARK: The part file

    /// Handles an event of the disk, from the first block to the final name.
    mutating func partFileReported(_ event: PartFileEvent) throws {
        switch event {
        case .opened: try lecture.follow(lecture.item[token].machine.opened(), token)
        case .flushed(let chunks): try recordCommitted(chunks)
        case .failed(let error): try diskFailed(error)
        case .digested(let sha256):
            guard !lecture.item.isEnding else { return }
            let matches = lecture.item[token].takesDigest(sha256, lecture.step)
            try lecture.follow(lecture.item[token].machine.digested(matches: matches, isEncrypted: isEncrypted), token)
        case .finalized:
            let ruling = try lecture.item[token].finalized(lecture.step)
            try lecture.follow(ruling, token)
            if ruling != .bug, file.machine.hasFinalName {
                try keyCame()
                try lecture.item.completeIfWhole(&lecture.shared, &lecture.step)
            }
        case .finished(let whole, let sha256): try finished(whole, sha256)
        case .closed(let isClean):
            try lecture.follow(lecture.item[token].machine.closed(isClean: isClean), token)
            if lecture.item.isEnding { try lecture.item.finishEnding(&lecture.shared, &lecture.step) }
        }
    }

    /// The chunks of an earlier opening were compared with their proofs, or could not be.
    mutating func checked(_ damaged: [Int], _ error: LectureError?) throws {
        guard !lecture.item.isEnding else { return }
        if let error, file.machine.isChecking { return try diskFailed(error) }
        try lecture.follow(lecture.item[token].machine.checked(damaged: damaged, isEncrypted: isEncrypted), token)
    }

    /// The end of an encrypted file was read, or could not be.
    mutating func inspected(_ outcome: SegmentOutcome) throws {
        lecture.item.stream.inspection.running.remove(token)
        guard !lecture.item.isEnding, file.machine.isInspecting else { return }
        switch outcome {
        case .intact: try lecture.follow(lecture.item[token].machine.inspected(), token)
        case .faulty(let fault):
            try SegmentActions.refuse(token, fault, of: &lecture.item, &lecture.shared, &lecture.step)
        case .lostKey(let name): try SegmentActions.lost(name, &lecture)
        case .failed(let error): try diskFailed(error)
        }
    }

    /// Whether its end has to show that it is whole.
    private var isEncrypted: Bool { SegmentActions.mustInspect(token, of: lecture.item, lecture.settings) }

    /// If it is a key that has its final name now, files may have waited for it.
    private mutating func keyCame() throws {
        if file.record.role == .key { try SegmentActions.keyCame(&lecture) }
    }

    private mutating func recordCommitted(_ chunks: [WrittenChunk]) throws {
        try lecture.item[token].written(chunks, lecture.step)
        if file.record.total == nil, try lecture.stopsForQuota() { return }
        if file.book.isWhole, !lecture.item.isEnding { try lecture.wholeIsCommitted(token) }
    }

    /// The part file has finished by itself. If the work on the lecture is being ended, only its chunks count: the next
    /// work takes the file back from its final name, as after a crash.
    private mutating func finished(_ whole: [WrittenChunk], _ sha256: [UInt8]?) throws {
        if lecture.item.isEnding { return try lecture.item[token].written(whole, lecture.step) }
        try lecture.follow(lecture.item[token].finished(whole, sha256: sha256, lecture.step), token)
        guard file.machine.hasFinalName else { return }
        // It is closed as well.
        lecture.shared.parts[token] = nil
        try keyCame()
        try lecture.item.completeIfWhole(&lecture.shared, &lecture.step)
        // A version that is complete was counted anew; one that lacks segments was not.
        guard lecture.item.machine.status.state != .completed else { return }
        try lecture.index.resources.countFinished(lecture.item.lease, file.record, now: lecture.now)
    }

    private mutating func diskFailed(_ error: LectureError) throws {
        var failure = DiskFailure(error)
        failure.isEnding = lecture.item.isEnding
        failure.hasCommitted = file.book.committed.count > 0
        switch failure.ruling {
        case .close: try lecture.follow(lecture.item[token].machine.closes(), token)
        case .failItem(let error): try lecture.end(lecture.item.machine.failed(error))
        case .fetchAgain:
            try file.uncommit(lecture.step)
            try lecture.end(lecture.item.machine.setBack())
        case .stop(let error, let pause): try lecture.stop(.space, error, for: pause)
        }
    }

    // MARK: Headers

    /// The header of an answer was judged.
    mutating func headCame(_ transfer: TransferWork, _ verdict: ResponseVerdict, status: Int) throws {
        guard !lecture.item.isEnding, lecture.item.has(token), file.sinks[transfer.id] != nil else { return }
        switch verdict {
        case .body(let plan), .noRanges(let plan):
            if case .noRanges = verdict { try lecture.item[token].hasNoRanges(transfer, lecture.step) }
            lecture.item[token].evidence.answered(plan)
            lecture.item[token].sources.answered(by: transfer.lease)
            if file.machine.isProbing { try adopt(plan, from: transfer) }
            if lecture.item.has(token) { try keepBase(of: transfer) }
            let isFree = lecture.shared.items.jobCount < lecture.settings.jobs
            if lecture.item.place.learnedLength(plan.total, isFree: isFree) {
                for resource in lecture.item.resources { lecture.step.cancel(resource.running) }
            }
        case .descriptor, .empty, .changed, .rangeBeyondEnd, .redirect, .wait, .renewLease, .retry, .refuse:
            // Handled when the transfer has ended.
            return
        }
    }

    /// The first bytes show that it is a playlist, whatever its header says.
    mutating func recognised(_ transfer: TransferWork, _ mediaType: String) throws {
        guard !lecture.item.isEnding, lecture.item.has(token), file.sinks[transfer.id] != nil else { return }
        lecture.item[token].record.mediaType = mediaType
        try file.save(lecture.step)
        try keepBase(of: transfer)
    }

    /// Stores which URL has answered a playlist.
    private mutating func keepBase(of transfer: TransferWork) throws {
        let record = file.record
        guard record.role == .playlist || record.isPlaylist, file.base != transfer.url else { return }
        lecture.item[token].base = transfer.url
        try lecture.index.adaptive.setBase(lecture.item.lease, record.id, url: transfer.url)
    }

    /// The first answer fixes length, path, chunk size and validator.
    private mutating func adopt(_ plan: BodyPlan, from transfer: TransferWork) throws {
        let expected = file.record.expectedBytes
        if let expected, let total = plan.total, expected != total {
            _ = try urlFailed(transfer, LectureError(.lengthChanged))
            return
        }
        if let total = plan.total ?? expected, try lecture.quotaIsPassed(by: total) {
            return try lecture.stopForSpace(.quota)
        }
        lecture.item[token].adopt(plan, from: transfer.lease)
        try fixPlace()
    }

    /// Stores the plan; the part file is made after the commit.
    private mutating func fixPlace() throws {
        guard try lecture.item[token].fixPlace(lecture.step) != .bug else {
            return try lecture.item.endForBug(&lecture.shared, &lecture.step)
        }
        try lecture.item.sourceIsKnown(&lecture.shared, &lecture.step)
        try lecture.openPartIfNeeded(token)
    }

    // MARK: Ends of transfers

    /// A transfer is over.
    mutating func transferEnded(_ transfer: TransferWork, _ report: TransferReport) throws {
        if lecture.item.has(token) { lecture.item[token].forget(transfer, report) }
        try lecture.keepWait(transfer.origin, report)
        var attempt = Attempt(transfer, report)
        let row = lecture.item.has(token) ? file.record.id : nil
        defer { try? lecture.index.servers.record(attempt, content: lecture.item.id, resource: row) }
        attempt.decision = try decision(transfer, report).rawValue
    }

    private mutating func decision(_ transfer: TransferWork, _ report: TransferReport) throws -> Decision {
        // It may belong to a discarded version.
        guard lecture.item.has(token) else { return .ended }
        let hasGained = try account(transfer, report)
        if lecture.item.isEnding { return .ended }
        // It was whole before the transfer ended, and has finished by itself.
        if file.machine.hasFinalName { return .done }
        let ended = EndedTransfer(
            transfer, report, of: file, hasGained: hasGained, acceptsAny: lecture.settings.acceptsAny)
        return try apply(ended.ruling, to: transfer)
    }

    /// Records what was received; returns whether it counts as progress.
    private mutating func account(_ transfer: TransferWork, _ report: TransferReport) throws -> Bool {
        if report.verdict?.mediaPlan != nil, report.position > transfer.span.start {
            lecture.item[token].evidence.delivered()
        }
        if file.endGivesLength(report) {
            // Checked before the length is planned: a file above the quota must not count against the others.
            if try lecture.stopsForQuota(endingAt: report.position) { return false }
            try lecture.item[token].endGaveLength(report.position, lecture.step)
        }
        let chunks = lecture.item[token].giveBack(transfer, report)
        if !chunks.isEmpty { try recordCommitted(chunks) }
        // What was just committed may have been the last of a whole whose digest differs.
        guard lecture.item.has(token) else { return false }
        let gains = lecture.item[token].gains(transfer, report, &lecture.step)
        recordFailure(transfer, report, gained: gains)
        guard gains else { return false }
        lecture.item[token].sources.gainedBytes()
        lecture.item.renewal.gainedBytes()
        try lecture.apply(lecture.item.machine.gainedBytes())
        return true
    }

    /// Counts the failures of a URL. One that fails repeatedly before anything is known is moved behind the others.
    private mutating func recordFailure(_ transfer: TransferWork, _ report: TransferReport, gained: Bool) {
        guard let lease = transfer.lease else { return }
        if gained {
            lecture.item[token].sources.succeeded(lease)
        } else if report.isFailure, lecture.item[token].sources.failed(lease), lecture.canTurn(token, from: lease) {
            lecture.item[token].turnToMirror(from: lease, lecture.step)
        }
    }

    /// Applies what follows from the end of a transfer.
    ///
    /// - Returns: the word for the attempt's row; what is stored decides it in part.
    private mutating func apply(_ ruling: TransferRuling, to transfer: TransferWork) throws -> Decision {
        switch ruling {
        case .proceed(let decision): return decision
        case .stopForSpace(let code):
            try lecture.stopForSpace(code)
            return .space
        case .tryAgain(let error): return try lecture.tryAgain(token, error)
        case .rejectURL(let error): return try urlFailed(transfer, error)
        case .discard(let error): return try lecture.changed(token, because: error)
        case .refuse(let code): return try refused(code, transfer)
        case .renew(let status): return try renew(transfer, status: status)
        case .follow(let target): return try follow(target, transfer)
        case .wait(let wait, let status): return try lecture.serverAsksToWait(wait, status: status, transfer)
        case .readDescriptor(let document):
            return try lecture.item.descriptorInsteadOfMedia(document, &lecture.shared, &lecture.step)
        case .finishEmpty:
            lecture.item[token].becomesEmpty()
            try fixPlace()
            return .done
        }
    }

    /// An answer was refused. If only its ranges are wrong, the server may still send the whole.
    private mutating func refused(_ code: LectureError.Code, _ transfer: TransferWork) throws -> Decision {
        let error = LectureError(code, detail: transfer.origin.host)
        guard file.mayAvoidRanges(after: code, of: transfer) else { return try urlFailed(transfer, error) }
        try lecture.item[token].avoidRanges(lecture.step)
        return try lecture.tryAgain(token, error)
    }

    private mutating func follow(_ target: String, _ transfer: TransferWork) throws -> Decision {
        do throws(LectureError) {
            lecture.item[token].sources.follow(try transfer.redirect(to: target), of: transfer.lease)
            return .redirect
        } catch {
            return try urlFailed(transfer, error)
        }
    }

    // MARK: Lost URLs

    /// 401, 403, 404, 410: the URL is no longer valid, but the bytes are. Try another URL, then the resolver, then
    /// fail.
    private mutating func renew(_ transfer: TransferWork, status: Int) throws -> Decision {
        let error = LectureError(.status(status), detail: transfer.origin.host)
        if file.record.role.isOfStream {
            lecture.item[token].markURL(transfer.lease, .refused, lecture.step)
            return try StreamActions.lost(token, error, &lecture)
        }
        if mayBeOneOfSeveral(transfer) { return try lecture.tryAgain(token, error) }
        var lost = lecture.item[token].refused(transfer.lease, lecture.step)
        if file.record.role.isRequired { lost.renewal = lecture.possibleRenewal }
        return try apply(lost.ruling, error)
    }

    /// Whether a refused URL may still be good; not if new ones can be requested.
    private mutating func mayBeOneOfSeveral(_ transfer: TransferWork) -> Bool {
        guard !lecture.item.record.isGateway, !lecture.step.store.hasResolver else { return false }
        let othersRun = !file.sinks.isEmpty
        return lecture.item[token].sources.mayBeOneOfSeveral(transfer.lease, othersRun: othersRun)
    }

    /// This URL cannot deliver the object; another may.
    private mutating func urlFailed(_ transfer: TransferWork, _ error: LectureError) throws -> Decision {
        try apply(lecture.item[token].refused(transfer.lease, lecture.step).ruling, error)
    }

    private mutating func apply(_ ruling: URLRuling, _ error: LectureError) throws -> Decision {
        switch ruling {
        case .useMirror: return .mirror
        case .startOver: return try lecture.changed(token, because: error)
        case .failResource: return try lecture.resourceFailed(token, error)
        case .askGateway, .askResolver:
            lecture.requestURLs(ofGateway: ruling == .askGateway)
            return .renew
        }
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
