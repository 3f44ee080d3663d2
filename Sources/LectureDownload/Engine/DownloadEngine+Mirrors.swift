import LectureModel

/// Which of several URLs is used.
extension DownloadEngine {
    /// The URL for the next transfer. Bytes of two servers can only be combined when a digest verifies the whole;
    /// without one it is always the same.
    func pickURL(_ resource: ResourceWork, _ boot: BootInstant) -> ResourceSources.Choice? {
        if let redirect = resource.sources.turn?.redirect { return ResourceSources.Choice(url: redirect.url) }
        var load: [URLLeaseID: Int] = [:]
        for id in resource.sinks.keys {
            if let lease = transfers[id]?.lease { load[lease, default: 0] += 1 }
        }
        return resource.sources.choice(
            isShared: resource.digestIsKnown && resource.record.total != nil, load: load,
            mayAsk: { mayAsk($0, boot) })
    }

    /// Whether a URL's server does not ask to wait.
    private func mayAsk(_ url: String, _ boot: BootInstant) -> Bool {
        guard let origin = try? originOf(url) else { return false }
        if case .waiting = governor.mayStart(origin, at: boot) { return false }
        return true
    }

    /// Counts the failures of a URL. One that fails repeatedly before anything is known is moved behind the others.
    func recordFailure(_ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, gained: Bool) {
        guard let lease = transfer.lease else { return }
        if gained {
            resource.sources.succeeded(lease)
        } else if report.isFailure, resource.sources.failed(lease), canTurn(resource, from: lease) {
            turnToMirror(resource, from: lease)
        }
    }

    /// Whether an answer came from another server than the one that described the file: then that server has another
    /// file, and the first one's has not changed.
    func isOtherMirror(_ transfer: TransferWork, _ resource: ResourceWork) -> Bool {
        resource.digestIsKnown && resource.sources.isDescribedByOther(than: transfer.lease)
    }

    /// Whether a refused URL may still be good; not if new ones can be requested.
    func mayBeOneOfSeveral(_ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork) -> Bool {
        guard !item.record.isGateway, !ports.resolver.isPresent else { return false }
        return resource.sources.mayBeOneOfSeveral(transfer.lease, othersRun: !resource.sinks.isEmpty)
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    func canTurn(_ resource: ResourceWork, from lease: URLLeaseID?) -> Bool {
        let boot = ports.clock.boot()
        return resource.mayCombineServers && resource.sources.canTurn(from: lease, mayAsk: { mayAsk($0, boot) })
    }

    /// Uses another server. While nothing is known of the file the URL is moved behind the others permanently: without
    /// a digest all bytes come from the first one. Later only a digest allows a change.
    func turnToMirror(_ resource: ResourceWork, from lease: URLLeaseID?) {
        guard resource.machine.isProbing, let url = resource.sources.moveBehind(lease) else { return }
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
