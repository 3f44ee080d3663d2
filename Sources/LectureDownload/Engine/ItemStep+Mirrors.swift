import LectureEngine
import LectureModel

/// Which of several URLs is used.
extension ItemStep {
    /// The URL for the next transfer. Bytes of two servers can only be combined when a digest verifies the whole;
    /// without one it is always the same.
    func pickURL(_ resource: PartToken) -> ResourceSources.Choice? {
        if let redirect = item[resource].sources.turn?.redirect { return ResourceSources.Choice(url: redirect.url) }
        var load: [URLLeaseID: Int] = [:]
        for id in item[resource].sinks.keys {
            if let lease = shared.transfers[id]?.lease { load[lease, default: 0] += 1 }
        }
        return item[resource].sources.choice(
            isShared: item[resource].digestIsKnown && item[resource].record.total != nil, load: load,
            mayAsk: { mayAsk($0) })
    }

    /// Whether a URL's server does not ask to wait.
    private func mayAsk(_ url: String) -> Bool {
        guard let origin = try? originOf(url) else { return false }
        if case .waiting = shared.transfers.governor.mayStart(origin, at: boot) { return false }
        return true
    }

    /// Counts the failures of a URL. One that fails repeatedly before anything is known is moved behind the others.
    mutating func recordFailure(_ transfer: TransferWork, _ report: TransferReport, _ resource: PartToken, gained: Bool)
    {
        guard let lease = transfer.lease else { return }
        if gained {
            item[resource].sources.succeeded(lease)
        } else if report.isFailure, item[resource].sources.failed(lease), canTurn(resource, from: lease) {
            turnToMirror(resource, from: lease)
        }
    }

    /// Whether an answer came from another server than the one that described the file: then that server has another
    /// file, and the first one's has not changed.
    func isOtherMirror(_ transfer: TransferWork, _ resource: PartToken) -> Bool {
        item[resource].digestIsKnown && item[resource].sources.isDescribedByOther(than: transfer.lease)
    }

    /// Whether a refused URL may still be good; not if new ones can be requested.
    mutating func mayBeOneOfSeveral(_ transfer: TransferWork, _ resource: PartToken) -> Bool {
        guard !item.record.isGateway, !step.store.hasResolver else { return false }
        return item[resource].sources.mayBeOneOfSeveral(transfer.lease, othersRun: !item[resource].sinks.isEmpty)
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    func canTurn(_ resource: PartToken, from lease: URLLeaseID?) -> Bool {
        item[resource].mayCombineServers
            && item[resource].sources.canTurn(from: lease, mayAsk: { mayAsk($0) })
    }

    /// Uses another server. While nothing is known of the file the URL is moved behind the others permanently: without
    /// a digest all bytes come from the first one. Later only a digest allows a change.
    mutating func turnToMirror(_ resource: PartToken, from lease: URLLeaseID?) {
        guard item[resource].machine.isProbing, let url = item[resource].sources.moveBehind(lease) else { return }
        try? index.setURLLease(url.id, state: url.state, rank: url.rank)
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
