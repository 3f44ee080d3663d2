import LectureEngine
import LectureModel

/// Which of several URLs of one resource is used.
extension ResourceWork {
    /// The URL for the next transfer. Bytes of two servers can only be combined when a digest verifies the whole;
    /// without one it is always the same.
    ///
    /// - Parameters:
    ///   - transfers: those that run.
    ///   - mayAsk: whether a URL's server does not ask to wait.
    /// - Returns: nil when none is usable.
    func pickURL(_ transfers: RunningTransfers, mayAsk: (String) -> Bool) -> ResourceSources.Choice? {
        if let redirect = sources.turn?.redirect { return ResourceSources.Choice(url: redirect.url) }
        let isShared = digestIsKnown && record.total != nil
        return sources.choice(isShared: isShared, load: transfers.load(of: sinks.keys), mayAsk: mayAsk)
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    func canTurn(from lease: URLLeaseID?, mayAsk: (String) -> Bool) -> Bool {
        mayCombineServers && sources.canTurn(from: lease, mayAsk: mayAsk)
    }

    /// Uses another server. While nothing is known of the file the URL is moved behind the others permanently: without
    /// a digest all bytes come from the first one. Later only a digest allows a change.
    mutating func turnToMirror(from lease: URLLeaseID?, _ step: Step<DownloadMachine>) {
        guard machine.isProbing, let url = sources.moveBehind(lease) else { return }
        try? step.store.index.servers.setURLLease(url.id, state: url.state, rank: url.rank)
    }

    /// Replaces all URLs by new ones for the same bytes.
    mutating func replaceURLs(_ urls: [String], _ step: Step<DownloadMachine>) throws {
        let index = step.store.index
        try index.servers.replaceURLLeases(lease, record.id, urls: urls, expires: nil, now: step.now)
        sources.replace(with: try index.servers.urlLeases(record.id))
    }

    /// Changes the state of a URL.
    mutating func markURL(_ lease: URLLeaseID?, _ state: URLLeaseRecord.State, _ step: Step<DownloadMachine>) {
        guard let url = sources.mark(lease, state) else { return }
        try? step.store.index.servers.setURLLease(url.id, state: url.state, rank: url.rank)
    }

    /// A URL is not used again.
    ///
    /// - Parameters:
    ///   - lease: the URL.
    ///   - step: where its row is.
    /// - Returns: what decides what follows, unless the URL may be renewed.
    mutating func refused(_ lease: URLLeaseID?, _ step: Step<DownloadMachine>) -> LostURL {
        markURL(lease, .refused, step)
        return LostURL(hasMirror: sources.hasUsable, mayCombineServers: mayCombineServers)
    }

    /// Whether an answer with a wrong range can be avoided by requesting the whole.
    ///
    /// - Parameters:
    ///   - code: what is wrong with the answer.
    ///   - transfer: what was requested.
    /// - Returns: false when another server may send the range.
    func mayAvoidRanges(after code: LectureError.Code, of transfer: TransferWork) -> Bool {
        let isAboutRange = transfer.sink.asked.range != nil && LectureError.Code.rangeFailures.contains(code)
        let hasMirror = mayCombineServers && sources.hasOther(than: transfer.lease)
        return isAboutRange && !connections.avoidsRanges && machine.isFetching && !hasMirror
    }

    /// The server gets ranges wrong: the whole is requested from now on.
    mutating func avoidRanges(_ step: Step<DownloadMachine>) throws {
        connections.avoidRanges()
        record.acceptsRanges = false
        try save(step)
    }
}

extension LectureError.Code {
    /// The errors of a server that gets ranges wrong.
    fileprivate static let rangeFailures: Set<LectureError.Code> = [
        .rangeMismatch, .multipartRefused, .lengthConflict, .status(416),
    ]
}
