import LectureModel

/// Which of several URLs is used.
extension DownloadEngine {
    /// After this many failures in a row a URL is tried after the others.
    private static let patience = 2

    /// The URL for the next transfer: the best usable one; without a known digest always the same, since bytes of two
    /// servers can only be combined when a digest verifies the whole.
    func pickURL(_ resource: ResourceWork, _ boot: BootInstant) -> (url: String, lease: URLLeaseID?)? {
        let usable = resource.urls.filter { $0.state == .usable }
        guard let first = usable.first else { return nil }
        guard resource.digestIsKnown, resource.record.total != nil, usable.count > 1 else {
            return (first.url, first.id)
        }
        var load: [URLLeaseID: Int] = [:]
        for id in resource.sinks.keys {
            if let lease = transfers[id]?.lease { load[lease, default: 0] += 1 }
        }
        let calm = usable.filter { isCalm($0, resource, boot) }
        // Untried ones first, then the one with the highest speed per connection.
        let best = (calm.isEmpty ? usable : calm).max { left, right in
            score(left, load: load, resource) < score(right, load: load, resource)
        }
        return best.map { ($0.url, $0.id) }
    }

    private func score(_ url: URLLeaseRecord, load: [URLLeaseID: Int], _ resource: ResourceWork) -> Double {
        let running = Double(load[url.id] ?? 0)
        guard let speed = resource.speeds[url.id] else { return running == 0 ? .infinity : 0 }
        return speed / (running + 1)
    }

    /// Whether a URL has not failed repeatedly, and its server does not ask to wait.
    private func isCalm(_ url: URLLeaseRecord, _ resource: ResourceWork, _ boot: BootInstant) -> Bool {
        guard resource.urlFailures[url.id] ?? 0 < Self.patience, let origin = try? originOf(url.url) else {
            return false
        }
        if case .waiting = governor.mayStart(origin, at: boot) { return false }
        return true
    }

    /// Counts the failures of a URL. One that fails repeatedly before anything is known is moved behind the others.
    func recordFailure(_ transfer: TransferWork, _ report: TransferReport, _ resource: ResourceWork, gained: Bool) {
        guard let lease = transfer.lease else { return }
        if gained {
            resource.urlFailures[lease] = nil
        } else if report.isFailure {
            resource.urlFailures[lease, default: 0] += 1
            guard resource.urlFailures[lease, default: 0] >= Self.patience else { return }
            _ = turnToMirror(resource, from: lease, ports.clock.boot())
        }
    }

    /// Whether an answer came from another server than the one that described the file: then that server has another
    /// file, and the first one's has not changed.
    func isOtherMirror(_ transfer: TransferWork, _ resource: ResourceWork) -> Bool {
        guard resource.digestIsKnown, let owner = resource.validatorURL, transfer.lease != owner else { return false }
        return resource.urls.contains { $0.id == owner && $0.state == .usable }
    }

    /// Whether a refused URL may still be good: it has delivered bytes, no other is available, and one of several
    /// servers behind the same address may lack the file.
    func mayBeOneOfSeveral(_ transfer: TransferWork, _ resource: ResourceWork, of item: ItemWork) -> Bool {
        guard let lease = transfer.lease, resource.speeds[lease] != nil, !item.record.isGateway,
            !ports.resolver.isPresent, !resource.urls.contains(where: { $0.state == .usable && $0.id != lease })
        else { return false }
        if !resource.sinks.isEmpty { return true }
        resource.refusals += 1
        return resource.refusals <= 3
    }

    /// Whether another server can be used instead of one that fails or asks to wait.
    ///
    /// While nothing is known of the file the URL is moved behind the others permanently: without a digest all bytes
    /// come from the first one. Later only a digest allows a change.
    func turnToMirror(_ resource: ResourceWork, from lease: URLLeaseID?, _ boot: BootInstant) -> Bool {
        guard mayCombine(resource), let position = resource.urls.firstIndex(where: { $0.id == lease }),
            resource.urls.contains(where: { $0.state == .usable && $0.id != lease && isCalm($0, resource, boot) })
        else { return false }
        guard resource.stage == .asking else { return true }
        var url = resource.urls.remove(at: position)
        url.rank = (resource.urls.map(\.rank).max() ?? 0) + 1
        resource.urls.append(url)
        try? index.setURLLease(url.id, state: url.state, rank: url.rank)
        return true
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
