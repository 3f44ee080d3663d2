import LectureDownload
import LectureEngine
import LectureFiles
import LectureFormats
import LectureModel

/// Requests, and what their answers mean for a stream.
extension LectureStream {
    /// The longest wait a server may ask a stream for; longer ones are not waited for.
    static let longestWait = Duration.seconds(10)

    /// Starts fetching blocks.
    func begin(_ range: Range<Int>) {
        stopFetching()
        request.begin(BlockCollector(range, of: blocks))
        send(to: url)
    }

    /// Requests the rest of the collector's blocks.
    private func send(to target: String) {
        guard let collector = request.collector else { return }
        let id = parts.numbers.next()
        request.sent(id, to: target)
        let first = collector.position
        var expectation = Expectation(total: blocks.total, validator: validator)
        if servesRanges {
            let closed = ByteRange(start: first, end: collector.end).map { RangeRequest.closed($0) }
            expectation.range = isKept ? closed : first == 0 ? nil : .from(first)
            expectation.sentIfRange = isKept
        }
        var exchange = TransferRequest(
            id: id, url: target, sink: BlockSink(collector, expectation, needsProof: isKept))
        exchange.range = expectation.range
        exchange.ifRange = expectation.sentIfRange ? validator.ifRangeValue : nil
        // A stream that waits for its reader must not fill the memory of a connection that others read.
        exchange.allowsHTTP2 = false
        exchange.stallTimeout = parts.stallTimeout
        parts.transport.start(exchange)
    }

    /// Ends the running request; unread data is dropped.
    func stopFetching() {
        if let transfer = request.stop() { parts.transport.cancel(transfer) }
    }

    /// Decides what follows an exchange.
    ///
    /// - Parameter ending: how it ended, with no whole block left.
    /// - Throws: ``LectureError`` when nothing does.
    func resume(after ending: BlockCollector.Ending) async throws {
        request.ended()
        try check()
        switch ending.verdict {
        case .body(let plan): try await resume(behind: plan, ending)
        case .noRanges(let plan):
            guard !isKept || StreamVersion.isSame(validator, plan.validator) else { return try await beginAnew() }
            // From now on it is read in order; skipped data goes into the cache.
            servesRanges = false
            request.collector = nil
        case .changed, .empty, .rangeBeyondEnd, .descriptor: try await beginAnew()
        case .redirect(let target):
            try request.follow(target)
            send(to: target)
        case .wait(let wait, let status):
            if let wait, wait.delay > Self.longestWait { throw LectureError(.status(status), detail: host) }
            try await tryAgain(LectureError(.status(status), detail: host), after: wait?.delay ?? .zero)
        case .renewLease(let status): try await renew(LectureError(.status(status), detail: host))
        case .retry(let code): try await tryAgain(LectureError(code, detail: host))
        case .refuse(let code): throw LectureError(code, detail: host)
        case nil:
            guard case .failed(let curl, let detail) = ending.outcome.end else { throw LectureError(.closing) }
            let error = LectureError(.transfer(curl), detail: host, cause: detail)
            guard RetryTable.entry(transfer: curl).decision == .retry else { throw error }
            try await tryAgain(error)
        }
    }

    private var host: String { (try? Origin(url: url).host) ?? "" }

    /// A body ended. Where a strong validator proves that the rest belongs to it, the rest is requested.
    private func resume(behind plan: BodyPlan, _ ending: BlockCollector.Ending) async throws {
        guard let collector = request.collector else { return }
        if collector.position >= collector.end {
            request.collector = nil
            return
        }
        if ending.gained > 0 { tries.gotBytes() }
        let error: LectureError
        switch ending.outcome.end {
        case .cancelled: throw LectureError(failure?.code ?? .closing)
        case .failed(let curl, let detail): error = LectureError(.transfer(curl), detail: host, cause: detail)
        case .stopped: error = LectureError(.rangeMismatch, detail: host)
        case .complete: error = LectureError(.bodyCut, detail: host)
        }
        if error.code == .rangeMismatch { throw error }
        if isKept, ending.gained > 0, ending.outcome.end == .complete, servesRanges { return send(to: url) }
        guard isKept || !returns.current else { throw error }
        try await tryAgain(error)
    }

    /// Retries after a pause that grows with consecutive failures.
    private func tryAgain(_ error: LectureError, after wait: Duration = .zero) async throws {
        tries.failed()
        if tries.failures > parts.attempts { throw error }
        let backoff = Backoff(cap: Self.longestWait).delay(failures: tries.failures, random: SystemRandom().next())
        // proof: no thread is blocked; it is the pause before the next attempt, not a wait for a condition.
        try? await Task.sleep(for: max(wait, backoff))
        try check()
        guard isKept, servesRanges, request.collector != nil else {
            request.collector = nil
            return
        }
        send(to: url)
    }

    /// The URL has expired: a gateway is asked for a new one.
    private func renew(_ error: LectureError) async throws {
        if !tries.renew() || url == parts.source.url { throw error }
        let media = try await parts.source.patiently(attempts: parts.attempts)
        try check()
        guard isSame(media) else { return try await beginAnew(with: media) }
        url = media.url
        guard request.collector != nil, isKept, servesRanges else {
            guard isKept || !returns.current else { throw error }
            request.collector = nil
            return
        }
        request.forgetRedirects()
        send(to: url)
    }

    private func isSame(_ media: StreamSource.Media) -> Bool {
        guard media.validator.total == blocks.total else { return false }
        return !isKept || StreamVersion.isSame(validator, media.validator)
    }

    /// The server has another version. As long as nothing was returned it replaces the old one.
    private func beginAnew(with known: StreamSource.Media? = nil) async throws {
        let unstable = LectureError(.versionUnstable, detail: key.text)
        let isAccepted = tries.change()
        stopFetching()
        guard !returns.any, isAccepted else {
            failure = unstable
            throw unstable
        }
        let media: StreamSource.Media
        if let known { media = known } else { media = try await parts.source.patiently(attempts: parts.attempts) }
        try check()
        guard media.validator.total == blocks.total else {
            failure = unstable
            throw unstable
        }
        (url, validator) = (media.url, media.validator)
        if let item = shelf.leave() { await parts.streams.leave(item) }
        let place = await parts.streams.joinCache(parts.identity, key: key, validator: validator)
        shelf = StreamShelf(place, blocks)
        // Ended meanwhile: nothing else would release the place.
        if failure != nil, let item = shelf.leave() { await parts.streams.leave(item) }
        try check()
    }
}

extension StreamSource {
    /// Asks the source, and retries transient failures.
    ///
    /// - Parameter attempts: the maximum number.
    /// - Returns: the media.
    /// - Throws: ``LectureError`` of the last attempt.
    func patiently(attempts: Int) async throws -> Media {
        var failures = 0
        while true {
            do {
                return try await ask()
            } catch let error as LectureError {
                failures += 1
                guard failures < attempts, RetryTable.entry(code: error.code).decision == .retry, !Task.isCancelled
                else { throw error }
                let backoff = Backoff(cap: LectureStream.longestWait)
                // proof: no thread is blocked; it is the pause before the next attempt.
                try? await Task.sleep(for: backoff.delay(failures: failures, random: SystemRandom().next()))
            }
        }
    }
}
